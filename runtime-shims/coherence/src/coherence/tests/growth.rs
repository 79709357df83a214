//! What a synchronisation costs where there are many ranks, as counts.

use std::ops::Sub;

use super::{
    nests::{Nest, nest, section},
    *,
};
use crate::coherence::declared::Mode;

/// Bytes of a rank's share of an array, and of the part at its border that a neighbour reads.
const SHARE: usize = 2 * PAGE;
const ROW: usize = 512;

/// What a rank has done, or done in one synchronisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cost {
    /// Messages in the tree of ranks, one after the other, up to where it is.
    rounds: usize,
    /// Operations in which all ranks tell each other something.
    collective: usize,
    /// Messages that it sends in the tree, and their words besides the program's bytes.
    in_tree: usize,
    words: usize,
    /// Messages with the program's bytes alone.
    messages: usize,
    /// The program's bytes, and to how many ranks they go.
    bytes: usize,
    receivers: usize,
}

impl Cost {
    fn of(job: &Job, rank: usize) -> Self {
        let (rounds, collective) = job.ranks.rounds(rank);
        let cluster = job.cluster();
        let (in_tree, words) = cluster.sent_in_tree[rank];
        let pushed = cluster.pushed.iter().filter(|(pair, _)| pair.0 == rank);
        let sent = cluster.pushed_to.iter().filter(|(pair, _)| pair.0 == rank);
        Self {
            rounds,
            collective,
            in_tree,
            words,
            messages: pushed.map(|(_, messages)| messages.len()).sum(),
            bytes: sent.clone().map(|(_, bytes)| bytes).sum(),
            receivers: sent.count(),
        }
    }
}

impl Sub<&Cost> for &Cost {
    type Output = Cost;

    fn sub(self, before: &Cost) -> Cost {
        Cost {
            rounds: self.rounds - before.rounds,
            collective: self.collective - before.collective,
            in_tree: self.in_tree - before.in_tree,
            words: self.words - before.words,
            messages: self.messages - before.messages,
            bytes: self.bytes - before.bytes,
            receivers: self.receivers,
        }
    }
}

/// Sweeps over two arrays, of which each rank writes its share, and reads rows of its neighbours. What each rank
/// does in `counted` of them, each with two synchronisations, when all have got used to it; and into how many pieces the
/// bytes are that ranks know the owners of.
fn sweeps(ranks: usize, counted: usize) -> (Vec<Cost>, usize) {
    const USUAL: usize = 12;
    let mut job = Job::new(ranks, false, None);
    job.cluster.borrow_mut().per_node = 1;
    let mut random = Random(7);
    let sweep = |rank: usize, from: usize, to: usize| -> Nest {
        let end = ranks * SHARE;
        let read = (rank * SHARE).saturating_sub(ROW)..((rank + 1) * SHARE + ROW).min(end);
        let array = |index: usize| 5 * PAGE + index * end;
        nest(vec![
            section(Mode::Read, array(from) + read.start, read.len(), &[]),
            section(Mode::Write, array(to) + rank * SHARE, SHARE, &[]),
        ])
    };
    job.fork(&[]);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        contributions: false,
    });
    let mut before = Vec::new();
    let look = |job: &Job| -> Vec<Cost> { (0..ranks).map(|rank| Cost::of(job, rank)).collect() };
    for round in 0..USUAL + counted {
        if round == USUAL {
            before = look(&job);
            // Some may go to other ranks until all is known.
            job.cluster.borrow_mut().pushed_to.clear();
            before.iter_mut().for_each(|one| one.bytes = 0);
        }
        for (from, to) in [(0, 1), (1, 0)] {
            for rank in 0..ranks {
                job.run(rank, &sweep(rank, from, to), &mut random);
            }
            job.barrier();
        }
    }
    let after = look(&job);
    let pieces = job.ranks[0].sections.owners().pieces().len();
    job.leave_region();
    job.end();
    let costs = after.iter().zip(&before);
    (
        costs.map(|(after, before)| after - before).collect(),
        pieces,
    )
}

/// Every rank tells the tree of ranks that it has arrived, and is told that all have: in twice the logarithm of their
/// number of rounds. Data go to neighbours alone, as many bytes as they read, however many ranks there are.
#[test]
fn rounds_grow_as_a_logarithm_and_bytes_with_neighbours() {
    const SWEEPS: usize = 10;
    const MEETINGS: usize = 2 * SWEEPS;
    for ranks in [2, 8, 32] {
        let (costs, pieces) = sweeps(ranks, SWEEPS);
        let levels = ranks.ilog2() as usize;
        let rounds = if ranks == 2 { 1 } else { 2 * levels };
        for (rank, cost) in costs.iter().enumerate() {
            let what = format!("rank {rank} of {ranks}: {cost:?}");
            let neighbours = if rank == 0 || rank + 1 == ranks { 1 } else { 2 };
            assert!(cost.rounds <= rounds * MEETINGS, "{what}");
            assert_eq!(cost.collective, 0, "{what}");
            assert!(cost.in_tree <= levels * MEETINGS, "{what}");
            assert!(cost.words <= 8 * cost.in_tree, "{what}");
            assert!(cost.messages <= neighbours * MEETINGS, "{what}");
            assert_eq!(cost.bytes, neighbours * ROW * MEETINGS, "{what}");
            assert_eq!(cost.receivers, neighbours, "{what}");
        }
        let in_tree: usize = costs.iter().map(|cost| cost.in_tree).sum();
        assert_eq!(in_tree, 2 * (ranks - 1) * MEETINGS, "{ranks} ranks");
        // Of each array each rank's share is cut where its neighbours have copies of rows.
        assert!(pieces <= 2 * 3 * ranks, "{pieces} pieces, {ranks} ranks");
    }
}
