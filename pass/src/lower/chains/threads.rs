//! How many threads share loops: those that OpenMP would have a region run on, or one where there is no new region.

use crate::llvm::{Builder, Linkage, Module, Value};

/// OpenMP's function that says whether threads are a team already.
const IN_PARALLEL: &str = "omp_in_parallel";
/// OpenMP's function that says how many threads the next team has.
const MAX_THREADS: &str = "omp_get_max_threads";

/// The number of threads, of 64 bits. In a team each thread runs the chain by itself.
pub fn count<'m>(module: &'m Module, builder: &Builder<'m>, is_alone: bool) -> Value<'m> {
    if is_alone {
        return module.const_i64(1);
    }
    let one = module.const_i32(1);
    let threads = builder.select(
        is_team(module, builder),
        one,
        ask(module, builder, MAX_THREADS),
    );
    builder.sign_extend(threads, module.int(64))
}

/// Whether the thread is one of a team.
fn is_team<'m>(module: &'m Module, builder: &Builder<'m>) -> Value<'m> {
    builder.compare(ask(module, builder, IN_PARALLEL), module.const_i32(0), true)
}

fn ask<'m>(module: &'m Module, builder: &Builder<'m>, name: &str) -> Value<'m> {
    let asked = module.function(name).unwrap_or_else(|| {
        let ty = module.function_type(module.int(32), &[]);
        module.add_function(name, ty, Linkage::LLVMExternalLinkage)
    });
    builder.call(asked, &[])
}
