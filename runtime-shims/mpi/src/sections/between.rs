//! Parts of objects between bounds that a loop nest loads itself, such as those of a sparse matrix's rows: the
//! tables of bounds are read here, before the nest runs.
//!
//! Guarantee: what the nest reads lies in the part. What is read of a table is what the nest will read of it: the
//! nest does not write it, which is looked at here, and it is current, because the reads of tables are declared
//! before.
//!
//! Tables are not looked at where that costs more than it is worth: where a table is larger than the object, or
//! parts are about all of it again and again.

use std::collections::BTreeMap;

use okl_abi::{SectionEntry, section_access};

use okl_coherence::geometry::ranges::{Range, Ranges};

use super::{
    entry::{Entry, in_file, is_in_one_segment},
    rows::Behind,
};
use crate::{cell::ProgramCell, memory};

/// A table of no more bytes is looked at however small the object is.
const SMALL: u64 = 4096;

/// Tables in more pieces are not looked at.
const MOST_PIECES: u64 = 1 << 16;

/// So often in succession a part may be in vain before its table is no longer looked at.
const MOST_IN_VAIN: u32 = 4;

/// An offset that could not be computed.
const UNKNOWN: i64 = i64::MAX;

/// The least and the largest of some numbers.
type Extremes = (i128, i128);

/// Tables that have been read.
#[derive(Default)]
pub(super) struct Numbers<'a> {
    /// The tables, and their extremes; none of a table that is empty.
    all: Vec<(Entry<'a>, Option<Extremes>)>,
}

impl<'a> Numbers<'a> {
    /// Where the access reads, in addresses, in a nest that writes to `written` at most: the part of `object` that is
    /// known, or all of it; `None` where it reads nothing.
    pub(super) fn part(
        &mut self,
        access: &Behind<'a>,
        object: Range,
        written: &Ranges,
    ) -> Option<Range> {
        let known = self.known_part(access, object, written);
        known.unwrap_or(Some(object))
    }

    /// `None`: it is not known.
    fn known_part(
        &mut self,
        access: &Behind<'a>,
        (start, end): Range,
        written: &Ranges,
    ) -> Option<Option<Range>> {
        if !is_worth_it(access.entry.entry) {
            return None;
        }
        let mut extremes = Vec::new();
        for table in access.tables() {
            match self.extremes(*table, end - start, written)? {
                Some(one) => extremes.push(one),
                None => return Some(None),
            }
        }
        let entry = &access.entry;
        let (least, most) = span(entry.dimensions, &extremes)?;
        let first = i128::from(entry.address) + least;
        let last = i128::from(entry.address) + most + i128::from(entry.entry.element);
        if first >= last {
            return Some(None);
        }
        // The address may be one before or behind the object, so that another one seems to be meant; but bounds
        // of rows that are not read may be anything.
        let is_within = i128::from(start) <= first && last <= i128::from(end);
        let is_plausible = last - first <= i128::from(end - start);
        let range = u64::try_from(first).ok().zip(u64::try_from(last).ok());
        let part = range.filter(|&range| is_within || (is_plausible && is_in_one_segment(range)));
        let bytes = part.map_or(u64::MAX, |(first, last)| last - first);
        note(access.entry.entry, bytes > (end - start) / 4 * 3);
        part.map(Some)
    }

    /// `None`: it is not known; `Some(None)`: there are no numbers.
    fn extremes(
        &mut self,
        table: Entry<'a>,
        most_bytes: u64,
        written: &Ranges,
    ) -> Option<Option<Extremes>> {
        let is_same = |known: &Entry<'_>| {
            known.address == table.address
                && known.dimensions == table.dimensions
                && known.entry.element == table.entry.element
                && known.entry.access == table.entry.access
        };
        if let Some((_, known)) = self.all.iter().find(|(known, _)| is_same(known)) {
            return Some(*known);
        }
        // Numbers that overlap are not what lies side by side.
        let size = table.entry.element;
        if table
            .pairs()
            .any(|(stride, count)| count > 1 && stride % size != 0)
        {
            return None;
        }
        let extremes = match table.shape().ok()? {
            Some(shape) => {
                let pieces = shape.pieces();
                let (start, end) = shape.hull();
                let at = in_file((start as usize, end as usize))?;
                let is_written = !written.intersection(&Ranges::of(vec![at])).is_empty();
                if !is_in_one_segment((start, end))
                    || pieces > MOST_PIECES
                    || end - start > most_bytes.max(SMALL)
                    || is_written
                {
                    return None;
                }
                let mut all: Option<Extremes> = None;
                for range in shape.ranges().iter() {
                    let (least, most) = read(range, size, is_signed(&table))?;
                    all =
                        Some(all.map_or((least, most), |all| (all.0.min(least), all.1.max(most))));
                }
                all
            }
            None => None,
        };
        self.all.push((table, extremes));
        Some(extremes)
    }
}

/// How often in succession the part of an entry was in vain, by the entry's address.
static IN_VAIN: ProgramCell<BTreeMap<usize, u32>> = ProgramCell::new(BTreeMap::new());

fn is_worth_it(entry: &SectionEntry) -> bool {
    let key = std::ptr::from_ref(entry) as usize;
    IN_VAIN.with(|all| all.get(&key).is_none_or(|&times| times < MOST_IN_VAIN))
}

fn note(entry: &SectionEntry, is_in_vain: bool) {
    let key = std::ptr::from_ref(entry) as usize;
    IN_VAIN.with(|all| {
        if is_in_vain {
            *all.entry(key).or_default() += 1;
        } else {
            all.remove(&key);
        }
    });
}

fn is_signed(table: &Entry<'_>) -> bool {
    table.entry.access & section_access::SIGNED != 0
}

/// The extremes of the corners, each an offset and a factor for each table; `None` where one is not known.
fn span(corners: &[i64], tables: &[Extremes]) -> Option<Extremes> {
    let mut all: Option<Extremes> = None;
    for corner in corners.chunks_exact(1 + tables.len()) {
        let (offset, factors) = corner.split_first()?;
        if *offset == UNKNOWN {
            return None;
        }
        let (mut least, mut most) = (i128::from(*offset), i128::from(*offset));
        for (&factor, &(low, high)) in factors.iter().zip(tables) {
            let ends = [i128::from(factor) * low, i128::from(factor) * high];
            least += ends[0].min(ends[1]);
            most += ends[0].max(ends[1]);
        }
        all = Some(all.map_or((least, most), |all| (all.0.min(least), all.1.max(most))));
    }
    all
}

/// The extremes of the numbers in a range of addresses, which are there; `None` where they are not aligned.
fn read((start, end): Range, size: i64, is_signed: bool) -> Option<Extremes> {
    macro_rules! extremes {
        ($($size:literal $signed:literal $number:ty,)*) => {
            match (size, is_signed) {
                $(($size, $signed) => {
                    if !start.is_multiple_of($size) || start == end {
                        return None;
                    }
                    let count = ((end - start) / $size) as usize;
                    // SAFETY: aligned, and shared memory that is made readable first.
                    let numbers = unsafe {
                        memory::make_readable(start as usize, (end - start) as usize);
                        std::slice::from_raw_parts(start as *const $number, count)
                    };
                    let (mut least, mut most) = (<$number>::MAX, <$number>::MIN);
                    for &number in numbers {
                        least = least.min(number);
                        most = most.max(number);
                    }
                    Some((i128::from(least), i128::from(most)))
                })*
                _ => None,
            }
        };
    }
    extremes! {
        1 true i8, 1 false u8,
        2 true i16, 2 false u16,
        4 true i32, 4 false u32,
        8 true i64, 8 false u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_both_signs_span_all_sums() {
        // From 8 a to 8 b - 8, as the rows of a sparse matrix are.
        assert_eq!(
            span(&[0, 8, 0, -8, 0, 8], &[(0, 40), (3, 50)]),
            Some((0, 392))
        );
        // Falling: from -4 a to 4.
        assert_eq!(span(&[0, -4, 4, 0, 7], &[(-2, 5)]), Some((-20, 8)));
        assert_eq!(span(&[UNKNOWN, 1], &[(0, 1)]), None);
    }

    #[test]
    fn tables_that_were_in_vain_are_left_alone() {
        let text = c"".as_ptr().cast_mut().cast();
        let entry = SectionEntry {
            access: 0,
            element: 8,
            dimensions: 0,
            object: text,
            location: text,
        };
        for turn in 0..2 * MOST_IN_VAIN {
            // Once it was worth it in between.
            note(&entry, turn != MOST_IN_VAIN - 1);
            assert_eq!(is_worth_it(&entry), turn < 2 * MOST_IN_VAIN - 1);
        }
    }

    #[test]
    fn products_do_not_overflow() {
        let huge = i128::from(i64::MAX);
        let expected = huge * huge;
        assert_eq!(span(&[0, i64::MAX], &[(0, huge)]), Some((0, expected)));
    }
}
