//! What LLVM is told of loops over work items: that none of them depends on another one, so that it may run several at once
//! if it thinks that that pays.
//!
//! Between two barriers no work item writes what another one accesses: a program in which that is not so is wrong (but for
//! writes of the same value, of which it does not matter which one is the last). It is said of accesses to what all work
//! items have in common or each has an element of. Variables of one iteration, which all iterations use one after the
//! other, are none of that, as long as they are variables; nor is anything of which it is not known what it points to, and
//! nothing is said where some of the code is atomic.

use std::collections::HashSet;

use super::split::Turns;
use super::strides::Strides;
use crate::analysis::variables::{Does, is_harmless, uses};
use crate::llvm::{Block, Function, Instruction, Module, Opcode, Value};

/// A loop that turns less often is not made to wait for vectors, and one that turns more often LLVM does not write out
/// before.
const SHORT: std::ops::RangeInclusive<i64> = 4..=64;

/// What is known of the variables of a kernel.
pub struct Known<'a, 'm> {
    pub(super) module: &'m Module,
    /// Variables of all work items, and arrays with an element for each.
    pub(super) common: &'a HashSet<Value<'m>>,
    /// Blocks outside of all iterations of outer loops.
    outside: &'a HashSet<Block<'m>>,
    /// Whether the address of another variable may be in memory.
    escapes: bool,
}

impl<'a, 'm> Known<'a, 'm> {
    /// Looks at a kernel.
    pub fn of(
        module: &'m Module,
        kernel: Function<'m>,
        common: &'a HashSet<Value<'m>>,
        outside: &'a HashSet<Block<'m>>,
    ) -> Self {
        let all = kernel.instructions().into_iter();
        let own = all.filter(|one| one.opcode() == Opcode::LLVMAlloca && !common.contains(one));
        let escapes = |one: Instruction<'m>| {
            let mut uses = uses(one).into_iter();
            uses.any(|(_, does)| does == Does::Unknown)
        };
        Self {
            module,
            common,
            outside,
            escapes: own.into_iter().any(escapes),
        }
    }

    /// Whether an address leads to what is in common, or to an element of each work item's own.
    pub(super) fn is_common(&self, address: Value<'m>, seen: &mut HashSet<Value<'m>>) -> bool {
        let (base, _) = address.base_and_offset(self.module);
        if !seen.insert(base) {
            // What is computed of it is what it is otherwise.
            return true;
        }
        if self.common.contains(&base) || base.as_parameter().is_some() || base.is_null() {
            return true;
        }
        if base.as_global().is_some() {
            return true;
        }
        let Some(load) = base.as_op(Opcode::LLVMLoad) else {
            return false;
        };
        // A pointer that is loaded.
        let (from, _) = load.operand(0).base_and_offset(self.module);
        let Some(variable) = from.as_op(Opcode::LLVMAlloca) else {
            return !self.escapes && self.is_common(load.operand(0), seen);
        };
        let holds = |(one, does): &(Instruction<'m>, Does)| match does {
            Does::Read => true,
            Does::Unknown => false,
            Does::Write => {
                let is_store = one.opcode() == Opcode::LLVMStore;
                let is_first = self.outside.contains(&one.block()) && !self.escapes;
                let value = is_store.then(|| one.operand(0));
                let is_passed = |value: Value<'m>| value.as_parameter().is_some();
                is_first
                    || value.is_some_and(is_passed)
                    || value
                        .is_some_and(|value| value.ty().is_pointer() && self.is_common(value, seen))
            }
        };
        !self.common.contains(&from) && uses(variable).iter().all(holds)
    }
}

/// Says so of loops with these blocks in an iteration of the innermost one. `is_bounded` where that ends at a condition of its
/// body, `has_loops` where there are others in it.
pub fn emit<'m>(
    module: &'m Module,
    turns: &Turns<'m>,
    body: &[Block<'m>],
    known: &Known<'_, 'm>,
    is_bounded: bool,
    has_loops: bool,
) {
    let (header, steps) = turns.innermost();
    let ends: Vec<_> = steps.terminator().into_iter().collect();
    let options = ends.iter().flat_map(|end| end.loop_options(module));
    let options: Vec<_> = options.collect();
    let is_parallel = |one: &String| one == "llvm.loop.parallel_accesses";
    if turns.is_atomic || options.iter().any(is_parallel) {
        return;
    }
    let all: Vec<_> = body.iter().flat_map(|block| block.instructions()).collect();
    let is_independent = |one: &Instruction<'m>| {
        let address = one.address().filter(|_| one.is_plain_access());
        address.is_some_and(|address| known.is_common(address, &mut HashSet::new()))
    };
    let accesses: Vec<_> = all.iter().copied().filter(is_independent).collect();
    if accesses.is_empty() {
        return;
    }
    let strides = Strides {
        module,
        blocks: body.iter().copied().chain([header, steps]).collect(),
        steps,
        common: known.common,
    };
    if !strides.stay_in_order(&accesses) {
        return;
    }
    Instruction::mark_independent(&accesses, &ends);
    // A short loop would be unrolled before it is vectorised, and what is said of its turns is of no use then.
    let is_simple = |one: &Instruction<'m>| {
        let address = one.address().filter(|_| one.is_plain_access());
        let variable = address.and_then(|address| address.as_op(Opcode::LLVMAlloca));
        let ty = variable.and_then(Instruction::allocated_type);
        let is_scalar = ty.is_some_and(|ty| !ty.is_array() && ty.struct_name().is_none());
        let computes = one.address().is_none() && one.only_computes();
        is_scalar || one.opcode() == Opcode::LLVMBr || computes || is_harmless(*one)
    };
    let is_said = |one: &String| {
        [
            "llvm.loop.unroll",
            "llvm.loop.vectorize",
            "llvm.loop.interleave",
        ]
        .iter()
        .any(|said| one.starts_with(said))
    };
    // What ends at a condition may turn a few times only where LLVM has written out a loop around it.
    let is_short = is_bounded || turns.count.is_some_and(|count| SHORT.contains(&count));
    let is_left_alone = !options.iter().any(is_said) && !has_loops;
    let mut others = all.iter().filter(|one| !accesses.contains(one));
    if is_left_alone && is_short && others.all(is_simple) {
        ends[ends.len() - 1].unroll_late();
    }
}
