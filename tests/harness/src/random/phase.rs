//! Which object may be touched how until the next barrier: what makes the programs race-free.

use std::collections::BTreeMap;

/// How an object is used between two barriers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Threads read it.
    Read,
    /// One construct writes it, each element in one iteration, section or task.
    Written,
    /// Threads update its elements with one operator under one protection; nobody reads it.
    Updated {
        operator: &'static str,
        protection: Protection,
    },
}

/// What keeps concurrent updates apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protection {
    Atomic,
    Critical,
    Lock,
}

/// The stream all output goes to, as an object like the others.
pub(crate) const STDOUT: usize = usize::MAX;

/// The uses since the last barrier.
#[derive(Clone, Default)]
pub(crate) struct Phase(BTreeMap<usize, Use>);

impl Phase {
    pub(crate) fn barrier(&mut self) {
        self.0.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn may_read(&self, object: usize) -> bool {
        matches!(self.0.get(&object), None | Some(Use::Read))
    }

    pub(crate) fn may_write(&self, object: usize) -> bool {
        !self.0.contains_key(&object)
    }

    pub(crate) fn may_update(&self, object: usize, operator: &str, by: Protection) -> bool {
        match self.0.get(&object) {
            None => true,
            Some(Use::Updated {
                operator: o,
                protection,
            }) => *o == operator && *protection == by,
            Some(Use::Read | Use::Written) => false,
        }
    }

    pub(crate) fn note(&mut self, object: usize, how: Use) {
        self.0.insert(object, how);
    }
}
