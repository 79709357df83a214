//! Which rank owns which element.
//!
//! Guarantee: every element of every set has one owner. Owners depend on nothing but the mesh and the number of
//! ranks, so that each rank finds the same ones.

use std::ops::Range;

use crate::{
    graph::Inverse,
    random::Random,
    topology::{Links, Rank, Topology},
};

/// Owners of one set, where it is the one that the others follow.
#[derive(Clone)]
pub(crate) struct Base {
    pub(crate) set: usize,
    pub(crate) owners: Vec<Rank>,
}

/// Contiguous parts of the same size, but for one element.
pub(crate) fn block(size: usize, ranks: usize) -> Vec<Rank> {
    let owners = (0..ranks).map(|rank| block_of(size, ranks, rank).map(move |_| rank as Rank));
    owners.flatten().collect()
}

/// The part of one of the ranks.
pub(crate) fn block_of(size: usize, ranks: usize, rank: usize) -> Range<usize> {
    let start = |rank: usize| (size as u128 * rank as u128).div_ceil(ranks as u128) as usize;
    start(rank)..start(rank + 1)
}

/// Elements without regard to where they lie, the same in every run.
pub(crate) fn scatter(size: usize, ranks: usize) -> Vec<Rank> {
    let mut random = Random(size as u64);
    (0..size).map(|_| random.below(ranks) as Rank).collect()
}

/// Recursive bisection: points are cut in two along the longest side of the box around them, until there is a part
/// for each rank. `points` has `dim` coordinates for each.
pub(crate) fn bisect(points: &[f64], dim: usize, ranks: usize) -> Vec<Rank> {
    let mut owners = vec![0; points.len() / dim];
    let mut elements: Vec<u32> = (0..owners.len() as u32).collect();
    cut(points, dim, &mut elements, 0..ranks as Rank, &mut owners);
    owners
}

fn cut(points: &[f64], dim: usize, elements: &mut [u32], ranks: Range<Rank>, owners: &mut [Rank]) {
    let count = ranks.len();
    if count == 1 {
        for &mut element in elements {
            owners[element as usize] = ranks.start;
        }
        return;
    }
    let coordinate = |element: u32, axis: usize| points[element as usize * dim + axis];
    let length = |axis: usize| {
        let all = elements.iter().map(|&element| coordinate(element, axis));
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| {
            (low.min(one), high.max(one))
        });
        high - low
    };
    // The first of the longest.
    let axis = (1..dim).fold(0, |best, axis| {
        if length(axis) > length(best) {
            axis
        } else {
            best
        }
    });
    let lower = count / 2;
    let at = (elements.len() as u128 * lower as u128 / count as u128) as usize;
    if at > 0 && at < elements.len() {
        // Equal coordinates are told apart by number: there is one way to cut.
        elements.select_nth_unstable_by(at, |&one, &other| {
            let (a, b) = (coordinate(one, axis), coordinate(other, axis));
            a.total_cmp(&b).then(one.cmp(&other))
        });
    }
    let middle = ranks.start + lower as Rank;
    let (left, right) = elements.split_at_mut(at);
    cut(points, dim, left, ranks.start..middle, owners);
    cut(points, dim, right, middle..ranks.end, owners);
}

impl Topology {
    /// The set to begin with where the program names none: the one to which most numbers of maps lead.
    pub(crate) fn most_used(&self) -> Option<usize> {
        let uses = |set: usize| -> usize {
            let maps = self.maps.iter().filter(|map| map.to == set);
            maps.map(|map| map.targets.len()).sum()
        };
        (0..self.sizes.len()).rev().max_by_key(|&set| uses(set))
    }

    /// Owners for all sets: of `base` the given ones; a set that is linked to one with owners follows it, each
    /// element to where most of those it is linked to are; the rest in blocks.
    pub(crate) fn owners(&self, base: Option<Base>, ranks: usize) -> Vec<Vec<Rank>> {
        self.follow(
            base.map(|base| (base.set, base.owners)),
            |set| block(self.sizes[set], ranks),
            |map, known| along(map, known, self.sizes[map.from]),
            |map, known| against(map, known, self.sizes[map.to], ranks),
        )
    }

    /// What is known of `first`, for all sets: a set that is linked to one of which it is known follows that, `along`
    /// a map to it or `against` one from it; others have what they are given `alone`.
    pub(crate) fn follow<T>(
        &self,
        first: Option<(usize, T)>,
        alone: impl Fn(usize) -> T,
        along: impl Fn(&Links, &T) -> T,
        against: impl Fn(&Links, &T) -> T,
    ) -> Vec<T> {
        let mut all: Vec<Option<T>> = self.sizes.iter().map(|_| None).collect();
        let mut order = Vec::new();
        let mut next = first;
        loop {
            let rest = all.iter().position(Option::is_none);
            let Some((set, found)) = next.or_else(|| rest.map(|set| (set, alone(set)))) else {
                break;
            };
            all[set] = Some(found);
            order.push(set);
            // The earlier the leader was known, the better, and a set's own maps are better than those that lead to it.
            next = order.iter().find_map(|&leader| {
                let known = all[leader].as_ref()?;
                let mut maps = self.maps.iter();
                let forward = maps.find(|map| map.to == leader && all[map.from].is_none());
                if let Some(map) = forward {
                    return Some((map.from, along(map, known)));
                }
                let mut maps = self.maps.iter();
                let backward = maps.find(|map| map.from == leader && all[map.to].is_none())?;
                Some((backward.to, against(backward, known)))
            });
        }
        let all = all.into_iter();
        all.map(|one| one.expect("all are known")).collect()
    }
}

/// The rank that is there most often; the least of several.
fn majority(votes: &mut [Rank]) -> Option<Rank> {
    votes.sort_unstable();
    let groups = votes.chunk_by(|one, other| one == other);
    let best = groups.fold(&[][..], |best: &[Rank], group| {
        if group.len() > best.len() {
            group
        } else {
            best
        }
    });
    best.first().copied()
}

/// Elements follow what they point to.
fn along(map: &Links, leaders: &[Rank], size: usize) -> Vec<Rank> {
    let mut votes = Vec::with_capacity(map.arity);
    let owner = |element: usize| {
        votes.clear();
        votes.extend(map.of(element).iter().map(|&to| leaders[to as usize]));
        majority(&mut votes).expect("a map has columns")
    };
    (0..size).map(owner).collect()
}

/// Elements follow those that point to them; the rest are in blocks.
fn against(map: &Links, leaders: &[Rank], size: usize, ranks: usize) -> Vec<Rank> {
    let inverse = Inverse::new(map, size);
    let mut votes = Vec::new();
    let mut owners = block(size, ranks);
    for (element, owner) in owners.iter_mut().enumerate() {
        votes.clear();
        votes.extend(inverse.of(element).iter().map(|&one| leaders[one as usize]));
        if let Some(most) = majority(&mut votes) {
            *owner = most;
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(owners: &[Rank], ranks: usize) -> Vec<usize> {
        let mut counts = vec![0; ranks];
        for &owner in owners {
            counts[owner as usize] += 1;
        }
        counts
    }

    #[test]
    fn blocks_are_even_and_in_order() {
        for (size, ranks) in [(0, 3), (1, 3), (10, 3), (1000, 7), (5, 8)] {
            let owners = block(size, ranks);
            assert!(owners.is_sorted());
            let counts = counts(&owners, ranks);
            let (least, most) = (counts.iter().min(), counts.iter().max());
            assert!(most.unwrap() - least.unwrap() <= 1, "{counts:?}");
        }
    }

    #[test]
    fn bisection_is_even_cuts_the_longest_side_and_takes_equal_points() {
        // 12 x 4 points: three parts are cut across the longer side.
        let points: Vec<f64> = (0..48)
            .flat_map(|n| [f64::from(n % 12), f64::from(n / 12)])
            .collect();
        let owners = bisect(&points, 2, 3);
        for (n, &owner) in owners.iter().enumerate() {
            assert_eq!(owner as usize, n % 12 / 4, "point {n}");
        }
        let same = bisect(&[1.0; 30], 3, 4);
        assert_eq!(counts(&same, 4), [2, 3, 2, 3]);
        assert!(same.is_sorted(), "equal points keep their order");
        assert_eq!(bisect(&[1.0], 1, 4).len(), 1);
    }

    #[test]
    fn sets_follow_along_maps_and_against_them() {
        let topology = Topology {
            sizes: vec![4, 2, 3, 2],
            maps: vec![
                Links {
                    from: 1,
                    to: 0,
                    arity: 3,
                    targets: vec![0, 1, 2, 1, 3, 3],
                },
                Links {
                    from: 1,
                    to: 2,
                    arity: 1,
                    targets: vec![2, 0],
                },
            ],
        };
        let base = Base {
            set: 0,
            owners: vec![0, 1, 0, 1],
        };
        let owners = topology.owners(Some(base), 2);
        // Element 1 of set 2 has nobody to follow; set 3 has no map.
        assert_eq!(
            owners,
            [vec![0, 1, 0, 1], vec![0, 1], vec![1, 0, 0], vec![0, 1]]
        );
        assert_eq!(topology.most_used(), Some(0));
    }
}
