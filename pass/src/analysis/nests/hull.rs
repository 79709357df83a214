//! What lies between the least and the largest address of a read that is in no section: rows whose ends are the least or the
//! largest of several numbers, as those of blocks of loops that are one.
//!
//! Guarantee: whatever is read in any turn is in the section, which is not exact, if no index overflows and what was taken for
//! positive is: that is checked.

use super::conditions::{Check, add};
use super::extents::{Access, Dimension};
use super::rewrite::{Instead, Rewrite};
use super::{Expression, Nests, Scope, Section, WORD};
use crate::llvm::{Block, ExpressionKind as Kind, Opcode, Value};

/// More addresses to choose among are not looked at.
const MOST: usize = 8;
/// Expressions are followed so far.
const DEEPEST: usize = 24;

impl<'m> Nests<'m> {
    /// The bytes between the first and the last one of reads of so many bytes at `pointer`, in `block`, while control is in the
    /// scope. Each turn may choose among several objects, of which only those are looked at that are not the thread's own.
    pub fn hulls(
        &self,
        pointer: Value<'m>,
        bytes: i64,
        block: Block<'m>,
        scope: Scope<'m>,
        is_own: impl Fn(Value<'m>) -> bool,
    ) -> Option<Vec<Section<'m>>> {
        let access = self.access(pointer, None, block)?;
        let (mut rest, mut found) = (vec![access.address], Vec::new());
        while let Some(address) = rest.pop() {
            let object = self.object(address);
            let choice = object.value().and_then(|one| one.as_op(Opcode::LLVMSelect));
            match choice.filter(|_| !self.is_fixed(object, scope)) {
                Some(choice) => {
                    for one in [choice.operand(1), choice.operand(2)] {
                        if !self.can_know(one) {
                            return None;
                        }
                        if !is_own(one) {
                            let one = self.expression(one);
                            rest.push(Instead::new(self, object, one).rewrite(address));
                        }
                    }
                }
                None => {
                    let access = Access::at(address, block);
                    found.push(self.hull(access, bytes, scope)?);
                }
            }
            if rest.len() + found.len() > MOST {
                return None;
            }
        }
        Some(found)
    }

    fn hull(&self, mut access: Access<'m>, bytes: i64, scope: Scope<'m>) -> Option<Section<'m>> {
        let object = self.object(access.address);
        if !object.is(Kind::Value) || !self.is_usable(object, scope) {
            return None;
        }
        let offset = self.minus(access.address, object);
        let mut checks = Vec::new();
        let mut end = |most| self.end_of(offset, scope, most, &mut checks, 0);
        let [first, last] = [end(false)?, end(true)?];
        let count = self.sum(&[self.minus(last, first), self.word(bytes)]);
        access.address = self.sum(&[object, first]);
        access.dimensions = vec![Dimension {
            stride: self.word(1),
            count: self.largest(&[count, self.word(0)]),
            over: None,
        }];
        access.when.checks = checks;
        access.exact = false;
        self.describe(&mut access, scope)
    }

    /// An expression of the scope that is at least, or at most, a number in every turn.
    fn end_of(
        &self,
        one: Expression<'m>,
        scope: Scope<'m>,
        most: bool,
        checks: &mut Vec<Check<'m>>,
        depth: usize,
    ) -> Option<Expression<'m>> {
        if self.is_fixed(one, scope) {
            return Some(one);
        }
        if depth > DEEPEST || self.bits(one) != WORD {
            return None;
        }
        let mut deeper = |part, most| self.end_of(part, scope, most, checks, depth + 1);
        let parts = one.operands();
        match one.kind() {
            Kind::Recurrence => {
                let recurrence = self.recurrence(one)?;
                let falls = self.falls(recurrence.step, scope, checks)?;
                if falls == most {
                    return self.end_of(recurrence.start, scope, most, checks, depth + 1);
                }
                // Where it begins, and how often it goes on, may have parts in common.
                let times = self.backedges(recurrence.of)?;
                let mut sum = vec![recurrence.start];
                match times.is(Kind::Add) {
                    true => sum.extend(
                        { times.operands().iter() }
                            .map(|&part| self.product(&[recurrence.step, part])),
                    ),
                    false => sum.push(self.product(&[recurrence.step, times])),
                }
                self.end_of(self.sum(&sum), scope, most, checks, depth + 1)
            }
            Kind::Add => {
                let ends: Option<Vec<_>> = parts.iter().map(|&part| deeper(part, most)).collect();
                Some(self.sum(&ends?))
            }
            Kind::Multiply => {
                let fixed = |part: &&Expression<'m>| self.is_fixed(**part, scope);
                let mut changing = parts.iter().filter(|part| !fixed(part));
                let (&changes, None) = (changing.next()?, changing.next()) else {
                    return None;
                };
                let factors: Vec<_> = parts.iter().filter(fixed).copied().collect();
                let factor = self.product(&factors);
                let falls = self.falls(factor, scope, checks)?;
                let end = self.end_of(changes, scope, most != falls, checks, depth + 1)?;
                Some(self.product(&[factor, end]))
            }
            kind @ (Kind::SignedMin | Kind::SignedMax | Kind::UnsignedMin | Kind::UnsignedMax) => {
                let is_least = matches!(kind, Kind::SignedMin | Kind::UnsignedMin);
                if matches!(kind, Kind::UnsignedMin | Kind::UnsignedMax) {
                    // Of numbers that are not negative it is the same.
                    for &part in parts {
                        let least = self.end_of(part, scope, false, checks, depth + 1)?;
                        match least.constant() {
                            Some(constant) if constant < 0 => return None,
                            Some(_) => {}
                            None => add(checks, Check::not_negative(least)),
                        }
                    }
                }
                let ends = parts
                    .iter()
                    .map(|&part| self.end_of(part, scope, most, checks, depth + 1));
                // One end of a minimum from above will do, from below all are needed.
                let ends: Vec<_> = match is_least == most {
                    true => ends.flatten().collect(),
                    false => ends.collect::<Option<_>>()?,
                };
                if ends.is_empty() {
                    return None;
                }
                Some(match is_least {
                    true => self.least(&ends),
                    false => self.largest(&ends),
                })
            }
            Kind::Value => {
                let choice = one.value()?.as_op(Opcode::LLVMSelect)?;
                let [a, b] = [1, 2].map(|at| choice.operand(at));
                if !self.can_know(a) || !self.can_know(b) {
                    return None;
                }
                let ends = [
                    deeper(self.expression(a), most)?,
                    deeper(self.expression(b), most)?,
                ];
                Some(match most {
                    true => self.largest(&ends),
                    false => self.least(&ends),
                })
            }
            _ => None,
        }
    }

    /// Whether a factor is less than zero; where that is not known it is checked that it is not.
    fn falls(
        &self,
        factor: Expression<'m>,
        scope: Scope<'m>,
        checks: &mut Vec<Check<'m>>,
    ) -> Option<bool> {
        if let Some(constant) = factor.constant() {
            return Some(constant < 0);
        }
        if self.bits(factor) != WORD || !self.is_usable(factor, scope) {
            return None;
        }
        // Of a product with a constant it is the rest that is checked.
        let falls =
            factor.is(Kind::Multiply) && factor.operands()[0].constant().is_some_and(|one| one < 0);
        let checked = match falls {
            true => self.product(&[self.word(-1), factor]),
            false => factor,
        };
        add(checks, Check::not_negative(checked));
        Some(falls)
    }
}
