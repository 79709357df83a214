//! Expressions with some of their parts replaced.
//!
//! Guarantee: each part is looked at once, however often it occurs; an expression of which nothing is replaced is itself.

use std::collections::HashMap;

use super::conditions::{Check, add};
use super::{Expression, Nests, WORD};
use crate::llvm::{Evolution, ExpressionKind as Kind};

/// What has been rewritten before.
pub(super) type Rewritten<'m> = HashMap<Expression<'m>, Expression<'m>>;

/// A way to rewrite expressions.
pub(super) trait Rewrite<'m> {
    fn evolution(&self) -> &Evolution<'m>;
    fn rewritten(&mut self) -> &mut Rewritten<'m>;
    /// What stands for a part; `None` where its own parts are to be looked at.
    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>>;

    fn rewrite(&mut self, one: Expression<'m>) -> Expression<'m> {
        if let Some(&known) = self.rewritten().get(&one) {
            return known;
        }
        let new = self.replace(one).unwrap_or_else(|| {
            let operands = one.operands();
            let new: Vec<_> = operands.iter().map(|&part| self.rewrite(part)).collect();
            if new == operands {
                one
            } else {
                self.evolution().like(one, &new)
            }
        });
        self.rewritten().insert(one, new);
        new
    }
}

macro_rules! rewrites {
    () => {
        fn evolution(&self) -> &Evolution<'m> {
            self.nests
        }
        fn rewritten(&mut self) -> &mut Rewritten<'m> {
            &mut self.rewritten
        }
    };
}
pub(super) use rewrites;

/// Replaces an expression by another one.
pub(super) struct Instead<'a, 'm> {
    nests: &'a Nests<'m>,
    of: Expression<'m>,
    new: Expression<'m>,
    rewritten: Rewritten<'m>,
}

impl<'a, 'm> Instead<'a, 'm> {
    pub(super) fn new(nests: &'a Nests<'m>, of: Expression<'m>, new: Expression<'m>) -> Self {
        Self {
            nests,
            of,
            new,
            rewritten: Rewritten::new(),
        }
    }
}

impl<'m> Rewrite<'m> for Instead<'_, 'm> {
    rewrites!();

    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>> {
        (part == self.of).then_some(self.new)
    }
}

/// Makes divisions such as can be computed in front of a loop: a loop with a step of zero has no number of turns.
pub(super) struct SafeDivisions<'a, 'm> {
    nests: &'a Nests<'m>,
    rewritten: Rewritten<'m>,
}

impl<'a, 'm> SafeDivisions<'a, 'm> {
    pub(super) fn new(nests: &'a Nests<'m>) -> Self {
        Self {
            nests,
            rewritten: Rewritten::new(),
        }
    }
}

impl<'m> Rewrite<'m> for SafeDivisions<'_, 'm> {
    rewrites!();

    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>> {
        let (Kind::UnsignedDivide, &[value, divisor]) = (part.kind(), part.operands()) else {
            return None;
        };
        let (divisor, value) = (self.rewrite(divisor), self.rewrite(value));
        let one = self.nests.number(self.nests.bits(divisor), 1);
        let divisor = self.nests.choice(Kind::UnsignedMax, &[divisor, one]);
        Some(self.nests.quotient(value, divisor))
    }
}

/// Replaces the extension of a recurrence, in the length of a row, by the recurrence of the extensions. Rows may be empty:
/// then what is extended, though without a sign, is -1.
pub(super) struct RowLength<'a, 'm, K> {
    pub(super) nests: &'a Nests<'m>,
    pub(super) of: usize,
    pub(super) backedges: Expression<'m>,
    /// Whether something can be known where the section is.
    pub(super) is_known: K,
    pub(super) checks: &'a mut Vec<Check<'m>>,
    pub(super) rewritten: Rewritten<'m>,
}

impl<'m, K: Fn(Expression<'m>) -> bool> Rewrite<'m> for RowLength<'_, 'm, K> {
    rewrites!();

    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>> {
        let signed = match part.kind() {
            Kind::SignExtend => true,
            Kind::ZeroExtend => false,
            _ => return None,
        };
        let nests = self.nests;
        let inner = part.operands()[0];
        let Some(changing) = nests.recurrence(inner).filter(|one| {
            // Narrower ones are remainders, which are meant to wrap around.
            one.of == self.of
                && inner.ty().bits() == Some(32)
                && part.ty().bits() == Some(WORD)
                && (self.is_known)(one.start)
                && (self.is_known)(one.step)
        }) else {
            return Some(part);
        };
        let start = nests.with_sign(changing.start, WORD);
        let step = nests.with_sign(changing.step, WORD);
        let last = nests.sum(&[start, nests.product(&[step, self.backedges])]);
        // A value of 64 bits that has to fit into 32.
        let mut check = |value, signed| {
            let bits = 32;
            add(
                self.checks,
                Check {
                    value,
                    bits,
                    signed,
                },
            );
        };
        if signed {
            check(last, true);
        } else {
            check(nests.more(start, 1), false);
            check(nests.more(last, 1), false);
        }
        Some(nests.recurring(&[start, step], self.of))
    }
}

/// Replaces recurrences of a loop by their values in its last turn.
pub(super) struct LastTurn<'a, 'm> {
    pub(super) nests: &'a Nests<'m>,
    pub(super) of: usize,
    pub(super) backedges: Expression<'m>,
    pub(super) rewritten: Rewritten<'m>,
}

impl<'m> Rewrite<'m> for LastTurn<'_, 'm> {
    rewrites!();

    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>> {
        if self.nests.changes_in(part) != Some(self.of) {
            return None;
        }
        let bits = self.nests.bits(part);
        let turn = self.nests.without_sign(self.backedges, bits);
        let value = self.nests.in_turn(part, turn);
        Some(self.rewrite(value))
    }
}

/// Replaces min(c, a recurrence of a loop that falls by s in each turn) by c, on the condition that s is c at least and that
/// the recurrence is not negative in the last turn: before, it is then no less than c.
pub(super) struct EarlierTurns<'a, 'm> {
    pub(super) nests: &'a Nests<'m>,
    pub(super) of: usize,
    pub(super) backedges: Expression<'m>,
    pub(super) checks: &'a mut Vec<Check<'m>>,
    pub(super) rewritten: Rewritten<'m>,
}

impl<'m> Rewrite<'m> for EarlierTurns<'_, 'm> {
    rewrites!();

    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>> {
        if !part.is(Kind::SignedMin) {
            return None;
        }
        let nests = self.nests;
        let mut fixed = Vec::new();
        let mut falling = None;
        for &operand in part.operands() {
            let recurrence = nests.recurrence(operand).filter(|one| one.of == self.of);
            if nests.is_invariant(operand, self.of) {
                fixed.push(operand);
            } else if recurrence.is_some() && falling.is_none() {
                falling = recurrence;
            } else {
                return Some(part);
            }
        }
        let is_word = part.ty().bits() == Some(WORD);
        let Some(falling) = falling.filter(|_| is_word && !fixed.is_empty()) else {
            return Some(part);
        };
        let least = nests.least(&fixed);
        let step = nests.negative(falling.step);
        let beyond = nests.minus(step, least);
        if !nests.is_not_negative(beyond)
            && !super::is_between_chunks(step)
            && !super::are_of_one_variable(step, least)
        {
            return Some(part);
        }
        let last = nests.in_turn(falling.whole, self.backedges);
        add(self.checks, Check::not_negative(beyond));
        add(self.checks, Check::not_negative(last));
        Some(least)
    }
}
