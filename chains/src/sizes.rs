//! Up to which size it pays to run a chain otherwise than `choice` has it: the same loops are one, on one
//! thread, with temporary spaces as they are.
//!
//! A region of threads costs what it costs, however little there is to do (`REGION`). Where a space has less memory than it had,
//! more is computed at the beginning of each row, which is what is inside of the loops that nests share (`ROW`); in exchange
//! its elements are written to no cache. So where rows are short the one is more than the other; but where what a chain accesses
//! does not fit into the second cache it has to be less. What an iteration costs is counted in instructions. Where that is not
//! known, as of loops in it, beginnings count for little.
//!
//! Where extents are constants this is decided here. Where they are not, and where both may be so, an order has a second one
//! and what says which: nothing here decides what is right.

use crate::choice::{BYTES, CACHES, REGION};
use crate::code::{Code, Condition, Expression};
use crate::isl::Result;
use crate::model::{Bounds, Nest};
use crate::order::{Group, Order};
use crate::plan::Plan;

/// What it costs more to begin a row of a nest that uses a buffer, in bytes of memory: some 150 instructions, of which a core
/// runs three in a cycle.
const ROW: f64 = 160.0;
/// What an instruction of an iteration costs in loops that are vectorised, as it is seen before.
const INSTRUCTION: f64 = 0.25;
/// A limit below this one for rows is not worth the code.
const SHORTEST: i64 = 16;
/// An extent that is small in any case.
const SMALL: i64 = 8;
/// An extent that is large in any case.
const LARGE: i64 = 1 << 14;
/// Extents count up to powers of 2 whose exponents have this sum: their products fit then.
const BITS: u32 = 48;
/// No exponent is larger.
const MOST_BITS: u32 = 24;
/// More dimensions than this are not looked at.
const MOST_DIMENSIONS: usize = 3;

/// What is known of what a chain costs, beside its model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Instructions of an iteration of each nest, but for those that count and compute addresses; nothing of one that has loops.
    pub instructions: Vec<Option<usize>>,
    /// Bytes of an element of each space, where that is known.
    pub elements: Vec<Option<i64>>,
    /// Whether all of it runs on one thread, whatever the order is.
    pub is_alone: bool,
}

/// What is run where a chain is small: the same loops are one, on one thread, without buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Small {
    /// Where that is.
    pub limits: Limits,
    /// The loops.
    pub code: Code,
    /// As in a [`Plan`].
    pub independent: Vec<usize>,
}

/// Up to which size a chain is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Elements of a row, where rows cost something.
    pub row: Option<i64>,
    /// Iterations of all nests together.
    pub all: i64,
    /// The same where threads are to be given something to do.
    pub shared: Option<i64>,
    /// Whether the first two hold: a question to the chain's own parameters.
    pub is_small: Condition,
    /// Whether the third one does.
    pub is_little: Condition,
}

/// Loops, and how many iterations they have together at most.
struct Asked<'a>(Vec<&'a [Bounds]>, i64);

impl Asked<'_> {
    fn condition(&self) -> Option<Condition> {
        let volumes: Option<Vec<_>> = self.0.iter().map(|bounds| volume(bounds)).collect();
        let most = Expression::Constant(self.1);
        Some(Condition::AtLeast(most, total(volumes?)))
    }

    /// Whether it holds where each extent that is not known is this one.
    fn holds(&self, unknown: i64) -> bool {
        let volume = |bounds: &&[Bounds]| {
            let extents = bounds.iter().map(|one| extent(one, unknown) as f64);
            extents.product::<f64>()
        };
        self.0.iter().map(volume).sum::<f64>() <= self.1 as f64
    }
}

/// Up to which size an order whose loops have become these groups is to run otherwise; nothing where that is not known, or
/// makes no difference.
pub(crate) fn limits(
    order: &Order,
    groups: &[Group],
    plan: &Plan,
    costs: &Costs,
) -> Option<Limits> {
    let nests = &order.chain.nests;
    let has_many = |nest: &Nest| nest.bounds.len() > MOST_DIMENSIONS;
    if nests.iter().any(has_many) || groups.iter().all(|group| group.parts.len() < 2) {
        return None;
    }
    let instructions: Option<usize> = costs.instructions.iter().copied().sum();
    let each = INSTRUCTION * instructions?.max(1) as f64 / nests.len() as f64;
    let rows = groups.iter().filter_map(|group| {
        let most = most_of_row(group, plan, costs)?;
        let bounds = &nests[group.first_nest()].bounds;
        Some(Asked(vec![&bounds[group.depth.min(bounds.len())..]], most))
    });
    let mut small: Vec<_> = rows.collect();
    let row = small.iter().map(|one| one.1).min();
    let regions = match costs.is_alone {
        true => 0,
        false => regions(&plan.code),
    };
    if row.is_some_and(|row| row < SHORTEST) || row.is_none() && regions == 0 {
        return None;
    }
    let spaces = 0..order.chain.spaces.len();
    let spaces = spaces.filter(|&space| order.chain.spaces[space].rank > 0);
    let bytes: f64 = spaces.map(|space| bytes_of(costs, space)).sum();
    let all = CACHES[1].0 * nests.len() as f64 / bytes.max(BYTES);
    let all_nests: Vec<_> = nests.iter().map(|nest| &nest.bounds[..]).collect();
    small.push(Asked(all_nests.clone(), all as i64));
    let little = (regions > 0).then(|| Asked(all_nests, (regions as f64 * REGION / each) as i64));

    let conditions = small.iter().map(Asked::condition);
    let is_small = Condition::all(conditions.collect::<Option<_>>()?);
    let is_little = match &little {
        Some(little) => little.condition()?,
        None => Condition::Constant(true),
    };
    // Both are plausible, or nothing has to be asked.
    let holds = |unknown| small.iter().chain(&little).all(|one| one.holds(unknown));
    let both = Condition::all(vec![is_small.clone(), is_little.clone()]);
    let is_so = match both.holds(&[], &[]) {
        Some(answer) => answer,
        None => holds(SMALL) && !holds(LARGE),
    };
    is_so.then(|| Limits {
        row,
        all: all as i64,
        shared: little.map(|little| little.1),
        is_small,
        is_little,
    })
}

/// The iterations of a loop, or so many where that is not known.
fn extent(bounds: &Bounds, unknown: i64) -> i64 {
    match Expression::of(&bounds.last.less(&bounds.first), &[]) {
        Expression::Constant(more) => more.saturating_add(1).max(0),
        _ => unknown,
    }
}

/// How many elements a row of nests that have become one has at most where what stands at its beginning costs more than is
/// saved; nothing where nothing stands there.
fn most_of_row(group: &Group, plan: &Plan, costs: &Costs) -> Option<i64> {
    let nests = group.nests();
    let kept = plan.buffers.iter();
    let kept = kept.filter(|buffer| buffer.nests.iter().any(|nest| nests.contains(nest)));
    let uses = |nest: &usize| kept.clone().any(|buffer| buffer.nests.contains(nest));
    let users = nests.iter().filter(|nest| uses(nest)).count();
    // It is written, and what is written is read before.
    let written: f64 = kept
        .clone()
        .map(|buffer| 2.0 * bytes_of(costs, buffer.space))
        .sum();
    let saved = written * (CACHES[1].1 - CACHES[0].1);
    (users > 0).then(|| (ROW * users as f64 / saved) as i64)
}

fn bytes_of(costs: &Costs, space: usize) -> f64 {
    let known = costs.elements.get(space).copied().flatten();
    known.map_or(BYTES, |bytes| bytes as f64)
}

/// How often threads are given something to do.
fn regions(code: &Code) -> usize {
    match code {
        Code::Sequence(all) => all.iter().map(regions).sum(),
        Code::For(one) if one.is_parallel => 1,
        Code::For(one) => regions(&one.body),
        Code::If(one) => {
            let otherwise = one.otherwise.as_ref().map_or(0, regions);
            regions(&one.then).max(otherwise)
        }
        Code::Run { .. } => 0,
    }
}

/// How many iterations loops have, where that does not depend on those around; as many as can be multiplied.
fn volume(bounds: &[Bounds]) -> Option<Expression> {
    let most = 1_i64 << (BITS / bounds.len().max(1) as u32).min(MOST_BITS);
    let extent = |bounds: &Bounds| {
        let count = bounds.last.less(&bounds.first);
        if count.iterators.iter().any(|&factor| factor != 0) {
            return None;
        }
        let count = Expression::sum(Expression::of(&count, &[]), Expression::Constant(1));
        Some(match count {
            Expression::Constant(count) => Expression::Constant(count.clamp(0, most)),
            count => {
                let constant = Expression::Constant;
                Expression::Largest(vec![
                    constant(0),
                    Expression::Least(vec![constant(most), count]),
                ])
            }
        })
    };
    let extents: Option<Vec<_>> = bounds.iter().map(extent).collect();
    let one = Expression::Constant(1);
    Some(extents?.into_iter().fold(one, Expression::product))
}

/// The sum of numbers, each of which is computed once.
fn total(numbers: Vec<Expression>) -> Expression {
    let mut counted: Vec<(Expression, i64)> = Vec::new();
    for number in numbers {
        match counted.iter_mut().find(|known| known.0 == number) {
            Some(known) => known.1 += 1,
            None => counted.push((number, 1)),
        }
    }
    let products = counted
        .into_iter()
        .map(|(number, times)| Expression::product(Expression::Constant(times), number));
    products.fold(Expression::Constant(0), Expression::sum)
}

/// The second order of a chain that has been chosen; nothing where there is none.
pub(crate) fn small(order: &mut Order, plan: &Plan, costs: &Costs) -> Result<Option<Small>> {
    let Some(limits) = limits(order, order.fused(), plan, costs) else {
        return Ok(None);
    };
    let plain = order.plan_of_fused()?;
    Ok(Some(Small {
        limits,
        code: plain.code,
        independent: plain.independent,
    }))
}
