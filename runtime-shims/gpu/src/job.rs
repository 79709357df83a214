//! The run time for ranks, where this process is one: the program's memory is that one's.

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use okl_abi::devices::{self, ForDevices};

/// What the run time for ranks does for this one; `None` where this process is no rank.
pub fn of_job() -> Option<&'static ForDevices> {
    static TABLE: OnceLock<Option<&'static ForDevices>> = OnceLock::new();
    *TABLE.get_or_init(|| {
        let name = CStr::from_bytes_with_nul(devices::NAME.as_bytes()).expect("it ends with NUL");
        // SAFETY: a look-up by name, and the function of that name.
        let table = unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
            if found.is_null() {
                return None;
            }
            let table: extern "C" fn() -> *const ForDevices = std::mem::transmute(found);
            &*table()
        };
        ((table.rank)() >= 0).then_some(table)
    })
}

/// Ends the job with a message.
pub fn fatal(job: &ForDevices, message: &str) -> ! {
    (job.fatal)(message.as_ptr().cast::<c_void>(), message.len())
}
