//! The spaces of a chain: what has a name, and what has been found besides.
//!
//! Guarantee: elements of one object are in one space, or in spaces that have nothing in common.

use std::collections::HashSet;

use okl_chains::model::{self, Mode};
use okl_chains::pragma::{Index, Name};

use super::accesses::Found;
use super::numbers::{Base, has_name};
use super::spaces::{Named, Within};
use crate::numbers::Polynomial;

/// What an access may be to.
pub type Settled = Vec<Fit>;

/// What of a space an access may be to.
#[derive(Clone, PartialEq)]
pub struct Fit {
    /// The number of the space.
    pub space: usize,
    /// The element, where it is known.
    pub index: Option<Vec<model::Affine>>,
    /// What of it.
    pub within: Option<Within>,
}

/// The spaces of a chain: those with names first.
pub struct Spaces<'c> {
    /// Each, and where its elements lie.
    pub all: Vec<(model::Space, Option<Named<'c>>)>,
    /// How many have names that the programmer has given.
    pub names: usize,
    /// The objects of those of which nothing else is known.
    bases: Vec<Base<'c>>,
}

impl<'c> Spaces<'c> {
    /// Those that the programmer names, whose elements have as many numbers as he says.
    pub fn new(names: &[(&Name, Option<Named<'c>>)], rank: impl Fn(&Name) -> usize) -> Self {
        let all = names.iter().map(|(name, named)| {
            let space = model::Space {
                name: name.text.clone(),
                rank: rank(name),
                is_local: false,
            };
            (space, named.clone())
        });
        let all: Vec<_> = all.collect();
        Self {
            bases: all
                .iter()
                .map(|one| one.1.as_ref().map_or(Base::Unknown, |one| one.base.clone()))
                .collect(),
            names: all.len(),
            all,
        }
    }

    pub fn is_named(&self, space: usize) -> bool {
        space < self.names
    }

    /// The number of a space that the programmer names.
    pub fn number(&self, name: &str) -> Option<usize> {
        let mut all = self.all.iter().take(self.names);
        all.position(|one| one.0.name == name)
    }

    pub fn base(&self, space: usize) -> Option<&Base<'c>> {
        Some(&self.bases[space]).filter(|one| **one != Base::Unknown)
    }

    /// The element that an access is to, and its space.
    pub fn place(&self, access: &Found<'c>) -> Option<(usize, Vec<Index>, Within)> {
        let mut all = self.all.iter().enumerate();
        all.find_map(|(at, (_, named))| {
            let (index, within) = named.as_ref()?.index(access)?;
            Some((at, index, within))
        })
    }

    /// A space for an access that is to no element of those that are known, one of all that are found.
    pub fn add(
        &mut self,
        access: &Found<'c>,
        all: &[Vec<Found<'c>>],
    ) -> (usize, Option<(Vec<Index>, Within)>) {
        let named = access.split.as_ref().and_then(|split| {
            let factors = &split.factors;
            let levels: Vec<usize> = (0..factors.len())
                .filter(|&at| factors[at].as_constant() != Some(0))
                .collect();
            let is_known = self.bases.contains(&access.place.base);
            // Of one that is known in another way, and of what no iteration moves in, the place alone is.
            if is_known {
                return None;
            }
            let strides: Vec<_> = levels.iter().map(|&at| factors[at].clone()).collect();
            let origin = match levels.is_empty() {
                true => split.rest.clone(),
                false => Polynomial::constant(0),
            };
            let named = Named {
                base: access.place.base.clone(),
                origin,
                from: vec![0; strides.len()],
                strides,
                parts: split.parts.clone(),
                bytes: split.bytes,
            };
            let base = &access.place.base;
            let its = all.iter().flatten().filter(|one| one.place.base == *base);
            // What is accessed first says how elements lie.
            let its: Vec<_> = std::iter::once(access).chain(its).collect();
            let named = named.widened(&its);
            named.index(access).is_some().then_some(named)
        });
        let index = named.as_ref().and_then(|named| named.index(access));
        let line = access.at.source_location().map(|one| one.1);
        let does = match access.mode {
            Mode::Read => "read",
            _ => "written",
        };
        let name = match line {
            Some(line) if !has_name(&access.place.base) => format!("what is {does} in line {line}"),
            _ => access.place.base.to_string(),
        };
        let same = self
            .all
            .iter()
            .filter(|one| one.0.name.split('\'').next() == Some(&name))
            .count();
        let space = model::Space {
            // Names are all different.
            name: name + &"'".repeat(same),
            rank: named.as_ref().map_or(0, |one| one.strides.len()),
            is_local: false,
        };
        self.bases.push(access.place.base.clone());
        self.all.push((space, named));
        (self.all.len() - 1, index)
    }

    /// Makes one space of those that are of one object: which element of it an access is to is not known then. What is
    /// accessed at each place goes along.
    pub fn join(&mut self, nests: &mut [Vec<model::Access>], settled: &mut [Vec<Settled>]) {
        let count = self.all.len();
        let mut to: Vec<usize> = (0..count).collect();
        let mut blurred = HashSet::new();
        for first in 0..count {
            let is_its = |&other: &usize| self.bases[other] == self.bases[first];
            if self.bases[first] == Base::Unknown || (0..first).any(|other| is_its(&other)) {
                continue;
            }
            let group: Vec<usize> = (first..count).filter(is_its).collect();
            let is_same = |one: usize, other: usize| self.all[one].1 == self.all[other].1;
            let is_told = |one: usize, other: usize| {
                let pair = self.all[one].1.as_ref().zip(self.all[other].1.as_ref());
                pair.is_some_and(|(one, other)| one == other || are_fields(one, other))
            };
            let mut pairs = group
                .iter()
                .flat_map(|&one| group.iter().map(move |&other| (one, other)));
            let is_clear = group.len() == 1 || pairs.all(|(one, other)| is_told(one, other));
            for &one in &group {
                let same = group
                    .iter()
                    .find(|&&other| is_same(one, other))
                    .filter(|_| is_clear);
                to[one] = same.copied().unwrap_or(first);
            }
            if !is_clear {
                blurred.insert(first);
            }
        }
        for accesses in nests {
            let mut reads = Vec::new();
            for access in accesses.iter_mut() {
                access.space = to[access.space];
                if !blurred.contains(&access.space) {
                    continue;
                }
                access.index = None;
                access.must = false;
                if matches!(access.mode, Mode::Reduce(_)) {
                    access.mode = Mode::Write;
                    reads.push(model::Access {
                        mode: Mode::Read,
                        ..access.clone()
                    });
                }
            }
            accesses.extend(reads);
        }
        for all in settled.iter_mut().flatten() {
            for fit in all.iter_mut() {
                fit.space = to[fit.space];
                if blurred.contains(&fit.space) {
                    (fit.index, fit.within) = (None, None);
                }
            }
            all.dedup();
        }
    }
}

/// Whether two numberings of an object are of different parts of its elements.
fn are_fields(one: &Named<'_>, other: &Named<'_>) -> bool {
    if one.strides != other.strides || one.strides.is_empty() {
        return false;
    }
    let distance = one
        .origin
        .minus(&other.origin)
        .and_then(|one| one.as_constant());
    let Some(distance) = distance else {
        return false;
    };
    // All strides are multiples of what elements have in common.
    let of = |one: &Named<'_>, greatest: i64| {
        let parts = one.parts.iter().map(|part| &part.stride);
        let strides = one.strides.iter().chain(parts);
        let times = strides.flat_map(|one| one.terms().map(|(_, times)| times));
        times.fold(greatest, gcd)
    };
    let step = of(other, of(one, 0));
    if step == 0 {
        return false;
    }
    let distance = distance.rem_euclid(step);
    distance >= other.bytes && distance + one.bytes <= step
}

fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a.abs(),
        _ => gcd(b, a % b),
    }
}
