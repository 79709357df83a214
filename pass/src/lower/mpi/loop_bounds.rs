//! What the runtime guarantees about the bounds of a worksharing loop, said to LLVM.
//!
//! Chunks of one length are a number of them apart: they are counted, instead of bounds being carried from
//! chunk to chunk.
//!
//! A thread's lower bound is never below the loop's. LLVM cannot know that of a variable a function has
//! filled in; with it, an index computed in `int` is seen not to wrap around, and addresses in the loop
//! are as regular as they were written.

use super::chunks;
use crate::llvm::{Call, Module, Opcode, Value};
use crate::recognise::openmp::MODIFIERS;

/// Calls that hand out a signed lower bound: their parameters for it and for the increment.
const CALLS: [(&str, usize, usize); 2] = [
    ("okl_mpi_kmpc_for_static_init_4", 4, 7),
    ("okl_mpi_kmpc_for_static_init_8", 4, 7),
];

/// Calls that hand out the first chunk of a thread, and whether its iterations are counted with a sign.
const CHUNKED: [(&str, bool); 4] = [
    ("okl_mpi_kmpc_for_static_init_4", true),
    ("okl_mpi_kmpc_for_static_init_4u", false),
    ("okl_mpi_kmpc_for_static_init_8", true),
    ("okl_mpi_kmpc_for_static_init_8u", false),
];

/// Their parameter for the schedule, and `static` with a chunk size.
const SCHEDULE: usize = 2;
const STATIC_CHUNKED: i64 = 33;

/// Gives the loads of lower bounds their ranges; after the calls have become the runtime's.
pub fn emit(module: &Module) {
    for (name, lower, increment) in CALLS {
        let Some(function) = module.function(name) else {
            continue;
        };
        for call in function.users().into_iter().filter_map(Value::as_call) {
            bound_below(module, call, lower, increment);
        }
    }
    for (name, is_signed) in CHUNKED {
        let Some(function) = module.function(name) else {
            continue;
        };
        for call in function.users().into_iter().filter_map(Value::as_call) {
            let schedule = call
                .argument(SCHEDULE)
                .and_then(|one| one.as_constant_int());
            if schedule.is_some_and(|schedule| schedule & !MODIFIERS == STATIC_CHUNKED) {
                chunks::count(module, call, is_signed);
            }
        }
    }
}

fn bound_below(module: &Module, call: Call<'_>, lower: usize, increment: usize) {
    let arguments = call.arguments();
    if arguments[increment]
        .as_constant_int()
        .is_none_or(|step| step <= 0)
    {
        return;
    }
    let variable = arguments[lower];
    if variable.as_op(Opcode::LLVMAlloca).is_none() {
        return;
    }
    let mut least: Option<i64> = None;
    let mut loads = Vec::new();
    for user in variable.instruction_users() {
        match user.opcode() {
            Opcode::LLVMLoad => loads.push(user),
            Opcode::LLVMStore if user.address() == Some(variable) => {
                let Some(stored) = user.operand(0).as_constant_int() else {
                    return;
                };
                least = Some(least.map_or(stored, |least| least.min(stored)));
            }
            Opcode::LLVMCall | Opcode::LLVMInvoke if *user == *call.instruction() => {}
            Opcode::LLVMCall if is_marker(user.as_call()) => {}
            _ => return,
        }
    }
    if let Some(least) = least {
        for load in loads {
            load.set_least_value(module, least);
        }
    }
}

/// Whether a call only marks when a variable lives, or what it is called.
fn is_marker(call: Option<Call<'_>>) -> bool {
    call.is_some_and(|call| {
        let name = call.callee_name();
        name.starts_with("llvm.lifetime.") || name.starts_with("llvm.dbg.")
    })
}
