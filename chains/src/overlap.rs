//! Tiles that compute again what they need of others, so that they need nothing of them, and run in parallel.
//!
//! Temporary spaces of a group are each tile's own. An iteration whose results are in such alone is run by each tile that needs
//! it; the others are run once, by the tile that they are in. A tile runs a box of iterations of each nest: those that are in
//! it, and as many more on each side as what it needs of it reaches, from the last nest to the first one.
//!
//! Guarantee: of each iteration that a tile runs it runs all that write what it reads of these spaces, and all of a tile runs in
//! the order of the group, so that what is read is what is read as it is written. Nothing else that depends on each other is in
//! different tiles.

use crate::blocks::{self, Length};
use crate::code::{Code, Expression, For};
use crate::dependences::{Dependence, Kind};
use crate::guarded::{self, Within};
use crate::isl::{Failed, Result};
use crate::loops;
use crate::loops::{Emission, Range};
use crate::model::{Affine, Mode};
use crate::order::{Group, Order, Part, Piece};
use crate::storage::{self, Buffer, Number};

/// Tiles compute at most so many iterations more, on one side.
const MOST: i64 = 64;
/// Where tiles are as large as gives each thread one, they have so many times as many rows as they compute again, at least.
const LEAST: i64 = 4;

/// How tiles overlap.
#[derive(Clone, Debug)]
pub(crate) struct Overlap {
    /// How large they are, in each dimension that is cut.
    pub lengths: Vec<Length>,
    /// How many iterations more a tile runs of each part, in each of these dimensions: in front of it and behind it.
    pub more: Vec<Vec<(i64, i64)>>,
    /// The spaces that each has for itself.
    pub spaces: Vec<usize>,
}

/// How tiles of a group overlap, or why that cannot be.
pub(crate) fn found(
    order: &Order,
    group: &Group,
    lengths: Vec<Length>,
) -> Result<std::result::Result<Overlap, String>> {
    let dimensions = lengths.len();
    let nests: Option<Vec<_>> = group.parts.iter().map(nest_of).collect();
    let Some(nests) = nests else {
        return Ok(Err("the loops are tiled already".to_string()));
    };
    let fits = |nest: &usize| order.chain.nests[*nest].bounds.len() >= dimensions;
    if let Some(&less) = nests.iter().find(|nest| !fits(nest)) {
        let name = order.name(less);
        return Ok(Err(format!("{name} has fewer dimensions than tiles")));
    }
    let mut spaces = Vec::new();
    for space in 0..order.chain.spaces.len() {
        if is_own(order, &nests, space)? {
            spaces.push(space);
        }
    }
    let is_inside = |one: &&Dependence| nests.contains(&one.from) && nests.contains(&one.to);
    let dependences: Vec<_> = order.dependences.iter().filter(is_inside).collect();
    let place = |nest: usize| nests.iter().position(|&one| one == nest);
    // Nests whose results others than tiles have are run by one tile each.
    let is_once = |nest: usize| {
        let mut accesses = order.chain.nests[nest].accesses.iter();
        accesses.any(|one| one.mode != Mode::Read && !spaces.contains(&one.space))
    };
    let mut more = vec![vec![(0, 0); dimensions]; nests.len()];
    for (from, &nest) in nests.iter().enumerate().rev() {
        let mut needed: Vec<Option<(i64, i64)>> = vec![None; dimensions];
        for one in { dependences.iter() }.filter(|one| one.from == nest) {
            if one.kind != Kind::Flow || !spaces.contains(&one.space) {
                continue;
            }
            let to = place(one.to).ok_or(Failed::Error)?;
            let Some(ends) = blocks::ends(order, group, one, dimensions)? else {
                let name = order.name(one.to);
                let why = order.unknown_of(&[one.from], &[one.to]);
                let far = || format!("{name} needs what is arbitrarily far away");
                return Ok(Err(why.unwrap_or_else(far)));
            };
            for (at, (least, largest)) in ends.into_iter().enumerate() {
                let (front, behind) = match to == from {
                    true if (least, largest) == (0, 0) => continue,
                    true => {
                        return Ok(Err(format!(
                            "{} needs what it has computed in other tiles",
                            order.name(nest)
                        )));
                    }
                    false => more[to][at],
                };
                let (front, behind) = (front + largest, behind - least);
                let (known_front, known_behind) = needed[at].unwrap_or((front, behind));
                needed[at] = Some((known_front.max(front), known_behind.max(behind)));
            }
        }
        for (more, needed) in more[from].iter_mut().zip(needed) {
            let (front, behind) = needed.unwrap_or_default();
            if is_once(nest) && (front > 0 || behind > 0) {
                return Ok(Err(once(order, nest, &spaces)));
            }
            if !is_once(nest) {
                *more = (front, behind);
            }
            if front.abs() > MOST || behind.abs() > MOST {
                let name = order.name(nest);
                return Ok(Err(format!("too much of {name} is needed in other tiles")));
            }
        }
    }
    for one in dependences {
        if spaces.contains(&one.space) {
            continue;
        }
        let (from, to) = (place(one.from), place(one.to));
        let (from, to) = (from.ok_or(Failed::Error)?, to.ok_or(Failed::Error)?);
        let is_near = match blocks::ends(order, group, one, dimensions)? {
            Some(ends) if one.kind != Kind::Combine => (0..dimensions).all(|at| {
                let all = [ends[at], more[from][at], more[to][at]];
                all.iter().all(|ends| *ends == (0, 0))
            }),
            _ => false,
        };
        if !is_near {
            return Ok(Err(shared(order, one)));
        }
    }
    Ok(Ok(Overlap {
        lengths,
        more,
        spaces,
    }))
}

/// Why a nest can be run once only.
fn once(order: &Order, nest: usize, own: &[usize]) -> String {
    let mut accesses = order.chain.nests[nest].accesses.iter();
    let other = accesses.find(|one| one.mode != Mode::Read && !own.contains(&one.space));
    let space = other.map_or(0, |one| one.space);
    let (name, space) = (order.name(nest), &order.chain.spaces[space].name);
    format!("they would run iterations of {name} more than once, which write `{space}`")
}

/// Why a dependence is in the way.
fn shared(order: &Order, dependence: &Dependence) -> String {
    let space = &order.chain.spaces[dependence.space];
    let (one, other) = (order.name(dependence.from), order.name(dependence.to));
    let name = &space.name;
    match dependence.kind {
        Kind::Flow if !space.is_local => {
            format!(
                "{other} reads what {one} writes of `{name}` in other tiles; write `local({name})` if nothing reads it behind the chain"
            )
        }
        Kind::Flow => format!(
            "{other} reads what {one} writes of `{name}` in other tiles, or what is there before the chain"
        ),
        Kind::Anti => format!("{other} overwrites what {one} reads of `{name}` in other tiles"),
        Kind::Output => format!("{other} overwrites what {one} writes of `{name}` in other tiles"),
        Kind::Combine => format!("what {one} and {other} find is combined in `{name}`"),
    }
}

fn nest_of(part: &Part) -> Option<usize> {
    match part.piece {
        Piece::Nest(nest) => Some(nest),
        Piece::Tiles(..) => None,
    }
}

/// Whether each tile can have a space for itself.
fn is_own(order: &Order, nests: &[usize], space: usize) -> Result<bool> {
    let described = &order.chain.spaces[space];
    if !described.is_local || described.rank == 0 {
        return Ok(false);
    }
    let all = order.chain.nests.iter().enumerate();
    let mut accesses = all.flat_map(|(nest, its)| its.accesses.iter().map(move |one| (nest, one)));
    let fits = accesses.all(|(nest, one)| {
        let is_plain = |index: &Vec<Affine>| index.iter().all(|number| iterator(number).is_some());
        one.space != space
            || nests.contains(&nest)
                && !matches!(one.mode, Mode::Reduce(_))
                && one.index.as_ref().is_some_and(is_plain)
    });
    Ok(fits && storage::is_covered(&order.isl, order.chain, space, 0)?)
}

/// Which iteration variable a number is a constant more than, where it is no more than that.
fn iterator(number: &Affine) -> Option<Option<usize>> {
    let mut factors = number
        .iterators
        .iter()
        .enumerate()
        .filter(|one| *one.1 != 0);
    match (factors.next(), factors.next()) {
        (None, _) => Some(None),
        (Some((at, 1)), None) if number.parameters.iter().all(|&factor| factor == 0) => {
            Some(Some(at))
        }
        _ => None,
    }
}

/// The loops of a group in tiles that overlap, and the buffers that each of them has.
pub(crate) fn loops(
    emission: &mut Emission,
    group: &Group,
    walk: usize,
    overlap: &Overlap,
) -> Result<Code> {
    let constant = Expression::Constant;
    let order = emission.order;
    let nests: Option<Vec<_>> = group.parts.iter().map(nest_of).collect();
    let nests = nests.ok_or(Failed::Error)?;
    // What only others need is run where they are.
    let is_needed = |nest: &usize| {
        let all = order.chain.nests[*nest].accesses.iter();
        let mut writes = all.filter(|one| one.mode != Mode::Read);
        let first = writes
            .next()
            .is_some_and(|one| overlap.spaces.contains(&one.space));
        first && writes.all(|one| overlap.spaces.contains(&one.space))
    };
    let is_all = nests.iter().all(is_needed);
    let counts = |nest: &usize| is_all || !is_needed(nest);
    let mut extents = Vec::new();
    for at in 0..overlap.lengths.len() {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for &nest in nests.iter().filter(|nest| counts(nest)) {
            let (least, largest) = loops::ends(order, nest, &Affine::iterator(at, 0))?;
            first.push(least);
            last.push(largest);
        }
        let (first, last) = (Expression::least(first), Expression::largest(last));
        let count = Expression::sum(Expression::difference(last, first.clone()), constant(1));
        let again = overlap
            .more
            .iter()
            .map(|more| more[at].0.max(0) + more[at].1.max(0));
        let least = LEAST * again.max().unwrap_or(0);
        let length = match overlap.lengths[at] {
            Length::Threads(_) => blocks::length(overlap.lengths[at], &count, least),
            length => blocks::length(length, &count, 1),
        };
        let tiles = blocks::rounded_up(count, length.clone());
        extents.push((first, length, Expression::largest(vec![tiles, constant(0)])));
    }
    let number = emission.variable();
    let mut left = Expression::Variable(number);
    let mut count = constant(1);
    let mut tile: Vec<Range> = Vec::new();
    for (at, (first, length, tiles)) in extents.iter().enumerate().rev() {
        let its = match at {
            0 => left.clone(),
            _ => Expression::Modulo(left.clone().into(), tiles.clone().into()),
        };
        left = Expression::quotient(left, tiles.clone());
        count = Expression::product(count, tiles.clone());
        let first = Expression::sum(first.clone(), Expression::product(its, length.clone()));
        let behind = Expression::sum(first.clone(), length.clone());
        let last = Expression::difference(behind, constant(1));
        tile.insert(0, (first, last));
    }
    let ranges = overlap.more.iter().map(|more| {
        let range = |(more, (first, last)): (&(i64, i64), &Range)| {
            let (front, behind) = (constant(-more.0), constant(more.1));
            (
                Expression::sum(first.clone(), front),
                Expression::sum(last.clone(), behind),
            )
        };
        more.iter().zip(&tile).map(range).collect::<Vec<_>>()
    });
    let ranges: Vec<_> = ranges.collect();
    for &space in &overlap.spaces {
        let buffer = buffer(emission, group, &nests, space, (number, &ranges))?;
        emission.buffers.push(buffer);
    }
    let has_own_loops = |nest: &usize| order.chain.nests[*nest].bounds.len() > group.depth;
    let body = match nests.iter().all(has_own_loops) {
        true => {
            let of_part = |(part, ranges): (usize, &Vec<Range>)| {
                let bounds = &order.chain.nests[nests[part]].bounds;
                let its = ranges.iter().zip(&extents).zip(bounds).enumerate();
                let within = its.map(|(at, ((range, extent), bounds))| Within {
                    first: range.0.clone(),
                    last: range.1.clone(),
                    // The first tile begins where this nest does.
                    is_inside: overlap.more[part][at].0 <= 0
                        && bounds.first.iterators.iter().all(|&factor| factor == 0)
                        && Expression::of(&bounds.first, &[]) == extent.0,
                });
                within.collect::<Vec<_>>()
            };
            let within: Vec<_> = ranges.iter().enumerate().map(of_part).collect();
            guarded::loops(emission, group, &within)?
        }
        false => emission.in_tile(group, walk, &tile, &overlap.more)?,
    };
    Ok(Code::For(Box::new(For {
        variable: number,
        first: constant(0),
        last: Expression::difference(count, constant(1)),
        step: constant(1),
        is_parallel: true,
        combines: Vec::new(),
        body,
    })))
}

/// What a tile, which is a value of a loop's variable, has of a space. `ranges` are the iterations that it runs, of each part and in each dimension that is cut.
fn buffer(
    emission: &Emission,
    group: &Group,
    nests: &[usize],
    space: usize,
    (loop_of_tiles, ranges): (usize, &[Vec<Range>]),
) -> Result<Buffer> {
    let order = emission.order;
    let rank = order.chain.spaces[space].rank;
    let mut ends = vec![(Vec::new(), Vec::new()); rank];
    let mut users = Vec::new();
    for (part, &nest) in nests.iter().enumerate() {
        let its = order.chain.nests[nest].accesses.iter();
        for access in its.filter(|access| access.space == space) {
            users.push(nest);
            for (number, (first, last)) in access.index.iter().flatten().zip(&mut ends) {
                let (mut least, mut largest) = loops::ends(order, nest, number)?;
                let cut = iterator(number)
                    .flatten()
                    .and_then(|at| ranges[part].get(at));
                if let Some((front, behind)) = cut {
                    let more = Expression::Constant(number.constant);
                    let moved = |end: &Expression| Expression::sum(end.clone(), more.clone());
                    least = Expression::largest(vec![least, moved(front)]);
                    largest = Expression::least(vec![largest, moved(behind)]);
                }
                first.push(least);
                last.push(largest);
            }
        }
    }
    users.dedup();
    let mut periods = vec![None; rank];
    for (at, period) in periods.iter_mut().enumerate().take(group.depth) {
        *period = storage::width(order, group, space, at)?;
        if *period != Some(1) {
            break;
        }
    }
    let numbers = ends.into_iter().zip(periods);
    let numbers = numbers.map(|((first, last), period)| Number {
        first: Expression::least(first),
        last: Expression::largest(last),
        period,
    });
    Ok(Buffer {
        space,
        nests: users,
        is_needed: true,
        numbers: numbers.collect(),
        is_bounded: false,
        is_private: true,
        within: Some(loop_of_tiles),
    })
}
