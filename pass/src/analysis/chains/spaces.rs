//! What the names of data spaces stand for: an object, where in it the element with the numbers 0 is, and how far apart
//! elements are whose numbers differ by 1.
//!
//! Names need not be variables: a name stands for whatever most of the accesses that are declared by it fit to.

use okl_chains::pragma::{AccessPragma, Index, LoopPragma};

use super::accesses::Found;
use super::numbers::{Base, Number};
use crate::numbers::Polynomial;
use okl_chains::model::Mode;

/// What a name stands for.
#[derive(Clone, PartialEq)]
pub struct Named<'c> {
    /// The object.
    pub base: Base<'c>,
    /// Bytes from its beginning to the element 0.
    pub origin: Number<'c>,
    /// Bytes from one element to the next one, in each dimension.
    pub strides: Vec<Number<'c>>,
    /// Bytes of an element.
    pub bytes: i64,
}

impl<'c> Named<'c> {
    /// Bytes from the beginning of the object to an element that is declared, split as those of accesses are.
    pub fn split(&self, place: &[Index], depth: usize) -> Option<(Vec<Number<'c>>, Number<'c>)> {
        if place.len() != self.strides.len() {
            return None;
        }
        let mut factors = vec![Polynomial::constant(0); depth];
        let mut rest = self.origin.clone();
        for (index, stride) in place.iter().zip(&self.strides) {
            if let Some(level) = index.iterator {
                let factor = factors.get_mut(level)?;
                *factor = factor.plus(stride)?;
            }
            rest = rest.plus(&stride.times(&Polynomial::constant(index.offset))?)?;
        }
        Some((factors, rest))
    }

    /// Whether an access is just that of an element that is declared.
    pub fn is_at(&self, place: &[Index], depth: usize, found: &Found<'c>) -> bool {
        found.place.base == self.base
            && found.bytes == self.bytes
            && found.split.is_some()
            && self.split(place, depth) == found.split
    }

    /// The numbers of the element that an access is to, where it is one.
    pub fn index(&self, found: &Found<'c>) -> Option<Vec<Index>> {
        let (factors, rest) = found.split.as_ref()?;
        if found.place.base != self.base || found.bytes != self.bytes {
            return None;
        }
        let mut place: Vec<Index> = self
            .strides
            .iter()
            .map(|_| Index {
                iterator: None,
                offset: 0,
            })
            .collect();
        for (level, factor) in factors.iter().enumerate() {
            if factor.as_constant() == Some(0) {
                continue;
            }
            let is_free = |&at: &usize| place[at].iterator.is_none() && self.strides[at] == *factor;
            let at = (0..self.strides.len()).find(is_free)?;
            place[at].iterator = Some(level);
        }
        let mut rest = rest.minus(&self.origin)?;
        // Strides that are no constants first, then the larger ones.
        let mut order: Vec<usize> = (0..self.strides.len()).collect();
        let size = |at: usize| self.strides[at].as_constant().map_or(i64::MAX, i64::abs);
        order.sort_by_key(|&at| std::cmp::Reverse(size(at)));
        for at in order {
            let stride = &self.strides[at];
            let times = match stride.as_constant() {
                Some(0) => 0,
                Some(stride) => {
                    let rest = rest.as_constant()?;
                    (2 * rest + stride.abs()).div_euclid(2 * stride.abs()) * stride.signum()
                }
                None => leading(stride, &rest)?,
            };
            place[at].offset = times;
            rest = rest.minus(&stride.times(&Polynomial::constant(times))?)?;
        }
        (rest.as_constant() == Some(0)).then_some(place)
    }
}

/// How often a stride is in a number, by a product in it that is no constant.
fn leading<'c>(stride: &Number<'c>, number: &Number<'c>) -> Option<i64> {
    let (factors, times) = stride.terms().find(|(factors, _)| !factors.is_empty())?;
    let has = |(others, number): (&[_], i64)| {
        let is_same =
            others.len() == factors.len() && factors.iter().all(|one| others.contains(one));
        is_same.then_some(number)
    };
    let number = number.terms().find_map(has).unwrap_or(0);
    (number % times == 0).then_some(number / times)
}

/// An access that is declared: of which nest, how, and where.
pub struct Declared<'a> {
    /// The number of the nest.
    pub nest: usize,
    /// What it is part of.
    pub said: &'a AccessPragma,
    /// The element.
    pub place: &'a [Index],
}

/// All of them, in their order.
pub fn declared<'a>(nests: impl Iterator<Item = &'a LoopPragma>) -> Vec<Declared<'a>> {
    let nests = nests.enumerate();
    nests
        .flat_map(|(nest, said)| said.accesses.iter().map(move |one| (nest, one)))
        .flat_map(|(nest, said)| {
            said.places
                .iter()
                .map(move |place| Declared { nest, said, place })
        })
        .collect()
}

/// How an access is declared.
pub fn mode(said: &AccessPragma) -> Mode {
    match said.is_write {
        true => Mode::Write,
        false => Mode::Read,
    }
}

/// Whether an access is one of those that are declared so: what is combined with something is read and written.
pub fn is_so(access: &Found<'_>, said: &AccessPragma) -> bool {
    access.mode == mode(said) || matches!(access.mode, Mode::Reduce(_))
}

/// What names stand for, given all that is declared by each: what most of it fits to. Where several things fit as well, it is
/// one that no other name stands for.
pub fn named<'c>(
    names: &[Vec<&Declared<'_>>],
    found: &[Vec<Found<'c>>],
    depths: &[usize],
) -> Vec<Option<Named<'c>>> {
    let candidates = names.iter().map(|its| best(its, found, depths));
    let candidates: Vec<Vec<Named<'c>>> = candidates.collect();
    let clear = candidates.iter().map(|its| match &its[..] {
        [one] => Some(one.clone()),
        _ => None,
    });
    let mut all: Vec<Option<Named<'c>>> = clear.collect();
    for (at, its) in candidates.iter().enumerate().filter(|one| one.1.len() > 1) {
        let is_free = |one: &&Named<'c>| {
            let mut known = all.iter().flatten();
            !known.any(|other| other.base == one.base && other.origin == one.origin)
        };
        all[at] = its.iter().find(is_free).or(its.first()).cloned();
    }
    all
}

/// What most of what is declared by a name fits to.
fn best<'c>(all: &[&Declared<'_>], found: &[Vec<Found<'c>>], depths: &[usize]) -> Vec<Named<'c>> {
    let mut best: Vec<Named<'c>> = Vec::new();
    let mut most = 0;
    for one in all {
        for access in &found[one.nest] {
            if !is_so(access, one.said) {
                continue;
            }
            let Some(candidate) = fitting(one.place, access) else {
                continue;
            };
            let fits = |one: &&&Declared<'_>| {
                let mut found = found[one.nest].iter();
                found.any(|access| {
                    is_so(access, one.said) && candidate.is_at(one.place, depths[one.nest], access)
                })
            };
            let count = 2 * all.iter().filter(fits).count()
                + usize::from(candidate.origin.as_constant() == Some(0));
            if count > most {
                best.clear();
                most = count;
            }
            if count == most && !best.contains(&candidate) {
                best.push(candidate);
            }
        }
    }
    best
}

/// What a name stands for if an element that is declared by it is what an access is to.
fn fitting<'c>(place: &[Index], access: &Found<'c>) -> Option<Named<'c>> {
    let (factors, rest) = access.split.as_ref()?;
    let mut strides = Vec::new();
    let mut used = 0;
    for (at, index) in place.iter().enumerate() {
        let twice = place[..at]
            .iter()
            .any(|one| one.iterator.is_some() && one.iterator == index.iterator);
        strides.push(match index.iterator {
            Some(_) if twice => return None,
            Some(level) => {
                used += 1;
                factors
                    .get(level)
                    .filter(|one| one.as_constant() != Some(0))?
                    .clone()
            }
            // Of a number that is the same in all iterations, only the last one says how far elements are apart.
            None if at + 1 == place.len() => Polynomial::constant(access.bytes),
            None => return None,
        });
    }
    if used
        != factors
            .iter()
            .filter(|one| one.as_constant() != Some(0))
            .count()
    {
        return None;
    }
    let mut origin = rest.clone();
    for (index, stride) in place.iter().zip(&strides) {
        origin = origin.minus(&stride.times(&Polynomial::constant(index.offset))?)?;
    }
    Some(Named {
        base: access.place.base.clone(),
        origin,
        strides,
        bytes: access.bytes,
    })
}
