//! What the ranks have of a set, in the program's order, a slab of rows at a time.
//!
//! Guarantee: nobody needs room for more than a slab besides what is his.

use std::ops::Range;

use crate::job;

/// Bytes of a slab, if an element has no more.
const BYTES: usize = 4 << 20;

/// The elements that a rank has, by their numbers in the whole mesh.
pub(crate) enum Numbers {
    /// One after the other.
    Range(Range<usize>),
    /// Numbers and places, in the order of numbers.
    Listed(Vec<(u32, u32)>),
}

impl Numbers {
    /// Those of elements that are listed in their places.
    pub(crate) fn listed(numbers: &[i32]) -> Self {
        let places = (0u32..).zip(numbers);
        let mut all: Vec<_> = places.map(|(at, &number)| (number as u32, at)).collect();
        all.sort_unstable();
        Self::Listed(all)
    }

    /// Numbers, from the first of `rows` on, and places of those that are among them.
    fn among(&self, rows: &Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let (range, listed) = match self {
            Self::Range(all) => (all.clone(), &[][..]),
            Self::Listed(all) => {
                let at = |end: usize| all.partition_point(|&(number, _)| (number as usize) < end);
                (0..0, &all[at(rows.start)..at(rows.end)])
            }
        };
        let (first, start) = (rows.start, range.start);
        let range = range.start.max(rows.start)..range.end.min(rows.end);
        let listed = listed.iter();
        let listed = listed.map(move |&(number, at)| (number as usize - first, at as usize));
        range
            .map(move |number| (number - first, number - start))
            .chain(listed)
    }
}

/// Slabs of `rows`, of `size` bytes each.
fn slabs(rows: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let most = (BYTES / size.max(1)).max(1);
    let starts = rows.clone().step_by(most);
    starts.map(move |start| start..rows.end.min(start + most))
}

/// Calls `work` on rank 0 with the number of the first row of each slab, and their bytes. There are `whole` rows of `size`
/// bytes, each of which one rank gives: `mine`, which are at their places in `local`. Collective.
pub(crate) fn gather(
    (whole, size): (usize, usize),
    mine: &Numbers,
    local: &[u8],
    mut work: impl FnMut(usize, &[u8]),
) {
    for rows in slabs(0..whole, size) {
        let count = mine.among(&rows).count();
        let mut bytes = Vec::with_capacity(count * (size_of::<u32>() + size));
        for (row, at) in mine.among(&rows) {
            bytes.extend((row as u32).to_ne_bytes());
            bytes.extend(&local[at * size..][..size]);
        }
        let parts = job::gather(bytes);
        if job::rank() > 0 {
            continue;
        }
        let mut slab = vec![0; rows.len() * size];
        for part in &parts {
            for element in part.chunks_exact(size_of::<u32>() + size) {
                let (row, bytes) = element.split_first_chunk().expect("a number is first");
                let row = u32::from_ne_bytes(*row) as usize;
                slab[row * size..][..size].copy_from_slice(bytes);
            }
        }
        work(rows.start, &slab);
    }
}

/// Fills `room` with what is `here` of `whole` rows of `size` bytes; `read` gets any of them.
pub(crate) fn fill(
    (whole, size): (usize, usize),
    here: &Numbers,
    room: &mut [u8],
    mut read: impl FnMut(Range<usize>, &mut [u8]),
) {
    if let Numbers::Range(all) = here {
        for rows in slabs(all.clone(), size) {
            let bytes = (rows.start - all.start) * size..(rows.end - all.start) * size;
            read(rows, &mut room[bytes]);
        }
        return;
    }
    let mut slab = Vec::new();
    for rows in slabs(0..whole, size) {
        if here.among(&rows).next().is_none() {
            continue;
        }
        slab.resize(rows.len() * size, 0);
        read(rows.clone(), &mut slab);
        for (row, at) in here.among(&rows) {
            room[at * size..][..size].copy_from_slice(&slab[row * size..][..size]);
        }
    }
}

/// Calls `work` with the bytes of all rows, slab by slab; `read` gets any of them.
pub(crate) fn each(
    (whole, size): (usize, usize),
    mut read: impl FnMut(Range<usize>, &mut [u8]),
    mut work: impl FnMut(&[u8]),
) {
    let mut slab = Vec::new();
    for rows in slabs(0..whole, size) {
        slab.resize(rows.len() * size, 0);
        read(rows, &mut slab);
        work(&slab);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of so many bytes that a slab has three.
    const SIZE: usize = BYTES / 3;

    fn row(number: usize) -> Vec<u8> {
        vec![number as u8 + 1; SIZE]
    }

    #[test]
    fn slabs_are_bounded_and_have_a_row_at_least() {
        assert_eq!(slabs(2..8, SIZE).collect::<Vec<_>>(), [2..5, 5..8]);
        assert_eq!(slabs(0..2, 2 * BYTES).collect::<Vec<_>>(), [0..1, 1..2]);
        assert_eq!(slabs(3..3, 8).count(), 0);
    }

    #[test]
    fn what_is_here_is_put_in_order_and_filled_in() {
        let numbers = [6, 1, 0, 7, 3, 2, 5, 4];
        for (here, order) in [
            (Numbers::listed(&numbers), &numbers[..]),
            (Numbers::Range(0..8), &[0, 1, 2, 3, 4, 5, 6, 7]),
        ] {
            let local: Vec<u8> = order.iter().flat_map(|&one| row(one as usize)).collect();
            let mut next = 0;
            gather((8, SIZE), &here, &local, |first, bytes| {
                assert_eq!(first, next);
                assert!(bytes.len() <= BYTES);
                for bytes in bytes.chunks_exact(SIZE) {
                    assert_eq!(bytes, row(next));
                    next += 1;
                }
            });
            assert_eq!(next, 8);
            let mut room = vec![0; local.len()];
            let read = |rows: Range<usize>, to: &mut [u8]| {
                assert!(to.len() <= BYTES);
                to.copy_from_slice(&rows.flat_map(row).collect::<Vec<u8>>());
            };
            fill((8, SIZE), &here, &mut room, read);
            assert_eq!(room, local);
        }
    }

    #[test]
    fn a_part_reads_no_more_than_it_needs() {
        let mut asked = Vec::new();
        for here in [Numbers::Range(4..6), Numbers::listed(&[7, 6])] {
            let mut room = vec![0; 2 * SIZE];
            fill((9, SIZE), &here, &mut room, |rows, _| asked.push(rows));
        }
        assert_eq!(asked, [4..6, 6..9]);
    }
}
