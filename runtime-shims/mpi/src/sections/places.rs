//! Reads of a few elements whose places are computed before the loop runs, by a function that the compiler has written.
//!
//! Guarantee: what the loop reads is declared. Where the elements are so many that it is as well to copy all that they lie in,
//! that is declared instead.

use std::mem::transmute;

use okl_coherence::{
    Declared, Mode, PAGE,
    geometry::{
        ranges::{Range, Ranges},
        shape::Shape,
    },
};

use super::{
    entry::{in_file, is_in_one_segment, shapes_of},
    rows::Behind,
};

/// More elements are not looked at one by one.
const MOST: i64 = 2048;

/// An element costs about as much as copying so many bytes.
const COST: u64 = PAGE as u64;

/// What the compiler writes: where the element of a turn is, as an address.
type Place = extern "C" fn(turn: i64, values: *const i64) -> i64;

/// Where an access reads, as positions in the memory file; `None` where all that it lies in is to be declared.
pub(super) fn of(access: &Behind<'_>) -> Option<Vec<Range>> {
    let places = access.places.as_ref()?;
    let (&turns, values) = places.dimensions.split_first()?;
    if !(0..=MOST).contains(&turns) {
        return None;
    }
    let (shapes, _) = shapes_of(&access.entry);
    let hulls = shapes.iter().map(Shape::hull);
    let bytes: u64 = hulls.map(|(start, end)| end - start).sum();
    if turns as u64 * COST > bytes {
        return None;
    }
    // SAFETY: the pass writes the function, for these values.
    let place = unsafe { transmute::<*const (), Place>(places.address as *const ()) };
    let size = places.entry.element as usize;
    let ranges = (0..turns).filter_map(|turn| {
        let start = place(turn, values.as_ptr()) as usize;
        let end = start.checked_add(size)?;
        // A turn may not come to the read, and have no place for it.
        is_in_one_segment((start as u64, end as u64)).then(|| in_file((start, end)))?
    });
    Some(ranges.collect())
}

/// Declares what is read at places.
pub(super) fn declare(places: Vec<Range>, declared: &mut Vec<Declared>) {
    for range in Ranges::of(places).iter() {
        declared.push(Declared {
            mode: Mode::MayRead,
            shape: Shape::whole(range),
            object: range,
        });
    }
}
