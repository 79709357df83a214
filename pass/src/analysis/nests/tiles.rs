//! Tiles: loops over a part of a larger range, which is shorter at the end of the range. Such parts are joined.

use super::conditions::{Check, add, inverse, single_predecessor};
use super::extents::{Access, Dimension};
use super::{Expression, Nests, Scope, are_of_one_variable};
use crate::llvm::{Comparison, ExpressionKind as Kind, IntPredicate, Opcode};

/// Elements of a tile along one side.
const MOST_OF_TILE: i128 = 1 << 20;

/// max(least, min(limits)), where `least` is no more than 1.
struct Clipped<'m> {
    least: i128,
    limits: Vec<Expression<'m>>,
}

impl<'m> Clipped<'m> {
    fn new(count: Expression<'m>) -> Self {
        let (least, count) = match *count.operands() {
            [least, rest]
                if count.is(Kind::SignedMax) && matches!(least.constant(), Some(0 | 1)) =>
            {
                (least.constant().unwrap_or(0), rest)
            }
            _ => (0, count),
        };
        let limits = match count.kind() {
            Kind::SignedMin => count.operands().to_vec(),
            _ => vec![count],
        };
        Self { least, limits }
    }

    /// Without `limit`; `None` where nothing else is left.
    fn others(&self, nests: &Nests<'m>, limit: Expression<'m>) -> Option<Expression<'m>> {
        let others = self.limits.iter().copied().filter(|&one| one != limit);
        let others: Vec<_> = others.collect();
        (!others.is_empty()).then(|| nests.least(&others))
    }
}

impl<'m> Nests<'m> {
    /// Makes sure that a number is not negative; false where that cannot be found out in the scope.
    fn check_not_negative(
        &self,
        value: Expression<'m>,
        scope: Scope<'m>,
        checks: &mut Vec<Check<'m>>,
    ) -> bool {
        if let Some(constant) = value.constant() {
            return constant >= 0;
        }
        add(checks, Check::not_negative(value));
        self.is_usable(value, scope)
    }

    /// At least zero, and no more than any of the limits.
    fn clipped(&self, limits: &[Expression<'m>]) -> Expression<'m> {
        self.largest(&[self.word(0), self.least(limits)])
    }

    /// Leaves a branch that changes from turn to turn of a loop and asks whether there is a row of elements at all: the row
    /// may have no elements then.
    pub(super) fn leave_guard(&self, access: &mut Access<'m>, of: usize, scope: Scope<'m>) -> bool {
        let left = self.guard_to_leave(access, of, scope);
        left.is_some_and(|left| {
            *access = left;
            true
        })
    }

    fn guard_to_leave(
        &self,
        access: &Access<'m>,
        of: usize,
        scope: Scope<'m>,
    ) -> Option<Access<'m>> {
        if self.always_runs(access.block, Some(of)) {
            return None;
        }
        let before = single_predecessor(access.block)?;
        if self.loop_of(before) != Some(of) {
            return None;
        }
        let branch = before.terminator()?;
        let is_branch = branch.opcode() == Opcode::LLVMBr;
        let condition = branch.branch_condition().filter(|_| is_branch)?;
        let successors = before.successors();
        let compare = condition.as_op(Opcode::LLVMICmp)?;
        let Some(Comparison::Integer(predicate)) = compare.comparison() else {
            return None;
        };
        if successors[0] == successors[1] || !compare.operand(0).ty().is_integer() {
            return None;
        }
        let predicate = match successors[0] == access.block {
            true => predicate,
            false => inverse(predicate),
        };
        let [a, b] = [0, 1].map(|at| self.expression(compare.operand(at)));
        let (less, more, may_be_equal) = match predicate {
            IntPredicate::LLVMIntSLT => (a, b, false),
            IntPredicate::LLVMIntSLE => (a, b, true),
            IntPredicate::LLVMIntSGT => (b, a, false),
            IntPredicate::LLVMIntSGE => (b, a, true),
            _ => return None,
        };
        let mut checks = access.when.checks.clone();
        let room = self.unbounded(more, Some(less), scope, &mut checks)?;
        let room = match may_be_equal {
            true => self.more(room, 1),
            false => room,
        };
        let mut left = access.clone();
        left.block = before;
        if let Some(number) = more.constant() {
            // What is left, in LLVM's words, of a comparison of a number with one that is larger by a constant.
            let largest = (1 << (self.bits(more) - 1)) - 1;
            let room = match largest - number < MOST_OF_TILE {
                true => self.bound(room, scope, false)?,
                false => return None,
            };
            left.when.checks = checks;
            let last = self.more(room, -1);
            return self
                .check_not_negative(last, scope, &mut left.when.checks)
                .then_some(left);
        }
        let has = Clipped::new(room);
        for (at, row) in access.dimensions.iter().enumerate() {
            let mut needed = checks.clone();
            let Some(count) = self.unbounded(row.count, None, scope, &mut needed) else {
                continue;
            };
            let is = Clipped::new(count);
            // Rows that shrink to nothing are no tiles.
            if is.limits.len() == 1 && !self.is_fixed(count, scope) {
                continue;
            }
            let is_same = is.limits == has.limits && has.least == 0;
            let is_clipped = !is_same
                && is.limits.contains(&room)
                && is.others(self, room).is_some_and(|others| {
                    self.check_not_negative(self.more(others, -1), scope, &mut needed)
                });
            if is_same || is_clipped {
                left.dimensions[at].count = self.clipped(&is.limits);
                left.when.checks = needed;
                return Some(left);
            }
        }
        None
    }

    /// The rows that follow each other in the turns of a loop, each as long as the loop's step or shorter at the end of all,
    /// are one row. False where they are not such.
    pub(super) fn join_tiles(
        &self,
        access: &mut Access<'m>,
        of: usize,
        times: Expression<'m>,
        scope: Scope<'m>,
    ) -> bool {
        let changing = |one: Expression<'m>| self.recurrence(one).filter(|one| one.of == of);
        // An address whose step changes is no sequence of rows.
        let (Some(address), Some(backedges)) = (changing(access.address), self.backedges(of))
        else {
            return false;
        };
        let joined = access.dimensions.iter().enumerate().find_map(|(at, row)| {
            if self.is_invariant(row.count, of) {
                return None;
            }
            let mut needed = access.when.checks.clone();
            let count = self.unbounded(row.count, None, scope, &mut needed)?;
            let is = Clipped::new(count);
            let varies = |one: &&Expression<'m>| !self.is_invariant(**one, of);
            let left = *is.limits.iter().find(varies)?;
            // An expression with a recurrence of this loop inside is not one itself.
            let room = changing(left)?;
            let tile = is.others(self, left)?;
            if !self.is_invariant(tile, of) {
                return None;
            }
            let step = self.negative(room.step);
            let not_negative =
                |value, needed: &mut Vec<Check<'m>>| self.check_not_negative(value, scope, needed);
            if address.step != self.product(&[step, row.stride])
                || !not_negative(self.more(step, -1), &mut needed)
            {
                return None;
            }
            if tile != step
                && !(are_of_one_variable(tile, step)
                    && not_negative(self.minus(tile, step), &mut needed)
                    && not_negative(self.minus(step, tile), &mut needed))
            {
                return None;
            }
            let last = self.in_turn(room.whole, backedges);
            if is.least == 1 && !not_negative(self.more(last, -1), &mut needed) {
                return None;
            }
            let turns = self.product(&[step, times]);
            let all = self.unbounded(turns, None, scope, &mut needed)?;
            // A turn of the loop is not an element of this row.
            let row = Dimension {
                stride: row.stride,
                count: self.clipped(&[room.start, all]),
                over: None,
            };
            Some((at, row, needed))
        });
        joined.is_some_and(|(at, row, needed)| {
            access.dimensions[at] = row;
            access.when.checks = needed;
            true
        })
    }
}
