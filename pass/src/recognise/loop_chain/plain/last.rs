//! What the last iteration of a loop leaves in variables (`lastprivate`): the thread that has run it puts there what it has in
//! variables of its own.
//!
//! Guarantee: as a plain loop, whose last iteration is the last one that is run, it leaves the same there where each iteration puts
//! it there. A variable of a thread's own has no value before an iteration gives it one.

use super::{Why, is_plain_load};
use crate::analysis::variables::is_harmless;
use crate::llvm::{Block, Builder, Function, Instruction, Module, Opcode, Value};
use crate::recognise::counted::is_load_of;

const LAST: Why = "variables have values of its last iteration behind it";

/// Has the loop of a copy do so. `is_last`: what says whether a thread has run the last iteration.
pub fn put_in<'m>(
    module: &'m Module,
    copy: Function<'m>,
    is_last: Instruction<'m>,
) -> Result<(), Why> {
    let asks = is_last.instruction_users().into_iter();
    let asks: Vec<_> = asks
        .filter(|one| one.opcode() == Opcode::LLVMLoad)
        .collect();
    for load in asks {
        let ([compared], true) = (&load.instruction_users()[..], is_plain_load(load)) else {
            return Err(LAST);
        };
        let ([branch], true) = (&compared.instruction_users()[..], asks_for_any(*compared)) else {
            return Err(LAST);
        };
        let is_branch = branch.opcode() == Opcode::LLVMBr;
        let [then, behind] = branch.block().successors()[..] else {
            return Err(LAST);
        };
        if !is_branch || then.successors() != [behind] || then.predecessors() != [branch.block()] {
            return Err(LAST);
        }
        for (own, shared) in pairs(then)? {
            for user in own.instruction_users() {
                if is_harmless(user) {
                    user.erase();
                }
            }
            own.replace_all_uses_with(shared);
        }
        Builder::before(module, *branch).go(behind);
        branch.erase();
        compared.erase();
        load.erase();
    }
    copy.remove_unreachable_blocks();
    Ok(())
}

/// Whether a number is asked whether it is other than 0.
fn asks_for_any(compared: Instruction<'_>) -> bool {
    use crate::llvm::{Comparison, IntPredicate};
    compared.comparison() == Some(Comparison::Integer(IntPredicate::LLVMIntNE))
        && compared.operand(1).as_constant_int() == Some(0)
}

/// Variables of a thread's own, and what a block puts them into; nothing else is done in it.
fn pairs<'m>(block: Block<'m>) -> Result<Vec<(Instruction<'m>, Value<'m>)>, Why> {
    let mut all = Vec::new();
    for one in block.instructions() {
        match one.opcode() {
            Opcode::LLVMStore if one.is_plain_access() => {
                let load = one.operand(0).as_op(Opcode::LLVMLoad);
                let own = load.and_then(|load| load.operand(0).as_op(Opcode::LLVMAlloca));
                let own = own.filter(|own| is_its(*own)).ok_or(LAST)?;
                one.operand(1).as_parameter().ok_or(LAST)?;
                if load.is_none_or(|load| load.block() != block) {
                    return Err(LAST);
                }
                all.push((own, one.operand(1)));
            }
            Opcode::LLVMLoad if one.is_plain_access() => {}
            Opcode::LLVMBr => {}
            _ if is_harmless(one) => {}
            _ => return Err(LAST),
        }
    }
    Ok(all)
}

/// Whether a variable is only read and written as a whole.
fn is_its(own: Instruction<'_>) -> bool {
    own.instruction_users().into_iter().all(|one| {
        let is_store = one.opcode() == Opcode::LLVMStore
            && one.operand(1) == *own
            && one.operand(0) != *own
            && Some(one.operand(0).ty()) == own.allocated_type();
        let is_access = is_load_of(*one, own) || is_store;
        is_harmless(one) || is_access && one.is_plain_access()
    })
}
