//! Trees: the way of bytes that many ranks on other nodes copy from one owner.
//!
//! An owner that sent to each of its readers would hand over the same bytes once for each. Instead it sends to
//! some, which pass them on: a binomial tree over the nodes, with one message for each of them, and one over the
//! readers of each node. All ranks work out the same trees from the same copies.
//!
//! The messages of a tree come in *rounds*. Guarantee: what a rank passes on in a round came in earlier ones; so
//! no order of ranks can block, and the messages of several trees from one rank to another in one round can be
//! one. The positions in a tree are counted from its owner: where each rank's block goes to all these messages
//! are those of an all-gather by Bruck's algorithm, as many for each rank as the logarithm of the number of ranks.

use std::collections::BTreeMap;

use crate::geometry::ranges::{Range, Ranges};

/// With fewer readers a tree saves its owner no message. Of three, the last one waits either until two messages
/// to others have left or for a second hop, which is about the same; with more readers the tree is sooner done,
/// the larger the message the more.
const LEAST: usize = 3;
/// So many bytes are a matter of the number of messages. Larger ones that all ranks send and receive alike keep
/// all of the network busy when they go directly, and nobody waits for what it is to pass on.
const SMALL: u64 = 1 << 13;

/// What each rank copies from each owner: (owner, reader).
pub(super) type Copies = BTreeMap<(u32, u32), Ranges>;

/// A message of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) round: u32,
}

/// The way of some bytes.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) owner: u32,
    pub(super) ranges: Ranges,
    pub(super) hops: Vec<Hop>,
}

impl Tree {
    pub(super) fn reaches(&self, rank: u32) -> bool {
        self.hops.iter().any(|hop| hop.to == rank)
    }
}

/// The trees for some copies, at most one for each owner. `nodes` has the node of each rank.
pub(super) fn trees(copies: &Copies, nodes: &[u32]) -> Vec<Tree> {
    let mut incoming = vec![0; nodes.len()];
    for (&(_, reader), ranges) in copies {
        incoming[reader as usize] += ranges.bytes();
    }
    let most_incoming = incoming.into_iter().max().unwrap_or(0);
    (0..nodes.len() as u32)
        .filter_map(|owner| tree(copies, owner, nodes, most_incoming))
        .collect()
}

fn tree(copies: &Copies, owner: u32, nodes: &[u32], most_incoming: u64) -> Option<Tree> {
    let of_owner = copies.range((owner, 0)..=(owner, u32::MAX));
    let wanted: Vec<(u32, &Ranges)> = of_owner.map(|(key, ranges)| (key.1, ranges)).collect();
    let (readers, ranges) = in_common(&wanted)?;
    let sent: u64 = wanted.iter().map(|(_, ranges)| ranges.bytes()).sum();
    let pays = if ranges.bytes() <= SMALL {
        // Of the others a direct message is left.
        let served = wanted
            .iter()
            .filter(|(_, wanted)| wanted.minus(&ranges).is_empty());
        served.count() >= LEAST
    } else {
        let mut of_readers: Vec<u32> = readers.iter().map(|&at| nodes[at as usize]).collect();
        of_readers.sort_unstable();
        let shares_node = of_readers.windows(2).any(|pair| pair[0] == pair[1]);
        sent > 2 * most_incoming || shares_node
    };
    pays.then(|| Tree {
        owner,
        hops: hops(owner, &readers, nodes),
        ranges,
    })
}

/// Ranks that want about the same, [`LEAST`] or more, and what they want: most bytes in all. A few bytes that
/// only some of them want cost less than messages of their own.
fn in_common(wanted: &[(u32, &Ranges)]) -> Option<(Vec<u32>, Ranges)> {
    const FEW: u64 = 4;
    let (_, first) = wanted.first()?;
    let (mut all, mut common) = (Ranges::clone(first), Ranges::clone(first));
    for (_, ranges) in wanted.iter().filter(|(_, ranges)| ranges != first) {
        all = all.union(ranges);
        common = common.intersection(ranges);
    }
    if wanted.len() >= LEAST && all.bytes() - common.bytes() <= all.bytes() / FEW {
        return Some((wanted.iter().map(|(reader, _)| *reader).collect(), all));
    }
    let mut borders: Vec<(u64, usize)> = Vec::new();
    for (index, (_, ranges)) in wanted.iter().enumerate() {
        borders.extend(
            ranges
                .iter()
                .flat_map(|(start, end)| [(start, index), (end, index)]),
        );
    }
    borders.sort_unstable();
    let mut wants = vec![false; wanted.len()];
    let mut by_readers: BTreeMap<Vec<u32>, Vec<Range>> = BTreeMap::new();
    let mut start = 0;
    for (border, index) in borders {
        if start < border && wants.iter().filter(|wants| **wants).count() >= LEAST {
            let readers = wanted.iter().zip(&wants).filter(|(_, wants)| **wants);
            let readers = readers.map(|((reader, _), _)| *reader).collect();
            by_readers.entry(readers).or_default().push((start, border));
        }
        wants[index] = !wants[index];
        start = border;
    }
    let all = by_readers.into_iter();
    all.map(|(readers, ranges)| (readers, Ranges::of(ranges)))
        .max_by_key(|(readers, ranges)| readers.len() as u64 * ranges.bytes())
}

/// From `owner` to the first of each node's readers, and on to its others.
fn hops(owner: u32, readers: &[u32], nodes: &[u32]) -> Vec<Hop> {
    let node = |rank: u32| nodes[rank as usize];
    let mut on_node: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &reader in readers {
        on_node.entry(node(reader)).or_default().push(reader);
    }
    // The ranks of a node take turns: each is the first one for other owners.
    let turn = (0..owner).filter(|&rank| node(rank) == node(owner)).count();
    for readers in on_node.values_mut() {
        let first = turn % readers.len();
        readers.rotate_left(first);
    }
    let after = on_node
        .range(node(owner)..)
        .chain(on_node.range(..node(owner)));
    let leaders = after.map(|(_, readers)| readers[0]);
    let leaders: Vec<u32> = std::iter::once(owner).chain(leaders).collect();
    let mut hops = binomial(&leaders, 0);
    let rounds = rounds(leaders.len());
    for readers in on_node.values() {
        hops.extend(binomial(readers, rounds));
    }
    hops
}

/// So many rounds a binomial tree of so many ranks takes.
fn rounds(ranks: usize) -> u32 {
    ranks.next_power_of_two().ilog2()
}

/// A binomial tree from the first of `ranks` to the others.
fn binomial(ranks: &[u32], first_round: u32) -> Vec<Hop> {
    let last_round = first_round + rounds(ranks.len());
    (1..ranks.len())
        .map(|at| Hop {
            from: ranks[at & (at - 1)],
            to: ranks[at],
            round: last_round - 1 - at.trailing_zeros(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use okl_testing::Random;

    /// The messages of trees, merged: (round, from, to), and who has what after them.
    fn run(trees: &[Tree], ranks: usize) -> (HashSet<(u32, u32, u32)>, Vec<Ranges>) {
        let mut has = vec![Ranges::default(); ranks];
        for tree in trees {
            has[tree.owner as usize] = has[tree.owner as usize].union(&tree.ranges);
        }
        let mut hops: Vec<(&Hop, &Tree)> = trees
            .iter()
            .flat_map(|tree| tree.hops.iter().map(move |hop| (hop, tree)))
            .collect();
        hops.sort_by_key(|(hop, _)| hop.round);
        for round in hops.chunk_by(|one, next| one.0.round == next.0.round) {
            let before = has.clone();
            for (hop, tree) in round {
                let missing = tree.ranges.minus(&before[hop.from as usize]);
                assert!(missing.is_empty(), "{hop:?} of {}", tree.owner);
                let to = &mut has[hop.to as usize];
                assert!(to.intersection(&tree.ranges).is_empty(), "{hop:?} again");
                *to = to.union(&tree.ranges);
            }
        }
        let messages = hops.iter().map(|(hop, _)| (hop.round, hop.from, hop.to));
        (messages.collect(), has)
    }

    fn logarithm(ranks: usize) -> usize {
        rounds(ranks) as usize
    }

    #[test]
    fn a_broadcast_takes_a_logarithm_of_messages() {
        for ranks in 4..40u32 {
            let nodes: Vec<u32> = (0..ranks).collect();
            for owner in [0, 1, ranks - 1] {
                let bytes = Ranges::of(vec![(10, 10 + 2 * SMALL)]);
                let readers = (0..ranks).filter(|&reader| reader != owner);
                let copies = readers.map(|reader| ((owner, reader), bytes.clone()));
                let trees = trees(&copies.collect(), &nodes);
                let (messages, has) = run(&trees, ranks as usize);
                assert!(has.iter().all(|has| *has == bytes));
                assert_eq!(messages.len(), ranks as usize - 1);
                let from_owner = messages.iter().filter(|one| one.1 == owner);
                assert_eq!(from_owner.count(), logarithm(ranks as usize));
            }
        }
    }

    /// Blocks that every rank has of its own, and all ranks read.
    fn all_gather(ranks: u32, per_node: u32, block: u64) -> (Vec<u32>, Vec<Tree>) {
        let nodes: Vec<u32> = (0..ranks).map(|rank| rank / per_node).collect();
        let pairs = (0..ranks).flat_map(|owner| (0..ranks).map(move |reader| (owner, reader)));
        let far = pairs.filter(|pair| nodes[pair.0 as usize] != nodes[pair.1 as usize]);
        let copies = far.map(|pair| {
            let start = u64::from(pair.0) * block;
            (pair, Ranges::of(vec![(start, start + block)]))
        });
        let trees = trees(&copies.collect(), &nodes);
        (nodes, trees)
    }

    #[test]
    fn small_blocks_are_gathered_in_a_logarithm_of_messages_for_each_rank() {
        for ranks in 4..40 {
            let (_, trees) = all_gather(ranks, 1, 64);
            let (messages, has) = run(&trees, ranks as usize);
            let all = Ranges::of(vec![(0, u64::from(ranks) * 64)]);
            assert!(has.iter().all(|has| *has == all));
            for rank in 0..ranks {
                let sent = messages.iter().filter(|one| one.1 == rank).count();
                assert_eq!(sent, logarithm(ranks as usize), "{rank} of {ranks}");
            }
        }
    }

    #[test]
    fn large_blocks_go_directly_but_once_to_each_node() {
        assert!(all_gather(8, 1, 2 * SMALL).1.is_empty());
        for (ranks, per_node) in [(8, 2), (12, 3), (16, 4), (9, 2)] {
            let (nodes, trees) = all_gather(ranks, per_node, 2 * SMALL);
            assert_eq!(trees.len(), ranks as usize);
            for tree in &trees {
                let between = tree
                    .hops
                    .iter()
                    .filter(|hop| nodes[hop.from as usize] != nodes[hop.to as usize]);
                let mut reached: Vec<u32> = between.map(|hop| nodes[hop.to as usize]).collect();
                let all = reached.len();
                reached.sort_unstable();
                reached.dedup();
                assert_eq!(all, reached.len(), "twice to a node");
            }
            run(&trees, ranks as usize);
        }
    }

    #[test]
    fn few_readers_get_direct_messages() {
        let bytes = Ranges::of(vec![(0, 4 * SMALL)]);
        let copies = [1, 2].map(|reader| ((0, reader), bytes.clone()));
        assert!(trees(&Copies::from(copies), &[0, 1, 2, 3]).is_empty());
    }

    /// Whatever ranks copy, they have it after the trees and the direct messages, and no owner sends more.
    #[test]
    fn trees_bring_what_readers_want() {
        let mut random = Random(11);
        let mut seen = 0;
        for _ in 0..3000 {
            let ranks = 2 + random.below(9);
            let per_node = 1 + random.below(3);
            let nodes: Vec<u32> = (0..ranks).map(|rank| (rank / per_node) as u32).collect();
            let mut copies = Copies::new();
            for owner in 0..ranks {
                let size = [50, 5 * SMALL as usize][random.below(2)];
                let start = (owner << 32) as u64;
                for reader in 0..ranks {
                    if nodes[reader] == nodes[owner] || random.chance(20) {
                        continue;
                    }
                    let mut ranges = vec![(start, start + size as u64)];
                    if random.chance(20) {
                        ranges.push((start + 1 + size as u64, start + 2 * size as u64));
                    }
                    if random.chance(20) {
                        ranges[0].0 += random.below(size) as u64;
                    }
                    copies.insert((owner as u32, reader as u32), Ranges::of(ranges));
                }
            }
            let trees = trees(&copies, &nodes);
            seen += trees.len();
            let (_, has) = run(&trees, ranks);
            for tree in &trees {
                let own = |reader: &u32| copies.contains_key(&(tree.owner, *reader));
                let mut reached: Vec<u32> = tree.hops.iter().map(|hop| hop.to).collect();
                assert!(
                    reached.iter().all(own),
                    "a rank passes on what it does not read"
                );
                reached.sort_unstable();
                reached.dedup();
                assert!(reached.len() >= LEAST && reached.len() == tree.hops.len());
                for reader in reached {
                    assert!(tree.ranges.minus(&has[reader as usize]).is_empty());
                }
            }
        }
        assert!(seen > 1000);
    }
}
