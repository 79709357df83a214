//! Blocks of rows that run in parallel, although loops that are one need what others have computed in other rows.
//!
//! A row is what the outermost loop runs at one of its values. Between two blocks there is an edge: the rows of each nest
//! that those of other nests on the far side need, or overwrite, and those that these need. What is at edges runs first,
//! nest by nest; then no block needs anything of another one, or changes what it needs. Each iteration runs once.
//!
//! Guarantee: of two iterations that depend on each other, the one that is at an edge is the earlier one, or both are at the
//! same; in a block they are in the order of the group. That follows from the least and the largest distance between their
//! rows: with an edge behind row `s`, `before` rows in front of it and `behind` rows behind it of each nest,
//!
//! - none is from one block to another: `behind` of the one and `before` of the other are as long as the distance;
//! - whatever an iteration at an edge depends on is at that edge: rows of the earlier nest go on as far as the distance.

use crate::code::{Code, Condition, Expression, For};
use crate::dependences::{Dependence, Kind};
use crate::guarded::{self, Within};
use crate::isl::{Extreme, Failed, Map, Result};
use crate::loops::{Emission, Range, sequence};
use crate::model::{Affine, Mode};
use crate::order::{Group, Order, Piece, Size};
use crate::storage::{self, Buffer, Number};
use crate::{legality, notation};

/// Rows of a nest at an edge are at most so many.
const WIDEST: i64 = 64;

/// How a group is cut into blocks.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    pub length: Length,
    /// Of each part.
    pub edges: Vec<Edge>,
}

/// Rows of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// As many as give each thread a block; the parameter is how many threads there are.
    Threads(usize),
    /// So many.
    Is(Size),
}

/// Which rows of a nest are at the edge behind a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edge {
    /// So many rows, the last of which is that row; where it is less than 0, rows begin that far behind it.
    pub before: i64,
    /// So many rows behind it; where it is less than 0, rows end that far in front of it.
    pub behind: i64,
}

impl Edge {
    /// How many there are.
    pub fn rows(self) -> i64 {
        self.before + self.behind
    }
}

/// The least and the largest distance between rows that depend on each other: of the part that is earlier as it is written, and
/// the later one.
pub(crate) struct Distance {
    pub from: usize,
    pub to: usize,
    pub least: i64,
    pub largest: i64,
}

/// What is at the edges of blocks of a group, for each part; None where there cannot be blocks.
pub(crate) fn edges(order: &Order, group: &Group) -> Result<Option<Vec<Edge>>> {
    let is_of_rows = group.parts.iter().all(|part| match part.piece {
        Piece::Nest(nest) => !order.chain.nests[nest].bounds.is_empty(),
        Piece::Tiles(..) => false,
    });
    if !is_of_rows || group.depth == 0 {
        return Ok(None);
    }
    let distances = distances(order, group)?;
    Ok(distances.and_then(|distances| edges_of(&distances, group.parts.len())))
}

/// What is at the edges of blocks of so many parts, between which there are such distances.
pub(crate) fn edges_of(distances: &[Distance], parts: usize) -> Option<Vec<Edge>> {
    let mut edges = vec![Edge::default(); parts];
    for from in (0..parts).rev() {
        let mut edge: Option<Edge> = None;
        for distance in distances.iter().filter(|one| one.from == from) {
            if distance.to == from {
                // What is at an edge would go on without end.
                if distance.least != 0 || distance.largest != 0 {
                    return None;
                }
                continue;
            }
            let to = edges[distance.to];
            let mut needed = Edge {
                before: distance.largest - to.behind,
                behind: -distance.least - to.before,
            };
            if to.rows() > 0 {
                needed.before = needed.before.max(to.before + distance.largest);
                needed.behind = needed.behind.max(to.behind - distance.least);
            }
            edge = Some(match edge {
                Some(known) => Edge {
                    before: known.before.max(needed.before),
                    behind: known.behind.max(needed.behind),
                },
                None => needed,
            });
        }
        let mut edge = edge.unwrap_or_default();
        edge.behind = edge.behind.max(-edge.before);
        if edge.rows() > WIDEST || edge.before.abs() > WIDEST {
            return None;
        }
        edges[from] = edge;
    }
    Some(edges)
}

/// None where something is arbitrarily far away, or is combined.
fn distances(order: &Order, group: &Group) -> Result<Option<Vec<Distance>>> {
    let nests = group.nests();
    let mut all = Vec::new();
    for dependence in &order.dependences {
        if !nests.contains(&dependence.from) || !nests.contains(&dependence.to) {
            continue;
        }
        if dependence.kind == Kind::Combine {
            return Ok(None);
        }
        let part = |nest| group.part_of(nest).ok_or(Failed::Error);
        let (from, to) = (part(dependence.from)?, part(dependence.to)?);
        let Some(ends) = ends(order, group, dependence, 1)? else {
            return Ok(None);
        };
        let (least, largest) = ends[0];
        all.push(Distance {
            from,
            to,
            least,
            largest,
        });
    }
    Ok(Some(all))
}

/// The least and the largest distance of iterations of nests that depend on each other in a group, in its first dimensions;
/// None where there is none.
pub(crate) fn ends(
    order: &Order,
    group: &Group,
    dependence: &Dependence,
    dimensions: usize,
) -> Result<Option<Vec<(i64, i64)>>> {
    let shift = |nest: usize, at: usize| {
        let part = group.part_of(nest).ok_or(Failed::Error)?;
        let shift = group.parts[part].shift.get(at);
        Ok(shift.cloned().unwrap_or_default())
    };
    let pair = legality::between(order, group, group, dependence, group.depth.max(dimensions))?;
    let header = notation::header(order.chain, &[]);
    let tuple = notation::tuple("q", pair.quantities);
    let mut all = Vec::new();
    for at in 0..dimensions {
        let moved = shift(dependence.to, at)?.less(&shift(dependence.from, at)?);
        if moved.parameters.iter().any(|&factor| factor != 0) {
            return Ok(None);
        }
        let place = pair.levels[0][at];
        let mut ends = [0; 2];
        for (end, sign) in ends.iter_mut().zip(["-", ""]) {
            let text = format!("{header}{{ {tuple} -> [{sign}q{place}] }}");
            let map = Map::read(&order.isl, &text)?;
            match pair.set.clone().apply(map)?.largest(0)? {
                Extreme::Is(more) if more.abs() <= WIDEST => *end = more,
                Extreme::Empty => {}
                _ => return Ok(None),
            }
        }
        all.push((-ends[0] - moved.constant, ends[1] - moved.constant));
    }
    Ok(Some(all))
}

/// A quotient rounded up.
pub(crate) fn rounded_up(number: Expression, by: Expression) -> Expression {
    let more = Expression::difference(by.clone(), Expression::Constant(1));
    Expression::quotient(Expression::sum(number, more), by)
}

/// How many of `count` rows are in a block: at least `least`.
pub(crate) fn length(length: Length, count: &Expression, least: i64) -> Expression {
    let constant = Expression::Constant;
    let length = match length {
        Length::Threads(threads) => {
            let threads = Expression::largest(vec![Expression::Parameter(threads), constant(1)]);
            rounded_up(count.clone(), threads)
        }
        Length::Is(Size::Constant(size)) => constant(size),
        Length::Is(Size::Parameter(size)) => Expression::Parameter(size),
    };
    Expression::largest(vec![length, constant(least.max(1))])
}

/// The loops of a group in blocks.
pub(crate) fn loops(emission: &mut Emission, group: &Group, blocks: &Blocks) -> Result<Code> {
    let constant = Expression::Constant;
    let rows: Vec<Range> = group
        .parts
        .iter()
        .map(|part| match part.piece {
            Piece::Nest(nest) => {
                let outermost = emission.order.chain.nests[nest].bounds.first();
                let outermost = outermost.ok_or(Failed::Error)?;
                Ok((
                    Expression::of(&outermost.first, &[]),
                    Expression::of(&outermost.last, &[]),
                ))
            }
            Piece::Tiles(..) => Err(Failed::Error),
        })
        .collect::<Result<_>>()?;
    let first = Expression::least(rows.iter().map(|rows| rows.0.clone()).collect());
    let last = Expression::largest(rows.iter().map(|rows| rows.1.clone()).collect());
    let count = Expression::sum(Expression::difference(last, first.clone()), constant(1));
    let shortest = blocks.edges.iter().map(|edge| edge.rows());
    let shortest = shortest.max().unwrap_or(0);
    let length = self::length(blocks.length, &count, shortest);
    let last_block = Expression::difference(rounded_up(count, length.clone()), constant(1));

    // The row that the edge behind a block is behind.
    let edge_behind = |block: Expression| {
        let blocks = Expression::product(Expression::sum(block, constant(1)), length.clone());
        Expression::difference(Expression::sum(first.clone(), blocks), constant(1))
    };
    let parallel = |variable, first, last, body| {
        Code::For(Box::new(For {
            variable,
            first,
            last,
            step: constant(1),
            is_parallel: true,
            combines: Vec::new(),
            body,
        }))
    };
    let mut all = Vec::new();
    let number = emission.variable();
    let row = edge_behind(Expression::Variable(number));
    // There is no edge behind the last block. Its rows would be behind this one: edges are no wider than blocks.
    let last_row = edge_behind(Expression::difference(last_block.clone(), constant(1)));
    let mut at_edge = Vec::new();
    for ((part, edge), rows) in group.parts.iter().zip(&blocks.edges).zip(&rows) {
        let Piece::Nest(nest) = part.piece else {
            return Err(Failed::Error);
        };
        if edge.rows() > 0 {
            let behind = |row: &Expression| Expression::sum(row.clone(), constant(edge.behind));
            let within = Within {
                first: Expression::sum(row.clone(), constant(1 - edge.before)),
                last: Expression::least(vec![behind(&row), behind(&last_row)]),
                is_inside: rows.0 == first && edge.before <= shortest,
            };
            at_edge.push(guarded::alone(emission, nest, within));
        }
    }
    if !at_edge.is_empty() {
        // As many iterations as there are blocks, if there are some: so the thread that runs a block runs the edge behind it.
        let last = Expression::Choose(
            Condition::AtLeast(last_block.clone(), constant(1)).into(),
            last_block.clone().into(),
            constant(-1).into(),
        );
        all.push(parallel(number, constant(0), last, sequence(at_edge)));
    }
    let number = emission.variable();
    let block = || Expression::Variable(number);
    let (before, behind) = (
        edge_behind(Expression::difference(block(), constant(1))),
        edge_behind(block()),
    );
    // A row, and so many rows more where a number is not 0, which is not negative. As the least or the largest of two, both of
    // which grow with that number: it is plain where the blocks of a thread begin and end.
    let beyond = |row: Expression, rows: i64, number: Expression| {
        let once = Expression::sum(row.clone(), constant(rows));
        let times = Expression::sum(row, Expression::product(number, constant(rows)));
        match rows < 0 {
            true => Expression::largest(vec![once, times]),
            false => Expression::least(vec![once, times]),
        }
    };
    let inside = rows.iter().zip(&blocks.edges).map(|(rows, edge)| {
        let left = Expression::difference(last_block.clone(), block());
        let start = Expression::sum(before.clone(), constant(1));
        vec![Within {
            first: beyond(start, edge.behind, block()),
            last: beyond(behind.clone(), -edge.before, left),
            is_inside: rows.0 == first && edge.behind >= 0,
        }]
    });
    let inside: Vec<_> = inside.collect();
    let ends = Ends {
        is_first: Condition::Equal(block(), constant(0)),
        is_last: Condition::Equal(block(), last_block.clone()),
        before,
        behind,
    };
    for space in 0..emission.order.chain.spaces.len() {
        let buffer = buffer(emission.order, group, blocks, space, &ends)?;
        emission.buffers.extend(buffer.map(|buffer| Buffer {
            within: Some(number),
            ..buffer
        }));
    }
    let body = guarded::loops(emission, group, &inside)?;
    all.push(parallel(number, constant(0), last_block, body));
    Ok(sequence(all))
}

/// A block: whether it is the first or the last one, and the rows that the edges in front of it and behind it are behind.
struct Ends {
    is_first: Condition,
    is_last: Condition,
    before: Expression,
    behind: Expression,
}

/// What a block has of a temporary space while it runs: rows that nothing else accesses, as many as it needs at a time. The
/// others are in the space itself.
fn buffer(
    order: &Order,
    group: &Group,
    blocks: &Blocks,
    space: usize,
    ends: &Ends,
) -> Result<Option<Buffer>> {
    let described = &order.chain.spaces[space];
    if !described.is_local || described.rank == 0 {
        return Ok(None);
    }
    // From how many rows behind the edge in front of a block on, and up to how many in front of the edge behind it, no row is
    // accessed anywhere else; and from where to where rows are written.
    let mut own: Option<(i64, i64)> = None;
    let mut written: Option<(i64, i64)> = None;
    let mut nests = Vec::new();
    for (nest, its) in order.chain.nests.iter().enumerate() {
        for access in its.accesses.iter().filter(|access| access.space == space) {
            let row = access.index.as_ref().and_then(|index| index.first());
            let (Some(part), Some(row)) = (group.part_of(nest), row) else {
                return Ok(None);
            };
            let edge = blocks.edges[part];
            let more = row.less(&Affine::iterator(0, 0));
            let is_plain = more.iterators.iter().all(|&factor| factor == 0)
                && more.parameters.iter().all(|&factor| factor == 0);
            if !is_plain || matches!(access.mode, Mode::Reduce(_)) {
                return Ok(None);
            }
            let (front, behind) = (edge.behind + more.constant, more.constant - edge.before);
            let narrower = |known: Option<(i64, i64)>| match known {
                Some(known) => Some((known.0.max(front), known.1.min(behind))),
                None => Some((front, behind)),
            };
            let wider = |known: Option<(i64, i64)>| match known {
                Some(known) => Some((known.0.min(front), known.1.max(behind))),
                None => Some((front, behind)),
            };
            own = narrower(own);
            if access.mode == Mode::Write {
                written = wider(written);
            }
            nests.push(nest);
        }
    }
    nests.dedup();
    // All that a block writes has to be its own.
    let Some((front, behind)) = own.filter(|_| own == written) else {
        return Ok(None);
    };
    let numbers: Vec<Range> = match storage::is_covered(&order.isl, order.chain, space, 0)? {
        true => (0..described.rank)
            .map(|at| storage::extent(order, space, at))
            .collect::<Result<_>>()?,
        false => match storage::bounds(order, space)? {
            Some(bounds) => bounds,
            None => return Ok(None),
        },
    };
    let mut periods = vec![None; described.rank];
    for (at, period) in periods.iter_mut().enumerate().take(group.depth) {
        *period = storage::width(order, group, space, at)?;
        if *period != Some(1) {
            break;
        }
    }
    if periods[0].is_none() {
        return Ok(None);
    }
    let mut numbers: Vec<_> = { numbers.into_iter() }
        .zip(periods)
        .map(|((first, last), period)| Number {
            first,
            last,
            period,
        })
        .collect();
    let moved =
        |row: &Expression, more: i64| Expression::sum(row.clone(), Expression::Constant(more));
    let rows = &mut numbers[0];
    let first = Expression::largest(vec![rows.first.clone(), moved(&ends.before, front + 1)]);
    let last = Expression::least(vec![rows.last.clone(), moved(&ends.behind, behind)]);
    let choose = |condition: &Condition, all: &Expression, some: Expression| {
        let (condition, all) = (condition.clone().into(), all.clone().into());
        Expression::Choose(condition, all, some.into())
    };
    rows.first = choose(&ends.is_first, &rows.first, first);
    rows.last = choose(&ends.is_last, &rows.last, last);
    Ok(Some(Buffer {
        space,
        nests,
        is_needed: false,
        numbers,
        is_bounded: true,
        is_private: true,
        within: None,
    }))
}
