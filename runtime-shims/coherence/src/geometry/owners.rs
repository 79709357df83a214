//! Who wrote what: the rank that has the current value of each byte of the pages in section mode.

use std::rc::Rc;

use super::{
    pieces::{Deferred, Step},
    ranges::{Range, Ranges, behind},
    signature::Signature,
};

/// Bytes whose current value one rank has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) owner: u32,
    /// Other ranks may have copies.
    pub(crate) shared: bool,
}

impl Owned {
    fn word(self) -> u32 {
        self.owner << 1 | u32::from(self.shared)
    }

    fn of((start, end): Range, word: u32) -> Self {
        Self {
            start,
            end,
            owner: word >> 1,
            shared: word & 1 != 0,
        }
    }
}

/// The owners of all bytes in section mode.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    pieces: Deferred,
    all: Ranges,
}

impl Owners {
    /// All pieces, of which no neighbours are alike.
    pub(crate) fn pieces(&self) -> Vec<Owned> {
        let mut all = Vec::new();
        self.pieces
            .each(|range, word| all.push(Owned::of(range, word)));
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All bytes that have an owner here.
    pub(crate) fn all(&self) -> &Ranges {
        &self.all
    }

    /// The bytes that `rank` owns.
    pub(crate) fn of(&self, rank: u32) -> Ranges {
        self.those(|one| one.owner == rank)
    }

    /// The bytes that ranks other than their owner may have copies of.
    pub(crate) fn shared(&self) -> Ranges {
        self.those(|one| one.shared)
    }

    fn those(&self, are: impl Fn(&Owned) -> bool) -> Ranges {
        let pieces = self.pieces();
        let those = pieces.iter().filter(|one| are(one));
        Ranges::of(those.map(|one| (one.start, one.end)).collect())
    }

    /// The piece that holds all of `bytes`.
    pub(crate) fn around(&self, bytes: Range) -> Option<Owned> {
        let within = self.recall(&Ranges::of(vec![bytes]));
        within
            .first()
            .copied()
            .filter(|one| (one.start, one.end) == bytes)
    }

    /// Whether `bytes` are one piece that `rank` owns, of which others may have copies only if that `may_be`.
    pub(crate) fn is_one_of(&self, rank: u32, bytes: Range, may_be: bool) -> bool {
        let word = self.pieces.word_of(bytes);
        let one = word.map(|word| Owned::of(bytes, word));
        one.is_some_and(|one| one.owner == rank && (may_be || !one.shared))
    }

    /// The parts of `bytes` that have an owner here, with their owners.
    pub(crate) fn within(&self, bytes: &Ranges) -> Vec<Owned> {
        let mut found = Vec::new();
        self.pieces.within(bytes, |range, word| {
            found.push(Owned::of(range, word));
        });
        found
    }

    /// The same; without looking where this was asked in the same state before.
    pub(crate) fn recall(&self, bytes: &Ranges) -> Vec<Owned> {
        let found = self.pieces.recall(bytes);
        let found = found.iter();
        found.map(|&(range, word)| Owned::of(range, word)).collect()
    }

    /// The parts of `bytes` that `rank` owns.
    pub(crate) fn within_of(&self, bytes: &Ranges, rank: u32) -> Ranges {
        let mut found = Vec::new();
        self.pieces.within(bytes, |range, word| {
            if Owned::of(range, word).owner == rank {
                found.push(range);
            }
        });
        Ranges::of(found)
    }

    /// Makes `changes` one after another: each to the owners of some bytes, as far as they have one. What becomes of bytes
    /// depends on their owner, and on whether others may have copies.
    pub(crate) fn change(&self, changes: &[(&Ranges, &dyn Fn(Owned) -> Owned)]) -> Rc<Step> {
        let touched = changes.iter();
        let touched = touched.flat_map(|(bytes, _)| self.pieces.touching(bytes));
        let mut touched: Vec<_> = touched.collect();
        // They are of a few sorted sequences.
        touched.sort();
        touched.dedup();
        let touched = touched.into_iter();
        let before = Part::of(touched.map(|(range, word)| Owned::of(range, word)));
        let (mut after, mut next) = (before.clone(), Part::default());
        for (bytes, change) in changes.iter().filter(|(bytes, _)| !bytes.is_empty()) {
            after.changed(bytes, change, &mut next);
            std::mem::swap(&mut after, &mut next);
        }
        let changed = before.differing(&after);
        let sets = changed
            .0
            .iter()
            .map(|one| ((one.start, one.end), Some(one.word())));
        self.pieces.set(sets)
    }

    /// Makes a change that [`Owners::change`] has made before in the same state.
    pub(crate) fn follow(&self, step: &Rc<Step>) {
        self.pieces.follow(step);
    }

    /// Adds `bytes`, which have no owner yet, owned as it says for each range.
    pub(crate) fn add(&mut self, added: impl Iterator<Item = (Range, u32)>) {
        let added: Vec<(Range, u32)> = added.collect();
        let bytes = added.iter().map(|&(range, _)| range);
        self.all = self.all.union(&Ranges::of(bytes.collect()));
        let owned = |(range, owner)| (range, Some(owner << 1));
        self.pieces.set(added.into_iter().map(owned));
    }

    /// Takes `bytes` out.
    pub(crate) fn remove(&mut self, bytes: &Ranges) {
        self.all = self.all.minus(bytes);
        self.pieces.set(bytes.iter().map(|range| (range, None)));
    }

    /// A number that stands for the contents.
    pub(crate) fn signature(&self) -> Signature {
        self.pieces.signature()
    }

    /// The same of the chunks that `bytes` lie in.
    pub(crate) fn signature_around(&self, bytes: &Ranges) -> Signature {
        self.pieces.signature_around(bytes)
    }
}

/// Some of the pieces: sorted, disjoint, and neighbours that are alike are one.
#[derive(Clone, Debug, Default)]
struct Part(Vec<Owned>);

impl Part {
    fn of(pieces: impl Iterator<Item = Owned>) -> Self {
        let mut part = Self::default();
        pieces.for_each(|one| part.push(one));
        part
    }

    fn push(&mut self, one: Owned) {
        match self.0.last_mut() {
            Some(last) if last.end == one.start && last.word() == one.word() => {
                last.end = one.end;
            }
            _ => self.0.push(one),
        }
    }

    /// Makes `changed` this with `change` made to the owners of `bytes`.
    fn changed(&self, bytes: &Ranges, change: impl Fn(Owned) -> Owned, changed: &mut Self) {
        let (first, end) = bytes.hull();
        let pieces = &self.0[..];
        let (before, pieces) = pieces.split_at(pieces.partition_point(|one| one.end <= first));
        let (pieces, behind_all) = pieces.split_at(pieces.partition_point(|one| one.start < end));
        changed.0.clear();
        changed.0.extend_from_slice(before);
        let mut ranges = bytes.as_slice();
        // What neighbours of one owner become is the same.
        let mut last: Option<(u32, bool)> = None;
        for &one in pieces {
            let word = one.word();
            let (_, stays) = *match &mut last {
                Some(last) if last.0 == word => last,
                last => last.insert((word, change(one).word() == word)),
            };
            if stays {
                changed.push(one);
                continue;
            }
            let mut start = one.start;
            while start < one.end {
                ranges = behind(ranges, start);
                let (end, is_in) = match ranges.first() {
                    Some(&(first, _)) if first > start => (first.min(one.end), false),
                    Some(&(_, end)) => (end.min(one.end), true),
                    None => (one.end, false),
                };
                let piece = Owned { start, end, ..one };
                changed.push(if is_in { change(piece) } else { piece });
                start = end;
            }
        }
        if let Some((&one, rest)) = behind_all.split_first() {
            changed.push(one);
            changed.0.extend_from_slice(rest);
        }
    }

    /// The pieces of `after`, which is of the same bytes, that are not as they are here.
    fn differing(&self, after: &Self) -> Self {
        let mut differing = Self::default();
        let mut olds = self.0.iter().peekable();
        for new in &after.0 {
            let mut start = new.start;
            while start < new.end {
                while olds.next_if(|old| old.end <= start).is_some() {}
                let old = olds.peek().expect("both are of the same bytes");
                let end = old.end.min(new.end);
                if old.word() != new.word() {
                    differing.push(Owned { start, end, ..*new });
                }
                start = end;
            }
        }
        differing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    #[test]
    fn changes_are_made_byte_by_byte() {
        let mut random = Random(5);
        let mut below = |bound: u64| random.below(bound as usize) as u64;
        for _ in 0..500 {
            let mut truth: Vec<Option<(u32, bool)>> = vec![None; 64];
            let mut owners = Owners::default();
            for _ in 0..12 {
                let start = below(50);
                let range = (start, start + 1 + below(12));
                let bytes = Ranges::of(vec![range, (start / 2, start / 2 + 3)]);
                let rank = below(3) as u32;
                match below(4) {
                    0 => {
                        let free = bytes.minus(owners.all());
                        owners.add(free.iter().map(|range| (range, rank)));
                        for (from, to) in free.iter() {
                            truth[from as usize..to as usize].fill(Some((rank, false)));
                        }
                    }
                    1 => {
                        owners.remove(&bytes);
                        for (from, to) in bytes.iter() {
                            truth[from as usize..to as usize].fill(None);
                        }
                    }
                    _ => {
                        let shared = below(2) == 0;
                        let change = |one| Owned {
                            owner: rank,
                            shared,
                            ..one
                        };
                        owners.change(&[(&bytes, &change)]);
                        for (from, to) in bytes.iter() {
                            for byte in &mut truth[from as usize..to as usize] {
                                *byte = byte.map(|_| (rank, shared));
                            }
                        }
                    }
                }
                let mut seen = vec![None; 64];
                for one in owners.pieces() {
                    seen[one.start as usize..one.end as usize].fill(Some((one.owner, one.shared)));
                }
                assert_eq!(seen, truth);
                let (first, last) = (range.0 as usize, range.1 as usize);
                let is_alike = truth[first..last].windows(2).all(|pair| pair[0] == pair[1]);
                let around = owners.around(range).map(|one| (one.owner, one.shared));
                assert_eq!(around, truth[first].filter(|_| is_alike));
                let inside = owners.within(&bytes);
                let covered = Ranges::of(inside.iter().map(|one| (one.start, one.end)).collect());
                assert_eq!(covered, bytes.intersection(owners.all()));
                assert!(owners.pieces().is_sorted_by_key(|one| one.start));
            }
        }
    }
}
