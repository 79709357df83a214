//! Numbers of a copy that the host computes in front of a launch: as it is passed values, and in iterations of any number.

use super::shared::Fits;
use super::{Look, MOST_OPERATIONS, MOST_STEP};
use crate::ir::Region;
use crate::llvm::{Expression, ExpressionKind as Kind, IntPredicate, Opcode, Value};
use crate::lower::gpu::range::Passed;
use crate::lower::gpu::range::uniform::Evaluated;

impl<'d> Look<'_, 'd> {
    /// What an expression is where a share begins with iteration 0: what it is there in any share, if nothing but the
    /// number of the iteration changes from one to the next.
    pub(super) fn at_0(&self, one: Expression<'d>) -> Option<Expression<'d>> {
        let code = self.code.loops()[self.iterations].header.instructions();
        let phis = code.iter().filter(|at| at.opcode() == Opcode::LLVMPHI);
        (phis.count() == 1).then(|| self.without_first(one))
    }

    fn without_first(&self, one: Expression<'d>) -> Expression<'d> {
        if one.value() == Some(self.first) {
            return self.code.number(self.code.bits(one), 0);
        }
        let operands = one.operands();
        let new: Vec<_> = operands
            .iter()
            .map(|one| self.without_first(*one))
            .collect();
        match new == operands {
            true => one,
            false => self.code.like(one, &new),
        }
    }

    /// The number of a share's first iteration.
    pub(super) fn first_of(&self, bits: u32) -> Expression<'d> {
        let first = self.code.expression(self.first);
        match self.signed {
            true => self.code.with_sign(first, bits),
            false => self.code.without_sign(first, bits),
        }
    }

    /// The same number, of which parts that count iterations in few bits do so in 64: if they fit.
    pub(super) fn unwrapped(
        &self,
        one: Expression<'d>,
        fits: &mut Vec<Fits>,
    ) -> Option<Expression<'d>> {
        let operands = one.operands();
        let signed = match one.kind() {
            Kind::SignExtend => Some(true),
            Kind::ZeroExtend => Some(false),
            _ => None,
        };
        if let Some(signed) = signed
            && self.code.bits(one) == 64
            && let Some(counts) = self.code.recurrence(operands[0])
            && counts.of == self.iterations
        {
            let bits = self.code.bits(operands[0]);
            let step = i64::try_from(counts.step.constant()?).ok()?;
            let at_0 = self.at_0(counts.start)?;
            let one = Fits {
                start: self.number(at_0)?,
                bits,
                signed,
                step,
            };
            if step.abs() > MOST_STEP {
                return None;
            }
            if !fits.contains(&one) {
                fits.push(one);
            }
            let at_0 = match signed {
                true => self.code.with_sign(at_0, 64),
                false => self.code.without_sign(at_0, 64),
            };
            let step = self.code.number(64, step);
            let before = self.code.product(&[step, self.first_of(64)]);
            let start = self.code.sum(&[at_0, before]);
            return Some(self.code.recurring(&[start, step], self.iterations));
        }
        if operands.is_empty() || one.is(Kind::Recurrence) {
            return Some(one);
        }
        let new = operands.iter().map(|one| self.unwrapped(*one, fits));
        let new: Vec<_> = new.collect::<Option<_>>()?;
        match new == operands {
            true => Some(one),
            false => Some(self.code.like(one, &new)),
        }
    }

    /// An address that the host knows, as a number.
    pub(super) fn address(&self, object: Expression<'d>) -> Option<Evaluated> {
        let value = object.value().filter(|one| one.ty().is_pointer())?;
        let value = Box::new(self.value(value)?);
        Some(Evaluated::Cast(Opcode::LLVMPtrToInt, value, 64))
    }

    /// A value that the host passes.
    fn value(&self, value: Value<'d>) -> Option<Evaluated> {
        if let Some((_, at)) = value.as_parameter() {
            return at.checked_sub(Region::LEADING).map(Evaluated::Capture);
        }
        let (_, passed) = self.values.iter().find(|(known, _)| *known == value)?;
        match passed {
            Passed::Value(value) => Some(value.clone()),
            Passed::Last => {
                let (last, bits, _) = self.last?;
                let last = last.clone();
                Some(match bits {
                    32 => last,
                    _ => Evaluated::Cast(Opcode::LLVMTrunc, Box::new(last), 32),
                })
            }
            _ => None,
        }
    }

    /// How the host computes a number.
    pub(super) fn number(&self, one: Expression<'d>) -> Option<Evaluated> {
        if one.is(Kind::Unknown) || one.size() > MOST_OPERATIONS || !one.ty().is_integer() {
            return None;
        }
        let bits = one.ty().bits().filter(|bits| *bits <= 64)?;
        if let Some(number) = one.constant() {
            return Some(Evaluated::Constant(number as i64, bits));
        }
        let operands = one.operands();
        let cast = |opcode| {
            let from = Box::new(self.number(operands[0])?);
            Some(Evaluated::Cast(opcode, from, bits))
        };
        let all = |join: &dyn Fn(Evaluated, Evaluated) -> Evaluated| {
            let mut numbers = operands.iter().map(|one| self.number(*one));
            let first = numbers.next()??;
            numbers.try_fold(first, |before, next| Some(join(before, next?)))
        };
        let choice = |predicate| {
            all(&|a, b| Evaluated::Choice(predicate, Box::new([a.clone(), b.clone(), a, b])))
        };
        match one.kind() {
            Kind::Truncate => cast(Opcode::LLVMTrunc),
            Kind::ZeroExtend => cast(Opcode::LLVMZExt),
            Kind::SignExtend => cast(Opcode::LLVMSExt),
            Kind::Add => all(&|a, b| binary(Opcode::LLVMAdd, a, b)),
            Kind::Multiply => all(&|a, b| binary(Opcode::LLVMMul, a, b)),
            Kind::UnsignedDivide => {
                operands[1].constant().filter(|by| *by != 0)?;
                all(&|a, b| binary(Opcode::LLVMUDiv, a, b))
            }
            Kind::UnsignedMax => choice(IntPredicate::LLVMIntUGT),
            Kind::SignedMax => choice(IntPredicate::LLVMIntSGT),
            Kind::UnsignedMin => choice(IntPredicate::LLVMIntULT),
            Kind::SignedMin => choice(IntPredicate::LLVMIntSLT),
            Kind::PointerToInteger => self.address(operands[0]),
            Kind::Value => self.value(one.value()?),
            Kind::Constant
            | Kind::Recurrence
            | Kind::SequentialMin
            | Kind::Other
            | Kind::Unknown => None,
        }
    }
}

pub(super) fn binary(opcode: Opcode, a: Evaluated, b: Evaluated) -> Evaluated {
    Evaluated::Binary(opcode, Box::new([a, b]))
}
