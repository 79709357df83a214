//! What one work item, or some that follow each other, do alone behind all else, such as the border of what is shared, or the
//! result of a block: it stands behind the loop over work items, and LLVM need not ask each of them which one it is.
//!
//! Each item's own order stays as it is: nothing follows in an iteration but what has no effect, or stands behind the loop,
//! too. Between items there is no order, since none of them depends on another one. What such code is computed of is
//! computed again from the iterator, and from what stays the same while the loop runs.

use std::collections::{HashMap, HashSet};

use super::at_once::Known;
use super::split::{Axis, Turns};
use crate::analysis::control_flow;
use crate::analysis::meeting::cannot_fail;
use crate::analysis::variables::{Does, is_harmless, uses};
use crate::llvm::{Block, Builder, Comparison, Instruction, IntPredicate, Module, Opcode, Value};

/// Computations that are followed.
const DEEPEST: usize = 24;
/// Work items of the innermost loop.
const MOST_ITEMS: i64 = 4096;

/// Code of some items.
struct Part<'m> {
    /// Decides whether an item is one of them.
    branch: Instruction<'m>,
    /// The iterator of the first one, and how many there are.
    item: i64,
    count: i64,
    first: Block<'m>,
    blocks: Vec<Block<'m>>,
    /// Where it goes on.
    then: Block<'m>,
    /// Stores that each item comes to before.
    stored: HashSet<Instruction<'m>>,
}

/// A loop over some items: how it counts, its first block, and that in which it steps.
type Loop<'m> = (Axis<'m>, Block<'m>, Block<'m>);

/// An iteration of a loop over items.
struct Iteration<'a, 'm> {
    axis: &'a Axis<'m>,
    steps: Block<'m>,
    blocks: HashSet<Block<'m>>,
    known: &'a Known<'a, 'm>,
    /// Stores that each item comes to so far.
    stored: HashSet<Instruction<'m>>,
}

/// Whether numbers are compared that have no sign.
fn is_unsigned(predicate: IntPredicate) -> bool {
    use IntPredicate::*;
    matches!(predicate, LLVMIntULT | LLVMIntULE | LLVMIntUGT | LLVMIntUGE)
}

fn holds(predicate: IntPredicate, a: i64, b: i64) -> bool {
    use IntPredicate::*;
    match predicate {
        LLVMIntEQ => a == b,
        LLVMIntNE => a != b,
        LLVMIntSLT | LLVMIntULT => a < b,
        LLVMIntSLE | LLVMIntULE => a <= b,
        LLVMIntSGT | LLVMIntUGT => a > b,
        LLVMIntSGE | LLVMIntUGE => a >= b,
    }
}

/// What has to be there in front of a part.
#[derive(Default)]
struct Needs<'m> {
    /// Values that are used in it.
    values: Vec<Instruction<'m>>,
    /// Variables of which it has its own, and what it begins with.
    variables: Vec<(Instruction<'m>, Option<Value<'m>>)>,
}

/// Takes such code out of the innermost loop, with these blocks in an iteration. Returns those that are left, and the loops
/// that it makes.
pub fn emit<'m>(
    module: &'m Module,
    turns: &Turns<'m>,
    body: &[Block<'m>],
    known: &Known<'_, 'm>,
) -> (Vec<Block<'m>>, Vec<Turns<'m>>) {
    let (header, steps) = turns.innermost();
    let axis = &turns.axes[turns.axes.len() - 1];
    let mut left = body.to_vec();
    let [first, exit] = header.successors()[..] else {
        return (left, Vec::new());
    };
    let is_known = axis.far.is_some() && axis.first().as_constant_int().is_some();
    let is_debugged = header.function().has_attribute("optnone");
    let is_plain = !is_debugged && body.contains(&first) && exit.phis().next().is_none();
    if !is_known || !is_plain || turns.is_atomic {
        return (left, Vec::new());
    }
    let blocks = body.iter().copied().chain([header, steps]);
    let mut iteration = Iteration {
        axis,
        steps,
        blocks: blocks.collect(),
        known,
        stored: HashSet::new(),
    };
    let parts = iteration.parts(first);
    let mut moved: Vec<(Part<'m>, Needs<'m>)> = Vec::new();
    for part in parts.into_iter().rev() {
        let is_moved = |block: &Block<'m>| moved.iter().any(|(one, _)| one.blocks.contains(block));
        let behind = iteration.reached(part.then, None);
        let mut behind = behind.iter().filter(|block| !is_moved(block));
        let is_last = behind.all(|block| {
            let mut all = block.instructions().into_iter();
            all.all(|one| iteration.is_quiet(one))
        });
        if !is_last {
            break;
        }
        iteration.stored.clone_from(&part.stored);
        let Some(needs) = iteration.needs(&part) else {
            continue;
        };
        moved.push((part, needs));
    }
    let mut next = exit;
    let mut loops = Vec::new();
    for (part, needs) in &moved {
        iteration.stored.clone_from(&part.stored);
        let (before, axis) = iteration.place(module, part, needs, next);
        left.retain(|block| !part.blocks.contains(block));
        next = before;
        loops.extend(axis.map(|(axis, header, steps)| {
            let mut axes = turns.axes.clone();
            axes.pop();
            axes.push(axis);
            Turns {
                loops: vec![(header, steps)],
                axes,
                count: Some(part.count),
                is_atomic: false,
            }
        }));
    }
    header.turn(exit, next);
    (left, loops)
}

impl<'m> Iteration<'_, 'm> {
    fn iterator(&self) -> Value<'m> {
        self.axis.variable()
    }

    /// The blocks of an iteration that control comes to from one of them, without another one.
    fn reached(&self, from: Block<'m>, without: Option<Block<'m>>) -> HashSet<Block<'m>> {
        let is_inside = |block: &Block<'m>| {
            *block != self.steps && self.blocks.contains(block) && Some(*block) != without
        };
        let inside = |mut blocks: Vec<Block<'m>>| {
            blocks.retain(is_inside);
            blocks
        };
        control_flow::reached(inside(vec![from]), |block| inside(block.successors()))
    }

    /// Where all ways from a block come together first.
    fn join(&self, of: Block<'m>) -> Option<Block<'m>> {
        let after: HashSet<_> = of
            .successors()
            .into_iter()
            .flat_map(|next| self.reached(next, None))
            .collect();
        let avoiding = |one: Block<'m>| {
            let next = of.successors().into_iter();
            let others = next.filter(move |next| *next != one);
            others
                .map(|next| (next, self.reached(next, Some(one))))
                .collect::<Vec<_>>()
        };
        let comes_to_end = |ways: &[(Block<'m>, HashSet<Block<'m>>)]| {
            ways.iter().any(|(next, reached)| {
                let mut ends = reached.iter().flat_map(|block| block.successors());
                *next == self.steps || ends.any(|next| next == self.steps)
            })
        };
        let joins: Vec<_> = after
            .into_iter()
            .filter(|one| *one != of && !comes_to_end(&avoiding(*one)))
            .collect();
        let is_first = |one: &Block<'m>| {
            let ways = avoiding(*one);
            let mut others = joins.iter().filter(|other| *other != one);
            others.all(|other| !ways.iter().any(|(_, reached)| reached.contains(other)))
        };
        joins.iter().copied().find(is_first)
    }

    /// What single items do on the way of all of them, in its order.
    fn parts(&mut self, first: Block<'m>) -> Vec<Part<'m>> {
        let mut found = Vec::new();
        let mut block = first;
        let mut seen = HashSet::new();
        while block != self.steps && self.blocks.contains(&block) && seen.insert(block) {
            let stores = block.instructions().into_iter();
            self.stored
                .extend(stores.filter(|one| one.opcode() == Opcode::LLVMStore));
            let end = block.terminator().expect("a complete block");
            let next = block.successors();
            block = match (end.branch_condition(), &next[..]) {
                (None, &[next]) => next,
                (Some(condition), &[yes, no]) => match condition.as_constant_int() {
                    Some(0) => no,
                    Some(_) => yes,
                    None => {
                        let Some(then) = self.join(block) else { break };
                        found.extend(self.part(end, [yes, no], then));
                        then
                    }
                },
                _ => break,
            };
        }
        found
    }

    fn part(
        &self,
        branch: Instruction<'m>,
        [yes, no]: [Block<'m>; 2],
        then: Block<'m>,
    ) -> Option<Part<'m>> {
        let asks = branch.branch_condition()?.as_op(Opcode::LLVMICmp)?;
        let Comparison::Integer(predicate) = asks.comparison()? else {
            return None;
        };
        let (first, is_wanted) = match (yes == then, no == then) {
            (false, true) => (yes, true),
            (true, false) => (no, false),
            _ => return None,
        };
        let [a, b] = [asks.operand(0), asks.operand(1)];
        let (number, limit, is_first) = match (a.as_constant_int(), b.as_constant_int()) {
            (None, Some(limit)) => (a, limit, true),
            (Some(limit), None) => (b, limit, false),
            _ => return None,
        };
        let mut items = self.items()?;
        let is_plain = !is_unsigned(predicate) || limit >= 0 && items.iter().all(|one| *one >= 0);
        if !is_plain || !self.is_iterator(number, 0) {
            return None;
        }
        let holds = |one: i64| match is_first {
            true => holds(predicate, one, limit),
            false => holds(predicate, limit, one),
        };
        let all = items.len();
        let from = items.iter().position(|one| holds(*one) == is_wanted)?;
        items.drain(..from);
        let to = items.iter().position(|one| holds(*one) != is_wanted);
        let rest = items.split_off(to.unwrap_or(items.len()));
        if items.len() == all || rest.iter().any(|one| holds(*one) == is_wanted) {
            return None;
        }
        let blocks = self.reached(first, Some(then));
        let is_entered = |block: &Block<'m>| {
            let before = block.predecessors();
            let is_known =
                |one: &Block<'m>| blocks.contains(one) || *block == first && *one == branch.block();
            before.iter().all(is_known)
        };
        let goes_on = |block: &Block<'m>| {
            let mut next = block.successors().into_iter();
            let end = block.terminator().map(Instruction::opcode);
            let is_branch = end == Some(Opcode::LLVMBr) || end == Some(Opcode::LLVMSwitch);
            is_branch && next.all(|next| next == then || blocks.contains(&next))
        };
        let is_right = !blocks.is_empty()
            && then.phis().next().is_none()
            && blocks
                .iter()
                .all(|block| is_entered(block) && goes_on(block));
        let blocks: Vec<_> = blocks.into_iter().collect();
        is_right.then_some(Part {
            branch,
            item: items[0],
            count: items.len() as i64,
            first,
            blocks,
            then,
            stored: self.stored.clone(),
        })
    }

    /// The values of the iterator, one after the other.
    fn items(&self) -> Option<Vec<i64>> {
        let (first, far) = (self.axis.first().as_constant_int()?, self.axis.far?);
        let step = self.axis.step?.checked_abs().filter(|step| *step > 0)?;
        let count = far.abs() / step + 1;
        let value = |at: i64| first + at * step * far.signum();
        (count <= MOST_ITEMS).then(|| (0..count).map(value).collect())
    }

    /// Whether a value is the iterator.
    fn is_iterator(&self, value: Value<'m>, depth: usize) -> bool {
        let Some(one) = value.as_instruction().filter(|_| depth < DEEPEST) else {
            return false;
        };
        match one.opcode() {
            Opcode::LLVMLoad if one.operand(0) == self.iterator() => {
                one.ty() == self.axis.first().ty()
            }
            Opcode::LLVMLoad => self
                .stored_value(one)
                .is_some_and(|value| self.is_iterator(value, depth + 1)),
            Opcode::LLVMSExt => self.axis.signed && self.is_iterator(one.operand(0), depth + 1),
            Opcode::LLVMZExt => {
                let begin = self.axis.first().as_constant_int();
                let known = begin.zip(self.axis.far);
                let is_positive = known.is_some_and(|(begin, far)| begin.min(begin + far) >= 0);
                is_positive && self.is_iterator(one.operand(0), depth + 1)
            }
            _ => false,
        }
    }

    /// Whether nothing outside of an iteration sees that an instruction runs, or not, and it sees nothing else.
    fn is_quiet(&self, one: Instruction<'m>) -> bool {
        let is_own = |address: Value<'m>| {
            let is_variable = address.as_op(Opcode::LLVMAlloca).is_some();
            is_variable && !self.known.common.contains(&address)
        };
        match one.opcode() {
            Opcode::LLVMBr | Opcode::LLVMSwitch => true,
            Opcode::LLVMLoad => one.is_plain_access() && is_own(one.operand(0)),
            Opcode::LLVMStore => one.is_plain_access() && is_own(one.operand(1)),
            _ => is_harmless(one) || one.only_computes(),
        }
    }

    /// What is stored in a variable that each item comes to once, in front of a load.
    fn stored_value(&self, load: Instruction<'m>) -> Option<Value<'m>> {
        let address = load.operand(0);
        let variable = address.as_op(Opcode::LLVMAlloca)?;
        let uses = uses(variable);
        let mut writes = uses.iter().filter(|(_, does)| *does != Does::Read);
        let (Some(&(store, Does::Write)), None) = (writes.next(), writes.next()) else {
            return None;
        };
        let is_it = store.opcode() == Opcode::LLVMStore
            && store.operand(1) == address
            && store.operand(0).ty() == (*load).ty()
            && self.stored.contains(&store);
        let mut all = load.block().instructions().into_iter();
        let is_behind = store.block() == load.block()
            && all.find(|one| *one == store || *one == load) == Some(load);
        let is_plain = load.is_plain_access() && !self.known.common.contains(&address);
        (is_it && is_plain && !is_behind).then(|| store.operand(0))
    }

    /// Whether a variable is not written while the loop runs.
    fn stays(&self, variable: Instruction<'m>) -> bool {
        uses(variable).iter().all(|(one, does)| match does {
            Does::Read => true,
            Does::Write => !self.blocks.contains(&one.block()),
            Does::Unknown => false,
        })
    }

    /// Whether a value of the iteration can be computed again behind the loop, when the iterator is that item's.
    fn can_compute(&self, value: Value<'m>, depth: usize) -> bool {
        if let Some(variable) = value.as_op(Opcode::LLVMAlloca) {
            // What other items write is not that item's any more.
            return self.known.common.contains(&value) || self.stays(variable);
        }
        let inside = value.as_instruction();
        let Some(one) = inside.filter(|one| self.blocks.contains(&one.block())) else {
            return true;
        };
        if depth > DEEPEST {
            return false;
        }
        if one.opcode() != Opcode::LLVMLoad {
            let mut operands = one.operands().into_iter();
            return cannot_fail(one) && operands.all(|one| self.can_compute(one, depth + 1));
        }
        let address = one.operand(0);
        let Some(variable) = address.as_op(Opcode::LLVMAlloca) else {
            return false;
        };
        let is_plain = one.is_plain_access() && !self.known.common.contains(&address);
        let is_known = address == self.iterator() || self.stays(variable);
        let stored = || self.stored_value(one);
        is_plain && (is_known || stored().is_some_and(|value| self.can_compute(value, depth + 1)))
    }

    /// Whether it is known that an access is to a variable, or to what is there behind the loop as it is in it.
    fn is_to_known(&self, one: Instruction<'m>) -> bool {
        let address = one.address().filter(|_| one.is_plain_access());
        address.is_some_and(|address| {
            let (base, _) = address.base_and_offset(self.known.module);
            let is_variable = base.as_op(Opcode::LLVMAlloca).is_some();
            is_variable || self.known.is_common(address, &mut HashSet::new())
        })
    }

    /// What has to be there for a part behind the loop; none where that cannot be.
    fn needs(&self, part: &Part<'m>) -> Option<Needs<'m>> {
        let has = |one: &Instruction<'m>| part.blocks.contains(&one.block());
        let mut needs = Needs::default();
        let all = part.blocks.iter().flat_map(|block| block.instructions());
        let mut seen = HashSet::new();
        for one in all {
            let is_right = match one.opcode() {
                Opcode::LLVMBr | Opcode::LLVMSwitch => true,
                Opcode::LLVMLoad | Opcode::LLVMStore => self.is_to_known(one),
                _ => is_harmless(one) || one.only_computes() || one.opcode() == Opcode::LLVMPHI,
            };
            if !is_right || !one.instruction_users().iter().all(has) {
                return None;
            }
            for operand in one.operands() {
                let Some(of) = operand.as_instruction().filter(|of| seen.insert(*of)) else {
                    continue;
                };
                if of.opcode() == Opcode::LLVMAlloca {
                    self.variable(of, part, &mut needs)?;
                } else if self.blocks.contains(&of.block()) && !has(&of) {
                    self.can_compute(operand, 0).then_some(())?;
                    needs.values.push(of);
                }
            }
        }
        Some(needs)
    }

    /// Looks at a variable that a part uses.
    fn variable(
        &self,
        variable: Instruction<'m>,
        part: &Part<'m>,
        needs: &mut Needs<'m>,
    ) -> Option<()> {
        if self.known.common.contains(&*variable) || *variable == self.iterator() {
            // Nobody else gives the iterator another value.
            let users = variable.instruction_users().into_iter();
            let mut users = users.filter(|one| part.blocks.contains(&one.block()));
            let only_reads = *variable != self.iterator()
                || users.all(|one| one.opcode() == Opcode::LLVMLoad || is_harmless(one));
            return only_reads.then_some(());
        }
        let users = variable.instruction_users();
        let is_outside = |one: &&Instruction<'m>| !part.blocks.contains(&one.block());
        let mut outside = users.iter().filter(is_outside);
        if outside.clone().all(|one| is_harmless(*one)) {
            if outside.next().is_some() {
                needs.variables.push((variable, None));
            }
            return Some(());
        }
        if self.stays(variable) {
            return Some(());
        }
        let mut inside = users.iter().filter(|one| !is_outside(one));
        let load = inside
            .clone()
            .find(|one| one.opcode() == Opcode::LLVMLoad)?;
        let value = self.stored_value(*load)?;
        let only_reads = inside.all(|one| {
            let reads = one.opcode() == Opcode::LLVMLoad && (**one).ty() == value.ty();
            reads && one.is_plain_access() || is_harmless(*one)
        });
        if !only_reads || !self.can_compute(value, 0) {
            return None;
        }
        needs.variables.push((variable, Some(value)));
        Some(())
    }

    /// Moves a part out of the loop, to where it goes on in a block. Returns where it begins, and the loop over its items,
    /// where there are several.
    fn place(
        &self,
        module: &'m Module,
        part: &Part<'m>,
        needs: &Needs<'m>,
        next: Block<'m>,
    ) -> (Block<'m>, Option<Loop<'m>>) {
        let kernel = part.first.function();
        let begins = kernel.append_block(module);
        let at = |block| Builder::at_end_like(module, block, part.branch);
        let mut builder = at(begins);
        let iterator = self.iterator();
        let ty = self.axis.first().ty();
        let item = |number: i64| ty.integer_constant(number);
        builder.store(item(part.item), iterator);
        let step = self.axis.step.unwrap_or(0).abs() * self.axis.far.unwrap_or(0).signum();
        let (mut then, mut own_loop) = (next, None);
        if part.count > 1 {
            let first = begins.instructions()[0];
            let [header, body, steps] = [(); 3].map(|()| kernel.append_block(module));
            builder.go(header);
            builder = at(header);
            // Steps come to what follows the last one.
            let end = item(part.item.wrapping_add(step.wrapping_mul(part.count)));
            let is_one = builder.compare(builder.load(ty, iterator), end, true);
            builder.go_if(is_one, body, next);
            builder = at(steps);
            let value = builder.sum(builder.load(ty, iterator), item(step));
            builder.store(value, iterator);
            builder.go(header);
            builder = at(body);
            then = steps;
            let axis = Axis {
                begins: first,
                far: Some(step * (part.count - 1)),
                ..self.axis.clone()
            };
            own_loop = Some((axis, header, steps));
        }
        let mut copies = HashMap::new();
        let is_inside = |user: Value<'m>| {
            let user = user.as_instruction();
            user.is_some_and(|user| part.blocks.contains(&user.block()))
        };
        for &value in &needs.values {
            let copy = self.compute(*value, &builder, &mut copies);
            value.replace_uses_if(copy, |one| is_inside(one.user()));
        }
        for &(variable, value) in &needs.variables {
            let ty = variable.allocated_type().expect("a variable");
            let entry = Builder::at_entry(module, kernel);
            let own = entry.alloca(ty, variable.stack_alignment());
            if let Some(value) = value {
                let value = self.compute(value, &builder, &mut copies);
                builder.store(value, own);
            }
            for user in variable.instruction_users() {
                if is_inside(*user) && is_harmless(user) {
                    user.erase();
                }
            }
            variable.replace_uses_if(own, |one| is_inside(one.user()));
        }
        builder.go(part.first);
        for block in &part.blocks {
            block.turn(part.then, then);
        }
        let builder = Builder::before(module, part.branch);
        builder.go(part.then);
        part.branch.erase();
        (begins, own_loop)
    }

    /// A value of an iteration, computed again.
    fn compute(
        &self,
        value: Value<'m>,
        builder: &Builder<'m>,
        copies: &mut HashMap<Value<'m>, Value<'m>>,
    ) -> Value<'m> {
        let inside = value.as_instruction();
        let Some(one) = inside.filter(|one| self.blocks.contains(&one.block())) else {
            return value;
        };
        if let Some(&copy) = copies.get(&value) {
            return copy;
        }
        let stored = match one.opcode() {
            Opcode::LLVMLoad => self.stored_value(one),
            _ => None,
        };
        let copy = match stored {
            Some(stored) => self.compute(stored, builder, copies),
            None => {
                let operands = one.operands().into_iter();
                let operands: Vec<_> = operands
                    .map(|one| self.compute(one, builder, copies))
                    .collect();
                builder.copy_of(one, &operands)
            }
        };
        copies.insert(value, copy);
        copy
    }
}
