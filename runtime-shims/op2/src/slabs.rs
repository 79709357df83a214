//! What the ranks have of a set, in the program's order, a slab of rows at a time.
//!
//! Guarantee: nobody needs room for more than three slabs, and a list of what he has, besides that; wherever the rows are.

use std::ops::Range;

use crate::{job, partition};

/// Bytes of a slab and its rows' numbers, if an element has no more.
const BYTES: usize = 4 << 20;

/// The elements that a rank has, or gives, by their numbers in the whole mesh.
pub(crate) enum Numbers {
    /// One after the other: those of `rows`. Number `first` is at place 0.
    Range { rows: Range<usize>, first: usize },
    /// Numbers and places, in the order of numbers.
    Listed(Vec<(u32, u32)>),
}

impl Numbers {
    /// Elements that are where a rank's data begin.
    pub(crate) fn range(rows: Range<usize>) -> Self {
        let first = rows.start;
        Self::Range { rows, first }
    }

    /// Those of elements that are listed in their places.
    pub(crate) fn listed(numbers: &[i32]) -> Self {
        let places = (0u32..).zip(numbers);
        let mut all: Vec<_> = places.map(|(at, &number)| (number as u32, at)).collect();
        all.sort_unstable();
        Self::Listed(all)
    }

    /// Numbers, from the first of `rows` on, and places of those that are among them.
    fn among(&self, rows: &Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let (range, start, listed) = match self {
            Self::Range { rows, first } => (rows.clone(), *first, &[][..]),
            Self::Listed(all) => {
                let at = |end: usize| all.partition_point(|&(number, _)| (number as usize) < end);
                (0..0, 0, &all[at(rows.start)..at(rows.end)])
            }
        };
        let first = rows.start;
        let range = range.start.max(rows.start)..range.end.min(rows.end);
        let listed = listed.iter();
        let listed = listed.map(move |&(number, at)| (number as usize - first, at as usize));
        range
            .map(move |number| (number - first, number - start))
            .chain(listed)
    }
}

/// Rows of a slab with `size` bytes each.
fn most(size: usize) -> usize {
    (BYTES / (size_of::<u32>() + size)).max(1)
}

/// Slabs of `rows`, of `size` bytes each.
fn slabs(rows: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = rows.clone().step_by(most(size));
    starts.map(move |start| start..rows.end.min(start + most(size)))
}

/// The rows of `whole` that a rank has in the program's order, where the first `writers` ranks share them.
pub(crate) fn block(whole: usize, writers: usize, rank: usize) -> Range<usize> {
    match rank < writers {
        true => partition::block_of(whole, writers, rank),
        false => whole..whole,
    }
}

/// Calls `work` on the first `writers` ranks with the number of the first row of each slab of their blocks, and the bytes,
/// as many times on each, with no rows in the end if others have more. There are `whole` rows of `size` bytes, each of which
/// one rank gives: `mine`, which are at their places in `local`. The bytes that came from other ranks. Collective.
pub(crate) fn deliver(
    (whole, size): (usize, usize),
    writers: usize,
    mine: &Numbers,
    local: &[u8],
    mut work: impl FnMut(usize, &[u8]),
) -> usize {
    let (me, ranks) = (job::rank(), job::ranks());
    let longest = whole.div_ceil(writers);
    let mut moved = 0;
    for round in 0..longest.div_ceil(most(size)) {
        let slab_of = |rank: usize| {
            let block = block(whole, writers, rank);
            let start = block.end.min(block.start + round * most(size));
            start..block.end.min(start + most(size))
        };
        let slab = slab_of(me);
        let mut bytes = vec![0; slab.len() * size];
        // Each pair of ranks once, so that there is never more than one part of a slab on its way to a rank.
        for step in 0..ranks {
            let (to, from) = ((me + step) % ranks, (me + ranks - step) % ranks);
            let theirs = slab_of(to);
            if step == 0 {
                for (row, at) in mine.among(&slab) {
                    bytes[row * size..][..size].copy_from_slice(&local[at * size..][..size]);
                }
                continue;
            }
            let sent = (!theirs.is_empty()).then(|| (pack(mine, &theirs, size, local), to));
            let part = job::pass(sent, (!slab.is_empty()).then_some(from));
            for element in part.chunks_exact(size_of::<u32>() + size) {
                let (row, element) = element.split_first_chunk().expect("a number is first");
                let row = u32::from_ne_bytes(*row) as usize;
                bytes[row * size..][..size].copy_from_slice(element);
                moved += size;
            }
        }
        if me < writers {
            work(slab.start, &bytes);
        }
    }
    moved
}

/// What is `mine` of some rows, each with its number among them.
fn pack(mine: &Numbers, rows: &Range<usize>, size: usize, local: &[u8]) -> Vec<u8> {
    let count = mine.among(rows).count();
    let mut bytes = Vec::with_capacity(count * (size_of::<u32>() + size));
    for (row, at) in mine.among(rows) {
        bytes.extend((row as u32).to_ne_bytes());
        bytes.extend(&local[at * size..][..size]);
    }
    bytes
}

/// Fills `room` with what is `here` of `whole` rows of `size` bytes; `read` gets any of them.
pub(crate) fn fill(
    (whole, size): (usize, usize),
    here: &Numbers,
    room: &mut [u8],
    mut read: impl FnMut(Range<usize>, &mut [u8]),
) {
    if let Numbers::Range { rows: all, first } = here {
        for rows in slabs(all.clone(), size) {
            let bytes = (rows.start - first) * size..(rows.end - first) * size;
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
    const SIZE: usize = BYTES / 3 - size_of::<u32>();

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
            (Numbers::range(0..8), &[0, 1, 2, 3, 4, 5, 6, 7]),
        ] {
            let local: Vec<u8> = order.iter().flat_map(|&one| row(one as usize)).collect();
            let mut next = 0;
            let moved = deliver((8, SIZE), 1, &here, &local, |first, bytes| {
                assert_eq!(first, next);
                assert!(bytes.len() <= BYTES);
                for bytes in bytes.chunks_exact(SIZE) {
                    assert_eq!(bytes, row(next));
                    next += 1;
                }
            });
            assert_eq!((next, moved), (8, 0));
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
    fn a_rank_gives_a_part_of_what_it_has() {
        let mine = Numbers::Range {
            rows: 3..5,
            first: 2,
        };
        let among: Vec<_> = mine.among(&(4..9)).collect();
        assert_eq!(among, [(0, 2)]);
        assert_eq!(pack(&mine, &(1..4), 1, &[7, 8, 9]), [2, 0, 0, 0, 8]);
    }

    #[test]
    fn blocks_are_those_of_the_partition() {
        for (whole, writers) in [(0, 3), (2, 3), (7, 3), (8, 4), (5, 1)] {
            let owners = partition::block(whole, writers);
            for rank in 0..=writers {
                let block = block(whole, writers, rank);
                assert!(block.len() <= whole.div_ceil(writers));
                for (row, &owner) in owners.iter().enumerate() {
                    assert_eq!(block.contains(&row), owner as usize == rank);
                }
            }
        }
    }

    #[test]
    fn a_part_reads_no_more_than_it_needs() {
        let mut asked = Vec::new();
        for here in [Numbers::range(4..6), Numbers::listed(&[7, 6])] {
            let mut room = vec![0; 2 * SIZE];
            fill((9, SIZE), &here, &mut room, |rows, _| asked.push(rows));
        }
        assert_eq!(asked, [4..6, 6..9]);
    }
}
