//! Parts of objects between bounds that a loop nest loads itself, such as those of a sparse matrix's rows: the
//! tables of bounds are read here, before the nest runs.
//!
//! Guarantee: what the nest reads lies in the part. What is read of a table is what the nest will read of it: the
//! nest does not write it, which is looked at here, and it is current, because the reads of tables are declared
//! before: those of a table whose place follows from other tables when these have been read.
//!
//! Tables are not looked at where that costs more than it is worth: where a table is much larger than the object, or
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

/// And one of no more times the object's bytes: as a rule several objects are read at the places that it says.
const LARGER: u64 = 4;

/// So often in succession a part may be in vain before its table is no longer looked at.
const MOST_IN_VAIN: u32 = 4;

/// An offset that could not be computed.
const UNKNOWN: i64 = i64::MAX;

/// The least and the largest of some numbers.
type Extremes = (i128, i128);

/// Tables that have been read.
#[derive(Default)]
pub(super) struct Numbers<'b, 'a> {
    /// Each is the last of the tables that it depends on, with its extremes; none where no number is used.
    all: Vec<(&'b [Entry<'a>], Option<Extremes>)>,
}

impl<'b, 'a> Numbers<'b, 'a> {
    /// Where the access reads, in addresses, in a nest that writes to `written` at most: the part of `object` that is
    /// known, or all of it; `None` where it reads nothing.
    pub(super) fn part(
        &mut self,
        access: &'b Behind<'a>,
        object: Range,
        written: &Ranges,
    ) -> Option<Range> {
        let known = self.known_part(access, object, written);
        known.unwrap_or(Some(object))
    }

    /// `None`: it is not known.
    fn known_part(
        &mut self,
        access: &'b Behind<'a>,
        (start, end): Range,
        written: &Ranges,
    ) -> Option<Option<Range>> {
        if !is_worth_it(access.entry.entry) {
            return None;
        }
        let most_bytes = (end - start).saturating_mul(LARGER).max(SMALL);
        let between = self.between(access.tables(), &access.entry, most_bytes, written)?;
        let Some((first, last)) = between else {
            return Some(None);
        };
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

    /// Between which addresses the corners of an entry lie. `None`: it is not known; `Some(None)`: nowhere.
    fn between(
        &mut self,
        tables: &'b [Entry<'a>],
        entry: &Entry<'a>,
        most_bytes: u64,
        written: &Ranges,
    ) -> Option<Option<Extremes>> {
        let mut extremes = Vec::new();
        for last in 1..=tables.len() {
            match self.extremes(&tables[..last], most_bytes, written)? {
                Some(one) => extremes.push(one),
                None => return Some(None),
            }
        }
        let (least, most) = span(entry.dimensions, &extremes)?;
        let first = i128::from(entry.address) + least;
        let last = i128::from(entry.address) + most + i128::from(entry.entry.element);
        Some((first < last).then_some((first, last)))
    }

    /// Those of the last of some tables. `None`: it is not known; `Some(None)`: no number is used.
    fn extremes(
        &mut self,
        tables: &'b [Entry<'a>],
        most_bytes: u64,
        written: &Ranges,
    ) -> Option<Option<Extremes>> {
        if let Some((_, known)) = self.all.iter().find(|(known, _)| are_same(known, tables)) {
            return Some(*known);
        }
        let (table, before) = tables.split_last()?;
        let size = table.entry.element;
        let (hull, first, pairs) = if is_between(table) {
            let object = table.object()?;
            let Some((first, last)) = self.between(before, table, most_bytes, written)? else {
                self.all.push((tables, None));
                return Some(None);
            };
            let range = (u64::try_from(first).ok()?, u64::try_from(last).ok()?);
            if range.0 < object.0 as u64 || (object.1 as u64) < range.1 {
                return None;
            }
            // Between two numbers lie whole ones.
            let count = (range.1 - range.0) / size as u64;
            if count * size as u64 != range.1 - range.0 {
                return None;
            }
            (Some(range), range.0, vec![(size, count as i64)])
        } else {
            let shape = table.shape().ok()?;
            let hull = shape.map(|shape| shape.hull());
            (hull, table.address, table.pairs().collect())
        };
        let extremes = match hull {
            Some((start, end)) => {
                let at = in_file((start as usize, end as usize))?;
                let is_written = !written.intersection(&Ranges::of(vec![at])).is_empty();
                // Numbers that overlap are not what lies side by side.
                let is_aligned = start.is_multiple_of(size as u64)
                    && pairs
                        .iter()
                        .all(|&(stride, count)| count <= 1 || stride % size == 0);
                if !is_in_one_segment((start, end))
                    || end - start > most_bytes
                    || is_written
                    || !is_aligned
                {
                    return None;
                }
                memory::make_readable(start as usize, (end - start) as usize);
                let mut all = None;
                read(first, &pairs, size, table.entry.access, &mut all)?;
                all
            }
            None => None,
        };
        self.all.push((tables, extremes));
        Some(extremes)
    }
}

/// Whether these are tables of the same numbers.
fn are_same(one: &[Entry<'_>], other: &[Entry<'_>]) -> bool {
    let is_alike = |(one, other): (&Entry<'_>, &Entry<'_>)| {
        one.address == other.address
            && one.dimensions == other.dimensions
            && one.entry.element == other.entry.element
            && one.entry.access == other.entry.access
    };
    match (one, other) {
        ([.., a], [.., b]) if !is_between(a) => is_alike((a, b)),
        _ => one.len() == other.len() && one.iter().zip(other).all(is_alike),
    }
}

/// Whether where a table lies follows from the numbers in others.
fn is_between(table: &Entry<'_>) -> bool {
    table.entry.access & section_access::BETWEEN != 0
}

/// How many tables have to be declared and read, one after the other, before all of an access is known, each of which says
/// where the next one lies.
pub(super) fn level(access: &Behind<'_>) -> usize {
    access.tables().iter().filter(|one| is_between(one)).count()
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

/// Widens extremes by the numbers of a section in memory that is readable, but for those that are not used, as the bits of
/// `access` say. They are aligned; `None`: of no size that numbers have.
fn read(
    start: u64,
    pairs: &[(i64, i64)],
    size: i64,
    access: i64,
    all: &mut Option<Extremes>,
) -> Option<()> {
    if let [(stride, count), inner @ ..] = pairs
        && !inner.is_empty()
    {
        return (0..*count).try_for_each(|index| {
            let start = start.wrapping_add((index * stride) as u64);
            read(start, inner, size, access, all)
        });
    }
    let (stride, count) = pairs.first().copied().unwrap_or((size, 1));
    let step = (stride / size) as isize;
    let has = |bit| access & bit != 0;
    let is_signed = has(section_access::SIGNED);
    let [no_negative, no_zero, no_minus_one] = [
        section_access::NEGATIVE_UNUSED,
        section_access::ZERO_UNUSED,
        section_access::MINUS_ONE_UNUSED,
    ]
    .map(has);
    let all_are_used = !(no_negative || no_zero || no_minus_one);
    macro_rules! extremes {
        ($($size:literal $signed:literal $number:ty,)*) => {
            match (size, is_signed) {
                $(($size, $signed) => {
                    let first = start as *const $number;
                    let (mut least, mut most) = (<$number>::MAX, <$number>::MIN);
                    let mut take = |number: $number| {
                        let is_unused = !all_are_used
                            && (no_negative && i128::from(number) < 0
                                || no_zero && number == 0
                                || no_minus_one && number == !0);
                        least = least.min(if is_unused { <$number>::MAX } else { number });
                        most = most.max(if is_unused { <$number>::MIN } else { number });
                    };
                    // SAFETY: aligned, and in a section of shared memory that was made readable.
                    unsafe {
                        match step {
                            1 => std::slice::from_raw_parts(first, count as usize)
                                .iter()
                                .for_each(|&number| take(number)),
                            _ => (0..count as isize)
                                .for_each(|index| take(*first.offset(index * step))),
                        }
                    }
                    let (least, most) = (i128::from(least), i128::from(most));
                    if least <= most {
                        let before = all.unwrap_or((least, most));
                        *all = Some((before.0.min(least), before.1.max(most)));
                    }
                    Some(())
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
    fn unused_numbers_count_for_nothing() {
        use section_access::{MINUS_ONE_UNUSED, NEGATIVE_UNUSED, SIGNED, ZERO_UNUSED};
        let numbers = [7i32, -1, 0, 3, -2];
        let extremes = |access| {
            let mut all = None;
            let start = numbers.as_ptr() as u64;
            read(start, &[(4, 5)], 4, access, &mut all).expect("numbers have this size");
            all
        };
        assert_eq!(extremes(SIGNED), Some((-2, 7)));
        assert_eq!(extremes(SIGNED | NEGATIVE_UNUSED), Some((0, 7)));
        assert_eq!(
            extremes(SIGNED | NEGATIVE_UNUSED | ZERO_UNUSED),
            Some((3, 7))
        );
        assert_eq!(extremes(0), Some((0, i128::from(u32::MAX))));
        assert_eq!(
            extremes(MINUS_ONE_UNUSED),
            Some((0, i128::from(u32::MAX - 1)))
        );
        // Of one that is not used there is none.
        let mut all = None;
        read(
            &raw const numbers[1] as u64,
            &[],
            4,
            SIGNED | NEGATIVE_UNUSED,
            &mut all,
        );
        assert_eq!(all, None);
    }

    #[test]
    fn products_do_not_overflow() {
        let huge = i128::from(i64::MAX);
        let expected = huge * huge;
        assert_eq!(span(&[0, i64::MAX], &[(0, huge)]), Some((0, expected)));
    }
}
