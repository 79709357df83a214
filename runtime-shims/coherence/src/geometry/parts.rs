//! Numbers that stand for parts of a state, so that what follows from some of it is known again whatever the rest has become.
//!
//! Memory is cut into chunks of one size. What stands for a chunk is the exclusive or of members that have their positions
//! in them; what stands for several is that of theirs. Large parts are looked up in as few steps as they have digits.

use std::{
    cell::Cell,
    collections::HashMap,
    fmt,
    hash::{BuildHasherDefault, Hasher},
    ops::Range as Between,
};

use super::{
    ranges::{Range, Ranges},
    signature::Signature,
};

/// Bytes of a chunk, as a power of two. In tests they are small, so that nothing is known again by chance.
const CHUNK: u32 = if cfg!(test) { 6 } else { 16 };

/// So many neighbours, as a power of two, are one on the next level.
const FAN: u32 = 3;
const LEVELS: usize = 6;

/// The chunks that a range of bytes touches.
#[inline]
pub(crate) fn chunks_around((start, end): Range) -> Between<u64> {
    start >> CHUNK..(end + (1 << CHUNK) - 1) >> CHUNK
}

/// The first byte of a chunk.
#[inline]
pub(crate) fn start_of_chunk(chunk: u64) -> u64 {
    chunk << CHUNK
}

/// Spreads numbers that follow each other.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    #[inline]
    fn write(&mut self, _: &[u8]) {
        unreachable!("chunks are numbers");
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

type Level = HashMap<u64, Signature, BuildHasherDefault<Spread>>;

/// What stands for each chunk. Nothing does for most.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Of chunks, of so many chunks next to each other, and so on.
    levels: [Level; LEVELS],
    all: Signature,
    known: Known,
}

/// So many answers are remembered, each in one place.
const PLACES: usize = 64;

/// What stands for parts, by what stands for all chunks and for the part: a program comes back to the same states, and a look
/// at all levels is long.
struct Known([Cell<(Signature, Signature)>; PLACES]);

impl Default for Known {
    fn default() -> Self {
        Self([const { Cell::new((Signature::NOTHING, Signature::NOTHING)) }; PLACES])
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Known")
    }
}

impl Parts {
    /// What stands for all chunks.
    #[inline]
    pub(crate) fn all(&self) -> Signature {
        self.all
    }

    /// What stands for one.
    #[inline]
    pub(crate) fn of(&self, chunk: u64) -> Signature {
        self.at(0, chunk)
    }

    #[inline]
    fn at(&self, level: usize, index: u64) -> Signature {
        let known = self.levels[level].get(&index);
        known.copied().unwrap_or(Signature::NOTHING)
    }

    /// Takes a member of a chunk in, or out.
    pub(crate) fn toggle(&mut self, chunk: u64, member: Signature) {
        let mut index = chunk;
        for level in &mut self.levels {
            let part = level.entry(index).or_insert(Signature::NOTHING);
            *part = part.toggled(member);
            if *part == Signature::NOTHING {
                level.remove(&index);
            }
            index >>= FAN;
        }
        self.all = self.all.toggled(member);
    }

    /// What stands for the chunks that `bytes` touch.
    pub(crate) fn around(&self, bytes: &Ranges) -> Signature {
        let key = self.all.with_signature(bytes.signature());
        let place = &self.known.0[key.to_words()[0] as usize % PLACES];
        let (known, part) = place.get();
        if known == key {
            return part;
        }
        let part = self.find_around(bytes);
        place.set((key, part));
        part
    }

    fn find_around(&self, bytes: &Ranges) -> Signature {
        let mut all = Signature::NOTHING;
        let mut done = 0;
        for range in bytes.iter() {
            let chunks = chunks_around(range);
            all = all.toggled(self.between(0, chunks.start.max(done)..chunks.end));
            done = chunks.end;
        }
        all
    }

    fn between(&self, level: usize, wanted: Between<u64>) -> Signature {
        let each = |range: Between<u64>| {
            let parts = range.map(|index| self.at(level, index));
            parts.fold(Signature::NOTHING, Signature::toggled)
        };
        let whole = wanted.start.div_ceil(1 << FAN)..wanted.end >> FAN;
        if level + 1 == LEVELS || whole.is_empty() {
            return each(wanted);
        }
        let (before, behind) = (
            wanted.start..whole.start << FAN,
            whole.end << FAN..wanted.end,
        );
        let ends = each(before).toggled(each(behind));
        ends.toggled(self.between(level + 1, whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    #[test]
    fn what_stands_for_a_part_is_that_of_its_chunks() {
        let mut random = Random(17);
        let mut parts = Parts::default();
        let mut truth: HashMap<u64, Signature> = HashMap::new();
        let mut asked: [Ranges; 4] = Default::default();
        for round in 0..4000u64 {
            let most = [100, 1 << 14, 1 << 22][random.below(3)];
            let chunk = random.below(most) as u64;
            let member = Signature::START.with(round % 50);
            parts.toggle(chunk, member);
            let part = truth.entry(chunk).or_insert(Signature::NOTHING);
            *part = part.toggled(member);
            let bytes = (0..1 + random.below(3)).map(|_| {
                let start = (random.below(most) as u64) << CHUNK | random.below(5) as u64;
                (start, start + 1 + random.below(most << CHUNK) as u64)
            });
            let bytes = Ranges::of(bytes.collect());
            // What was asked before is asked again, in other states and in the same.
            asked[round as usize % 4] = bytes;
            for bytes in [&asked[0], &asked[random.below(4)]] {
                let is_in = |chunk: u64| {
                    let mut ranges = bytes.iter();
                    ranges.any(|range| chunks_around(range).contains(&chunk))
                };
                let those = truth.iter().filter(|&(&chunk, _)| is_in(chunk));
                let expected = those.fold(Signature::NOTHING, |all, (_, &part)| all.toggled(part));
                assert_eq!(parts.around(bytes), expected, "{bytes:?}");
                assert_eq!(parts.around(bytes), expected, "{bytes:?}");
            }
            assert_eq!(parts.of(chunk), truth[&chunk]);
        }
        let all = truth.values().copied();
        assert_eq!(
            parts.all(),
            all.fold(Signature::NOTHING, Signature::toggled)
        );
    }
}
