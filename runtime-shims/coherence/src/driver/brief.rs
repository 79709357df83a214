//! Synchronisations between nodes at which no rank has news: what the ranks declared stands for itself.
//!
//! Such a one is a message from each rank but 0 up a tree, and one down again. What comes down after the
//! last one of a region is the next fork: until then the other ranks have nothing to do but wait for it.
//! Data that two neighbours in the tree push to each other at the same time go along, in the same messages, and what rank 0
//! changed in pages in update mode with those that come down.
//! Two ranks that expect a barrier tell each other at once, in one message each.
//! Guarantee: all ranks decide alike whether a synchronisation is one, from what came down, and before it
//! from what they saw at the same place earlier.

use std::collections::HashMap;

use super::{Along, Kind, Rank, Waits, tree};
use crate::{coherence::Phase, geometry::signature::Signature};

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
    pub(super) fn is_all(&self, rank: &mut impl Rank) -> bool {
        let is_barrier = self.kinds & !(1 << Kind::Passive as u64) == 1 << Kind::Barrier as u64;
        (is_barrier || self.is_join())
            && !self.has_news
            && rank.coherence(|coherence| coherence.has_learned(self.declared, self.copied))
    }

    /// Notes that all ranks have arrived. Whether it is all, and ends a region.
    fn departs(&self, rank: &mut impl Rank) -> bool {
        let ends_region = self.is_join() && self.is_all(rank);
        rank.coherence(|coherence| coherence.depart(ends_region));
        ends_region
    }

    /// Applies it on all ranks, where it is all, with the updates of rank 0.
    pub(super) fn apply(&self, rank: &mut impl Rank, updates: &[u64]) {
        rank.coherence(|coherence| {
            let bytes_under_way = coherence.apply(&[], Phase::Parallel);
            coherence.apply_updates(updates);
            let lists_wanted = coherence.note_copied(self.copied, &[]);
            let is_known = coherence.apply_declared(self.declared);
            assert!(!bytes_under_way && !lists_wanted && is_known);
        });
    }

    fn to_words(self) -> [u64; Self::WORDS] {
        let ([a, b], [c, d]) = (self.declared.to_words(), self.copied.to_words());
        [self.kinds, self.has_news.into(), a, b, c, d]
    }

    /// With the updates of rank 0.
    fn with_updates(self, updates: &[u64]) -> Vec<u64> {
        [&self.to_words()[..], &[updates.len() as u64], updates].concat()
    }

    /// As [written](Self::with_updates), with what comes behind.
    fn read_with_updates(words: &[u64]) -> (Self, &[u64], &[u64]) {
        let (summary, rest) = words.split_at(Self::WORDS);
        let (updates, rest) = rest[1..].split_at(rest[0] as usize);
        (Self::from_words(summary), updates, rest)
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

/// What a rank remembers of such synchronisations.
#[derive(Default)]
pub(super) struct State {
    /// How often in a row the ranks had no news at the `n`th synchronisation of a region.
    quiet: HashMap<(u64, u32), u32>,
    region: u64,
    place: u32,
    /// On rank 0: the words of a join that the others do not know of yet.
    join: Option<Vec<u64>>,
    /// On other ranks: the fork that came with a join.
    fork: Option<Vec<u64>>,
}

impl State {
    /// On all ranks: a region begins.
    pub(super) fn enter_region(&mut self, region: u64) {
        (self.region, self.place) = (region, 0);
    }

    /// Whether the ranks should look first whether any has news. The same on all ranks.
    pub(super) fn is_expected(&self, rank: &impl Rank) -> bool {
        rank.has_tree() && self.quiet.get(&(self.region, self.place)) >= Some(&QUIET)
    }

    /// On all ranks, once for each synchronisation: whether any had news.
    pub(super) fn note(&mut self, had_news: bool) {
        let quiet = self.quiet.entry((self.region, self.place)).or_default();
        *quiet = if had_news { 0 } else { *quiet + 1 };
        self.place = (self.place + 1).min(MOST_PLACES - 1);
    }

    /// Gathers what all ranks tell and hands it down, if need be with the next fork; and `updates`, of which only rank 0
    /// has any: all get them.
    pub(super) fn agree(
        &mut self,
        rank: &mut impl Rank,
        mine: Summary,
        updates: &[u64],
    ) -> (Summary, Vec<u64>) {
        debug_assert!(rank.rank() == 0 || updates.is_empty());
        rank.waiting(|rank| self.agree_waiting(rank, mine, updates))
    }

    fn agree_waiting(
        &mut self,
        rank: &mut impl Rank,
        mine: Summary,
        updates: &[u64],
    ) -> ((Summary, Vec<u64>), Waits) {
        let me = rank.rank();
        if is_at_once(rank) {
            let other = 1 - me;
            let (words, data) = with_data(rank, &mine.with_updates(updates), other, Along::Arrival);
            let words = rank.exchange(&words, data, other);
            let words = without_data(rank, words, other, Along::Arrival);
            let (theirs, updates, _) = Summary::read_with_updates(&words);
            let all = mine.and(theirs);
            all.departs(rank);
            return ((all, updates.to_vec()), Waits::ForTeam);
        }
        let mut all = mine;
        for child in tree::children(me, rank.ranks()) {
            let words = rank.receive(child);
            let words = without_data(rank, words, child, Along::Arrival);
            all = all.and(Summary::from_words(&words));
        }
        if me == 0 {
            let words = all.with_updates(updates);
            match all.departs(rank) {
                true => self.join = Some(words),
                false => hand_down(rank, &words),
            }
            return ((all, Vec::new()), Waits::ForTeam);
        }
        send(rank, &all.to_words(), tree::parent(me), Along::Arrival);
        let message = receive_from_above(rank, |rank, words| {
            Summary::from_words(words).departs(rank);
        });
        let (all, updates, fork) = Summary::read_with_updates(&message);
        let agreed = (all, updates.to_vec());
        if fork.is_empty() {
            return (agreed, Waits::ForTeam);
        }
        // Serial code ran meanwhile.
        self.fork = Some(fork.to_vec());
        (agreed, Waits::ForRegion)
    }

    /// On rank 0: sends the words of a fork, with what the other ranks do not know yet of the join before.
    pub(super) fn send_fork(&mut self, rank: &mut impl Rank, words: &[u64]) {
        match self.join.take() {
            Some(join) => hand_down(rank, &[&join, words].concat()),
            None => hand_down(rank, words),
        }
    }

    /// On the other ranks: the words of the next fork.
    pub(super) fn receive_fork(&mut self, rank: &mut impl Rank) -> Vec<u64> {
        let came = self.fork.take();
        came.unwrap_or_else(|| receive_from_above(rank, |_, _| ()))
    }
}

/// Whether the ranks tell each other at once that they have arrived. The same on all ranks.
fn is_at_once(rank: &mut impl Rank) -> bool {
    rank.ranks() == 2 && rank.coherence(|coherence| coherence.expects_barrier())
}

/// Where this rank arrives at a synchronisation: what is pushed early begins.
pub(super) fn arrive(rank: &mut impl Rank, is_brief: bool) {
    let at_once = is_brief && is_at_once(rank);
    let along = |from: u32, to: u32| match () {
        () if !is_brief => None,
        () if at_once => Some(Along::Arrival),
        () if from != 0 && tree::parent(from) == to => Some(Along::Arrival),
        () if to != 0 && tree::parent(to) == from => Some(Along::Departure),
        () => None,
    };
    rank.coherence(|coherence| coherence.arrive(along));
}

/// A message of `words` and what goes along, with the number of bytes of that.
fn with_data(rank: &mut impl Rank, words: &[u64], to: u32, with: Along) -> (Vec<u64>, usize) {
    let data = rank.coherence(|coherence| coherence.data_along(to, with));
    let mut message = words.to_vec();
    message.extend(data.chunks(8).map(|bytes| {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        u64::from_ne_bytes(padded)
    }));
    (message, data.len())
}

fn send(rank: &mut impl Rank, words: &[u64], to: u32, with: Along) {
    let (words, data) = with_data(rank, words, to, with);
    rank.send(&words, data, to);
}

/// The words of a message from a rank, without what came along.
fn without_data(rank: &mut impl Rank, mut words: Vec<u64>, from: u32, with: Along) -> Vec<u64> {
    let bytes = rank.coherence(|coherence| coherence.bytes_along(from, with));
    if bytes != 0 {
        let tail = words.split_off(words.len() - bytes.div_ceil(8));
        let mut data = vec![0; 8 * tail.len()];
        for (bytes, word) in data.chunks_exact_mut(8).zip(tail) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        rank.coherence(|coherence| coherence.receive_along(from, with, &data[..bytes]));
    }
    words
}

fn hand_down(rank: &mut impl Rank, words: &[u64]) {
    for child in tree::children(rank.rank(), rank.ranks()).rev() {
        send(rank, words, child, Along::Departure);
    }
}

/// The words that come down, which `look` sees before what came along is taken from them.
fn receive_from_above<R: Rank>(rank: &mut R, look: impl FnOnce(&mut R, &[u64])) -> Vec<u64> {
    let above = tree::parent(rank.rank());
    let words = rank.receive(above);
    look(rank, &words);
    let words = without_data(rank, words, above, Along::Departure);
    hand_down(rank, &words);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

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
