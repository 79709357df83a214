//! Conditions under which threads come to their loop: the host asks them in front of the launch, and work items do not.
//!
//! Guarantee: where a kernel runs each of them is what its code has it be.

use super::checks::comes_to;
use super::uniform::{Evaluated, Uniform};
use crate::llvm::{
    Block, Builder, Call, Comparison, Instruction, IntPredicate, Module, Opcode, Value,
};

/// How two numbers compare, or, where it is not `yes`, do not.
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

/// What branches ask in front of a loop that only one of their ways leads to.
pub fn find<'d>(uniform: &Uniform<'d>, site: Call<'d>) -> Vec<(Instruction<'d>, Holds)> {
    let at = site.instruction();
    let code = &uniform.code;
    let blocks = code.function().blocks().into_iter();
    let before = blocks.filter(|block| *block != at.block() && code.dominates(*block, at.block()));
    let of = |block: Block<'d>| {
        let asked = block.terminator()?.branch_condition()?;
        let asked = asked.as_op(Opcode::LLVMICmp)?;
        let Comparison::Integer(predicate) = asked.comparison()? else {
            return None;
        };
        if !asked.operand(0).ty().is_integer() {
            return None;
        }
        let leads = |to: Block<'d>| {
            let first = to.instructions()[0];
            first == at || comes_to(first, at)
        };
        let yes = match block.successors()[..] {
            [yes, no] => match (leads(yes), leads(no)) {
                (true, false) => true,
                (false, true) => false,
                _ => return None,
            },
            _ => return None,
        };
        let two = [0, 1].map(|side| uniform.evaluated(asked.operand(side)));
        let [Some(a), Some(b)] = two else {
            return None;
        };
        let two = [a, b];
        let holds = Holds {
            predicate,
            two,
            yes,
        };
        Some((asked, holds))
    };
    before.filter_map(of).collect()
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
