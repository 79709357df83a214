//! Work in a process of its own, of which nothing comes back but bytes: what it does to this process's memory is undone.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// It ends after so many seconds: another thread may have had a lock when the process was copied, which nobody gives back there.
const LIMIT: u32 = 600;

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
            // SAFETY: sets a clock.
            unsafe { libc::alarm(LIMIT) };
            let done = catch_unwind(AssertUnwindSafe(work)).ok().flatten();
            let written = done.is_some_and(|bytes| (&to).write_all(&bytes).is_ok());
            // SAFETY: ends the process, and nothing of what the original does at its end is done here.
            unsafe { libc::_exit(i32::from(!written)) }
        }
        _ => {
            drop(to);
            let mut bytes = Vec::new();
            let is_read = (&from).read_to_end(&mut bytes).is_ok();
            let mut status = 0;
            // SAFETY: waits for the process above, and has room for a number.
            while unsafe { libc::waitpid(child, &mut status, 0) } == -1 {
                if std::io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                    return None;
                }
            }
            (is_read && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0).then_some(bytes)
        }
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
