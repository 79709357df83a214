//! A page of this rank's memory, which threads of the program may write while the protocol looks at it.
//!
//! Guarantee: each byte is looked at once, and stored once. A compiler may read plain memory again where it needs a value a
//! second time, so that a message and a twin would differ; atomic accesses, which have no order here, it may not repeat.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::layout::PAGE;

/// What a page has in it.
#[repr(C, align(4096))]
pub struct Contents([AtomicU8; PAGE]);

const WORD: usize = size_of::<u64>();

impl Contents {
    /// A page of zeros.
    pub const fn zeros() -> Self {
        Self([const { AtomicU8::new(0) }; PAGE])
    }

    /// The bytes as words.
    fn words(&self) -> &[AtomicU64; PAGE / WORD] {
        // SAFETY: the same memory, aligned; atomic variables have the size of their numbers, of which any bytes are one.
        unsafe { &*(&raw const self.0).cast() }
    }

    /// Copies what stands from `start` on into `target`.
    pub fn read(&self, start: usize, target: &mut [u8]) {
        let bytes = &self.0[start..start + target.len()];
        let (head, middle) = parts(start, target.len());
        let (first, rest) = target.split_at_mut(head);
        let (words, last) = rest.split_at_mut(middle);
        let first_word = (start + head) / WORD;
        for (to, word) in words
            .chunks_exact_mut(WORD)
            .zip(&self.words()[first_word..])
        {
            to.copy_from_slice(&word.load(Relaxed).to_ne_bytes());
        }
        let ends = [(first, &bytes[..head]), (last, &bytes[head + middle..])];
        for (to, from) in ends
            .into_iter()
            .flat_map(|(to, from)| to.iter_mut().zip(from))
        {
            *to = from.load(Relaxed);
        }
    }

    /// All of it.
    pub fn copy(&self) -> [u8; PAGE] {
        let mut copy = [0; PAGE];
        self.read(0, &mut copy);
        copy
    }

    /// Whether it is like `other`.
    pub fn is(&self, other: &[u8; PAGE]) -> bool {
        let (others, _) = other.as_chunks();
        let mut words = self.words().iter().zip(others);
        words.all(|(word, other)| word.load(Relaxed) == u64::from_ne_bytes(*other))
    }

    /// Hands those words to `see`, with their numbers, that differ from the ones of `other`.
    pub fn differing(&self, other: &[u8; PAGE], mut see: impl FnMut(usize, u64)) {
        // Most of a page is as before.
        const PIECE: usize = 8;
        let (words, _) = self.words().as_chunks::<PIECE>();
        let (others, _) = other.as_chunks::<WORD>();
        let (others, _) = others.as_chunks::<PIECE>();
        for (number, (words, others)) in words.iter().zip(others).enumerate() {
            let pairs = || words.iter().zip(others);
            let differs = |(word, other): (&AtomicU64, &[u8; WORD])| {
                word.load(Relaxed) ^ u64::from_ne_bytes(*other)
            };
            // What is found here is looked at once more, and only that counts.
            if pairs().fold(0, |all, pair| all | differs(pair)) == 0 {
                continue;
            }
            for (at, (word, other)) in pairs().enumerate() {
                let word = word.load(Relaxed);
                if word != u64::from_ne_bytes(*other) {
                    see(PIECE * number + at, word);
                }
            }
        }
    }

    /// Puts `source` there from `start` on, and touches no other byte.
    pub fn write(&self, start: usize, source: &[u8]) {
        let bytes = &self.0[start..start + source.len()];
        let (head, middle) = parts(start, source.len());
        let (first, rest) = source.split_at(head);
        let (words, last) = rest.split_at(middle);
        let first_word = (start + head) / WORD;
        for (from, word) in words.as_chunks().0.iter().zip(&self.words()[first_word..]) {
            word.store(u64::from_ne_bytes(*from), Relaxed);
        }
        let ends = [(&bytes[..head], first), (&bytes[head + middle..], last)];
        for (to, from) in ends.into_iter().flat_map(|(to, from)| to.iter().zip(from)) {
            to.store(*from, Relaxed);
        }
    }
}

/// How many of `length` bytes from `start` on lie before the first whole word, and how many in whole words.
fn parts(start: usize, length: usize) -> (usize, usize) {
    let head = (start.next_multiple_of(WORD) - start).min(length);
    (head, (length - head) / WORD * WORD)
}

#[cfg(test)]
impl Contents {
    /// One byte of it.
    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.0[at].load(Relaxed)
    }

    /// Changes one byte of it.
    pub(crate) fn set_byte(&self, at: usize, value: u8) {
        self.0[at].store(value, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_what_they_say() {
        let all: [u8; PAGE] = std::array::from_fn(|at| at as u8 ^ (at >> 8) as u8);
        let page = Contents::zeros();
        page.write(0, &all);
        assert!(page.is(&all) && page.copy() == all);
        for start in (0..20).chain(PAGE - 20..PAGE) {
            for length in 0..20.min(PAGE - start + 1) {
                let mut some = vec![0; length];
                page.read(start, &mut some);
                assert_eq!(some, all[start..start + length]);

                let other = Contents::zeros();
                other.write(start, &all[start..start + length]);
                let mut expected = [0; PAGE];
                expected[start..start + length].copy_from_slice(&some);
                assert!(other.is(&expected));
            }
        }
        page.write(77, &[1 ^ all[77]]);
        assert!(!page.is(&all));
    }

    #[test]
    fn words_that_differ_are_found() {
        let page = Contents::zeros();
        let all = [0; PAGE];
        for at in [0, 9, 15, 16, 70, 4095] {
            page.write(at, &[1]);
        }
        let mut found = Vec::new();
        page.differing(&all, |number, word| found.push((number, word)));
        let expected: Vec<(usize, u64)> = [0, 1, 2, 8, 511]
            .map(|number| {
                let mut bytes = [0; WORD];
                page.read(WORD * number, &mut bytes);
                (number, u64::from_ne_bytes(bytes))
            })
            .to_vec();
        assert_eq!(found, expected);
        let mut found = 0;
        page.differing(&page.copy(), |_, _| found += 1);
        assert_eq!(found, 0);
    }
}
