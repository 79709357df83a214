//! Which memory only one thread can see.

use okl_abi::Effects;

use crate::analysis::runtime::effects;
use crate::llvm::{Instruction, Opcode, Value};

/// The object an address lies in, as far as address arithmetic shows it.
pub fn base_of(address: Value<'_>) -> Value<'_> {
    let mut base = address;
    loop {
        let gep = base
            .as_op(Opcode::LLVMGetElementPtr)
            .map(|gep| gep.operand(0));
        let constant = base.is_constant_gep().then(|| base.operand(0));
        match gep.or(constant) {
            Some(next) => base = next,
            None => return base,
        }
    }
}

/// The stack variable an address lies in, where nothing but loads and stores of this function can
/// reach it.
pub fn private_variable(address: Value<'_>) -> Option<Instruction<'_>> {
    let variable = base_of(address).as_op(Opcode::LLVMAlloca)?;
    stays_private(*variable).then_some(variable)
}

fn stays_private(variable: Value<'_>) -> bool {
    let mut rest = vec![variable];
    while let Some(address) = rest.pop() {
        for user in address.users() {
            let Some(instruction) = user.as_instruction() else {
                return false;
            };
            match instruction.opcode() {
                Opcode::LLVMLoad => {}
                // As the place stored to, not as the value stored.
                Opcode::LLVMStore if instruction.operand(0) != address => {}
                Opcode::LLVMAtomicRMW if instruction.operand(1) != address => {}
                Opcode::LLVMAtomicCmpXchg
                    if instruction.operand(1) != address && instruction.operand(2) != address => {}
                Opcode::LLVMGetElementPtr => rest.push(user),
                Opcode::LLVMCall | Opcode::LLVMInvoke
                    if is_marker(user) || sets_loop_bounds(user) => {}
                _ => return false,
            }
        }
    }
    true
}

/// Runtime calls that write the bounds of a thread's share of a loop to its own variables.
fn sets_loop_bounds(call: Value<'_>) -> bool {
    call.as_call()
        .is_some_and(|call| effects(call).has(Effects::SHARES))
}

/// Intrinsics that mention memory without reading or writing it.
fn is_marker(call: Value<'_>) -> bool {
    let name = call
        .as_call()
        .map_or_else(String::new, |call| call.callee_name());
    name.starts_with("llvm.lifetime.") || name.starts_with("llvm.dbg.")
}
