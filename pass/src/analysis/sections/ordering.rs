//! What orders the accesses of a region's threads to each other.

use std::collections::HashSet;

use super::calls::{is_final, is_mathematics, is_shallow_reduction, is_synchronisation_of_all};
use crate::analysis::library::known;
use crate::llvm::{Function, Opcode};

/// Whether nothing does but synchronisations of the whole team: whatever the body reaches is known, and
/// has no locks, atomics, flushes or tasks.
pub(super) fn is_by_barriers_only(body: Function<'_>) -> bool {
    let mut seen = HashSet::from([body]);
    let mut rest = vec![body];
    while let Some(function) = rest.pop() {
        for instruction in function.instructions() {
            if instruction.is_atomic_access() || instruction.is_thread_fence() {
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
                is_synchronisation_of_all(&name) && is_shallow_reduction(call)
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
            let handed_over = handed_over.filter_map(|one| one.as_function());
            for next in handed_over.chain([callee]) {
                if !next.is_declaration() && seen.insert(next) {
                    rest.push(next);
                }
            }
        }
    }
    true
}
