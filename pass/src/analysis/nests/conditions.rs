//! On what conditions something is executed, and numbers are what was concluded of them.
//!
//! Guarantee: a guard or check that was noted can be computed where the section is to be known.

use std::collections::HashSet;

use super::threaded::{Asked, implied_on};
use super::{Expression, Nests, Scope, WORD};
use crate::llvm::{Block, Comparison, Instruction, IntPredicate, Opcode, Value};

/// Larger expressions are not worth their time.
pub(super) const MOST_OPERATIONS: usize = 400;

/// What is asked before something is executed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Question<'m> {
    /// A truth value.
    Value(Value<'m>),
    /// A comparison.
    Comparison(IntPredicate, Expression<'m>, Expression<'m>),
}

/// A condition under which something is executed.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Guard<'m> {
    pub(super) question: Question<'m>,
    /// The answer that leads there.
    pub(super) wanted: bool,
}

/// A value that has to be the extension of its low bits: otherwise an index overflowed, and what was concluded from it is
/// wrong.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Check<'m> {
    pub(super) value: Expression<'m>,
    pub(super) bits: u32,
    pub(super) signed: bool,
}

impl<'m> Check<'m> {
    /// That a value of 64 bits is not negative.
    pub(super) fn not_negative(value: Expression<'m>) -> Self {
        Self {
            value,
            bits: WORD - 1,
            signed: false,
        }
    }
}

/// Adds it, once.
pub(super) fn add<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}

#[derive(Clone, Default, PartialEq)]
pub(super) struct Conditions<'m> {
    pub(super) guards: Vec<Guard<'m>>,
    pub(super) checks: Vec<Check<'m>>,
}

impl Conditions<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.guards.is_empty() && self.checks.is_empty()
    }
}

/// What a comparison asks if its answer is to be the other one.
pub(super) fn inverse(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate::*;
    match predicate {
        LLVMIntEQ => LLVMIntNE,
        LLVMIntNE => LLVMIntEQ,
        LLVMIntUGT => LLVMIntULE,
        LLVMIntUGE => LLVMIntULT,
        LLVMIntULT => LLVMIntUGE,
        LLVMIntULE => LLVMIntUGT,
        LLVMIntSGT => LLVMIntSLE,
        LLVMIntSGE => LLVMIntSLT,
        LLVMIntSLT => LLVMIntSGE,
        LLVMIntSLE => LLVMIntSGT,
    }
}

impl<'m> Nests<'m> {
    /// Whether it is the same wherever control is in the scope.
    pub(super) fn is_fixed(&self, one: Expression<'m>, scope: Scope<'m>) -> bool {
        match scope {
            Scope::Loop(nest) | Scope::Turns(nest, _) => self.is_invariant(one, nest),
            Scope::At(_) => true,
            Scope::Function => !one.contains(|part| {
                let at_entry = self.at_entry.borrow();
                let is_of_caller = |value: Value<'m>| {
                    is_parameter(value) || value.is_constant() || at_entry.contains(&value)
                };
                self.changes_in(part).is_some()
                    || part.value().is_some_and(|value| !is_of_caller(value))
            }),
        }
    }

    /// Whether it can be computed in the scope.
    pub(super) fn is_usable(&self, one: Expression<'m>, scope: Scope<'m>) -> bool {
        if one.size() > MOST_OPERATIONS || !self.is_fixed(one, scope) {
            return false;
        }
        let at = match scope {
            Scope::Loop(nest) | Scope::Turns(nest, _) => self.front_of(nest),
            Scope::At(at) => Some(at),
            Scope::Function => self.entry_end,
        };
        at.is_some_and(|at| self.can_be_computed(one, at))
    }

    /// Whether a guard can be asked in the scope.
    pub(super) fn can_ask(&self, guard: &Guard<'m>, scope: Scope<'m>) -> bool {
        match (guard.question, scope) {
            (Question::Comparison(_, a, b), _) => {
                self.is_usable(a, scope) && self.is_usable(b, scope)
            }
            (Question::Value(value), Scope::Loop(nest) | Scope::Turns(nest, _)) => {
                self.is_outside(value, nest)
            }
            (Question::Value(_), Scope::At(_)) => true,
            (Question::Value(value), Scope::Function) => is_parameter(value),
        }
    }

    /// Notes that a condition has to have this answer; false where it cannot be asked in the scope.
    fn guard(
        &self,
        mut condition: Value<'m>,
        mut wanted: bool,
        scope: Scope<'m>,
        guards: &mut Vec<Guard<'m>>,
    ) -> bool {
        while let Some(denied) = negated(condition) {
            (condition, wanted) = (denied, !wanted);
        }
        let compares = condition.as_op(Opcode::LLVMICmp).and_then(|one| {
            let Some(Comparison::Integer(predicate)) = one.comparison() else {
                return None;
            };
            let (a, b) = (one.operand(0), one.operand(1));
            self.can_know(a)
                .then(|| Question::Comparison(predicate, self.expression(a), self.expression(b)))
        });
        let guard = Guard {
            question: compares.unwrap_or(Question::Value(condition)),
            wanted,
        };
        let can_ask = self.can_ask(&guard, scope);
        if can_ask {
            add(guards, guard);
        }
        can_ask
    }

    /// Whether a block runs in each turn of a loop, or in each call of the function.
    pub fn always_runs(&self, block: Block<'m>, of: Option<usize>) -> bool {
        match of {
            Some(of) => self.loops()[of]
                .latch
                .is_some_and(|latch| self.dominates(block, latch)),
            None => self
                .returns
                .iter()
                .all(|&other| self.dominates(block, other)),
        }
    }

    /// The block that decides whether a block runs in a turn of a loop: from where the way there depends only on guards.
    /// Stops at a block that always runs, or where it cannot go on.
    pub(super) fn climb(
        &self,
        mut block: Block<'m>,
        of: Option<usize>,
        scope: Scope<'m>,
        guards: &mut Vec<Guard<'m>>,
    ) -> Block<'m> {
        let mut passed = Vec::new();
        while !self.always_runs(block, of) {
            let Some((before, between)) = self.way_to(block, of) else {
                break;
            };
            if !self.passes_guards(before, &between, block, scope, guards, &mut passed) {
                break;
            }
            block = before;
        }
        block
    }

    /// Whether control comes from `before` through what lies `between` to a block whenever guards hold, which are noted.
    /// Where it may turn away on several ways, all have to ask the same: LLVM repeats what it need not ask at once. Where that
    /// would contradict what was `passed` behind the block, it does not turn away: LLVM leads control past all that asks for
    /// the same.
    fn passes_guards(
        &self,
        before: Block<'m>,
        between: &HashSet<Block<'m>>,
        block: Block<'m>,
        scope: Scope<'m>,
        guards: &mut Vec<Guard<'m>>,
        passed: &mut Vec<Asked<'m>>,
    ) -> bool {
        let leads_there =
            |next: Block<'m>| next == block || between.contains(&next) || self.is_last(next);
        let is_passed = |one: Block<'m>, next: Block<'m>| {
            let answer = |known: &Asked<'m>| known.leads_to(one, next) == Some(false);
            passed.iter().any(answer)
        };
        let turns_away = |one: &Block<'m>| {
            let mut next = one.successors().into_iter();
            next.any(|next| !leads_there(next) && !is_passed(*one, next))
        };
        let all = between.iter().copied().chain([before]);
        let asking: HashSet<Block<'m>> = all.filter(turns_away).collect();
        let mut asked = None;
        for one in &asking {
            let end = one.terminator();
            let end = end.filter(|end| end.opcode() == Opcode::LLVMBr);
            let Some(condition) = end.and_then(Instruction::branch_condition) else {
                return false;
            };
            let answer = (condition, leads_there(one.successors()[0]));
            if *asked.get_or_insert(answer) != answer {
                return false;
            }
        }
        let Some((condition, wanted)) = asked else {
            return true;
        };
        // On every way, or what is asked there implies the answer. What a guard asks does not change in the scope.
        let question = Asked::of(condition);
        let mut rest = vec![before];
        let mut seen = HashSet::new();
        while let Some(one) = rest.pop() {
            if one == block {
                return false;
            }
            if !asking.contains(&one) && seen.insert(one) {
                let is_answered = |next| {
                    question.is_some_and(|asked| implied_on(&asked, one, next) == Some(wanted))
                };
                let next = one.successors().into_iter();
                rest.extend(next.filter(|&next| leads_there(next) && !is_answered(next)));
            }
        }
        let is_guard = self.guard(condition, wanted, scope, guards);
        if is_guard {
            passed.extend(question.map(|asked| asked.answered(wanted)));
        }
        is_guard
    }

    /// The last block that control passes in each turn of a loop that comes to a block, outside of other loops, and those
    /// that may lie between.
    fn way_to(
        &self,
        block: Block<'m>,
        of: Option<usize>,
    ) -> Option<(Block<'m>, HashSet<Block<'m>>)> {
        const MOST_BETWEEN: usize = 300;
        let mut rest = block.predecessors();
        let (mut before, mut between) = (None, HashSet::new());
        while let Some(one) = rest.pop() {
            if one == block || between.len() > MOST_BETWEEN {
                return None;
            }
            if self.loop_of(one) == of && self.dominates(one, block) {
                before = Some(one);
            } else if of.is_some_and(|of| !self.contains(of, one)) {
                return None;
            } else if between.insert(one) {
                rest.extend(one.predecessors());
            }
        }
        Some((before?, between))
    }
}

/// The block before a block that is entered in one way only.
pub(super) fn single_predecessor(block: Block<'_>) -> Option<Block<'_>> {
    match block.predecessors()[..] {
        [one] => Some(one),
        _ => None,
    }
}

fn is_parameter(value: Value<'_>) -> bool {
    value.as_parameter().is_some()
}

/// What a condition is the negation of.
fn negated(condition: Value<'_>) -> Option<Value<'_>> {
    let xor = condition.as_op(Opcode::LLVMXor)?;
    let is_negation = condition.ty().bits() == Some(1)
        && xor.operand(1).as_constant_int().is_some_and(|one| one != 0);
    is_negation.then(|| xor.operand(0))
}
