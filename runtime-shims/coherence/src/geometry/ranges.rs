//! Sets of bytes, as ranges of positions.
//!
//! Guarantee: the ranges of a set are sorted, not empty, and neither overlap nor touch; so equal sets
//! have equal ranges.

use std::rc::Rc;

use super::signature::Signature;

/// Positions from the first to before the second. A position is an offset in a rank's memory file.
pub type Range = (u64, u64);

/// A set of bytes. A copy costs nothing, nor does the empty one, which has no list: most of what a synchronisation asks for is
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Option<Rc<Vec<Range>>>);

impl Ranges {
    fn new(ranges: Vec<Range>) -> Self {
        Self((!ranges.is_empty()).then(|| Rc::new(ranges)))
    }

    /// The union of ranges in any order; empty ones do not count.
    pub fn of(mut ranges: Vec<Range>) -> Self {
        let pairs = ranges.windows(2);
        let is_in_order = pairs.map(|pair| pair[0].1 < pair[1].0);
        let is_full = |&(start, end): &Range| start < end;
        // All of it is looked at, several at once.
        if is_in_order.fold(true, |all, one| all & one) && ranges.iter().all(is_full) {
            return Self::new(ranges);
        }
        ranges.retain(is_full);
        if !ranges.is_sorted() {
            // Most are of a few sorted sequences.
            ranges.sort();
        }
        let mut joined: Vec<Range> = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            push_joined(&mut joined, start, end);
        }
        Self::new(joined)
    }

    /// The ranges, in order.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.as_slice().iter().copied()
    }

    /// From the first byte to behind the last one.
    #[inline]
    pub(crate) fn hull(&self) -> Range {
        let (first, last) = (self.as_slice().first(), self.as_slice().last());
        (first.map_or(0, |one| one.0), last.map_or(0, |one| one.1))
    }

    /// Whether one set ends before the other begins.
    #[inline]
    fn lies_apart(&self, other: &Self) -> bool {
        self.hull().1 <= other.hull().0 || other.hull().1 <= self.hull().0
    }

    /// The ranges, in order.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[Range] {
        self.0.as_ref().map_or(&[], |ranges| ranges)
    }

    /// Whether this is a copy of `other`, or the other way round. Other sets may be equal, too.
    #[inline]
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Rc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    /// Number of ranges.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether there is no byte in them.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub(crate) fn contains(&self, position: u64) -> bool {
        let after = self
            .as_slice()
            .partition_point(|&(start, _)| start <= position);
        after > 0 && position < self.as_slice()[after - 1].1
    }

    /// Whether all of a range is in the set.
    #[inline]
    pub(crate) fn contains_all(&self, (first, end): Range) -> bool {
        let after = self
            .as_slice()
            .partition_point(|&(start, _)| start <= first);
        after > 0 && end <= self.as_slice()[after - 1].1
    }

    /// Whether some of a range is in the set.
    #[inline]
    pub(crate) fn contains_some(&self, (first, end): Range) -> bool {
        let next = behind(self.as_slice(), first).first();
        next.is_some_and(|&(start, _)| start < end)
    }

    /// Number of bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.iter().map(|(start, end)| end - start).sum()
    }

    /// The bytes in either set.
    pub fn union(&self, other: &Self) -> Self {
        for (all, none) in [(self, other), (other, self)] {
            if none.is_empty() {
                return all.clone();
            }
        }
        let mut all = Vec::with_capacity(self.as_slice().len() + other.len());
        // Ranks mostly declare one part of an object each.
        for (first, second) in [(self, other), (other, self)] {
            if first.hull().1 <= second.hull().0 {
                let (start, end) = second.as_slice()[0];
                all.extend_from_slice(first.as_slice());
                push_joined(&mut all, start, end);
                all.extend_from_slice(&second.as_slice()[1..]);
                return Self::new(all);
            }
        }
        let (mut a, mut b) = (self.iter().peekable(), other.iter().peekable());
        loop {
            let a_is_first = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.0 <= y.0,
                (x, _) => x.is_some(),
            };
            match if a_is_first { a.next() } else { b.next() } {
                Some((start, end)) => push_joined(&mut all, start, end),
                None => break,
            }
        }
        Self::new(all)
    }

    /// The bytes of this set that are not in `other`.
    pub fn minus(&self, other: &Self) -> Self {
        if self.lies_apart(other) {
            return self.clone();
        }
        let mut left = Vec::with_capacity(self.as_slice().len());
        let mut others = other.as_slice();
        for (mut start, end) in self.iter() {
            others = behind(others, start);
            for &(other_start, other_end) in others {
                if other_start >= end {
                    break;
                }
                if start < other_start {
                    left.push((start, other_start));
                }
                start = other_end.max(start);
            }
            if start < end {
                left.push((start, end));
            }
        }
        Self::new(left)
    }

    /// The bytes in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        if self.lies_apart(other) {
            return Self::default();
        }
        let mut both = Vec::new();
        let mut others = other.as_slice();
        for (start, end) in self.iter() {
            others = behind(others, start);
            for &(other_start, other_end) in others {
                if other_start >= end {
                    break;
                }
                both.push((start.max(other_start), end.min(other_end)));
            }
        }
        Self::new(both)
    }

    /// A number that stands for the contents.
    #[inline]
    pub(crate) fn signature(&self) -> Signature {
        self.iter()
            .fold(Signature::START, |signature, (start, end)| {
                signature.with(start).with(end)
            })
    }
}

/// The ranges that end behind `position`: as a rule the first one is near.
#[inline]
pub(super) fn behind(ranges: &[Range], position: u64) -> &[Range] {
    &ranges[gallop(ranges, |&(_, end)| end <= position)..]
}

/// How many of `those` are before the first one that is not: as a rule few.
#[inline]
pub(super) fn gallop<T>(those: &[T], is_before: impl Fn(&T) -> bool) -> usize {
    let mut reach = 1;
    while reach < those.len() && is_before(&those[reach - 1]) {
        reach *= 2;
    }
    let near = &those[..reach.min(those.len())];
    near.partition_point(is_before)
}

/// Appends a range that starts no earlier than the last one.
#[inline]
fn push_joined(ranges: &mut Vec<Range>, start: u64, end: u64) {
    match ranges.last_mut() {
        Some(last) if start <= last.1 => last.1 = last.1.max(end),
        _ => ranges.push((start, end)),
    }
}

#[cfg(test)]
mod tests {
    use okl_testing::Random;

    use super::*;

    fn sample(seed: u64) -> (Ranges, Vec<bool>) {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut below = |bound: u64| random.below(bound as usize) as u64;
        let most = [9, 60][below(2) as usize];
        let ranges: Vec<Range> = (0..below(most))
            .map(|_| {
                let start = below(230);
                (start, start + below(8))
            })
            .collect();
        let mut bytes = vec![false; 240];
        for &(start, end) in &ranges {
            bytes[start as usize..end as usize].fill(true);
        }
        (Ranges::of(ranges), bytes)
    }

    fn check(set: &Ranges, expected: impl Fn(usize) -> bool) {
        let mut bytes = [false; 240];
        let mut before = None;
        for (start, end) in set.iter() {
            assert!(
                start < end && before.is_none_or(|before| before < start),
                "{set:?}"
            );
            before = Some(end);
            bytes[start as usize..end as usize].fill(true);
        }
        for (position, &is_in) in bytes.iter().enumerate() {
            assert_eq!(is_in, expected(position), "{position} of {set:?}");
        }
    }

    #[test]
    fn empty_sets_are_alike_and_have_no_list() {
        let (a, b) = (Ranges::of(vec![(3, 5)]), Ranges::of(vec![(7, 9)]));
        let empty = Ranges::of(vec![(4, 4)]);
        for one in [a.intersection(&b), a.minus(&a), empty.union(&empty)] {
            assert!(one.is_empty() && one.0.is_none() && one == Ranges::default());
            assert!(one.is_copy_of(&empty) && !one.is_copy_of(&a));
        }
        assert!(a.is_copy_of(&a.union(&empty)) && !a.is_copy_of(&Ranges::of(vec![(3, 5)])));
    }

    #[test]
    fn set_operations_are_those_of_sets_of_bytes() {
        for seed in 0..4000 {
            let ((a, in_a), (b, in_b)) = (sample(2 * seed), sample(2 * seed + 1));
            check(&a, |at| in_a[at]);
            check(&a.union(&b), |at| in_a[at] || in_b[at]);
            check(&a.minus(&b), |at| in_a[at] && !in_b[at]);
            check(&a.intersection(&b), |at| in_a[at] && in_b[at]);
            for first in 0..230 {
                let inside = in_a[first..first + 5].iter().all(|&is_in| is_in);
                assert_eq!(a.contains_all((first as u64, first as u64 + 5)), inside);
                let some = in_a[first..first + 5].contains(&true);
                assert_eq!(a.contains_some((first as u64, first as u64 + 5)), some);
            }
            assert_eq!(
                a.bytes(),
                in_a.iter().filter(|&&is_in| is_in).count() as u64
            );
        }
    }
}
