//! What a condition asks of iterations: whether the number of one, in a loop of its nest, is at least so large.
//!
//! Guarantee: where an iteration computes the condition, it holds as is said here. What it is computed from is the same number
//! in front of the chain, and says nothing of what it may not be, since it is computed where the program may not.

use std::collections::HashSet;

use super::Asking;
use crate::ir::{Border, Holds, Nest, Strip};
use crate::llvm::{
    Block, Builder, Comparison, Instruction, IntPredicate, Module, Opcode, Type, Value,
};

/// Operations that a condition is computed by, one in the other.
const DEEPEST: usize = 64;
/// Constants that are added to numbers of iterations are smaller.
const MOST_CONSTANT: i64 = 1 << 32;
/// No iteration has a number as large: what is larger is as good as this.
const FAR: i64 = 1 << 61;

/// A number: that of an iteration once, or taken away, or not; one that is the same for all, or taken away; and a constant.
#[derive(Clone, Copy, Default)]
struct Sum<'m> {
    iteration: Option<(usize, bool)>,
    base: Option<(Known<'m>, bool)>,
    constant: i64,
}

/// A number that is the same for all iterations, with a sign or without one.
type Known<'m> = (Value<'m>, bool);

struct Reader<'a, 'm> {
    /// The variables that the loops count with, and whether they have a sign.
    iterators: Vec<(Value<'m>, bool)>,
    blocks: HashSet<Block<'m>>,
    asking: Asking<'a, 'm>,
    /// Borders that have been found.
    found: Vec<(usize, Option<Known<'m>>, i64)>,
}

/// What a condition of a nest asks; none where that is nothing of borders.
pub fn strip<'m>(
    module: &'m Module,
    nest: &Nest<'m>,
    value: Value<'m>,
    asking: Asking<'_, 'm>,
) -> Option<Strip<'m>> {
    let counters = nest.loops.iter().map(|one| {
        let counter = one.counter.as_ref()?;
        Some((counter.begins.operand(1), one.signed))
    });
    let outermost = nest.loops.first()?.counter.as_ref()?;
    let mut reader = Reader {
        iterators: counters.collect::<Option<_>>()?,
        blocks: outermost.blocks.iter().copied().collect(),
        asking,
        found: Vec::new(),
    };
    let mut computed = Vec::new();
    reader.is_harmless(value, &mut computed)?;
    let holds = reader.truth(value, 0);
    if reader.found.is_empty() {
        return None;
    }
    computed.into_iter().for_each(Instruction::promise_nothing);
    let builder = Builder::before(module, reader.asking.before.instruction());
    let found = std::mem::take(&mut reader.found).into_iter();
    let mut known: Vec<(Known<'m>, Value<'m>)> = Vec::new();
    let borders = found.map(|(level, base, constant)| {
        let base = base.map(|base| {
            let same = known.iter().find(|one| one.0 == base);
            same.map(|one| one.1).unwrap_or_else(|| {
                let value = reader.asking.copy(base.0);
                let value = wide(&builder, value, base.1);
                known.push((base, value));
                value
            })
        });
        Border {
            level,
            base,
            constant,
        }
    });
    Some(Strip {
        value,
        holds,
        borders: borders.collect(),
    })
}

/// A number in 64 bits, no further away than any iteration is.
fn wide<'m>(builder: &Builder<'m>, value: Value<'m>, signed: bool) -> Value<'m> {
    let module = builder.module();
    let long = module.int(64);
    let value = builder.freeze(value);
    if value.ty() != long {
        return match signed {
            true => builder.sign_extend(value, long),
            false => builder.int_cast(value, long),
        };
    }
    let most = module.const_i64(FAR);
    let pick = |is, value, end| {
        let is_far = builder.ask(Comparison::Integer(is), value, end);
        builder.select(is_far, end, value)
    };
    match signed {
        true => {
            let value = pick(IntPredicate::LLVMIntSGT, value, most);
            pick(IntPredicate::LLVMIntSLT, value, module.const_i64(-FAR))
        }
        false => pick(IntPredicate::LLVMIntUGT, value, most),
    }
}

impl<'m> Reader<'_, 'm> {
    /// What an iteration computes a value by, where that cannot fail.
    fn is_harmless(&self, value: Value<'m>, computed: &mut Vec<Instruction<'m>>) -> Option<()> {
        let one = value.as_instruction();
        let Some(one) = one.filter(|one| self.blocks.contains(&one.block())) else {
            return Some(());
        };
        if computed.contains(&one) {
            return Some(());
        }
        if computed.len() > super::MOST {
            return None;
        }
        computed.push(one);
        if one.opcode() == Opcode::LLVMLoad {
            let variable = one.operand(0).as_op(Opcode::LLVMAlloca)?;
            let is_whole = Some(one.ty()) == variable.allocated_type();
            return (one.is_plain_access() && is_whole).then_some(());
        }
        let is_shift = matches!(
            one.opcode(),
            Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr
        );
        let by = || one.operand(1).as_constant_int();
        let is_far = is_shift && !by().is_some_and(|by| (0..8).contains(&by));
        let is_number = |ty: Type<'m>| ty.bits().is_some() || ty.is_float_or_double();
        let from_float = matches!(one.opcode(), Opcode::LLVMFPToSI | Opcode::LLVMFPToUI);
        let is_wrong = super::divides(one)
            || is_far
            || from_float
            || one.says_not_negative()
            || one.as_call().is_some()
            || !one.only_computes()
            || !is_number(one.ty());
        let mut operands = one.operands().into_iter();
        (!is_wrong).then_some(())?;
        operands.try_for_each(|one| self.is_harmless(one, computed))
    }

    /// When a value is other than 0.
    fn truth(&mut self, value: Value<'m>, depth: usize) -> Holds {
        let Some(one) = value.as_instruction().filter(|_| depth < DEEPEST) else {
            return Holds::Unknown;
        };
        let mut of = |at: usize| self.truth(one.operand(at), depth + 1);
        match one.opcode() {
            Opcode::LLVMSExt | Opcode::LLVMZExt => of(0),
            Opcode::LLVMXor if one.ty().bits() == Some(1) && is_one(one.operand(1)) => {
                Holds::Not(of(0).into())
            }
            Opcode::LLVMOr => Holds::Either([of(0), of(1)].into()),
            Opcode::LLVMAnd if [0, 1].iter().all(|at| is_truth(one.operand(*at))) => {
                Holds::Both([of(0), of(1)].into())
            }
            Opcode::LLVMICmp => {
                let Some(Comparison::Integer(is)) = one.comparison() else {
                    return Holds::Unknown;
                };
                let asks_for_none = one.operand(1).as_constant_int() == Some(0);
                match self.compared(is, [one.operand(0), one.operand(1)]) {
                    Some(holds) => holds,
                    None if asks_for_none && is == IntPredicate::LLVMIntNE => {
                        self.truth(one.operand(0), depth + 1)
                    }
                    None if asks_for_none && is == IntPredicate::LLVMIntEQ => {
                        Holds::Not(self.truth(one.operand(0), depth + 1).into())
                    }
                    None => Holds::Unknown,
                }
            }
            _ => Holds::Unknown,
        }
    }

    /// What a comparison asks, if it is of the number of an iteration.
    fn compared(&mut self, is: IntPredicate, [a, b]: [Value<'m>; 2]) -> Option<Holds> {
        use IntPredicate::*;
        let signs: &[bool] = match is {
            LLVMIntEQ | LLVMIntNE => &[true, false],
            LLVMIntSGT | LLVMIntSGE | LLVMIntSLT | LLVMIntSLE => &[true],
            _ => &[false],
        };
        let both = signs.iter().find_map(|&signed| {
            let a = self.sum(a, signed, 0)?;
            a.plus(self.sum(b, signed, 0)?, true)
        });
        // The number of an iteration on the left.
        let difference = both?;
        let (level, is_less) = difference.iteration?;
        let difference = match is_less {
            true => Sum::default().plus(difference, true)?,
            false => difference,
        };
        let base = match difference.base {
            Some((known, true)) => Some(known),
            Some((_, false)) => return None,
            None => None,
        };
        let at = -difference.constant;
        if at.saturating_abs() >= MOST_CONSTANT {
            return None;
        }
        let mut behind = |constant: i64| {
            let border = (level, base, constant);
            let known = self.found.iter().position(|one| *one == border);
            let number = known.unwrap_or(self.found.len());
            if known.is_none() {
                self.found.push(border);
            }
            Holds::Behind(number)
        };
        let not = |one: Holds| Holds::Not(one.into());
        // Whether it is more, less, or the same.
        let how = match is {
            LLVMIntEQ | LLVMIntNE => is,
            LLVMIntSGT | LLVMIntUGT => LLVMIntSGT,
            LLVMIntSGE | LLVMIntUGE => LLVMIntSGE,
            LLVMIntSLT | LLVMIntULT => LLVMIntSLT,
            LLVMIntSLE | LLVMIntULE => LLVMIntSLE,
        };
        Some(match (how, is_less) {
            (LLVMIntEQ, _) => Holds::Both([behind(at), not(behind(at + 1))].into()),
            (LLVMIntNE, _) => Holds::Either([not(behind(at)), behind(at + 1)].into()),
            (LLVMIntSGE, false) | (LLVMIntSLE, true) => behind(at),
            (LLVMIntSGT, false) | (LLVMIntSLT, true) => behind(at + 1),
            (LLVMIntSLT, false) | (LLVMIntSGT, true) => not(behind(at)),
            _ => not(behind(at + 1)),
        })
    }

    /// A number, with a sign or without one, as such a sum.
    fn sum(&mut self, value: Value<'m>, signed: bool, depth: usize) -> Option<Sum<'m>> {
        let bits = value.ty().bits().filter(|bits| (8..=64).contains(bits))?;
        if let Some(constant) = value.as_constant_int() {
            return (signed || constant >= 0).then(|| Sum {
                constant,
                ..Sum::default()
            });
        }
        let one = value.as_instruction().filter(|_| depth < DEEPEST);
        if let Some(load) = one.filter(|one| one.opcode() == Opcode::LLVMLoad) {
            let mut all = self.iterators.iter();
            if let Some(level) = all.position(|one| one.0 == load.operand(0)) {
                let is_same = self.iterators[level].1 == signed;
                return is_same.then(|| Sum {
                    iteration: Some((level, false)),
                    ..Sum::default()
                });
            }
        }
        self.asking.steps = 0;
        if bits >= 8 && self.asking.find(value).is_some() {
            return Some(Sum {
                base: Some(((value, signed), false)),
                ..Sum::default()
            });
        }
        let one = one?;
        match one.opcode() {
            Opcode::LLVMSExt if signed => self.sum(one.operand(0), true, depth + 1),
            Opcode::LLVMZExt => self.sum(one.operand(0), false, depth + 1),
            Opcode::LLVMAdd | Opcode::LLVMSub if one.keeps_number(signed) => {
                let a = self.sum(one.operand(0), signed, depth + 1)?;
                let b = self.sum(one.operand(1), signed, depth + 1)?;
                a.plus(b, one.opcode() == Opcode::LLVMSub)
            }
            _ => None,
        }
    }
}

impl<'m> Sum<'m> {
    /// This, and another one or what that takes away.
    fn plus(self, other: Self, is_less: bool) -> Option<Self> {
        fn one<T>(
            a: Option<(T, bool)>,
            b: Option<(T, bool)>,
            is_less: bool,
        ) -> Option<Option<(T, bool)>> {
            match (a, b) {
                (Some(_), Some(_)) => None,
                (None, Some((what, sign))) => Some(Some((what, sign != is_less))),
                (a, None) => Some(a),
            }
        }
        let constant = match is_less {
            true => self.constant.checked_sub(other.constant),
            false => self.constant.checked_add(other.constant),
        };
        Some(Self {
            iteration: one(self.iteration, other.iteration, is_less)?,
            base: one(self.base, other.base, is_less)?,
            constant: constant?,
        })
    }
}

/// Whether a number is 0 or 1, or 0 or -1.
fn is_truth(value: Value<'_>) -> bool {
    let Some(one) = value.as_instruction() else {
        return value.ty().bits() == Some(1);
    };
    match one.opcode() {
        _ if one.ty().bits() == Some(1) => true,
        Opcode::LLVMZExt => is_truth(one.operand(0)),
        Opcode::LLVMAnd | Opcode::LLVMOr => {
            let mut operands = one.operands().into_iter();
            operands.all(is_truth)
        }
        _ => false,
    }
}

fn is_one(value: Value<'_>) -> bool {
    matches!(value.as_constant_int(), Some(1 | -1))
}
