//! Innermost loops no iteration of which depends on another one: LLVM is told so, which then asks nothing of addresses when it
//! vectorises them. That the spaces of a chain have no memory in common it cannot see, least of all in code that threads share.

use okl_chains::code::{Expression, For};

use super::code::Writer;
use super::storage::{factor, only_runs};
use crate::analysis::chains::Modelled;
use crate::llvm::{Instruction, Opcode};

/// What innermost loops of a nest may be told to be independent by: its loads and stores, of each nest; none where that is
/// not known.
pub fn accesses<'m>(known: &Modelled<'m>) -> Vec<Vec<Instruction<'m>>> {
    let of = |its: &Vec<crate::analysis::chains::Accessing<'m>>| {
        let overlap = |&(one, other): &(usize, usize)| {
            let uses = |space: usize| its.iter().any(|access| access.space == space);
            uses(one) && uses(other)
        };
        if known.must_not_overlap.iter().any(overlap) {
            return Vec::new();
        }
        let mut all: Vec<Instruction<'m>> = Vec::new();
        for at in its.iter().filter_map(|access| access.at) {
            let is_access = matches!(at.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore);
            if is_access && at.is_plain_access() && !all.contains(&at) {
                all.push(at);
            }
        }
        all
    };
    known.accessing.iter().map(of).collect()
}

impl Writer<'_, '_> {
    /// The nest whose iterations a loop runs, where none of them depends on another one.
    pub fn independent(&self, one: &For) -> Option<usize> {
        let mut runs = Vec::new();
        if !only_runs(&one.body, &mut runs) {
            return None;
        }
        let [(nest, iteration)] = runs[..] else {
            return None;
        };
        let (innermost, outer) = iteration.split_last()?;
        let is_fixed = |number: &Expression| factor(number, one.variable) == Some(0);
        let goes = factor(innermost, one.variable) == Some(1);
        let mut stored = self.stored.iter();
        let is_known = self.independent.contains(&nest)
            && stored.all(|stored| stored.is_apart(nest, outer.len()));
        (goes && is_known && outer.iter().all(is_fixed)).then_some(nest)
    }
}
