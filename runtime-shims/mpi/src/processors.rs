//! Which processors threads may run on.

use std::mem::size_of;

const WORDS: usize = size_of::<libc::cpu_set_t>() / 8;

/// A set of processors, as words that ranks can tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Processors([u64; WORDS]);

impl Processors {
    /// Those that the calling thread may run on; none where there are too many to tell.
    pub(crate) fn of_this_thread() -> Self {
        let mut words = [0; WORDS];
        // SAFETY: fills a set of that size.
        let failed = unsafe {
            libc::sched_getaffinity(0, size_of_val(&words), words.as_mut_ptr().cast()) != 0
        };
        Self(if failed { [0; WORDS] } else { words })
    }

    pub(crate) fn of_words(words: &[u64]) -> Self {
        Self(words.try_into().expect("the words of a set"))
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }

    pub(crate) const fn length() -> usize {
        WORDS
    }

    /// How many there are in any of `sets`.
    pub(crate) fn count(sets: &[Self]) -> u32 {
        let all = (0..WORDS).map(|at| sets.iter().fold(0, |all, set| all | set.0[at]));
        all.map(u64::count_ones).sum()
    }

    /// Has the calling thread run on these. A refusal leaves it where it is.
    pub(crate) fn run_on(&self) {
        // SAFETY: changes the calling thread's scheduling only.
        unsafe {
            libc::sched_setaffinity(0, size_of_val(&self.0), self.0.as_ptr().cast());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_of_several_sets_count_once() {
        let mut words = [0; WORDS];
        words[0] = 0b1011;
        let one = Processors(words);
        words[0] = 0b1100;
        words[1] = 1;
        let other = Processors(words);
        assert_eq!(Processors::count(&[one, other]), 5);
        assert_eq!(Processors::count(&[]), 0);
        assert_eq!(Processors::of_words(other.words()), other);
    }
}
