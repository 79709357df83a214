//! In which order the iterations of a chain run.

use crate::code::{Code, Condition, Expression, For};
use crate::model::Chain;
use crate::pragma::{Item, Position};

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The loops. Its parameters are those of the chain.
    pub code: Code,
    /// Where this holds the order is right; where it does not, the order in which the chain is written is.
    pub requires: Condition,
}

/// Why an order cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What of the schedule cannot.
    pub at: Position,
    /// Why: a sentence for the programmer, without the position.
    pub why: String,
}

/// The order that a schedule asks for. `values` says which parameters of the chain are the values that the schedule names.
pub fn plan(chain: &Chain, schedule: &[Item], values: &[usize]) -> Result<Plan, Refused> {
    let _ = values;
    match schedule.first() {
        None => Ok(as_written(chain)),
        Some(item) => Err(Refused {
            at: item.at,
            why: "this schedule is not known yet".to_string(),
        }),
    }
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
                body,
            }))
        })
    });
    Plan {
        code: Code::Sequence(nests.collect()),
        requires: Condition::Constant(true),
    }
}
