//! Free page ranges of a heap.
//!
//! Guarantee: no two ranges overlap, and none could be joined with its neighbour, except across the
//! border of two arenas.

use std::collections::{BTreeMap, BTreeSet};

use okl_coherence::PAGE;

/// The arenas of all ranks, one behind the other. No range may be joined across the borders between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arenas {
    /// Where rank 0's begins.
    pub(crate) first: usize,
    /// Where the one behind it does.
    pub(crate) others: usize,
    /// Bytes of that and of each one behind it.
    pub(crate) size: usize,
}

impl Arenas {
    /// How far `address` lies behind the start of the arena it is in.
    pub(super) fn offset(self, address: usize) -> usize {
        match address.checked_sub(self.others) {
            Some(behind) => behind % self.size,
            None => address.wrapping_sub(self.first),
        }
    }
}

/// Free page ranges, found by address and by length.
#[derive(Debug)]
pub(super) struct Extents {
    arenas: Arenas,
    /// Start to end.
    by_address: BTreeMap<usize, usize>,
    /// (length, start).
    by_length: BTreeSet<(usize, usize)>,
}

impl Extents {
    pub(super) fn new(arenas: Arenas) -> Self {
        Self {
            arenas,
            by_address: BTreeMap::new(),
            by_length: BTreeSet::new(),
        }
    }

    /// Adds the range from `start` to `end`, joined with its free neighbours.
    pub(super) fn insert(&mut self, mut start: usize, mut end: usize) {
        debug_assert!(start < end && start.is_multiple_of(PAGE) && end.is_multiple_of(PAGE));
        if let Some((&before, &before_end)) = self.by_address.range(..start).next_back()
            && before_end == start
            && self.arenas.offset(start) != 0
        {
            self.remove(before);
            start = before;
        }
        if let Some(&after_end) = self.by_address.get(&end)
            && self.arenas.offset(end) != 0
        {
            self.remove(end);
            end = after_end;
        }
        self.by_address.insert(start, end);
        self.by_length.insert((end - start, start));
    }

    /// Removes and returns the start of `length` bytes at which `start + lead` is a multiple of
    /// `alignment`, out of the shortest range that has them.
    pub(super) fn take(&mut self, length: usize, lead: usize, alignment: usize) -> Option<usize> {
        let (start, end, at) = self
            .by_length
            .range((length, 0)..)
            .find_map(|&(have, start)| {
                let at = aligned_start(start, lead, alignment)?;
                (at.checked_add(length)? <= start + have).then_some((start, start + have, at))
            })?;
        self.remove(start);
        self.insert_if_any(start, at);
        self.insert_if_any(at + length, end);
        Some(at)
    }

    /// Removes `length` bytes at `start`, if they are the first ones of a free range.
    pub(super) fn take_at(&mut self, start: usize, length: usize) -> bool {
        match self.by_address.get(&start) {
            Some(&end) if end - start >= length => {
                self.remove(start);
                self.insert_if_any(start + length, end);
                true
            }
            _ => false,
        }
    }

    /// Removes the range that ends at `end` and returns its start. `end` is no border.
    pub(super) fn take_ending_at(&mut self, end: usize) -> Option<usize> {
        let (&start, &its_end) = self.by_address.range(..end).next_back()?;
        (its_end == end && self.arenas.offset(end) != 0).then(|| {
            self.remove(start);
            start
        })
    }

    /// Removes and returns some range.
    pub(super) fn take_first(&mut self) -> Option<(usize, usize)> {
        let (&start, &end) = self.by_address.first_key_value()?;
        self.remove(start);
        Some((start, end))
    }

    /// Bytes of the longest range.
    pub(super) fn longest(&self) -> usize {
        self.by_length.last().map_or(0, |&(length, _)| length)
    }

    /// Removes and returns the ranges of `least` bytes and more.
    pub(super) fn take_long(&mut self, least: usize) -> Vec<(usize, usize)> {
        let long = self.by_length.range((least, 0)..);
        let long: Vec<(usize, usize)> = long
            .map(|&(length, start)| (start, start + length))
            .collect();
        for &(start, _) in &long {
            self.remove(start);
        }
        long
    }

    /// Removes what lies between `start` and `end`.
    pub(super) fn exclude(&mut self, start: usize, end: usize) {
        while let Some((&from, &to)) = self.by_address.range(..end).next_back()
            && start < to
        {
            self.remove(from);
            if to > end {
                self.insert(end, to);
            }
            if from < start {
                self.insert(from, start);
            }
        }
    }

    /// Forgets all ranges.
    pub(super) fn clear(&mut self) {
        self.by_address.clear();
        self.by_length.clear();
    }

    /// Whether some of what lies between `start` and `end` is in a range.
    pub(super) fn overlaps(&self, start: usize, end: usize) -> bool {
        let before = self.by_address.range(..end).next_back();
        before.is_some_and(|(_, &to)| start < to)
    }

    /// Whether `address` lies in a range.
    pub(super) fn contains(&self, address: usize) -> bool {
        let before = self.by_address.range(..=address).next_back();
        before.is_some_and(|(_, &end)| address < end)
    }

    /// Adds a range that may be empty.
    pub(super) fn insert_if_any(&mut self, start: usize, end: usize) {
        if start < end {
            self.insert(start, end);
        }
    }

    fn remove(&mut self, start: usize) {
        let end = self
            .by_address
            .remove(&start)
            .expect("a range that starts here");
        self.by_length.remove(&(end - start, start));
    }

    /// The ranges, by address.
    #[cfg(test)]
    pub(super) fn ranges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.by_address.iter().map(|(&start, &end)| (start, end))
    }
}

/// The first page start at or behind `start` that lies `lead` bytes before a multiple of `alignment`.
pub(super) fn aligned_start(start: usize, lead: usize, alignment: usize) -> Option<usize> {
    Some(
        start
            .checked_add(lead)?
            .checked_next_multiple_of(alignment)?
            - lead,
    )
}
