//! Innermost loops no iteration of which depends on another one: LLVM is told so, which then asks nothing of addresses when it
//! vectorises them. That the spaces of a chain have no memory in common it cannot see, least of all in code that threads share.

use okl_chains::code::{Expression, For};

use super::code::Writer;
use super::storage::{factor, only_runs};
use crate::analysis::chains::Modelled;
use crate::llvm::{Instruction, Opcode};

/// The loads and stores of nests by which innermost loops of theirs may be told to be independent.
pub struct Accesses<'m> {
    /// Of each nest.
    all: Vec<Vec<Instruction<'m>>>,
    /// The spaces that each accesses.
    spaces: Vec<Vec<usize>>,
    /// Those of which it is not known whether they have memory in common.
    may_overlap: Vec<(usize, usize)>,
}

/// Those of all nests.
pub fn accesses<'m>(known: &Modelled<'m>) -> Accesses<'m> {
    let of = |its: &Vec<crate::analysis::chains::Accessing<'m>>| {
        let mut all: Vec<Instruction<'m>> = Vec::new();
        for at in its.iter().filter_map(|access| access.at) {
            let is_access = matches!(at.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore);
            if is_access && at.is_plain_access() && !all.contains(&at) {
                all.push(at);
            }
        }
        all
    };
    let spaces = known.accessing.iter();
    let spaces = spaces.map(|its| its.iter().map(|access| access.space).collect());
    Accesses {
        all: known.accessing.iter().map(of).collect(),
        spaces: spaces.collect(),
        may_overlap: known.model.may_overlap.clone(),
    }
}

impl<'m> Accesses<'m> {
    /// Those of nests that share a loop; none where that is not known.
    pub fn of(&self, nests: &[usize]) -> Vec<Instruction<'m>> {
        let uses = |space: usize| nests.iter().any(|&nest| self.spaces[nest].contains(&space));
        let overlap = |&(one, other): &(usize, usize)| uses(one) && uses(other);
        if self.may_overlap.iter().any(overlap) {
            return Vec::new();
        }
        nests
            .iter()
            .flat_map(|&nest| self.all[nest].clone())
            .collect()
    }
}

impl Writer<'_, '_> {
    /// The nests whose iterations a loop runs, where none of them depends on another one.
    pub fn independent(&self, one: &For) -> Vec<usize> {
        let mut runs = Vec::new();
        if !only_runs(&one.body, &mut runs)
            || runs.len() > 1 && !self.joined.contains(&one.variable)
        {
            return Vec::new();
        }
        let is_independent = |(nest, iteration): &(usize, &[Expression])| {
            let Some((innermost, outer)) = iteration.split_last() else {
                return false;
            };
            let is_fixed = |number: &Expression| factor(number, one.variable) == Some(0);
            let goes = factor(innermost, one.variable) == Some(1);
            let mut stored = self.stored.iter();
            let is_known = self.independent.contains(nest)
                && stored.all(|stored| stored.is_apart(*nest, outer.len()));
            goes && is_known && outer.iter().all(is_fixed)
        };
        match runs.iter().all(is_independent) {
            true => runs.into_iter().map(|run| run.0).collect(),
            false => Vec::new(),
        }
    }
}
