//! `#pragma omplc strip`: conditions in loops. In their place the driver has put calls of markers, which are handed the condition
//! as a number, computed without jumps. One that is the same for all iterations is asked in front of the chain, and where it
//! holds the chain runs as it is written. One that tells iterations at borders of the loops from others stays, with [what tells
//! them](borders), by which loops are split.
//!
//! Guarantee: what is asked in front of the chain is what each iteration would ask: it is computed from variables of the
//! function, which nothing in the chain changes. What is computed cannot fail, although the program may not compute all of it.
//! Where that cannot be had the marker stays, and the chain is none.

mod borders;
mod last;

use std::collections::{HashMap, HashSet};

use super::written::Choice;
use super::{Chains, STRIP};
use crate::analysis::variables::{Does, uses};
use crate::ir::{Nest, Strip};
use crate::llvm::{Block, Call, Instruction, Module, Opcode, Value};

/// Operations that a condition is computed by, at most.
const MOST: usize = 200;

/// Why one stays.
pub const WHY: &str = "the loop chain stays as it is: this condition is neither the same for all iterations nor asks where one is, by \
                       variables of the function that nothing in the chain changes, such as `i == 0 || i >= n - 2`";

/// Asks all conditions in front of their chains.
pub fn ask<'m>(module: &'m Module, choices: &mut [Choice<'m>]) {
    let markers = module.function(STRIP).into_iter();
    let markers = markers
        .flat_map(|one| one.users())
        .filter_map(Value::as_call);
    for marker in markers {
        let block = marker.instruction().block();
        let around = choices
            .iter_mut()
            .find(|one| one.is_chain() && one.marked.contains(&block));
        let Some(choice) = around else {
            continue;
        };
        let asked = marker.argument(1);
        let asked = asked.and_then(|value| in_front(choice, value));
        if let Some(asked) = asked {
            choice.unless.push(asked);
            let value = marker.instruction();
            value.replace_all_uses_with(value.ty().zero());
            marker.take_out(module);
        }
    }
}

/// What a chain computes, computed in front of what asks whether it runs as scheduled; none where it need not be the same there, or
/// may fail.
pub fn in_front<'m>(choice: &Choice<'m>, value: Value<'m>) -> Option<Value<'m>> {
    let mut asking = Asking {
        inside: &choice.marked,
        before: choice.call,
        known: HashMap::new(),
        steps: 0,
    };
    asking.find(value)?;
    Some(asking.copy(value))
}

/// Has loops be split by those that have stayed, where they can be, and where the last iteration leaves something for what comes
/// behind. Finds the chains again for that.
pub fn split<'m>(module: &'m Module, choices: &mut [Choice<'m>]) -> Chains<'m> {
    let mut strips: Vec<(Call<'m>, Strip<'m>)> = Vec::new();
    let chains = super::find(module, true).chains;
    for chain in &chains {
        let Some(choice) = choices.iter().find(|one| one.is_of(chain.site)) else {
            continue;
        };
        for nest in &chain.nests {
            for marker in left(nest) {
                let asking = Asking {
                    inside: &choice.marked,
                    before: choice.call,
                    known: HashMap::new(),
                    steps: 0,
                };
                let value = marker.argument(1);
                let strip = value.and_then(|value| borders::strip(module, nest, value, asking));
                if let Some(strip) = strip {
                    let result = marker.instruction();
                    result.replace_all_uses_with(strip.value);
                    marker.take_out(module);
                    strips.push((nest.site, strip));
                }
            }
        }
    }
    let mut lasts = Vec::new();
    for chain in &chains {
        for nest in &chain.nests {
            let choice = choices.iter_mut().find(|one| one.is_of(chain.site));
            if let Some(found) = last::keep(module, chain, nest, choice) {
                strips.push((nest.site, found.strip));
                lasts.push((nest.site, found.stores));
            }
        }
    }
    let mut found = super::recognise(module);
    for nest in found.chains.iter_mut().flat_map(|chain| &mut chain.nests) {
        let its = strips.iter().filter(|one| one.0 == nest.site);
        nest.strips = its.map(|one| one.1.clone()).collect();
        let its = lasts.iter().filter(|one| one.0 == nest.site);
        nest.lasts = its.flat_map(|one| one.1.iter().copied()).collect();
    }
    found
}

/// Those in a nest that have stayed.
pub fn left<'m>(nest: &Nest<'m>) -> Vec<Call<'m>> {
    let outermost = nest.loops.first().and_then(|one| one.counter.as_ref());
    let blocks = outermost.into_iter().flat_map(|one| &one.blocks);
    let all = blocks.flat_map(|one| one.instructions());
    let all = all.filter_map(|one| one.as_call());
    all.filter(|one| one.callee_name() == STRIP).collect()
}

/// Whether it is a division, which may fail.
fn divides(one: Instruction<'_>) -> bool {
    matches!(
        one.opcode(),
        Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem
    )
}

struct Asking<'a, 'm> {
    /// Blocks of the chain.
    inside: &'a HashSet<Block<'m>>,
    /// In front of what it is asked.
    before: Call<'m>,
    known: HashMap<Instruction<'m>, Value<'m>>,
    steps: usize,
}

impl<'m> Asking<'_, 'm> {
    /// Whether a value can be computed in front of the chain.
    fn find(&mut self, value: Value<'m>) -> Option<()> {
        let Some(one) = value.as_instruction() else {
            return Some(());
        };
        if !self.inside.contains(&one.block()) {
            return self.is_before(one).then_some(());
        }
        self.steps += 1;
        if self.steps > MOST {
            return None;
        }
        if one.opcode() == Opcode::LLVMLoad {
            let variable = one.operand(0).as_op(Opcode::LLVMAlloca)?;
            let is_whole = Some(one.ty()) == variable.allocated_type();
            return match self.given(variable)? {
                _ if !one.is_plain_access() || !is_whole => None,
                Some(given) => self.find(given),
                None => Some(()),
            };
        }
        // Nothing that may fail, as divisions may.
        if divides(one) || !one.only_computes() || one.as_call().is_some() {
            return None;
        }
        one.operands()
            .into_iter()
            .try_for_each(|one| self.find(one))
    }

    /// Whether control that comes to the chain has run an instruction: it stands in the first block of the function, or right
    /// in front.
    fn is_before(&self, one: Instruction<'m>) -> bool {
        let first = one.function().blocks()[0];
        let asks = self.before.instruction();
        if one.block() == asks.block() {
            let all = one.block().instructions();
            let at = |wanted: Instruction<'m>| all.iter().position(|one| *one == wanted);
            return at(one) < at(asks);
        }
        one.block() == first
    }

    /// What a variable is in the chain: what it is in front of it, or what is stored there once, as an argument is in the
    /// parameter of a function whose code is here. None where that is not the same for all of the chain.
    fn given(&self, variable: Instruction<'m>) -> Option<Option<Value<'m>>> {
        let mut writes = Vec::new();
        for (one, does) in uses(variable) {
            match does {
                Does::Read => {}
                Does::Write => writes.push(one),
                Does::Unknown => return None,
            }
        }
        let is_inside = |one: &Instruction<'m>| self.inside.contains(&one.block());
        match writes[..] {
            [one] if is_inside(&one) => {
                let is_whole = one.opcode() == Opcode::LLVMStore
                    && one.operand(1) == *variable
                    && Some(one.operand(0).ty()) == variable.allocated_type();
                is_whole.then(|| Some(one.operand(0)))
            }
            _ => (!writes.iter().any(is_inside)).then_some(None),
        }
    }

    /// A value that can be, computed there.
    fn copy(&mut self, value: Value<'m>) -> Value<'m> {
        let Some(one) = value.as_instruction() else {
            return value;
        };
        if !self.inside.contains(&one.block()) {
            return value;
        }
        if let Some(known) = self.known.get(&one) {
            return *known;
        }
        let given = || self.given(one.operand(0).as_op(Opcode::LLVMAlloca)?)?;
        let given = (one.opcode() == Opcode::LLVMLoad).then(given).flatten();
        let copy = match given {
            Some(given) => self.copy(given),
            None => {
                let operands: Vec<_> = one
                    .operands()
                    .into_iter()
                    .map(|one| self.copy(one))
                    .collect();
                let copy = one.copy_before(self.before.instruction());
                for (at, operand) in operands.into_iter().enumerate() {
                    copy.set_operand(at, operand);
                }
                *copy
            }
        };
        self.known.insert(one, copy);
        copy
    }
}
