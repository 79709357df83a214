//! Calls that tell the run time where code begins and ends that declares nothing.

use okl_abi::{Stretch, f};

use super::summaries;
use crate::analysis::sections::{self, FunctionSections};
use crate::analysis::summaries::Called;
use crate::diagnostic::Site;
use crate::llvm::{Builder, Linkage, Module, Value};
use crate::lower::runtime_call::declare;

const BEGINS: i32 = 1;
const ASKS: i32 = 2;

/// Inserts them. Where such code ends, or an exception has left it, things are again as they were when the function was
/// entered: it may have been called by code that declares nothing. Returns the stretches that may turn out not to be any.
pub(super) fn emit<'m>(module: &'m Module, sections: &FunctionSections<'m>) -> Vec<Value<'m>> {
    let undeclared = declare(module, &f::okl_mpi_undeclared);
    let ends = sections.stretches.iter().flat_map(|one| &one.ends);
    let ends: Vec<_> = ends.chain(&sections.handlers).collect();
    if sections.stretches.is_empty() && ends.is_empty() {
        return Vec::new();
    }
    let nowhere = module.pointer().zero();
    if !ends.is_empty() {
        let builder = Builder::at_entry(module, sections.function);
        let before = builder.call(undeclared, &[module.const_i32(ASKS), nowhere]);
        for &end in ends {
            Builder::before(module, end).call(undeclared, &[before, nowhere]);
        }
    }
    let mut dependent = Vec::new();
    for one in &sections.stretches {
        let now = module.const_i32(BEGINS);
        let stretch = record(module, one);
        Builder::before(module, one.before).call(undeclared, &[now, stretch]);
        if !one.depends.is_empty() {
            dependent.push(stretch);
        }
    }
    sections.function.forget_memory_effects();
    dependent
}

/// What the run time is told of a stretch.
fn record<'m>(module: &'m Module, one: &sections::Stretch<'m>) -> Value<'m> {
    let place = Site::Instruction(one.spoiled.at).to_string();
    let (calls, count) = summaries::calls(module, one.depends.iter().map(Called::of));
    let count = match one.depends.is_empty() {
        true => -1,
        false => count,
    };
    let fields = Stretch::NAMES.iter().map(|&field| match field {
        "location" => *module.add_text("okl.text", &place),
        "calls" => calls,
        "call_count" => module.const_i64(count),
        "is_nest" => module.const_i64(one.is_nest.into()),
        "decision" => module.const_i64(0),
        other => unreachable!("a stretch has no {other}"),
    });
    let value = module.const_struct(&fields.collect::<Vec<_>>());
    // Not in the shared section: each rank keeps its own decision.
    let linkage = Linkage::LLVMPrivateLinkage;
    let global = module.add_global("okl.stretch", value.ty(), Some(value), linkage);
    global.set_alignment(8);
    *global
}
