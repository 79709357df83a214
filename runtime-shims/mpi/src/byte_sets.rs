//! Sets of bytes that a rank announces, where others find them: each once, however often it is announced.
//!
//! Guarantee: what has a place stays there as it is. Who has heard of the place finds the set.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use okl_coherence::geometry::{
    ranges::{Range, Ranges},
    signature::Signature,
};

/// Words in which the sets of a rank are, one behind the other: the number of ranges, what stands for the set, and starts and
/// ends.
pub(crate) const WORDS: usize = 1 << 20;
/// Words before the ranges.
pub(crate) const HEAD: usize = 3;

/// The sets that this rank has announced, and those of others that it has heard of.
#[derive(Default)]
pub(crate) struct ByteSets {
    places: HashMap<[u64; 2], u32>,
    used: usize,
    heard: HashMap<(u32, u32), (Signature, Ranges)>,
}

impl ByteSets {
    /// The place of a set of this rank, which `id` stands for, among its `words`; `None` where there is no more room.
    pub(crate) fn place(
        &mut self,
        words: &[AtomicU64],
        id: Signature,
        bytes: &Ranges,
    ) -> Option<u32> {
        if let Some(&place) = self.places.get(&id.to_words()) {
            return Some(place);
        }
        let ranges: Vec<Range> = bytes.iter().collect();
        let end = self.used + HEAD + 2 * ranges.len();
        if end > WORDS {
            return None;
        }
        let [a, b] = id.to_words();
        let flat = ranges.iter().flat_map(|&(start, end)| [start, end]);
        let all = [ranges.len() as u64, a, b].into_iter().chain(flat);
        for (word, value) in words[self.used..end].iter().zip(all) {
            word.store(value, SeqCst);
        }
        let place = self.used as u32;
        self.used = end;
        self.places.insert(id.to_words(), place);
        Some(place)
    }

    /// The set at `place` of another rank, of whose words `read` copies some from a number on.
    pub(crate) fn find(
        &mut self,
        rank: u32,
        place: u32,
        mut read: impl FnMut(usize, &mut [u64]),
    ) -> (Signature, Ranges) {
        if let Some(known) = self.heard.get(&(rank, place)) {
            return known.clone();
        }
        let mut head = [0; HEAD];
        read(place as usize, &mut head);
        let mut flat = vec![0; 2 * head[0] as usize];
        read(place as usize + HEAD, &mut flat);
        let ranges = flat.chunks_exact(2).map(|one| (one[0], one[1]));
        let set = (
            Signature::from_words([head[1], head[2]]),
            Ranges::of(ranges.collect()),
        );
        self.heard.insert((rank, place), set.clone());
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_found_where_they_were_put() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let (mut mine, mut theirs) = (ByteSets::default(), ByteSets::default());
        let set = |seed: u64| Ranges::of((0..seed).map(|at| (9 * at, 9 * at + seed)).collect());
        let id = |seed: u64| Signature::START.with(seed);
        let places: Vec<u32> = (0..9)
            .map(|seed| mine.place(&words, id(seed), &set(seed)).expect("room"))
            .collect();
        for seed in (0..9).chain(0..9) {
            let place = places[seed as usize];
            assert_eq!(mine.place(&words, id(seed), &set(seed)), Some(place));
            let found = theirs.find(1, place, |from, target| {
                for (word, at) in target.iter_mut().zip(from..) {
                    *word = words[at].load(SeqCst);
                }
            });
            assert_eq!(found, (id(seed), set(seed)));
        }
    }

    #[test]
    fn there_is_no_place_where_there_is_no_room() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let mut sets = ByteSets::default();
        let many = Ranges::of(
            (0..WORDS as u64 / 5)
                .map(|at| (2 * at, 2 * at + 1))
                .collect(),
        );
        let place = |sets: &mut ByteSets, id| sets.place(&words, Signature::START.with(id), &many);
        assert!(place(&mut sets, 1).is_some() && place(&mut sets, 2).is_some());
        assert_eq!(place(&mut sets, 3), None);
        assert!(place(&mut sets, 1).is_some());
    }
}
