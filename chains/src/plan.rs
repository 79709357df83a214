//! In which order the iterations of a chain run.

use crate::code::{Code, Condition, Expression, For};
use crate::isl::{Failed, Isl};
use crate::model::{Affine, Chain};
use crate::order::{Manner, Order, Size, Way};
use crate::pragma::{Item, Number, Position, What};
use crate::storage::{Buffer, Versions, Whole};

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The loops. Its parameters are those of the chain.
    pub code: Code,
    /// Where this holds the order is right; where it does not, the order in which the chain is written is.
    pub requires: Condition,
    /// Temporary spaces of which less is enough in this order. Whoever does not know that is right as well.
    pub buffers: Vec<Buffer>,
    /// Temporary spaces of which all is needed.
    pub whole: Vec<Whole>,
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
    if schedule.is_empty() || chain.nests.is_empty() {
        return Ok(as_written(chain));
    }
    if !chain.spaces.iter().any(|space| space.is_local) {
        return plan_of(chain, schedule, values);
    }
    let versions = Isl::new().and_then(|isl| Versions::of(&isl, chain));
    let Ok(mut versions) = versions else {
        return plan_of(chain, schedule, values);
    };
    while !versions.is_plain() {
        match plan_of(&versions.chain, schedule, values) {
            Ok(plan) if versions.settle(&plan.buffers) => return Ok(versions.of_original(plan)),
            Ok(_) => {}
            // What is said of it is said of the spaces that the programmer knows.
            Err(_) => break,
        }
    }
    plan_of(chain, schedule, values)
}

/// The order of a chain all of whose spaces are what they are.
fn plan_of(chain: &Chain, schedule: &[Item], values: &[usize]) -> Result<Plan, Refused> {
    let Some(first) = schedule.first() else {
        return Ok(as_written(chain));
    };
    let failed = |at| move |failed| Refused::failed(at, failed);
    let mut order = Order::new(chain).map_err(failed(first.at))?;
    let mut last = first.at;
    for item in schedule {
        last = item.at;
        match &item.what {
            What::Auto => order.choose(item.at)?,
            What::Fuse(shifts) => {
                let number = |&number: &Number| affine(item.at, number, values);
                let shift =
                    |shift: &Vec<Number>| shift.iter().map(number).collect::<Result<Vec<_>, _>>();
                let shifts = shifts
                    .as_ref()
                    .map(|shifts| shifts.iter().map(shift).collect::<Result<Vec<_>, _>>());
                let shifts = shifts.transpose()?;
                order.fuse(item.at, 0..order.groups(), shifts.as_deref(), None)?;
            }
            _ => {
                let manner = manner(item, values)?;
                for group in 0..order.groups() {
                    order.set(group, &manner)?;
                }
            }
        }
    }
    order.plan().map_err(failed(last))
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

fn manner(item: &Item, values: &[usize]) -> Result<Manner, Refused> {
    let what = match &item.what {
        What::Serial => Way::Serial,
        What::Parallel => Way::Parallel,
        What::Wavefront => Way::Wavefront,
        What::Tile(tile) if tile.overlaps => {
            let why = "tiles that overlap are not known yet: the loops stay in the order in which they are written";
            return Err(Refused {
                is_illegal: false,
                ..Refused::illegal(item.at, why.to_string())
            });
        }
        What::Tile(tile) => {
            let size = |size: &Number| match *size {
                Number::Constant(size) => Ok(Size::Constant(size)),
                Number::Value(number) => Ok(Size::Parameter(value(item.at, number, values)?)),
            };
            let sizes = tile.sizes.iter().map(size).collect::<Result<Vec<_>, _>>()?;
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
