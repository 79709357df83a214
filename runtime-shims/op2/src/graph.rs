//! Which elements of a set belong together.
//!
//! Guarantee: a graph depends on nothing but the mesh; it has no loops and no edge twice, and both ends of an edge list
//! it. Any of its rows are those of the whole graph.

use std::{borrow::Cow, ops::Range};

use crate::topology::{Links, Topology};

/// The elements that each element of a set, or of a block of it, belongs together with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    /// Where each one's neighbours begin, and where the last one's end.
    pub(crate) starts: Vec<usize>,
    pub(crate) neighbours: Vec<u32>,
}

/// Of so many elements that belong together each is a neighbour of each; of more, each of the next one only.
const CLIQUE: usize = 64;

/// Pairs of elements of `group`, each in both orders.
fn pairs(group: &[i32], mut pair: impl FnMut(usize, u32)) {
    for (at, &one) in group.iter().enumerate() {
        let others = match group.len() {
            ..=CLIQUE => &group[at + 1..],
            _ => &group[at + 1..(at + 2).min(group.len())],
        };
        for &other in others.iter().filter(|&&other| other != one) {
            pair(one as usize, other as u32);
            pair(other as usize, one as u32);
        }
    }
}

impl Graph {
    /// Those rows of the graph in which elements of a group belong together.
    fn new<'a, G: Iterator<Item = &'a [i32]>>(rows: Range<usize>, groups: impl Fn() -> G) -> Self {
        let size = rows.len();
        let each = |work: &mut dyn FnMut(usize, u32)| {
            for group in groups() {
                pairs(group, |one, other| {
                    if rows.contains(&one) {
                        work(one - rows.start, other);
                    }
                });
            }
        };
        let mut ends = vec![0; size + 1];
        each(&mut |row, _| ends[row + 1] += 1);
        for at in 0..size {
            ends[at + 1] += ends[at];
        }
        let mut all = vec![0; ends[size]];
        let mut next = ends.clone();
        each(&mut |row, other| {
            all[next[row]] = other;
            next[row] += 1;
        });
        let (mut starts, mut length) = (vec![0], 0);
        for row in 0..size {
            let own = ends[row]..ends[row + 1];
            all[own.clone()].sort_unstable();
            for at in own {
                if length == starts[row] || all[length - 1] != all[at] {
                    all[length] = all[at];
                    length += 1;
                }
            }
            starts.push(length);
        }
        all.truncate(length);
        Self {
            starts,
            neighbours: all,
        }
    }

    /// How many rows it has.
    pub(crate) fn size(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn of(&self, row: usize) -> &[u32] {
        &self.neighbours[self.starts[row]..self.starts[row + 1]]
    }
}

/// For each target of a map the elements that lead to it.
pub(crate) struct Inverse {
    starts: Vec<usize>,
    elements: Vec<i32>,
}

impl Inverse {
    /// `size` is that of the target set.
    pub(crate) fn new(map: &Links, size: usize) -> Self {
        let mut starts = vec![0; size + 1];
        for &to in &map.targets {
            starts[to as usize + 1] += 1;
        }
        for at in 0..size {
            starts[at + 1] += starts[at];
        }
        let mut elements = vec![0; map.targets.len()];
        let mut next = starts.clone();
        for (at, &to) in map.targets.iter().enumerate() {
            elements[next[to as usize]] = (at / map.arity) as i32;
            next[to as usize] += 1;
        }
        Self { starts, elements }
    }

    /// In their order; as often as they do.
    pub(crate) fn of(&self, target: usize) -> &[i32] {
        &self.elements[self.starts[target]..self.starts[target + 1]]
    }
}

/// The elements of a set that belong together because of a map.
enum Groups<'a> {
    /// Those of a row: it leads to the set.
    Rows(&'a Links),
    /// Those that lead to the same target: it begins at the set.
    Sources(Inverse),
}

impl Groups<'_> {
    fn iter(&self) -> Box<dyn Iterator<Item = &[i32]> + '_> {
        match self {
            Self::Rows(map) => Box::new(map.targets.chunks_exact(map.arity)),
            Self::Sources(inverse) => {
                let targets = 0..inverse.starts.len() - 1;
                Box::new(targets.map(|target| inverse.of(target)))
            }
        }
    }
}

impl Topology {
    /// The graph of a set by the maps given by number, or, where there are none, by all that lead to it, or else
    /// by all that begin there.
    pub(crate) fn graph(&self, set: usize, maps: &[usize]) -> Graph {
        self.rows_of_graph(set, maps, 0..self.sizes[set])
    }

    /// The same for a block of elements.
    pub(crate) fn rows_of_graph(&self, set: usize, maps: &[usize], rows: Range<usize>) -> Graph {
        let all = |is_one: &dyn Fn(&Links) -> bool| {
            let numbers = (0..self.maps.len()).filter(|&at| is_one(&self.maps[at]));
            numbers.collect::<Vec<_>>()
        };
        let mut maps = Cow::from(maps);
        if maps.is_empty() {
            maps = all(&|map| map.to == set).into();
        }
        if maps.is_empty() {
            maps = all(&|map| map.from == set).into();
        }
        let groups = maps.iter().map(|&at| match &self.maps[at] {
            map if map.to == set => Groups::Rows(map),
            map => Groups::Sources(Inverse::new(map, self.sizes[map.to])),
        });
        let groups: Vec<_> = groups.collect();
        Graph::new(rows, || groups.iter().flat_map(Groups::iter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn links(from: usize, to: usize, arity: usize, targets: &[i32]) -> Links {
        Links {
            from,
            to,
            arity,
            targets: targets.to_vec(),
        }
    }

    fn rows(graph: &Graph) -> Vec<Vec<u32>> {
        let rows = 0..graph.size();
        rows.map(|row| graph.of(row).to_vec()).collect()
    }

    #[test]
    fn elements_of_a_row_belong_together() {
        // Cells 0 1 2 3 in a row, the edge between 1 and 2 twice, one that leads to a cell twice.
        let topology = Topology {
            sizes: vec![4, 5],
            maps: vec![links(1, 0, 2, &[0, 1, 2, 1, 1, 2, 3, 3, 3, 2])],
        };
        let graph = topology.graph(0, &[0]);
        assert_eq!(rows(&graph), [vec![1], vec![0, 2], vec![1, 3], vec![2]]);
        assert_eq!(graph, topology.graph(0, &[]));
    }

    #[test]
    fn elements_with_a_target_in_common_belong_together() {
        let topology = Topology {
            sizes: vec![3, 4],
            maps: vec![links(0, 1, 2, &[0, 1, 1, 2, 3, 3])],
        };
        let graph = topology.graph(0, &[]);
        assert_eq!(rows(&graph), [vec![1], vec![0], vec![]]);
    }

    #[test]
    fn graphs_are_symmetric_and_large_groups_stay_cheap() {
        let mut random = Random(3);
        for _ in 0..100 {
            let sizes = vec![1 + random.below(300), 1 + random.below(3)];
            let targets: Vec<_> = (0..sizes[0] * 2)
                .map(|_| random.below(sizes[1]) as i32)
                .collect();
            let topology = Topology {
                sizes,
                maps: vec![links(0, 1, 2, &targets)],
            };
            let graph = topology.graph(0, &[]);
            let middle = random.below(topology.sizes[0]);
            let blocks = [0..middle, middle..topology.sizes[0]];
            let blocks = blocks.map(|block| rows(&topology.rows_of_graph(0, &[], block)));
            let rows = rows(&graph);
            assert_eq!(rows, blocks.concat());
            for (one, row) in rows.iter().enumerate() {
                assert!(row.is_sorted_by(|a, b| a < b), "each once");
                for &other in row {
                    assert_ne!(other as usize, one);
                    assert!(rows[other as usize].contains(&(one as u32)));
                }
            }
            assert!(graph.neighbours.len() <= rows.len() * 2 * CLIQUE);
        }
    }
}
