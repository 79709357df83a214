//! How an access inside loops becomes a section: loop by loop, from the inside, each adds a dimension.
//!
//! Guarantee: what is concluded holds on the conditions that are noted with it, and is no more than what is accessed where
//! it is called exact.

use super::conditions::{Conditions, MOST_OPERATIONS};
use super::rewrite::{EarlierTurns, LastTurn, Rewrite, Rewritten, RowLength, SafeDivisions};
use super::{Check, Expression, Nests, Scope, Section, Turns, WORD};
use crate::llvm::{
    Block, Comparison, ExpressionKind as Kind, Instruction, IntPredicate, Opcode, Value,
};

/// Sections have no more dimensions than this.
pub(super) const MOST_DIMENSIONS: usize = 15;

#[derive(Clone, Copy)]
pub(super) struct Dimension<'m> {
    pub(super) stride: Expression<'m>,
    pub(super) count: Expression<'m>,
    /// The loop that it has a turn of for each element; none of the bytes of one access.
    pub(super) over: Option<usize>,
}

/// What is accessed in one execution of a block.
#[derive(Clone)]
pub(super) struct Access<'m> {
    pub(super) address: Expression<'m>,
    pub(super) block: Block<'m>,
    /// Inner ones first.
    pub(super) dimensions: Vec<Dimension<'m>>,
    pub(super) when: Conditions<'m>,
    pub(super) exact: bool,
}

impl<'m> Access<'m> {
    /// Of one element.
    pub(super) fn at(address: Expression<'m>, block: Block<'m>) -> Self {
        Self {
            address,
            block,
            dimensions: Vec::new(),
            when: Conditions::default(),
            exact: true,
        }
    }
}

impl<'m> Nests<'m> {
    /// How often the block that closes a loop goes back, as a number of 64 bits.
    pub(super) fn backedges(&self, of: usize) -> Option<Expression<'m>> {
        let Some(count) = self.backedge_taken_count(of) else {
            return self.backedges_by_step(of);
        };
        if count.ty().bits().is_none_or(|bits| bits > WORD) {
            return None;
        }
        Some(SafeDivisions::new(self).rewrite(self.without_sign(count, WORD)))
    }

    /// The same of a loop that goes on while a number is less than another one, and grows by a third in each turn, of which
    /// LLVM does not know that it is positive. It is, or there is one turn only: indices would overflow otherwise.
    fn backedges_by_step(&self, of: usize) -> Option<Expression<'m>> {
        const NARROW: u32 = 32;
        let latch = self.loops()[of].latch?;
        if self.exiting(of)[..] != [latch] {
            return None;
        }
        let end = latch
            .terminator()
            .filter(|end| end.opcode() == Opcode::LLVMBr)?;
        let compare = end.branch_condition()?.as_op(Opcode::LLVMICmp)?;
        let goes_on = self.contains(of, *end.block().successors().first()?);
        let (number, limit) = match (compare.comparison()?, goes_on) {
            (Comparison::Integer(IntPredicate::LLVMIntSLT), true)
            | (Comparison::Integer(IntPredicate::LLVMIntSGE), false) => (0, 1),
            (Comparison::Integer(IntPredicate::LLVMIntSGT), true)
            | (Comparison::Integer(IntPredicate::LLVMIntSLE), false) => (1, 0),
            _ => return None,
        };
        let [number, limit] = [number, limit].map(|at| compare.operand(at));
        if !self.is_counted_on(number, of, latch)
            || !self.can_know(number)
            || !self.can_know(limit)
            || number.ty().bits() != Some(NARROW)
        {
            return None;
        }
        let limit = self.expression(limit);
        let next = self
            .recurrence(self.expression(number))
            .filter(|one| one.of == of)?;
        if !self.is_invariant(limit, of) || !self.is_invariant(next.step, of) {
            return None;
        }
        let [limit, first, step] =
            [limit, next.start, next.step].map(|one| self.with_sign(one, WORD));
        let step = self.choice(Kind::UnsignedMax, &[step, self.word(1)]);
        let way = self.minus(self.largest(&[limit, first]), first);
        Some(self.quotient(self.sum(&[way, step, self.word(-1)]), step))
    }

    /// Whether a number is what a loop counts on to, for its next turn, by an addition that does not overflow. That another
    /// number does not, of which the loop's own is a part, says nothing of the turns before the last.
    fn is_counted_on(&self, number: Value<'m>, of: usize, latch: Block<'m>) -> bool {
        let keeps = |add: Instruction<'m>| add.keeps_number(true);
        let Some(add) = number.as_op(Opcode::LLVMAdd).filter(|&add| keeps(add)) else {
            return false;
        };
        let header = self.loops()[of].header;
        (0..2).any(|at| {
            let phi = add.operand(at).as_op(Opcode::LLVMPHI);
            phi.is_some_and(|phi| {
                phi.block() == header && phi.incoming().contains(&(number, latch))
            })
        })
    }

    /// An expression that is at least (or, where not `most`, at most) `one` in every turn of the loops inside the scope.
    /// `one` is compared as a signed number.
    pub(super) fn bound(
        &self,
        one: Expression<'m>,
        scope: Scope<'m>,
        most: bool,
    ) -> Option<Expression<'m>> {
        self.bound_within(one, scope, most, 0)
    }

    fn bound_within(
        &self,
        one: Expression<'m>,
        scope: Scope<'m>,
        most: bool,
        depth: usize,
    ) -> Option<Expression<'m>> {
        if self.is_fixed(one, scope) {
            return Some(one);
        }
        if depth > 12 {
            return None;
        }
        let deeper = |part, most| self.bound_within(part, scope, most, depth + 1);
        let parts = one.operands();
        match one.kind() {
            Kind::Recurrence => {
                let recurrence = self.recurrence(one)?;
                let start = deeper(recurrence.start, most)?;
                let falls = recurrence.step.constant()? < 0;
                if one.ty().bits() != Some(WORD) {
                    return None;
                }
                if falls == most {
                    return Some(start);
                }
                let times = deeper(self.backedges(recurrence.of)?, true)?;
                Some(self.sum(&[start, self.product(&[recurrence.step, times])]))
            }
            Kind::Add => {
                // What is subtracted from a minimum belongs with its operands: rows of a tile are as long as the tile.
                let min = parts.iter().find(|part| most && part.is(Kind::SignedMin));
                if let Some(&min) = min {
                    let rest = self.minus(one, min);
                    let bounds: Vec<_> = min
                        .operands()
                        .iter()
                        .filter_map(|&operand| deeper(self.sum(&[operand, rest]), most))
                        .collect();
                    return bounds.into_iter().reduce(|a, b| self.least(&[a, b]));
                }
                let bounds: Option<Vec<_>> = parts.iter().map(|&part| deeper(part, most)).collect();
                Some(self.sum(&bounds?))
            }
            Kind::Multiply => {
                let &[factor, rest] = parts else {
                    return None;
                };
                let turned = factor.constant()? < 0;
                Some(self.product(&[factor, deeper(rest, most != turned)?]))
            }
            kind @ (Kind::SignedMin | Kind::SignedMax) => {
                let bounds = parts.iter().map(|&part| deeper(part, most));
                // One bound of a minimum from above will do, from below all are needed.
                let bounds: Vec<_> = if (kind == Kind::SignedMin) == most {
                    bounds.flatten().collect()
                } else {
                    bounds.collect::<Option<_>>()?
                };
                (!bounds.is_empty()).then(|| self.choice(kind, &bounds))
            }
            _ => None,
        }
    }

    /// Reduces what is accessed in a turn of a loop to some of its turns; false where that is not known.
    fn pick_turns(&self, access: &mut Access<'m>, of: usize, turns: Turns) -> bool {
        let exits = self.exiting(of);
        let Some(backedges) = self.backedges(of) else {
            return false;
        };
        if !matches!(exits[..], [exit] if Some(exit) == self.loops()[of].latch)
            || access.address.size() > MOST_OPERATIONS
        {
            return false;
        }
        let checks = &mut access.when.checks;
        let mut rewrite = |one| match turns {
            Turns::Last => LastTurn {
                nests: self,
                of,
                backedges,
                rewritten: Rewritten::new(),
            }
            .rewrite(one),
            Turns::AllButLast => EarlierTurns {
                nests: self,
                of,
                backedges,
                checks,
                rewritten: Rewritten::new(),
            }
            .rewrite(one),
        };
        for one in &mut access.dimensions {
            one.stride = rewrite(one.stride);
            one.count = rewrite(one.count);
        }
        access.address = rewrite(access.address);
        true
    }

    /// The length of a row as it changes in a loop, on the condition that it does not overflow.
    fn row_length(
        &self,
        count: Expression<'m>,
        of: usize,
        scope: Scope<'m>,
        checks: &mut Vec<Check<'m>>,
    ) -> Expression<'m> {
        if self.is_invariant(count, of) || self.changes_in(count) == Some(of) {
            return count;
        }
        let backedges = self.backedges(of);
        let Some(backedges) = backedges.and_then(|one| self.bound(one, scope, true)) else {
            return count;
        };
        RowLength {
            nests: self,
            of,
            backedges,
            is_known: |part| self.is_fixed(part, scope),
            checks,
            rewritten: Rewritten::new(),
        }
        .rewrite(count)
    }

    /// Adds a dimension for each loop of the scope, inside `until`, that the address varies in. False where that is not
    /// known.
    pub(super) fn leave_loops(
        &self,
        access: &mut Access<'m>,
        scope: Scope<'m>,
        until: Option<usize>,
    ) -> bool {
        if matches!(scope, Scope::At(_)) {
            return true;
        }
        let around: Vec<usize> = self.loops_around(access.block).collect();
        for of in around {
            if until == Some(of) {
                return true;
            }
            if !self.leave_loop(access, of, scope) {
                return false;
            }
            if scope.nest() == Some(of) {
                return true;
            }
        }
        access.block = self.climb(access.block, None, scope, &mut access.when.guards);
        access.exact &= self.always_runs(access.block, None);
        true
    }

    pub(super) fn leave_loop(&self, access: &mut Access<'m>, of: usize, scope: Scope<'m>) -> bool {
        let this = &self.loops()[of];
        let (Some(preheader), Some(latch)) = (this.preheader, this.latch) else {
            return false;
        };
        loop {
            access.block = self.climb(access.block, Some(of), scope, &mut access.when.guards);
            if !self.leave_guard(access, of, scope) {
                break;
            }
        }
        let block = access.block;
        let exits = self.exiting(of);
        let is_before_exits = exits.iter().all(|&exit| self.dominates(block, exit));
        // Behind the only exit: once less.
        let is_behind = matches!(exits[..], [exit]
            if exit != block && exit != latch && self.dominates(exit, block));
        let backedges = self.backedges(of);
        let mut times = match is_behind {
            true => backedges,
            false => backedges.map(|times| self.more(times, 1)),
        };
        let turns = scope.turns().filter(|_| scope.nest() == Some(of));
        if let Some(turns) = turns {
            if !self.pick_turns(access, of, turns) {
                return false;
            }
            times = backedges;
        }
        let stays = self.is_invariant(access.address, of);
        if matches!(turns, Some(Turns::Last)) {
            // The last turn is not reached where the loop is left before its end.
            access.exact &= self.always_runs(block, Some(of));
        } else if stays && turns.is_none() {
            access.exact &= is_before_exits;
        } else {
            let Some(times) = times else {
                return false;
            };
            let (start, stride) = if stays {
                (access.address, self.word(0))
            } else {
                match self.recurrence(access.address).filter(|one| one.of == of) {
                    Some(one) => (one.start, one.step),
                    None if self.leave_collapsed(access, of, times) => {
                        access.block = preheader;
                        return true;
                    }
                    None => return false,
                }
            };
            // Behind the exit there may be no turn at all, which a merged section would not show.
            access.exact &= self.always_runs(block, Some(of))
                && (is_before_exits || (is_behind && self.is_positive(times)));
            if !self.join_tiles(access, of, times, scope) {
                access.dimensions.push(Dimension {
                    stride,
                    count: times,
                    over: Some(of),
                });
            }
            access.address = start;
        }
        access.block = preheader;
        true
    }

    /// Counts that depend on a loop of the scope become those of a box around all rows.
    fn box_counts(&self, access: &mut Access<'m>, scope: Scope<'m>) -> bool {
        for at in 0..access.dimensions.len() {
            let count = access.dimensions[at].count;
            let mut checks = access.when.checks.clone();
            let same = match self.is_fixed(count, scope) {
                true => None,
                false => self.unbounded(count, None, scope, &mut checks),
            };
            if let Some(same) = same.filter(|&same| self.is_fixed(same, scope)) {
                access.dimensions[at].count = same;
                access.when.checks = checks;
            }
            for of in 0..self.loops().len() {
                let count = access.dimensions[at].count;
                access.dimensions[at].count =
                    self.row_length(count, of, scope, &mut access.when.checks);
            }
            let mut round = 0;
            while !self.is_fixed(access.dimensions[at].count, scope) {
                access.exact = false;
                let Dimension { stride, count, .. } = access.dimensions[at];
                let falling = self
                    .recurrence(count)
                    .filter(|one| round < 4 && one.step.constant().is_some_and(|step| step < 0));
                let row = falling.and_then(|falling| {
                    let over = |other: &Dimension| other.over == Some(falling.of);
                    Some((falling, access.dimensions.iter().position(over)?))
                });
                if let Some((falling, row)) = row {
                    // Rows that shrink: counted from their common end, the box stays within their hull.
                    let row = &mut access.dimensions[row];
                    let less = self.product(&[falling.step, stride]);
                    row.stride = self.sum(&[row.stride, less]);
                    access.dimensions[at].count = falling.start;
                } else {
                    match self.bound(count, scope, true) {
                        Some(count) => access.dimensions[at].count = count,
                        None => return false,
                    }
                }
                round += 1;
            }
        }
        true
    }

    /// The section of an access in the scope.
    pub(super) fn affine(&self, mut access: Access<'m>, scope: Scope<'m>) -> Option<Section<'m>> {
        if !self.leave_loops(&mut access, scope, None) {
            return None;
        }
        self.describe(&mut access, scope)
    }

    /// The section of an access that is outside of all loops of the scope.
    pub(super) fn describe(
        &self,
        access: &mut Access<'m>,
        scope: Scope<'m>,
    ) -> Option<Section<'m>> {
        if access.dimensions.len() > MOST_DIMENSIONS
            || !self.box_counts(access, scope)
            || !self.is_usable(access.address, scope)
        {
            return None;
        }
        let mut counts = access
            .dimensions
            .iter()
            .flat_map(|one| [one.stride, one.count]);
        let mut checked = access.when.checks.iter().map(|check| check.value);
        if !counts.all(|one| self.is_usable(one, scope))
            || !checked.all(|one| self.is_usable(one, scope))
        {
            return None;
        }
        if access.dimensions.is_empty() && !access.when.is_empty() {
            access.dimensions.push(Dimension {
                stride: self.word(0),
                count: self.word(1),
                over: None,
            });
        }
        // The outermost one holds the conditions of all.
        let mut when = access.when.clone();
        let dimensions = access.dimensions.iter().rev().map(|one| {
            let when = std::mem::take(&mut when);
            (self.term(one.stride), self.term_when(one.count, when))
        });
        Some(Section {
            address: self.term(access.address),
            dimensions: dimensions.collect(),
            exact: access.exact,
        })
    }
}
