//! What the last iteration of a loop leaves in variables for what comes behind it: as `lastprivate` of OpenMP says, or as a variable
//! that is declared in front of the loop has it anyway.
//!
//! Guarantee: where each iteration gives a variable a value before it reads it, and something behind the loop reads that, iterations
//! have a variable of their own, and the last one puts it where it was. How it knows that it is the last one is a condition that
//! tells iterations at borders from others, by which loops are split.

use std::collections::{HashMap, HashSet};

use super::super::regions::is_kept_to_itself;
use super::super::written::Choice;
use super::{Asking, borders};
use crate::analysis::variables::is_harmless;
use crate::ir::{Chain, Counter, Nest, Strip};
use crate::llvm::{Block, Builder, Comparison, Instruction, IntPredicate, Module, Opcode, Value};

/// What is done in a nest.
pub struct Last<'m> {
    /// The condition.
    pub strip: Strip<'m>,
    /// What the last iteration stores.
    pub stores: Vec<Instruction<'m>>,
}

/// Has iterations of a nest have variables of their own in place of those of which the last value is read.
pub fn keep<'m>(
    module: &'m Module,
    chain: &Chain<'m>,
    nest: &Nest<'m>,
    choice: Option<&mut Choice<'m>>,
) -> Option<Last<'m>> {
    // Each thread of a team that shares the loop has what its own last iteration has left.
    let openmp = nest.said.openmp.as_ref();
    if openmp.is_some_and(|said| said.is_shared) {
        return None;
    }
    let counters = nest.loops.iter().map(|one| one.counter.as_ref());
    let counters: Vec<&Counter<'m>> = counters.collect::<Option<_>>()?;
    let innermost = *counters.last()?;
    let steps = innermost.steps.block();
    let body = Body {
        first: innermost.body,
        steps,
        blocks: { innermost.blocks.iter().copied() }
            .filter(|block| *block != innermost.decides.block() && *block != steps)
            .collect(),
    };
    if steps.phis().next().is_some() || !body.blocks.contains(&body.first) {
        return None;
    }
    let entry = chain.site.instruction().function().blocks()[0].instructions();
    let variables = entry.into_iter().filter(|one| body.is_left(*one, nest));
    let variables: Vec<_> = variables.collect();
    if variables.is_empty() {
        return None;
    }
    let (inside, before) = match &choice {
        Some(choice) => (choice.marked.clone(), choice.call),
        None => (blocks_of(chain), chain.site),
    };
    let mut asking = Asking {
        inside: &inside,
        before,
        known: HashMap::new(),
        steps: 0,
    };
    let value = is_last(module, &counters, &mut asking)?;
    asking.known.clear();
    asking.steps = 0;
    let strip = borders::strip(module, nest, value, asking)?;

    let function = steps.function();
    let [asks, stores] = [(); 2].map(|()| function.append_block(module));
    for before in steps.predecessors() {
        before.turn(steps, asks);
    }
    let builder = Builder::at_end_like(module, asks, innermost.decides);
    let is_last = builder.compare(value, module.const_i64(0), true);
    builder.go_if(is_last, stores, steps);
    let builder = Builder::at_end_like(module, stores, innermost.decides);
    let mut all = Vec::new();
    for variable in variables {
        let ty = variable.allocated_type().expect("a stack variable");
        let own = Builder::at_entry(module, function).alloca(ty, variable.stack_alignment());
        variable.replace_uses_if(own, |one| {
            let user = one.user().as_instruction();
            user.is_some_and(|user| body.blocks.contains(&user.block()))
        });
        builder.store(builder.load(ty, own), *variable);
        all.extend(stores.instructions().last());
    }
    builder.go(steps);
    if let Some(choice) = choice {
        choice.marked.extend([asks, stores]);
    }
    Some(Last { strip, stores: all })
}

/// Blocks of a chain, but for that in which it begins.
fn blocks_of<'m>(chain: &Chain<'m>) -> HashSet<Block<'m>> {
    let [first, end] = [chain.site, chain.end].map(|one| one.instruction().block());
    let mut all = HashSet::from([end]);
    let mut rest = first.successors();
    while let Some(block) = rest.pop() {
        if all.insert(block) {
            rest.extend(block.successors());
        }
    }
    all
}

/// Other than 0 in the last iteration, of all loops of a nest.
fn is_last<'m>(
    module: &'m Module,
    counters: &[&Counter<'m>],
    asking: &mut Asking<'_, 'm>,
) -> Option<Value<'m>> {
    for one in counters.iter().map(|one| &one.counting) {
        asking.steps = 0;
        asking.find(one.end)?;
        let is_load = |value: Value<'m>| value.as_op(Opcode::LLVMLoad).is_some();
        let is_cast = || one.compared.as_instruction().map(|one| one.operand(0));
        let is_known = is_load(one.compared) || is_cast().is_some_and(is_load);
        (is_known && one.compared.ty() == one.end.ty()).then_some(())?;
    }
    let front = Builder::before(module, asking.before.instruction());
    let body = counters.last()?.body.first_insertion_point()?;
    let builder = Builder::before(module, body);
    let mut all = None;
    for one in counters {
        let counting = &one.counting;
        let variable = one.begins.operand(1).as_op(Opcode::LLVMAlloca)?;
        let number = builder.load(variable.allocated_type()?, *variable);
        let number = match counting.compared.as_instruction() {
            Some(cast) if cast.opcode() != Opcode::LLVMLoad => {
                builder.cast(cast.opcode(), number, counting.end.ty())
            }
            _ => number,
        };
        let end = asking.copy(counting.end);
        let end = match end.is_constant() {
            true => end,
            false => front.freeze(end),
        };
        // Where that is the number behind all others there is no iteration.
        let last = match counting.is_last {
            true => end,
            false => front.plus(end, -1),
        };
        let asks = match counting.signed {
            true => IntPredicate::LLVMIntSGE,
            false => IntPredicate::LLVMIntUGE,
        };
        let holds = builder.ask(Comparison::Integer(asks), number, last);
        all = Some(all.map_or(holds, |all| builder.and(all, holds)));
    }
    Some(builder.cast(Opcode::LLVMZExt, all?, module.int(64)))
}

/// The code of an iteration.
struct Body<'m> {
    first: Block<'m>,
    /// Where it ends.
    steps: Block<'m>,
    blocks: HashSet<Block<'m>>,
}

impl<'m> Body<'m> {
    /// Whether each iteration gives a variable a value before it reads it, and the last one is read behind the nest.
    fn is_left(&self, variable: Instruction<'m>, nest: &Nest<'m>) -> bool {
        let is_number = |one: Instruction<'m>| {
            let ty = one.allocated_type();
            ty.is_some_and(|ty| ty.is_pointer() || ty.is_floating() || ty.is_integer())
        };
        if variable.opcode() != Opcode::LLVMAlloca || !is_number(variable) {
            return false;
        }
        let ty = variable.allocated_type();
        let is_plain = |one: &Instruction<'m>| match one.opcode() {
            Opcode::LLVMLoad => one.is_plain_access() && Some(one.ty()) == ty,
            Opcode::LLVMStore => one.is_plain_access() && Some(one.operand(0).ty()) == ty,
            _ => false,
        };
        let users = variable.instruction_users();
        let (inside, outside): (Vec<_>, Vec<_>) = users
            .into_iter()
            .partition(|one| self.blocks.contains(&one.block()));
        let outermost = nest.loops.first().and_then(|one| one.counter.as_ref());
        // The loops' own variables.
        let is_around = |one: &Instruction<'m>| {
            outermost.is_none_or(|outermost| {
                *one == outermost.begins || outermost.blocks.contains(&one.block())
            })
        };
        !inside.is_empty()
            && inside.iter().all(is_plain)
            && !outside.iter().any(is_around)
            && is_kept_to_itself(variable)
            && self.is_given(variable)
            && is_read(variable, nest.end.instruction())
    }

    /// Whether each iteration writes a variable, and does not read it before.
    fn is_given(&self, variable: Instruction<'m>) -> bool {
        let first = (self.first, None);
        walk(variable, first, |block, used| match used {
            Some(one) => one.opcode() == Opcode::LLVMStore,
            None => block != self.steps && self.blocks.contains(&block),
        })
    }
}

/// Whether a variable may be read behind an instruction, as that leaves it.
fn is_read<'m>(variable: Instruction<'m>, behind: Instruction<'m>) -> bool {
    let first = (behind.block(), Some(behind));
    !walk(variable, first, |_, used| {
        used.is_none_or(|one| one.opcode() == Opcode::LLVMStore)
    })
}

/// On all ways from a block on, behind an instruction in it, if so said: whether something is right of the first use of a variable,
/// where there is one, and of each block in front of that without one.
fn walk<'m>(
    variable: Instruction<'m>,
    (block, behind): (Block<'m>, Option<Instruction<'m>>),
    is_right: impl Fn(Block<'m>, Option<Instruction<'m>>) -> bool,
) -> bool {
    let mut rest = vec![(block, behind)];
    let mut seen = HashSet::new();
    while let Some((block, behind)) = rest.pop() {
        let all = block.instructions().into_iter();
        let mut all = all.skip_while(|one| behind.is_some_and(|behind| *one != behind));
        let used = all.find(|one| one.operands().contains(&*variable) && !is_harmless(*one));
        if !is_right(block, used) {
            return false;
        }
        if used.is_none() {
            let next = block.successors().into_iter();
            let next = next.filter(|next| seen.insert(*next));
            rest.extend(next.map(|next| (next, None)));
        }
    }
    true
}
