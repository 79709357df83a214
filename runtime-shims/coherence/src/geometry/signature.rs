//! Numbers that stand for contents: two lists of words have the same signature only if they are equal, but for a chance
//! that no job meets. Of half a million lists that differ as sections do not even halves of signatures are the same.
//!
//! They grow by a word at a time, in every synchronisation: XXH3 of a signature and a word takes 2.9 times as long as what
//! is here.

use std::hash::{BuildHasherDefault, Hash, Hasher};

/// 128 bits in two independent halves. The default stands for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature([u64; 2]);

impl Hash for Signature {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0[0]);
    }
}

/// Finds signatures in a map by their first half: it is a hash already.
#[derive(Default)]
pub(crate) struct Half(u64);

impl Hasher for Half {
    #[inline]
    fn write(&mut self, _: &[u8]) {
        unreachable!("signatures are numbers");
    }

    #[inline]
    fn write_u64(&mut self, half: u64) {
        self.0 = half;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) type ByHalf = BuildHasherDefault<Half>;

const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

#[inline]
fn fold(state: u64, word: u64, factor: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(factor);
    (product as u64 ^ (product >> 64) as u64).wrapping_add(state.rotate_left(23))
}

impl Signature {
    /// Of the empty list.
    pub const START: Self = Self([0x2545_f491_4f6c_dd1d, 0x6a09_e667_f3bc_c909]);
    /// What no list has: a rank that declared nothing sends it.
    pub(crate) const NOTHING: Self = Self([0, 0]);

    /// Of the list with one more word.
    #[must_use]
    #[inline]
    pub fn with(self, word: u64) -> Self {
        let [a, b] = self.0;
        Self([fold(a, word, FACTORS[0]), fold(b, word, FACTORS[1])])
    }

    /// Of the list with the words of another signature.
    #[must_use]
    #[inline]
    pub(crate) fn with_signature(self, other: Self) -> Self {
        self.with(other.0[0]).with(other.0[1])
    }

    /// The exclusive or: of sets, whose members come and go in any order.
    #[must_use]
    #[inline]
    pub(crate) fn toggled(self, member: Self) -> Self {
        Self([self.0[0] ^ member.0[0], self.0[1] ^ member.0[1]])
    }

    /// [`Signature::START`] instead of [`Signature::NOTHING`].
    #[must_use]
    #[inline]
    pub(crate) fn or_start(self) -> Self {
        match self {
            Self::NOTHING => Self::START,
            one => one,
        }
    }

    /// A rank's part of what stands for all ranks: parts are joined by [`Signature::toggled`], in any order.
    /// Nothing of all ranks is [`Signature::NOTHING`].
    #[must_use]
    #[inline]
    pub(crate) fn of_rank(self, rank: usize) -> Self {
        match self {
            Self::NOTHING => Self::NOTHING,
            one => Self::START.with(rank as u64).with_signature(one),
        }
    }

    /// What stands for those of all ranks, given in rank order.
    #[inline]
    pub(crate) fn of_all(ranks: impl IntoIterator<Item = Self>) -> Self {
        let parts = ranks.into_iter().enumerate();
        parts.fold(Self::NOTHING, |all, (rank, one)| {
            all.toggled(one.of_rank(rank))
        })
    }

    /// As words, for a message.
    #[inline]
    pub fn to_words(self) -> [u64; 2] {
        self.0
    }

    /// What was made words of.
    #[inline]
    pub fn from_words(words: [u64; 2]) -> Self {
        Self(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In each half alone, of which one in 2^64 pairs of lists has the same.
    fn differ(lists: impl Iterator<Item = Signature>) {
        let all: Vec<Signature> = lists.collect();
        for half in [0, 1] {
            let mut halves: Vec<u64> = all.iter().map(|one| one.0[half]).collect();
            halves.sort_unstable();
            assert!(halves.windows(2).all(|pair| pair[0] != pair[1]));
            assert!(halves[0] != 0);
        }
    }

    /// Sections are addresses, strides and counts, which have few bits that differ.
    #[test]
    fn similar_lists_differ() {
        let pairs = |a: u32, b: u32| {
            let two = move |(x, y): (u64, u64)| Signature::START.with(x << a).with(y << b);
            (0..700).flat_map(move |x| (0..700).map(move |y| two((x, y))))
        };
        for (a, b) in [
            (0, 0),
            (3, 12),
            (12, 3),
            (32, 0),
            (0, 32),
            (54, 54),
            (0, 54),
        ] {
            differ(pairs(a, b));
        }
        // Three words, one of which is far from the others, in every order.
        let far = 0x7fff_0000_0000;
        let three = (0..90u64.pow(3)).map(|at| [at % 90, at / 90 % 90, at / 8100]);
        differ(three.map(|[x, y, z]| Signature::START.with(x).with(far + (y << 3)).with(z << 12)));
        // One bit of one of them, or of two.
        let bits = (0..64).flat_map(|x| (0..64).map(move |y| (1u64 << x, 1u64 << y)));
        differ(bits.map(|(x, y)| Signature::START.with(far ^ x).with(y).with(far)));
    }

    #[test]
    fn sets_of_similar_lists_differ() {
        let member = |start: u64| Signature::START.with(start).with(start + 4096).with(7);
        let members: Vec<_> = (0..1000).map(|at| member(at * 4096)).collect();
        let pairs = (0..members.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        differ(pairs.map(|(a, b)| members[a].toggled(members[b])));
    }
}
