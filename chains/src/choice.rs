//! Which loops become one where nobody says so: a model of what a chain moves through the caches.
//!
//! Candidates are the ways to cut a chain into loops that follow each other and become one. Of nests that are one, all loops
//! but the innermost one are shared, or the outermost one alone: innermost loops are not moved, and are vectorised; some of
//! them become one later ([`joined`](crate::joined)). What is
//! not parallel is no candidate. An element costs what it takes to get it from where it is: from memory, where all that the
//! chain accesses does not fit into a cache, when it is touched for the first time in loops that are one; later on from the
//! cache that holds all that is touched before that happens again, which is rows of each space, as many as those loops need at
//! a time. A temporary space whose users are one stays in that cache.
//!
//! What has an extent that is not known is taken for large. Of two ways that are about the same, the one that is nearer to
//! what is written is taken: nothing here decides what is right, which is proved of what is chosen like of what is asked for.

use crate::blocks::{self, Distance};
use crate::dependences::Kind;
use crate::isl::{Extreme, Map, Result};
use crate::legality;
use crate::model::{Affine, Mode, Nest};
use crate::notation;
use crate::order::Order;

/// Bytes of a number.
pub(crate) const BYTES: f64 = 8.0;
/// Sizes of caches of a thread, less what else is in them, and what it costs to get a byte from each, in terms of memory.
pub(crate) const CACHES: [(f64, f64); 3] = [
    (24.0 * 1024.0, 0.02),
    (768.0 * 1024.0, 0.15),
    (8.0 * 1024.0 * 1024.0, 0.4),
];
/// What a region of several threads costs, in bytes of memory.
pub(crate) const REGION: f64 = 32.0 * 1024.0;
/// What it costs to begin an innermost loop, in bytes of memory.
const LOOP: f64 = 16.0;
/// Extents that are not known, by dimensions.
const EXTENTS: [f64; 4] = [1e6, 1e6, 4096.0, 128.0];
/// An order is chosen where it costs at most so much of what the loops do as they are written.
const WORTH: f64 = 0.9;
/// Loops that become one are at most so many.
const MOST: usize = 24;
/// Nothing is further away.
const FARTHEST: i64 = 64;

/// Nests that become one, or one alone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chosen {
    /// How many there are: they follow the ones before.
    pub count: usize,
    /// By how much each is moved, in each loop that they share.
    pub shifts: Vec<Vec<i64>>,
}

/// What becomes one.
pub(crate) fn choose(order: &Order) -> Result<Vec<Chosen>> {
    let model = Model::new(order)?;
    let nests = order.chain.nests.len();
    let alone = |nest: usize| Chosen {
        count: 1,
        shifts: vec![vec![0; order.chain.nests[nest].bounds.len()]],
    };
    // The cheapest way to run the nests from each one on.
    let mut best: Vec<(f64, Vec<Chosen>)> = vec![(0.0, Vec::new())];
    for first in (0..nests).rev() {
        let mut cheapest: Option<(f64, Vec<Chosen>)> = None;
        for end in first + 1..=nests.min(first + MOST) {
            let found = match end - first {
                1 => Some((model.cost(first, &[], 0, 0), alone(first))),
                _ => model.fused(first, end),
            };
            let Some((cost, chosen)) = found else {
                continue;
            };
            let (rest, others) = &best[nests - end];
            let cost = cost + rest;
            if cheapest.as_ref().is_none_or(|known| cost < known.0) {
                let all = [chosen].into_iter().chain(others.iter().cloned());
                cheapest = Some((cost, all.collect()));
            }
        }
        best.push(cheapest.expect("a nest can be alone"));
    }
    let written: Vec<_> = (0..nests).map(alone).collect();
    let costs: f64 = (0..nests).map(|nest| model.cost(nest, &[], 0, 0)).sum();
    let (cost, chosen) = best.pop().expect("there is one for all nests");
    Ok(if cost <= WORTH * costs {
        chosen
    } else {
        written
    })
}

/// How far iterations of two nests that depend on each other are from each other, in each dimension that both have, where
/// that is limited.
struct Far {
    from: usize,
    to: usize,
    kind: Kind,
    ends: Vec<Option<(i64, i64)>>,
}

struct Model<'a> {
    order: &'a Order<'a>,
    far: Vec<Far>,
    /// Bytes of all spaces.
    footprint: f64,
}

impl<'a> Model<'a> {
    fn new(order: &'a Order<'a>) -> Result<Self> {
        let far = order.dependences.iter().map(|dependence| {
            let (from, to) = (dependence.from, dependence.to);
            let rank = |nest: usize| order.chain.nests[nest].bounds.len();
            let depth = rank(from).min(rank(to));
            let (one, other) = (&order.groups[from], &order.groups[to]);
            let pair = legality::between(order, one, other, dependence, depth)?;
            let end = |place: usize, sign: &str| {
                let header = notation::header(order.chain, &[]);
                let tuple = notation::tuple("q", pair.quantities);
                let text = format!("{header}{{ {tuple} -> [{sign}q{place}] }}");
                let map = Map::read(&order.isl, &text)?;
                Ok(match pair.set.clone().apply(map)?.largest(0)? {
                    Extreme::Is(more) if more.abs() <= FARTHEST => Some(more),
                    _ => None,
                })
            };
            let ends = (0..depth).map(|place| {
                let (least, largest) = (end(place, "-")?, end(place, "")?);
                Ok(least.zip(largest).map(|(least, largest)| (-least, largest)))
            });
            let ends = ends.collect::<Result<_>>()?;
            let kind = dependence.kind;
            Ok(Far {
                from,
                to,
                kind,
                ends,
            })
        });
        let far = far.collect::<Result<_>>()?;
        let mut model = Self {
            order,
            far,
            footprint: 0.0,
        };
        let spaces = 0..order.chain.spaces.len();
        model.footprint = spaces.map(|space| model.size(space)).sum();
        Ok(model)
    }

    /// The bytes of a space that are accessed.
    fn size(&self, space: usize) -> f64 {
        let nests = self.order.chain.nests.iter();
        let its = nests.filter(|nest| nest.accesses.iter().any(|one| one.space == space));
        let sizes = its.map(|nest| {
            let rank = self.order.chain.spaces[space].rank.min(nest.bounds.len());
            (0..rank).map(|at| extent(nest, at)).product::<f64>()
        });
        BYTES * sizes.fold(1.0, f64::max)
    }

    /// The cheapest way to make nests one, where there is one in which they are parallel.
    fn fused(&self, first: usize, end: usize) -> Option<(f64, Chosen)> {
        let nests = &self.order.chain.nests[first..end];
        let rank = nests[0].bounds.len();
        if rank == 0 || nests.iter().any(|nest| nest.bounds.len() != rank) {
            return None;
        }
        let inside =
            |one: &&Far| (first..end).contains(&one.from) && (first..end).contains(&one.to);
        let far: Vec<_> = self.far.iter().filter(inside).collect();
        let mut depths = vec![rank.max(2) - 1];
        if rank > 2 {
            depths.push(1);
        }
        let mut cheapest: Option<(f64, Chosen)> = None;
        for depth in depths {
            let Some(shifts) = shifts(&far, first, end - first, depth) else {
                continue;
            };
            // A loop that is the innermost one stays vectorised where nothing is moved in it.
            let is_moved = shifts.iter().flatten().any(|&shift| shift != 0);
            let is_near = |one: &&Far| one.kind == Kind::Combine || one.ends[0] == Some((0, 0));
            if rank == 1 && (is_moved || !far.iter().all(is_near)) {
                continue;
            }
            let Some(edges) = edges(&far, first, &shifts) else {
                continue;
            };
            let cost = self.cost(first, &shifts, depth, edges);
            if cheapest.as_ref().is_none_or(|known| cost < known.0) {
                let count = end - first;
                cheapest = Some((cost, Chosen { count, shifts }));
            }
        }
        cheapest
    }

    /// What nests that are one cost, or a single one where there are no shifts. `edges` are rows that run in front of blocks.
    fn cost(&self, first: usize, shifts: &[Vec<i64>], depth: usize, edges: i64) -> f64 {
        let count = shifts.len().max(1);
        let nests = &self.order.chain.nests[first..first + count];
        let from = |bytes: f64| {
            let cache = CACHES.iter().find(|cache| bytes <= cache.0);
            cache.map_or(1.0, |cache| cache.1)
        };
        let far = from(self.footprint);
        let (mut once, mut again, mut alive, mut row) = (0.0, 0.0, 0.0, 0.0);
        for (space, described) in self.order.chain.spaces.iter().enumerate() {
            let uses = |nest: &&Nest| nest.accesses.iter().any(|one| one.space == space);
            let users = nests.iter().filter(uses).count();
            if users == 0 || described.rank == 0 {
                continue;
            }
            let all = self.order.chain.nests.iter().filter(uses).count();
            let its = nests.iter().flat_map(|nest| &nest.accesses);
            let its = its.filter(|access| access.space == space);
            let is_written = its.clone().any(|access| access.mode != Mode::Read);
            let size = self.size(space);
            if !(described.is_local && users == all && users > 1) {
                once += size * if is_written { 2.0 } else { 1.0 };
            }
            again += size * (users - 1) as f64;
            let (rows, bytes) = self.alive(first, shifts, depth, space);
            alive += rows * bytes;
            row += bytes;
        }
        let inner: f64 = nests
            .iter()
            .map(|nest| {
                let outer = nest.bounds.len().saturating_sub(1);
                (0..outer).map(|at| extent(nest, at)).product::<f64>()
            })
            .sum();
        let regions = if edges > 0 { 2.0 } else { 1.0 };
        once * far
            + again * from(alive).min(far)
            + edges as f64 * row * 2.0
            + inner * LOOP
            + regions * REGION
    }

    /// How many rows of a space are needed at a time, and the bytes of one. A row is what is inside of the loops that are
    /// shared.
    fn alive(&self, first: usize, shifts: &[Vec<i64>], depth: usize, space: usize) -> (f64, f64) {
        let mut bytes: f64 = BYTES;
        let mut spans = vec![None::<(i64, i64)>; depth];
        let mut extents = vec![1.0; depth];
        for (at, shift) in shifts.iter().enumerate() {
            let nest = &self.order.chain.nests[first + at];
            for access in nest.accesses.iter().filter(|one| one.space == space) {
                let Some(index) = &access.index else {
                    continue;
                };
                let inner = (depth..index.len().min(nest.bounds.len())).map(|at| extent(nest, at));
                bytes = bytes.max(BYTES * inner.product::<f64>());
                for (at, number) in index.iter().enumerate().take(depth) {
                    extents[at] = extent(nest, at);
                    let is_plain = number.less(&Affine::iterator(at, 0));
                    if is_plain.iterators.iter().any(|&factor| factor != 0) {
                        continue;
                    }
                    let place = is_plain.constant - shift[at];
                    let (least, largest) = spans[at].unwrap_or((place, place));
                    spans[at] = Some((least.min(place), largest.max(place)));
                }
            }
        }
        let rows = spans.iter().enumerate().map(|(at, span)| {
            let span = span.map_or(0, |(least, largest)| largest - least);
            span as f64 * extents[at + 1..].iter().product::<f64>()
        });
        (1.0 + rows.sum::<f64>(), bytes)
    }
}

fn extent(nest: &Nest, at: usize) -> f64 {
    let bounds = &nest.bounds[at];
    let count = bounds.last.less(&bounds.first);
    let is_constant = [&count.iterators, &count.parameters]
        .iter()
        .all(|factors| factors.iter().all(|&factor| factor == 0));
    match is_constant {
        true => (count.constant as f64 + 1.0).max(0.0),
        false => EXTENTS[nest.bounds.len().min(3)],
    }
}

/// By how much nests are moved in the loops that they share: as much as brings what belongs together to one iteration, else
/// as little as can be, and what is needed later as late as can be.
fn shifts(far: &[&Far], first: usize, count: usize, depth: usize) -> Option<Vec<Vec<i64>>> {
    let mut all = vec![vec![0; depth]; count];
    for at in 0..depth {
        let mut weights = Vec::new();
        for to in 0..count {
            for from in 0..to {
                let ours = far.iter().filter(|one| {
                    (one.from, one.to) == (first + from, first + to) && one.kind != Kind::Combine
                });
                let mut weight = None;
                for one in ours {
                    let (least, _) = one.ends[at]?;
                    weight = weight.max(Some(-least));
                }
                weights.extend(weight.map(|weight| (from, to, weight)));
            }
        }
        let shifts = together(&weights, count).unwrap_or_else(|| apart(&weights, count));
        let least = shifts.iter().min().copied().unwrap_or(0);
        for (shift, one) in all.iter_mut().zip(shifts) {
            shift[at] = one - least;
        }
    }
    Some(all)
}

/// Numbers whose differences are the weights.
fn together(weights: &[(usize, usize, i64)], count: usize) -> Option<Vec<i64>> {
    let mut known = vec![None; count];
    for start in 0..count {
        if known[start].is_some() {
            continue;
        }
        known[start] = Some(0);
        let mut members = vec![start];
        let mut next = 0;
        while let Some(&one) = members.get(next) {
            next += 1;
            for &(from, to, weight) in weights {
                let (other, more) = match one {
                    _ if one == from => (to, weight),
                    _ if one == to => (from, -weight),
                    _ => continue,
                };
                let value = known[one].map(|value: i64| value + more);
                match known[other] {
                    None => {
                        known[other] = value;
                        members.push(other);
                    }
                    some if some != value => return None,
                    _ => {}
                }
            }
        }
        let least = members.iter().filter_map(|&one| known[one]).min();
        for &one in &members {
            known[one] = known[one].zip(least).map(|(value, least)| value - least);
        }
    }
    known.into_iter().collect()
}

/// Numbers whose differences are at least the weights, which are from earlier ones to later ones.
fn apart(weights: &[(usize, usize, i64)], count: usize) -> Vec<i64> {
    let mut shifts = vec![0; count];
    for to in 0..count {
        let needed = weights.iter().filter(|one| one.1 == to);
        let needed = needed.map(|&(from, _, weight)| shifts[from] + weight);
        shifts[to] = needed.max().unwrap_or(0).max(0);
    }
    for from in (0..count).rev() {
        let possible = weights.iter().filter(|one| one.0 == from);
        let possible = possible.map(|&(_, to, weight)| shifts[to] - weight);
        if let Some(latest) = possible.min() {
            shifts[from] = latest;
        }
    }
    shifts
}

/// How many rows run in front of blocks; None where rows can neither run in parallel nor in blocks.
fn edges(far: &[&Far], first: usize, shifts: &[Vec<i64>]) -> Option<i64> {
    let mut distances = Vec::new();
    let mut is_parallel = true;
    // What is combined may be so in any order.
    for one in far.iter().filter(|one| one.kind != Kind::Combine) {
        let (least, largest) = one.ends[0]?;
        let (from, to) = (one.from - first, one.to - first);
        let moved = shifts[to][0] - shifts[from][0];
        is_parallel &= (least + moved, largest + moved) == (0, 0);
        distances.push(Distance {
            from,
            to,
            least,
            largest,
        });
    }
    if is_parallel {
        return Some(0);
    }
    if far.iter().any(|one| one.kind == Kind::Combine) {
        return None;
    }
    let edges = blocks::edges_of(&distances, shifts.len())?;
    Some(edges.iter().map(|edge| edge.rows()).sum())
}
