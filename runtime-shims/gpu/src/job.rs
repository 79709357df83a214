//! The run time for ranks, where this process is one.

use std::ffi::c_void;

use okl_abi::devices::ForDevices;

/// Ends the job with a message.
pub fn fatal(job: &ForDevices, message: &str) -> ! {
    (job.fatal)(message.as_ptr().cast::<c_void>(), message.len())
}
