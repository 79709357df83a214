//! Loops of a group without isl: each goes from the first to the last coordinate that any nest has there, and in front of what
//! is in them it is asked, of each nest, whether it has an iteration there.
//!
//! That is right whatever the bounds are, and good where nests have loops of their own inside, in which nothing is asked then.

use crate::code::{Code, Condition, Expression, For, If};
use crate::isl::{Failed, Result};
use crate::loops::{Emission, Range, sequence};
use crate::model::Affine;
use crate::order::{Group, Part, Piece};

/// The loops of a group of nests. `within` says, for each part, between what the outermost loops of its nest go, if that is less
/// than all.
pub fn loops(
    emission: &mut Emission,
    group: &Group,
    within: Option<&[Vec<Range>]>,
    parallel: Option<Vec<usize>>,
) -> Result<Code> {
    let variables: Vec<_> = (0..group.depth).map(|_| emission.variable()).collect();
    let nests = group.parts.iter().enumerate().map(|(number, part)| {
        let Piece::Nest(nest) = part.piece else {
            return Err(Failed::Error);
        };
        let within = within.map_or(&[][..], |within| &within[number]);
        Ok(Nest::new(emission, part, nest, &variables, within))
    });
    let nests: Vec<_> = nests.collect::<Result<_>>()?;
    let ranges: Vec<Range> = (0..group.depth)
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
    let mut parallel = parallel;
    let around = ranges.into_iter().zip(variables).enumerate().rev();
    Ok(
        around.fold(sequence(all), |body, (at, ((first, last), variable))| {
            let combines = if at == 0 { parallel.take() } else { None };
            Code::For(Box::new(For {
                variable,
                first,
                last,
                step: Expression::Constant(1),
                is_parallel: combines.is_some(),
                combines: combines.unwrap_or_default(),
                body,
            }))
        }),
    )
}

/// A nest on its own, between such rows.
pub fn alone(emission: &mut Emission, nest: usize, rows: Range) -> Code {
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
        within: &[Range],
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
            if let Some((front, behind)) = within.get(at) {
                first = Expression::largest(vec![first, front.clone()]);
                last = Expression::least(vec![last, behind.clone()]);
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

fn serial(variable: usize, first: Expression, last: Expression, body: Code) -> Code {
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
