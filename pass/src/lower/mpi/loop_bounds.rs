//! What the runtime guarantees about the bounds of a worksharing loop, said to LLVM, and what it need not tell.
//!
//! Chunks of one length are a number of them apart: they are counted, instead of bounds being carried from
//! chunk to chunk.
//!
//! A thread's lower bound is never below the loop's. LLVM cannot know that of a variable a function has
//! filled in; with it, an index computed in `int` is seen not to wrap around, and addresses in the loop
//! are as regular as they were written.
//!
//! Who does not ask whether it has run the last iteration of a loop that is dealt out piece by piece, as for `lastprivate`,
//! may run that one when it likes.

use okl_abi::{Effects, RuntimeFn, ScheduleKind};

use super::chunks;
use crate::analysis::runtime;
use crate::llvm::{Call, Module, Opcode, Value};

/// Gives the loads of lower bounds their ranges; after the calls have become the runtime's.
pub fn emit(module: &Module) {
    let calls = calls(module, RuntimeFn::begins_share);
    let calls: Vec<_> = calls
        .map(|(one, call)| (call, !one.has(Effects::UNSIGNED)))
        .collect();
    for &(call, _) in calls.iter().filter(|(_, is_signed)| *is_signed) {
        bound_below(module, call);
    }
    for (call, is_signed) in calls {
        let schedule = runtime::schedule(call);
        if schedule.is_some_and(|schedule| schedule.kind == ScheduleKind::StaticChunked) {
            chunks::count(module, call, is_signed);
        }
    }
}

/// Takes from the calls that ask for the next piece of a loop the variable that says whether it is the last one, where
/// nothing reads it.
pub fn leave_out_last(module: &Module) {
    let asks = |one: &RuntimeFn| one.has(Effects::SHARES) && !one.begins_share();
    for (one, call) in calls(module, asks).collect::<Vec<_>>() {
        let at = one.position("last").filter(|at| {
            let last = call.argument(*at);
            last.is_some_and(|last| is_unread(last, call))
        });
        if let Some(at) = at {
            call.instruction().set_operand(at, module.pointer().zero());
        }
    }
}

/// Whether a variable is only written, here and by this call.
fn is_unread<'m>(variable: Value<'m>, by: Call<'m>) -> bool {
    variable.as_op(Opcode::LLVMAlloca).is_some()
        && variable.instruction_users().into_iter().all(|user| {
            user == by.instruction()
                || (user.opcode() == Opcode::LLVMStore && user.address() == Some(variable))
                || is_marker(user.as_call())
        })
}

/// The calls of a module that call certain functions.
fn calls<'m>(
    module: &'m Module,
    which: impl Fn(&RuntimeFn) -> bool,
) -> impl Iterator<Item = (&'static RuntimeFn, Call<'m>)> {
    let functions: Vec<_> = okl_abi::ALL
        .iter()
        .filter(|one| which(one))
        .filter_map(|one| Some((*one, module.function(one.name)?)))
        .collect();
    functions.into_iter().flat_map(|(one, function)| {
        let calls = function.users().into_iter().filter_map(Value::as_call);
        let calls = calls.filter(move |call| call.callee() == *function);
        calls.map(move |call| (one, call))
    })
}

fn bound_below(module: &Module, call: Call<'_>) {
    let argument = |param| runtime::argument(call, param);
    let (Some(variable), Some(increment)) = (argument("lower"), argument("increment")) else {
        return;
    };
    if increment.as_constant_int().is_none_or(|step| step <= 0) {
        return;
    }
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
