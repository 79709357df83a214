//! Who wrote what: the rank that has the current value of each byte of the pages in section mode.

use super::{
    ranges::{Range, Ranges},
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

/// The owners of all bytes in section mode: sorted, disjoint, and neighbours that are alike are one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owners(Vec<Owned>);

impl Owners {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Owned> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All bytes that have an owner here.
    pub(crate) fn all(&self) -> Ranges {
        Ranges::of(self.iter().map(|one| (one.start, one.end)).collect())
    }

    /// The bytes that `rank` owns.
    pub(crate) fn of(&self, rank: u32) -> Ranges {
        let own = self.iter().filter(|one| one.owner == rank);
        Ranges::of(own.map(|one| (one.start, one.end)).collect())
    }

    /// The bytes that ranks other than their owner may have copies of.
    pub(crate) fn shared(&self) -> Ranges {
        let shared = self.iter().filter(|one| one.shared);
        Ranges::of(shared.map(|one| (one.start, one.end)).collect())
    }

    /// The piece that holds all of `bytes`.
    pub(crate) fn around(&self, (start, end): Range) -> Option<Owned> {
        let after = self.0.partition_point(|one| one.start <= start);
        let one = *self.0.get(after.checked_sub(1)?)?;
        (end <= one.end).then_some(one)
    }

    /// The parts of `bytes` that have an owner here, with their owners.
    pub(crate) fn within(&self, bytes: &Ranges) -> Vec<Owned> {
        let mut found = Vec::new();
        self.cut(bytes, |piece, is_in| {
            if is_in {
                found.push(piece);
            }
        });
        found
    }

    /// With `change` made to the owners of `bytes`, as far as they have one.
    pub(crate) fn changed(&self, bytes: &Ranges, change: impl Fn(Owned) -> Owned) -> Self {
        let mut changed = Self(Vec::with_capacity(self.0.len() + 8));
        self.cut(bytes, |piece, is_in| {
            changed.push(if is_in { change(piece) } else { piece });
        });
        changed
    }

    /// With `bytes`, which have no owner yet, owned as `owner_of` says for each range.
    pub(crate) fn with(&self, added: impl Iterator<Item = (Range, u32)>) -> Self {
        let mut all = self.0.clone();
        all.extend(added.map(|((start, end), owner)| Owned {
            start,
            end,
            owner,
            shared: false,
        }));
        all.sort_unstable_by_key(|one| one.start);
        let mut joined = Self(Vec::with_capacity(all.len()));
        for one in all {
            joined.push(one);
        }
        joined
    }

    /// Without `bytes`.
    pub(crate) fn without(&self, bytes: &Ranges) -> Self {
        let mut left = Self::default();
        self.cut(bytes, |piece, is_in| {
            if !is_in {
                left.push(piece);
            }
        });
        left
    }

    /// A number that stands for the contents.
    pub(crate) fn signature(&self) -> Signature {
        self.iter().fold(Signature::START, |signature, one| {
            signature
                .with(one.start)
                .with(one.end)
                .with(u64::from(one.owner) << 1 | u64::from(one.shared))
        })
    }

    fn push(&mut self, one: Owned) {
        match self.0.last_mut() {
            Some(last)
                if last.end == one.start
                    && last.owner == one.owner
                    && last.shared == one.shared =>
            {
                last.end = one.end;
            }
            _ => self.0.push(one),
        }
    }

    /// Hands `sink` the pieces in order, cut at the borders of `bytes`, and whether each is in `bytes`.
    fn cut(&self, bytes: &Ranges, mut sink: impl FnMut(Owned, bool)) {
        let mut ranges = bytes.iter().peekable();
        for one in &self.0 {
            let mut start = one.start;
            while start < one.end {
                while ranges.next_if(|&(_, end)| end <= start).is_some() {}
                let (end, is_in) = match ranges.peek() {
                    Some(&(first, _)) if first > start => (first.min(one.end), false),
                    Some(&(_, end)) => (end.min(one.end), true),
                    None => (one.end, false),
                };
                sink(Owned { start, end, ..*one }, is_in);
                start = end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

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
                        let free = bytes.minus(&owners.all());
                        owners = owners.with(free.iter().map(|range| (range, rank)));
                        for (from, to) in free.iter() {
                            truth[from as usize..to as usize].fill(Some((rank, false)));
                        }
                    }
                    1 => {
                        owners = owners.without(&bytes);
                        for (from, to) in bytes.iter() {
                            truth[from as usize..to as usize].fill(None);
                        }
                    }
                    _ => {
                        let shared = below(2) == 0;
                        owners = owners.changed(&bytes, |one| Owned {
                            owner: rank,
                            shared,
                            ..one
                        });
                        for (from, to) in bytes.iter() {
                            for byte in &mut truth[from as usize..to as usize] {
                                *byte = byte.map(|_| (rank, shared));
                            }
                        }
                    }
                }
                let mut seen = vec![None; 64];
                for one in owners.iter() {
                    seen[one.start as usize..one.end as usize].fill(Some((one.owner, one.shared)));
                }
                assert_eq!(seen, truth);
                let (first, last) = (range.0 as usize, range.1 as usize);
                let is_alike = truth[first..last].windows(2).all(|pair| pair[0] == pair[1]);
                let around = owners.around(range).map(|one| (one.owner, one.shared));
                assert_eq!(around, truth[first].filter(|_| is_alike));
                let inside = owners.within(&bytes);
                let covered = Ranges::of(inside.iter().map(|one| (one.start, one.end)).collect());
                assert_eq!(covered, bytes.intersection(&owners.all()));
                assert!(owners.0.is_sorted_by_key(|one| one.start));
            }
        }
    }
}
