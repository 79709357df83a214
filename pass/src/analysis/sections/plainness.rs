//! Whether a region's threads access shared memory by loads and stores alone.

use std::collections::HashSet;

use okl_abi::Effects;

use crate::analysis::call_graph::{is_final, reached};
use crate::analysis::library::{calls_back, is_mathematics, known};
use crate::analysis::runtime;
use crate::llvm::{Call, Function, Instruction, Opcode};

/// Whether whatever the body reaches is known, or one of `others`, and has no atomic accesses.
pub(super) fn has_no_atomics(body: Function<'_>, others: &HashSet<Function<'_>>) -> bool {
    let reached = reached(body);
    let mut instructions = reached.iter().flat_map(|function| function.instructions());
    instructions.all(|one| is_plain(one, others))
}

fn is_plain(instruction: Instruction<'_>, others: &HashSet<Function<'_>>) -> bool {
    if instruction.is_atomic_access() {
        return false;
    }
    match instruction.opcode() {
        Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => {
            let call = (*instruction).as_call();
            call.is_some_and(|call| {
                let is_other = call
                    .callee_function()
                    .is_some_and(|one| others.contains(&one));
                is_other || is_known(call)
            })
        }
        _ => true,
    }
}

/// Whether a call runs nothing but what is looked at here or known not to matter.
fn is_known(call: Call<'_>) -> bool {
    let Some(callee) = call.callee_function() else {
        return false;
    };
    let name = call.callee_name();
    let arguments = call.arguments().into_iter();
    let handed_over: Vec<_> = arguments.filter_map(|one| one.as_function()).collect();
    let is_here = |function: &Function<'_>| !function.is_declaration() && is_final(*function);
    if calls_back(&name) && handed_over.is_empty() || !handed_over.iter().all(is_here) {
        return false;
    }
    if let Some(function) = runtime::function_of(&name) {
        !function.has(Effects::UNPLAIN)
    } else if callee.is_declaration() {
        callee.is_intrinsic() || is_mathematics(&name) || known(&name).is_some()
    } else {
        is_final(callee)
    }
}
