//! Loops that are counted through as one: the numbers of an iteration are quotients and remainders of its number in all.
//!
//! Guarantee: a section is no less than what is accessed; it is that of whole rows of iterations.

use super::conditions::{Check, add};
use super::extents::{Access, Dimension};
use super::rewrite::{Rewrite, Rewritten, rewrites};
use super::{Expression, Nests};
use crate::llvm::{Evolution, ExpressionKind as Kind};

/// Replaces an expression by another one.
struct Instead<'a, 'm> {
    nests: &'a Nests<'m>,
    of: Expression<'m>,
    new: Expression<'m>,
    rewritten: Rewritten<'m>,
}

impl<'m> Rewrite<'m> for Instead<'_, 'm> {
    rewrites!();

    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>> {
        (part == self.of).then_some(self.new)
    }
}

impl<'m> Nests<'m> {
    /// Adds the dimensions of a loop with so many turns in which the address changes with the quotient of a number that
    /// grows by one in each of them; false where it does not.
    pub(super) fn leave_collapsed(
        &self,
        access: &mut Access<'m>,
        of: usize,
        times: Expression<'m>,
    ) -> bool {
        let found = self.division(access.address, of);
        let Some((division, first)) = found else {
            return false;
        };
        let with = |number| {
            let mut instead = Instead {
                nests: self,
                of: division,
                new: self.word(number),
                rewritten: Rewritten::new(),
            };
            instead.rewrite(access.address)
        };
        let [none, one, two] = [0, 1, 2].map(with);
        let by_quotient = self.minus(one, none);
        if self.minus(two, one) != by_quotient || !self.is_invariant(by_quotient, of) {
            return false;
        }
        let (start, by_number) = match self.recurrence(none).filter(|one| one.of == of) {
            Some(one) => (one.start, one.step),
            None if self.is_invariant(none, of) => (none, self.word(0)),
            None => return false,
        };
        // It is `start` + `by_number` * (number - first) + `by_quotient` * quotient, and number = divisor * quotient +
        // remainder.
        let divisor = division.operands()[1];
        let last = self.more(self.sum(&[first, times]), -1);
        for one in [first, last, self.more(divisor, -1)] {
            add(&mut access.when.checks, Check::not_negative(one));
        }
        let [lowest, highest] = [first, last].map(|one| self.quotient(one, divisor));
        let by_row = self.sum(&[by_quotient, self.product(&[by_number, divisor])]);
        access.address = self.sum(&[
            self.minus(start, self.product(&[by_number, first])),
            self.product(&[by_row, lowest]),
        ]);
        let rows = self.more(self.minus(highest, lowest), 1);
        let mut dimensions = vec![(by_number, divisor), (by_row, rows)];
        dimensions.retain(|(stride, _)| stride.constant() != Some(0));
        for (stride, count) in dimensions {
            access.dimensions.push(Dimension {
                stride,
                count,
                over: None,
            });
        }
        access.exact = false;
        true
    }

    /// The only division in an address of a number that counts the turns of a loop, and the first such number. It is not
    /// part of anything but sums and products.
    fn division(
        &self,
        address: Expression<'m>,
        of: usize,
    ) -> Option<(Expression<'m>, Expression<'m>)> {
        let mut found = Vec::new();
        let mut rest = vec![address];
        while let Some(one) = rest.pop() {
            if self.is_invariant(one, of) {
                continue;
            }
            match one.kind() {
                Kind::UnsignedDivide => add(&mut found, one),
                Kind::Add | Kind::Multiply => rest.extend(one.operands()),
                Kind::Recurrence if self.changes_in(one) == Some(of) => {}
                _ => return None,
            }
        }
        let &[division] = &found[..] else {
            return None;
        };
        let number = self.recurrence(division.operands()[0])?;
        let counts = number.of == of && number.step.constant() == Some(1);
        let is_same = self.is_invariant(division.operands()[1], of);
        (counts && is_same).then_some((division, number.start))
    }
}
