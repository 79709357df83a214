//! What clang says too much of the iterations of a loop.
//!
//! It calls those of a loop with a dynamic schedule parallel, as if it were `simd`: no iteration would
//! access what another one writes. OpenMP promises that of different threads only. Iterations of one thread
//! may well add to the same `threadprivate` variable, or to their thread's part of a table, and LLVM, which
//! believes clang, then vectorises such sums wrongly.

use crate::llvm::{Function, Module};

const PARALLEL: &str = "llvm.loop.parallel_accesses";

/// Asks for vectors.
const VECTORISE: &str = "llvm.loop.vectorize.enable";

/// Takes it back in the loops of these functions, where the source does not say it itself.
pub fn emit<'m>(module: &'m Module, functions: &[Function<'m>]) {
    for block in functions.iter().flat_map(|one| one.blocks()) {
        let Some(end) = block.terminator() else {
            continue;
        };
        let is_parallel = end.loop_option(module, PARALLEL).is_some();
        let asked = end.loop_option(module, VECTORISE).flatten();
        let is_asked = asked
            .and_then(|one| one.as_constant_int())
            .is_some_and(|one| one != 0);
        if is_parallel && !is_asked {
            end.remove_loop_option(module, PARALLEL);
        }
    }
}
