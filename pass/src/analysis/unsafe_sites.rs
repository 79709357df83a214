//! Constructs that are wrong in a team of more than one rank.

use std::collections::HashMap;

use crate::analysis::call_graph::CallGraph;
use crate::diagnostic::{Declined, Site};
use crate::ir::ParallelLoop;
use crate::llvm::{Function, Instruction};

/// One construct.
pub struct UnsafeSite<'m> {
    /// The construct itself.
    pub at: Instruction<'m>,
    /// Where a check has to stand to come before it.
    pub check_before: Instruction<'m>,
    /// What it is, as the end of a sentence that begins with "it".
    pub reason: String,
}

impl UnsafeSite<'_> {
    /// `file:line`, or the function it is in.
    pub fn location(&self) -> String {
        Site::Instruction(self.at).to_string()
    }
}

/// The constructs of a module.
pub struct UnsafeSites<'m> {
    sites: Vec<UnsafeSite<'m>>,
    first: HashMap<Function<'m>, usize>,
}

impl<'m> UnsafeSites<'m> {
    /// Every site.
    pub fn all(&self) -> &[UnsafeSite<'m>] {
        &self.sites
    }

    /// Index of the first site in these functions.
    pub fn first_in(&self, functions: &[Function<'m>]) -> Option<usize> {
        functions.iter().find_map(|function| self.first.get(function).copied())
    }

    /// Why a region with this body must have one thread: the nearest construct it reaches.
    pub fn reason_in(&self, graph: &CallGraph<'m>, body: Function<'m>) -> Option<String> {
        let site = &self.sites[self.first_in(&graph.reachable(body))?];
        Some(format!("{} ({})", site.reason, site.location()))
    }
}

/// Finds the constructs in these functions.
pub fn find<'m>(_functions: &[Function<'m>]) -> UnsafeSites<'m> {
    UnsafeSites { sites: Vec::new(), first: HashMap::new() }
}

/// Refuses what is wrong even on one rank.
pub fn refuse<'m>(
    _functions: &[Function<'m>],
    _loops: &[ParallelLoop<'m>],
    _graph: &CallGraph<'m>,
    _sites: &UnsafeSites<'m>,
    _refused: &mut Vec<Declined<'m>>,
) {
}
