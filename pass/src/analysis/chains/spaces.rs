//! What the names of data spaces stand for: an object, where in it the element with the numbers 0 is, how far apart elements
//! are whose numbers differ by 1, and what an element is: bytes side by side, or several such runs.
//!
//! Names need not be variables: a name stands for the variable of that name, where anything that is declared by it fits to
//! it, and else for whatever most of the accesses that are declared by it fit to.

use std::cmp::Reverse;

use okl_chains::pragma::{AccessPragma, Index, LoopPragma};

use super::accesses::Found;
use super::numbers::{Base, Number, Unknown, has_name};
use super::splits::{Part, Split, size};
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
    /// The distances of an element's runs of bytes, the largest first: none where it is one.
    pub parts: Vec<Part<'c>>,
    /// Bytes of such a run.
    pub bytes: i64,
    /// The least number in each dimension that an access has whose number there is the same for all iterations: of the last
    /// element of a row and the one in front of the next one, which are the same, it says which is meant.
    pub from: Vec<i64>,
}

/// What of an element an access is to.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    /// Bytes from the beginning of a run.
    pub at: i64,
    /// The first number of the run, in each of the element's distances.
    pub first: Vec<i64>,
    /// Whether it is to all runs.
    pub is_all: bool,
}

/// How often units are in a number, each, and what is left; the last one so that this is not negative. Those that are no
/// constants come first, then the larger ones. Of those with a least number the share is not less, as far as the one around
/// has room; of the others it is the one that is nearest to 0.
fn shares<'c>(
    number: &Number<'c>,
    units: &[(&Number<'c>, Option<i64>)],
) -> Option<(Vec<i64>, i64)> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by_key(|&at| Reverse(size(units[at].0)));
    // The least that is left where units up to a place are taken away.
    let mut left = vec![0; units.len()];
    for place in (1..units.len()).rev() {
        let (unit, from) = units[order[place]];
        let [unit, outer] = [unit, units[order[place - 1]].0].map(|one| one.as_constant());
        let from = from.zip(unit.filter(|unit| *unit > 0));
        left[place - 1] = match (from, outer) {
            (Some((from, unit)), _) => unit.checked_mul(from)?.checked_add(left[place])?,
            (None, Some(outer)) => -outer.checked_abs()?.div_euclid(2),
            (None, None) => 0,
        };
    }
    let mut shares = vec![0; units.len()];
    let mut rest = number.clone();
    for (&at, left) in order.iter().zip(left) {
        let unit = units[at].0;
        let times = match unit.as_constant() {
            Some(0) => 0,
            Some(unit) => {
                let rest = rest.as_constant()?.checked_sub(left)?;
                rest.div_euclid(unit.checked_abs()?) * unit.signum()
            }
            None => leading(unit, &rest)?,
        };
        shares[at] = times;
        rest = rest.minus(&unit.times(&Polynomial::constant(times))?)?;
    }
    Some((shares, rest.as_constant()?))
}

/// How often a unit is in a number, by the product in it that has most unknowns.
fn leading<'c>(unit: &Number<'c>, number: &Number<'c>) -> Option<i64> {
    let largest = unit.terms().max_by_key(|(factors, _)| factors.len());
    let (factors, times) = largest.filter(|(factors, _)| !factors.is_empty())?;
    let has = |(others, number): (&[_], i64)| {
        let is_same =
            others.len() == factors.len() && factors.iter().all(|one| others.contains(one));
        is_same.then_some(number)
    };
    let number = number.terms().find_map(has).unwrap_or(0);
    (number % times == 0).then_some(number / times)
}

impl<'c> Named<'c> {
    /// What is multiplied with an iteration's numbers in the place of an element that is declared, and the rest.
    fn place(&self, place: &[Index], depth: usize) -> Option<(Vec<Number<'c>>, Number<'c>)> {
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

    /// What of an element an access is to, given how often units are in its distance from the element.
    fn within(&self, first: &[i64], at: i64, split: &Split<'c>) -> Option<Within> {
        if at < 0 {
            return None;
        }
        let mut is_used = vec![false; split.parts.len()];
        let mut is_all = true;
        for (part, &first) in self.parts.iter().zip(first) {
            let same = split.parts.iter().position(|one| one.stride == part.stride);
            let count = match same {
                Some(at) => {
                    if std::mem::replace(&mut is_used[at], true) {
                        return None;
                    }
                    split.parts[at].count.clone()
                }
                None => Polynomial::constant(1),
            };
            let last = count.plus(&Polynomial::constant(first))?;
            if first < 0 || part.count.minus(&last)?.as_constant()? < 0 {
                return None;
            }
            is_all &= first == 0 && count == part.count;
        }
        // Other distances are inside of a run.
        let mut end = at.checked_add(split.bytes)?;
        for (part, _) in split.parts.iter().zip(is_used).filter(|one| !one.1) {
            let constants = part.stride.as_constant().zip(part.count.as_constant());
            let (stride, count) = constants.filter(|(stride, _)| *stride >= 0)?;
            end = end.checked_add(stride.checked_mul(count - 1)?)?;
            is_all = false;
        }
        (end <= self.bytes).then(|| Within {
            at,
            first: first.to_vec(),
            is_all,
        })
    }

    /// The same where numbers that are the same for all iterations count from the beginning of the object.
    pub fn counted_from_the_beginning(mut self) -> Self {
        let strides = self.strides.iter().map(|stride| (stride, Some(0)));
        let units: Vec<_> = strides
            .chain(self.units().map(|unit| (unit, None)))
            .collect();
        let mut from = vec![0; self.strides.len()];
        if let Some((begins, _)) = shares(&self.origin, &units) {
            for (from, begins) in from.iter_mut().zip(begins) {
                *from = -begins;
            }
        }
        self.from = from;
        self
    }

    fn units(&self) -> impl Iterator<Item = &Number<'c>> {
        self.parts.iter().map(|part| &part.stride)
    }

    /// What of an element that is declared an access is to, if it is to nothing else.
    pub fn at(&self, place: &[Index], depth: usize, found: &Found<'c>) -> Option<Within> {
        let split = found.split.as_ref()?;
        let (factors, rest) = self.place(place, depth)?;
        if found.place.base != self.base || split.factors != factors {
            return None;
        }
        let units: Vec<_> = self.units().map(|unit| (unit, None)).collect();
        let (first, at) = shares(&split.rest.minus(&rest)?, &units)?;
        self.within(&first, at, split)
    }

    /// Whether an access is just that of an element that is declared.
    fn is_just(&self, place: &[Index], depth: usize, found: &Found<'c>) -> bool {
        let bytes = found.split.as_ref().map(|split| split.bytes);
        bytes == Some(self.bytes)
            && self
                .at(place, depth, found)
                .is_some_and(|within| within.is_all)
    }

    /// The numbers of what an access is to: of the element, of what in it, and bytes from there; as if it were one.
    fn numbers(&self, found: &Found<'c>) -> Option<(Vec<Index>, Vec<i64>, i64)> {
        let split = found.split.as_ref()?;
        if found.place.base != self.base {
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
        for (level, factor) in split.factors.iter().enumerate() {
            if factor.as_constant() == Some(0) {
                continue;
            }
            let is_free = |&at: &usize| place[at].iterator.is_none() && self.strides[at] == *factor;
            let at = (0..self.strides.len()).find(is_free)?;
            place[at].iterator = Some(level);
        }
        let from = |at: usize| match place[at].iterator {
            Some(_) => None,
            None => self.from.get(at).copied(),
        };
        let numbered = self.strides.iter().enumerate();
        let numbered = numbered.map(|(at, stride)| (stride, from(at)));
        let units: Vec<_> = numbered
            .chain(self.units().map(|unit| (unit, None)))
            .collect();
        let (mut shares, at) = shares(&split.rest.minus(&self.origin)?, &units)?;
        let first = shares.split_off(self.strides.len());
        for (index, offset) in place.iter_mut().zip(shares) {
            index.offset = offset;
        }
        Some((place, first, at))
    }

    /// The numbers of the element that an access is to, where it is to one, and what of it.
    pub fn index(&self, found: &Found<'c>) -> Option<(Vec<Index>, Within)> {
        let (place, first, at) = self.numbers(found)?;
        let within = self.within(&first, at, found.split.as_ref()?)?;
        Some((place, within))
    }

    /// The same with larger elements, which have in them what others access of the same object, where that can be.
    pub fn widened<'f>(mut self, all: &[&'f Found<'c>]) -> Self
    where
        'c: 'f,
    {
        let mut all = all.to_vec();
        // The nearest ones say how far parts are apart that are accessed one by one.
        all.sort_by_key(|found| {
            let split = found.split.as_ref();
            let distance = split.and_then(|split| split.rest.minus(&self.origin));
            distance.map(|distance| size(&distance))
        });
        // As often as elements can become larger.
        for _ in 0..8 {
            let before = self.clone();
            for found in &all {
                if self.index(found).is_none() {
                    self.widen(found);
                }
            }
            if self == before {
                break;
            }
        }
        self
    }

    fn widen(&mut self, found: &Found<'c>) -> Option<()> {
        let split = found.split.as_ref()?;
        let mut wide = self.clone();
        for part in &split.parts {
            if self.strides.contains(&part.stride) {
                return None;
            }
            if !wide.parts.iter().any(|one| one.stride == part.stride) {
                wide.parts.push(part.clone());
            }
        }
        wide.parts.sort_by_key(|part| Reverse(size(&part.stride)));
        if wide.numbers(found).is_none() && found.place.base == wide.base {
            // Parts that are accessed one by one, so far away as this one is.
            let stride = split.rest.minus(&self.origin)?;
            if wide.strides.contains(&stride) || stride.as_constant().is_some() {
                return None;
            }
            wide.parts.push(Part {
                stride,
                count: Polynomial::constant(1),
            });
            wide.parts.sort_by_key(|part| Reverse(size(&part.stride)));
        }
        let (_, first, at) = wide.numbers(found)?;
        for (part, first) in wide.parts.iter_mut().zip(first) {
            let count = split
                .parts
                .iter()
                .find(|one| one.stride == part.stride)
                .map_or(Polynomial::constant(1), |one| one.count.clone());
            if first < 0 {
                return None;
            }
            let last = count.plus(&Polynomial::constant(first))?;
            match part.count.minus(&last)?.as_constant()? {
                0.. => {}
                _ => part.count = last,
            }
        }
        let bytes = at.checked_add(split.bytes)?.max(self.bytes);
        let constants = self.strides.iter().chain(wide.units());
        let least = constants
            .filter_map(|one| one.as_constant())
            .map(i64::abs)
            .filter(|one| *one > 0)
            .min();
        if at < 0 || least.is_some_and(|least| bytes > least) {
            return None;
        }
        wide.bytes = bytes;
        *self = wide;
        Some(())
    }
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

/// What is declared by names, and what has been found.
struct Binding<'a, 'c> {
    names: &'a [Vec<&'a Declared<'a>>],
    found: &'a [Vec<Found<'c>>],
    depths: &'a [usize],
    arrays: &'a Arrays<'c>,
}

/// The arrays in objects, as the types say that the program names.
#[derive(Default)]
pub struct Arrays<'c> {
    /// The object, the size of the array, and that of its elements.
    pub all: Vec<(Base<'c>, i64, i64)>,
}

impl<'c> Arrays<'c> {
    /// Whether there is one in an object with a size and a size of elements.
    pub fn has(&self, base: &Base<'c>, size: &Number<'c>, element: &Number<'c>) -> bool {
        let sizes = size.as_constant().zip(element.as_constant());
        sizes.is_some_and(|(size, element)| {
            let is_it =
                |one: &(Base<'c>, i64, i64)| one.0 == *base && (one.1, one.2) == (size, element);
            self.all.iter().any(is_it)
        })
    }

    /// The sizes of those in an object that have elements of some sizes.
    fn around(&self, base: &Base<'c>, elements: &[Number<'c>]) -> Vec<Number<'c>> {
        let has = |size: i64| elements.iter().any(|one| one.as_constant() == Some(size));
        let its = self.all.iter().filter(|one| one.0 == *base && has(one.2));
        its.map(|one| Polynomial::constant(one.1)).collect()
    }
}

/// What names stand for, given all that is declared by each: what most of it fits to. Where several things fit as well, it is
/// one that no other name stands for. Elements are as large as what is declared needs, where else something would be accessed
/// that is in no element.
pub fn named<'c>(
    names: &[Vec<&Declared<'_>>],
    found: &[Vec<Found<'c>>],
    depths: &[usize],
    arrays: &Arrays<'c>,
) -> Vec<Option<Named<'c>>> {
    let binding = Binding {
        names,
        found,
        depths,
        arrays,
    };
    let candidates = names.iter().map(|its| binding.candidates(its));
    let mut candidates: Vec<Vec<Named<'c>>> = candidates.collect();
    let bases = names.iter().zip(&candidates);
    let bases: Vec<_> = bases.map(|(its, all)| binding.objects(its, all)).collect();
    let mut objects: Vec<Option<Base<'c>>> = bases
        .iter()
        .map(|its| match &its[..] {
            [one] => Some(one.clone()),
            _ => None,
        })
        .collect();
    for (at, its) in bases.iter().enumerate().filter(|one| one.1.len() > 1) {
        let is_new = |one: &&Base<'c>| !objects.iter().flatten().any(|other| other == *one);
        objects[at] = its.iter().find(is_new).or(its.first()).cloned();
    }
    for (its, object) in candidates.iter_mut().zip(&objects) {
        its.retain(|one| object.as_ref() == Some(&one.base));
    }
    let best = names.iter().zip(&candidates);
    let best: Vec<_> = best.map(|(its, all)| binding.best(its, all)).collect();
    let clear = best.iter().map(|its| match &its[..] {
        [one] => Some(one.clone()),
        _ => None,
    });
    let mut all: Vec<Option<Named<'c>>> = clear.collect();
    for (at, its) in best.iter().enumerate().filter(|one| one.1.len() > 1) {
        let is_free = |one: &&Named<'c>| {
            let mut known = all.iter().flatten();
            !known.any(|other| other.base == one.base && other.origin == one.origin)
        };
        all[at] = its.iter().find(is_free).or(its.first()).cloned();
    }
    for (at, candidates) in candidates.iter().enumerate() {
        if let Some(wide) = binding.widened(at, candidates, &all) {
            all[at] = Some(wide);
        }
    }
    all
}

impl<'c> Binding<'_, 'c> {
    /// What a name may stand for.
    fn candidates(&self, its: &[&Declared<'_>]) -> Vec<Named<'c>> {
        let mut all = Vec::new();
        for one in its {
            let accesses = self.found[one.nest].iter();
            for access in accesses.filter(|access| is_so(access, one.said)) {
                for fits in fitting(one.place, access, self.arrays) {
                    if !all.contains(&fits) {
                        all.push(fits);
                    }
                }
            }
        }
        all
    }

    /// What most of what is declared by a name fits to.
    fn best(&self, its: &[&Declared<'_>], candidates: &[Named<'c>]) -> Vec<Named<'c>> {
        let mut best: Vec<Named<'c>> = Vec::new();
        let mut most = 0;
        for candidate in candidates {
            let fits = |one: &&&Declared<'_>| {
                let mut accesses = self.found[one.nest].iter();
                accesses.any(|access| {
                    is_so(access, one.said)
                        && candidate.is_just(one.place, self.depths[one.nest], access)
                })
            };
            let count = 2 * its.iter().filter(fits).count()
                + usize::from(candidate.origin.as_constant() == Some(0));
            if count > most {
                best.clear();
                most = count;
            }
            if count == most {
                best.push(candidate.clone());
            }
        }
        best
    }

    /// The objects that a name may stand for: the variable of that name; else those that most of what is declared by it is
    /// done in, and least else.
    fn objects(&self, its: &[&Declared<'_>], candidates: &[Named<'c>]) -> Vec<Base<'c>> {
        let mut best = Vec::new();
        let mut most = None;
        let mut bases: Vec<&Base<'c>> = Vec::new();
        for one in candidates {
            if !bases.contains(&&one.base) {
                bases.push(&one.base);
            }
        }
        let is_called = |base: &Base<'c>| {
            let mut its = its.iter();
            has_name(base) && its.any(|one| one.said.space.text == base.to_string())
        };
        if bases.iter().any(|base| is_called(base)) {
            bases.retain(|base| is_called(base));
        }
        for base in bases {
            let all = self.accesses(base, |_, _| false);
            let accesses: Vec<_> = all.iter().map(|one| one.1).collect();
            let own = candidates.iter().filter(|one| one.base == *base);
            let scores = own.clone().flat_map(|one| {
                let wide = one.clone().widened(&accesses);
                [self.score(its, one, &all), self.score(its, &wide, &all)]
            });
            let mut scores = scores.map(|score| (score.0, score.1, score.3)).max();
            if !scores.is_some_and(|(done, other, _)| is_all(its, (done, other))) {
                let apart = own.take(MOST_GUESSES);
                let apart = apart.flat_map(|one| self.apart(its, one, &all));
                let apart = apart.map(|one| self.score(its, &one, &all));
                scores = scores.max(apart.map(|score| (score.0, score.1, score.3)).max());
            }
            if scores > most {
                most = scores;
                best.clear();
            }
            if scores == most {
                best.push(base.clone());
            }
        }
        best
    }

    /// What has been found of an object, with its nest, without what is left out.
    fn accesses(
        &self,
        base: &Base<'c>,
        is_left_out: impl Fn(usize, &Found<'c>) -> bool,
    ) -> Vec<(usize, &Found<'c>)> {
        let nests = self.found.iter().enumerate();
        let all = nests.flat_map(|(nest, its)| its.iter().map(move |one| (nest, one)));
        all.filter(|(nest, one)| {
            one.place.base == *base && one.split.is_some() && !is_left_out(*nest, one)
        })
        .collect()
    }

    /// How much of what is declared by a name is done if it stands for something, how little is done besides, and then what
    /// is preferred: short runs, and what begins where the object does.
    fn score(
        &self,
        its: &[&Declared<'_>],
        one: &Named<'c>,
        all: &[(usize, &Found<'c>)],
    ) -> (usize, Reverse<usize>, i64, bool) {
        let is_at = |nest: usize, access: &Found<'c>, said: &Declared<'_>| {
            said.nest == nest
                && is_so(access, said.said)
                && one.at(said.place, self.depths[nest], access).is_some()
        };
        let done = { its.iter() }
            .filter(|said| all.iter().any(|&(nest, access)| is_at(nest, access, said)));
        let other = all.iter().filter(|&&(nest, access)| {
            let is_said = self.names.iter().flatten().any(|said| said.nest == nest);
            match is_said {
                true => !its.iter().any(|said| is_at(nest, access, said)),
                false => one.index(access).is_none(),
            }
        });
        let is_first = one.origin.as_constant() == Some(0);
        (
            done.count(),
            Reverse(other.count()),
            i64::MAX - one.bytes,
            is_first,
        )
    }

    /// What a name stands for with larger elements of the same object, where that explains more.
    fn widened(
        &self,
        name: usize,
        candidates: &[Named<'c>],
        known: &[Option<Named<'c>>],
    ) -> Option<Named<'c>> {
        let now = known[name].as_ref()?;
        let is_others = |nest: usize, access: &Found<'c>| {
            (0..known.len()).any(|other| {
                let is_at = |one: &&Declared<'_>| {
                    let named = known[other].as_ref();
                    one.nest == nest
                        && is_so(access, one.said)
                        && named.is_some_and(|named| {
                            named.is_just(one.place, self.depths[nest], access)
                        })
                };
                other != name && self.names[other].iter().any(is_at)
            })
        };
        let all = self.accesses(&now.base, is_others);
        let its = &self.names[name];
        let now = self.score(its, now, &all);
        if is_all(its, (now.0, now.1)) {
            return None;
        }
        let accesses: Vec<_> = all.iter().map(|one| one.1).collect();
        let wide = candidates.iter().map(|one| one.clone().widened(&accesses));
        let mut best = None;
        let mut choose = |all_of: &mut dyn Iterator<Item = Named<'c>>| {
            for one in all_of {
                let score = self.score(its, &one, &all);
                let is_more = (score.0, score.1) > (now.0, now.1);
                if is_more && best.as_ref().is_none_or(|(most, _)| score > *most) {
                    best = Some((score, one));
                }
            }
            best.as_ref()
                .is_some_and(|(score, _)| is_all(its, (score.0, score.1)))
        };
        if !choose(&mut wide.into_iter()) {
            let apart = candidates
                .iter()
                .take(MOST_GUESSES)
                .flat_map(|one| self.apart(its, one, &all));
            choose(&mut apart.collect::<Vec<_>>().into_iter());
        }
        best.map(|(_, one)| one)
    }

    /// What a name may stand for if parts of elements are accessed one by one, without a loop: they are as far apart as one of
    /// them is from where an element is declared, and as arrays are long, where that is a constant.
    fn apart(
        &self,
        its: &[&Declared<'_>],
        one: &Named<'c>,
        all: &[(usize, &Found<'c>)],
    ) -> Vec<Named<'c>> {
        // How far accesses are from the elements that are declared.
        let distances = |named: &Named<'c>, nest: usize, access: &Found<'c>| {
            let places = its
                .iter()
                .filter(|said| said.nest == nest && is_so(access, said.said));
            let distance = |said: &&Declared<'_>| {
                let split = access.split.as_ref()?;
                let (factors, rest) = named.place(said.place, self.depths[nest])?;
                let distance = split.rest.minus(&rest)?;
                (factors == split.factors).then_some(distance)
            };
            let found: Vec<_> = places.filter_map(distance).collect();
            found
        };
        let is_at = |named: &Named<'c>, nest: usize, access: &Found<'c>| {
            its.iter().any(|said| {
                said.nest == nest
                    && is_so(access, said.said)
                    && named.at(said.place, self.depths[nest], access).is_some()
            })
        };
        let is_other = |stride: &Number<'c>| !one.strides.contains(stride);
        let accesses: Vec<_> = all.iter().map(|one| one.1).collect();
        let mut strides: Vec<Number<'c>> = self.arrays.around(&one.base, &one.strides);
        strides.retain(is_other);
        for &(nest, access) in all
            .iter()
            .filter(|(nest, access)| !is_at(one, *nest, access))
        {
            for distance in distances(one, nest, access) {
                let is_new = distance.as_constant().is_none() && !strides.contains(&distance);
                if is_new && is_other(&distance) && strides.len() < MOST_GUESSES {
                    strides.push(distance);
                }
            }
        }
        let with = |stride: Number<'c>| {
            let mut named = one.clone();
            named.parts.push(Part {
                stride,
                count: Polynomial::constant(1),
            });
            named.parts.sort_by_key(|part| Reverse(size(&part.stride)));
            for &(nest, access) in all {
                if is_at(&named, nest, access) {
                    continue;
                }
                for distance in distances(&named, nest, access) {
                    let units: Vec<_> = named.units().map(|unit| (unit, None)).collect();
                    let Some((first, at)) = shares(&distance, &units) else {
                        continue;
                    };
                    let fits = first.iter().all(|first| (0..64).contains(first));
                    if !fits || at != 0 {
                        continue;
                    }
                    for (part, first) in named.parts.iter_mut().zip(first) {
                        if part.count.as_constant().is_some_and(|count| count <= first) {
                            part.count = Polynomial::constant(first + 1);
                        }
                    }
                    break;
                }
            }
            // Loops that declare nothing may access more of them.
            named.widened(&accesses)
        };
        strides.into_iter().map(with).collect()
    }
}

/// Whether all that is declared by a name is done, and nothing besides.
fn is_all(its: &[&Declared<'_>], (done, other): (usize, Reverse<usize>)) -> bool {
    done == its.len() && other.0 == 0
}

/// Distances of parts, and elements, that are tried for a name.
const MOST_GUESSES: usize = 24;

/// What a name may stand for if an element that is declared by it is what an access is to. How far elements are apart in a
/// dimension in which it does not move the arrays say that there are in the object, or where it is; where neither does, it is
/// as if rows were anywhere.
fn fitting<'c>(place: &[Index], access: &Found<'c>, arrays: &Arrays<'c>) -> Vec<Named<'c>> {
    let Some(split) = &access.split else {
        return Vec::new();
    };
    // The distances in the last dimensions.
    let mut found: Vec<Vec<Number<'c>>> = vec![Vec::new()];
    for (at, index) in place.iter().enumerate().rev() {
        let twice = place[..at]
            .iter()
            .any(|one| one.iterator.is_some() && one.iterator == index.iterator);
        let moves = |level: usize| {
            let factor = split.factors.get(level)?;
            (!twice && factor.as_constant() != Some(0)).then(|| factor.clone())
        };
        let mut more = Vec::new();
        for behind in &found {
            let its = match index.iterator {
                Some(level) => moves(level).into_iter().collect(),
                None => distances(behind.first(), index.offset, access, split, arrays),
            };
            more.extend(its.into_iter().map(|stride| {
                let mut all = vec![stride];
                all.extend(behind.iter().cloned());
                all
            }));
        }
        more.truncate(MOST_GUESSES);
        found = more;
    }
    let used = place.iter().filter(|one| one.iterator.is_some()).count();
    let moves = { split.factors.iter() }.filter(|one| one.as_constant() != Some(0));
    if used != moves.count() {
        return Vec::new();
    }
    let named = |strides: Vec<Number<'c>>| {
        if split.parts.iter().any(|one| strides.contains(&one.stride)) {
            return None;
        }
        let mut origin = split.rest.clone();
        for (index, stride) in place.iter().zip(&strides) {
            origin = origin.minus(&stride.times(&Polynomial::constant(index.offset))?)?;
        }
        let named = Named {
            base: access.place.base.clone(),
            origin,
            from: Vec::new(),
            strides,
            parts: split.parts.clone(),
            bytes: split.bytes,
        };
        Some(named.counted_from_the_beginning())
    };
    found.into_iter().filter_map(named).collect()
}

/// How far elements may be apart in a dimension in which an access does not move, given how far they are in the next one.
fn distances<'c>(
    next: Option<&Number<'c>>,
    offset: i64,
    access: &Found<'c>,
    split: &Split<'c>,
    arrays: &Arrays<'c>,
) -> Vec<Number<'c>> {
    let base = &access.place.base;
    let mut all = Vec::new();
    let mut add = |one: Number<'c>| {
        if !all.contains(&one) && !split.factors.contains(&one) {
            all.push(one);
        }
    };
    let its = arrays.all.iter().filter(|one| one.0 == *base);
    let Some(next) = next else {
        add(Polynomial::constant(split.bytes));
        let elements = its.map(|one| one.2).filter(|bytes| *bytes > split.bytes);
        elements.for_each(|bytes| add(Polynomial::constant(bytes)));
        return all;
    };
    // A pointer in memory may be one of a table, of which other names stand for others.
    if !matches!(base, Base::Value(_)) {
        return all;
    }
    let is_around = |one: &&(Base<'c>, i64, i64)| next.as_constant() == Some(one.2);
    its.filter(is_around)
        .for_each(|one| add(Polynomial::constant(one.1)));
    // It may be so many rows behind the beginning.
    let largest = { split.rest.terms() }.max_by_key(|(factors, _)| factors.len());
    let row = largest.and_then(|(factors, times)| {
        let is_many = offset != 0 && times % offset == 0 && !factors.is_empty();
        let factors = factors.iter().cloned().map(Polynomial::of);
        { factors }.try_fold(
            Polynomial::constant(times.checked_div(offset).filter(|_| is_many)?),
            |product, one| product.times(&one),
        )
    });
    row.into_iter().for_each(add);
    if all.is_empty() {
        all.push(Polynomial::of(Unknown::Row(Box::new(base.clone()))));
    }
    all
}
