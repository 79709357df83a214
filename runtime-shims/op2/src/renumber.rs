//! An order of the mesh's elements in which those that belong together are near each other.
//!
//! Guarantee: each element has a position of its own, which depends on nothing but the mesh.

use crate::{
    graph::{Graph, Inverse},
    topology::{Links, Topology},
};

/// A position for each element of a set.
pub(crate) type Positions = Vec<u32>;

impl Topology {
    /// Positions for all sets: those of the set that map number `map` leads to by its graph; other sets follow
    /// along maps; the rest stay as they are.
    pub(crate) fn positions(&self, map: usize) -> Vec<Positions> {
        let set = self.maps[map].to;
        let first = reverse_cuthill_mckee(&self.graph(set, &[map]));
        self.follow(
            Some((set, first)),
            |set| (0..self.sizes[set] as u32).collect(),
            along,
            |map, known| against(map, known, self.sizes[map.to]),
        )
    }
}

/// Elements in the order of the nearest and the farthest that they go along with, then of their numbers.
fn sorted(keys: Vec<(u32, u32)>) -> Positions {
    let mut elements: Vec<u32> = (0..keys.len() as u32).collect();
    elements.sort_by_key(|&element| keys[element as usize]);
    positions_of(&elements)
}

/// Positions of elements that are listed in their order.
fn positions_of(elements: &[u32]) -> Positions {
    let mut positions = vec![0; elements.len()];
    for (at, &element) in elements.iter().enumerate() {
        positions[element as usize] = at as u32;
    }
    positions
}

/// The first and the last of these elements' positions; what has none is last of all.
fn span(elements: &[i32], positions: &[u32]) -> (u32, u32) {
    let all = elements.iter().map(|&one| positions[one as usize]);
    let first = all.clone().min().unwrap_or(u32::MAX);
    (first, all.max().unwrap_or(u32::MAX))
}

fn along(map: &Links, known: &Positions) -> Positions {
    let rows = map.targets.chunks_exact(map.arity);
    sorted(rows.map(|row| span(row, known)).collect())
}

fn against(map: &Links, known: &Positions, size: usize) -> Positions {
    let inverse = Inverse::new(map, size);
    let targets = 0..size;
    sorted(targets.map(|one| span(inverse.of(one), known)).collect())
}

/// A breadth-first search from an element at the edge of the graph, in order of degrees, and that backwards.
fn reverse_cuthill_mckee(graph: &Graph) -> Positions {
    let size = graph.size();
    let degree = |element: u32| graph.of(element as usize).len();
    let mut starts: Vec<u32> = (0..size as u32).collect();
    starts.sort_by_key(|&element| degree(element));
    // Which search has come by.
    let mut seen = vec![0u32; size];
    let mut search = 0;
    let mut order = Vec::with_capacity(size);
    for start in starts {
        if seen[start as usize] != 0 {
            continue;
        }
        let (begin, mut start, mut depth) = (order.len(), start, 0);
        loop {
            search += 1;
            order.truncate(begin);
            let levels = breadth_first(graph, start, (&mut seen, search), &mut order);
            if levels.depth <= depth {
                break;
            }
            // From the other end it may be farther.
            depth = levels.depth;
            let last = order[levels.last..].iter().copied();
            start = last
                .min_by_key(|&one| degree(one))
                .expect("no level is empty");
        }
    }
    order.reverse();
    positions_of(&order)
}

/// What a search has found: how many levels, and where in the order the last one begins.
struct Levels {
    depth: usize,
    last: usize,
}

/// Adds what can be reached from `start` to `order`.
fn breadth_first(
    graph: &Graph,
    start: u32,
    (seen, search): (&mut [u32], u32),
    order: &mut Vec<u32>,
) -> Levels {
    let mut levels = Levels {
        depth: 0,
        last: order.len(),
    };
    seen[start as usize] = search;
    order.push(start);
    loop {
        levels.depth += 1;
        let end = order.len();
        for at in levels.last..end {
            let first = order.len();
            for &other in graph.of(order[at] as usize) {
                if seen[other as usize] != search {
                    seen[other as usize] = search;
                    order.push(other);
                }
            }
            order[first..].sort_by_key(|&one| graph.of(one as usize).len());
        }
        if order.len() == end {
            return levels;
        }
        levels.last = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A mesh of `width` times `height` cells with edges between them and corners, all numbered at random.
    fn shuffled(width: usize, height: usize) -> Topology {
        let mut random = Random(11);
        let mut shuffle = |size: usize| {
            let mut numbers: Vec<i32> = (0..size as i32).collect();
            for at in (1..size).rev() {
                numbers.swap(at, random.below(at + 1));
            }
            numbers
        };
        let (cells, row) = (width * height, width + 1);
        let (cell, node) = (shuffle(cells), shuffle(row * (height + 1)));
        let mut corners = vec![0; cells * 4];
        let mut ends = Vec::new();
        for at in 0..cells {
            let (i, j) = (at % width, at / width);
            let first = j * row + i;
            let all = [first, first + 1, first + row, first + row + 1];
            for (column, one) in all.into_iter().enumerate() {
                corners[cell[at] as usize * 4 + column] = node[one];
            }
            if i + 1 < width {
                ends.push([cell[at], cell[at + 1]]);
            }
            if j + 1 < height {
                ends.push([cell[at], cell[at + width]]);
            }
        }
        let order = shuffle(ends.len());
        let targets = order.iter().flat_map(|&edge| ends[edge as usize]);
        let links = |from, to, arity, targets| Links {
            from,
            to,
            arity,
            targets,
        };
        Topology {
            sizes: vec![cells, node.len(), ends.len(), 3],
            maps: vec![links(2, 0, 2, targets.collect()), links(0, 1, 4, corners)],
        }
    }

    /// How far apart the targets of a row are on average, and those of two rows that follow each other.
    fn distances(map: &Links, positions: &[Positions]) -> (usize, usize) {
        let rows = map.targets.len() / map.arity;
        let mut first = vec![0; rows];
        let mut within = 0;
        for row in 0..rows {
            let (low, high) = span(map.of(row), &positions[map.to]);
            within += (high - low) as usize;
            first[positions[map.from][row] as usize] = low;
        }
        let between = first.windows(2).map(|two| two[0].abs_diff(two[1]) as usize);
        (within / rows, between.sum::<usize>() / rows)
    }

    #[test]
    fn what_belongs_together_comes_together() {
        let mesh = shuffled(40, 50);
        let positions = mesh.positions(0);
        for (set, positions) in positions.iter().enumerate() {
            let mut all = positions.clone();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..mesh.sizes[set] as u32));
        }
        let same: Vec<Positions> = mesh
            .sizes
            .iter()
            .map(|&n| (0..n as u32).collect())
            .collect();
        for map in &mesh.maps {
            let (before, after) = (distances(map, &same), distances(map, &positions));
            assert!(before.0 > 600 && before.1 > 300, "{before:?}");
            assert!(after.0 < 100 && after.1 < 10, "{after:?}");
        }
        assert_eq!(positions[3], [0, 1, 2], "no map, no reason");
    }

    #[test]
    fn rows_of_cells_get_numbers_in_their_order() {
        // 3 - 0 - 4, 1 - 2: two chains, from an end each.
        let mesh = Topology {
            sizes: vec![5, 3],
            maps: vec![Links {
                from: 1,
                to: 0,
                arity: 2,
                targets: vec![0, 3, 0, 4, 2, 1],
            }],
        };
        let positions = mesh.positions(0);
        assert_eq!(positions[0].iter().max(), Some(&4));
        for row in mesh.maps[0].targets.chunks(2) {
            let (low, high) = span(row, &positions[0]);
            assert_eq!(high - low, 1);
        }
    }
}
