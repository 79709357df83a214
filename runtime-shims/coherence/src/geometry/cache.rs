//! What is known of states, by the numbers that stand for them.

use std::collections::HashMap;

use super::signature::{ByHalf, Signature};

/// When there are more entries, or they consist of more pieces of memory, all are forgotten.
const MOST: usize = 1 << 16;
pub(crate) const MOST_PIECES: usize = 1 << 22;

/// A map that stays small. Where all ranks have the same entries, of as many pieces, they forget them at the
/// same time.
#[derive(Debug)]
pub(crate) struct Cache<T> {
    entries: HashMap<Signature, T, ByHalf>,
    pieces: usize,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self {
            entries: HashMap::default(),
            pieces: 0,
        }
    }
}

impl<T> Cache<T> {
    pub(crate) fn get(&self, key: Signature) -> Option<&T> {
        self.entries.get(&key)
    }

    pub(crate) fn contains(&self, key: Signature) -> bool {
        self.entries.contains_key(&key)
    }

    /// Adds an entry of so many pieces.
    pub(crate) fn insert(&mut self, key: Signature, entry: T, pieces: usize) {
        self.pieces += pieces;
        if self.entries.len() >= MOST || self.pieces > MOST_PIECES {
            self.entries.clear();
            self.pieces = pieces;
        }
        self.entries.insert(key, entry);
    }
}
