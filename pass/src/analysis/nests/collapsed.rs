//! Loops that are counted through as one: the numbers of an iteration are quotients and remainders of its number in all.
//!
//! Guarantee: a section is no less than what is accessed; it is that of whole rows of iterations.

use super::conditions::{Check, add};
use super::extents::{Access, Dimension};
use super::{Expression, Nests};
use crate::llvm::ExpressionKind as Kind;

/// An address in a loop whose turns a number counts: `start` in its first turn with a quotient of 0, and how it changes with
/// the number and with its quotient.
struct Linear<'m> {
    start: Expression<'m>,
    by_number: Expression<'m>,
    by_quotient: Expression<'m>,
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
        let Some(linear) = self.linear(access.address, of, division) else {
            return false;
        };
        let Linear {
            start,
            by_number,
            by_quotient,
        } = linear;
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

    /// `part` of an address as a sum. Products are multiplied out: only so is it known what becomes of the quotient, as the
    /// same number may be a factor in one place and a summand in another.
    fn linear(
        &self,
        part: Expression<'m>,
        of: usize,
        division: Expression<'m>,
    ) -> Option<Linear<'m>> {
        let zero = self.word(0);
        if self.is_invariant(part, of) {
            return Some(Linear {
                start: part,
                by_number: zero,
                by_quotient: zero,
            });
        }
        if part == division {
            return Some(Linear {
                start: zero,
                by_number: zero,
                by_quotient: self.word(1),
            });
        }
        match part.kind() {
            Kind::Add => {
                let parts: Option<Vec<Linear<'m>>> = part
                    .operands()
                    .iter()
                    .map(|&one| self.linear(one, of, division))
                    .collect();
                let parts = parts?;
                let all = |of: fn(&Linear<'m>) -> Expression<'m>| {
                    self.sum(&parts.iter().map(of).collect::<Vec<_>>())
                };
                Some(Linear {
                    start: all(|one| one.start),
                    by_number: all(|one| one.by_number),
                    by_quotient: all(|one| one.by_quotient),
                })
            }
            Kind::Multiply => {
                let operands = part.operands().iter();
                let (factors, rest): (Vec<_>, Vec<_>) =
                    operands.partition(|&&one| self.is_invariant(one, of));
                let &[rest] = &rest[..] else {
                    return None;
                };
                let rest = self.linear(rest, of, division)?;
                let factor = self.product(&factors);
                Some(Linear {
                    start: self.product(&[factor, rest.start]),
                    by_number: self.product(&[factor, rest.by_number]),
                    by_quotient: self.product(&[factor, rest.by_quotient]),
                })
            }
            Kind::Recurrence => {
                let one = self.recurrence(part).filter(|one| one.of == of)?;
                Some(Linear {
                    start: one.start,
                    by_number: one.step,
                    by_quotient: zero,
                })
            }
            _ => None,
        }
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
