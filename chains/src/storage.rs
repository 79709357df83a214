//! How much of a temporary space is needed at a time.
//!
//! While the outermost loop of a group has one value, elements of a space are accessed whose first numbers are some more or
//! less than it, in fixed limits. Two elements whose first numbers differ by more than that are never needed at the same
//! time, and so may have the same place: the number may be taken modulo the width of those limits. Where that width is 1 the
//! same holds for the next loop and the next number.
//!
//! Guarantee: this is said only of spaces that nothing reads behind the chain, all elements of which that the chain reads
//! have been written by a loop in front of that one, and all accesses to which are in loops that are one and run one
//! iteration after the other, but for iterations of the outermost one that run in parallel and access no element in common.

use crate::code::Expression;
use crate::isl::{Extreme, Map, Result, Set};
use crate::loops;
use crate::model::{Access, Mode};
use crate::notation;
use crate::order::{Group, Order, Piece, Steps};
use crate::{dependences, legality};

/// A temporary space of which some is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The number of the space.
    pub space: usize,
    /// Its numbers, the outermost first.
    pub numbers: Vec<Number>,
    /// Whether a parallel loop is around, each iteration of which needs what there is for it alone: each thread has its own.
    pub is_private: bool,
}

/// A number of the elements of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The least one that is accessed. Where nothing is, it may be larger than the last one.
    pub first: Expression,
    /// The largest one that is accessed.
    pub last: Expression,
    /// So many values are enough: those that differ by a multiple of it have the same place.
    pub period: Option<i64>,
}

/// Which spaces need less than they have.
pub fn buffers(order: &Order) -> Result<Vec<Buffer>> {
    let mut all = Vec::new();
    for (space, described) in order.chain.spaces.iter().enumerate() {
        if !described.is_local
            || described.rank == 0
            || !is_written_before_it_is_read(order, space)?
        {
            continue;
        }
        let Some((periods, is_private)) = periods(order, space)? else {
            continue;
        };
        if periods.iter().all(Option::is_none) {
            continue;
        }
        let number = |(at, period)| {
            let (first, last) = extent(order, space, at)?;
            Ok(Number {
                first,
                last,
                period,
            })
        };
        let numbers = periods.into_iter().enumerate().map(number);
        all.push(Buffer {
            space,
            numbers: numbers.collect::<Result<_>>()?,
            is_private,
        });
    }
    Ok(all)
}

/// What accesses to a space there are, with their nests.
fn accesses<'o>(order: &'o Order, space: usize) -> impl Iterator<Item = (usize, &'o Access)> {
    let nests = order.chain.nests.iter().enumerate();
    let all =
        nests.flat_map(|(number, nest)| nest.accesses.iter().map(move |access| (number, access)));
    all.filter(move |(_, access)| access.space == space)
}

/// The elements that an access is to.
fn elements(order: &Order, nest: usize, access: &Access) -> Result<Set> {
    let map = Map::read(&order.isl, &dependences::text(order.chain, nest, access))?;
    map.targets()
}

fn is_written_before_it_is_read(order: &Order, space: usize) -> Result<bool> {
    for (nest, access) in accesses(order, space) {
        let numbers = access.index.as_ref().map_or(0, Vec::len);
        if numbers != order.chain.spaces[space].rank {
            return Ok(false);
        }
        if access.mode == Mode::Write {
            continue;
        }
        let mut missing = elements(order, nest, access)?;
        for (earlier, write) in accesses(order, space) {
            let is_before = earlier < nest && write.mode == Mode::Write && write.must;
            if is_before {
                missing = missing.subtract(elements(order, earlier, write)?)?;
            }
        }
        if !missing.is_empty()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How many values of each number are enough, and whether that is so in each iteration of a parallel loop; None where there is
/// no order in which that can be said.
fn periods(order: &Order, space: usize) -> Result<Option<(Vec<Option<i64>>, bool)>> {
    let is_accessed = |group: &&Group| {
        let nests = group.nests();
        accesses(order, space).any(|(nest, _)| nests.contains(&nest))
    };
    let groups: Vec<_> = order.groups.iter().filter(is_accessed).collect();
    let [group] = groups[..] else {
        return Ok(None);
    };
    let is_parallel = match group.walk.what {
        Steps::Serial => false,
        Steps::Parallel => true,
        _ => return Ok(None),
    };
    let rank = order.chain.spaces[space].rank;
    let mut periods = vec![None; rank];
    for (at, period) in periods.iter_mut().enumerate().take(group.depth) {
        let most = reach(order, group, space, at, "")?;
        let least = reach(order, group, space, at, "-")?;
        let (Some(most), Some(least)) = (most, least) else {
            break;
        };
        let width = most + least + 1;
        if is_parallel && at == 0 && width != 1 {
            break;
        }
        *period = Some(width);
        if width != 1 {
            break;
        }
    }
    Ok(Some((periods, is_parallel)))
}

/// By how much the number of an element is more than the coordinate at which it is accessed, at most, or less (`-`).
fn reach(order: &Order, group: &Group, space: usize, at: usize, sign: &str) -> Result<Option<i64>> {
    let mut most = None;
    for (nest, access) in accesses(order, space) {
        let part = group
            .parts
            .iter()
            .find(|part| matches!(part.piece, Piece::Nest(number) if number == nest));
        let number = access.index.as_ref().and_then(|index| index.get(at));
        let (Some(part), Some(number)) = (part, number) else {
            return Ok(None);
        };
        let more = number.less(&legality::coordinate(order, part, nest, at));
        let nest = &order.chain.nests[nest];
        let mut conditions = notation::known(order.chain);
        conditions.extend(notation::domain(nest));
        conditions.push(format!("c = {sign}({})", notation::affine(&more, "i")));
        let text = notation::exists(order.chain, "c", nest.bounds.len(), &conditions);
        most = match Set::read(&order.isl, &text)?.largest(0)? {
            Extreme::Empty => most,
            Extreme::Is(more) => Some(most.map_or(more, |known: i64| known.max(more))),
            Extreme::Unbounded => return Ok(None),
        };
    }
    Ok(most)
}

/// The least and the largest number that is accessed.
fn extent(order: &Order, space: usize, at: usize) -> Result<(Expression, Expression)> {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for (nest, access) in accesses(order, space) {
        let Some(number) = access.index.as_ref().and_then(|index| index.get(at)) else {
            continue;
        };
        let (least, largest) = loops::ends(order, nest, number)?;
        first.push(least);
        last.push(largest);
    }
    Ok((Expression::least(first), Expression::largest(last)))
}
