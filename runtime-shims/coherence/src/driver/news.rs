//! What a rank tells the others at a synchronisation but for its declarations: lists of words.

use super::{Enclosed, Rank};
use crate::coherence::{Notices, Phase, Run};

/// Lists of [`News`].
pub(super) const LISTS: usize = 9;
/// The one of updates.
pub(super) const UPDATES: usize = LISTS - 1;

fn encode(run: Run) -> u64 {
    u64::from(run.first) | u64::from(run.count) << 32
}

fn decode(word: u64) -> Run {
    Run {
        first: word as u32,
        count: (word >> 32) as u32,
    }
}

/// What a rank tells the others at a synchronisation.
pub(super) struct News {
    pub(super) notices: Notices,
    /// What the program's side adds.
    pub(super) enclosed: Enclosed,
    /// What rank 0 changed in pages in update mode.
    pub(super) updates: Vec<u64>,
}

impl News {
    /// This rank's since the last synchronisation.
    pub(super) fn collect(rank: &mut impl Rank, phase: Phase) -> Self {
        let mut news = Self::without_updates(rank);
        news.add_updates(rank, phase);
        news
    }

    /// The same, but for what can wait until the next fork.
    pub(super) fn without_updates(rank: &mut impl Rank) -> Self {
        Self {
            updates: Vec::new(),
            notices: rank.coherence(|coherence| coherence.notices()),
            enclosed: rank.enclose(),
        }
    }

    /// Adds what could have waited.
    pub(super) fn add_updates(&mut self, rank: &mut impl Rank, phase: Phase) {
        let in_region = phase == Phase::Parallel;
        rank.coherence(|coherence| {
            self.updates = coherence.take_updates(in_region);
            // Pages that changed too much are noticed instead.
            self.notices = coherence.notices();
        });
    }

    /// The lists in one, with their lengths.
    pub(super) fn flatten(&self) -> (Vec<u64>, [u64; LISTS]) {
        let Notices {
            dirty,
            flushed,
            fetched,
            freed,
        } = &self.notices;
        let mut all = Vec::new();
        let mut lengths = [0; LISTS];
        let mut left = lengths.iter_mut();
        let mut note = |words: usize| *left.next().expect("one of each list") = words as u64;
        for runs in [dirty, flushed, fetched, freed] {
            all.extend(runs.iter().copied().map(encode));
            note(runs.len());
        }
        for words in self.enclosed.iter().chain([&self.updates]) {
            all.extend(words);
            note(words.len());
        }
        (all, lengths)
    }

    pub(super) fn unflatten(words: &[u64], lengths: &[u64]) -> Self {
        let mut rest = words;
        let mut lists = lengths.iter().map(|&length| {
            let (list, others) = rest.split_at(length as usize);
            rest = others;
            list
        });
        let mut words = || lists.next().expect("as many lengths as lists");
        let runs = |words: &[u64]| words.iter().copied().map(decode).collect();
        Self {
            notices: Notices {
                dirty: runs(words()),
                flushed: runs(words()),
                fetched: runs(words()),
                freed: runs(words()),
            },
            enclosed: std::array::from_fn(|_| words().to_vec()),
            updates: words().to_vec(),
        }
    }
}
