//! Synchronisations between nodes at which no rank has news: what the ranks declared stands for itself.
//!
//! Such a one is a message from each rank but 0 up a tree, and one down again. What comes down after the
//! last one of a region is the next fork: until then the other ranks have nothing to do but wait for it.
//! Data that two neighbours in the tree push to each other at the same time go along, in the same messages.
//! Two ranks that expect a barrier tell each other at once, in one message each.
//! Guarantee: all ranks decide alike whether a synchronisation is one, from what came down, and before it
//! from what they saw at the same place earlier.

use std::collections::HashMap;

use super::Kind;
use crate::{cell::ProgramCell, memory::coherence, mpi_job, observe, observe::Event, stats};
use okl_coherence::{Along, geometry::signature::Signature};

/// What all ranks of a part of the tree tell at a synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Summary {
    /// Bit `k` for each [`Kind`] `k`.
    kinds: u64,
    has_news: bool,
    declared: Signature,
    copied: Signature,
}

impl Summary {
    const WORDS: usize = 6;

    /// Of one rank.
    pub(super) fn of_rank(
        rank: usize,
        kind: u64,
        has_news: bool,
        [declared, copied]: [Signature; 2],
    ) -> Self {
        Self {
            kinds: 1 << kind,
            has_news,
            declared: declared.of_rank(rank),
            copied: copied.of_rank(rank),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            kinds: self.kinds | other.kinds,
            has_news: self.has_news | other.has_news,
            declared: self.declared.toggled(other.declared),
            copied: self.copied.toggled(other.copied),
        }
    }

    /// Of all ranks: whether they are at the region's end.
    pub(super) fn is_join(&self) -> bool {
        self.kinds & !(1 << Kind::Passive as u64) == 1 << Kind::Join as u64
    }

    /// Of all ranks: whether they need nothing else of each other. All ranks decide alike.
    pub(super) fn is_all(&self) -> bool {
        let is_barrier = self.kinds & !(1 << Kind::Passive as u64) == 1 << Kind::Barrier as u64;
        (is_barrier || self.is_join())
            && !self.has_news
            && coherence(|coherence| coherence.has_learned(self.declared, self.copied))
    }

    /// Notes that all ranks have arrived. Whether it is all, and ends a region.
    fn departs(&self) -> bool {
        let ends_region = self.is_join() && self.is_all();
        coherence(|coherence| coherence.depart(ends_region));
        ends_region
    }

    /// Applies it on all ranks, where it is all.
    pub(super) fn apply(&self) {
        coherence(|coherence| {
            let bytes_under_way = coherence.apply(&[], okl_coherence::Phase::Parallel);
            let lists_wanted = coherence.note_copied(self.copied, &[]);
            let is_known = coherence.apply_declared(self.declared);
            assert!(!bytes_under_way && !lists_wanted && is_known);
        });
    }

    fn to_words(self) -> [u64; Self::WORDS] {
        let ([a, b], [c, d]) = (self.declared.to_words(), self.copied.to_words());
        [self.kinds, self.has_news.into(), a, b, c, d]
    }

    fn from_words(words: &[u64]) -> Self {
        Self {
            kinds: words[0],
            has_news: words[1] != 0,
            declared: Signature::from_words([words[2], words[3]]),
            copied: Signature::from_words([words[4], words[5]]),
        }
    }
}

/// The synchronisations of a region that are told apart, the later ones together.
const MOST_PLACES: u32 = 8;
/// So often in a row a synchronisation must have been without news before that is expected of it.
const QUIET: u32 = 2;

struct State {
    /// How often in a row the ranks had no news at the `n`th synchronisation of a region.
    quiet: HashMap<(u64, u32), u32>,
    region: u64,
    place: u32,
    /// On rank 0: a join that the others do not know of yet.
    join: Option<Summary>,
    /// On other ranks: the fork that came with a join.
    fork: Option<Vec<u64>>,
}

static STATE: ProgramCell<Option<State>> = ProgramCell::new(None);

fn state<R>(body: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|state| {
        body(state.get_or_insert_with(|| State {
            quiet: HashMap::new(),
            region: 0,
            place: 0,
            join: None,
            fork: None,
        }))
    })
}

/// On all ranks: a region begins.
pub(super) fn enter_region(region: u64) {
    state(|state| (state.region, state.place) = (region, 0));
}

/// Whether the ranks should look first whether any has news. The same on all ranks.
pub(super) fn is_expected() -> bool {
    mpi_job::has_tree()
        && state(|state| state.quiet.get(&(state.region, state.place)) >= Some(&QUIET))
}

/// On all ranks, once for each synchronisation: whether any had news.
pub(super) fn note(had_news: bool) {
    state(|state| {
        let quiet = state.quiet.entry((state.region, state.place)).or_default();
        *quiet = if had_news { 0 } else { *quiet + 1 };
        state.place = (state.place + 1).min(MOST_PLACES - 1);
    });
}

/// Gathers what all ranks tell and hands it down, if need be with the next fork.
pub(super) fn agree(mine: Summary) -> Summary {
    let rank = mpi_job::rank();
    let mut span = observe::span(|| Event::Waiting);
    if is_at_once() {
        let other = 1 - rank;
        let words = with_data(&mine.to_words(), other, Along::Arrival);
        let words = mpi_job::exchange_in_tree(&words, other);
        let words = without_data(words, other, Along::Arrival);
        let all = mine.and(Summary::from_words(&words));
        all.departs();
        return all;
    }
    let all = children(rank)
        .map(|child| {
            let words = mpi_job::receive_in_tree(child);
            Summary::from_words(&without_data(words, child, Along::Arrival))
        })
        .fold(mine, Summary::and);
    if rank == 0 {
        if all.departs() {
            state(|state| state.join = Some(all));
        } else {
            hand_down(&all.to_words());
        }
        return all;
    }
    send(&all.to_words(), parent(rank), Along::Arrival);
    let message = receive_from_above(|words| {
        Summary::from_words(words).departs();
    });
    let (words, fork) = message.split_at(Summary::WORDS);
    if !fork.is_empty() {
        // Serial code ran meanwhile.
        span.turns_out(Event::Idle);
        state(|state| state.fork = Some(fork.to_vec()));
    }
    Summary::from_words(words)
}

/// On rank 0: sends the words of a fork, with what the other ranks do not know yet of the join before.
pub(super) fn send_fork(words: &[u64]) {
    match state(|state| state.join.take()) {
        Some(join) => hand_down(&[&join.to_words(), words].concat()),
        None => hand_down(words),
    }
}

/// On the other ranks: the words of the next fork.
pub(super) fn receive_fork() -> Vec<u64> {
    state(|state| state.fork.take()).unwrap_or_else(|| receive_from_above(|_| ()))
}

/// Whether the ranks tell each other at once that they have arrived. The same on all ranks.
fn is_at_once() -> bool {
    mpi_job::ranks() == 2 && coherence(|coherence| coherence.expects_barrier())
}

/// Where this rank arrives at a synchronisation: what is pushed early begins.
pub(super) fn arrive(is_brief: bool) {
    let at_once = is_brief && is_at_once();
    let along = |from: u32, to: u32| match () {
        () if !is_brief => None,
        () if at_once => Some(Along::Arrival),
        () if from != 0 && parent(from) == to => Some(Along::Arrival),
        () if to != 0 && parent(to) == from => Some(Along::Departure),
        () => None,
    };
    coherence(|coherence| coherence.arrive(at_once, along));
}

// ---- The tree: rank 0 is its root, and a rank's number without its lowest bit is the one above it ------

pub(crate) fn parent(rank: u32) -> u32 {
    rank & (rank - 1)
}

/// The one with the least below it first.
pub(crate) fn children(rank: u32) -> impl DoubleEndedIterator<Item = u32> {
    let bits = if rank == 0 {
        u32::BITS - 1
    } else {
        rank.trailing_zeros()
    };
    (0..bits)
        .map(move |bit| rank | 1 << bit)
        .filter(|&child| child < mpi_job::ranks())
}

/// A message of `words` and what goes along.
fn with_data(words: &[u64], rank: u32, with: Along) -> Vec<u64> {
    let data = coherence(|coherence| coherence.data_along(rank, with));
    stats::count(|counts| match data.len() {
        0 => counts.sent.control(1, 8 * words.len()),
        bytes => counts.sent.data_along(bytes, 8 * words.len()),
    });
    let mut message = words.to_vec();
    message.extend(data.chunks(8).map(|bytes| {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        u64::from_ne_bytes(padded)
    }));
    message
}

fn send(words: &[u64], rank: u32, with: Along) {
    mpi_job::send_in_tree(&with_data(words, rank, with), rank);
}

/// The words of a message from `rank`, without what came along.
fn without_data(mut words: Vec<u64>, rank: u32, with: Along) -> Vec<u64> {
    let bytes = coherence(|coherence| coherence.bytes_along(rank, with));
    if bytes != 0 {
        let tail = words.split_off(words.len() - bytes.div_ceil(8));
        let mut data = vec![0; 8 * tail.len()];
        for (bytes, word) in data.chunks_exact_mut(8).zip(tail) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        coherence(|coherence| coherence.receive_along(rank, with, &data[..bytes]));
    }
    words
}

fn hand_down(words: &[u64]) {
    for child in children(mpi_job::rank()).rev() {
        send(words, child, Along::Departure);
    }
}

/// The words that come down, which `look` sees before what came along is taken from them.
fn receive_from_above(look: impl FnOnce(&[u64])) -> Vec<u64> {
    let above = parent(mpi_job::rank());
    let words = mpi_job::receive_in_tree(above);
    look(&words);
    let words = without_data(words, above, Along::Departure);
    hand_down(&words);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_a_child_of_the_one_above_it() {
        for rank in 1..200u32 {
            let bit = rank.trailing_zeros();
            assert_eq!(parent(rank) | 1 << bit, rank);
            let above = parent(rank);
            assert!(above == 0 || bit < above.trailing_zeros());
        }
    }

    #[test]
    fn summaries_join_in_any_order() {
        let one = |rank: usize| {
            let signatures = [Signature::START.with(rank as u64 / 2), Signature::NOTHING];
            Summary::of_rank(rank, Kind::Join as u64, rank == 3, signatures)
        };
        let up = one(0).and(one(1)).and(one(2).and(one(3)));
        let line = one(3).and(one(1)).and(one(0)).and(one(2));
        assert_eq!(up, line);
        assert_eq!(Summary::from_words(&up.to_words()), up);
        assert!(up.is_join() && up.has_news);
        let passive = Summary::of_rank(1, Kind::Passive as u64, false, [Signature::NOTHING; 2]);
        assert!(up.and(passive).is_join());
        let barrier = Summary::of_rank(1, Kind::Barrier as u64, false, [Signature::NOTHING; 2]);
        assert!(!up.and(barrier).is_join());
    }
}
