//! What the runtime tells the user: one readable message, then the end of the job.

use crate::mpi_job;

/// Ends the job with `message`, which names the rank.
pub(crate) fn fatal(message: &str) -> ! {
    warn(message);
    mpi_job::abort_failed()
}

/// A source place as the continuation of a phrase. Without debug information a place is a function.
pub(crate) fn at(place: &str) -> String {
    if place.starts_with("in ") {
        place.to_owned()
    } else {
        format!("at {place}")
    }
}

/// Prints `message` on standard error without the C library's buffers.
pub(crate) fn warn(message: &str) {
    let text = format!("okl: rank {}: {message}\n", mpi_job::rank());
    // SAFETY: plain write of a live buffer.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}
