//! What the entries of a declaration say of shared memory.
//!
//! Entries have addresses and strides; what is declared are shapes in positions of the memory file, each with the object that
//! it lies in and how it is accessed. Guarantee: what is declared as accessed for sure is just that; where less is known it is
//! all that may be.

use okl_abi::{SectionEntry, SectionTable, section_access};
use okl_coherence::geometry::declaration;
use okl_coherence::geometry::ranges::{Range, Ranges};
use okl_coherence::geometry::shape::{DoesNotFit, Shape};
use okl_coherence::{Declared, Mode, PAGE};

use super::may_keep;
use super::rows::Run;
use crate::{heap::MOST_SMALL, layout, objects};

/// A section in more pieces than this, a field of each of many structs, is taken for all of its hull, of
/// which some may be accessed.
const MOST_PIECES: u64 = 1 << 18;

/// One entry of a declaration with its values.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) entry: &'a SectionEntry,
    pub(super) address: u64,
    /// Stride and count of each dimension.
    pub(super) dimensions: &'a [i64],
}

impl Entry<'_> {
    /// Stride and count of each dimension.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        let pairs = self.dimensions.chunks_exact(2);
        pairs.map(|pair| (pair[0], pair[1]))
    }

    /// In addresses; `None` where it is empty.
    pub(super) fn shape(&self) -> Result<Option<Shape>, DoesNotFit> {
        Shape::new(self.address, self.entry.element, self.pairs())
    }

    /// What holds the object that the address points into, where it is not just the section.
    pub(super) fn object(&self) -> Option<(usize, usize)> {
        let address = self.address as usize;
        if self.entry.access & section_access::OBJECT != 0
            && let Some(object) = objects::object_at(address)
        {
            return Some(object);
        }
        match self.entry.access & (section_access::ANYWHERE | section_access::MARKED) {
            0 => objects::object_at(address),
            section_access::ANYWHERE => object_around(address),
            // So that elements begin where stores do.
            _ => object_around(address).map(|(start, end)| (start & !7, end)),
        }
    }
}

/// The entries of a declaration.
pub(super) fn entries<'a>(
    table: &'a SectionTable,
    values: &'a [i64],
) -> impl Iterator<Item = Entry<'a>> {
    declaration::entries(table, values).map(|(entry, own)| Entry {
        entry,
        address: own[0] as u64,
        dimensions: &own[1..],
    })
}

/// What holds the object that `address` points into: in the heap all that a small block there can reach, and
/// all memory of its kind where nothing is known. `None` where the address is not shared.
fn object_around(address: usize) -> Option<(usize, usize)> {
    let layout = layout::layout();
    layout.page_of(address)?;
    if let Some((start, end)) = objects::object_at(address) {
        // It may also be the end of the one before, from which elements are counted backwards.
        let before = objects::object_at(address.wrapping_sub(1)).filter(|_| start == address);
        return Some(before.map_or((start, end), |before| (before.0, end)));
    }
    let segment = layout
        .segments()
        .find(|segment| (segment.address..segment.end()).contains(&address))?;
    if !layout::is_arena_address(address) {
        return Some((segment.address, segment.end()));
    }
    // The address may also be that of the end of a large block, or of an element before its first.
    let near = [address.wrapping_sub(1), address + PAGE];
    let near = near.into_iter().filter_map(objects::object_at);
    let small = (address.saturating_sub(MOST_SMALL), address + MOST_SMALL);
    let (start, end) = near.fold(small, |all, one| (all.0.min(one.0), all.1.max(one.1)));
    Some((start.max(segment.address), end.min(segment.end())))
}

/// What an entry says of shared memory, of which other threads write some.
pub(super) fn decode(one: &Entry<'_>, by_others: &Ranges, declared: &mut Vec<Declared>) {
    let access = one.entry.access;
    if access & section_access::BY_ALL != 0 {
        return;
    }
    let (shapes, is_exact) = shapes_of(one);
    let is_read = access & (section_access::READ | section_access::WRITE) == section_access::READ;
    for shape in shapes {
        if is_exact || !is_read || by_others.is_empty() || shape.pieces() > MOST_PIECES {
            declare(one, shape, is_exact, declared);
            continue;
        }
        for range in shape.ranges().minus(by_others).iter() {
            declare(one, Shape::whole(range), false, declared);
        }
    }
}

/// What other threads write for sure before all wait for each other, of what some entries say. A thread does not read it where
/// its places are not known either: what it got would depend on who comes first.
pub(super) fn written_by_others<'a>(
    entries: impl Iterator<Item = &'a Entry<'a>> + Clone,
) -> Ranges {
    let mut all = entries
        .clone()
        .filter(|one| one.entry.access & section_access::BY_ALL != 0)
        .peekable();
    if all.peek().is_none() {
        return Ranges::default();
    }
    let bytes_of = |one: &Entry<'_>, exactly: bool| {
        let (shapes, is_exact) = shapes_of(one);
        let mut bytes = Ranges::default();
        for shape in shapes {
            if exactly && !is_exact || shape.pieces() > MOST_PIECES {
                return None;
            }
            bytes = bytes.union(&shape.ranges());
        }
        Some(bytes)
    };
    let by_all = all
        .filter_map(|one| bytes_of(one, true))
        .fold(Ranges::default(), |one, other| one.union(&other));
    let marked_or_not = section_access::WRITE | section_access::MARKED;
    let own = entries.filter(|one| one.entry.access & marked_or_not == section_access::WRITE);
    let own: Option<Vec<Ranges>> = own.map(|one| bytes_of(one, false)).collect();
    own.map_or_else(Ranges::default, |own| {
        own.iter().fold(by_all, |rest, own| rest.minus(own))
    })
}

/// What an entry says behind the pointers of a run.
pub(super) fn decode_rows(one: &Entry<'_>, run: &Run, declared: &mut Vec<Declared>) {
    let rows = one.behind(run);
    let rows = rows.entry();
    if let Some((&(stride, count), inner)) = run.dimensions.split_first()
        && let Ok(Some(shape)) = rows.shape()
        && !is_in_one_segment(shape.hull())
    {
        for index in 0..count {
            let run = Run {
                start: run.start.wrapping_add((index * stride) as u64),
                dimensions: inner.to_vec(),
            };
            decode_rows(one, &run, declared);
        }
        return;
    }
    let (shapes, is_exact) = shapes_of(&rows);
    for shape in shapes {
        declare(&rows, shape.clone(), is_exact, declared);
        // Between the rows lie the headers of their blocks, say.
        let whole = shape.clone().without_narrow_gaps();
        if is_exact
            && one.entry.access & section_access::WRITE != 0
            && whole != shape
            && shape.pieces() <= MOST_PIECES
            && may_keep()
        {
            declared.push(Declared {
                mode: Mode::Keep,
                object: object_of(&rows, whole.hull()),
                shape: whole,
            });
        }
    }
}

/// The object that a part of a section lies in: that part where no more is known.
fn object_of(one: &Entry<'_>, hull: Range) -> Range {
    objects::object_at(one.address as usize)
        .and_then(in_file)
        .filter(|object| object.0 <= hull.0 && hull.1 <= object.1)
        .unwrap_or(hull)
}

/// Declares a part of a section.
pub(super) fn declare(one: &Entry<'_>, shape: Shape, is_exact: bool, declared: &mut Vec<Declared>) {
    let hull = shape.hull();
    let object = object_of(one, hull);
    let access = one.entry.access;
    let mut add = |exact, inexact, shape: Shape| {
        let (mode, shape) = if shape.pieces() > MOST_PIECES {
            (inexact, Shape::whole(hull))
        } else if is_exact {
            (exact, shape)
        } else {
            (inexact, shape)
        };
        declared.push(Declared {
            mode,
            shape,
            object,
        });
    };
    if access & section_access::READ != 0 {
        let shape = shape.clone().without_narrow_gaps();
        add(Mode::Read, Mode::MayRead, shape);
    }
    if access & section_access::MARKED != 0 {
        add(Mode::Marked, Mode::Marked, shape);
    } else if access & section_access::WRITE != 0 {
        add(Mode::Write, Mode::MayWrite, shape);
    }
}

/// A range of addresses as positions in the memory file; `None` where it is not shared.
pub(super) fn in_file((start, end): (usize, usize)) -> Option<(u64, u64)> {
    let layout = layout::layout();
    let page = layout.page_of(start)?;
    if layout.is_private(page) {
        return None;
    }
    let first = page as usize * PAGE + start % PAGE;
    Some((first as u64, (first + (end - start)) as u64))
}

/// The section in positions of the memory file, as far as it is shared, and whether it is just what is
/// accessed. Otherwise it is whatever may be: it may begin outside of the object, in another one.
pub(super) fn shapes_of(one: &Entry<'_>) -> (Vec<Shape>, bool) {
    let access = one.entry.access;
    if access & (section_access::ANYWHERE | section_access::MARKED) != 0 {
        let object = one.object().and_then(in_file);
        return (object.into_iter().map(Shape::whole).collect(), false);
    }
    let shape = match one.shape() {
        Ok(Some(shape)) => shape,
        Ok(None) => return (Vec::new(), true),
        // An index does not fit its type.
        Err(DoesNotFit) => return (shared_parts(0, usize::MAX), false),
    };
    let (start, end) = shape.hull();
    let in_one_piece = is_in_one_segment((start, end));
    let (start, end) = (start as usize, end as usize);
    let is_exact = access & (section_access::BOUND | section_access::MAY) == 0;
    match in_file((start, end)) {
        Some((at, _)) if in_one_piece => (vec![shape.moved_to(at)], is_exact),
        None if in_one_piece => (Vec::new(), true),
        _ => (shared_parts(start, end), false),
    }
}

pub(super) fn is_in_one_segment((start, end): Range) -> bool {
    let mut segments = layout::layout().segments();
    segments.any(|one| one.address as u64 <= start && end <= one.end() as u64)
}

/// What is shared between two addresses.
pub(super) fn shared_parts(start: usize, end: usize) -> Vec<Shape> {
    let parts = layout::layout().segments().filter_map(|segment| {
        let (first, last) = (segment.address.max(start), segment.end().min(end));
        (first < last).then(|| in_file((first, last)))?
    });
    parts.map(Shape::whole).collect()
}
