//! Loops that wait until another thread changes memory, and change nothing that could end them.
//!
//! Guarantee: what decides whether such a loop goes on depends on shared memory, and on nothing that the
//! loop itself goes on changing. Some turns after it was entered it is therefore in the same state in each
//! turn, and in a team of one thread it stays there, unless something outside the program's threads
//! writes the memory (a signal handler, another process). Here synchronisation points make no difference:
//! there is nobody to hear from.

use std::collections::HashSet;

use okl_abi::Effects;

use super::{Callees, gives_time, is_flush, is_idle, only_looks, sets};
use crate::analysis::loops::LoopView;
use crate::analysis::memory::private_variable;
use crate::analysis::runtime::effects;
use crate::llvm::{Block, Call, Function, Instruction, Opcode};

/// A loop that only another thread can end.
pub struct Endless<'m> {
    /// The access that it waits with.
    pub at: Instruction<'m>,
    /// The first block of the loop.
    pub header: Block<'m>,
    /// The ends of the blocks from which the loop is entered.
    pub entries: Vec<Instruction<'m>>,
}

/// The loops of a function that only another thread can end.
pub fn find<'m>(function: Function<'m>, callees: &Callees<'_, 'm>) -> Vec<Endless<'m>> {
    let may_wait = |instruction: Instruction<'m>| {
        super::may_synchronise(instruction, callees)
            || instruction.as_call().is_some_and(is_synchronising)
    };
    if !function.instructions().into_iter().any(may_wait) {
        return Vec::new();
    }
    let views: Vec<_> = function.loops().iter().map(LoopView::of).collect();
    let headers: HashSet<_> = views.iter().map(|view| view.header).collect();
    let loops = views.iter().filter_map(|view| {
        let at = waits_with(view, &headers, callees)?;
        let outside = function.blocks().into_iter().filter_map(Block::terminator);
        let entries = outside
            .filter(|&end| !view.contains(end) && end.block().successors().contains(&view.header));
        Some(Endless {
            at,
            header: view.header,
            entries: entries.collect(),
        })
    });
    loops.collect()
}

/// The access to shared memory on which the end of the loop depends, where nothing else can bring it about.
fn waits_with<'m>(
    view: &LoopView<'m>,
    headers: &HashSet<Block<'m>>,
    callees: &Callees<'_, 'm>,
) -> Option<Instruction<'m>> {
    let mut instructions = view.instructions.iter().copied();
    if !instructions.all(|instruction| leaves_memory_alone(view, instruction, callees)) {
        return None;
    }
    let decides = view.decides_exit();
    // A value that is only handed from turn to turn, such as what an exchange found, goes around in a circle.
    let settles =
        !view.counts(&decides) && decides.iter().all(|&part| settles(headers, part, callees));
    let mut accesses = decides
        .iter()
        .copied()
        .filter(|&part| looks_at_memory(part, callees));
    settles.then(|| accesses.next()).flatten()
}

/// Whether an instruction of the loop writes no memory but its own variables and, always the same, the
/// places that it waits with.
fn leaves_memory_alone<'m>(
    view: &LoopView<'m>,
    instruction: Instruction<'m>,
    callees: &Callees<'_, 'm>,
) -> bool {
    let is_same = |index: usize| view.is_invariant(instruction.operand(index));
    match instruction.opcode() {
        Opcode::LLVMStore => private_variable(instruction.operand(1)).is_some(),
        Opcode::LLVMAtomicRMW => {
            only_looks(instruction)
                || instruction.atomic_operation().is_some_and(sets) && is_same(0) && is_same(1)
        }
        Opcode::LLVMAtomicCmpXchg => is_same(0) && is_same(2),
        Opcode::LLVMCall => instruction
            .as_call()
            .is_some_and(|call| is_quiet(view, call, callees)),
        // Calls that may throw lead out of the loop.
        Opcode::LLVMInvoke | Opcode::LLVMCallBr | Opcode::LLVMSwitch | Opcode::LLVMIndirectBr => {
            false
        }
        _ => true,
    }
}

fn is_quiet<'m>(view: &LoopView<'m>, call: Call<'m>, callees: &Callees<'_, 'm>) -> bool {
    let name = call.callee_name();
    if name.starts_with("llvm.mem") {
        return false;
    }
    let is_access = callees.accesses(call).is_some();
    let mut arguments = call.arguments().into_iter();
    is_synchronising(call)
        || is_idle(call, callees)
            && (!is_access || arguments.all(|argument| view.is_invariant(argument)))
}

/// Whether a thread may do that while it waits, besides what [`is_idle`] allows: it writes no memory that the program
/// sees, where there is no other thread.
fn is_synchronising(call: Call<'_>) -> bool {
    effects(call).has(Effects::ORDERS)
}

fn looks_at_memory<'m>(part: Instruction<'m>, callees: &Callees<'_, 'm>) -> bool {
    match part.opcode() {
        Opcode::LLVMLoad => private_variable(part.operand(0)).is_none(),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        Opcode::LLVMCall => part.as_call().is_some_and(|call| {
            let asks_for_a_lock = is_synchronising(call) && !part.ty().is_void();
            callees.accesses(call).is_some() || asks_for_a_lock
        }),
        _ => false,
    }
}

/// Whether a part of the decision is the same in each turn, once those are that it is computed from: it is
/// carried from turn to turn in variables only, and does not ask for the time.
fn settles<'m>(
    headers: &HashSet<Block<'m>>,
    part: Instruction<'m>,
    callees: &Callees<'_, 'm>,
) -> bool {
    match part.opcode() {
        Opcode::LLVMPHI => !headers.contains(&part.block()),
        Opcode::LLVMCall => part.as_call().is_some_and(|call| {
            let name = call.callee_name();
            let is_intrinsic = call.callee_function().is_some_and(Function::is_intrinsic);
            callees.accesses(call).is_some()
                || is_synchronising(call)
                || is_flush(call)
                || gives_time(call)
                || is_intrinsic && !name.starts_with("llvm.readcyclecounter")
                || effects(call).has(Effects::ANSWERS)
        }),
        _ => true,
    }
}
