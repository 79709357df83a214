//! A mesh as the program declared it, and the ranks it is divided among.

/// A rank of the job.
pub(crate) type Rank = u32;

/// A map of the whole mesh, as the program declared it.
#[derive(Hash)]
pub(crate) struct Links {
    /// Number of the set it begins at.
    pub(crate) from: usize,
    /// Number of the set it leads to.
    pub(crate) to: usize,
    /// Its columns.
    pub(crate) arity: usize,
    /// Its rows.
    pub(crate) targets: Vec<i32>,
}

impl Links {
    /// What element `element` points to.
    pub(crate) fn of(&self, element: usize) -> &[i32] {
        &self.targets[element * self.arity..][..self.arity]
    }
}

/// The sets of the whole mesh, and its maps.
#[derive(Hash)]
pub(crate) struct Topology {
    /// Elements of each set.
    pub(crate) sizes: Vec<usize>,
    pub(crate) maps: Vec<Links>,
}
