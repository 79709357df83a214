//! Fewer sections for the same bytes: accesses that differ by a constant become one.
//!
//! Unions are exact, with one exception: two exact reads of rows that lie a few strides apart become
//! a read of the rows between them too, which stays within what the two span.

use super::{Entry, Quantity, What};
use crate::analysis::nests::{Nests, Term};

/// Rows between two reads that may be read in vain.
const GAP: i64 = 2;

/// Merges the sections of a nest.
pub(super) fn merge<'m>(nests: &Nests<'m>, entries: Vec<Entry<'m>>) -> Vec<Entry<'m>> {
    let mut merged: Vec<Entry<'m>> = Vec::new();
    for mut entry in entries {
        fold(nests, &mut entry);
        add(nests, &mut merged, entry);
    }
    // Reads of an object that is read anywhere say nothing more.
    let is_anywhere =
        |one: &Entry<'m>| matches!(one.what, What::Anywhere { .. }) && one.table.is_none();
    let anywhere: Vec<_> = merged
        .iter()
        .filter(|one| is_anywhere(one))
        .map(|one| one.address)
        .collect();
    merged
        .retain(|one| is_anywhere(one) || !one.what.is_read() || !anywhere.contains(&one.address));
    merged
}

/// Makes inner dimensions without gaps and of known length part of the element.
fn fold<'m>(nests: &Nests<'m>, entry: &mut Entry<'m>) {
    if matches!(entry.what, What::Between { .. }) {
        return;
    }
    while let Some(&(stride, count)) = entry.dimensions.last() {
        let constant = |quantity| nests.constant(term(quantity)?);
        let (Some(stride), Some(count)) = (constant(stride), constant(count)) else {
            return;
        };
        let length = (count - 1).checked_mul(stride);
        let length = length.and_then(|bytes| bytes.checked_add(entry.element));
        match length {
            Some(length) if count > 0 && (1..=entry.element).contains(&stride) => {
                entry.dimensions.pop();
                entry.element = length;
            }
            _ => return,
        }
    }
}

/// Adds a section; where it grows another one, that may now join a third.
fn add<'m>(nests: &Nests<'m>, merged: &mut Vec<Entry<'m>>, entry: Entry<'m>) {
    let mut entry = entry;
    loop {
        let partner = merged.iter().enumerate().find_map(|(index, one)| {
            let union = join_elements(nests, one, &entry).or_else(|| join_rows(nests, one, &entry));
            union.map(|union| (index, union))
        });
        match partner {
            Some((index, union)) => {
                merged.remove(index);
                entry = union;
            }
            None => break,
        }
    }
    merged.push(entry);
}

fn term<'m>(quantity: Quantity<'m>) -> Option<Term<'m>> {
    match quantity {
        Quantity::Term(term) => Some(term),
        Quantity::Value(_) | Quantity::Constant(_) | Quantity::Places(_) => None,
    }
}

/// Elements that touch or overlap, in sections of the same shape.
fn join_elements<'m>(nests: &Nests<'m>, a: &Entry<'m>, b: &Entry<'m>) -> Option<Entry<'m>> {
    match (a.what, b.what) {
        (
            What::Marked {
                by_bits,
                of_variable,
                ..
            },
            What::Marked { by_bits: other, .. },
        ) => {
            let what = What::Marked {
                by_bits: by_bits && other,
                counted: false,
                of_variable,
            };
            return (a.address == b.address).then(|| Entry {
                what,
                element: a.element.min(b.element),
                ..a.clone()
            });
        }
        (What::Between { .. }, What::Between { .. }) => return join_between(nests, a, b),
        _ => {}
    }
    if a.what != b.what || a.dimensions != b.dimensions || !a.has_table_of(b) {
        return None;
    }
    if matches!(a.what, What::Anywhere { .. }) {
        return (a.address == b.address).then(|| a.clone());
    }
    let distance = nests.distance(term(b.address)?, term(a.address)?)?;
    let (low, high, distance) = if distance < 0 {
        (b, a, distance.checked_neg()?)
    } else {
        (a, b, distance)
    };
    // The bytes between two elements of a read belong to it where the innermost stride is no larger.
    let reach = if a.what.is_exact_read() {
        low.element
            .max(innermost_stride(nests, low).unwrap_or(0).abs())
    } else {
        low.element
    };
    (distance <= reach).then(|| Entry {
        element: low.element.max(distance + high.element),
        ..low.clone()
    })
}

/// Parts of one object that are a constant distance apart, which is one part: it is no larger than what lies
/// between the corners.
fn join_between<'m>(nests: &Nests<'m>, a: &Entry<'m>, b: &Entry<'m>) -> Option<Entry<'m>> {
    let (of_a, of_b) = (a.corners(), b.corners());
    if a.address != b.address || of_a.len() != of_b.len() || !a.has_table_of(b) {
        return None;
    }
    let distances = of_a.iter().zip(&of_b).map(|(a, b)| {
        let is_alike = a[1..] == b[1..];
        let distance = nests.distance(term(b[0])?, term(a[0])?);
        distance.filter(|_| is_alike)
    });
    let distances: Vec<i64> = distances.collect::<Option<_>>()?;
    let &distance = distances.first()?;
    if distances.iter().any(|&other| other != distance) {
        return None;
    }
    let (low, high) = if distance < 0 { (b, a) } else { (a, b) };
    Some(Entry {
        element: low
            .element
            .max(distance.checked_abs()?.checked_add(high.element)?),
        ..low.clone()
    })
}

fn innermost_stride<'m>(nests: &Nests<'m>, entry: &Entry<'m>) -> Option<i64> {
    let &(stride, _) = entry.dimensions.last()?;
    let stride = term(stride)?;
    // `stride - 0`, where that is constant.
    nests.constant(stride)
}

/// Sections of the same elements that are some strides of one dimension apart, or whose counts in
/// that dimension differ by a constant.
fn join_rows<'m>(nests: &Nests<'m>, a: &Entry<'m>, b: &Entry<'m>) -> Option<Entry<'m>> {
    let same =
        a.what == b.what && a.element == b.element && a.dimensions.len() == b.dimensions.len();
    if !same || !a.what.is_exact_read() || !a.has_table_of(b) {
        return None;
    }
    let (from, to) = (term(a.address)?, term(b.address)?);
    for (index, (one, other)) in a.dimensions.iter().zip(&b.dimensions).enumerate() {
        let alike = |(at, pair): (usize, (&_, &_))| at == index || pair.0 == pair.1;
        let rest_is_same = a.dimensions.iter().zip(&b.dimensions);
        if one.0 != other.0 || !rest_is_same.enumerate().all(alike) {
            continue;
        }
        let (stride, count) = (term(one.0)?, term(one.1)?);
        let longer = nests.distance(term(other.1)?, count);
        let (Some(steps), Some(longer)) = (nests.steps(to, from, stride), longer) else {
            continue;
        };
        if steps.abs() > GAP || longer.abs() > 2 * GAP {
            continue;
        }
        // `b` goes from `steps` to `steps + count + longer`.
        let low = if steps < 0 { b } else { a };
        let more = (steps + longer).max(0) - steps.min(0);
        let mut union = low.clone();
        union.dimensions[index].1 = Quantity::Term(nests.plus(count, more));
        return Some(union);
    }
    None
}
