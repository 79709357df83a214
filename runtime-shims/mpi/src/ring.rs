//! A list of words in a control area that any rank of the node appends to, at any time, and that is read on from where
//! the reader stopped.
//!
//! Guarantee: who sees, in any way, that another rank has appended a word reads it, or is told that words are lost: the
//! list keeps the last [`SLOTS`]. A rank that has begun to append a word and not yet ended is passed over; what it
//! appends is read later, and what came after it may be read twice. Of a rank that appends a word by [`Ring::append_before`]
//! and then reads something, and one that writes that and then reads the list by [`Ring::read_after`], one sees what the
//! other one did.

use crate::primitives::{AtomicU64, SeqCst, fence};

/// Words that the list keeps: in models few.
pub(crate) const SLOTS: usize = if cfg!(loom) { 2 } else { 1 << 16 };
/// Words of memory: the number of words appended, in a cache line of its own, and the slots.
pub(crate) const WORDS: usize = FIRST + SLOTS;
/// The first slot.
const FIRST: usize = 8;
/// Words of a copy of a part of the list: the number of words appended, and what the slots have from some number on.
pub(crate) const COPY: usize = 64;
/// Slots of such a copy.
pub(crate) const COPIED: usize = COPY - 1;
/// Bits of a word that is appended. Those above say in which round its slot was written.
const BITS: u32 = 48;

/// A list, empty where the memory is zero.
#[derive(Clone, Copy)]
pub(crate) struct Ring<'a>(pub(crate) &'a [AtomicU64]);

/// The round in which the word `number` is written, not 0 in the first.
fn round(number: u64) -> u16 {
    (number / SLOTS as u64 + 1) as u16
}

impl Ring<'_> {
    /// How many words have been appended.
    #[inline]
    pub(crate) fn count(self) -> u64 {
        self.0[0].load(SeqCst)
    }

    /// A copy of the part that begins at the number `from`.
    pub(crate) fn copy_from(self, from: u64) -> [u64; COPY] {
        let mut copy = [self.count(); COPY];
        for (word, number) in copy[1..].iter_mut().zip(from..) {
            *word = self.slot(number).load(SeqCst);
        }
        copy
    }

    /// Makes this list, which nobody appends to, like the one that was [copied](Ring::copy_from).
    pub(crate) fn take_over(self, from: u64, copy: &[u64; COPY]) {
        self.0[0].store(copy[0], SeqCst);
        for (&word, number) in copy[1..].iter().zip(from..) {
            self.slot(number).store(word, SeqCst);
        }
    }

    fn slot(&self, number: u64) -> &AtomicU64 {
        &self.0[FIRST + (number % SLOTS as u64) as usize]
    }

    /// Appends a word of [`BITS`] bits.
    pub(crate) fn append(self, word: u64) {
        debug_assert!(word < 1 << BITS);
        let number = self.0[0].fetch_add(1, SeqCst);
        let slot = self.slot(number);
        let mine = round(number);
        let mut old = slot.load(SeqCst);
        loop {
            // A rank that was stopped so long must not hide what was appended meanwhile: its word is lost.
            let is_newer = (((old >> BITS) as u16).wrapping_sub(mine) as i16) >= 0;
            if old != 0 && is_newer {
                return;
            }
            match slot.compare_exchange(old, u64::from(mine) << BITS | word, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(seen) => old = seen,
            }
        }
    }

    /// Appends words before this rank reads what others write at any time.
    pub(crate) fn append_before(self, words: impl Iterator<Item = u64>) {
        words.for_each(|word| self.append(word));
        fence(SeqCst);
    }

    /// As [`Ring::read`], after all that this rank has written.
    pub(crate) fn read_after(self, from: &mut u64, each: impl FnMut(u64)) -> bool {
        fence(SeqCst);
        self.read(from, each)
    }

    /// Hands the words from the number `from` on to `each`, and sets it to where to go on. False where words are lost:
    /// then it is set behind all.
    pub(crate) fn read(self, from: &mut u64, mut each: impl FnMut(u64)) -> bool {
        let count = self.count();
        if count == *from {
            return true;
        }
        let mut missing = None;
        let mut is_lost = count - *from > SLOTS as u64;
        for number in if is_lost { count..count } else { *from..count } {
            let word = self.slot(number).load(SeqCst);
            match ((word >> BITS) as u16).wrapping_sub(round(number)) as i16 {
                0 => each(word & ((1 << BITS) - 1)),
                1.. => is_lost = true,
                _ => {
                    missing.get_or_insert(number);
                }
            }
        }
        *from = match missing {
            Some(number) if !is_lost => number,
            _ => count,
        };
        !is_lost
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn memory() -> Vec<AtomicU64> {
        (0..WORDS).map(|_| AtomicU64::new(0)).collect()
    }

    fn read(ring: Ring<'_>, from: &mut u64) -> Option<Vec<u64>> {
        let mut words = Vec::new();
        ring.read(from, |word| words.push(word)).then_some(words)
    }

    #[test]
    fn what_is_appended_is_read_once() {
        let memory = memory();
        let ring = Ring(&memory);
        let mut from = 0;
        assert_eq!(read(ring, &mut from), Some(vec![]));
        for round in 0..5 {
            let words: Vec<u64> = (0..SLOTS as u64 / 2 + 7).map(|word| word + round).collect();
            words.iter().for_each(|&word| ring.append(word));
            assert_eq!(read(ring, &mut from), Some(words));
        }
        assert_eq!(read(ring, &mut from), Some(vec![]));
    }

    #[test]
    fn who_reads_too_seldom_is_told() {
        let memory = memory();
        let ring = Ring(&memory);
        let mut from = 0;
        (0..SLOTS as u64).for_each(|word| ring.append(word));
        let mut other = from;
        assert_eq!(read(ring, &mut other).map(|all| all.len()), Some(SLOTS));
        ring.append(1);
        assert_eq!(read(ring, &mut from), None);
        assert_eq!(read(ring, &mut from), Some(vec![]));
    }

    #[test]
    fn a_word_that_comes_late_is_read_then() {
        let memory = memory();
        let ring = Ring(&memory);
        let mut from = 0;
        // One rank has taken a number and not yet written.
        memory[0].fetch_add(1, SeqCst);
        ring.append(5);
        assert_eq!(read(ring, &mut from), Some(vec![5]));
        memory[FIRST].store(1 << BITS | 4, SeqCst);
        assert_eq!(read(ring, &mut from), Some(vec![4, 5]));
        assert_eq!(read(ring, &mut from), Some(vec![]));
    }

    #[test]
    fn a_word_that_comes_a_round_late_hides_none() {
        let memory = memory();
        let ring = Ring(&memory);
        memory[0].store(SLOTS as u64, SeqCst);
        ring.append(9);
        let mut from = SLOTS as u64;
        // The rank that took number 0 goes on now.
        memory[0].store(0, SeqCst);
        ring.append(8);
        memory[0].store(SLOTS as u64 + 1, SeqCst);
        assert_eq!(read(ring, &mut from), Some(vec![9]));
    }

    #[test]
    fn a_copy_has_what_was_appended() {
        let (memory, other) = (memory(), memory());
        let (ring, copy) = (Ring(&memory), Ring(&other));
        let mut from = 0;
        (0..SLOTS as u64 - 3).for_each(|word| ring.append(word));
        copy.0[0].store(ring.count(), SeqCst);
        assert_eq!(read(ring, &mut from).map(|all| all.len()), Some(SLOTS - 3));
        (0..9).for_each(|word| ring.append(word));
        copy.take_over(from, &ring.copy_from(from));
        assert_eq!(read(copy, &mut from), Some((0..9).collect()));
        assert_eq!(from, ring.count());
    }

    #[test]
    fn threads_append_at_the_same_time() {
        const EACH: u64 = SLOTS as u64 / 8;
        let memory = memory();
        let ring = Ring(&memory);
        let mut seen = vec![0; 4 * EACH as usize];
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || (0..EACH).for_each(|word| ring.append(thread * EACH + word)));
            }
            let mut from = 0;
            while from < 4 * EACH {
                assert!(ring.read(&mut from, |word| seen[word as usize] += 1));
            }
        });
        assert!(seen.iter().all(|&times| times > 0));
    }
}
