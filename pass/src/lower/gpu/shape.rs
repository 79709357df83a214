//! How many blocks and work items a kernel has, and what of its code which of them run.
//!
//! Guarantee: how often a loop over work items runs is known in front of all blocks, or it is a constant number or none, or
//! its iterations are dealt out by the work items themselves ([`dealt`]). What
//! stands between loops over work items, and each of them runs, nobody else sees; where it reads what they may write, they
//! wait for each other before they go on.

pub mod dealt;

use std::collections::HashSet;

use super::target::GpuTarget;
use crate::analysis::meeting::is_barrier;
use crate::analysis::variables::is_harmless;
use crate::ir::{Counter, LocalKind, ParallelLoop, Space};
use crate::llvm::{Block, Function, Instruction, Module, Opcode, Value};
use crate::lower::cpu::counted::compares_whole;
use crate::lower::cpu::threads::area::Area;
use crate::marks::is_okl_marker;
use dealt::Dealt;

/// What is wrong, and where.
pub type Wrong<'m> = (Instruction<'m>, String);

/// How often the loops of a direction run: work items of a block are as many as the most of them.
pub enum Extent<'m> {
    /// Always so often.
    Constant(i64),
    /// As is computed in front of all blocks.
    Computed(Counter<'m>),
    /// That is found out when the loop begins; so often at most, where the program says that.
    Unknown(Option<i64>),
}

/// The code of the blocks, and how many work items there are.
pub struct Shape<'m> {
    /// The blocks of code that a block of work items runs, the first one first.
    pub code: Vec<Block<'m>>,
    /// All loops over work items.
    pub inner: Vec<Counter<'m>>,
    /// The outermost of each nest.
    pub outermost: Vec<Counter<'m>>,
    /// For the innermost of each nest, the directions that it has no loop of, and others have.
    pub missing: Vec<(Counter<'m>, Vec<usize>)>,
    /// Of the loops of each direction.
    pub extents: [Vec<Extent<'m>>; 3],
    /// How the iterations of each loop over work items are dealt out.
    dealt: Vec<Dealt>,
    /// Whether each of them has a constant number of iterations.
    is_constant: Vec<bool>,
    /// Where all work items read, between their loops, what one of them may write in the next one: in these blocks.
    pub reads: Vec<Block<'m>>,
}

impl<'m> Shape<'m> {
    /// Of a loop over blocks, and the loops that count them.
    pub fn of(
        module: &Module,
        one: &ParallelLoop<'m>,
        grid: &[Counter<'m>],
        targets: &[&'static GpuTarget],
    ) -> Result<Self, Wrong<'m>> {
        let region = one.region().expect("a loop over blocks");
        let site = one.site.instruction();
        let area = Area::of(&grid[0]);
        let innermost = grid.last().expect("it has a loop");
        let code = reached(innermost.body, innermost.steps.block(), &|block| {
            followers(block)
        });
        let mut shape = Self {
            code,
            inner: Vec::new(),
            outermost: Vec::new(),
            missing: Vec::new(),
            extents: [const { Vec::new() }; 3],
            dealt: Vec::new(),
            is_constant: Vec::new(),
            reads: Vec::new(),
        };
        let mut paths: Vec<Vec<Counter<'m>>> = Vec::new();
        for nest in region.loops() {
            let Space::Range(extents) = &nest.space else {
                return Err((
                    nest.site.instruction(),
                    "work items are numbers".to_string(),
                ));
            };
            let path: Vec<_> = extents
                .iter()
                .filter_map(|one| one.counter.clone())
                .collect();
            let last = path.last().expect("it has a loop").decides;
            // The parts of an iteration between barriers have one nest.
            if paths
                .iter()
                .any(|known| known[known.len() - 1].decides == last)
            {
                continue;
            }
            for (extent, counter) in extents.iter().zip(&path) {
                if shape
                    .inner
                    .iter()
                    .any(|known| known.decides == counter.decides)
                {
                    continue;
                }
                counts(counter).map_err(|why| (nest.site.instruction(), why.to_string()))?;
                let constant = extent.last.and_then(Value::as_constant_int);
                let of_it = match constant {
                    Some(last) => Extent::Constant(last + 1),
                    None => {
                        let counting = &counter.counting;
                        let values = [counter.begins.operand(0), counting.end, counting.step];
                        let is_known = values
                            .into_iter()
                            .all(|value| area.can_compute(value, true).is_ok());
                        match is_known {
                            true => Extent::Computed(counter.clone()),
                            false => Extent::Unknown(extent.most),
                        }
                    }
                };
                let is_constant = matches!(of_it, Extent::Constant(_));
                shape.is_constant.push(is_constant);
                shape.extents[counter.axis].push(of_it);
                shape.inner.push(counter.clone());
            }
            let first = &path[0];
            if !shape
                .outermost
                .iter()
                .any(|known| known.decides == first.decides)
            {
                shape.outermost.push(first.clone());
            }
            paths.push(path);
        }
        for path in &paths {
            let is_missing = |axis: &usize| {
                !shape.extents[*axis].is_empty() && !path.iter().any(|one| one.axis == *axis)
            };
            let missing: Vec<_> = (0..3).filter(is_missing).collect();
            let last = path.last().expect("it has a loop").clone();
            shape.missing.push((last, missing));
        }
        shape.barriers_are_met()?;
        shape.deal(region).map_err(|why| (site, why))?;
        for target in targets {
            shape.fits(module, one, target).map_err(|why| (site, why))?;
        }
        let shared: Vec<_> = region
            .locals
            .iter()
            .filter(|one| one.kind == LocalKind::Shared)
            .map(|one| one.variable)
            .collect();
        shape.reads = shape.between_is_private(innermost, &shared)?;
        Ok(shape)
    }

    /// The work items of each direction, where all of these are constants.
    pub fn constant_items(&self) -> Option<[i64; 3]> {
        let mut items = [1; 3];
        for (axis, extents) in self.extents.iter().enumerate() {
            for extent in extents {
                let &Extent::Constant(count) = extent else {
                    return None;
                };
                items[axis] = count.max(items[axis]);
            }
        }
        Some(items)
    }

    fn fits(
        &self,
        module: &Module,
        one: &ParallelLoop<'m>,
        target: &GpuTarget,
    ) -> Result<(), String> {
        if let Some(items) = self.constant_items() {
            let count = items
                .iter()
                .try_fold(1_i64, |all, one| all.checked_mul(*one));
            let most = target.most_items;
            if count.is_none_or(|count| count > most) || items[2] > 64 {
                let [x, y, z] = items;
                return Err(format!(
                    "a block has {x} by {y} by {z} work items, and {} can have {most}, 64 of them in the third direction",
                    target.name
                ));
            }
        }
        let bytes = super::blocks::shared_bytes(module, one);
        match bytes <= target.most_shared {
            true => Ok(()),
            false => Err(format!(
                "the @shared variables of a block have {bytes} bytes, and {} has room for {}",
                target.name, target.most_shared
            )),
        }
    }

    /// Checks that where work items meet inside of a nest it is all of the block that do.
    fn barriers_are_met(&self) -> Result<(), Wrong<'m>> {
        let are_equal = |extents: &Vec<Extent<'m>>| {
            let constants = extents.iter().map(|one| match one {
                Extent::Constant(count) => Some(*count),
                Extent::Computed(_) | Extent::Unknown(_) => None,
            });
            let constants: Option<Vec<_>> = constants.collect();
            let is_same = |all: Vec<i64>| all.iter().all(|one| *one == all[0]);
            let is_unknown = matches!(extents[..], [Extent::Unknown(_)]);
            extents.len() <= 1 && !is_unknown || constants.is_some_and(is_same)
        };
        let is_missing = self.missing.iter().any(|(_, axes)| !axes.is_empty());
        if self.extents.iter().all(are_equal) && !is_missing {
            return Ok(());
        }
        let inside = self.inner.iter().flat_map(|one| &one.blocks);
        let mut barriers = inside
            .flat_map(|block| block.instructions())
            .filter(|one| is_barrier(*one));
        match barriers.next() {
            None => Ok(()),
            Some(at) => Err((
                at,
                "this barrier is in an @inner loop, and others of the block may have another number of work items"
                    .to_string(),
            )),
        }
    }

    /// Checks that what each work item runs that is in none of their loops changes what is its own, and nothing else. In which
    /// blocks it reads anything else.
    fn between_is_private(
        &self,
        grid: &Counter<'m>,
        shared: &[Instruction<'m>],
    ) -> Result<Vec<Block<'m>>, Wrong<'m>> {
        let leaf = |block: Block<'m>| {
            let mut leaves = self.missing.iter().map(|(one, _)| one);
            leaves.find(|one| one.decides.block() == block).cloned()
        };
        let next = |block: Block<'m>| match leaf(block) {
            Some(one) => vec![one.exit],
            None => followers(block),
        };
        let between = reached(grid.body, grid.steps.block(), &next);
        let mut reads = Vec::new();
        for one in between.iter().flat_map(|block| block.instructions()) {
            if !is_private(one, shared, &mut HashSet::new()) {
                let told = "it does more than compute outside of all @inner loops, where each work item would do it";
                return Err((one, told.to_string()));
            }
            if may_read(one) {
                let mut nests = self.outermost.iter();
                if let Some(nest) = nests.find(|nest| nest.decides.block() == one.block()) {
                    // How often it runs is found out in front of it.
                    reads.push(nest.begins.block());
                    continue;
                }
                reads.push(one.block());
                let is_around = |nest: &Counter<'m>| nest.blocks.contains(&one.block());
                if self.outermost.iter().any(is_around) {
                    let told = "it reads memory between two @inner loops, one in the other, where each work item would do it";
                    return Err((one, told.to_string()));
                }
            }
        }
        reads.dedup();
        Ok(reads)
    }

    /// Whether work items come to another loop of theirs behind the outermost one of a nest, in the same block.
    pub fn is_followed(&self, nest: &Counter<'m>, grid: &Counter<'m>) -> bool {
        let behind = reached(nest.exit, grid.steps.block(), &|block| followers(block));
        let mut headers = self.outermost.iter().map(|one| one.decides.block());
        headers.any(|header| behind.contains(&header))
    }
}

/// Where control goes, but for exceptions.
pub fn followers(block: Block<'_>) -> Vec<Block<'_>> {
    let end = block.terminator();
    let targets = end.and_then(|end| end.as_call()?.invoke_targets());
    match targets {
        Some((normal, _)) => vec![normal],
        None => block.successors(),
    }
}

/// The blocks that control comes to from one, which is the first of them, before it comes to another one.
fn reached<'m>(
    from: Block<'m>,
    to: Block<'m>,
    next: &dyn Fn(Block<'m>) -> Vec<Block<'m>>,
) -> Vec<Block<'m>> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([from, to]);
    let mut rest = vec![from];
    rest.retain(|one| *one != to);
    while let Some(block) = rest.pop() {
        found.push(block);
        rest.extend(next(block).into_iter().filter(|next| seen.insert(*next)));
    }
    found
}

/// Checks that it can be computed in front of a loop how often it runs, as it would find out itself.
fn counts<'m>(counter: &Counter<'m>) -> Result<(), &'static str> {
    if !compares_whole(counter) {
        return Err("it compares only a part of its iterator");
    }
    let header = counter.decides.block();
    let is_simple = |one: &Instruction<'m>| one.only_computes() || one.opcode() == Opcode::LLVMBr;
    if !header.instructions().iter().all(is_simple) {
        return Err("its end is computed by a function");
    }
    let steps = counter.steps.block().instructions();
    if !steps
        .iter()
        .all(|one| is_simple(one) || *one == counter.steps)
    {
        return Err("its step is computed by a function");
    }
    if counter.begins.block().successors() != [header] {
        return Err("its first value is computed with a condition");
    }
    let has_value = |block: &Block<'m>| block.phis().next().is_some();
    match [header, counter.body, counter.exit].iter().any(has_value) {
        true => Err("it begins or ends with a value"),
        false => Ok(()),
    }
}

/// Whether an instruction may read memory that others write.
fn may_read(one: Instruction<'_>) -> bool {
    let is_fixed = |address: Value<'_>| {
        let object = address.underlying_object();
        let is_table = object.as_global().is_some_and(|one| one.is_readonly());
        is_table || object.as_op(Opcode::LLVMAlloca).is_some()
    };
    match one.opcode() {
        Opcode::LLVMLoad => !is_fixed(one.operand(0)),
        Opcode::LLVMCall | Opcode::LLVMInvoke => {
            let call = one.as_call().expect("it is one");
            let name = call.callee_name();
            if name.starts_with("llvm.mem") {
                // What is filled is looked at elsewhere.
                let from = call.arguments()[1];
                return from.ty().is_pointer() && !is_fixed(from);
            }
            !is_harmless(one) && !is_okl_marker(&name) && call.accesses_memory()
        }
        _ => false,
    }
}

/// Whether an address leads to a stack variable that nobody shares. Loops that fill arrays come from one element to the next.
fn is_own<'m>(
    address: Value<'m>,
    shared: &[Instruction<'m>],
    above: &mut HashSet<Instruction<'m>>,
) -> bool {
    let Some(object) = address.underlying_object().as_instruction() else {
        return false;
    };
    match object.opcode() {
        Opcode::LLVMAlloca => !shared.contains(&object),
        Opcode::LLVMPHI => {
            !above.insert(object) || {
                let all = object.incoming().into_iter();
                all.map(|(value, _)| value)
                    .all(|value| is_own(value, shared, above))
            }
        }
        _ => false,
    }
}

/// Whether an instruction changes nothing but stack variables that nobody shares.
fn is_private<'m>(
    one: Instruction<'m>,
    shared: &[Instruction<'m>],
    above: &mut HashSet<Function<'m>>,
) -> bool {
    let is_own = |address: Value<'m>| is_own(address, shared, &mut HashSet::new());
    match one.opcode() {
        Opcode::LLVMAlloca
        | Opcode::LLVMPHI
        | Opcode::LLVMBr
        | Opcode::LLVMSwitch
        | Opcode::LLVMRet
        | Opcode::LLVMUnreachable => true,
        Opcode::LLVMStore => one.is_plain_access() && is_own(one.operand(1)),
        Opcode::LLVMCall | Opcode::LLVMInvoke => {
            let call = one.as_call().expect("it is one");
            let name = call.callee_name();
            if is_harmless(one) || is_okl_marker(&name) || one.only_computes() {
                return true;
            }
            if name.starts_with("llvm.mem") {
                return is_own(call.arguments()[0]);
            }
            let Some(callee) = call.callee_function() else {
                return false;
            };
            if callee.is_declaration() {
                return super::math::is_known(&name) || name == "__assert_fail";
            }
            // One that calls itself does what is looked at already.
            !above.insert(callee) || {
                let code = callee.instructions();
                code.into_iter().all(|one| is_private(one, shared, above))
            }
        }
        _ => one.only_computes(),
    }
}
