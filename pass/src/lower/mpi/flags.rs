//! Flags: variables by which threads only wait for each other become atomic objects, which the run time knows apart from
//! others. A load of one acquires and a store releases, so that what a thread wrote before it set a flag is seen by those
//! that waited for it.

use std::collections::HashMap;

use super::stack_arrays;
use crate::analysis::call_graph::CallGraph;
use crate::analysis::{flags, waiting};
use crate::diagnostic::Site;
use crate::llvm::{Function, Instruction, Module, Opcode};
use crate::marks::is_lowered;

/// What is noted of accesses to flags, and of those that loops wait with.
const NOTE: &str = "okl.flag";
const WAITS: &str = "okl.flag.waits";

/// Has the accesses to flags ordered. True where there are some.
pub fn prepare(module: &Module) -> bool {
    let functions: Vec<_> = module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration() && !is_lowered(*function))
        .collect();
    let graph = CallGraph::of(module);
    let found = flags::find(module, &functions, &graph);
    for access in &found.accesses {
        access.set_ordered();
        access.note(NOTE);
    }
    for wait in &found.waits {
        wait.note(WAITS);
    }
    for constant in &found.constants {
        constant.note(waiting::CONSTANT);
    }
    for flush in &found.flushes {
        flush.erase();
    }
    let has_flags = !found.accesses.is_empty();
    if has_flags {
        stack_arrays::widen(module, &functions);
    }
    has_flags
}

/// Where functions wait for flags.
pub struct Waits<'m>(HashMap<Function<'m>, Instruction<'m>>);

impl<'m> Waits<'m> {
    /// The first place in each of these functions.
    pub fn of(functions: &[Function<'m>]) -> Self {
        let all = functions.iter().filter_map(|&function| {
            let mut all = function.instructions().into_iter();
            let first = all.find(|at| {
                at.opcode() == Opcode::LLVMLoad && at.is_atomic_access() && at.has_note(WAITS)
            });
            Some((function, first?))
        });
        Self(all.collect())
    }

    /// The first place in these functions.
    pub fn first_in(&self, functions: &[Function<'m>]) -> Option<Instruction<'m>> {
        functions.iter().find_map(|one| self.0.get(one).copied())
    }

    /// Why a region with this body runs on rank 0 unless the user has it otherwise.
    pub fn reason_in(&self, graph: &CallGraph<'m>, body: Function<'m>) -> Option<String> {
        let at = self.first_in(&graph.reachable(body))?;
        Some(format!(
            "waits for a flag that another thread sets ({}); on several nodes the ranks run it where that pays, and everywhere with OKL_FLAGS=ranks",
            Site::Instruction(at)
        ))
    }
}

/// Whether an atomic access is one to a flag.
pub fn is_of_flag(access: Instruction<'_>) -> bool {
    access.has_note(NOTE)
}
