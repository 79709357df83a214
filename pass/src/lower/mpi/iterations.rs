//! What clang says too much of the iterations of a loop.
//!
//! It calls those of a loop with a dynamic schedule parallel, as if it were `simd`: no iteration would
//! access what another one writes. OpenMP promises that of different threads only. Iterations of one thread
//! may well add to the same `threadprivate` variable, or to their thread's part of a table, and LLVM, which
//! believes clang, then vectorises such sums wrongly.

use crate::llvm::Function;

/// Takes it back in the loops of these functions, where the source does not say it itself.
pub fn emit(functions: &[Function<'_>]) {
    for block in functions.iter().flat_map(|one| one.blocks()) {
        if let Some(end) = block.terminator() {
            end.deny_parallel_iterations();
        }
    }
}
