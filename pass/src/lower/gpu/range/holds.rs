//! Conditions under which threads come to their loop: the host asks them in front of the launch, and work items do not.
//!
//! Guarantee: where a kernel runs each of them is what its code has it be.

use super::uniform::{Evaluated, Uniform};
use crate::llvm::{
    Block, Builder, Call, Comparison, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::lower::gpu::flow::comes_to;

/// How two numbers compare, or, where it is not `yes`, do not.
#[derive(PartialEq)]
pub struct Holds {
    predicate: IntPredicate,
    two: [Evaluated; 2],
    yes: bool,
}

impl Holds {
    /// Asks that on the host.
    pub fn emit<'m>(&self, builder: &Builder<'m>, captures: &[Value<'m>]) -> Value<'m> {
        let [a, b] = self.two.each_ref().map(|one| one.emit(builder, captures));
        let asked = builder.ask(Comparison::Integer(self.predicate), a, b);
        match self.yes {
            true => asked,
            false => builder.not(asked),
        }
    }
}

/// What branches ask in front of a loop that only one of their ways leads to; and whether that is all that they ask.
pub fn find<'d>(uniform: &Uniform<'d>, site: Call<'d>) -> (Vec<(Instruction<'d>, Holds)>, bool) {
    let at = site.instruction();
    let code = &uniform.code;
    let blocks = code.function().blocks().into_iter();
    let before = blocks.filter(|block| *block != at.block() && code.dominates(*block, at.block()));
    let leads = |to: &Block<'d>| {
        let first = to.instructions()[0];
        first == at || comes_to(first, at, None)
    };
    let (mut all, mut is_all) = (Vec::new(), true);
    for block in before {
        let ways: Vec<_> = block.successors().iter().map(leads).collect();
        let asked = block.terminator().and_then(|end| end.branch_condition());
        is_all &= match (asked, &ways[..]) {
            _ if ways.iter().all(|leads| *leads) => true,
            (Some(asked), [yes, _]) => parts(asked, *yes, &mut all),
            _ => false,
        };
    }
    let mut found = Vec::new();
    for (asked, yes) in all {
        match holds(uniform, asked, yes) {
            Some(holds) => found.push((asked, holds)),
            None => is_all = false,
        }
    }
    (found, is_all)
}

fn holds<'d>(uniform: &Uniform<'d>, asked: Instruction<'d>, yes: bool) -> Option<Holds> {
    let Comparison::Integer(predicate) = asked.comparison()? else {
        return None;
    };
    let two = [asked.operand(0), asked.operand(1)];
    let is_number = two[0].ty().is_integer();
    let [Some(a), Some(b)] = two.map(|one| uniform.evaluated(one)) else {
        return None;
    };
    is_number.then_some(Holds {
        predicate,
        two: [a, b],
        yes,
    })
}

/// The comparisons that are so, or not so, where a value is; whether these are all that there is to it.
fn parts<'d>(asked: Value<'d>, yes: bool, found: &mut Vec<(Instruction<'d>, bool)>) -> bool {
    let Some(one) = asked.as_instruction() else {
        return false;
    };
    let is_bit = |value: Value<'d>, bit: bool| {
        let number = value.as_constant_int();
        number.is_some_and(|number| (number != 0) == bit)
    };
    let both = match one.opcode() {
        Opcode::LLVMICmp => {
            found.push((one, yes));
            return true;
        }
        Opcode::LLVMAnd if yes => [0, 1],
        Opcode::LLVMOr if !yes => [0, 1],
        Opcode::LLVMSelect if yes && is_bit(one.operand(2), false) => [0, 1],
        Opcode::LLVMSelect if !yes && is_bit(one.operand(1), true) => [0, 2],
        _ => return false,
    };
    let [first, second] = both.map(|side| parts(one.operand(side), yes, found));
    first && second
}

/// Has code take for granted what the host asks.
pub fn follow<'d>(device: &'d Module, asked: Vec<(Instruction<'d>, Holds)>) -> Vec<Holds> {
    let asked = asked.into_iter();
    asked
        .map(|(at, holds)| {
            let bit = device.const_i64(i64::from(holds.yes));
            let known = Builder::before(device, at).int_cast(bit, device.int(1));
            at.replace_all_uses_with(known);
            holds
        })
        .collect()
}
