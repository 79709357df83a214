//! Loops of a group without isl: each goes from the first to the last coordinate that any nest has there, and in front of what
//! is in them it is asked, of each nest, whether it has an iteration there.
//!
//! That is right whatever the bounds are, and good where nests have loops of their own inside, in which nothing is asked then.

use crate::code::{Code, Condition, Expression, For, If};
use crate::isl::{Failed, Result};
use crate::loops::{Emission, Range, sequence};
use crate::model::{Affine, Mode};
use crate::order::{Group, Part, Piece};

/// Groups of more nests are in one set of loops.
const MOST_NESTS: usize = 4;

/// Between what a loop of a nest goes, if that is less than all.
#[derive(Clone, Debug)]
pub struct Within {
    pub first: Expression,
    pub last: Expression,
    /// Whether the first one is no less than the loop's own.
    pub is_inside: bool,
}

/// Which rows loops run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    All,
    /// Those in front of the rows that the nest with this number in the group has, these, and those behind them.
    Before(usize),
    Of(usize),
    Behind(usize),
}

/// The loops of a group of nests. `within` says, for each part, between what the outermost loops of its nest go.
///
/// The last nest whose results are behind the chain is asked nothing: its rows are for themselves, and those in front of them and
/// behind them, in which the others run alone. So it is plain which rows are written.
pub fn loops(emission: &mut Emission, group: &Group, within: &[Vec<Within>]) -> Result<Code> {
    let chain = emission.order.chain;
    let writes = |part: &Part| match part.piece {
        Piece::Nest(nest) => chain.nests[nest]
            .accesses
            .iter()
            .any(|access| access.mode != Mode::Read && !chain.spaces[access.space].is_local),
        Piece::Tiles(..) => false,
    };
    let last = group.parts.iter().rposition(writes);
    let last = last.filter(|_| (2..=MOST_NESTS).contains(&group.parts.len()) && group.depth > 0);
    let Some(last) = last else {
        return rows(emission, group, within, Rows::All);
    };
    let all = [Rows::Before(last), Rows::Of(last), Rows::Behind(last)];
    let all = all.map(|which| rows(emission, group, within, which));
    Ok(sequence(all.into_iter().collect::<Result<_>>()?))
}

fn rows(
    emission: &mut Emission,
    group: &Group,
    within: &[Vec<Within>],
    which: Rows,
) -> Result<Code> {
    let constant = Expression::Constant;
    let variables: Vec<_> = (0..group.depth).map(|_| emission.variable()).collect();
    let nests = group.parts.iter().enumerate().map(|(number, part)| {
        let Piece::Nest(nest) = part.piece else {
            return Err(Failed::Error);
        };
        Ok(Nest::new(emission, part, nest, &variables, &within[number]))
    });
    let mut nests: Vec<_> = nests.collect::<Result<_>>()?;
    let mut ranges: Vec<Range> = (0..group.depth)
        .map(|at| {
            let of = |pick: fn(&Range) -> &Expression| {
                nests.iter().map(move |nest| pick(&nest.ranges[at]).clone())
            };
            (
                Expression::least(of(|range| &range.0).collect()),
                Expression::largest(of(|range| &range.1).collect()),
            )
        })
        .collect();
    match which {
        Rows::All => {}
        Rows::Before(nest) => {
            let (first, _) = nests.remove(nest).ranges.swap_remove(0);
            ranges[0].1 = Expression::difference(first, constant(1));
        }
        Rows::Of(nest) => ranges[0] = nests[nest].ranges[0].clone(),
        Rows::Behind(nest) => {
            let (first, last) = nests.remove(nest).ranges.swap_remove(0);
            let behind = Expression::sum(last, constant(1));
            ranges[0].0 = Expression::largest(vec![behind, first]);
        }
    }
    let mut all = Vec::new();
    for nest in nests {
        let mut asked = Vec::new();
        for (at, (first, last)) in nest.ranges.iter().enumerate() {
            let coordinate = Expression::Variable(variables[at]);
            if *first != ranges[at].0 {
                asked.push(Condition::AtLeast(coordinate.clone(), first.clone()));
            }
            if *last != ranges[at].1 {
                asked.push(Condition::AtLeast(last.clone(), coordinate));
            }
        }
        let then = nest.inside(emission);
        all.push(match Condition::all(asked) {
            Condition::Constant(true) => then,
            condition => Code::If(Box::new(If {
                condition,
                then,
                otherwise: None,
            })),
        });
    }
    let around = ranges.into_iter().zip(variables).rev();
    Ok(
        around.fold(sequence(all), |body, ((first, last), variable)| {
            serial(variable, first, last, body)
        }),
    )
}

/// A nest on its own, between such rows.
pub fn alone(emission: &mut Emission, nest: usize, rows: Within) -> Code {
    let depth = emission.order.chain.nests[nest].bounds.len().min(1);
    let variables: Vec<_> = (0..depth).map(|_| emission.variable()).collect();
    let part = Part {
        shift: Vec::new(),
        piece: Piece::Nest(nest),
    };
    let one = Nest::new(emission, &part, nest, &variables, &[rows]);
    let body = one.inside(emission);
    let loops = one.ranges.into_iter().zip(variables);
    loops.fold(body, |body, ((first, last), variable)| {
        serial(variable, first, last, body)
    })
}

/// A nest in loops that it shares.
struct Nest {
    number: usize,
    /// The values of its iteration variables that these loops give.
    iteration: Vec<Expression>,
    /// Coordinates at which it has iterations.
    ranges: Vec<Range>,
}

impl Nest {
    fn new(
        emission: &Emission,
        part: &Part,
        number: usize,
        variables: &[usize],
        within: &[Within],
    ) -> Self {
        let bounds = &emission.order.chain.nests[number].bounds;
        let nothing = Affine::default();
        let mut iteration = Vec::new();
        let mut ranges = Vec::new();
        for (at, &variable) in variables.iter().enumerate() {
            let shift = Expression::of(part.shift.get(at).unwrap_or(&nothing), &[]);
            let Some(bounds) = bounds.get(at) else {
                // A dimension that it does not have is one iteration.
                ranges.push((shift.clone(), shift));
                continue;
            };
            let mut first = Expression::of(&bounds.first, &iteration);
            let mut last = Expression::of(&bounds.last, &iteration);
            if let Some(within) = within.get(at) {
                first = match within.is_inside {
                    true => within.first.clone(),
                    false => Expression::largest(vec![first, within.first.clone()]),
                };
                last = Expression::least(vec![last, within.last.clone()]);
            }
            ranges.push((
                Expression::sum(first, shift.clone()),
                Expression::sum(last, shift.clone()),
            ));
            iteration.push(Expression::difference(
                Expression::Variable(variable),
                shift,
            ));
        }
        Self {
            number,
            iteration,
            ranges,
        }
    }

    /// Its iterations there.
    fn inside(&self, emission: &mut Emission) -> Code {
        let bounds = &emission.order.chain.nests[self.number].bounds;
        let mut iteration = self.iteration.clone();
        let mut own = Vec::new();
        for bounds in &bounds[iteration.len()..] {
            let variable = emission.variable();
            own.push((
                variable,
                Expression::of(&bounds.first, &iteration),
                Expression::of(&bounds.last, &iteration),
            ));
            iteration.push(Expression::Variable(variable));
        }
        let run = Code::Run {
            nest: self.number,
            iteration,
        };
        let loops = own.into_iter().rev();
        loops.fold(run, |body, (variable, first, last)| {
            serial(variable, first, last, body)
        })
    }
}

/// A loop that counts by 1, on one thread.
pub(crate) fn serial(variable: usize, first: Expression, last: Expression, body: Code) -> Code {
    Code::For(Box::new(For {
        variable,
        first,
        last,
        step: Expression::Constant(1),
        is_parallel: false,
        combines: Vec::new(),
        body,
    }))
}
