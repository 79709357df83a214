//! Regions whose threads may as well run one after the other.
//!
//! Guarantee: whatever such a region does, threads of one team, each with its number, may do one after the other on one
//! thread of the machine, but for the reduction in which they meet: before it each has done all in front of it. So the run
//! time may leave such a region to rank 0, with the same results, where that is faster.
//!
//! All that a region reaches is looked at, and what is not known to be so is not: calls of unknown functions and through
//! pointers, memory that each thread has of its own, atomic and volatile accesses, by which threads may wait for each other,
//! and all of OpenMP in which threads meet more than once, wait, or create tasks.

use std::collections::HashSet;

use okl_abi::{Effects, f};

use crate::analysis::call_graph::{is_final, reached};
use crate::analysis::control_flow;
use crate::analysis::library::is_mathematics;
use crate::analysis::runtime;
use crate::analysis::waiting::endless::Endless;
use crate::ir::{Region, Team};
use crate::llvm::{Block, Call, Function, Instruction, Opcode, Value};

/// Whether the threads of a region may run one after the other. `endless` are the module's loops that only another thread
/// can end.
pub fn may_run<'m>(region: &Region<'m>, endless: &[Endless<'m>]) -> bool {
    let mut meetings = 0;
    region.team == Team::Threads
        && reached(region.body).into_iter().all(|function| {
            let is_body = function == region.body;
            let waits = endless.iter().any(|one| one.at.function() == function);
            (is_body || is_final(function)) && !waits && {
                let blocks = executed(function).into_iter();
                let mut instructions = blocks.flat_map(|one| one.instructions());
                instructions.all(|one| match doing(one) {
                    Doing::Nothing => true,
                    Doing::Meets => {
                        meetings += 1;
                        is_body && meetings == 1 && !is_repeated(one)
                    }
                    Doing::Last => is_body && is_last(one),
                    Doing::More => false,
                })
            }
        })
}

/// The blocks of a function that a thread may come to. Our run time never has a thread combine by atomic operations, as
/// OpenMP's may.
fn executed(function: Function<'_>) -> HashSet<Block<'_>> {
    let entry = function.blocks().into_iter().take(1).collect();
    control_flow::reached(entry, successors_here)
}

fn successors_here(block: Block<'_>) -> Vec<Block<'_>> {
    let choice = block.terminator().filter(|end| {
        let is_switch = end.opcode() == Opcode::LLVMSwitch;
        let chosen = is_switch.then(|| end.operand(0).as_call()).flatten();
        chosen.is_some_and(|call| runtime::effects(call).has(Effects::REDUCES))
    });
    let Some(choice) = choice else {
        return block.successors();
    };
    let (cases, others) = choice.cases();
    let stores = cases
        .into_iter()
        .filter(|(case, _)| case.as_constant_int() == Some(1));
    stores.map(|(_, block)| block).chain([others]).collect()
}

/// What an instruction has to do with other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    /// The threads combine what they have.
    Meets,
    /// They meet, which is nothing where nothing follows.
    Last,
    /// More, perhaps.
    More,
}

fn doing(one: Instruction<'_>) -> Doing {
    if has_thread_local(one) || one.opcode() == Opcode::LLVMVAArg {
        return Doing::More;
    }
    if let Some(call) = one.as_call() {
        return doing_of_call(call);
    }
    let is_access = matches!(one.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore);
    let is_shared_otherwise = one.is_atomic_update()
        || one.is_atomic_access()
        || one.opcode() == Opcode::LLVMFence
        || is_access && one.is_volatile()
        // Exceptions find their way by frames.
        || matches!(one.opcode(), Opcode::LLVMResume);
    match is_shared_otherwise {
        true => Doing::More,
        false => Doing::Nothing,
    }
}

fn doing_of_call(call: Call<'_>) -> Doing {
    /// Intrinsics of which each thread has an answer of its own, or that leave frames.
    const OWN: [&str; 3] = ["llvm.threadlocal.", "llvm.eh.sjlj.", "llvm.thread.pointer"];
    let Some(callee) = call.callee_function() else {
        return Doing::More;
    };
    let name = callee.name();
    if callee.is_intrinsic() {
        return match OWN.iter().any(|one| name.starts_with(one)) {
            true => Doing::More,
            false => Doing::Nothing,
        };
    }
    if let Some(function) = runtime::function(call) {
        let ends_reduction = [
            f::okl_mpi_kmpc_end_reduce,
            f::okl_mpi_kmpc_end_reduce_nowait,
        ];
        return match function.effects {
            effects if effects.has(Effects::REDUCES) => Doing::Meets,
            effects if effects.has(Effects::QUIET) => Doing::Nothing,
            _ if ends_reduction.iter().any(|one| one.name == function.name) => Doing::Nothing,
            _ if function.name == f::okl_mpi_kmpc_barrier.name => Doing::Last,
            _ => Doing::More,
        };
    }
    // What ends the program does so on any thread.
    let is_harmless = !callee.is_declaration()
        || is_mathematics(&name)
        || ["__cxa_begin_catch", "_ZSt9terminatev"].contains(&name.as_str());
    match is_harmless {
        true => Doing::Nothing,
        false => Doing::More,
    }
}

fn has_thread_local(one: Instruction<'_>) -> bool {
    let mut rest: Vec<Value<'_>> = one.operands();
    while let Some(operand) = rest.pop() {
        if operand.as_global().is_some_and(|one| one.is_thread_local()) {
            return true;
        }
        if operand.is_composite_constant() || operand.is_constant_gep() {
            rest.extend(operand.operands());
        }
    }
    false
}

/// Whether an instruction may be executed more than once.
fn is_repeated(one: Instruction<'_>) -> bool {
    control_flow::reached(one.block().successors(), Block::successors).contains(&one.block())
}

/// Whether a thread does nothing after an instruction but end.
fn is_last(one: Instruction<'_>) -> bool {
    let is_nothing = |one: &Instruction<'_>| {
        matches!(one.opcode(), Opcode::LLVMRet | Opcode::LLVMBr)
            || one
                .as_call()
                .and_then(|call| call.callee_function())
                .is_some_and(|callee| callee.name().starts_with("llvm.lifetime.end"))
    };
    let mut own = one.block().instructions().into_iter();
    own.by_ref().find(|other| *other == one);
    let mut after = control_flow::reached(one.block().successors(), Block::successors).into_iter();
    own.all(|one| is_nothing(&one))
        && after.all(|block| block.instructions().iter().all(is_nothing))
}
