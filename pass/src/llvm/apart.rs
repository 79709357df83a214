//! Work in a process of its own, of which nothing comes back but bytes: what it does to this process's memory is undone.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// It ends after so many seconds: another thread may have had a lock when the process was copied, which nobody gives back there.
const LIMIT: u32 = 300;

/// Behind the bytes of one that has come to its end.
const DONE: u8 = 1;

/// What it gives; `None` where it gives nothing, ends in another way, or there can be no such process.
pub fn apart(work: impl FnOnce() -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let mut ends = [0; 2];
    // SAFETY: room for two numbers.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return None;
    }
    // SAFETY: both were just opened, and are nobody else's.
    let [from, to] = ends.map(|end| File::from(unsafe { OwnedFd::from_raw_fd(end) }));
    // SAFETY: the copy has this thread alone, does its work and ends; it runs nothing that waits for the end of a process.
    let child = unsafe { libc::fork() };
    match child {
        -1 => None,
        0 => {
            end_by_signals();
            if let Some(mut bytes) = catch_unwind(AssertUnwindSafe(work)).ok().flatten() {
                bytes.push(DONE);
                let _ = (&to).write_all(&bytes);
            }
            // SAFETY: ends the process, and nothing of what the original does at its end is done here.
            unsafe { libc::_exit(0) }
        }
        _ => {
            drop(to);
            let mut bytes = Vec::new();
            let is_read = (&from).read_to_end(&mut bytes).is_ok();
            // SAFETY: waits for the process above; where nobody may wait for it, it goes by itself.
            while unsafe { libc::waitpid(child, ptr::null_mut(), 0) } == -1
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            let is_done = is_read && bytes.pop() == Some(DONE);
            is_done.then_some(bytes)
        }
    }
}

/// Signals end this process, which has to do with no handler of the original's, and the clock is one of them.
fn end_by_signals() {
    use libc::{SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    // SAFETY: sets the handlers of a process that has one thread, its mask, and a clock.
    unsafe {
        for signal in [SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV] {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        libc::alarm(LIMIT);
    }
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn bytes_come_back_and_nothing_else() {
        let mut here = 1;
        let there = apart(|| {
            here = 2;
            Some(vec![7; 1 << 20])
        });
        assert_eq!(there, Some(vec![7; 1 << 20]));
        assert_eq!(here, 1);
    }

    #[test]
    fn what_ends_otherwise_gives_nothing() {
        assert_eq!(apart(|| None), None);
        assert_eq!(apart(|| std::process::abort()), None);
    }
}
