//! Functions that chains call, which may return in front of their loops: `if (n <= 0) return;`. Whether they do is asked in front of
//! the chain, and where one does the chain runs as it is written.
//!
//! Guarantee: what is asked there is what the function asks, as [strips](super::strips) say. Where that cannot be had the branch
//! stays, and the chain is none.

use std::collections::HashSet;

use super::straight::{is_computation, variable_of};
use super::written::choices;
use super::{EARLY, leads_to, strips};
use crate::analysis::variables::is_harmless;
use crate::llvm::{Block, Builder, Call, Instruction, Module, Opcode};

/// A branch that skips the rest of a function.
pub struct Early<'m> {
    branch: Instruction<'m>,
    /// Where it goes otherwise.
    on: Block<'m>,
    /// Whether it skips that if its condition holds.
    if_true: bool,
    /// Variables that say how the function is left.
    says: Vec<Instruction<'m>>,
}

impl<'m> Early<'m> {
    /// Of a branch that stands in a chain, behind code of functions that it has called; none where it is nothing like that.
    pub fn of(module: &'m Module, site: Call<'m>, branch: Instruction<'m>) -> Option<Self> {
        let all = choices(module);
        let choice = all.iter().find(|one| one.is_of(site))?;
        let [yes, no] = branch.block().successors()[..] else {
            return None;
        };
        let ways = [(yes, no, true), (no, yes, false)];
        ways.into_iter().find_map(|(early, on, if_true)| {
            let (end, says) = straight_to(early)?;
            let is_in_chain = choice.marked.contains(&end);
            let has_more = on != end && straight_to(on).is_none_or(|other| other.0 != end);
            (is_in_chain && has_more && leads_to(on, end)).then_some(Self {
                branch,
                on,
                if_true,
                says,
            })
        })
    }

    /// Has it be asked in front of the chain, where that can be.
    pub fn ask(&self, module: &'m Module, site: Call<'m>) -> bool {
        let all = choices(module);
        let choice = all.iter().find(|one| one.is_of(site));
        let condition = self.branch.branch_condition();
        let Some((asked, before)) = choice.zip(condition).and_then(|(choice, condition)| {
            Some((strips::in_front(choice, condition)?, choice.call))
        }) else {
            return false;
        };
        let builder = Builder::before(module, before.instruction());
        builder.stand_at(self.branch);
        let asked = builder.freeze(asked);
        let returns = match self.if_true {
            true => asked,
            false => builder.compare(asked, asked.ty().zero(), false),
        };
        let long = module.int(64);
        let number = builder.cast(Opcode::LLVMZExt, returns, long);
        let ty = module.function_type(module.void(), &[long]);
        builder.call(module.declared(EARLY, ty), &[number]);
        let function = self.branch.function();
        Builder::before(module, self.branch).go(self.on);
        self.branch.erase();
        function.remove_unreachable_blocks();
        self.says.iter().for_each(|one| settle(module, *one));
        function.remove_unreachable_blocks();
        true
    }
}

/// Where control comes from a block without doing anything, and comes to from elsewhere, too; and the variables in which it says
/// that it has.
fn straight_to(mut block: Block<'_>) -> Option<(Block<'_>, Vec<Instruction<'_>>)> {
    let mut says = Vec::new();
    let mut seen = HashSet::new();
    while block.predecessors().len() == 1 && seen.insert(block) {
        for one in block.instructions() {
            match one.opcode() {
                Opcode::LLVMStore if one.is_plain_access() => {
                    one.operand(0).as_constant_int()?;
                    says.push(variable_of(one.operand(1))?);
                }
                Opcode::LLVMBr => {}
                Opcode::LLVMLoad if one.is_plain_access() => {}
                _ if is_computation(one) || is_harmless(one) => {}
                _ => return None,
            }
        }
        let [next] = block.successors()[..] else {
            return None;
        };
        block = next;
    }
    Some((block, says))
}

/// Has a variable in which there is only ever one constant be that one, and branches by it go where they go then.
fn settle<'m>(module: &'m Module, variable: Instruction<'m>) {
    let mut users = variable.instruction_users();
    users.retain(|one| !is_harmless(*one));
    let is_store = |one: &Instruction<'m>| {
        one.opcode() == Opcode::LLVMStore && one.is_plain_access() && one.operand(1) == *variable
    };
    let (stores, loads): (Vec<_>, Vec<_>) = users.into_iter().partition(is_store);
    let Some(constant) = stores.first().map(|one| one.operand(0)) else {
        return;
    };
    let is_one = constant.as_constant_int().is_some()
        && stores.iter().all(|one| one.operand(0) == constant)
        && loads.iter().all(|one| {
            one.opcode() == Opcode::LLVMLoad && one.is_plain_access() && one.ty() == constant.ty()
        });
    if !is_one {
        return;
    }
    for load in loads {
        for user in load.instruction_users() {
            if user.opcode() != Opcode::LLVMSwitch {
                continue;
            }
            let (cases, other) = user.cases();
            let to = cases.iter().find(|one| one.0 == constant);
            Builder::before(module, user).go(to.map_or(other, |one| one.1));
            user.erase();
        }
        load.replace_all_uses_with(constant);
        load.erase();
    }
    stores.into_iter().for_each(Instruction::erase);
}
