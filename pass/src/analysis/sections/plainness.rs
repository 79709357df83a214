//! Whether a region's threads access shared memory by loads and stores alone.

use std::collections::HashSet;

use super::calls::{is_final, is_mathematics};
use crate::analysis::library::known;
use crate::llvm::{Function, Opcode};

/// Functions of the runtime that access it in other ways, or run what is not looked at here.
const OTHERS: [&str; 4] = [
    "okl_mpi_atomic_",
    "okl_mpi_guard_",
    "okl_mpi_fork",
    "okl_mpi_unsafe_here",
];

/// Functions of the C library that call one they are given.
const CALLING_BACK: [&str; 7] = [
    "qsort",
    "qsort_r",
    "bsearch",
    "atexit",
    "on_exit",
    "at_quick_exit",
    "scandir",
];

/// Whether whatever the body reaches is known, and has no atomic accesses.
pub(super) fn has_no_atomics(body: Function<'_>) -> bool {
    let mut seen = HashSet::from([body]);
    let mut rest = vec![body];
    while let Some(function) = rest.pop() {
        for instruction in function.instructions() {
            if instruction.is_atomic_access() {
                return false;
            }
            let is_call = matches!(
                instruction.opcode(),
                Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr
            );
            if !is_call {
                continue;
            }
            let Some(call) = (*instruction).as_call() else {
                return false;
            };
            let Some(callee) = call.callee_function() else {
                return false;
            };
            let name = call.callee_name();
            let is_known = if name.starts_with("okl_mpi_") {
                !OTHERS.iter().any(|prefix| name.starts_with(prefix))
            } else if callee.is_declaration() {
                callee.is_intrinsic() || is_mathematics(&name) || known(&name).is_some()
            } else {
                is_final(callee)
            };
            if !is_known {
                return false;
            }
            // Also what the callee may call back.
            let handed_over = call.arguments().into_iter();
            let handed_over: Vec<_> = handed_over.filter_map(|one| one.as_function()).collect();
            let calls_back = CALLING_BACK.contains(&name.as_str());
            if calls_back && handed_over.is_empty()
                || handed_over
                    .iter()
                    .any(|one| one.is_declaration() || !is_final(*one))
            {
                return false;
            }
            for next in handed_over.into_iter().chain([callee]) {
                if !next.is_declaration() && seen.insert(next) {
                    rest.push(next);
                }
            }
        }
    }
    true
}
