//! Short rows of blocks of work items, which are fetched before later blocks come to them.
//!
//! A block of 16 times 16 work items reads 16 pieces of memory that lie far from each other, each as short as a line or
//! two of the caches. The processor does not find out by itself that the next blocks go on where these end: there are more
//! pieces than it follows, and each is over before it is noticed. So where a row of work items begins, the code asks for
//! what a block a bit further along reads and writes there. That is done where all of this is known:
//!
//! - A loop over work items accesses a *run*: elements side by side, as many as the compiler knows, and not many. LLVM may
//!   have made a copy of it already.
//! - The loop over rows around it moves by something else than the run: rows that are side by side are one long run, which
//!   the processor follows.
//! - The next loop that moves the address at all, a regular loop of the block or that over blocks, goes on about where the
//!   run ends. Where blocks are counted through, the next one is taken to be the next one of its row: at the end of a row it
//!   is not.
//!
//! A line that is fetched and not used is lost time, and never wrong. The block's own variables are in the cache in any
//! case, and nothing is fetched that another row or another access of the loop is fetched for.

mod numbers;

use std::collections::{HashMap, HashSet};

use crate::analysis::meeting::cannot_fail;
use crate::llvm::{
    Builder, Code, Evolution, Expression, Function, Instruction, Module, Opcode, Value,
};
use crate::marks::{forget_items, is_over_items};

use numbers::Numbers;

/// Bytes of a line of the processor's caches, on most of them.
const LINE: i64 = 64;
/// Bytes of the longest run that counts as short: the processor follows longer ones.
const MOST_BYTES: i64 = 256;
/// Bytes to what is fetched, at most, and at least a block: less comes late, and more costs time where all is in the
/// caches (measured with 64 to 1024).
const AHEAD: i64 = 192;
/// Rows around one that fetch for it.
const NEIGHBOURS: i64 = 4;
/// Instructions that an address is computed by.
const MOST_INSTRUCTIONS: usize = 32;
/// Runs of a loop that are fetched, at most: the processor fetches no more at the same time.
const MOST_RUNS: usize = 12;

/// What is to be fetched in a module.
pub struct Plans<'m>(Vec<Plan<'m>>);

/// What is to be fetched in a function.
struct Plan<'m> {
    evolution: Evolution<'m>,
    runs: Vec<Run<'m>>,
}

/// What a row of work items accesses side by side.
struct Run<'m> {
    /// Where it begins.
    start: Start<'m>,
    /// The same as a [plain](Numbers::of_value) number.
    plain: Expression<'m>,
    bytes: i64,
    is_written: bool,
    /// What is added from row to row, and whether all rows have it.
    row: Expression<'m>,
    is_in_all_rows: bool,
    /// What is added from block to block.
    step: i64,
}

/// Where a run begins.
#[derive(Clone, Copy)]
struct Start<'m> {
    /// What all of it is fetched in front of.
    before: Instruction<'m>,
    /// Its address: the value in the first turn of this loop, if it is one.
    address: Value<'m>,
    of: Option<usize>,
}

/// Finds out what is to be fetched. Loops of kernels get preheaders where they have none.
pub fn check(module: &Module) -> Plans<'_> {
    let functions = module.functions().into_iter();
    let plans = functions.filter_map(|function| Plan::of(module, function));
    Plans(plans.collect())
}

/// Has it fetched. True where the module was changed.
pub fn emit<'m>(module: &'m Module, plans: &Plans<'m>) -> bool {
    for plan in &plans.0 {
        for run in &plan.runs {
            run.emit(module, &plan.evolution);
        }
        // Once is enough, also where the linker optimises again.
        for one in plan.evolution.loops() {
            if let Some(latch) = one.latch {
                forget_items(module, latch);
            }
        }
    }
    !plans.0.is_empty()
}

impl<'m> Plan<'m> {
    /// Of a function that has loops over work items.
    fn of(module: &'m Module, function: Function<'m>) -> Option<Self> {
        let is_small = ["optnone", "optsize", "minsize"];
        if function.is_declaration() || is_small.iter().any(|one| function.has_attribute(one)) {
            return None;
        }
        let mut blocks = function.blocks().into_iter();
        if !blocks.any(|block| is_over_items(module, block)) {
            return None;
        }
        let evolution = Evolution::of(Code::open(function));
        let runs = Looked::at(module, &evolution).runs();
        Some(Self { evolution, runs })
    }
}

/// A function that is looked at.
struct Looked<'a, 'm> {
    module: &'m Module,
    evolution: &'a Evolution<'m>,
    numbers: Numbers<'a, 'm>,
    /// Of each loop, whether it is one over work items.
    over_items: Vec<bool>,
}

impl<'a, 'm> Looked<'a, 'm> {
    fn at(module: &'m Module, evolution: &'a Evolution<'m>) -> Self {
        let loops = evolution.loops().iter();
        let over_items = loops.map(|one| {
            let latch = one.latch;
            latch.is_some_and(|latch| is_over_items(module, latch))
        });
        Self {
            module,
            evolution,
            numbers: Numbers::of(evolution),
            over_items: over_items.collect(),
        }
    }

    fn runs(&self) -> Vec<Run<'m>> {
        let mut all = Vec::new();
        for (of, one) in self.evolution.loops().iter().enumerate() {
            if !self.over_items[of] {
                continue;
            }
            let own = one.blocks.iter();
            let own = own.filter(|block| self.evolution.loop_of(**block) == Some(of));
            let own = own.flat_map(|block| block.instructions());
            let own: Vec<_> = own.collect();
            let copies = own.iter().flat_map(|one| self.copied(*one, of));
            let mut found: Vec<Run<'m>> = Vec::new();
            let items = own.iter().filter_map(|one| self.accessed(*one, of));
            for run in copies.chain(items) {
                self.add(run, &mut found);
            }
            found.truncate(MOST_RUNS);
            all.extend(found);
        }
        all
    }

    /// Whether something happens in each turn of a loop.
    fn is_in_all_turns(&self, at: Instruction<'m>, of: usize) -> bool {
        let latch = self.evolution.loops()[of].latch;
        latch.is_some_and(|latch| self.evolution.dominates(at.block(), latch))
    }

    /// What all turns of a loop access by this load or store.
    fn accessed(&self, one: Instruction<'m>, of: usize) -> Option<Run<'m>> {
        let address = one.address().filter(|_| one.is_plain_access())?;
        let is_written = one.opcode() == Opcode::LLVMStore;
        let ty = if is_written {
            one.operand(0).ty()
        } else {
            one.ty()
        };
        let looped = &self.evolution.loops()[of];
        let last = self.evolution.backedge_taken_count(of)?.constant()?;
        let size = i64::try_from(self.module.store_size_of(ty)).ok()?;
        let count = i64::try_from(last).ok()?.checked_add(1)?;
        let bytes = count.checked_mul(size)?;
        if count < 2 || !self.is_in_all_turns(one, of) {
            return None;
        }
        let start = Start {
            before: looped.preheader?.terminator()?,
            address,
            of: Some(of),
        };
        let plain = self.plain(address)?;
        let step = self.numbers.step(plain, of)?;
        if step.constant() != Some(size.into()) || !start.can_be_computed(self.evolution) {
            return None;
        }
        let plain = self.numbers.first(plain, of);
        self.run(start, plain, bytes, is_written, looped.parent?)
    }

    /// What a copy reads and writes, or what something that writes the same everywhere does.
    fn copied(&self, one: Instruction<'m>, of: usize) -> Vec<Run<'m>> {
        let Some(call) = one.as_call() else {
            return Vec::new();
        };
        let name = call.callee_name();
        let reads = ["llvm.memcpy.", "llvm.memmove."];
        let reads = reads.iter().any(|one| name.starts_with(one));
        let arguments = call.arguments();
        let (places, bytes) = match &arguments[..] {
            [to, from, bytes, _] if reads => (vec![(*to, true), (*from, false)], bytes),
            [to, _, bytes, _] if name.starts_with("llvm.memset.") => (vec![(*to, true)], bytes),
            _ => return Vec::new(),
        };
        let Some(bytes) = bytes.as_constant_int() else {
            return Vec::new();
        };
        let run = |(address, is_written)| {
            let start = Start {
                before: one,
                address,
                of: None,
            };
            self.run(start, self.plain(address)?, bytes, is_written, of)
        };
        places.into_iter().filter_map(run).collect()
    }

    /// An address that does not lead to a variable of the block, as a [plain](Numbers::of_value) number.
    fn plain(&self, address: Value<'m>) -> Option<Expression<'m>> {
        if address.ty() != self.module.pointer() {
            return None;
        }
        let plain = self.numbers.of_value(address)?;
        let object = self.evolution.object(plain).value()?;
        let is_own = object.as_op(Opcode::LLVMAlloca).is_some();
        (!is_own).then_some(plain)
    }

    /// A run that is worth fetching, in a loop over rows.
    fn run(
        &self,
        start: Start<'m>,
        plain: Expression<'m>,
        bytes: i64,
        is_written: bool,
        inside: usize,
    ) -> Option<Run<'m>> {
        if !(1..=MOST_BYTES).contains(&bytes) {
            return None;
        }
        let mut around = Some(inside);
        let mut row = None;
        while let Some(of) = around {
            let step = self.numbers.step(plain, of)?;
            around = self.evolution.loops()[of].parent;
            if step.is_zero() {
                continue;
            }
            let goes_on = step.constant().and_then(|step| i64::try_from(step).ok());
            let goes_on = goes_on.filter(|step| step.abs() <= MOST_BYTES);
            match (self.over_items[of], row, goes_on) {
                // Rows side by side.
                (true, None, Some(_)) => return None,
                (true, None, None) => row = Some((of, step)),
                // The next one of several such loops.
                (true, Some(_), None) => {}
                (false, Some((of, row)), Some(step)) if step.abs() <= bytes => {
                    return Some(Run {
                        start,
                        plain,
                        bytes,
                        is_written,
                        row,
                        is_in_all_rows: self.is_in_all_turns(start.before, of),
                        step,
                    });
                }
                _ => return None,
            }
        }
        None
    }

    /// Adds a run to those of the same loop, unless one of them is fetched for it.
    fn add(&self, run: Run<'m>, all: &mut Vec<Run<'m>>) {
        let evolution = self.evolution;
        let bits = evolution.bits(run.row);
        for known in all.iter_mut() {
            let near = known.bytes.max(LINE);
            let behind = |rows: i64| {
                let rows = evolution.product(&[known.row, evolution.number(bits, rows)]);
                let there = evolution.sum(&[known.plain, rows]);
                let far = evolution.difference(run.plain, there);
                far.is_some_and(|far| far.abs() < near)
            };
            let has_rows = run.is_in_all_rows && known.is_in_all_rows && run.row == known.row;
            let most = if has_rows { NEIGHBOURS } else { 0 };
            let Some(rows) = (-most..=most).find(|&rows| behind(rows)) else {
                continue;
            };
            let is_written = known.is_written || run.is_written;
            // The row that comes to it first.
            if rows > 0 {
                *known = run;
            }
            known.is_written = is_written;
            return;
        }
        all.push(run);
    }
}

impl<'m> Start<'m> {
    /// What an instruction of the loop computes from, where nothing else is needed in front of the loop.
    fn operands(value: Value<'m>, of: usize, code: &Code<'m>) -> Option<Vec<Value<'m>>> {
        let inside = value.as_instruction();
        let Some(one) = inside.filter(|one| code.contains(of, one.block())) else {
            return Some(Vec::new());
        };
        if one.opcode() == Opcode::LLVMPHI {
            let looped = &code.loops()[of];
            return (one.block() == looped.header).then(Vec::new);
        }
        (cannot_fail(one) && one.opcode() != Opcode::LLVMLoad).then(|| one.operands())
    }

    fn can_be_computed(self, code: &Code<'m>) -> bool {
        let Some(of) = self.of else { return true };
        let (mut seen, mut rest) = (HashSet::new(), vec![self.address]);
        while let Some(value) = rest.pop() {
            match Self::operands(value, of, code) {
                Some(operands) => rest.extend(operands.into_iter().filter(|one| seen.insert(*one))),
                None => return false,
            }
        }
        seen.len() <= MOST_INSTRUCTIONS
    }

    /// The address, computed in front of the loop.
    fn compute(self, code: &Code<'m>) -> Value<'m> {
        match self.of {
            Some(of) => self.copy(self.address, of, code, &mut HashMap::new()),
            None => self.address,
        }
    }

    fn copy(
        self,
        value: Value<'m>,
        of: usize,
        code: &Code<'m>,
        copies: &mut HashMap<Value<'m>, Value<'m>>,
    ) -> Value<'m> {
        let inside = value.as_instruction();
        let Some(one) = inside.filter(|one| code.contains(of, one.block())) else {
            return value;
        };
        if let Some(&known) = copies.get(&value) {
            return known;
        }
        let copy = if one.opcode() == Opcode::LLVMPHI {
            let mut values = one.incoming().into_iter();
            let first = values.find(|(_, from)| Some(*from) == code.loops()[of].preheader);
            first.expect("a value from in front of the loop").0
        } else {
            let operands = one.operands().into_iter();
            let operands: Vec<_> = operands
                .map(|operand| self.copy(operand, of, code, copies))
                .collect();
            let copy = one.copy_before(self.before);
            for (at, operand) in operands.into_iter().enumerate() {
                copy.set_operand(at, operand);
            }
            *copy
        };
        copies.insert(value, copy);
        copy
    }
}

impl<'m> Run<'m> {
    fn emit(&self, module: &'m Module, evolution: &Evolution<'m>) {
        let start = self.start.compute(evolution);
        let builder = Builder::before(module, self.start.before);
        let blocks = (AHEAD / self.step.abs()).max(1);
        let ahead = self.step * blocks;
        // What the runs of two blocks have in common is fetched once.
        let bytes = self.bytes.min(self.step.abs());
        for line in (0..bytes).step_by(LINE as usize) {
            let far = module.const_i64(ahead + line);
            let address = builder.element(module.int(8), start, far);
            builder.prefetch(address, self.is_written);
        }
    }
}
