//! Addresses as sums of what loops count, as if nothing overflowed: good enough to guess what a later turn accesses, and
//! for nothing else.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::analysis::meeting::cannot_fail;
use crate::llvm::{Evolution, Expression, ExpressionKind as Kind, Opcode, Value};

/// Narrower numbers are remainders, which are meant to wrap around.
const LEAST_BITS: u32 = 32;
/// Operations of the largest number that is looked at.
const MOST_OPERATIONS: usize = 200;
/// Values that are followed behind each other where expressions do not look into them.
const DEEPEST: usize = 8;

/// A function, and its numbers.
pub struct Numbers<'a, 'm> {
    evolution: &'a Evolution<'m>,
    plain: RefCell<HashMap<Expression<'m>, Expression<'m>>>,
    rare: RefCell<HashMap<(Value<'m>, usize), bool>>,
    depth: Cell<usize>,
}

impl<'a, 'm> Numbers<'a, 'm> {
    /// Of a function.
    pub fn of(evolution: &'a Evolution<'m>) -> Self {
        Self {
            evolution,
            plain: RefCell::default(),
            rare: RefCell::default(),
            depth: Cell::default(),
        }
    }

    /// An integer or address as a plain number: the same, where nothing overflows. What is made wider is made so where it
    /// stands first.
    pub fn of_value(&self, value: Value<'m>) -> Option<Expression<'m>> {
        if !self.evolution.can_know(value) {
            return None;
        }
        let one = self.evolution.expression(value);
        let is_known = !one.is(Kind::Unknown) && one.size() <= MOST_OPERATIONS;
        is_known.then(|| self.plain(one))
    }

    fn plain(&self, one: Expression<'m>) -> Expression<'m> {
        if let Some(&known) = self.plain.borrow().get(&one) {
            return known;
        }
        let operands = one.operands().iter();
        let operands: Vec<_> = operands.map(|&part| self.plain(part)).collect();
        let evolution = self.evolution;
        let new = match one.kind() {
            Kind::SignExtend => self.wide(operands[0], evolution.bits(one), true),
            Kind::ZeroExtend => self.wide(operands[0], evolution.bits(one), false),
            // Whether it overflows is another question there.
            Kind::Recurrence => self.recurring(one, &operands),
            _ if operands == one.operands() => one,
            _ => evolution.like(one, &operands),
        };
        self.plain.borrow_mut().insert(one, new);
        new
    }

    fn recurring(&self, like: Expression<'m>, operands: &[Expression<'m>]) -> Expression<'m> {
        let of = self.evolution.changes_in(like).expect("a recurrence");
        self.evolution.recurring(operands, of)
    }

    /// A number that is [plain](Self::of_value), made wider.
    fn wide(&self, one: Expression<'m>, bits: u32, signed: bool) -> Expression<'m> {
        let evolution = self.evolution;
        let operands = one.operands().iter();
        let all = || -> Vec<_> { operands.map(|&one| self.wide(one, bits, signed)).collect() };
        match one.kind() {
            Kind::Constant => evolution.with_sign(one, bits),
            Kind::Add => evolution.sum(&all()),
            Kind::Multiply => evolution.product(&all()),
            Kind::Recurrence => self.recurring(one, &all()),
            Kind::Truncate if evolution.bits(one) >= LEAST_BITS => {
                evolution.with_sign(one.operands()[0], bits)
            }
            _ if signed => evolution.with_sign(one, bits),
            _ => evolution.without_sign(one, bits),
        }
    }

    /// What is added to a [plain](Self::of_value) number from one turn of a loop to the next, as far as it is the same in all
    /// turns; a quotient is taken to stay what it is.
    pub fn step(&self, one: Expression<'m>, of: usize) -> Option<Expression<'m>> {
        let evolution = self.evolution;
        let step = |one: Expression<'m>| self.step(one, of);
        let bits = evolution.bits(one);
        let none = evolution.number(bits, 0);
        if evolution.is_invariant(one, of) {
            return Some(none);
        }
        let operands = one.operands();
        match one.kind() {
            Kind::Add => {
                let steps = operands.iter().map(|&one| step(one));
                Some(evolution.sum(&steps.collect::<Option<Vec<_>>>()?))
            }
            Kind::Multiply => {
                let is_fixed = |one: &&Expression<'m>| evolution.is_invariant(**one, of);
                let (fixed, moving): (Vec<_>, Vec<_>) = operands.iter().partition(is_fixed);
                let &[moving] = &moving[..] else { return None };
                let factors = fixed.into_iter().copied().chain([step(*moving)?]);
                Some(evolution.product(&factors.collect::<Vec<_>>()))
            }
            Kind::Recurrence => {
                let changing = evolution.recurrence(one)?;
                if changing.of == of {
                    return Some(changing.step);
                }
                // One of a loop inside, which starts elsewhere in each turn.
                let is_same = evolution.is_invariant(changing.step, of);
                is_same.then(|| step(changing.start))?
            }
            Kind::SignExtend | Kind::ZeroExtend => {
                Some(evolution.with_sign(step(operands[0])?, bits))
            }
            Kind::Truncate => Some(evolution.with_sign(step(operands[0])?, bits)),
            Kind::PointerToInteger => step(operands[0]),
            Kind::UnsignedDivide => {
                let by = operands[1];
                let moves = step(operands[0])?.constant()?;
                match by.constant() {
                    Some(by) if moves.abs() < by.abs() => Some(none),
                    Some(by) if by != 0 && moves % by == 0 => {
                        Some(evolution.number(bits, i64::try_from(moves / by).ok()?))
                    }
                    Some(_) => None,
                    None => evolution.is_invariant(by, of).then_some(none),
                }
            }
            Kind::Value => self.is_rare(one.value()?, of).then_some(none),
            _ => None,
        }
    }

    /// Whether a value that expressions do not look into stays what it is in most turns, as quotients do.
    fn is_rare(&self, value: Value<'m>, of: usize) -> bool {
        if let Some(&known) = self.rare.borrow().get(&(value, of)) {
            return known;
        }
        let depth = self.depth.replace(self.depth.get() + 1);
        let is_rare = depth < DEEPEST && self.changes_rarely(value, of);
        self.depth.set(depth);
        self.rare.borrow_mut().insert((value, of), is_rare);
        is_rare
    }

    fn changes_rarely(&self, value: Value<'m>, of: usize) -> bool {
        let step = |value| self.step(self.of_value(value)?, of)?.constant();
        let Some(one) = value.as_instruction() else {
            return false;
        };
        let divisor = || one.operand(1).as_constant_int();
        let divisor = match one.opcode() {
            Opcode::LLVMPHI | Opcode::LLVMLoad => return false,
            Opcode::LLVMAShr | Opcode::LLVMLShr => {
                let bits = divisor().and_then(|bits| u32::try_from(bits).ok());
                bits.and_then(|bits| 1_i128.checked_shl(bits))
            }
            Opcode::LLVMSDiv => divisor().map(i128::from),
            _ => None,
        };
        if let Some(divisor) = divisor {
            return step(one.operand(0)).is_some_and(|step| step.abs() < divisor.abs());
        }
        let mut operands = one.operands().into_iter();
        cannot_fail(one) && operands.all(|operand| step(operand) == Some(0))
    }

    /// A number in the first turn of a loop: exactly that.
    pub fn first(&self, one: Expression<'m>, of: usize) -> Expression<'m> {
        let evolution = self.evolution;
        if evolution.is_invariant(one, of) {
            return one;
        }
        if let Some(changing) = evolution.recurrence(one).filter(|one| one.of == of) {
            return changing.start;
        }
        let operands = one.operands().iter();
        let operands: Vec<_> = operands.map(|&part| self.first(part, of)).collect();
        match operands == one.operands() {
            true => one,
            false => evolution.like(one, &operands),
        }
    }
}
