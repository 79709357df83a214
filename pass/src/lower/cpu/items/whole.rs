//! Blocks whose work items all do the same: where conditions such as `if (i < n)` hold for all items of a block, as they do
//! but at the border, a version of its code runs in which they are not asked.
//!
//! What is left counts to constants then, and LLVM can write it out and keep what is shared in registers. Whether the
//! conditions hold is asked once in front of a block: on their way from the beginning of an iteration all work items come to
//! the first of them, where any does, and to the next ones where those before hold. Each compares numbers that grow or fall
//! with the iterators, and do not overflow where an item comes to them, so that those of the first or the last item decide.
//! Which version runs makes no difference where control does not come to a condition at all.

use std::collections::{HashMap, HashSet};

use super::guards::leads_only_to;
use super::split::Turns;
use crate::analysis::meeting::cannot_fail;
use crate::analysis::variables::{Does, uses};
use crate::llvm::{
    Block, Builder, Comparison, Function, Instruction, IntPredicate, Module, NaturalLoop, Opcode,
    Value,
};

/// Instructions of a block, as the compiler writes them first; there is no second version of what is larger.
const MOST_INSTRUCTIONS: usize = 1000;
/// Computations that are followed.
const DEEPEST: usize = 24;

/// A loop over blocks of work items, the innermost one: its first block, that in which it steps, and where its body begins.
#[derive(Clone, Copy)]
pub struct Over<'m> {
    pub header: Block<'m>,
    pub steps: Block<'m>,
    pub body: Block<'m>,
}

/// A condition that is to hold for all items, and the numbers that decide whether it does.
struct Condition<'m> {
    branch: Instruction<'m>,
    is_wanted: bool,
    asks: Instruction<'m>,
    numbers: [Number<'m>; 2],
}

/// A number that is computed in front of a block.
#[derive(Clone)]
enum Number<'m> {
    /// It is there.
    Known(Value<'m>),
    /// As an instruction computes it, or loads it.
    As(Instruction<'m>, Vec<Number<'m>>),
    /// So far behind another one.
    Behind(Box<Number<'m>>, i64),
}

/// Code of a block.
struct Code<'a, 'm> {
    kernel: Function<'m>,
    begins: Block<'m>,
    blocks: HashSet<Block<'m>>,
    /// The loops in it.
    loops: Vec<&'a NaturalLoop<'m>>,
    /// What runs more than once in a block.
    repeated: HashSet<Block<'m>>,
    common: &'a HashSet<Value<'m>>,
}

/// The way of a work item.
struct Way<'a, 'm> {
    code: &'a Code<'a, 'm>,
    turns: &'a Turns<'m>,
    /// Stores so far.
    stored: HashSet<Instruction<'m>>,
    /// Whether numbers are compared that have a sign.
    signed: bool,
}

/// Makes a version for whole blocks, where that is of use. Returns the loops over items in it; variables of blocks in it are
/// added to those that are in `common`.
pub fn emit<'m>(
    module: &'m Module,
    over: Over<'m>,
    turns: &[Turns<'m>],
    common: &mut HashSet<Value<'m>>,
) -> Vec<Turns<'m>> {
    let kernel = over.header.function();
    let is_small = ["optnone", "optsize", "minsize"];
    if is_small.iter().any(|name| kernel.has_attribute(name)) {
        return Vec::new();
    }
    let natural = kernel.loops();
    let Some(all) = natural.iter().find(|one| one.header == over.header) else {
        return Vec::new();
    };
    let ends = [over.header, over.steps];
    let blocks = all.blocks.iter().copied();
    let blocks: Vec<_> = blocks.filter(|block| !ends.contains(block)).collect();
    let size: usize = blocks.iter().map(|one| one.instructions().len()).sum();
    if size > MOST_INSTRUCTIONS || !can_be_copied(&blocks) {
        return Vec::new();
    }
    let code = Code::of(kernel, over.body, &blocks, &natural, common);
    let turns = turns.iter();
    let turns: Vec<_> = turns
        .filter(|one| blocks.contains(&one.innermost().0))
        .collect();
    let conditions = turns.iter().flat_map(|turns| code.conditions(turns));
    let conditions: Vec<_> = conditions.collect();
    if conditions.is_empty() {
        return Vec::new();
    }

    let first = over.body.first_insertion_point();
    let first = first.expect("a complete block").split_before();
    let blocks: Vec<_> = blocks
        .into_iter()
        .map(|block| if block == over.body { first } else { block })
        .collect();
    let copies = Block::copies(&blocks);
    // Arrays that a block itself gets memory for.
    let all = |blocks: &[Block<'m>]| -> Vec<Instruction<'m>> {
        let blocks = blocks.iter();
        blocks.flat_map(|block| block.instructions()).collect()
    };
    let pairs = all(&blocks).into_iter().zip(all(&copies));
    let pairs: Vec<_> = pairs.filter(|(one, _)| common.contains(&**one)).collect();
    common.extend(pairs.into_iter().map(|(_, copy)| *copy));
    let copy_of: HashMap<_, _> = blocks.iter().copied().zip(copies.iter().copied()).collect();
    let jump = over.body.terminator().expect("a complete block");
    let builder = Builder::before(module, jump);
    let no = module.int(1).zero();
    let mut holds: Option<Value<'m>> = None;
    for one in &conditions {
        // One that no item comes to says nothing of the others, also where it overflows.
        let one = builder.freeze(one.emit(&builder));
        holds = Some(match holds {
            None => one,
            Some(before) => builder.select(before, one, no),
        });
    }
    let holds = holds.expect("there are some");
    builder.go_if(holds, copy_of[&first], first);
    jump.erase();
    for one in &conditions {
        let copy = copy_of[&one.branch.block()].terminator();
        let copy = copy.expect("a complete block");
        copy.always_branch(module, one.is_wanted);
    }
    own_variables(module, kernel, &blocks, &copies, common);
    turns.into_iter().map(|one| one.copied(&copy_of)).collect()
}

/// Whether there may be other ones of blocks, which go to the same others.
fn can_be_copied(blocks: &[Block<'_>]) -> bool {
    let is_left_with_value = |block: &Block<'_>| {
        let mut next = block.successors().into_iter();
        next.any(|next| !blocks.contains(&next) && next.phis().next().is_some())
    };
    let is_own = |one: &Instruction<'_>| {
        let call = one.as_call();
        let is_assembly = call.is_some_and(|call| call.callee().as_inline_assembly().is_some());
        let stays = ["noduplicate", "convergent"];
        let stays = call.is_some_and(|call| {
            let callee = call.callee_function();
            callee.is_some_and(|callee| stays.iter().any(|one| callee.has_attribute(one)))
        });
        let is_branch = [Opcode::LLVMIndirectBr, Opcode::LLVMCallBr].contains(&one.opcode());
        // A value that is used elsewhere would be one of two.
        let mut users = one.instruction_users().into_iter();
        let is_used = users.any(|user| !blocks.contains(&user.block()));
        is_assembly || stays || is_branch || is_used
    };
    let has_label = |block: &Block<'_>| {
        let mut users = block.label().users().into_iter();
        users.any(|user| user.as_instruction().is_none())
    };
    !blocks.iter().any(|block| {
        is_left_with_value(block) || has_label(block) || block.instructions().iter().any(is_own)
    })
}

/// Gives copies variables of their own, of those that nothing but the copied blocks uses.
fn own_variables<'m>(
    module: &'m Module,
    kernel: Function<'m>,
    blocks: &[Block<'m>],
    copies: &[Block<'m>],
    common: &mut HashSet<Value<'m>>,
) {
    let entry = kernel.blocks()[0].instructions().into_iter();
    let variables = entry.filter(|one| one.opcode() == Opcode::LLVMAlloca);
    for variable in variables.collect::<Vec<_>>() {
        let is_fixed = variable.operand(0).as_constant_int() == Some(1);
        let users = variable.instruction_users();
        let is_known = |user: &Instruction<'m>| {
            let block = user.block();
            blocks.contains(&block) || copies.contains(&block)
        };
        if users.is_empty() || !is_fixed || !users.iter().all(is_known) {
            continue;
        }
        let Some(ty) = variable.allocated_type() else {
            continue;
        };
        let entry = Builder::at_entry(module, kernel);
        let own = entry.alloca(ty, variable.stack_alignment());
        variable.replace_uses_if(own, |one| {
            let user = one.user().as_instruction();
            user.is_some_and(|user| copies.contains(&user.block()))
        });
        if common.contains(&*variable) {
            common.insert(own);
        }
    }
}

impl<'m> Condition<'m> {
    /// Whether it holds for all items.
    fn emit(&self, builder: &Builder<'m>) -> Value<'m> {
        let [a, b] = self.numbers.each_ref().map(|one| one.emit(builder));
        let holds = builder.copy_of(self.asks, &[a, b]);
        let [yes, no] = [1, 0].map(|bit| builder.module().int(1).integer_constant(bit));
        match self.is_wanted {
            true => holds,
            false => builder.select(holds, no, yes),
        }
    }
}

impl<'m> Number<'m> {
    fn emit(&self, builder: &Builder<'m>) -> Value<'m> {
        match self {
            Number::Known(value) => *value,
            Number::As(one, operands) => {
                let operands = operands.iter().map(|one| one.emit(builder));
                builder.copy_of(*one, &operands.collect::<Vec<_>>())
            }
            Number::Behind(number, by) => {
                let number = number.emit(builder);
                builder.sum(number, number.ty().integer_constant(*by))
            }
        }
    }

    /// Whether the program has it as it is written.
    fn is_constant(&self) -> bool {
        match self {
            Number::Known(value) => value.is_constant(),
            Number::As(_, operands) => {
                !operands.is_empty() && operands.iter().all(Number::is_constant)
            }
            Number::Behind(number, _) => number.is_constant(),
        }
    }
}

impl<'a, 'm> Code<'a, 'm> {
    fn of(
        kernel: Function<'m>,
        begins: Block<'m>,
        blocks: &[Block<'m>],
        natural: &'a [NaturalLoop<'m>],
        common: &'a HashSet<Value<'m>>,
    ) -> Self {
        let inside = natural.iter().filter(|one| blocks.contains(&one.header));
        let loops: Vec<_> = inside.collect();
        let repeated = loops.iter().flat_map(|one| one.blocks.iter().copied());
        Self {
            kernel,
            begins,
            blocks: blocks.iter().copied().collect(),
            repeated: repeated.collect(),
            loops,
            common,
        }
    }

    /// The conditions that work items of a loop over them come to as long as they hold.
    fn conditions(&self, turns: &Turns<'m>) -> Vec<Condition<'m>> {
        let (header, steps) = turns.innermost();
        let [mut block, _] = header.successors()[..] else {
            return Vec::new();
        };
        if !self.is_whole(turns) {
            return Vec::new();
        }
        let mut way = Way {
            code: self,
            turns,
            stored: HashSet::new(),
            signed: true,
        };
        let mut found: Vec<Condition<'m>> = Vec::new();
        let mut seen = HashSet::new();
        while block != steps && self.blocks.contains(&block) && seen.insert(block) {
            let all = block.instructions();
            if all.iter().any(|one| may_end(*one)) {
                break;
            }
            let stores = all.into_iter();
            way.stored
                .extend(stores.filter(|one| one.opcode() == Opcode::LLVMStore));
            let end = block.terminator().expect("a complete block");
            let next = block.successors();
            block = match (end.branch_condition(), &next[..]) {
                (None, &[next]) if end.opcode() == Opcode::LLVMBr => next,
                (Some(_), &[yes, no]) => match way.condition(end, [yes, no], steps) {
                    Some(one) => {
                        let next = if one.is_wanted { yes } else { no };
                        found.push(one);
                        next
                    }
                    None => break,
                },
                _ => break,
            };
        }
        found
    }

    /// Whether a store is sure to come before a load of a block.
    fn is_before(&self, store: Instruction<'m>, load: Instruction<'m>) -> bool {
        let (avoided, at) = (store.block(), load.block());
        if avoided == at {
            return stands_before(store, load);
        }
        if avoided == self.begins {
            return true;
        }
        !self.leads(vec![self.begins], at, avoided)
    }

    /// Whether all items there are come to where an iteration of the innermost loop over them begins: then those do whose
    /// iterators are the first and the last ones.
    fn is_whole(&self, turns: &Turns<'m>) -> bool {
        let (header, _) = turns.innermost();
        let outside = turns.axes[0].begins.block();
        let around = self.loops.iter().filter(|one| {
            let has = |block| one.blocks.contains(block);
            one.header != header && has(&header) && !has(&outside)
        });
        let mut around = around.copied();
        around.all(|one| {
            let next = one.header.successors().into_iter();
            let next = next.filter(|next| *next != header && one.blocks.contains(next));
            let code = one.blocks.iter().flat_map(|block| block.instructions());
            let inner = self.loops.iter().find(|one| one.header == header);
            let is_between = |at: &Instruction<'m>| {
                inner.is_some_and(|inner| !inner.blocks.contains(&at.block()))
            };
            !self.leads(next.collect(), one.header, header) && !code.filter(is_between).any(may_end)
        })
    }

    /// Whether control may come from one of some blocks to another one, and not through a third one.
    fn leads(&self, from: Vec<Block<'m>>, to: Block<'m>, without: Block<'m>) -> bool {
        let mut seen: HashSet<_> = from.iter().copied().collect();
        let mut rest = from;
        while let Some(block) = rest.pop() {
            if block == to {
                return true;
            }
            let next = block.successors().into_iter();
            let next = next.filter(|next| *next != without && self.blocks.contains(next));
            rest.extend(next.filter(|next| seen.insert(*next)));
        }
        false
    }
}

/// Whether an item may end the program there, and come to nothing of what follows.
fn may_end(one: Instruction<'_>) -> bool {
    let call = one.as_call();
    call.is_some_and(|call| !call.callee_name().starts_with("llvm.") && !one.only_computes())
}

/// Whether an instruction stands before another one of its block.
fn stands_before<'m>(one: Instruction<'m>, other: Instruction<'m>) -> bool {
    let mut all = one.block().instructions().into_iter();
    all.find(|at| *at == one || *at == other) == Some(one)
}

impl<'m> Way<'_, 'm> {
    fn condition(
        &mut self,
        branch: Instruction<'m>,
        [yes, no]: [Block<'m>; 2],
        steps: Block<'m>,
    ) -> Option<Condition<'m>> {
        use IntPredicate::*;
        let asks = branch.branch_condition()?.as_op(Opcode::LLVMICmp)?;
        let Comparison::Integer(predicate) = asks.comparison()? else {
            return None;
        };
        let (is_below, signed) = match predicate {
            LLVMIntSLT | LLVMIntSLE => (true, true),
            LLVMIntSGT | LLVMIntSGE => (false, true),
            LLVMIntULT | LLVMIntULE => (true, false),
            LLVMIntUGT | LLVMIntUGE => (false, false),
            LLVMIntEQ | LLVMIntNE => return None,
        };
        self.signed = signed;
        let [a, b] = [asks.operand(0), asks.operand(1)];
        let (moves_first, other) = match [a, b].map(|one| self.same(one, 0)) {
            [None, Some(other)] => (true, other),
            [Some(other), None] => (false, other),
            _ => return None,
        };
        let ends = |block| leads_only_to(block, steps);
        let is_wanted = match (ends(yes), ends(no)) {
            (true, false) => false,
            (false, true) => true,
            // A border is at an end that is computed, or at a beginning that is a number.
            _ => (is_below == moves_first) != other.is_constant(),
        };
        // Whether the first number is to be small enough.
        let is_small = is_below == is_wanted;
        let numbers = [self.most(a, is_small, 0)?, self.most(b, !is_small, 0)?];
        let is_known = numbers.iter().all(Number::is_constant);
        (!is_known).then_some(Condition {
            branch,
            is_wanted,
            asks,
            numbers,
        })
    }

    /// A number that is the same for all items of a block, and can be computed in front of it.
    fn same(&self, value: Value<'m>, depth: usize) -> Option<Number<'m>> {
        let code = self.code;
        let inside = value.as_instruction();
        let Some(one) = inside.filter(|one| code.blocks.contains(&one.block())) else {
            return Some(Number::Known(value));
        };
        if depth > DEEPEST {
            return None;
        }
        if one.opcode() != Opcode::LLVMLoad {
            let operands = one.operands().into_iter();
            let operands = operands.map(|one| self.same(one, depth + 1));
            let operands = operands.collect::<Option<Vec<_>>>()?;
            return cannot_fail(one).then_some(Number::As(one, operands));
        }
        let variable = self.own_variable(one)?;
        let uses = uses(variable);
        if uses.iter().any(|(_, does)| *does == Does::Unknown) {
            return None;
        }
        let writes = uses.iter().filter(|(_, does)| *does == Does::Write);
        let mut writes = writes.map(|(one, _)| *one);
        if !writes.clone().any(|one| code.blocks.contains(&one.block())) {
            return Some(Number::As(one, vec![Number::Known(*variable)]));
        }
        let store = self.only_store(&mut writes, one)?;
        let is_first = !code.repeated.contains(&store.block()) && code.is_before(store, one);
        (is_first || self.is_on_way(store, one)).then(|| self.same(store.operand(0), depth + 1))?
    }

    /// The only one of all writes of a variable, which gives it what a load finds there.
    fn only_store(
        &self,
        writes: &mut dyn Iterator<Item = Instruction<'m>>,
        load: Instruction<'m>,
    ) -> Option<Instruction<'m>> {
        let store = writes.next().filter(|_| writes.next().is_none())?;
        let is_whole = store.opcode() == Opcode::LLVMStore
            && store.operand(1) == load.operand(0)
            && store.operand(0).ty() == (*load).ty();
        is_whole.then_some(store)
    }

    /// Whether a work item comes to a store in front of a load on its way.
    fn is_on_way(&self, store: Instruction<'m>, load: Instruction<'m>) -> bool {
        let is_behind = store.block() == load.block() && !stands_before(store, load);
        self.stored.contains(&store) && !is_behind
    }

    /// What a variable holds of which the compiler knows all.
    fn own_variable(&self, load: Instruction<'m>) -> Option<Instruction<'m>> {
        let address = load.operand(0);
        let is_plain = load.is_plain_access() && !self.code.common.contains(&address);
        let variable = address.as_op(Opcode::LLVMAlloca).filter(|_| is_plain)?;
        let is_whole = variable.allocated_type() == Some((*load).ty());
        let is_here = variable.block() == self.code.kernel.blocks()[0];
        (is_whole && is_here).then_some(variable)
    }

    /// The largest number that a value is for items of a block, or the least one.
    fn most(&self, value: Value<'m>, is_most: bool, depth: usize) -> Option<Number<'m>> {
        if let Some(same) = self.same(value, depth) {
            return Some(same);
        }
        let one = value.as_instruction().filter(|_| depth < DEEPEST)?;
        let of = |at: usize, is_most: bool| self.most(one.operand(at), is_most, depth + 1);
        let as_it_does = |all: Vec<Number<'m>>| Number::As(one, all);
        let keeps = one.keeps_number(self.signed);
        let all = match one.opcode() {
            Opcode::LLVMLoad => return self.most_of_variable(one, is_most, depth),
            Opcode::LLVMSExt if self.signed => vec![of(0, is_most)?],
            Opcode::LLVMZExt if !self.signed => vec![of(0, is_most)?],
            Opcode::LLVMTrunc if keeps => vec![of(0, is_most)?],
            Opcode::LLVMAdd if keeps => vec![of(0, is_most)?, of(1, is_most)?],
            Opcode::LLVMSub if keeps => vec![of(0, is_most)?, of(1, !is_most)?],
            Opcode::LLVMMul if keeps => {
                let is_factor = |at: usize| {
                    let by = one.operand(at).as_constant_int();
                    by.is_some_and(|by| by >= 0)
                };
                if !is_factor(0) && !is_factor(1) {
                    return None;
                }
                vec![of(0, is_most)?, of(1, is_most)?]
            }
            _ => return None,
        };
        Some(as_it_does(all))
    }

    fn most_of_variable(
        &self,
        load: Instruction<'m>,
        is_most: bool,
        depth: usize,
    ) -> Option<Number<'m>> {
        let address = load.operand(0);
        let mut axes = self.turns.axes.iter();
        if let Some(axis) = axes.find(|one| one.variable() == address) {
            let far = axis.far?;
            let first = axis.first();
            let is_right = match first.as_constant_int() {
                Some(first) => self.signed || first.min(first + far) >= 0,
                None => self.signed == axis.signed,
            };
            // Some of its bytes do not grow as it does.
            let is_right = is_right && load.is_plain_access() && (*load).ty() == first.ty();
            let by = match is_most {
                true => far.max(0),
                false => far.min(0),
            };
            let first = self.same(first, depth + 1).filter(|_| is_right)?;
            return Some(match by {
                0 => first,
                by => Number::Behind(Box::new(first), by),
            });
        }
        let variable = self.own_variable(load)?;
        let uses = uses(variable);
        let writes = uses.iter().filter(|(_, does)| *does != Does::Read);
        let store = self.only_store(&mut writes.map(|(one, _)| *one), load)?;
        let is_on_way = self.is_on_way(store, load);
        is_on_way.then(|| self.most(store.operand(0), is_most, depth + 1))?
    }
}
