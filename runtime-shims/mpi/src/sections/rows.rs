//! Sections behind pointers that a loop nest loads itself: the tables are read here, before the nest runs.
//!
//! What is read of a table is what the nest will read of it: it does not write it, and what it reads is
//! current, because the tables are declared before what lies behind their pointers. Rows that lie at one
//! distance are one section, whatever their number; a table is read once for all accesses through it.

use std::rc::Rc;

use okl_abi::section_access;

use okl_coherence::geometry::{
    ranges::{Range, Ranges},
    shape::{DoesNotFit, Shape},
};

use super::entry::Entry;
use crate::{layout, memory};

/// Bytes of a pointer.
const POINTER: usize = size_of::<usize>();

/// Tables with more pointers are not looked at.
const MOST_POINTERS: usize = 1 << 20;

/// Rows that lie further from each other are not parts of one array.
const FAR: u64 = 16 << 20;

/// Where the rows of an access come to more runs they lie apart: pages serve the region better.
const MOST_RUNS: usize = 64;

/// So it is with so many rows, wherever they lie.
const MOST_ROWS: u64 = 1 << 17;

/// What lies between rows that lie apart is taken with them up to so many bytes.
const BETWEEN: u64 = 64 << 10;

/// Dimensions that rows are joined to.
const MOST_JOINS: usize = 4;

/// Pointers at one distance: `start + sum(index[d] * stride[d])` for every `index[d] < count[d]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: u64,
    /// Stride and count, outer dimensions first.
    pub(super) dimensions: Vec<(i64, i64)>,
}

/// The pointers in tables.
pub(super) type Runs = Result<Rc<Vec<Run>>, DoesNotFit>;

/// What a declaration says of one access.
pub(super) struct Behind<'a> {
    /// The tables, each of which is behind the one before.
    tables: Vec<Entry<'a>>,
    /// The section; behind each pointer in the last table, where there is one.
    pub(super) entry: Entry<'a>,
    /// What computes where in the section elements are read.
    pub(super) places: Option<Entry<'a>>,
}

impl<'a> Behind<'a> {
    /// How many tables have to be read, one after the other, before the section is known.
    pub(super) fn depth(&self) -> usize {
        self.tables.len()
    }

    /// The tables.
    pub(super) fn tables(&self) -> &[Entry<'a>] {
        &self.tables
    }

    /// Whether the tables are of numbers, between which the section lies.
    pub(super) fn is_between(&self) -> bool {
        self.entry.entry.access & section_access::BETWEEN != 0
    }

    fn is_exact(&self) -> bool {
        self.entry.entry.access & (section_access::BOUND | section_access::MAY) == 0
    }

    /// Whether its rows lie apart.
    pub(super) fn is_apart(runs: &Runs) -> bool {
        let rows = |run: &Run| {
            run.dimensions
                .iter()
                .map(|one| one.1 as u64)
                .product::<u64>()
        };
        runs.as_ref().map_or(true, |runs| {
            runs.len() > MOST_RUNS || runs.iter().map(rows).sum::<u64>() > MOST_ROWS
        })
    }

    /// What holds the sections behind pointers that lie apart, in few ranges of addresses.
    pub(super) fn around(&self, runs: &Runs) -> Vec<Range> {
        let everything = vec![(0, u64::MAX)];
        let Ok(runs) = runs else {
            return everything;
        };
        let mut hulls = Vec::new();
        for run in runs.iter() {
            match self.entry.behind(run).shape() {
                Ok(Some(shape)) => hulls.push(shape.hull()),
                Ok(None) => {}
                Err(DoesNotFit) => return everything,
            }
        }
        let mut around: Vec<Range> = Vec::new();
        for (start, end) in Ranges::of(hulls).iter() {
            match around.last_mut() {
                Some(last) if start - last.1 <= BETWEEN => last.1 = end,
                _ => around.push((start, end)),
            }
        }
        match &around[..] {
            [first, .., last] if around.len() > MOST_RUNS => vec![(first.0, last.1)],
            _ => around,
        }
    }
}

/// The accesses of a declaration, each with its tables.
pub(super) fn with_tables<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Vec<Behind<'a>> {
    let mut tables = Vec::new();
    let mut places = None;
    let mut all = Vec::new();
    for entry in entries {
        if entry.entry.access & section_access::PLACES != 0 {
            places = Some(entry);
        } else if entry.entry.access & section_access::TABLE != 0 {
            tables.push(entry);
        } else {
            all.push(Behind {
                tables: std::mem::take(&mut tables),
                entry,
                places: places.take(),
            });
        }
    }
    all
}

/// An access behind each pointer of a run.
pub(super) struct Rows<'a> {
    entry: Entry<'a>,
    dimensions: Vec<i64>,
}

impl Rows<'_> {
    pub(super) fn entry(&self) -> Entry<'_> {
        Entry {
            dimensions: &self.dimensions,
            ..self.entry
        }
    }

    fn shape(&self) -> Result<Option<Shape>, DoesNotFit> {
        self.entry().shape()
    }
}

impl<'a> Entry<'a> {
    /// Of an access relative to pointers: what is accessed behind those of a run.
    pub(super) fn behind(&self, run: &Run) -> Rows<'a> {
        let rows = run.dimensions.iter().flat_map(|&(a, b)| [a, b]);
        Rows {
            entry: Entry {
                address: self.address.wrapping_add(run.start),
                ..*self
            },
            dimensions: rows.chain(self.dimensions.iter().copied()).collect(),
        }
    }
}

/// Tables that have been read.
#[derive(Default)]
pub(super) struct Read<'b, 'a> {
    all: Vec<(&'b [Entry<'a>], bool, Runs)>,
}

impl<'b, 'a> Read<'b, 'a> {
    /// The pointers in the last of the tables of an access. An error where they cannot be told.
    pub(super) fn pointers(&mut self, access: &'b Behind<'a>) -> Runs {
        self.behind(&access.tables, access.is_exact())
    }

    fn behind(&mut self, tables: &'b [Entry<'a>], is_exact: bool) -> Runs {
        let Some((last, outer)) = tables.split_last() else {
            return Ok(Rc::new(vec![Run {
                start: 0,
                dimensions: Vec::new(),
            }]));
        };
        let is_same = |known: &[Entry<'_>]| {
            known.len() == tables.len()
                && known.iter().zip(tables).all(|(one, other)| {
                    one.address == other.address && one.dimensions == other.dimensions
                })
        };
        let known = self
            .all
            .iter()
            .find(|known| known.1 == is_exact && is_same(known.0));
        if let Some((_, _, runs)) = known {
            return runs.clone();
        }
        let bases = self.behind(outer, is_exact);
        let runs = bases.and_then(|bases| {
            let mut pointers = Pointers::default();
            for base in bases.iter() {
                let Some(shape) = last.behind(base).shape()? else {
                    continue;
                };
                if shape.pieces() > MOST_POINTERS as u64 {
                    return Err(DoesNotFit);
                }
                for (from, to) in shape.ranges().iter() {
                    pointers.read(from as usize, to as usize, is_exact)?;
                }
            }
            Ok(Rc::new(pointers.joined()))
        });
        self.all.push((tables, is_exact, runs.clone()));
        runs
    }
}

/// `count` pointers from `start` on.
struct Line {
    start: u64,
    stride: i64,
    count: i64,
}

/// Pointers, in the order in which they are found.
#[derive(Default)]
struct Pointers {
    lines: Vec<Line>,
    last: u64,
    count: usize,
}

impl Pointers {
    /// Adds the pointers from `start` to `end`, read as the program would.
    fn read(&mut self, start: usize, end: usize, is_exact: bool) -> Result<(), DoesNotFit> {
        let layout = layout::layout();
        let is_shared = layout
            .segments()
            .any(|segment| segment.address <= start && end <= segment.end());
        self.count += (end - start) / POINTER;
        // What the program may not read, memory that is not shared, need not be there.
        if !start.is_multiple_of(POINTER) || !(is_shared || is_exact) || self.count > MOST_POINTERS
        {
            return Err(DoesNotFit);
        }
        if is_shared {
            memory::make_readable(start, end - start);
        }
        // SAFETY: aligned, and readable: shared memory that was made so, or what the program is about to
        // read.
        let table =
            unsafe { std::slice::from_raw_parts(start as *const u64, (end - start) / POINTER) };
        self.extend(table);
        Ok(())
    }

    fn extend(&mut self, mut pointers: &[u64]) {
        while let Some((&first, rest)) = pointers.split_first() {
            self.push(first);
            pointers = rest;
            let line = self.lines.last_mut().expect("the pointer is in one");
            if line.count > 1 {
                let mut last = first;
                let follows = pointers.iter().take_while(|&&next| {
                    let is_next = next.wrapping_sub(last) == line.stride as u64;
                    last = next;
                    is_next
                });
                let more = follows.count();
                line.count += more as i64;
                if more > 0 {
                    self.last = pointers[more - 1];
                    pointers = &pointers[more..];
                }
            }
        }
    }

    fn push(&mut self, pointer: u64) {
        let distance = pointer.wrapping_sub(self.last) as i64;
        self.last = pointer;
        match self.lines.last_mut() {
            Some(line) if line.count == 1 && distance.unsigned_abs() <= FAR => {
                line.stride = distance;
                line.count = 2;
            }
            Some(line) if line.count > 1 && distance == line.stride => line.count += 1,
            _ => self.lines.push(Line {
                start: pointer,
                stride: 0,
                count: 1,
            }),
        }
    }

    fn joined(self) -> Vec<Run> {
        let runs = self.lines.into_iter().map(|line| Run {
            start: line.start,
            dimensions: match line.count {
                1 => Vec::new(),
                count => vec![(line.stride, count)],
            },
        });
        let mut runs: Vec<Run> = runs.collect();
        for _ in 0..MOST_JOINS {
            let joined = join(&runs);
            if joined.len() == runs.len() {
                break;
            }
            runs = joined;
        }
        runs
    }
}

/// Makes one of those that are alike and one distance apart.
fn join(mut rest: &[Run]) -> Vec<Run> {
    let mut joined = Vec::new();
    while let Some((first, more)) = rest.split_first() {
        let distance = |one: &Run, next: &Run| next.start.wrapping_sub(one.start) as i64;
        let is_like = |next: &Run| next.dimensions == first.dimensions;
        let stride = more
            .first()
            .filter(|next| is_like(next))
            .map(|next| distance(first, next))
            .filter(|stride| stride.unsigned_abs() <= FAR);
        let mut run = first.clone();
        let mut count = 1;
        if let Some(stride) = stride {
            let follows =
                |pair: &&[Run]| is_like(&pair[1]) && distance(&pair[0], &pair[1]) == stride;
            count += rest.windows(2).take_while(follows).count();
            run.dimensions.insert(0, (stride, count as i64));
        }
        joined.push(run);
        rest = &rest[count..];
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    fn expand(runs: &[Run]) -> Vec<u64> {
        let mut all = Vec::new();
        for run in runs {
            let mut some = vec![run.start];
            for &(stride, count) in &run.dimensions {
                let indices = some.iter().flat_map(|&at| {
                    (0..count).map(move |index| at.wrapping_add((index * stride) as u64))
                });
                some = indices.collect();
            }
            all.extend(some);
        }
        all
    }

    fn runs_of(pointers: &[u64], slices: usize) -> Vec<Run> {
        let mut found = Pointers::default();
        for slice in pointers.chunks(slices) {
            found.extend(slice);
        }
        found.joined()
    }

    #[test]
    fn runs_hold_the_pointers_in_their_order() {
        let mut random = Random(3);
        let mut below = |bound: u64| random.below(bound as usize) as u64;
        let mut joined_some = 0;
        for _ in 0..4000 {
            let mut at = 1u64 << 40;
            let rows = 1 + below(5);
            let pointers: Vec<u64> = (0..1 + below(40))
                .map(|index| {
                    at = at.wrapping_add(match below(30) {
                        0 => below(50) * 16,
                        1 => 1 << 30,
                        2 => 0,
                        3 => 0u64.wrapping_sub(below(9) * 64),
                        _ if index % rows == 0 => 96,
                        _ => 64,
                    });
                    at
                })
                .collect();
            let runs = runs_of(&pointers, 1 + below(12) as usize);
            assert_eq!(expand(&runs), pointers);
            joined_some += usize::from(2 * runs.len() < pointers.len());
        }
        assert!(joined_some > 1000, "{joined_some}");
    }

    #[test]
    fn rows_of_planes_are_one_run() {
        let plane = |k: u64| (0..9).map(move |j| (1 << 40) + k * 5000 + j * 528);
        let pointers: Vec<u64> = (0..7).flat_map(plane).collect();
        let whole = Run {
            start: 1 << 40,
            dimensions: vec![(5000, 7), (528, 9)],
        };
        for slices in [1, 5, 9, 63] {
            assert_eq!(
                &runs_of(&pointers, slices)[..],
                std::slice::from_ref(&whole)
            );
        }
        let backwards: Vec<u64> = pointers.into_iter().rev().collect();
        assert_eq!(runs_of(&backwards, 9).len(), 1);
    }
}
