//! Calls that tell the run time where code begins and ends that declares nothing.

use okl_abi::f;

use crate::analysis::sections::FunctionSections;
use crate::diagnostic::Site;
use crate::llvm::{Builder, Module};
use crate::lower::runtime_call::declare;

const BEGINS: i32 = 1;
const ASKS: i32 = 2;

/// Inserts them. Where such code ends, or an exception has left it, things are again as they were when the function was
/// entered: it may have been called by code that declares nothing.
pub(super) fn emit<'m>(module: &'m Module, sections: &FunctionSections<'m>) {
    let undeclared = declare(module, &f::okl_mpi_undeclared);
    let ends = sections.stretches.iter().flat_map(|one| &one.ends);
    let ends: Vec<_> = ends.chain(&sections.handlers).collect();
    if sections.stretches.is_empty() && ends.is_empty() {
        return;
    }
    let nowhere = module.pointer().zero();
    if !ends.is_empty() {
        let builder = Builder::at_entry(module, sections.function);
        let before = builder.call(undeclared, &[module.const_i32(ASKS), nowhere]);
        for &end in ends {
            Builder::before(module, end).call(undeclared, &[before, nowhere]);
        }
    }
    for one in &sections.stretches {
        let now = module.const_i32(BEGINS);
        let place = Site::Instruction(one.spoiled.at).to_string();
        let place = *module.add_text("okl.text", &place);
        Builder::before(module, one.before).call(undeclared, &[now, place]);
    }
    sections.function.forget_memory_effects();
}
