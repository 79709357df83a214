//! What an offset is made of: the numbers of an iteration, each with a factor, those of the loops in it, and the rest.

use super::numbers::{Number, Reader, Unknown, varies, without_iterations};
use super::turns::{Range, Turn};
use crate::numbers::Polynomial;

/// Where an iteration accesses bytes of an object. With all that the loops in it come to these are runs of bytes that are
/// some distances apart.
#[derive(Clone)]
pub struct Split<'c> {
    /// What the number of each loop of the nest is multiplied with.
    pub factors: Vec<Number<'c>>,
    /// Where the first run begins, where the iteration's numbers are 0.
    pub rest: Number<'c>,
    /// The distances of runs, the largest first.
    pub parts: Vec<Part<'c>>,
    /// Bytes of a run.
    pub bytes: i64,
    /// Whether all bytes of a run are accessed.
    pub is_solid: bool,
    /// The loops in the iteration whose numbers are in it, those around others last.
    pub turns: Vec<Used<'c>>,
}

/// A loop in an iteration, in an offset.
#[derive(Clone)]
pub struct Used<'c> {
    /// The number of the loop.
    pub turn: usize,
    /// What its number is multiplied with.
    pub factor: Number<'c>,
    /// From where to where it goes.
    pub range: Range<'c>,
}

/// How far apart runs are, and how many of them there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<'c> {
    /// Bytes from one to the next one.
    pub stride: Number<'c>,
    /// So many, or none at all where it is no constant and less than 1.
    pub count: Number<'c>,
}

impl PartialEq for Split<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &Self| (one.bytes, one.is_solid);
        same(self) == same(other)
            && self.factors == other.factors
            && self.rest == other.rest
            && self.parts == other.parts
    }
}

/// How large a number is, for an order: the most unknowns in a product of it, and what these products are multiplied with.
pub fn size(number: &Number<'_>) -> (usize, i64) {
    let most = number.terms().map(|(factors, _)| factors.len()).max();
    let most = most.unwrap_or(0);
    let its = number.terms().filter(|(factors, _)| factors.len() == most);
    (most, its.map(|(_, times)| times.saturating_abs()).sum())
}

/// An offset of so many bytes, where it is such a sum.
pub fn split<'c>(
    reader: &Reader<'_, 'c>,
    turns: &[Turn<'c>],
    offset: &Number<'c>,
    depth: usize,
    bytes: i64,
) -> Option<Split<'c>> {
    let mut number = offset.clone();
    let mut parts = Vec::new();
    let mut its = Vec::new();
    // Where an inner loop begins may depend on one around it.
    for (which, turn) in turns.iter().enumerate().rev() {
        let (factor, rest) = taken(&number, which)?;
        if factor.as_constant() == Some(0) {
            continue;
        }
        let range = turn.range(reader)?;
        if varies(&range.count) {
            return None;
        }
        let mut stride = factor.times(&Polynomial::constant(range.by))?;
        number = rest.plus(&factor.times(&range.first)?)?;
        if is_backwards(&stride) {
            let before = range.count.minus(&Polynomial::constant(1))?;
            number = number.plus(&stride.times(&before)?)?;
            stride = stride.times(&Polynomial::constant(-1))?;
        }
        parts.push(Part {
            stride,
            count: range.count.clone(),
        });
        its.push(Used {
            turn: which,
            factor,
            range,
        });
    }
    let (factors, rest) = without_iterations(&number, depth)?;
    parts.sort_by_key(|part| std::cmp::Reverse(size(&part.stride)));
    let mut split = Split {
        factors,
        rest,
        parts,
        bytes,
        is_solid: true,
        turns: its,
    };
    split.join_near();
    Some(split)
}

/// What the number of a loop in the iteration is multiplied with, and what is left.
fn taken<'c>(number: &Number<'c>, which: usize) -> Option<(Number<'c>, Number<'c>)> {
    let [mut factor, mut rest] = [Polynomial::constant(0), Polynomial::constant(0)];
    for (factors, times) in number.terms() {
        let is_it = |one: &&Unknown<'c>| **one == Unknown::Turn(which);
        let others = factors.iter().filter(|one| !is_it(one)).cloned();
        let term = others
            .map(Polynomial::of)
            .try_fold(Polynomial::constant(times), |product, one| {
                product.times(&one)
            })?;
        match factors.iter().filter(is_it).count() {
            0 => rest = rest.plus(&term)?,
            1 if !varies(&term) => factor = factor.plus(&term)?,
            _ => return None,
        }
    }
    Some((factor, rest))
}

/// Whether a number is negative where its unknowns are large.
fn is_backwards(number: &Number<'_>) -> bool {
    let largest = number.terms().max_by_key(|(factors, _)| factors.len());
    largest.is_some_and(|(_, times)| times < 0)
}

impl Split<'_> {
    /// Makes one run of those that lie nearer to each other than what different iterations access.
    fn join_near(&mut self) {
        let factors = self
            .factors
            .iter()
            .filter(|one| one.as_constant() != Some(0));
        let constants: Vec<_> = factors
            .clone()
            .filter_map(|one| one.as_constant())
            .collect();
        let least = match (
            constants.iter().map(|one| one.saturating_abs()).min(),
            factors.count(),
        ) {
            (Some(least), _) => least,
            (None, 0) => i64::MAX,
            (None, _) => return,
        };
        while let Some(part) = self.parts.last() {
            let constants = part.stride.as_constant().zip(part.count.as_constant());
            let all = constants.and_then(|(stride, count)| {
                let all = stride.checked_mul(count - 1)?.checked_add(self.bytes)?;
                Some((stride, all))
            });
            match all {
                Some((stride, all)) if stride > 0 && all <= least => {
                    self.is_solid &= stride <= self.bytes;
                    self.bytes = all;
                    self.parts.pop();
                }
                _ => break,
            }
        }
    }
}
