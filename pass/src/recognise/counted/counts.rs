//! How many iterations a loop has both ends of which are computed from the same variables, which do not change between:
//! `for (int i = o; i < o + 16; ++i)` has 16.
//!
//! Guarantee: where a number is sure, there are so many iterations. Where it is not, because the ends are computed as
//! numbers without a sign or are made narrower, there are so many or, where that computation overflows, none.

use super::{Bound, count, number};
use crate::analysis::variables::{Does, uses};
use crate::llvm::{Block, Instruction, Opcode, Value};
use crate::numbers::Polynomial;

/// Where a loop begins, and its blocks.
pub struct Written<'a, 'm> {
    /// Gives the iterator its first value.
    pub begins: Instruction<'m>,
    /// All blocks of the loop.
    pub blocks: &'a [Block<'m>],
}

/// A variable, read as a number with or without a sign.
#[derive(Clone, PartialEq)]
struct Variable<'m> {
    variable: Instruction<'m>,
    signed: bool,
}

type Sum<'m> = Polynomial<Variable<'m>>;

impl<'m> Written<'_, 'm> {
    /// The number of iterations, and whether it is sure, of a loop with a step of `by` whose iterator has so many bits.
    pub fn count(&self, bound: &Bound<'m>, by: i64, width: u32) -> Option<(i64, bool)> {
        let goes_in = |next: &[Block<'m>]| matches!(next, [next] if self.blocks.contains(next));
        if !goes_in(&self.begins.block().successors()) {
            return None;
        }
        let bits = bound.value.ty().bits()?;
        let first = self.begins.operand(0);
        let mut is_sure = bound.signed && bound.counts_signed;
        let begin = match bits == width {
            true => self.residue(first, bits, &mut is_sure)?,
            false => self.exact(first, bound.counts_signed)?,
        };
        let end = self.residue(bound.value, bits, &mut is_sure)?;
        let distance = end.minus(&begin)?.as_constant()?;
        let short = distance << (64 - bits) >> (64 - bits);
        if is_sure {
            let is_exact = short == distance;
            return is_exact.then(|| (count(distance.into(), by.into(), bound.is_last), true));
        }
        // Steps that do not come to the end itself may pass it where the iterator overflows.
        let comes_to_end = by.abs() == 1 || (!bound.is_last && short % by == 0);
        let is_ahead = short == 0 || (short > 0) == (by > 0);
        let number = count(short.into(), by.into(), bound.is_last);
        (comes_to_end && is_ahead).then_some((number, false))
    }

    /// A number, but for multiples of two to the power of `bits`. Where it may not be the number itself, it is not sure.
    fn residue(&self, value: Value<'m>, bits: u32, is_sure: &mut bool) -> Option<Sum<'m>> {
        if let Some(constant) = value.as_constant_int() {
            return Some(Sum::constant(constant));
        }
        let one = value.as_instruction()?;
        let mut operand = |at| self.residue(one.operand(at), bits, is_sure);
        let sum = match one.opcode() {
            Opcode::LLVMLoad => self.variable(one, true),
            Opcode::LLVMAdd => operand(0)?.plus(&operand(1)?),
            Opcode::LLVMSub => operand(0)?.minus(&operand(1)?),
            Opcode::LLVMMul => operand(0)?.times(&operand(1)?),
            Opcode::LLVMShl => operand(0)?.times(&power(one.operand(1))?),
            Opcode::LLVMTrunc => operand(0),
            Opcode::LLVMSExt | Opcode::LLVMZExt => {
                let narrow = one.operand(0);
                // What is left out may be wider than what was added.
                return match narrow.ty().bits()? >= bits {
                    true => self.residue(narrow, bits, is_sure),
                    false => self.exact(narrow, one.opcode() == Opcode::LLVMSExt),
                };
            }
            _ => None,
        };
        let is_itself = one.opcode() == Opcode::LLVMLoad || one.has_no_signed_wrap();
        *is_sure &= is_itself;
        sum
    }

    /// A number with or without a sign.
    fn exact(&self, value: Value<'m>, signed: bool) -> Option<Sum<'m>> {
        if value.as_constant_int().is_some() {
            let number = i64::try_from(number(value, signed)?).ok()?;
            return Some(Sum::constant(number));
        }
        let one = value.as_instruction()?;
        let operand = |at| self.exact(one.operand(at), signed);
        let is_exact = signed && one.has_no_signed_wrap();
        match one.opcode() {
            Opcode::LLVMLoad => self.variable(one, signed),
            Opcode::LLVMAdd if is_exact => operand(0)?.plus(&operand(1)?),
            Opcode::LLVMSub if is_exact => operand(0)?.minus(&operand(1)?),
            Opcode::LLVMMul if is_exact => operand(0)?.times(&operand(1)?),
            Opcode::LLVMShl if is_exact => operand(0)?.times(&power(one.operand(1))?),
            Opcode::LLVMSExt if signed => self.exact(one.operand(0), true),
            Opcode::LLVMZExt => self.exact(one.operand(0), false),
            _ => None,
        }
    }

    /// What a load reads, where it is a variable that stays the same from there to the end of the loop.
    fn variable(&self, load: Instruction<'m>, signed: bool) -> Option<Sum<'m>> {
        let variable = load.operand(0).as_op(Opcode::LLVMAlloca)?;
        let is_whole = variable.allocated_type() == Some(load.ty());
        let before = self.begins.block();
        if !is_whole || load.is_volatile() || !(load.block() == before || self.has(load)) {
            return None;
        }
        let all = before.instructions().into_iter();
        let behind: Vec<_> = all.skip_while(|one| *one != load).collect();
        let changes = |(at, does): &(Instruction<'m>, Does)| match does {
            Does::Read => false,
            Does::Write => self.has(*at) || behind.contains(at),
            Does::Unknown => true,
        };
        let is_same = !uses(variable).iter().any(changes);
        is_same.then(|| Sum::of(Variable { variable, signed }))
    }

    fn has(&self, one: Instruction<'m>) -> bool {
        self.blocks.contains(&one.block())
    }
}

/// Two to the power of a constant.
fn power<'m>(of: Value<'m>) -> Option<Sum<'m>> {
    let of = of.as_constant_int().filter(|of| (0..62).contains(of))?;
    Some(Sum::constant(1 << of))
}
