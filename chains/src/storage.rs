//! How much of a temporary space is needed at a time.
//!
//! While the outermost loop of a group has one value, elements of a space are accessed whose first numbers are some more or
//! less than it, in fixed limits. Two elements whose first numbers differ by more than that are never needed at the same
//! time, and so may have the same place: the number may be taken modulo the width of those limits. Where that width is 1 the
//! same holds for the next loop and the next number. Of tiles, the width is as much larger as a tile is.
//!
//! A space that is used for one thing after another is several (`Versions`): each of them has all written that is read of
//! it. Where an order relies on that, each but one has a buffer.
//!
//! Guarantee: this is said only of spaces that nothing reads behind the chain, all elements of which that the chain writes
//! and reads have been written by a loop in front of that one, and all accesses to which are in loops that are one and run
//! one iteration after the other, but for iterations of parallel loops that access no element in common.

use crate::code::{Code, Expression, For};
use crate::isl::{Extreme, Isl, Map, Result, Set};
use crate::loops;
use crate::model::{Access, Affine, Chain, Mode, Nest};
use crate::notation;
use crate::order::{Group, Order, Piece, Size, Steps, Walk};
use crate::plan::Plan;
use crate::{dependences, legality};

/// A temporary space of which some is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The number of the space.
    pub space: usize,
    /// The nests that use it in place of the space: others have the space, or buffers of their own.
    pub nests: Vec<usize>,
    /// Whether the order is right only where it is used: otherwise whoever does not know of it is right as well.
    pub is_needed: bool,
    /// Its numbers, the outermost first.
    pub numbers: Vec<Number>,
    /// Whether only what is from the first to the last value of each number is in it: what is read elsewhere was there before
    /// the chain, which does not write it.
    pub is_bounded: bool,
    /// Whether a parallel loop is around, each iteration of which needs what there is for it alone: each thread has its own.
    pub is_private: bool,
    /// The variable of that loop; where it is not said, it is any parallel loop around, the outermost one. Elsewhere the space
    /// itself is used.
    pub within: Option<usize>,
}

/// A number of the elements of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The least one that is in the buffer. Where nothing is, it may be larger than the last one.
    pub first: Expression,
    /// The largest one that is.
    pub last: Expression,
    /// So many values are enough: those that differ by a multiple of it have the same place.
    pub period: Option<i64>,
}

/// A temporary space all of which is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The number of the space.
    pub space: usize,
    /// Why: a sentence that begins with "it".
    pub why: &'static str,
}

/// Which temporary spaces need less than they have, and which do not.
pub fn buffers(order: &Order) -> Result<(Vec<Buffer>, Vec<Whole>)> {
    let (mut all, mut whole) = (Vec::new(), Vec::new());
    for (space, described) in order.chain.spaces.iter().enumerate() {
        if !described.is_local || accesses(order, space).next().is_none() {
            continue;
        }
        match buffer(order, space)? {
            Ok(buffer) => all.push(buffer),
            Err(why) => whole.push(Whole { space, why }),
        }
    }
    Ok((all, whole))
}

/// What of a space is enough, or why that is all.
fn buffer(order: &Order, space: usize) -> Result<std::result::Result<Buffer, &'static str>> {
    if order.chain.spaces[space].rank == 0 {
        return Ok(Err("it is a single element"));
    }
    let bounds = match is_covered(&order.isl, order.chain, space, 0)? {
        true => None,
        false => match bounds(order, space)? {
            Some(bounds) => Some(bounds),
            None => {
                return Ok(Err(
                    "it is not known that all that is read of it is written before in this chain",
                ));
            }
        },
    };
    let (periods, is_private) = match periods(order, space)? {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    if periods.iter().all(Option::is_none) {
        return Ok(Err("all of it is needed at a time in this order"));
    }
    let number = |(at, period): (usize, _)| {
        let (first, last) = match &bounds {
            Some(bounds) => bounds[at].clone(),
            None => extent(order, space, at)?,
        };
        Ok(Number {
            first,
            last,
            period,
        })
    };
    let numbers = periods.into_iter().enumerate().map(number);
    let mut nests: Vec<_> = accesses(order, space).map(|one| one.0).collect();
    nests.dedup();
    Ok(Ok(Buffer {
        space,
        nests,
        is_needed: false,
        numbers: numbers.collect::<Result<_>>()?,
        is_bounded: bounds.is_some(),
        is_private,
        within: None,
    }))
}

/// From where to where all of a space is written, if that is known without a look at iterations, and if what is read of it
/// there has been written, by a loop in front of the one that reads it.
pub(crate) fn bounds(order: &Order, space: usize) -> Result<Option<Vec<(Expression, Expression)>>> {
    let mut known: Option<Vec<(Affine, Affine)>> = None;
    for (nest, access) in accesses(order, space) {
        match access.mode {
            Mode::Read => continue,
            Mode::Write if access.must => {}
            _ => return Ok(None),
        }
        let Some(written) = box_of(&order.chain.nests[nest], access) else {
            return Ok(None);
        };
        if known.get_or_insert_with(|| written.clone()) != &written {
            return Ok(None);
        }
    }
    let Some(known) = known else {
        return Ok(None);
    };
    let rank = order.chain.spaces[space].rank;
    let elements = |nest, access| {
        let map = Map::read(&order.isl, &dependences::text(order.chain, nest, access))?;
        map.targets()
    };
    for (nest, access) in accesses(order, space) {
        if access.index.as_ref().map_or(0, Vec::len) != rank {
            return Ok(None);
        }
        if access.mode != Mode::Read {
            continue;
        }
        let mut missing = elements(nest, access)?;
        let writes = || accesses(order, space).filter(|(_, one)| one.mode == Mode::Write);
        for (earlier, write) in writes().filter(|(earlier, _)| *earlier < nest) {
            missing = missing.subtract(elements(earlier, write)?)?;
        }
        for (writer, write) in writes() {
            if !missing
                .clone()
                .intersect(elements(writer, write)?)?
                .is_empty()?
            {
                return Ok(None);
            }
        }
    }
    let of = |one: &Affine| Expression::of(one, &[]);
    let ends = known.iter().map(|(first, last)| (of(first), of(last)));
    Ok(Some(ends.collect()))
}

/// From where to where the elements are that an access of a nest is to, where it is to all of them.
fn box_of(nest: &Nest, access: &Access) -> Option<Vec<(Affine, Affine)>> {
    let is_fixed = |one: &Affine| one.iterators.iter().all(|factor| *factor == 0);
    let index = access.index.as_ref()?;
    let mut seen = vec![false; nest.bounds.len()];
    let mut all = Vec::new();
    for number in index {
        let mut factors = number
            .iterators
            .iter()
            .enumerate()
            .filter(|one| *one.1 != 0);
        let (Some((level, 1)), None) = (factors.next(), factors.next()) else {
            return None;
        };
        let bounds = &nest.bounds[level];
        if seen[level] || !is_fixed(&bounds.first) || !is_fixed(&bounds.last) {
            return None;
        }
        seen[level] = true;
        let more = number.less(&Affine::iterator(level, 0));
        let plain = |one: &Affine| Affine {
            iterators: Vec::new(),
            ..one.plus(&more)
        };
        all.push((plain(&bounds.first), plain(&bounds.last)));
    }
    // Where one of its loops has no iterations, nothing is written.
    seen.into_iter().all(|one| one).then_some(all)
}

/// What accesses to a space there are, with their nests.
fn accesses<'o>(order: &'o Order, space: usize) -> impl Iterator<Item = (usize, &'o Access)> {
    let nests = order.chain.nests.iter().enumerate();
    let all =
        nests.flat_map(|(number, nest)| nest.accesses.iter().map(move |access| (number, access)));
    all.filter(move |(_, access)| access.space == space)
}

/// Iterations follow each other by these: coordinates, or tiles of them, the outermost first.
struct Step {
    coordinate: usize,
    size: Option<Size>,
    is_parallel: bool,
}

/// What the iterations of a walk follow each other by; None where that is no such thing.
fn steps(walk: &Walk, depth: usize) -> Option<Vec<Step>> {
    let is_parallel = match &walk.what {
        Steps::Serial => false,
        Steps::Parallel => true,
        // Those have buffers that they need.
        Steps::Wavefront(_) | Steps::Blocks(_) | Steps::Overlap(_) => return None,
        Steps::Tiled(sizes, over, within) => {
            let mut all = steps(over, sizes.len())?;
            for step in &mut all {
                // Tiles of tiles are no tiles of coordinates.
                if step.size.replace(sizes[step.coordinate]).is_some() {
                    return None;
                }
            }
            all.extend(steps(within, depth)?);
            // Rows of one tile after those of another one are just rows one after the other.
            let is_plain = |step: &Step| step.coordinate == 0 && !step.is_parallel;
            if sizes.len() == 1 && is_plain(&all[0]) && all[1].size.is_none() && is_plain(&all[1]) {
                all.remove(0);
            }
            return Some(all);
        }
    };
    let step = |coordinate| Step {
        coordinate,
        size: None,
        is_parallel: is_parallel && coordinate == 0,
    };
    Some((0..depth).map(step).collect())
}

/// Of each number, how many values are enough, and whether that is so in each iteration of a parallel loop; or why nothing can
/// be said.
type Periods = std::result::Result<(Vec<Option<i64>>, bool), &'static str>;

fn periods(order: &Order, space: usize) -> Result<Periods> {
    let is_accessed = |group: &&Group| {
        let nests = group.nests();
        accesses(order, space).any(|(nest, _)| nests.contains(&nest))
    };
    let groups: Vec<_> = order.groups.iter().filter(is_accessed).collect();
    let [group] = groups[..] else {
        return Ok(Err("it is used in loops that do not become one"));
    };
    let Some(steps) = steps(&group.walk, group.depth) else {
        return Ok(Err("threads would have to share it"));
    };
    let combines = |(_, access): (usize, &Access)| matches!(access.mode, Mode::Reduce(_));
    let mut periods = vec![None; order.chain.spaces[space].rank];
    let mut is_private = false;
    // Whether all that is accessed at one place is accessed at one value of each step so far.
    let mut is_confined = true;
    for step in steps {
        let at = step.coordinate;
        if !is_confined {
            // Threads would have to share it.
            if step.is_parallel {
                return Ok(Err("threads would have to share it"));
            }
            continue;
        }
        if step.is_parallel {
            // Nothing that depends on each other is in two iterations of a parallel loop, but for what is combined.
            if accesses(order, space).any(combines) {
                return Ok(Err("threads would have to share it"));
            }
            is_private = true;
        }
        let width = match at < periods.len() {
            true => width(order, group, space, at)?,
            false => None,
        };
        match (step.size, width) {
            (None, Some(1)) => periods[at] = Some(1),
            // What is in a tile is in no other one.
            (Some(Size::Constant(size)), Some(1)) => periods[at] = Some(size),
            (Some(Size::Parameter(_)), Some(1)) => {}
            _ if step.is_parallel => {}
            (None, width) => {
                if let Some(period) = periods.get_mut(at) {
                    *period = width;
                }
                is_confined = false;
            }
            (Some(Size::Constant(size)), Some(width)) => {
                periods[at] = (width - 1).checked_add(size);
                is_confined = false;
            }
            (Some(_), _) => is_confined = false,
        }
    }
    Ok(Ok((periods, is_private)))
}

/// How many values of a number are accessed while a coordinate has one value.
pub(crate) fn width(order: &Order, group: &Group, space: usize, at: usize) -> Result<Option<i64>> {
    let most = reach(order, group, space, at, "")?;
    let least = reach(order, group, space, at, "-")?;
    Ok(most.zip(least).and_then(|(most, least)| {
        let width = most.checked_add(least)?.checked_add(1)?;
        (width >= 1).then_some(width)
    }))
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
pub(crate) fn extent(order: &Order, space: usize, at: usize) -> Result<(Expression, Expression)> {
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

/// A chain in which spaces that are used for one thing after another are several.
pub(crate) struct Versions {
    /// The chain. Its first spaces are those of the one that it was made of.
    pub chain: Chain,
    /// Which space of that each of the others is.
    of: Vec<usize>,
}

impl Versions {
    /// Of a chain. A space begins anew at a nest that writes it, where all that is read of it from there on is written from
    /// there on, too.
    pub fn of(isl: &Isl, chain: &Chain) -> Result<Self> {
        let mut all = Self {
            chain: chain.clone(),
            of: (0..chain.spaces.len()).collect(),
        };
        for (space, described) in chain.spaces.iter().enumerate() {
            if !described.is_local || described.rank == 0 {
                continue;
            }
            let its = |nest: usize| {
                let accesses = chain.nests[nest].accesses.iter();
                accesses.filter(move |access| access.space == space)
            };
            let writes = |nest: usize| its(nest).any(|one| one.mode == Mode::Write && one.must);
            let mut users = (0..chain.nests.len()).filter(|&nest| its(nest).next().is_some());
            let first = users.next();
            let begins = |nest: usize| -> Result<bool> {
                Ok(writes(nest) && is_covered(isl, chain, space, nest)?)
            };
            let Some(first) = first else { continue };
            if !begins(first)? {
                continue;
            }
            let mut version = space;
            for nest in first + 1..chain.nests.len() {
                if begins(nest)? {
                    version = all.chain.spaces.len();
                    all.chain.spaces.push(described.clone());
                    all.of.push(space);
                }
                let accesses = all.chain.nests[nest].accesses.iter_mut();
                for access in accesses.filter(|access| access.space == space) {
                    access.space = version;
                }
            }
        }
        let may_overlap = |one: usize, other: usize| {
            let pair = (all.of[one], all.of[other]);
            let mut pairs = chain.may_overlap.iter();
            pairs.any(|&known| known == pair || (known.1, known.0) == pair)
        };
        let count = all.of.len();
        let pairs = (0..count).flat_map(|other| (0..other).map(move |one| (one, other)));
        all.chain.may_overlap = pairs.filter(|pair| may_overlap(pair.0, pair.1)).collect();
        Ok(all)
    }

    /// Whether no space is several.
    pub fn is_plain(&self) -> bool {
        self.of.iter().enumerate().all(|(space, of)| space == *of)
    }

    /// Where several of one space have no buffer in an order that is there for all their accesses, they are one again; otherwise
    /// all is well.
    pub fn settle(&mut self, plan: &Plan) -> bool {
        let mut is_settled = true;
        let mut first = vec![None; self.of.len()];
        for space in 0..self.of.len() {
            let mut buffers = plan.buffers.iter();
            if buffers.any(|buffer| buffer.space == space && is_there(&plan.code, buffer)) {
                continue;
            }
            let is_used = |nest: &Nest| nest.accesses.iter().any(|one| one.space == space);
            if !self.chain.nests.iter().any(is_used) {
                continue;
            }
            let Some(into) = first[self.of[space]] else {
                first[self.of[space]] = Some(space);
                continue;
            };
            is_settled = false;
            let nests = self.chain.nests.iter_mut();
            let accesses = nests.flat_map(|nest| nest.accesses.iter_mut());
            for access in accesses.filter(|access| access.space == space) {
                access.space = into;
            }
        }
        is_settled
    }

    /// A plan of it, as one of the chain that it was made of.
    pub fn of_original(&self, mut plan: Plan) -> Plan {
        let is_several = |of: usize| {
            let used = |space: usize| {
                let mut accesses = self.chain.nests.iter().flat_map(|nest| &nest.accesses);
                accesses.any(|one| one.space == space)
            };
            (0..self.of.len())
                .filter(|&space| self.of[space] == of && used(space))
                .count()
                > 1
        };
        for one in &mut plan.whole {
            one.space = self.of[one.space];
        }
        plan.whole.dedup_by_key(|one| one.space);
        for buffer in &mut plan.buffers {
            buffer.space = self.of[buffer.space];
            buffer.is_needed |= is_several(buffer.space);
        }
        self.rename(&mut plan.code);
        plan
    }

    fn rename(&self, code: &mut Code) {
        match code {
            Code::Sequence(all) => all.iter_mut().for_each(|one| self.rename(one)),
            Code::For(one) => {
                one.combines
                    .iter_mut()
                    .for_each(|space| *space = self.of[*space]);
                self.rename(&mut one.body);
            }
            Code::If(one) => {
                self.rename(&mut one.then);
                one.otherwise.iter_mut().for_each(|one| self.rename(one));
            }
            Code::Run { .. } => {}
        }
    }
}

/// Whether a buffer is there wherever the nests that use it are run.
fn is_there(code: &Code, buffer: &Buffer) -> bool {
    let has_it = |one: &For| {
        let is_its = buffer.within.is_none_or(|its| its == one.variable);
        one.is_parallel && is_its
    };
    match code {
        _ if !buffer.is_private => true,
        Code::Sequence(all) => all.iter().all(|one| is_there(one, buffer)),
        Code::For(one) => has_it(one) || is_there(&one.body, buffer),
        Code::If(one) => {
            let mut both = [Some(&one.then), one.otherwise.as_ref()]
                .into_iter()
                .flatten();
            both.all(|one| is_there(one, buffer))
        }
        Code::Run { nest, .. } => !buffer.nests.contains(nest),
    }
}

/// Whether all that is read of a space from a nest on has been written from there on, in nests in front of the one that
/// reads it.
pub(crate) fn is_covered(isl: &Isl, chain: &Chain, space: usize, from: usize) -> Result<bool> {
    let its = |nest: usize| {
        let accesses = chain.nests[nest].accesses.iter();
        accesses.filter(move |access| access.space == space)
    };
    let elements =
        |nest, access| Map::read(isl, &dependences::text(chain, nest, access))?.targets();
    for nest in from..chain.nests.len() {
        for access in its(nest) {
            let numbers = access.index.as_ref().map_or(0, Vec::len);
            if numbers != chain.spaces[space].rank {
                return Ok(false);
            }
            if access.mode == Mode::Write {
                continue;
            }
            let mut missing = elements(nest, access)?;
            for earlier in from..nest {
                let writes = its(earlier).filter(|one| one.mode == Mode::Write && one.must);
                for write in writes {
                    missing = missing.subtract(elements(earlier, write)?)?;
                }
            }
            if !missing.is_empty()? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
