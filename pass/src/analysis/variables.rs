//! What a function does with a stack variable, as clang writes it before anything is simplified: through addresses that
//! are computed from it, kept in other variables, and handed to functions, which may hand them back.

use std::collections::HashSet;

use crate::llvm::{Function, Instruction, Opcode, Value};

/// What an instruction does with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Reads it, or some of it.
    Read,
    /// Writes it, or some of it.
    Write,
    /// Takes its address to where nobody follows it.
    Unknown,
}

/// How far calls are followed.
const MOST_CALLS: usize = 4;

/// What instructions of its function do with a variable. What only says something of it does nothing.
pub fn uses<'m>(variable: Instruction<'m>) -> Vec<(Instruction<'m>, Does)> {
    of_address(*variable, MOST_CALLS)
}

/// Whether a call says something of a variable and does nothing with it.
pub fn is_harmless(call: Instruction<'_>) -> bool {
    call.as_call().is_some_and(|call| {
        let name = call.callee_name();
        let known = ["llvm.var.annotation", "llvm.lifetime."];
        known.iter().any(|known| name.starts_with(known))
    })
}

fn of_address<'m>(address: Value<'m>, calls: usize) -> Vec<(Instruction<'m>, Does)> {
    let mut found = Vec::new();
    let mut rest = vec![address];
    let mut seen = HashSet::from([address]);
    while let Some(address) = rest.pop() {
        for user in address.users() {
            let Some(user) = user.as_instruction() else {
                continue;
            };
            let does = match user.opcode() {
                Opcode::LLVMLoad => Does::Read,
                Opcode::LLVMStore if user.operand(0) != address => Does::Write,
                Opcode::LLVMStore => match loads_of(user.operand(1)) {
                    // The address is kept in a variable.
                    Some(loads) => {
                        rest.extend(loads.into_iter().filter(|one| seen.insert(*one)));
                        continue;
                    }
                    None => Does::Unknown,
                },
                Opcode::LLVMAtomicRMW if user.operand(1) != address => Does::Write,
                Opcode::LLVMAtomicCmpXchg => Does::Write,
                Opcode::LLVMICmp => continue,
                Opcode::LLVMGetElementPtr
                | Opcode::LLVMPHI
                | Opcode::LLVMSelect
                | Opcode::LLVMAddrSpaceCast => {
                    if seen.insert(*user) {
                        rest.push(*user);
                    }
                    continue;
                }
                _ if is_harmless(user) => continue,
                _ => {
                    let (does, hands_back) = of_call(user, address, calls);
                    if hands_back && seen.insert(*user) {
                        rest.push(*user);
                    }
                    does
                }
            };
            found.push((user, does));
        }
    }
    found
}

/// The loads of a variable that holds an address, where nothing else reads it.
fn loads_of(variable: Value<'_>) -> Option<Vec<Value<'_>>> {
    variable.as_op(Opcode::LLVMAlloca)?;
    let mut loads = Vec::new();
    for user in variable.users() {
        let one = user.as_instruction()?;
        match one.opcode() {
            Opcode::LLVMLoad => loads.push(user),
            Opcode::LLVMStore if one.operand(0) != variable => {}
            _ if is_harmless(one) => {}
            _ => return None,
        }
    }
    Some(loads)
}

/// What a call does with what an address leads to, and whether its result may lead there.
fn of_call<'m>(user: Instruction<'m>, address: Value<'m>, calls: usize) -> (Does, bool) {
    let Some(call) = user.as_call() else {
        return (Does::Unknown, false);
    };
    let name = call.callee_name();
    let arguments = call.arguments().into_iter().enumerate();
    let its = arguments.filter(|(_, one)| *one == address);
    let its = its.map(|(at, _)| match call.callee_function() {
        _ if call.is_by_value(at) => (Does::Read, false),
        Some(_) if name.starts_with("llvm.memset.") => (Does::Write, false),
        Some(_) if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") => {
            match at {
                0 => (Does::Write, false),
                _ => (Does::Read, false),
            }
        }
        Some(callee) if calls > 0 => of_parameter(callee, at, calls - 1),
        _ => (Does::Unknown, false),
    });
    let all: Vec<_> = its.collect();
    let hands_back = all.iter().any(|(_, hands_back)| *hands_back);
    let does = all.into_iter().map(|(does, _)| does);
    (worst(does).unwrap_or(Does::Unknown), hands_back)
}

/// What a function does with what one of its parameters leads to, and whether its result may lead there.
fn of_parameter(function: Function<'_>, at: usize, calls: usize) -> (Does, bool) {
    let parameters = function.parameters();
    let Some(&parameter) = parameters.get(at).filter(|_| !function.is_declaration()) else {
        return (Does::Unknown, false);
    };
    let all = of_address(parameter, calls).into_iter();
    let (ends, others): (Vec<_>, Vec<_>) =
        all.partition(|(one, _)| one.opcode() == Opcode::LLVMRet);
    let does = others.into_iter().map(|(_, does)| does);
    (worst(does).unwrap_or(Does::Read), !ends.is_empty())
}

/// The one of several things done that all have to reckon with.
fn worst(all: impl Iterator<Item = Does>) -> Option<Does> {
    all.max_by_key(|does| match does {
        Does::Read => 0,
        Does::Write => 1,
        Does::Unknown => 2,
    })
}
