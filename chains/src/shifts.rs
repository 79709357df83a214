//! By how much loops are moved so that they can become one.
//!
//! Each dimension is a problem of its own: of two groups, the later one is moved by as much more than the earlier one as
//! what it needs of it is further. Where that can be so exactly for all of them it is, which lets what belongs together meet
//! at one iteration; where not, it is at least so. Of all solutions it is that of the smallest sum, and of those the
//! lexicographically smallest one.

use crate::isl::{Extreme, Failed, Map, Set};
use crate::legality;
use crate::model::Affine;
use crate::notation;
use crate::order::{Group, Order, dimensions};
use crate::plan::Refused;
use crate::pragma::Position;

/// Whether shifts that are said fit.
pub fn check(
    at: Position,
    shifts: &[Vec<Affine>],
    groups: &[Group],
    depth: usize,
) -> Result<(), Refused> {
    if shifts.len() != groups.len() {
        let (said, are) = (shifts.len(), groups.len());
        let why =
            format!("`fuse` moves {said} of {are} loops: it has to say that of all or of none");
        return Err(Refused::illegal(at, why));
    }
    for (number, (shift, group)) in shifts.iter().zip(groups).enumerate() {
        if shift.len() != group.depth && shift.len() != depth {
            let (said, has) = (dimensions(shift.len()), group.depth);
            let number = number + 1;
            let why = format!("`fuse` moves loop {number} in {said}, but it has {has}");
            return Err(Refused::illegal(at, why));
        }
    }
    Ok(())
}

/// What a group needs of an earlier one, in one dimension.
#[derive(Clone, Copy)]
struct Weight {
    from: usize,
    to: usize,
    dimension: usize,
    least: i64,
}

/// Shifts that are needed.
pub fn found(
    order: &Order,
    at: Position,
    groups: &[Group],
    depth: usize,
) -> Result<Vec<Vec<Affine>>, Refused> {
    let failed = |failed| Refused::failed(at, failed);
    let mut weights = Vec::new();
    for to in 0..groups.len() {
        for from in 0..to {
            match weights_of(order, groups, from, to, depth).map_err(failed)? {
                Some(more) => weights.extend(more),
                None => {
                    let far = || {
                        "one needs what is arbitrarily many iterations away in the other"
                            .to_string()
                    };
                    let unknown = order.unknown_of(&groups[from].nests(), &groups[to].nests());
                    let why = format!(
                        "{} and {} cannot be fused: {}",
                        order.name(groups[from].first_nest()),
                        order.name(groups[to].first_nest()),
                        unknown.unwrap_or_else(far)
                    );
                    return Err(Refused::illegal(at, why));
                }
            }
        }
    }
    let shifts = match solved(order, &weights, groups.len(), depth, "=").map_err(failed)? {
        Some(shifts) => shifts,
        None => solved(order, &weights, groups.len(), depth, ">=")
            .map_err(failed)?
            .ok_or_else(|| failed(Failed::Error))?,
    };
    let affine = |shift: Vec<i64>| shift.into_iter().map(Affine::constant).collect();
    Ok(shifts.into_iter().map(affine).collect())
}

/// By how much a group has to be moved more than an earlier one. None where no number is enough.
fn weights_of(
    order: &Order,
    groups: &[Group],
    from: usize,
    to: usize,
    depth: usize,
) -> Result<Option<Vec<Weight>>, Failed> {
    let mut least: Vec<Option<Extreme>> = vec![None; depth];
    let (earlier, later) = (groups[from].nests(), groups[to].nests());
    for dependence in &order.dependences {
        let is_between = earlier.contains(&dependence.from) && later.contains(&dependence.to);
        if !is_between || dependence.kind == crate::dependences::Kind::Combine {
            continue;
        }
        let pair = legality::between(order, &groups[from], &groups[to], dependence, depth)?;
        for (dimension, least) in least.iter_mut().enumerate() {
            let from = notation::tuple("q", pair.quantities);
            let header = notation::header(order.chain, &[]);
            let place = pair.levels[0][dimension];
            let map = Map::read(&order.isl, &format!("{header}{{ {from} -> [-q{place}] }}"))?;
            *least = match (*least, pair.set.clone().apply(map)?.largest(0)?) {
                (known, Extreme::Empty) => known,
                (Some(Extreme::Unbounded), _) | (_, Extreme::Unbounded) => Some(Extreme::Unbounded),
                (Some(Extreme::Is(known)), Extreme::Is(more)) => Some(Extreme::Is(known.max(more))),
                (_, more) => Some(more),
            };
        }
    }
    let mut weights: Vec<Weight> = Vec::new();
    for (dimension, one) in least.into_iter().enumerate() {
        match one {
            Some(Extreme::Is(least)) => weights.push(Weight {
                from,
                to,
                dimension,
                least,
            }),
            // What cannot be had there is had by the loop around: the later group is behind in it.
            Some(Extreme::Unbounded) => match weights.last_mut() {
                Some(around) => {
                    around.least += 1;
                    return Ok(Some(weights));
                }
                None => return Ok(None),
            },
            _ => {}
        }
    }
    Ok(Some(weights))
}

/// The solution for all dimensions, where there is one.
fn solved(
    order: &Order,
    weights: &[Weight],
    groups: usize,
    depth: usize,
    relation: &str,
) -> Result<Option<Vec<Vec<i64>>>, Failed> {
    let mut shifts = vec![vec![0; depth]; groups];
    for dimension in 0..depth {
        let ours = weights
            .iter()
            .filter(|weight| weight.dimension == dimension);
        let ours = ours.map(|weight| {
            format!(
                "s{} - s{} {relation} {}",
                weight.to, weight.from, weight.least
            )
        });
        let sum: Vec<_> = (0..groups).map(|at| format!("s{at}")).collect();
        let at_least = sum.iter().map(|one| format!("{one} >= 0"));
        let conditions = notation::all(ours.chain(at_least));
        let text = format!(
            "{{ [s, {}] : s = {} and {conditions} }}",
            sum.join(", "),
            sum.join(" + ")
        );
        let Some(solution) = Set::read(&order.isl, &text)?.smallest()?.sample()? else {
            return Ok(None);
        };
        for (shift, value) in shifts.iter_mut().zip(&solution[1..]) {
            shift[dimension] = *value;
        }
    }
    Ok(Some(shifts))
}
