//! What a run test is run in: (optimisation level, ranks, mode).
//!
//! There are too many combinations for every gate to try all of them with all programs. A sample of
//! them is drawn from a seed: the combinations of a program are dealt out into groups, and a seed
//! chooses one. All of a group are of one level, so that the program is built once; their modes
//! differ as far as possible, and one of them at least has several ranks. Any seeds in a row, as many as there
//! are groups, meet all combinations of a program once. The seeds of gates come from commits and are arbitrary:
//! a program with two levels and 1 to 4 ranks has 22 groups of two, and has met all after 81 gates on
//! average (22 × (1 + 1/2 + ... + 1/22)).

use std::collections::VecDeque;

use clap::ValueEnum;
use xxhash_rust::xxh3::xxh3_64;

use crate::random::text::Random;

/// How the ranks of an okl program are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Mode {
    /// As processes of one node, with what Open MPI starts quickest with.
    Node,
    /// As processes of one node, with what Open MPI chooses itself.
    Untuned,
    /// With all pages tracked: no write outside of what the compiler declared. Chunks of dynamic loops move wherever they
    /// can.
    Verify,
    /// Every rank as a node of its own: data move by messages only.
    NodesShared,
    /// The same, and the messages go through TCP; chunks move wherever they can.
    NodesTcp,
    /// As processes of one node, with several threads each; chunks move wherever they can.
    Threads,
    /// Every rank as a node of its own, with several threads each.
    NodesThreads,
}

/// Threads of each rank where it has several.
const THREADS: u32 = 2;

impl Mode {
    /// As the command line has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Node => "node",
            Mode::Untuned => "untuned",
            Mode::Verify => "verify",
            Mode::NodesShared => "nodes-shared",
            Mode::NodesTcp => "nodes-tcp",
            Mode::Threads => "threads",
            Mode::NodesThreads => "nodes-threads",
        }
    }

    /// Sets these variables. Where Open MPI is told how to send it does not look for networks, and
    /// starts in half the time.
    pub(crate) fn environment(self) -> &'static [(&'static str, &'static str)] {
        const PML: (&str, &str) = ("OMPI_MCA_pml", "ob1");
        const SHARED: (&str, &str) = ("OMPI_MCA_btl", "vader,self");
        const TCP: (&str, &str) = ("OMPI_MCA_btl", "tcp,self");
        const NODES: (&str, &str) = ("OKL_RANKS_PER_NODE", "1");
        const SEVERAL: (&str, &str) = ("OMP_NUM_THREADS", "2");
        const ON_RANKS: (&str, &str) = ("OKL_REGIONS_ALONE", "0");
        const ALTERNATE: (&str, &str) = ("OKL_REGIONS_ALONE", "alternate");
        const MOVES: (&str, &str) = ("OKL_MOVE_CHUNKS", "always");
        match self {
            Mode::Node => &[PML, SHARED],
            Mode::Untuned => &[ALTERNATE],
            Mode::Verify => &[PML, SHARED, ("OKL_VERIFY", "1"), MOVES],
            Mode::NodesShared => &[PML, SHARED, NODES, ON_RANKS],
            Mode::NodesTcp => &[PML, TCP, NODES, MOVES, ALTERNATE],
            Mode::Threads => &[PML, SHARED, SEVERAL, MOVES],
            Mode::NodesThreads => &[PML, SHARED, NODES, SEVERAL],
        }
    }

    /// Threads of each rank, where the test does not say something else.
    pub(crate) fn threads(self) -> u32 {
        match self {
            Mode::Threads | Mode::NodesThreads => THREADS,
            Mode::Node | Mode::Untuned | Mode::Verify | Mode::NodesShared | Mode::NodesTcp => 1,
        }
    }
}

/// One way to build and run a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Combination {
    pub(crate) opt: String,
    /// 0: without mpirun.
    pub(crate) ranks: u32,
    pub(crate) mode: Mode,
}

/// All there are, by level. One rank sends nothing, so only [`Mode::Node`] has it.
pub(crate) fn combinations(opts: &[String], ranks: &[u32], modes: &[Mode]) -> Vec<Combination> {
    let mut all = Vec::new();
    for opt in opts {
        for &mode in modes {
            let ranks = ranks
                .iter()
                .filter(|ranks| **ranks > 1 || mode == Mode::Node);
            all.extend(ranks.map(|&ranks| Combination {
                opt: opt.clone(),
                ranks,
                mode,
            }));
        }
    }
    all
}

/// Those of `all` that the test `name` is run in where the seed is `seed`: `count` of one level, or all of it.
pub(crate) fn sample(
    all: Vec<Combination>,
    count: usize,
    seed: u64,
    name: &str,
) -> Vec<Combination> {
    let hash = xxh3_64(name.as_bytes());
    let mut groups = groups(all, count.max(1), &mut Random::new(hash));
    let at = seed.wrapping_add(hash >> 8) % groups.len() as u64;
    let mut group = groups.swap_remove(at as usize);
    group.sort();
    group
}

/// By how many bytes the stack of the test `name` is moved where the seed is `seed`: which of its variables share a
/// page, and with what, makes a difference.
pub(crate) fn stack_shift(seed: u64, name: &str) -> usize {
    const PAGE: usize = 4096;
    Random::new(xxh3_64(name.as_bytes()) ^ seed).between(0, PAGE - 1)
}

/// Deals `all` out into groups of `count`; a combination is in two where they cannot be even.
fn groups(all: Vec<Combination>, count: usize, random: &mut Random) -> Vec<Vec<Combination>> {
    let mut groups = Vec::new();
    for level in all.chunk_by(|one, next| one.opt == next.opt) {
        let by_mode = level.chunk_by(|one, next| one.mode == next.mode);
        let mut by_mode: Vec<VecDeque<_>> = by_mode
            .map(|of_mode| {
                let mut of_mode = of_mode.to_vec();
                random.shuffle(&mut of_mode);
                of_mode.into()
            })
            .collect();
        random.shuffle(&mut by_mode);
        // One of each mode in turn, so that neighbours differ.
        let mut turns = Vec::new();
        while turns.len() < level.len() {
            turns.extend(by_mode.iter_mut().filter_map(VecDeque::pop_front));
        }
        for group in turns.chunks(count) {
            let mut group = group.to_vec();
            let others = turns.len() - group.len();
            group.extend_from_slice(&turns[..others.min(count - group.len())]);
            groups.push(group);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    /// Combinations of tests with all kinds of directives.
    fn of_tests() -> Vec<Vec<Combination>> {
        let mut tests = Vec::new();
        let modes = Mode::value_variants();
        for opts in [&["-O0", "-O2"][..], &["-O2"], &["-O1", "-O3", "-Os"]] {
            for ranks in [
                &[1, 2, 3, 4][..],
                &[2],
                &[2, 4],
                &[1, 3],
                &[0, 1, 3],
                &[0, 1, 2, 4],
            ] {
                for skipped in modes {
                    let modes: Vec<_> = modes.iter().copied().filter(|m| m != skipped).collect();
                    tests.push(combinations(&levels(opts), ranks, &modes));
                }
                tests.push(combinations(&levels(opts), ranks, modes));
            }
        }
        tests
    }

    #[test]
    fn seeds_in_a_row_meet_all_combinations() {
        for (number, all) in of_tests().into_iter().enumerate() {
            let name = format!("test {number}");
            for count in 1..5 {
                let groups = groups(all.clone(), count, &mut Random::new(1)).len();
                for first in [0, 1, 0xfeed_beef] {
                    let seeds = first..first + groups as u64;
                    let mut met: Vec<_> = seeds
                        .flat_map(|seed| sample(all.clone(), count, seed, &name))
                        .collect();
                    met.sort();
                    met.dedup();
                    let mut all = all.clone();
                    all.sort();
                    assert_eq!(met, all, "{count} at a time");
                }
            }
        }
    }

    #[test]
    fn arbitrary_seeds_meet_all_combinations() {
        let modes = Mode::value_variants();
        let all = combinations(&levels(&["-O0", "-O2"]), &[1, 2, 3, 4], modes);
        assert_eq!(all.len(), 44);
        let mut random = Random::new(5);
        let mut gates = 0;
        const TIMES: usize = 400;
        for _ in 0..TIMES {
            let mut met = Vec::new();
            while met.len() < all.len() {
                gates += 1;
                let seed = random.between(0, usize::MAX - 1) as u64;
                met.extend(sample(all.clone(), 2, seed, "tests/run/x.c"));
                met.sort();
                met.dedup();
            }
        }
        // 81.2, as the head of this file says.
        let mean = gates as f64 / TIMES as f64;
        assert!((76.0..87.0).contains(&mean), "{mean} gates");
    }

    #[test]
    fn every_sample_has_several_ranks_one_level_and_nothing_twice() {
        for (number, all) in of_tests().into_iter().enumerate() {
            let can = all.iter().any(|one| one.ranks > 1);
            for seed in 0..40 {
                let mut found = sample(all.clone(), 3, seed, &format!("test {number}"));
                assert!(found.iter().all(|one| one.opt == found[0].opt));
                assert!(!can || found.iter().any(|one| one.ranks > 1), "{found:?}");
                let of_level = all.iter().filter(|one| one.opt == found[0].opt).count();
                assert_eq!(found.len(), of_level.min(3));
                found.dedup();
                assert_eq!(found.len(), of_level.min(3));
            }
        }
    }

    #[test]
    fn programs_differ_in_what_a_seed_means() {
        let all = combinations(
            &levels(&["-O0", "-O2"]),
            &[1, 2, 3, 4],
            Mode::value_variants(),
        );
        let mut met: Vec<_> = (0..120)
            .flat_map(|number| sample(all.clone(), 3, 7, &format!("test {number}")))
            .collect();
        met.sort();
        met.dedup();
        assert_eq!(met.len(), all.len());
    }

    #[test]
    fn one_rank_runs_in_one_mode_only() {
        let all = combinations(&levels(&["-O2"]), &[0, 1], Mode::value_variants());
        assert!(all.iter().all(|one| one.mode == Mode::Node));
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        for mode in Mode::value_variants() {
            let value = mode.to_possible_value().unwrap();
            assert_eq!(value.get_name(), mode.name());
        }
    }
}
