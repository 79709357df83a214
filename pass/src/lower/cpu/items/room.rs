//! Room for variables of work items where how many a block has is only known when it begins: it is counted in front of the
//! first nest that uses them, and they get memory on the stack, which is given back when the block ends.
//!
//! Guarantee: a block that has more work items than there is room for ends the program, with its line. Where it is not sure
//! that a nest runs, or that what its ends are read from stays as it is, each of its work items looks whether there is room
//! for it.

use std::collections::{BTreeSet, HashSet};

use super::arrays::{ALIGNMENT, Array};
use super::whole::Over;
use super::{Nest, Wrong};
use crate::analysis::variables::{Does, uses};
use crate::diagnostic::place;
use crate::ir::{Counter, ParallelLoop};
use crate::llvm::{
    Block, Builder, Comparison, Function, Instruction, IntPredicate, Linkage, Module, Opcode, Type,
    Value,
};
use crate::lower::cpu::counted::{Copies, compares_whole};

/// Directions of a block of work items.
const AXES: usize = ParallelLoop::MOST_EXTENTS;
/// Bytes on the stack for the variables of all work items of a block.
const MOST_BYTES: u64 = 1 << 20;
/// What no number of work items for which there is room comes to; the product of three such fits into 64 bits.
const TOO_MANY: i64 = 1 << 21;
/// Ends the program: what `assert` calls, with a condition, a file, a line and a function.
const FAILS: &str = "__assert_fail";
/// What is said of variables that have no room when a program is compiled.
const UNKNOWN: &str = "how many work items a block has is not known when the first @inner loop with this variable begins, and each \
     needs its own: compute it before, or say with @max_inner_dims how many there are at most";

/// What is counted in front of the nests of a block, and where.
pub(super) struct Room<'m> {
    /// In front of this.
    at: Instruction<'m>,
    over: Over<'m>,
    /// The blocks of the loop over blocks.
    inside: HashSet<Block<'m>>,
    /// By direction: work items that there are in any case, and loops.
    axes: [(i64, Vec<Count<'m>>); AXES],
    /// Nests whose work items look whether there is room for them.
    checked: HashSet<usize>,
    /// Of all variables of a work item.
    bytes: u64,
    /// What in front of it gives variables values.
    early: HashSet<Instruction<'m>>,
    site: Instruction<'m>,
}

/// A loop whose iterations are counted.
struct Count<'m> {
    counter: Counter<'m>,
    /// Whether it is sure to come to run.
    is_sure: bool,
}

/// Numbers of work items, as they are counted.
pub(super) struct Rooms<'a, 'm> {
    of: &'a Room<'m>,
    /// By direction.
    pub(super) axes: [Value<'m>; AXES],
    /// At least one.
    pub(super) items: Value<'m>,
}

/// Finds out where it can be counted how many work items there are, where arrays need that.
pub(super) fn find<'m>(
    module: &Module,
    over: Over<'m>,
    inside: HashSet<Block<'m>>,
    nests: &[Nest<'m>],
    arrays: &[Array<'m>],
) -> Result<Option<Room<'m>>, Wrong<'m>> {
    let arrays: Vec<_> = arrays.iter().filter(|one| one.is_computed).collect();
    let Some(first) = arrays.first() else {
        return Ok(None);
    };
    let wrong = |site: Instruction<'m>| Err((site, UNKNOWN.to_string()));
    let used: BTreeSet<_> = arrays.iter().flat_map(|one| one.nests()).collect();
    let way = Way {
        over,
        inside: &inside,
    };
    let is_end = |nest: &Nest<'m>| nest.outermost().exit == over.steps;
    let sites: Vec<_> = used
        .iter()
        .map(|&at| nests[at].site.instruction())
        .collect();
    let Some(at) = way.before(&sites).filter(|_| !nests.iter().any(is_end)) else {
        return wrong(first.site);
    };
    let later = way.behind(at);
    let mut axes: [(i64, Vec<Count<'m>>); AXES] = Default::default();
    let mut checked = HashSet::new();
    for nest in used {
        let mut is_sure = !way
            .reached(at.block(), Some(nests[nest].site.instruction().block()))
            .contains(&over.steps);
        let mut is_exact = is_sure;
        for extent in &nests[nest].extents {
            let Some(counter) = &extent.counter else {
                return wrong(first.site);
            };
            let last = extent.last.and_then(|last| last.as_constant_int());
            let (least, counts) = &mut axes[counter.axis];
            if let Some(last) = last.or(extent.most) {
                *least = (*least).max(last.saturating_add(1));
                // There may be less.
                is_sure &= extent.last.is_some() && last >= 0;
                is_exact &= extent.last.is_some();
                continue;
            }
            let of = &arrays.iter().find(|one| one.is_used_in(nest));
            let site = of.map_or(first.site, |one| one.site);
            let counting = &counter.counting;
            let same = |value, is_sure| later.same(value, is_sure);
            let is_same = [
                same(counter.begins.operand(0), is_sure),
                same(counting.end, is_sure),
                same(counting.step, false),
            ];
            if !compares_whole(counter) || is_same.contains(&Same::No) {
                return wrong(site);
            }
            is_exact &= !is_same.contains(&Same::Maybe);
            if !counts.iter().any(|one| one.counter.steps == counter.steps) {
                counts.push(Count {
                    counter: counter.clone(),
                    is_sure,
                });
            }
            // An inner loop may never begin.
            is_sure = false;
        }
        if !is_exact {
            checked.insert(nest);
        }
    }
    let bytes = arrays.iter().map(|one| one.item_bytes(module));
    let bytes = bytes.fold(0, u64::saturating_add);
    if bytes > MOST_BYTES {
        let told = "a variable for each work item of a block does not fit on the stack";
        return Err((first.site, told.to_string()));
    }
    let fills = arrays.iter().flat_map(|one| &one.fills).copied();
    let early = fills.filter(|one| !later.instructions.contains(one));
    Ok(Some(Room {
        early: early.collect(),
        at,
        over,
        axes,
        checked,
        bytes,
        site: first.site,
        inside,
    }))
}

/// The ways through an iteration of the loop over blocks.
struct Way<'a, 'm> {
    over: Over<'m>,
    inside: &'a HashSet<Block<'m>>,
}

/// What runs behind a place in a block.
struct Later<'a, 'm> {
    inside: &'a HashSet<Block<'m>>,
    instructions: HashSet<Instruction<'m>>,
}

/// Whether a value is the same when a loop comes to run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Same {
    No,
    Maybe,
    Yes,
}

impl<'m> Way<'_, 'm> {
    /// Where control may come from a block, itself and the end of the iteration included.
    fn reached(&self, from: Block<'m>, without: Option<Block<'m>>) -> HashSet<Block<'m>> {
        let mut seen = HashSet::new();
        let mut rest = vec![from];
        while let Some(block) = rest.pop() {
            let is_inside = self.inside.contains(&block) && block != self.over.header;
            if is_inside && Some(block) != without && seen.insert(block) && block != self.over.steps
            {
                rest.extend(block.successors());
            }
        }
        seen
    }

    /// The last place that control passes once on every way to all of these, outside of the loops in a block.
    fn before(&self, sites: &[Instruction<'m>]) -> Option<Instruction<'m>> {
        let is_passed = |block: &Block<'m>, to: Block<'m>| {
            *block == to || !self.reached(self.over.body, Some(*block)).contains(&to)
        };
        let mut passed: Vec<_> = self.reached(self.over.body, None).into_iter().collect();
        passed.retain(|block| sites.iter().all(|one| is_passed(block, one.block())));
        let is_last = |block: &&Block<'m>| passed.iter().all(|one| is_passed(one, **block));
        let mut block = *passed.iter().find(is_last)?;
        let loops = self.over.header.function().loops().into_iter();
        let around = loops.filter(|one| {
            one.header != self.over.header
                && self.inside.contains(&one.header)
                && one.blocks.contains(&block)
        });
        if let Some(around) = around.max_by_key(|one| one.blocks.len()) {
            let mut before = around.header.predecessors();
            before.retain(|one| !around.blocks.contains(one));
            let [one] = before[..] else { return None };
            block = one;
        }
        let mut all = block.instructions().into_iter();
        all.find(|one| sites.contains(one))
            .or_else(|| block.terminator())
    }

    fn behind(&self, at: Instruction<'m>) -> Later<'_, 'm> {
        let here = at.block().instructions().into_iter();
        let here = here.skip_while(|one| *one != at);
        let next = at.block().successors().into_iter();
        let blocks: HashSet<_> = next
            .flat_map(|block| self.reached(block, None))
            .filter(|block| *block != self.over.steps)
            .collect();
        let rest = blocks.into_iter().flat_map(|block| block.instructions());
        Later {
            inside: self.inside,
            instructions: here.chain(rest).collect(),
        }
    }
}

impl<'m> Later<'_, 'm> {
    /// Whether a value is the same when it is computed before. `is_sure`: it is computed in any case.
    fn same(&self, value: Value<'m>, is_sure: bool) -> Same {
        let inside = value.as_instruction();
        let Some(one) = inside.filter(|one| self.inside.contains(&one.block())) else {
            return Same::Yes;
        };
        if !one.only_computes() || !self.instructions.contains(&one) {
            return Same::No;
        }
        let divides = [
            Opcode::LLVMUDiv,
            Opcode::LLVMSDiv,
            Opcode::LLVMURem,
            Opcode::LLVMSRem,
        ];
        let divisor = one.operands().get(1).and_then(|by| by.as_constant_int());
        let may_fail =
            divides.contains(&one.opcode()) && divisor.is_none_or(|by| by == 0 || by == -1);
        let read = match one.opcode() {
            Opcode::LLVMLoad => self.same_in(one),
            _ => Same::Yes,
        };
        if read == Same::No || !is_sure && (may_fail || read == Same::Maybe) {
            return Same::No;
        }
        let operands = one.operands().into_iter();
        let all = operands.map(|operand| self.same(operand, is_sure));
        all.fold(read, |all, one| match (all, one) {
            (Same::No, _) | (_, Same::No) => Same::No,
            (Same::Maybe, _) | (_, Same::Maybe) => Same::Maybe,
            _ => Same::Yes,
        })
    }

    /// The same of what a load reads.
    fn same_in(&self, load: Instruction<'m>) -> Same {
        let address = load.operand(0);
        let Some(variable) = address.underlying_object().as_op(Opcode::LLVMAlloca) else {
            return Same::Maybe;
        };
        let uses = uses(variable);
        let changes = |(one, does): &(Instruction<'m>, Does)| {
            *does == Does::Write && self.instructions.contains(one)
        };
        if uses.iter().any(changes) {
            return Same::No;
        }
        let is_fixed = |index: &Value<'m>| index.as_constant_int().is_some();
        let is_known = match address.as_op(Opcode::LLVMGetElementPtr) {
            Some(part) => part.operand(0) == *variable && part.operands()[1..].iter().all(is_fixed),
            None => address == *variable,
        };
        match uses.iter().any(|(_, does)| *does == Does::Unknown) || !is_known {
            true => Same::Maybe,
            false => Same::Yes,
        }
    }
}

impl<'m> Room<'m> {
    /// Has the program count. Memory that it gets behind this it has until the block ends.
    pub(super) fn emit<'a>(&'a self, module: &'m Module) -> Rooms<'a, 'm> {
        self.give_back(module);
        let mut copies = Copies::before(module, self.at, self.inside.clone());
        let most = (MOST_BYTES / self.bytes.max(1)) as i64;
        let zero = module.const_i64(0);
        let axes = self.axes.each_ref().map(|(least, counts)| {
            let mut room = module.const_i64((*least).min(TOO_MANY));
            for one in counts {
                let counted = copies.counted(module, &one.counter).count;
                let builder = &copies.builder;
                let counted = builder.freeze(counted);
                let counted = match one.is_sure {
                    true => limited(builder, counted, TOO_MANY),
                    // One that does not come to run may have any number.
                    false => {
                        let is_none = above(builder, counted, module.const_i64(most));
                        builder.select(is_none, zero, counted)
                    }
                };
                let is_more = above(builder, counted, room);
                room = builder.select(is_more, counted, room);
            }
            room
        });
        let builder = &copies.builder;
        let one = module.const_i64(1);
        let used = self.axes.iter().zip(axes);
        let used = used.filter(|((least, counts), _)| *least > 0 || !counts.is_empty());
        let items = used.fold(one, |items, (_, room)| builder.multiply(items, room));
        let is_too_much = above(builder, items, module.const_i64(most));
        let then = self.at.insert_if(is_too_much);
        let told = format!(
            "there is room for the variables of {most} work items of a block, of {} bytes each",
            self.bytes
        );
        fail(module, then, self.site, &told);
        let builder = Builder::before(module, self.at);
        let is_none = builder.compare(items, zero, false);
        let items = builder.select(is_none, one, items);
        Rooms {
            of: self,
            axes,
            items,
        }
    }

    /// Has each block give back the stack memory that it gets.
    fn give_back(&self, module: &'m Module) {
        let kernel = self.over.header.function();
        let first = self.over.body.first_insertion_point();
        let first = first.expect("a complete block");
        let like = self.over.steps.terminator().expect("a complete block");
        let builder = Builder::before(module, first);
        let pointer = module.pointer();
        let saves = intrinsic(module, "llvm.stacksave.p0", pointer, &[]);
        let before = builder.call(saves, &[]);
        let ends = kernel.append_block(module);
        for block in self.over.steps.predecessors() {
            block.turn(self.over.steps, ends);
        }
        let builder = Builder::at_end_like(module, ends, like);
        let restores = intrinsic(module, "llvm.stackrestore.p0", module.void(), &[pointer]);
        builder.call(restores, &[before]);
        builder.go(self.over.steps);
    }
}

impl<'m> Rooms<'_, 'm> {
    /// Memory for an element of each work item.
    pub(super) fn array(&self, module: &'m Module, element: Type<'m>, align: u32) -> Value<'m> {
        let builder = Builder::before(module, self.of.at);
        builder.allocas(element, self.items, align.max(ALIGNMENT))
    }

    /// Whether an instruction gives a variable a value before there is memory.
    pub(super) fn is_early(&self, fill: Instruction<'m>) -> bool {
        self.of.early.contains(&fill)
    }

    /// Ends the program in front of an instruction where there is no room for a work item of this number in a direction.
    pub(super) fn look(
        &self,
        module: &'m Module,
        nest: usize,
        axis: usize,
        number: Value<'m>,
        at: Instruction<'m>,
    ) {
        if self.of.checked.contains(&nest) {
            let is_outside = Comparison::Integer(IntPredicate::LLVMIntUGE);
            let builder = Builder::before(module, at);
            let then = at.insert_if(builder.ask(is_outside, number, self.axes[axis]));
            let told =
                "a block has no more work items than were counted when its first @inner loop began";
            fail(module, then, self.of.site, told);
        }
    }
}

fn above<'m>(builder: &Builder<'m>, a: Value<'m>, b: Value<'m>) -> Value<'m> {
    builder.ask(Comparison::Integer(IntPredicate::LLVMIntUGT), a, b)
}

/// A number without a sign, or the largest one that is to be.
fn limited<'m>(builder: &Builder<'m>, value: Value<'m>, most: i64) -> Value<'m> {
    let most = builder.module().const_i64(most);
    builder.select(above(builder, value, most), most, value)
}

fn intrinsic<'m>(
    module: &'m Module,
    name: &str,
    result: Type<'m>,
    parameters: &[Type<'m>],
) -> Function<'m> {
    module.function(name).unwrap_or_else(|| {
        let ty = module.function_type(result, parameters);
        module.add_function(name, ty, Linkage::LLVMExternalLinkage)
    })
}

/// Ends the program in front of an instruction, for what does not hold.
fn fail<'m>(module: &'m Module, before: Instruction<'m>, site: Instruction<'m>, told: &str) {
    let function = before.function();
    let (file, line) = place(site).unwrap_or((module.source_file(), 0));
    let (pointer, int) = (module.pointer(), module.int(32));
    let fails = module.function(FAILS).unwrap_or_else(|| {
        let ty = module.function_type(module.void(), &[pointer, pointer, int, pointer]);
        let fails = module.add_function(FAILS, ty, Linkage::LLVMExternalLinkage);
        for attribute in ["noreturn", "nounwind", "cold"] {
            fails.set_attribute(module, attribute);
        }
        fails
    });
    let kernel = crate::diagnostic::user_name(function);
    let [told, file, kernel] =
        [told, &file, &kernel].map(|text| *module.add_text("okl.room", text));
    let builder = Builder::before(module, before);
    builder.call(fails, &[told, file, module.const_i32(line as i32), kernel]);
}
