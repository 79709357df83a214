//! In which order the iterations of a chain run.

use crate::code::{Code, Condition, Expression, For};
use crate::isl::{Failed, Isl};
use crate::model::{Affine, Chain, Nest};
use crate::order::{Manner, Order, Size, Way};
use crate::pragma::{Item, Number, Position, Tile, What};
use crate::sizes::{self, Costs, Small};
use crate::storage::{Buffer, Versions, Whole};

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The loops. Its parameters are those of the chain.
    pub code: Code,
    /// Where this holds the order is right; where it does not, the order in which the chain is written is.
    pub requires: Condition,
    /// Temporary spaces of which less is enough in this order. Whoever does not know that is right as well, but for those that
    /// are needed.
    pub buffers: Vec<Buffer>,
    /// Temporary spaces of which all is needed.
    pub whole: Vec<Whole>,
    /// The parameter that is how many threads share the loops that are parallel, where that is asked for: it is behind those of
    /// the chain.
    pub threads: Option<usize>,
    /// Nests no iteration of whose innermost loop depends on another one of the same turn of the loops around, by the spaces
    /// themselves; of buffers, where these keep all of what that loop goes along.
    pub independent: Vec<usize>,
    /// Variables of loops that run iterations of several nests, which depend on each other only where they are in one iteration
    /// of it.
    pub joined: Vec<usize>,
    /// What is run in its place where the chain is small.
    pub small: Option<Small>,
}

/// Why an order cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What of the schedule cannot.
    pub at: Position,
    /// Why: a sentence for the programmer, without the position.
    pub why: String,
    /// Whether the programmer has to write something else. Otherwise the order could not be worked out, and the loops may
    /// run as they are written.
    pub is_illegal: bool,
}

impl Refused {
    pub(crate) fn illegal(at: Position, why: String) -> Self {
        Self {
            at,
            why,
            is_illegal: true,
        }
    }

    pub(crate) fn failed(at: Position, failed: Failed) -> Self {
        let why = match failed {
            Failed::Missing => {
                "libisl.so.23 is not installed (Debian's package libisl23): the loops stay in the order in which they are written"
            }
            Failed::Operations => {
                "this schedule takes too long to work out: the loops stay in the order in which they are written"
            }
            Failed::Error => {
                "isl has no answer for this schedule: the loops stay in the order in which they are written"
            }
        };
        Self {
            at,
            why: why.to_string(),
            is_illegal: false,
        }
    }
}

/// The order that a schedule asks for. `values` says which parameters of the chain are the values that the schedule names.
pub fn plan(chain: &Chain, schedule: &[Item], values: &[usize]) -> Result<Plan, Refused> {
    plan_by_size(chain, schedule, values, None)
}

/// The same; where costs are known, one that is chosen may be another one where the chain is small.
pub fn plan_by_size(
    chain: &Chain,
    schedule: &[Item],
    values: &[usize],
    costs: Option<&Costs>,
) -> Result<Plan, Refused> {
    if schedule.is_empty() || chain.nests.is_empty() {
        return Ok(as_written(chain));
    }
    if !chain.spaces.iter().any(|space| space.is_local) {
        return plan_of(chain, schedule, values, costs);
    }
    let versions = Isl::new().and_then(|isl| Versions::of(&isl, chain));
    let Ok(mut versions) = versions else {
        return plan_of(chain, schedule, values, costs);
    };
    while !versions.is_plain() {
        // Without buffers for what is several there is no other order of it.
        match plan_of(&versions.chain, schedule, values, None) {
            Ok(plan) if versions.settle(&plan) => return Ok(versions.of_original(plan)),
            Ok(_) => {}
            // What is said of it is said of the spaces that the programmer knows.
            Err(_) => break,
        }
    }
    plan_of(chain, schedule, values, costs)
}

/// The order of a chain all of whose spaces are what they are.
fn plan_of(
    chain: &Chain,
    schedule: &[Item],
    values: &[usize],
    costs: Option<&Costs>,
) -> Result<Plan, Refused> {
    let Some(first) = schedule.first() else {
        return Ok(as_written(chain));
    };
    let failed = |at| move |failed| Refused::failed(at, failed);
    let mut order = Order::new(chain).map_err(failed(first.at))?;
    let mut last = first.at;
    for item in schedule {
        last = item.at;
        match &item.what {
            What::Auto if schedule.len() > 1 => {
                let why = "`auto` stands alone in a schedule".to_string();
                return Err(Refused::illegal(item.at, why));
            }
            What::Auto => match order.choose(item.at) {
                Ok(()) => {}
                Err(refused) if refused.is_illegal => return Err(refused),
                // There are too many loops for a choice.
                Err(_) => return in_parallel(chain),
            },
            What::Fuse(shifts) => {
                let number = |&number: &Number| affine(item.at, number, values);
                let shift =
                    |shift: &Vec<Number>| shift.iter().map(number).collect::<Result<Vec<_>, _>>();
                let shifts = shifts
                    .as_ref()
                    .map(|shifts| shifts.iter().map(shift).collect::<Result<Vec<_>, _>>());
                let shifts = shifts.transpose()?;
                // Shifts of less than all loops are of the outer ones, which alone become one.
                let depth = shifts.as_ref().and_then(|shifts| {
                    let depth = shifts.first()?.len();
                    let is_so = |shift: &Vec<Affine>| shift.len() == depth;
                    let is_less = |nest: &Nest| nest.bounds.len() > depth;
                    let is_outer = shifts.iter().all(is_so) && chain.nests.iter().all(is_less);
                    (depth > 0 && is_outer).then_some(depth)
                });
                order.fuse(item.at, 0..order.groups(), shifts.as_deref(), depth)?;
            }
            What::Tile(tile) if tile.overlaps => {
                let sizes = sizes(item.at, tile, values)?;
                if item.at != schedule[schedule.len() - 1].at {
                    let why = "tiles that overlap are the last item of a schedule".to_string();
                    return Err(Refused::illegal(item.at, why));
                }
                if (&tile.over.what, &tile.within.what) != (&What::Parallel, &What::Serial) {
                    let why = "tiles that overlap run in parallel, and what is in them does not: write `parallel, serial`";
                    return Err(Refused::illegal(item.at, why.to_string()));
                }
                for group in 0..order.groups() {
                    order.overlap(item.at, group, &sizes)?;
                }
            }
            _ => {
                let manner = manner(item, values)?;
                for group in 0..order.groups() {
                    order.set(group, &manner)?;
                }
            }
        }
    }
    let plan = order.plan().map_err(failed(last))?;
    let Some(costs) = costs.filter(|_| schedule.iter().any(|item| item.what == What::Auto)) else {
        return Ok(plan);
    };
    // Where a second order cannot be worked out, the first one is right as well.
    let small = sizes::small(&mut order, &plan, costs).unwrap_or(None);
    Ok(match small {
        Some(small) => plan.or_small(small),
        None => plan,
    })
}

impl Plan {
    /// The same where the chain may be small; what is run there alone if it is for sure.
    fn or_small(mut self, small: Small) -> Self {
        let limits = [&small.limits.is_small, &small.limits.is_little];
        if !limits.iter().all(|one| one.holds(&[], &[]) == Some(true)) {
            self.small = Some(small);
            return self;
        }
        let mut whole = self.whole;
        whole.extend(self.buffers.iter().map(|buffer| Whole {
            space: buffer.space,
            why: "the chain is so small that less memory would cost more than it saves",
        }));
        Self {
            code: small.code,
            requires: self.requires,
            buffers: Vec::new(),
            whole,
            threads: None,
            independent: small.independent,
            joined: Vec::new(),
            small: None,
        }
    }
}

fn value(at: Position, value: usize, values: &[usize]) -> Result<usize, Refused> {
    let known = values.get(value).copied();
    known.ok_or_else(|| Refused::illegal(at, "a value of this schedule is not known".to_string()))
}

fn affine(at: Position, number: Number, values: &[usize]) -> Result<Affine, Refused> {
    match number {
        Number::Constant(constant) => Ok(Affine::constant(constant)),
        Number::Value(number) => Ok(Affine::parameter(value(at, number, values)?)),
    }
}

fn sizes(at: Position, tile: &Tile, values: &[usize]) -> Result<Vec<Size>, Refused> {
    let size = |size: &Number| match *size {
        Number::Constant(size) => Ok(Size::Constant(size)),
        Number::Value(number) => Ok(Size::Parameter(value(at, number, values)?)),
    };
    tile.sizes.iter().map(size).collect()
}

fn manner(item: &Item, values: &[usize]) -> Result<Manner, Refused> {
    let what = match &item.what {
        What::Serial => Way::Serial,
        What::Parallel => Way::Parallel,
        What::Wavefront => Way::Wavefront,
        What::Tile(tile) if tile.overlaps => {
            let why = "tiles that overlap are in no others";
            return Err(Refused::illegal(item.at, why.to_string()));
        }
        What::Tile(tile) => {
            let sizes = sizes(item.at, tile, values)?;
            let (over, within) = (manner(&tile.over, values)?, manner(&tile.within, values)?);
            Way::Tile(sizes, over.into(), within.into())
        }
        What::Fuse(_) | What::Auto => {
            let why = "tiles, and what is in them, are `serial`, `parallel`, `wavefront` or `tile`";
            return Err(Refused::illegal(item.at, why.to_string()));
        }
    };
    Ok(Manner { at: item.at, what })
}

/// The order in which the loops are written, the outermost ones in parallel where that is legal: for what has more threads
/// than there are blocks of rows.
pub fn in_parallel(chain: &Chain) -> Result<Plan, Refused> {
    let failed = |failed| Refused::failed(Position::default(), failed);
    let mut order = Order::new(chain).map_err(failed)?;
    for group in 0..order.groups() {
        order.tried_parallel(Position::default(), group)?;
    }
    order.plan().map_err(failed)
}

/// The order in which the loops are written.
pub fn as_written(chain: &Chain) -> Plan {
    let nests = chain.nests.iter().enumerate().map(|(number, nest)| {
        let iteration: Vec<_> = (0..nest.bounds.len()).map(Expression::Variable).collect();
        let run = Code::Run {
            nest: number,
            iteration: iteration.clone(),
        };
        let loops = nest.bounds.iter().enumerate().rev();
        loops.fold(run, |body, (variable, bounds)| {
            Code::For(Box::new(For {
                variable,
                first: Expression::of(&bounds.first, &iteration),
                last: Expression::of(&bounds.last, &iteration),
                step: Expression::Constant(1),
                is_parallel: false,
                combines: Vec::new(),
                body,
            }))
        })
    });
    Plan {
        code: Code::Sequence(nests.collect()),
        requires: Condition::Constant(true),
        buffers: Vec::new(),
        whole: Vec::new(),
        threads: None,
        independent: Vec::new(),
        joined: Vec::new(),
        small: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_worked_out_is_no_mistake_of_the_programmer() {
        let of = |failed| Refused::failed(Position { line: 3, column: 4 }, failed);
        let stay = "the loops stay in the order in which they are written";
        for (failed, why) in [
            (
                Failed::Missing,
                "libisl.so.23 is not installed (Debian's package libisl23)",
            ),
            (
                Failed::Operations,
                "this schedule takes too long to work out",
            ),
            (Failed::Error, "isl has no answer for this schedule"),
        ] {
            let refused = of(failed);
            assert_eq!(refused.why, format!("{why}: {stay}"));
            assert!(!refused.is_illegal && refused.at.line == 3);
        }
    }
}
