//! Whether elements with different numbers are different ones.

use okl_chains::model;

use super::numbers::{Number, Unknown};
use super::objects::Spaces;
use super::spaces::{Arrays, Declared, Named};
use super::splits::size;
use super::{Domain, Looked};
use crate::diagnostic::Site;
use crate::numbers::Polynomial;

/// What is known of two numbers of bytes.
#[derive(Clone, Copy, PartialEq)]
enum Room {
    /// The larger one is as large as it has to be.
    Enough,
    /// It is not.
    Less,
    Unknown,
}

impl<'c> Looked<'_, 'c, '_> {
    /// That rows do not reach into the next ones, nor the parts of an element into those of others: else elements with
    /// different numbers are the same.
    pub(super) fn check_rows(
        &mut self,
        spaces: &Spaces<'c>,
        nests: &[Vec<model::Access>],
        domains: &[Domain<'c>],
        declared: &[Declared<'_>],
    ) {
        for (number, (space, named)) in spaces.all.iter().enumerate() {
            let Some(named) = named.as_ref().filter(|named| !named.strides.is_empty()) else {
                continue;
            };
            let is_named = spaces.is_named(number);
            let mut its = nests.iter().flatten().filter(|one| one.space == number);
            // Nothing depends on which of them is read where nothing writes one.
            if !is_named && its.all(|one| one.mode == model::Mode::Read) {
                continue;
            }
            let name = &space.name;
            let is_said = |at: usize, constant: i64| {
                let mut its = declared.iter().filter(|one| one.said.space.text == *name);
                is_named
                    && its.any(|one| {
                        let index = one.place.get(at);
                        index.is_some_and(|one| one.iterator.is_none() && one.offset == constant)
                    })
            };
            let (least, rows) = room(number, named, nests, domains, (&self.arrays, &is_said));
            let site = Site::Instruction(self.chain.site.instruction());
            match least {
                Room::Enough => {}
                Room::Unknown if is_named => {
                    let told = format!(
                        "it is trusted that elements of {name} beside each other are different ones"
                    );
                    self.trust(site, told);
                }
                _ => {
                    let told =
                        format!("elements of {name} beside each other may have memory in common");
                    self.decline(site, &told);
                }
            }
            for (room, may_trust) in rows {
                match room {
                    Room::Enough => {}
                    Room::Less => {
                        let told = format!(
                            "elements of {name} with different numbers are the same: its rows are shorter than the loops go"
                        );
                        self.decline(site, &told);
                    }
                    Room::Unknown if is_named && may_trust => {
                        let told = format!(
                            "it is trusted that elements of {name} with different numbers are different ones"
                        );
                        self.trust(site, told);
                    }
                    Room::Unknown => {
                        let told = format!(
                            "it is not known whether elements of {name} with different numbers are different ones"
                        );
                        self.decline(site, &told);
                    }
                }
            }
        }
    }
}

/// A distance of elements or of parts of them, and how far numbers go that are multiplied with it: of each access from where
/// to where, and the nest.
struct Unit<'c> {
    stride: Number<'c>,
    is_part: bool,
    /// Whether the programmer has said those that are the same for all iterations.
    is_said: bool,
    ends: Vec<(Ends<'c>, Option<usize>)>,
}

/// Whether there is room for an element in the least distance, and in each other one for all that lies in the next smaller
/// one, and whether the latter may be trusted: then no two elements have anything in common.
fn room<'c>(
    number: usize,
    named: &Named<'c>,
    nests: &[Vec<model::Access>],
    domains: &[Domain<'c>],
    (arrays, is_said): (&Arrays<'c>, &dyn Fn(usize, i64) -> bool),
) -> (Room, Vec<(Room, bool)>) {
    let of_access = |nest: usize, access: &model::Access, at: usize| {
        let index = access.index.as_ref()?.get(at)?;
        let offset = Polynomial::constant(index.constant);
        let level = index.iterators.iter().position(|one| *one != 0);
        let (first, last) = match level {
            Some(level) => domains[nest].get(level)?.clone(),
            None => [0, 0].map(Polynomial::constant).into(),
        };
        Some((first.plus(&offset)?, last.plus(&offset)?))
    };
    let accesses = || {
        let all = nests.iter().enumerate();
        let all = all.flat_map(|(nest, its)| its.iter().map(move |one| (nest, one)));
        all.filter(|(_, one)| one.space == number && one.index.is_some())
    };
    let dimensions = named.strides.iter().enumerate().map(|(at, stride)| Unit {
        stride: stride.clone(),
        is_part: false,
        is_said: accesses().all(|(_, access)| {
            let index = access.index.as_ref().and_then(|index| index.get(at));
            index.is_none_or(|one| {
                one.iterators.iter().any(|times| *times != 0) || is_said(at, one.constant)
            })
        }),
        ends: accesses()
            .map(|(nest, access)| (of_access(nest, access, at), Some(nest)))
            .collect(),
    });
    let parts = named.parts.iter().map(|part| {
        let last = part.count.minus(&Polynomial::constant(1));
        Unit {
            stride: part.stride.clone(),
            is_part: true,
            is_said: true,
            ends: vec![(last.map(|last| (Polynomial::constant(0), last)), None)],
        }
    });
    let mut units: Vec<Unit<'c>> = dimensions.chain(parts).collect();
    // A number that all accesses have in common tells no elements apart.
    units.retain(|one| one.is_part || !is_one(&one.ends));
    units.sort_by_key(|one| std::cmp::Reverse(size(&one.stride)));
    let nests: Vec<usize> = accesses().map(|(nest, _)| nest).collect();
    let least = units.last().map_or(Room::Enough, |least| {
        let all = nests.iter().map(|&nest| {
            let known = Known::of(&domains[nest]);
            known.length(&least.stride).map_or(Room::Unknown, |length| {
                known.room(length.minus(&Polynomial::constant(named.bytes)))
            })
        });
        match least.stride.as_constant() {
            Some(least) if least.saturating_abs() >= named.bytes => Room::Enough,
            Some(_) => Room::Less,
            None => worst(all),
        }
    });
    let rows = units.windows(2).map(|pair| {
        let [outer, inner] = pair else {
            return (Room::Unknown, false);
        };
        // Rows that pointers lead to, and arrays, are trusted to be as long as the programmer goes in them, as what else he
        // numbers.
        let is_array = arrays.has(&named.base, &outer.stride, &inner.stride);
        let is_long = !outer.is_part || is_array || is_row(&outer.stride);
        // The last element of a row, or the one in front of the next one, where nobody has said which.
        let is_clear = is_array || inner.is_said;
        let may_trust = is_long && !inner.is_part && is_clear;
        let ends = || inner.ends.iter();
        let pairs = ends().flat_map(|one| ends().map(move |other| (one, other)));
        let room = worst(pairs.map(|(one, other)| {
            // Both accesses are done somewhere.
            let mut known = Known::default();
            let of = [one.1, other.1].into_iter().flatten();
            let is_known = of.clone().count() > 0;
            of.for_each(|nest| known.add(&domains[nest]));
            if !is_known {
                // Runs of bytes in an element: whatever accesses them.
                let all = nests.iter().map(|&nest| {
                    let known = Known::of(&domains[nest]);
                    rows_fit(&known, outer, inner, (&one.0, &other.0))
                });
                return worst(all);
            }
            rows_fit(&known, outer, inner, (&one.0, &other.0))
        }));
        (room, may_trust)
    });
    (least, rows.collect())
}

/// Whether all accesses have the same number.
fn is_one(ends: &[(Ends<'_>, Option<usize>)]) -> bool {
    let constant = |(ends, _): &(Ends<'_>, Option<usize>)| {
        let (first, last) = ends.as_ref()?;
        first.as_constant().filter(|_| first == last)
    };
    let first = ends.first().and_then(constant);
    first.is_some() && ends.iter().all(|one| constant(one) == first)
}

/// Whether it is the distance of rows that pointers lead to.
fn is_row(number: &Number<'_>) -> bool {
    let mut terms = number.terms();
    let is_one = |(factors, times): (&[_], i64)| times == 1 && matches!(factors, [Unknown::Row(_)]);
    terms.next().is_some_and(is_one) && terms.next().is_none()
}

/// From where to where numbers go.
type Ends<'c> = Option<(Number<'c>, Number<'c>)>;

/// Whether a distance has room for all that lies in the next smaller one, from the least number of one access to the most of
/// another.
fn rows_fit<'c>(
    known: &Known<'c>,
    outer: &Unit<'c>,
    inner: &Unit<'c>,
    (one, other): (&Ends<'c>, &Ends<'c>),
) -> Room {
    let ends = one.as_ref().zip(other.as_ref());
    let count = ends.and_then(|(one, other)| {
        let count = other.1.minus(&one.0)?;
        count.plus(&Polynomial::constant(1))
    });
    let room = |outer: &Number<'c>, inner: &Number<'c>| outer.minus(&inner.times(count.as_ref()?)?);
    // Whichever sign they have, it is the same.
    let is_just = [-1, 1].iter().any(|sign| {
        let outer = outer.stride.times(&Polynomial::constant(*sign));
        let room = outer.and_then(|outer| room(&outer, &inner.stride));
        room.and_then(|room| room.as_constant()) == Some(0)
    });
    if is_just {
        return Room::Enough;
    }
    // Where the smaller one is a constant, and some number is left, the larger one is positive.
    if let Some(inner) = inner.stride.as_constant().and_then(i64::checked_abs) {
        let room = room(&outer.stride, &Polynomial::constant(inner));
        if room
            .and_then(|room| room.as_constant())
            .is_some_and(|room| room >= 0)
        {
            return Room::Enough;
        }
    }
    let lengths = known.length(&outer.stride).zip(known.length(&inner.stride));
    lengths.map_or(Room::Unknown, |(outer, inner)| {
        known.room(room(&outer, &inner))
    })
}

/// The worst of several.
fn worst(all: impl Iterator<Item = Room>) -> Room {
    all.fold(Room::Enough, |worst, one| match (worst, one) {
        (Room::Less, _) | (_, Room::Less) => Room::Less,
        (Room::Unknown, _) | (_, Room::Unknown) => Room::Unknown,
        _ => Room::Enough,
    })
}

/// What is known of numbers where loops have an iteration: the least number that each of some unknown ones is.
#[derive(Default)]
struct Known<'c> {
    least: Vec<(Unknown<'c>, i64)>,
}

impl<'c> Known<'c> {
    fn of(domain: &Domain<'c>) -> Self {
        let mut known = Self::default();
        known.add(domain);
        known
    }

    /// Adds what is known where loops that go so far have an iteration.
    fn add(&mut self, domain: &Domain<'c>) {
        for (first, last) in domain {
            let Some(more) = last.minus(first) else {
                continue;
            };
            let mut constant = 0;
            let mut unknown = None;
            let mut others = 0;
            for (factors, times) in more.terms() {
                match (factors, times) {
                    ([], times) => constant = times,
                    ([one], times) if times > 0 => {
                        unknown = Some((one.clone(), times));
                        others += 1;
                    }
                    _ => others += 2,
                }
            }
            let Some((unknown, times)) = unknown.filter(|_| others == 1) else {
                continue;
            };
            // times * unknown + constant is not negative.
            let Some(constant) = constant.checked_neg() else {
                continue;
            };
            let least = constant.div_euclid(times) + i64::from(constant.rem_euclid(times) != 0);
            match self.least.iter_mut().find(|one| one.0 == unknown) {
                Some(one) => one.1 = one.1.max(least),
                None => self.least.push((unknown, least)),
            }
        }
    }

    /// Whether a number is not negative for sure: written with how much more than their least its unknowns are, it has no
    /// negative products.
    fn is_natural(&self, number: &Number<'c>) -> Option<bool> {
        if let Some(constant) = number.as_constant() {
            return Some(constant >= 0);
        }
        let mut sum = Polynomial::constant(0);
        for (factors, times) in number.terms() {
            let mut product = Polynomial::constant(times);
            for one in factors {
                let least = self.least.iter().find(|least| least.0 == *one)?.1;
                let more = Polynomial::of(one.clone()).plus(&Polynomial::constant(least))?;
                product = product.times(&more)?;
            }
            sum = sum.plus(&product)?;
        }
        sum.terms().all(|(_, times)| times > 0).then_some(true)
    }

    /// A number without its sign, where that is known.
    fn length(&self, number: &Number<'c>) -> Option<Number<'c>> {
        let turned = number.times(&Polynomial::constant(-1))?;
        match (self.is_natural(number), self.is_natural(&turned)) {
            (Some(true), _) => Some(number.clone()),
            (_, Some(true)) => Some(turned),
            _ => None,
        }
    }

    fn room(&self, room: Option<Number<'c>>) -> Room {
        match room.and_then(|room| self.is_natural(&room)) {
            Some(true) => Room::Enough,
            Some(false) => Room::Less,
            None => Room::Unknown,
        }
    }
}
