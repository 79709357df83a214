//! Large pages under shared memory.
//!
//! The kernel gives a memory file pages of 4 KiB, each at its own fault, and a processor looks up the addresses of many such
//! pages more often than those of few large ones. What the program declares to access whole has large pages, where the kernel
//! has some and can make them at once (`MADV_COLLAPSE`, Linux 6.1). Guarantee: contents do not change, nor does a rank take
//! more memory than what the program accesses.

use std::{collections::HashSet, ffi::c_void};

use okl_coherence::{PAGE, Page, Run};

use crate::{
    kernel::{self, LARGE},
    view::View,
};

const PAGES: Page = (LARGE / PAGE) as Page;
/// `MADV_COLLAPSE` of the kernel's interface.
const COLLAPSE: i32 = 25;

/// The large pages of this rank's memory file.
pub(crate) struct LargePages {
    own: View,
    file: i32,
    /// Those that have been asked for, by their numbers; `None` where there are none.
    asked: Option<HashSet<Page>>,
    /// How many there were.
    pub(crate) made: u64,
}

impl LargePages {
    /// Of `file`, mapped at `own`, if they `are_wanted`.
    pub(crate) fn new(own: View, file: i32, are_wanted: bool) -> Self {
        Self {
            own,
            file,
            asked: are_wanted.then(HashSet::new),
            made: 0,
        }
    }

    /// Has large pages where `run`, which consists of such, has none: where it has no memory yet, and, if that
    /// `is_lasting`, where it has all.
    pub(crate) fn make(&mut self, run: Run, is_lasting: bool) {
        let first = run.first / PAGES;
        let mut wanted: Vec<Page> = Vec::new();
        for number in first..first + run.count / PAGES {
            let Some(asked) = &mut self.asked else {
                return;
            };
            if asked.contains(&number) {
                continue;
            }
            let wants = match memory_of(self.file, number) {
                Memory::None => true,
                Memory::All => is_lasting,
                Memory::Some => false,
            };
            if !wants {
                continue;
            }
            asked.insert(number);
            if wanted.last().is_some_and(|&last| last + 1 != number) {
                self.collapse(&std::mem::take(&mut wanted));
            }
            wanted.push(number);
        }
        self.collapse(&wanted);
    }

    /// What was given back to the machine can have large pages again.
    pub(crate) fn forget(&mut self, run: Run) {
        if let Some(asked) = &mut self.asked {
            let numbers = run.first / PAGES..(run.first + run.count).div_ceil(PAGES);
            match numbers.len() < asked.len() {
                true => numbers.for_each(|number| {
                    asked.remove(&number);
                }),
                false => asked.retain(|number| !numbers.contains(number)),
            }
        }
    }

    /// Has the kernel make adjacent ones.
    fn collapse(&mut self, numbers: &[Page]) {
        let Some(&first) = numbers.first() else {
            return;
        };
        for &number in numbers {
            // Where there is no memory at all the kernel makes none.
            // SAFETY: within the file, whose view can always be read.
            unsafe { std::ptr::read_volatile(self.own.at(number as usize * LARGE)) };
        }
        // SAFETY: the runtime's view of pages of the file; no contents change.
        let failed = unsafe {
            kernel::madvise(
                self.own.at(first as usize * LARGE).cast::<c_void>(),
                numbers.len() * LARGE,
                COLLAPSE,
            )
        } != 0;
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            _ if !failed => self.made += numbers.len() as u64,
            // The kernel does not know of it, or is set so that memory files have none.
            Some(libc::EINVAL) => self.asked = None,
            _ => {}
        }
    }
}

/// How much of what could be a large page has memory.
enum Memory {
    None,
    Some,
    All,
}

fn memory_of(file: i32, number: Page) -> Memory {
    let start = number as usize * LARGE;
    // SAFETY: asks about a descriptor of our own, of which nobody uses the position.
    let seek = |whence| unsafe { libc::lseek(file, start as i64, whence) };
    let is_behind = |at: i64| usize::try_from(at).map_or(true, |at| at >= start + LARGE);
    match () {
        () if is_behind(seek(libc::SEEK_DATA)) => Memory::None,
        () if is_behind(seek(libc::SEEK_HOLE)) => Memory::All,
        () => Memory::Some,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What there was stays, and what had no memory reads as zero; only what is asked for takes memory.
    #[test]
    fn contents_and_room_stay_as_they_are() {
        // SAFETY: creates a descriptor; the result is checked.
        let file = unsafe { libc::memfd_create(c"okl-test".as_ptr(), libc::MFD_CLOEXEC) };
        assert!(file >= 0);
        let bytes = 6 * LARGE;
        // SAFETY: a descriptor of our own.
        assert_eq!(unsafe { libc::ftruncate(file, bytes as i64) }, 0);
        let own = View::map(file, bytes).expect("room");
        assert_eq!(own.at(0) as usize % LARGE, 0);
        let resident = || {
            // SAFETY: fills a structure of our own.
            unsafe {
                let mut state: libc::stat = std::mem::zeroed();
                assert_eq!(libc::fstat(file, &mut state), 0);
                state.st_blocks as usize * 512
            }
        };
        let mut large = LargePages::new(own, file, true);
        // One has memory, all of it, and one some.
        for at in (LARGE..2 * LARGE).step_by(PAGE) {
            own.write(at + 3, &[7]);
        }
        own.write(2 * LARGE + 5, &[9]);
        let before = resident();
        let run = |first: Page, count: Page| Run {
            first: first * PAGES,
            count: count * PAGES,
        };
        large.make(run(1, 2), false);
        assert_eq!(resident(), before);
        large.make(run(1, 2), true);
        assert_eq!(resident(), before);
        large.make(run(3, 2), false);
        if large.asked.is_none() {
            eprintln!(
                "skip contents_and_room_stay_as_they_are: the kernel makes no large pages of memory files"
            );
            return;
        }
        assert_eq!(resident(), before + 2 * LARGE);
        assert_eq!(large.made, 3);
        let mut read = [0; 8];
        for (at, value) in [
            (LARGE + 3, 7),
            (2 * LARGE - PAGE + 3, 7),
            (2 * LARGE + 5, 9),
            (3 * LARGE + 5, 0),
        ] {
            own.read(at, &mut read);
            assert_eq!(read[0], value, "{at}");
        }
        large.forget(run(3, 1));
        assert!(
            large
                .asked
                .is_some_and(|asked| !asked.contains(&3) && asked.contains(&4))
        );
    }
}
