//! Which regions a process that has a share of them may run with several threads.
//!
//! The threads of a process share its memory, its page protections and most of the state of the runtime.
//! Guarantee: a region without an obstacle declares all its accesses, and calls nothing of the runtime
//! but what has a form for each thread (the numbers, static shares, declarations) or is done by one
//! thread of the process while the others wait (barriers and reductions).

use std::collections::HashSet;

use okl_abi::Effects;

use super::Spoiled;
use super::calls::{in_words, reached};
use crate::analysis::memory::base_of;
use crate::analysis::runtime::{self, effects};
use crate::llvm::{Call, Function, Instruction, Module, Opcode, Value};
use crate::marks::is_slot;

/// The first thing that keeps a region with this body, which declares all its accesses, from running with
/// several threads in each process.
pub(super) fn obstacle<'m>(module: &'m Module, body: Function<'m>) -> Option<Spoiled<'m>> {
    let reached = reached(body);
    let calls = reached.iter().flat_map(|function| function.instructions());
    for call in calls.filter_map(|instruction| (*instruction).as_call()) {
        if let Some(reason) = forbidden(call) {
            return Some(Spoiled {
                at: call.instruction(),
                reason,
            });
        }
    }
    if let Some(at) = reached.iter().find_map(|&function| escape(function)) {
        return Some(Spoiled {
            at,
            reason: "lets the address of a private variable escape".to_string(),
        });
    }
    let slots = module.globals().into_iter();
    let mut users = slots
        .filter(|global| is_slot(*global))
        .flat_map(|slot| slot.instruction_users());
    users
        .find(|user| reached.contains(&user.function()))
        .map(|at| Spoiled {
            at,
            reason: "uses a threadprivate variable".to_string(),
        })
}

/// Where a function lets the address of a variable of its own out of its sight: other processes know nothing
/// of the stacks of further threads.
fn escape(function: Function<'_>) -> Option<Instruction<'_>> {
    let instructions = function.instructions().into_iter();
    let variables = instructions.filter(|one| one.opcode() == Opcode::LLVMAlloca);
    variables.filter_map(|variable| escape_of(*variable)).next()
}

fn escape_of(variable: Value<'_>) -> Option<Instruction<'_>> {
    let mut rest = vec![variable];
    let mut seen = HashSet::new();
    while let Some(address) = rest.pop() {
        if !seen.insert(address) {
            continue;
        }
        for user in address.users() {
            let Some(instruction) = user.as_instruction() else {
                continue;
            };
            let stays = match instruction.opcode() {
                Opcode::LLVMGetElementPtr
                | Opcode::LLVMPHI
                | Opcode::LLVMSelect
                | Opcode::LLVMFreeze => {
                    rest.push(user);
                    true
                }
                Opcode::LLVMLoad | Opcode::LLVMICmp => true,
                Opcode::LLVMStore => {
                    instruction.operand(0) != address || is_reduction_list(instruction.operand(1))
                }
                _ => user.as_call().is_some_and(|call| keeps_none(call, address)),
            };
            if !stays {
                return Some(instruction);
            }
        }
    }
    None
}

/// Whether a call keeps no copy of an address that it is given.
fn keeps_none<'m>(call: Call<'m>, address: Value<'m>) -> bool {
    if runtime::function(call).is_some() {
        return true;
    }
    let mut arguments = call.arguments().into_iter().enumerate();
    arguments.all(|(index, one)| one != address || call.keeps_no_argument(index))
}

/// Whether an address lies in the list of variables that a reduction combines.
fn is_reduction_list(address: Value<'_>) -> bool {
    let list = base_of(address);
    let is_variable = list.as_op(Opcode::LLVMAlloca).is_some();
    let is_combined = |user: &Value<'_>| match user.as_call() {
        Some(call) => {
            effects(call).has(Effects::REDUCES) || call.callee_name().starts_with("llvm.lifetime.")
        }
        None => user.as_instruction().is_none_or(|one| match one.opcode() {
            Opcode::LLVMStore => one.operand(0) != list,
            Opcode::LLVMGetElementPtr => {
                user.users().iter().all(|next| match next.as_instruction() {
                    Some(store) => store.opcode() == Opcode::LLVMStore && store.operand(0) != *user,
                    None => true,
                })
            }
            _ => false,
        }),
    };
    is_variable && list.users().iter().all(is_combined)
}

/// Why a call must not be made by several threads of a process: the end of a sentence that begins with "it".
fn forbidden(call: Call<'_>) -> Option<String> {
    let function = runtime::function(call)?;
    let may_be_ordered = || runtime::schedule(call).is_none_or(|schedule| schedule.ordered);
    if function.has(Effects::DEALS) && may_be_ordered() {
        return Some("has an ordered loop".to_string());
    }
    (!function.has(Effects::EVERY_THREAD)).then(|| in_words(function))
}
