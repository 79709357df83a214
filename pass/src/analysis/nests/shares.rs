//! What all threads of a team access in the turns of a worksharing loop, where it is known what one of them does in its share.
//!
//! Guarantee: the section is what the iterations of the whole loop access, each of which some thread runs; it is the same
//! whichever thread computes it.

use super::conditions::{Check, Conditions, Guard, Question};
use super::rewrite::{Rewrite, Rewritten, rewrites};
use super::{Expression, Nests, Scope, Section, Term, WORD};
use crate::analysis::runtime;
use crate::llvm::{Call, Evolution, ExpressionKind as Kind, Instruction, Opcode, Value};
use okl_abi::{ScheduleKind, f};

/// Parameters of a region's body in front of the captured values, which are each thread's own.
const BEFORE_CAPTURED: usize = 2;
/// Instructions that a value may be computed by, one from the other.
const DEEPEST: usize = 16;

/// The bounds of a thread's share of a loop, and of the whole loop.
pub struct Share<'m> {
    first: Expression<'m>,
    last: Expression<'m>,
    first_of_all: Expression<'m>,
    last_of_all: Expression<'m>,
}

/// Puts the bounds of the whole loop in place of those of a share.
struct OfAll<'a, 'm> {
    nests: &'a Nests<'m>,
    share: &'a Share<'m>,
    rewritten: Rewritten<'m>,
}

impl<'m> Rewrite<'m> for OfAll<'_, 'm> {
    rewrites!();

    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>> {
        let Share {
            first,
            last,
            first_of_all,
            last_of_all,
        } = *self.share;
        match part {
            _ if part == first => Some(first_of_all),
            _ if part == last => Some(last_of_all),
            _ => None,
        }
    }
}

impl<'m> Nests<'m> {
    /// The share of a worksharing loop whose iterations are the turns of a loop, all of them and no others: each thread has
    /// one share, which is in one piece.
    pub fn share(&self, nest: usize) -> Option<Share<'m>> {
        let function = self.function();
        let calls = function.instructions().into_iter();
        let mut calls = calls.filter_map(|at| (*at).as_call());
        calls.find_map(|call| self.share_of(call, nest))
    }

    fn share_of(&self, call: Call<'m>, nest: usize) -> Option<Share<'m>> {
        if !runtime::function(call)?.begins_share() {
            return None;
        }
        let schedule = runtime::schedule(call)?;
        let in_one_piece = matches!(
            schedule.kind,
            ScheduleKind::Static | ScheduleKind::StaticGreedy | ScheduleKind::StaticBalanced
        );
        let increment = runtime::argument(call, "increment")?.as_constant_int()?;
        if !in_one_piece || schedule.ordered || increment != 1 {
            return None;
        }
        let [lower, upper] = ["lower", "upper"].map(|one| runtime::argument(call, one));
        let (first, first_of_all) = self.replaced(lower?, call)?;
        let (last, last_of_all) = self.replaced(upper?, call)?;
        let share = Share {
            first,
            last,
            first_of_all,
            last_of_all,
        };
        self.has_turns_of(nest, &share).then_some(share)
    }

    /// What a variable has behind a call that changes it, and in front of it.
    fn replaced(
        &self,
        variable: Value<'m>,
        call: Call<'m>,
    ) -> Option<(Expression<'m>, Expression<'m>)> {
        variable.as_op(Opcode::LLVMAlloca)?;
        let at = call.instruction();
        let all = at.block().instructions();
        let place = all.iter().position(|&one| one == at)?;
        let is_its = |one: &&Instruction<'m>| one.address() == Some(variable);
        let before = all[..place].iter().rev().find(is_its)?;
        let behind = all[place + 1..].iter().find(is_its)?;
        let is_known = before.opcode() == Opcode::LLVMStore && behind.opcode() == Opcode::LLVMLoad;
        let (before, behind) = (before.operand(0), **behind);
        (is_known && before.ty() == behind.ty() && self.can_know(before) && self.can_know(behind))
            .then(|| (self.expression(behind), self.expression(before)))
    }

    /// Whether a loop begins with the first iteration of a share, and has a turn for each up to the last.
    fn has_turns_of(&self, nest: usize, share: &Share<'m>) -> bool {
        let Some(times) = self.backedge_taken_count(nest) else {
            return false;
        };
        let (first, last) = (share.first, share.last);
        let bits = self.bits(first);
        let extended = |one: Expression<'m>, signed: bool| match signed {
            true => self.with_sign(one, WORD),
            false => self.without_sign(one, WORD),
        };
        let end = |kind| self.choice(kind, &[last, share.last_of_all]);
        let ends = [last, end(Kind::SignedMin), end(Kind::UnsignedMin)];
        let clipped = [Kind::SignedMax, Kind::UnsignedMax]
            .map(|kind| ends.map(|end| self.choice(kind, &[end, first])));
        let mut ends = ends.into_iter().chain(clipped.into_iter().flatten());
        // LLVM may not see that there is a first turn, or count in more bits, up to what is behind the last.
        let distances = |first: Expression<'m>, end: Expression<'m>, behind: Expression<'m>| {
            let mut all = vec![
                self.minus(end, first),
                self.more_in(self.minus(behind, first), -1),
            ];
            for kind in [Kind::SignedMax, Kind::UnsignedMax] {
                let clipped = self.choice(kind, &[end, first]);
                all.push(self.minus(clipped, first));
                let clipped = self.choice(kind, &[behind, self.more_in(first, 1)]);
                all.push(self.more_in(self.minus(clipped, first), -1));
            }
            all
        };
        let is_their_distance = ends.any(|end| {
            let behind = self.more_in(end, 1);
            let all = distances(first, end, behind);
            if bits < WORD {
                for signed in [true, false] {
                    let narrow = all.iter().map(|&one| extended(one, signed));
                    let narrow: Vec<_> = narrow.collect();
                    let [first, end, behind] =
                        [first, end, behind].map(|one| extended(one, signed));
                    let wide = distances(first, end, behind);
                    if narrow.contains(&times) || wide.contains(&times) {
                        return true;
                    }
                }
            }
            all.contains(&times)
        });
        let begins_there = |phi: Instruction<'m>| {
            let number = self.can_know(*phi).then(|| self.expression(*phi));
            let number = number.and_then(|one| self.recurrence(one));
            number.is_some_and(|number| {
                let starts = [first, extended(first, true), extended(first, false)];
                number.of == nest
                    && number.step.constant() == Some(1)
                    && starts.contains(&number.start)
            })
        };
        let header = self.loops()[nest].header;
        let mut phis = header.instructions().into_iter();
        is_their_distance && phis.any(|one| one.opcode() == Opcode::LLVMPHI && begins_there(one))
    }

    /// A number of as many bits.
    fn more_in(&self, one: Expression<'m>, number: i64) -> Expression<'m> {
        self.sum(&[one, self.number(self.bits(one), number)])
    }

    /// What all threads access together where each of them accesses a section in its share of a loop, which is the nest of the
    /// scope. `None` where another thread may come to another conclusion.
    pub fn of_all_shares(
        &self,
        address: Term<'m>,
        dimensions: &[(Term<'m>, Term<'m>)],
        share: &Share<'m>,
        scope: Scope<'m>,
    ) -> Option<Section<'m>> {
        let mut of_all = OfAll {
            nests: self,
            share,
            rewritten: Rewritten::new(),
        };
        let mut known = |one| {
            let new = of_all.rewrite(one);
            (self.is_same_for_all(new) && self.is_usable(new, scope)).then_some(new)
        };
        let mut term = |one| {
            let (value, when) = self.parts(one);
            let value = known(value)?;
            let mut all = Conditions::default();
            for guard in when.guards {
                let question = match guard.question {
                    Question::Comparison(predicate, a, b) => {
                        Question::Comparison(predicate, known(a)?, known(b)?)
                    }
                    Question::Value(value) => {
                        is_same_for_all(value, 0).then_some(Question::Value(value))?
                    }
                };
                all.guards.push(Guard { question, ..guard });
            }
            for check in when.checks {
                all.checks.push(Check {
                    value: known(check.value)?,
                    ..check
                });
            }
            Some(self.term_when(value, all))
        };
        let address = term(address)?;
        let mut section = Vec::new();
        for &(stride, count) in dimensions {
            section.push((term(stride)?, term(count)?));
        }
        Some(Section {
            address,
            dimensions: section,
            exact: true,
        })
    }

    fn is_same_for_all(&self, one: Expression<'m>) -> bool {
        !one.contains(|part| match part.kind() {
            Kind::Recurrence | Kind::Unknown | Kind::Other => true,
            Kind::Value => part.value().is_none_or(|value| !is_same_for_all(value, 0)),
            _ => false,
        })
    }
}

/// Whether a value in the body of a region is the same on all threads of the team: it is computed of what the region has
/// captured, and of what is loaded from where all threads load it. Whoever changes that may do so only where all wait for
/// each other in between.
fn is_same_for_all(value: Value<'_>, depth: usize) -> bool {
    if let Some((_, index)) = value.as_parameter() {
        return index >= BEFORE_CAPTURED;
    }
    if let Some(global) = value.as_global() {
        return !global.is_thread_local();
    }
    if depth > DEEPEST {
        return false;
    }
    let are_same = || {
        let mut all = value.operands().into_iter();
        all.all(|one| is_same_for_all(one, depth + 1))
    };
    let Some(at) = value.as_instruction() else {
        return value.is_constant() && are_same();
    };
    use Opcode::*;
    match at.opcode() {
        LLVMLoad => at.is_plain_access() && are_same(),
        LLVMCall => {
            let call = (*at)
                .as_call()
                .filter(|call| call.callee_name() == f::okl_mpi_readable.name);
            let address = call.and_then(|call| call.argument(0));
            address.is_some_and(|address| is_same_for_all(address, depth + 1))
        }
        LLVMGetElementPtr | LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMLShr | LLVMAShr
        | LLVMAnd | LLVMOr | LLVMXor | LLVMICmp | LLVMSelect | LLVMTrunc | LLVMZExt | LLVMSExt
        | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast => are_same(),
        _ => false,
    }
}
