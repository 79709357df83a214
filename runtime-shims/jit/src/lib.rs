//! Versions of a program's code that are compiled while it runs: for values that are the same for all that a version runs, and
//! for the processor that it runs on.
//!
//! Guarantee: whoever asks for a version gets one whose values are those that are there now, or none; then the code runs as it
//! was compiled ahead of time. Nobody waits for a version, but where the user wants that (`OKL_JIT=sync`). What fails is told
//! under `OKL_STATS`, and changes nothing.
//!
//! | module | what it does |
//! |---|---|
//! | `settings` | what the user asks for |
//! | `lock` | a lock that a process does not inherit |
//! | `rounding` | how a thread rounds numbers |
//! | `report` | tells of versions in the end |
//! | `identity` | what machine code rests on besides what is compiled |
//! | `image` | machine code that can be anywhere in memory, and in a file |
//! | `cache` | versions on disk, for other processes |
//! | `library` | libraries that another program makes, kept in the same way |
//! | `make` | makes one: from the cache, or by `libokl_jit.so` |
//! | `compiler` | the thread that does that |
//! | `trial` | which of several candidates is the fastest |
//! | `versions` | which versions there are of some code, and for which values |
//!
//! A module uses those above it.

mod cache;
mod compiler;
mod identity;
mod image;
mod library;
mod lock;
mod make;
mod report;
pub mod rounding;
mod settings;
mod trial;
mod versions;

pub use compiler::Receiver;
pub use library::library;
pub use report::{Tells, add as tell_at_end};
pub use trial::Turn;
pub use versions::{Asked, Call, Load, Version, find, pass, picked, values};

/// What a process that is forked from a test answers. None where it does not end by itself, and soon.
#[cfg(test)]
fn forked(answer: impl FnOnce() -> bool) -> Option<bool> {
    const SECONDS: u32 = 20;
    // SAFETY: the process answers, and ends without running anything else of the test's.
    unsafe {
        let process = libc::fork();
        if process == 0 {
            libc::alarm(SECONDS);
            let answer = answer();
            libc::_exit(i32::from(answer))
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(process, &mut status, 0), process);
        libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status) == 1)
    }
}
