//! Where a loop ends that goes as far as a variable says. clang counts its iterations, without a sign where there may be more than
//! numbers with one go to, and asks in front of the loop whether it has any.
//!
//! Guarantee: where an end is found the loop counts from its first value to it, and has no iteration where it is below that.

use super::collapsed::{MOST, Numbers, wide};
use crate::llvm::{Builder, Comparison, IntPredicate, Opcode, Value};

/// Where a loop ends.
pub struct End<'m> {
    first: Value<'m>,
    end: Value<'m>,
    /// Whether there is an iteration of this number.
    is_last: bool,
    signed: bool,
    /// The number of the condition that asks whether it has any iteration.
    pub condition: usize,
}

impl<'m> End<'m> {
    /// The last value, in 64 bits with a sign.
    pub fn last(&self, builder: &Builder<'m>) -> Value<'m> {
        let end = wide(builder, self.end, self.signed);
        match self.is_last {
            true => end,
            false => builder.plus(end, -1),
        }
    }

    /// How many iterations there are behind the first one: -1, or less, where there are none.
    pub fn more(&self, builder: &Builder<'m>) -> Value<'m> {
        let last = self.last(builder);
        builder.difference(last, wide(builder, self.first, self.signed))
    }
}

/// Numbers that are added, or taken away, and a constant.
struct Sum<'m> {
    less: Option<Value<'m>>,
    more: Value<'m>,
    constant: i64,
}

impl<'m> Numbers<'_, 'm> {
    /// Where a loop ends that has so many iterations, but for `less`. `conditions`: what is asked in front of it, and what the
    /// answer has to be.
    pub fn end(
        &self,
        number: Value<'m>,
        less: i64,
        conditions: &[(Value<'m>, bool)],
    ) -> Option<End<'m>> {
        use IntPredicate::*;
        let sum = self.sum(number, 0, MOST)?;
        let all = conditions.iter().enumerate();
        let mut all = all.filter_map(|(condition, &(asks, holds))| {
            let asks = self.kept(asks).as_op(Opcode::LLVMICmp).filter(|_| holds)?;
            let (signed, is_last) = match asks.comparison()? {
                Comparison::Integer(LLVMIntSLT) => (true, false),
                Comparison::Integer(LLVMIntSLE) => (true, true),
                Comparison::Integer(LLVMIntULT) => (false, false),
                Comparison::Integer(LLVMIntULE) => (false, true),
                _ => return None,
            };
            let (first, end) = (asks.operand(0), asks.operand(1));
            let begin = first.as_constant_int();
            let is_first = match (sum.less, begin) {
                (Some(less), None) => self.is_same(first, less, MOST),
                (None, Some(_)) => true,
                _ => false,
            };
            let count = sum
                .constant
                .checked_add(less)?
                .checked_add(begin.unwrap_or(0))?;
            // Those of 64 bits without a sign may go to where they would have one.
            let may_be_large = !signed && first.ty().bits() == Some(64);
            let is_small = begin.is_some_and(|begin| begin >= 0);
            let is_it = is_first
                && (is_small || !may_be_large)
                && count == i64::from(is_last)
                && self.is_same(end, sum.more, MOST);
            is_it.then_some(End {
                first,
                end,
                is_last,
                signed,
                condition,
            })
        });
        all.next()
    }

    /// Whether a loop that begins with a value has such an end.
    pub fn begins(&self, first: Value<'m>, end: &End<'m>) -> bool {
        let constants = [first, end.first].map(|one| one.as_constant_int());
        match constants {
            [Some(one), Some(other)] => one == other,
            _ => first.ty() == end.first.ty() && self.is_same(first, end.first, MOST),
        }
    }

    fn sum(&self, value: Value<'m>, constant: i64, deep: usize) -> Option<Sum<'m>> {
        let value = self.kept(value);
        let plain = Sum {
            less: None,
            more: value,
            constant,
        };
        let Some(one) = value.as_instruction().filter(|_| deep > 0) else {
            return Some(plain);
        };
        let operand = |at: usize| one.operands().get(at).copied();
        let by = operand(1).and_then(|by| by.as_constant_int());
        match (one.opcode(), by) {
            (Opcode::LLVMAdd, Some(by)) => {
                self.sum(one.operand(0), constant.checked_add(by)?, deep - 1)
            }
            (Opcode::LLVMSub, Some(by)) => {
                self.sum(one.operand(0), constant.checked_sub(by)?, deep - 1)
            }
            (Opcode::LLVMUDiv | Opcode::LLVMSDiv, Some(1)) => {
                self.sum(one.operand(0), constant, deep - 1)
            }
            (Opcode::LLVMSub, None) => Some(Sum {
                less: operand(1),
                more: one.operand(0),
                constant,
            }),
            _ => Some(plain),
        }
    }
}
