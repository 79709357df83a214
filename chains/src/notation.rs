//! What a chain's loops and accesses are in isl's notation.
//!
//! Parameters of the chain are `p0`, `p1`, .. there, iteration variables `i0`, `i1`, ..; all texts name all parameters, in
//! this order, so that a parameter's place in isl is its number.

use crate::model::{Affine, Chain, Nest};

/// `[p0, p1] -> `, with others behind. isl does not read empty lists everywhere.
pub fn header(chain: &Chain, others: &[String]) -> String {
    let ours = (0..chain.parameters.len()).map(|number| format!("p{number}"));
    let all: Vec<_> = ours.chain(others.iter().cloned()).collect();
    if all.is_empty() {
        return String::new();
    }
    format!("[{}] -> ", all.join(", "))
}

/// A number; iteration variables are called `variable` and their number.
pub fn affine(number: &Affine, variable: &str) -> String {
    let mut text = number.constant.to_string();
    let mut add = |factors: &[i64], name: &str| {
        for (at, factor) in factors.iter().enumerate().filter(|one| *one.1 != 0) {
            text += &format!(" + {factor}*{name}{at}");
        }
    };
    add(&number.iterators, variable);
    add(&number.parameters, "p");
    text
}

/// `[i0, i1]`.
pub fn tuple(variable: &str, rank: usize) -> String {
    let all: Vec<_> = (0..rank).map(|at| format!("{variable}{at}")).collect();
    format!("[{}]", all.join(", "))
}

/// All of some conditions.
pub fn all(conditions: impl IntoIterator<Item = String>) -> String {
    let all: Vec<_> = conditions.into_iter().collect();
    match all.is_empty() {
        true => "1 = 1".to_string(),
        false => all.join(" and "),
    }
}

/// What is known of parameters.
pub fn known(chain: &Chain) -> Vec<String> {
    let at_least = |one: &Affine| format!("{} >= 0", affine(one, "i"));
    chain.known.iter().map(at_least).collect()
}

/// Where the iterations of a nest are.
pub fn domain(nest: &Nest) -> Vec<String> {
    let bounds = nest.bounds.iter().enumerate();
    let between = bounds.map(|(at, bounds)| {
        let (first, last) = (affine(&bounds.first, "i"), affine(&bounds.last, "i"));
        format!("{first} <= i{at} <= {last}")
    });
    between.collect()
}

/// The values of a number at iterations of a nest for which something holds.
pub fn exists(chain: &Chain, number: &str, rank: usize, conditions: &[String]) -> String {
    let (header, all) = (header(chain, &[]), all(conditions.iter().cloned()));
    let iterators: Vec<_> = (0..rank).map(|at| format!("i{at}")).collect();
    match rank {
        0 => format!("{header}{{ [{number}] : {all} }}"),
        _ => format!(
            "{header}{{ [{number}] : exists ({}: {all}) }}",
            iterators.join(", ")
        ),
    }
}
