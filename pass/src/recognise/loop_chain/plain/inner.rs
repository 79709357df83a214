//! Loops that stand alone in the innermost one of a nest, and may be loops of the nest as well.
//!
//! Guarantee: how far one goes is computed in front of the nest, where that is the same in each iteration of it and can do no harm
//! where there is none.

use std::collections::{HashMap, HashSet};

use super::collapsed::wide;
use super::{MOST, Making};
use crate::analysis::variables::is_harmless;
use crate::llvm::{Block, Builder, Call, Instruction, Opcode, Value};
use crate::recognise::loop_chain::Here;
use crate::recognise::loop_chain::nest::counted;
use crate::recognise::loop_chain::straight::{Path, Stop};

/// The loop that stands alone in the innermost one of a nest, and how far it goes.
pub struct Inner<'m> {
    /// The first value and the last one, of 64 bits.
    pub values: [Value<'m>; 2],
}

impl<'m> Making<'m> {
    pub fn inner(&self, here: &Here<'m>, call: Call<'m>, depth: usize) -> Option<Inner<'m>> {
        let (nest, _) = here.nest(call).ok()?;
        let outer = nest.loops.get(depth - 2)?.counter.as_ref()?;
        let outermost = nest.loops[0].counter.as_ref()?;
        let mut path = Path::from(outer.body);
        let Stop::Loop(natural) = path.follow(here) else {
            return None;
        };
        let (_, form) = counted(natural, &mut path, call).ok()?;
        if !path.stores.is_empty() {
            return None;
        }
        let inside: HashSet<Block<'m>> = outermost.blocks.iter().copied().collect();
        let at = call.instruction();
        let mut known = HashMap::new();
        let first = front(form.begins.operand(0), &inside, at, &mut known)?;
        let end = front(form.bound.value, &inside, at, &mut known)?;
        let builder = Builder::before(self.module, at);
        let first = wide(&builder, first, form.bound.counts_signed);
        let end = wide(&builder, end, form.bound.signed);
        let last = match form.bound.is_last {
            true => end,
            false => builder.plus(end, -1),
        };
        Some(Inner {
            values: [first, last],
        })
    }
}

/// A value that is computed in loops, computed in front of them once more.
fn front<'m>(
    value: Value<'m>,
    inside: &HashSet<Block<'m>>,
    at: Instruction<'m>,
    known: &mut HashMap<Instruction<'m>, Value<'m>>,
) -> Option<Value<'m>> {
    let Some(one) = value.as_instruction() else {
        return Some(value);
    };
    if !inside.contains(&one.block()) {
        return Some(value);
    }
    if let Some(found) = known.get(&one) {
        return Some(*found);
    }
    if known.len() > MOST || !one.only_computes() || may_trap(one) {
        return None;
    }
    if let Some(address) = one.address() {
        let changes = |user: &Instruction<'m>| {
            let is_read = user.opcode() == Opcode::LLVMLoad || is_harmless(*user);
            !is_read && inside.contains(&user.block())
        };
        let variable = address.as_op(Opcode::LLVMAlloca);
        if variable.is_some_and(|variable| variable.instruction_users().iter().any(changes)) {
            return None;
        }
    }
    let operands = one.operands().into_iter();
    let operands: Option<Vec<_>> = operands.map(|one| front(one, inside, at, known)).collect();
    let operands = operands?;
    let copy = one.copy_before(at);
    for (number, operand) in operands.into_iter().enumerate() {
        copy.set_operand(number, operand);
    }
    known.insert(one, *copy);
    Some(*copy)
}

/// Whether it may end the program where the loop that it is in runs no iteration: what divides, and what is read elsewhere than in
/// variables.
fn may_trap(one: Instruction<'_>) -> bool {
    use Opcode::{LLVMSDiv, LLVMSRem, LLVMUDiv, LLVMURem};
    match one.opcode() {
        LLVMSDiv | LLVMSRem | LLVMUDiv | LLVMURem => {
            let by = one.operand(1).as_constant_int();
            by.is_none_or(|by| matches!(by, 0 | -1))
        }
        Opcode::LLVMLoad => !is_variable(one.operand(0)),
        _ => false,
    }
}

/// Whether an address is that of a variable, or is kept in one that has nothing else.
fn is_variable(address: Value<'_>) -> bool {
    let is_object =
        |value: Value<'_>| value.as_op(Opcode::LLVMAlloca).is_some() || value.as_global().is_some();
    let kept = address
        .as_op(Opcode::LLVMLoad)
        .and_then(|load| load.operand(0).as_op(Opcode::LLVMAlloca));
    let stored = |variable: Instruction<'_>| {
        let users = variable.instruction_users();
        let mut stores = users.iter().filter(|one| one.opcode() == Opcode::LLVMStore);
        stores.all(|one| one.operand(1) == *variable && is_object(one.operand(0)))
    };
    is_object(address) || kept.is_some_and(stored)
}
