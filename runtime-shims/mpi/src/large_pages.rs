//! Large pages under shared memory.
//!
//! The kernel gives a memory file pages of 4 KiB, and a processor looks up the addresses of many such pages more often than
//! those of few large ones: a stencil over large arrays takes a quarter longer. What the program accesses again and again is
//! put into large pages, where the kernel has some (`MADV_COLLAPSE`, Linux 6.1). Guarantee: contents do not change, no rank
//! takes more memory, and making them takes a small part of the time.

use std::{
    collections::HashSet,
    ffi::c_void,
    ops::Range,
    time::{Duration, Instant},
};

use okl_coherence::{PAGE, Page, Run};

use crate::{
    kernel::{self, LARGE},
    settings,
    view::View,
};

const PAGES: Page = (LARGE / PAGE) as Page;
/// `MADV_COLLAPSE` of the kernel's interface.
const COLLAPSE: i32 = 25;

/// So much of the time may go into making them: one in so many. What is seen of it here is less than all: pages
/// of the file are mapped anew where they are touched next, by each rank of the machine. With one in 32, triad and
/// jacobi took an eighth longer in runs of half a second, and gained a twentieth in runs of five.
const PART: u32 = 200;
/// What one takes, until it has been seen.
const EXPECTED: Duration = Duration::from_millis(4);
/// Made at once where it may take any time.
const MOST: Page = 8;

/// The large pages of this rank's memory file.
pub(crate) struct LargePages {
    own: View,
    file: i32,
    /// Those that have been asked for, by their numbers; `None` where there are none.
    asked: Option<HashSet<Page>>,
    /// When that began, and what it has taken; `None` where it may take any time.
    since: Option<Instant>,
    taken: Duration,
    /// What the last one took.
    last: Duration,
    /// How many there were.
    pub(crate) made: u64,
}

impl LargePages {
    /// Of `file`, mapped at `own`.
    pub(crate) fn new(own: View, file: i32, wanted: settings::LargePages) -> Self {
        Self {
            own,
            file,
            asked: (wanted != settings::LargePages::Never).then(HashSet::new),
            since: (wanted != settings::LargePages::Always).then(Instant::now),
            taken: Duration::ZERO,
            last: EXPECTED,
            made: 0,
        }
    }

    /// Has large pages where all of `run`, which consists of such, has memory.
    pub(crate) fn make(&mut self, run: Run) {
        // Before the kernel is asked about any of them: this is called for each loop nest.
        if !self.is_time() {
            return;
        }
        let numbers = run.first / PAGES..(run.first + run.count) / PAGES;
        let most = match self.since {
            Some(_) => 1,
            None => MOST,
        };
        let mut wanted = numbers.start..numbers.start;
        for number in numbers {
            let is_new = |asked: &HashSet<Page>| !asked.contains(&number);
            let is_wanted =
                self.asked.as_ref().is_some_and(is_new) && has_memory(self.file, number);
            if !is_wanted || wanted.len() == most as usize {
                self.collapse(std::mem::replace(&mut wanted, number..number));
            }
            wanted = match is_wanted {
                true => wanted.start..number + 1,
                false => number + 1..number + 1,
            };
        }
        self.collapse(wanted);
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

    /// Whether making another one takes a small part of the time.
    fn is_time(&self) -> bool {
        self.since
            .is_none_or(|since| PART * (self.taken + self.last) <= since.elapsed())
    }

    /// Has the kernel make some, unless that has taken too long.
    fn collapse(&mut self, numbers: Range<Page>) {
        if numbers.is_empty() || !self.is_time() {
            return;
        }
        let Some(asked) = &mut self.asked else {
            return;
        };
        let begin = Instant::now();
        asked.extend(numbers.clone());
        // SAFETY: the runtime's view of pages of the file; no contents change.
        let failed = unsafe {
            kernel::madvise(
                self.own.at(numbers.start as usize * LARGE).cast::<c_void>(),
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
        self.last = begin.elapsed();
        self.taken += self.last;
    }
}

/// Whether all of what could be a large page has memory.
fn has_memory(file: i32, number: Page) -> bool {
    let start = number as usize * LARGE;
    // SAFETY: asks about a descriptor of our own, of which nobody uses the position.
    let hole = unsafe { libc::lseek(file, start as i64, libc::SEEK_HOLE) };
    usize::try_from(hole).is_ok_and(|hole| hole >= start + LARGE)
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
        let mut large = LargePages::new(own, file, settings::LargePages::Always);
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
        large.make(run(0, 6));
        assert_eq!(resident(), before);
        let mut read = [0; 8];
        for (at, value) in [
            (LARGE + 3, 7),
            (2 * LARGE - PAGE + 3, 7),
            (2 * LARGE + 5, 9),
        ] {
            own.read(at, &mut read);
            assert_eq!(read[0], value, "{at}");
        }
        if large.asked.is_none() {
            eprintln!(
                "skip contents_and_room_stay_as_they_are: the kernel makes no large pages of memory files"
            );
            return;
        }
        assert_eq!(large.made, 1);
        large.make(run(0, 6));
        assert_eq!(large.made, 1);
        // Given back, and there again.
        large.forget(run(1, 1));
        large.make(run(1, 1));
        assert_eq!(large.made, 2);
    }

    #[test]
    fn it_takes_a_part_of_the_time() {
        // SAFETY: creates a descriptor; the result is checked.
        let file = unsafe { libc::memfd_create(c"okl-test".as_ptr(), libc::MFD_CLOEXEC) };
        assert!(file >= 0);
        // SAFETY: a descriptor of our own.
        assert_eq!(unsafe { libc::ftruncate(file, 2 * LARGE as i64) }, 0);
        let own = View::map(file, 2 * LARGE).expect("room");
        own.write(0, &vec![1; 2 * LARGE]);
        let mut large = LargePages::new(own, file, settings::LargePages::WhereTheyPay);
        let all = Run {
            first: 0,
            count: 2 * PAGES,
        };
        large.make(all);
        assert!(large.asked.as_ref().is_some_and(HashSet::is_empty));
        // One is made in the time that there was for one, and no other.
        large.last = Duration::ZERO;
        large.make(all);
        assert!(large.asked.as_ref().is_none_or(|asked| asked.len() == 1));
        large.taken = Duration::from_secs(1000);
        large.make(all);
        assert!(large.asked.is_none_or(|asked| asked.len() == 1));
    }
}
