//! Flags: variables by which threads only wait for each other become atomic objects, which the run time knows apart from
//! others. A load of one acquires and a store releases, so that what a thread wrote before it set a flag is seen by those
//! that waited for it.

use crate::analysis::call_graph::CallGraph;
use crate::analysis::flags;
use crate::llvm::{Instruction, Module};
use crate::marks::is_lowered;

/// What is noted of accesses to flags.
const NOTE: &str = "okl.flag";

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
        access.note(module, NOTE);
    }
    for flush in &found.flushes {
        flush.erase();
    }
    !found.accesses.is_empty()
}

/// Whether an atomic access is one to a flag.
pub fn is_of_flag<'m>(module: &'m Module, access: Instruction<'m>) -> bool {
    access.has_note(module, NOTE)
}
