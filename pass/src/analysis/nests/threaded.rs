//! What LLVM makes of conditions that a program asks several times: where the first answer implies a later one, it leads
//! control around the later question, and what was computed behind it is computed on both ways, or is a phi. And what is
//! known of a value where control comes to a block.
//!
//! Guarantee: a phi that was replaced is the same value; what is said to be implied is so whenever control takes that way.

use std::collections::HashSet;

use super::conditions::{inverse, single_predecessor};
use crate::llvm::{
    Block, Builder, Code, Comparison, Instruction, IntPredicate, Module, Opcode, Value,
};

/// Blocks that are looked at for one question.
const MOST_BLOCKS: usize = 300;

/// Replaces phis whose values are the same computation, and truth values that are what was asked on the ways to them.
pub(super) fn join(module: &Module, code: &Code<'_>) {
    let blocks = code.function().blocks();
    let phis = blocks.into_iter().flat_map(Block::phis);
    for phi in phis.collect::<Vec<_>>() {
        let new = same_computation(module, code, phi).or_else(|| same_question(module, code, phi));
        if let Some(new) = new {
            phi.replace_all_uses_with(new);
            phi.erase();
        }
    }
}

/// The computation, in front of what follows the phis of a block, that all values of a phi are.
fn same_computation<'m>(
    module: &'m Module,
    code: &Code<'m>,
    phi: Instruction<'m>,
) -> Option<Value<'m>> {
    let incoming = phi.incoming();
    let first = incoming.first()?.0.as_instruction()?;
    let (opcode, operands) = (first.opcode(), first.operands());
    let is_computed = matches!(
        opcode,
        Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMSExt
            | Opcode::LLVMZExt
            | Opcode::LLVMTrunc
    );
    let is_same = |&(value, _): &(Value<'m>, Block<'m>)| {
        value
            .as_op(opcode)
            .is_some_and(|one| one.operands() == operands)
    };
    let block = phi.block();
    if !is_computed
        || incoming.len() < 2
        || !incoming.iter().all(is_same)
        || !operands.iter().all(|&one| is_known_in(code, one, block))
    {
        return None;
    }
    let build = Builder::before(module, behind_phis(block)?);
    Some(match operands[..] {
        [a, b] => build.binary(opcode, a, b),
        [a] => build.cast(opcode, a, phi.ty()),
        _ => return None,
    })
}

/// The comparison, in front of what follows the phis of a block, whose answer a phi of constants is.
fn same_question<'m>(
    module: &'m Module,
    code: &Code<'m>,
    phi: Instruction<'m>,
) -> Option<Value<'m>> {
    let incoming = phi.incoming();
    if phi.ty().bits() != Some(1) || incoming.len() < 2 {
        return None;
    }
    let block = phi.block();
    let answers: Option<Vec<_>> = incoming
        .iter()
        .map(|&(value, from)| Some((value.as_constant_int()? != 0, from)))
        .collect();
    let answers = answers?;
    let asked = answers.iter().find_map(|&(_, from)| asked_before(from))?;
    let is_answer = |&(answer, from): &(bool, Block<'m>)| {
        answer_behind(code, &asked, from, block) == Some(answer)
    };
    let operands = [asked.a, asked.b];
    if !operands.iter().all(|&one| is_known_in(code, one, block)) || !answers.iter().all(is_answer)
    {
        return None;
    }
    let build = Builder::before(module, behind_phis(block)?);
    Some(build.ask(Comparison::Integer(asked.predicate), asked.a, asked.b))
}

/// Where something can be computed in front of all of a block but its phis: not where exceptions arrive.
fn behind_phis(block: Block<'_>) -> Option<Instruction<'_>> {
    let mut all = block.instructions().into_iter();
    let first = all.find(|one| one.opcode() != Opcode::LLVMPHI)?;
    let is_pad = matches!(
        first.opcode(),
        Opcode::LLVMLandingPad
            | Opcode::LLVMCatchPad
            | Opcode::LLVMCatchSwitch
            | Opcode::LLVMCleanupPad
    );
    (!is_pad).then_some(first)
}

/// Whether a value is known where a block begins, also as loops keep their values to themselves.
fn is_known_in<'m>(code: &Code<'m>, value: Value<'m>, block: Block<'m>) -> bool {
    let Some(at) = value.as_instruction() else {
        return true;
    };
    let from = at.block();
    from != block
        && code.dominates(from, block)
        && code.loop_of(from).is_none_or(|of| code.contains(of, block))
}

/// The answer to the comparison of a value with a number, where it is the same whenever control comes to a block.
pub(super) fn compared_with<'m>(
    code: &Code<'m>,
    value: Value<'m>,
    predicate: IntPredicate,
    number: i64,
    block: Block<'m>,
) -> Option<bool> {
    let asked = Asked {
        predicate,
        a: value,
        b: value.ty().integer_constant(number),
    };
    let ways = block.predecessors().into_iter();
    answer_on(code, &asked, ways.map(|from| (from, block)).collect())
}

/// What was asked last on the only way to the end of a block.
fn asked_before(mut block: Block<'_>) -> Option<Asked<'_>> {
    const MOST_STEPS: usize = 8;
    for _ in 0..MOST_STEPS {
        block = single_predecessor(block)?;
        if let Some(asked) = Asked::at_end(block) {
            return Some(asked);
        }
    }
    None
}

/// The answer to a question, where it is the same whenever control goes from one block to another one.
fn answer_behind<'m>(
    code: &Code<'m>,
    asked: &Asked<'m>,
    from: Block<'m>,
    to: Block<'m>,
) -> Option<bool> {
    answer_on(code, asked, vec![(from, to)])
}

/// The answer to a question, where it is the same whenever control goes from one block to another one on any of these ways.
fn answer_on<'m>(
    code: &Code<'m>,
    asked: &Asked<'m>,
    mut rest: Vec<(Block<'m>, Block<'m>)>,
) -> Option<bool> {
    let entry = code.function().blocks().first().copied();
    let is_made_in = |block: Block<'m>| {
        let of = |value: Value<'m>| value.as_instruction().map(Instruction::block);
        of(asked.a) == Some(block) || of(asked.b) == Some(block)
    };
    let mut answer = None;
    let mut seen = HashSet::new();
    while let Some((block, next)) = rest.pop() {
        if let Some(implied) = implied_on(asked, block, next) {
            if *answer.get_or_insert(implied) != implied {
                return None;
            }
        } else if Some(block) == entry || is_made_in(block) || seen.len() > MOST_BLOCKS {
            return None;
        } else if seen.insert(block) {
            let before = block.predecessors().into_iter();
            rest.extend(before.map(|one| (one, block)));
        }
    }
    answer
}

/// The answer to a question of values that do not change in between, where it follows from what is asked on the way from a
/// block to one of those behind it.
pub(super) fn implied_on<'m>(asked: &Asked<'m>, block: Block<'m>, next: Block<'m>) -> Option<bool> {
    let known = Asked::at_end(block)?;
    let &[yes, no] = &block.successors()[..] else {
        return None;
    };
    if yes == no {
        return None;
    }
    known.answered(next == yes).implies(asked)
}

/// A comparison of integers.
#[derive(Clone, Copy)]
pub(super) struct Asked<'m> {
    predicate: IntPredicate,
    a: Value<'m>,
    b: Value<'m>,
}

impl<'m> Asked<'m> {
    /// What a truth value asks.
    pub(super) fn of(condition: Value<'m>) -> Option<Self> {
        let one = condition.as_op(Opcode::LLVMICmp)?;
        match one.comparison()? {
            Comparison::Integer(predicate) => Some(Self {
                predicate,
                a: one.operand(0),
                b: one.operand(1),
            }),
            Comparison::Floating(_) => None,
        }
    }

    /// What is known when it has this answer, as what is answered by yes.
    pub(super) fn answered(self, answer: bool) -> Self {
        let predicate = match answer {
            true => self.predicate,
            false => inverse(self.predicate),
        };
        Self { predicate, ..self }
    }

    /// Where this is answered by yes: whether control goes from a block to one of those behind it, as far as that follows.
    pub(super) fn leads_to(&self, block: Block<'m>, next: Block<'m>) -> Option<bool> {
        let asked = Self::at_end(block)?;
        let &[yes, no] = &block.successors()[..] else {
            return None;
        };
        let answer = self.implies(&asked)?;
        (yes != no).then_some((next == yes) == answer)
    }

    fn at_end(block: Block<'m>) -> Option<Self> {
        let end = block.terminator()?;
        let end = Some(end).filter(|end| end.opcode() == Opcode::LLVMBr)?;
        Self::of(end.branch_condition()?)
    }

    /// The answer to another question, where this one is known to be answered by yes.
    fn implies(&self, other: &Self) -> Option<bool> {
        if self.a != other.a {
            return None;
        }
        if self.b == other.b {
            if self.predicate == other.predicate {
                return Some(true);
            }
            if self.predicate == inverse(other.predicate) {
                return Some(false);
            }
        }
        let known = numbers(self.predicate, self.b.as_constant_int()?)?;
        let with = other.b.as_constant_int()?;
        let asked = numbers(other.predicate, with);
        let denied = numbers(inverse(other.predicate), with);
        let is_in = |all: &Option<Numbers>| all.as_ref().is_some_and(|all| known.are_in(all));
        let is_beside =
            |all: &Option<Numbers>| all.as_ref().is_some_and(|all| known.are_beside(all));
        if is_in(&asked) || is_beside(&denied) {
            return Some(true);
        }
        (is_in(&denied) || is_beside(&asked)).then_some(false)
    }
}

/// Numbers without a gap.
struct Numbers {
    first: i128,
    last: i128,
    /// Whether numbers are taken to have a sign, where that makes a difference.
    is_signed: Option<bool>,
}

impl Numbers {
    /// Whether all are among others. A single number that is negative is taken to have a sign.
    fn are_in(&self, others: &Self) -> bool {
        let are_alike = match (self.is_signed, others.is_signed) {
            (Some(one), Some(other)) => one == other,
            (None, Some(false)) => self.first >= 0,
            _ => true,
        };
        are_alike && others.first <= self.first && self.last <= others.last
    }

    /// Whether none is among others, of which there is one.
    fn are_beside(&self, others: &Self) -> bool {
        let one = others.first;
        others.first == others.last
            && (self.is_signed != Some(false) || one >= 0)
            && !(self.first..=self.last).contains(&one)
    }
}

/// The numbers of which a comparison with one that has a sign, or is not negative, is true; `None` where they have a gap.
fn numbers(predicate: IntPredicate, with: i64) -> Option<Numbers> {
    use IntPredicate::*;
    let number = i128::from(with);
    let (first, last) = match predicate {
        LLVMIntEQ => (number, number),
        LLVMIntNE => return None,
        LLVMIntSLT | LLVMIntULT => (i128::MIN, number - 1),
        LLVMIntSLE | LLVMIntULE => (i128::MIN, number),
        LLVMIntSGT | LLVMIntUGT => (number + 1, i128::MAX),
        LLVMIntSGE | LLVMIntUGE => (number, i128::MAX),
    };
    let is_signed = match predicate {
        LLVMIntEQ | LLVMIntNE => None,
        LLVMIntSLT | LLVMIntSLE | LLVMIntSGT | LLVMIntSGE => Some(true),
        LLVMIntULT | LLVMIntULE | LLVMIntUGT | LLVMIntUGE => Some(false),
    };
    let is_known = is_signed != Some(false) || with >= 0;
    is_known.then_some(Numbers {
        first,
        last,
        is_signed,
    })
}
