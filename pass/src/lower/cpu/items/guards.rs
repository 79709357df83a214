//! Conditions around all that a work item does, such as `if (i < n)`: where one of them fails for all work items that
//! follow, the loop over them ends, and LLVM need not ask it of each.
//!
//! The iterator counts without overflow in one direction, and the other side of the comparison stays the same while the
//! loop runs. The conditions stay where they are: in the loop's first block a copy of them is asked besides, behind the
//! loop's own condition, as they are asked first by each work item that there is.

use std::collections::{HashMap, HashSet};

use super::split::Turns;
use crate::analysis::meeting::cannot_fail;
use crate::analysis::variables::{Does, is_harmless, uses};
use crate::llvm::{Block, Builder, Comparison, Instruction, IntPredicate, Module, Opcode, Value};

/// How numbers follow on each other from one work item to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    /// They are the same.
    Same,
    /// They grow or fall, as numbers with a sign or without.
    Moves { signed: bool },
}

struct Guards<'a, 'm> {
    turns: &'a Turns<'m>,
    /// All of the loop.
    blocks: HashSet<Block<'m>>,
    common: &'a HashSet<Value<'m>>,
    grows: bool,
    signed: bool,
    /// Stores into variables of the iteration, by the variable: those in front of the condition that is looked at.
    stored: HashMap<Value<'m>, Value<'m>>,
}

/// Ends the innermost loop where it can. Whether it did.
pub fn emit<'m>(
    module: &'m Module,
    turns: &Turns<'m>,
    body: &[Block<'m>],
    common: &HashSet<Value<'m>>,
) -> bool {
    let (header, steps) = turns.innermost();
    let Some((grows, signed)) = direction(turns.iterator(), header, steps) else {
        return false;
    };
    let decides = header.terminator().expect("a complete block");
    let [first, _] = header.successors()[..] else {
        return false;
    };
    let mut guards = Guards {
        turns,
        blocks: body.iter().copied().chain([header, steps]).collect(),
        common,
        grows,
        signed,
        stored: HashMap::new(),
    };
    let all = guards.find(first, steps);
    for (condition, is_wanted) in &all {
        let mut copies = HashMap::new();
        let copy = guards.copy(*condition, decides, &mut copies);
        let builder = Builder::before(module, decides);
        let [yes, no] = [1, 0].map(|bit| module.int(1).integer_constant(bit));
        let asked = decides.branch_condition().expect("it has two ways");
        let goes_on = match is_wanted {
            true => copy,
            false => builder.select(copy, no, yes),
        };
        decides.set_branch_condition(builder.select(asked, goes_on, no));
    }
    !all.is_empty()
}

/// Whether an iterator grows, and as a number with a sign: it does not overflow.
fn direction<'m>(iterator: Value<'m>, header: Block<'m>, steps: Block<'m>) -> Option<(bool, bool)> {
    use IntPredicate::*;
    let is_it = |value: Value<'m>| {
        let load = value.as_op(Opcode::LLVMLoad);
        load.is_some_and(|load| load.operand(0) == iterator)
    };
    let asks = header
        .terminator()?
        .branch_condition()?
        .as_op(Opcode::LLVMICmp)?;
    let Comparison::Integer(predicate) = asks.comparison()? else {
        return None;
    };
    // An end that is reached by steps of 1 is not stepped over.
    let (is_strict, signed) = match predicate {
        LLVMIntSLT | LLVMIntSGT => (true, true),
        LLVMIntSLE | LLVMIntSGE => (false, true),
        LLVMIntULT | LLVMIntUGT => (true, false),
        LLVMIntULE | LLVMIntUGE => (false, false),
        LLVMIntEQ | LLVMIntNE => return None,
    };
    if !is_it(asks.operand(0)) && !is_it(asks.operand(1)) {
        return None;
    }
    let steps = steps.instructions().into_iter();
    let mut stores = steps.filter(|one| one.opcode() == Opcode::LLVMStore);
    let sum = stores
        .find(|one| one.operand(1) == iterator)?
        .operand(0)
        .as_instruction()?;
    let by = match sum.opcode() {
        Opcode::LLVMAdd if is_it(sum.operand(0)) => sum.operand(1).as_constant_int()?,
        Opcode::LLVMSub if is_it(sum.operand(0)) => {
            sum.operand(1).as_constant_int()?.checked_neg()?
        }
        _ => return None,
    };
    let is_sure = (is_strict && by.abs() == 1) || (signed && sum.has_no_signed_wrap());
    (is_sure && by != 0).then_some((by > 0, signed))
}

impl<'m> Guards<'_, 'm> {
    /// The conditions in front of all else that a work item does that fail for all that follow where they fail, and whether
    /// it goes on where they hold.
    fn find(&mut self, first: Block<'m>, steps: Block<'m>) -> Vec<(Value<'m>, bool)> {
        let mut found = Vec::new();
        let mut block = first;
        let mut seen = HashSet::new();
        let mut is_first = true;
        while block != steps && self.blocks.contains(&block) && seen.insert(block) {
            let mut instructions = block.instructions();
            let end = instructions.pop().expect("a complete block");
            if !instructions.into_iter().all(|one| self.leaves_nothing(one)) {
                break;
            }
            if end.opcode() != Opcode::LLVMBr {
                break;
            }
            let next = block.successors();
            let ends = |block: Block<'m>| leads_only_to(block, steps);
            let (condition, is_wanted) = match (end.branch_condition(), &next[..]) {
                (None, &[next]) => {
                    block = next;
                    continue;
                }
                (Some(condition), &[yes, no]) if ends(no) && !ends(yes) => {
                    block = yes;
                    (condition, true)
                }
                (Some(condition), &[yes, no]) if ends(yes) && !ends(no) => {
                    block = no;
                    (condition, false)
                }
                _ => break,
            };
            if self.fails_for_good(condition, is_wanted, !is_first) {
                found.push((condition, is_wanted));
            }
            is_first = false;
        }
        found
    }

    /// Whether nothing is left of an instruction when its iteration ends.
    fn leaves_nothing(&mut self, one: Instruction<'m>) -> bool {
        if one.opcode() != Opcode::LLVMStore {
            return is_harmless(one) || one.only_computes() && one.as_call().is_none();
        }
        let variable = one.operand(1);
        let is_own = variable.as_op(Opcode::LLVMAlloca).is_some_and(|variable| {
            let uses = uses(variable);
            let is_inside = |one: &Instruction<'m>| self.blocks.contains(&one.block());
            uses.iter()
                .all(|(one, does)| *does != Does::Unknown && is_inside(one))
        });
        let is_plain = is_own && one.is_plain_access() && !self.common.contains(&variable);
        if is_plain {
            self.stored.insert(variable, one.operand(0));
        }
        is_plain
    }

    /// Whether a condition that fails for a work item fails for all that follow. One that is not asked of each work item
    /// is to be of what is there in any case.
    fn fails_for_good(&self, condition: Value<'m>, is_wanted: bool, is_later: bool) -> bool {
        use IntPredicate::*;
        let Some(asks) = condition.as_op(Opcode::LLVMICmp) else {
            return false;
        };
        let Some(Comparison::Integer(predicate)) = asks.comparison() else {
            return false;
        };
        let (is_below, signed) = match predicate {
            LLVMIntSLT | LLVMIntSLE => (true, true),
            LLVMIntSGT | LLVMIntSGE => (false, true),
            LLVMIntULT | LLVMIntULE => (true, false),
            LLVMIntUGT | LLVMIntUGE => (false, false),
            LLVMIntEQ | LLVMIntNE => return false,
        };
        let [first, second] = [asks.operand(0), asks.operand(1)];
        let courses = [self.course(first), self.course(second)];
        let moves = Some(Course::Moves { signed });
        let is_below = match courses {
            [first, Some(Course::Same)] if first == moves => is_below,
            [Some(Course::Same), second] if second == moves => !is_below,
            _ => return false,
        };
        let is_there = |value| self.is_there(value);
        (is_below == is_wanted) == self.grows && (!is_later || is_there(first) && is_there(second))
    }

    /// How a value follows on that of the work item before.
    fn course(&self, value: Value<'m>) -> Option<Course> {
        let Some(one) = value.as_instruction() else {
            let is_same = value.is_constant() || value.as_parameter().is_some();
            return is_same.then_some(Course::Same);
        };
        if one.opcode() == Opcode::LLVMLoad {
            return self.course_of_variable(one);
        }
        if !cannot_fail(one) {
            return None;
        }
        let operands = one.operands();
        let all = operands.iter().map(|&one| self.course(one));
        let all: Vec<_> = all.collect::<Option<_>>()?;
        if all.iter().all(|one| *one == Course::Same) {
            return Some(Course::Same);
        }
        let signed = Some(Course::Moves { signed: true });
        match (one.opcode(), &all[..]) {
            (Opcode::LLVMSExt, [one]) if Some(*one) == signed => signed,
            (Opcode::LLVMZExt, [Course::Moves { signed: false }]) => {
                Some(Course::Moves { signed: false })
            }
            (Opcode::LLVMAdd, [Course::Same, other] | [other, Course::Same])
            | (Opcode::LLVMSub, [other, Course::Same]) => match other {
                Course::Moves { signed } => one.keeps_number(*signed).then_some(*other),
                Course::Same => None,
            },
            _ => None,
        }
    }

    fn course_of_variable(&self, load: Instruction<'m>) -> Option<Course> {
        let address = load.operand(0);
        if !load.is_plain_access() {
            return None;
        }
        let variable = address.as_op(Opcode::LLVMAlloca)?;
        if address == self.turns.iterator() {
            // Some of its bytes do not grow as it does.
            let is_whole = variable.allocated_type() == Some((*load).ty());
            let signed = self.signed;
            return is_whole.then_some(Course::Moves { signed });
        }
        if let Some(&value) = self.stored.get(&address) {
            // Written once, in front of what reads it.
            let uses = uses(variable);
            let writes = uses.iter().filter(|(_, does)| *does == Does::Write);
            let is_it = writes.count() == 1 && value.ty() == (*load).ty();
            return is_it.then(|| self.course(value))?;
        }
        let stays = |(one, does): &(Instruction<'m>, Does)| match does {
            Does::Read => true,
            Does::Write => !self.blocks.contains(&one.block()),
            Does::Unknown => false,
        };
        let is_common = self.common.contains(&address);
        (!is_common && uses(variable).iter().all(stays)).then_some(Course::Same)
    }

    /// Whether a value is what it is wherever it is asked for: the iterator, a number, or a parameter.
    fn is_there(&self, value: Value<'m>) -> bool {
        let mut value = value;
        while let Some(cast) = value.as_instruction()
            && matches!(cast.opcode(), Opcode::LLVMSExt | Opcode::LLVMZExt)
        {
            value = cast.operand(0);
        }
        if value.as_constant_int().is_some() {
            return true;
        }
        let Some(load) = value.as_op(Opcode::LLVMLoad) else {
            return false;
        };
        let address = load.operand(0);
        if address == self.turns.iterator() {
            return true;
        }
        let Some(variable) = address.as_op(Opcode::LLVMAlloca) else {
            return false;
        };
        let uses = uses(variable);
        let mut writes = uses.iter().filter(|(_, does)| *does != Does::Read);
        let (Some((one, Does::Write)), None) = (writes.next(), writes.next()) else {
            return false;
        };
        let is_passed =
            one.opcode() == Opcode::LLVMStore && one.operand(0).as_parameter().is_some();
        is_passed && one.block() == variable.block()
    }

    /// A value in front of another instruction.
    fn copy(
        &self,
        value: Value<'m>,
        before: Instruction<'m>,
        copies: &mut HashMap<Value<'m>, Value<'m>>,
    ) -> Value<'m> {
        let Some(one) = value.as_instruction() else {
            return value;
        };
        if let Some(&copy) = copies.get(&value) {
            return copy;
        }
        let is_load = one.opcode() == Opcode::LLVMLoad;
        let stored = is_load.then(|| self.stored.get(&one.operand(0))).flatten();
        let copy = match stored {
            Some(&stored) => self.copy(stored, before, copies),
            None if is_load => *one.copy_before(before),
            None => {
                let operands = one.operands().into_iter();
                let operands: Vec<_> = operands
                    .map(|operand| self.copy(operand, before, copies))
                    .collect();
                let copy = one.copy_before(before);
                for (at, operand) in operands.into_iter().enumerate() {
                    copy.set_operand(at, operand);
                }
                *copy
            }
        };
        copies.insert(value, copy);
        copy
    }
}

/// Whether a block does nothing but go to another one.
pub(super) fn leads_only_to<'m>(from: Block<'m>, to: Block<'m>) -> bool {
    let mut block = from;
    let mut seen = HashSet::new();
    while block != to {
        let mut instructions = block.instructions();
        let end = instructions.pop();
        let goes_on = end.is_some_and(|end| end.opcode() == Opcode::LLVMBr);
        let next = block.successors();
        if !goes_on || !instructions.into_iter().all(is_harmless) || !seen.insert(block) {
            return false;
        }
        let [next] = next[..] else { return false };
        block = next;
    }
    true
}
