//! Calls in loops that only another thread can end, by which the run time learns that nobody will.

use okl_abi::f;

use crate::analysis::call_graph::CallGraph;
use crate::analysis::waiting::{Callees, endless};
use crate::diagnostic::Site;
use crate::llvm::{Builder, Function, Module};
use crate::lower::runtime_call::declare;

/// The loops there are.
pub fn check<'m>(functions: &[Function<'m>], graph: &CallGraph<'m>) -> Vec<endless::Endless<'m>> {
    let callees = Callees::new(graph);
    let all = functions.iter();
    all.flat_map(|&function| endless::find(function, &callees))
        .collect()
}

/// Counts the turns of each loop, from each time that it is entered.
pub fn emit<'m>(module: &'m Module, loops: &[endless::Endless<'m>]) {
    for one in loops {
        let Some(start) = one.header.first_insertion_point() else {
            continue;
        };
        let count = module.int(64);
        let entry = Builder::at_entry(module, start.function());
        let turns = entry.alloca(count, 8);
        for &end in &one.entries {
            Builder::before(module, end).store(module.const_i64(0), turns);
        }
        let place = module.add_text("okl.waits", &Site::Instruction(one.at).to_string());
        let callee = declare(module, &f::okl_mpi_waits_here);
        Builder::before(module, start).call(callee, &[*place, turns]);
    }
}
