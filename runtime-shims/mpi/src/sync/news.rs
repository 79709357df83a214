//! What a rank tells the others at a synchronisation but for its declarations: lists of words.

use crate::{interpose::exit, memory::coherence, program, stream_format};
use okl_coherence::{Notices, Phase, Run};

/// Lists of [`News`].
pub(super) const LISTS: usize = 8;
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
    /// Free blocks of other ranks' arenas.
    pub(super) returned: Vec<u64>,
    /// Destructors for rank 0 to call when the program exits.
    pub(super) destructors: Vec<u64>,
    /// Large heap blocks, start and end.
    pub(super) allocated: Vec<u64>,
    /// Formats that it set on C++ streams.
    pub(super) formats: Vec<u64>,
    /// What rank 0 changed in pages in update mode.
    pub(super) updates: Vec<u64>,
}

impl News {
    /// This rank's since the last synchronisation.
    pub(super) fn collect(phase: Phase) -> Self {
        let mut news = Self::without_updates();
        news.add_updates(phase);
        news
    }

    /// The same, but for what can wait until the next fork.
    pub(super) fn without_updates() -> Self {
        Self {
            updates: Vec::new(),
            notices: coherence(|coherence| coherence.notices()),
            returned: program::heap(|heap| heap.give_back()),
            destructors: exit::take_registered(),
            allocated: program::heap(|heap| heap.take_new_large()),
            formats: stream_format::changes(),
        }
    }

    /// Adds what could have waited.
    pub(super) fn add_updates(&mut self, phase: Phase) {
        let in_region = phase == Phase::Parallel;
        self.updates = coherence(|coherence| coherence.take_updates(in_region));
        // Pages that changed too much are noticed instead.
        self.notices = coherence(|coherence| coherence.notices());
    }

    /// The lists in one, with their lengths.
    pub(super) fn flatten(&self) -> (Vec<u64>, [u64; LISTS]) {
        let Notices {
            dirty,
            flushed,
            fetched,
        } = &self.notices;
        let mut all = Vec::new();
        let mut lengths = [0; LISTS];
        let mut left = lengths.iter_mut();
        let mut note = |words: usize| *left.next().expect("one of each list") = words as u64;
        for runs in [dirty, flushed, fetched] {
            all.extend(runs.iter().copied().map(encode));
            note(runs.len());
        }
        for words in [
            &self.returned,
            &self.destructors,
            &self.formats,
            &self.allocated,
            &self.updates,
        ] {
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
            },
            returned: words().to_vec(),
            destructors: words().to_vec(),
            formats: words().to_vec(),
            allocated: words().to_vec(),
            updates: words().to_vec(),
        }
    }
}
