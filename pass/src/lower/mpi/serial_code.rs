//! Where serial code after a parallel region first touches memory that regions may have declared.
//!
//! After a region rank 0 would have to close pages that are not wholly current on it. Most serial code
//! between two regions touches none of them: it counts, swaps pointers, and forks again. So the pass
//! announces the first instruction that might: `okl_mpi_serial_code`, on every path from a fork that does
//! not meet another fork before. The stack is never in such pages, nor are global variables smaller than a page.

use std::collections::{HashMap, HashSet};

use okl_abi::f;

use super::MARK;
use crate::analysis::memory::base_of;
use crate::analysis::sections::is_mathematics;
use crate::llvm::{Block, Builder, Call, Function, Instruction, Linkage, Module, Opcode, Value};
use crate::lower::runtime_call::declare;

/// Bytes of a page, below which a variable covers none.
const PAGE: u64 = 4096;

/// Functions that touch no memory of the program's.
const HARMLESS: [&str; 15] = [
    "okl_mpi_kmpc_global_thread_num",
    "okl_mpi_kmpc_push_",
    "okl_mpi_omp_get_",
    "okl_mpi_omp_in_",
    "llvm.assume",
    "llvm.dbg.",
    "llvm.experimental.noalias.",
    "llvm.lifetime.",
    "llvm.fma.",
    "llvm.fmuladd.",
    "llvm.fabs.",
    "llvm.smax.",
    "llvm.smin.",
    "llvm.umax.",
    "llvm.umin.",
];

/// What an instruction means after a region.
enum Effect<'m> {
    /// It touches nothing that a region may have declared.
    Harmless,
    /// It begins a region; what follows is serial code again.
    Forks,
    /// It calls a function all of whose callers are known.
    Calls(Function<'m>),
    /// It may touch anything, or leave to code that may.
    Touches,
    /// It announces serial code already.
    Announces,
}

/// The instructions before which serial code is announced.
pub struct Plan<'m> {
    announcements: Vec<Instruction<'m>>,
}

/// Finds the places.
pub fn check(module: &Module) -> Plan<'_> {
    let functions: Vec<_> = module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration() && function.has_mark(MARK))
        .collect();
    let known: HashSet<_> = functions
        .iter()
        .copied()
        .filter(|&function| callers_are_known(function))
        .collect();
    let mut flow = Flow {
        module,
        known,
        entered: HashSet::new(),
        left: HashSet::new(),
        announcements: Vec::new(),
    };
    // What is found makes more be found, never less.
    loop {
        let before = (flow.entered.len(), flow.left.len());
        flow.announcements.clear();
        for &function in &functions {
            flow.follow(function);
        }
        if (flow.entered.len(), flow.left.len()) == before {
            break;
        }
    }
    Plan {
        announcements: flow.announcements,
    }
}

/// Emits the announcements. True where there are any.
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>) -> bool {
    for &at in &plan.announcements {
        let callee = declare(module, &f::okl_mpi_serial_code);
        Builder::before(module, at).call(callee, &[]);
    }
    !plan.announcements.is_empty()
}

/// Whether all calls of a function are direct calls in this module.
fn callers_are_known(function: Function<'_>) -> bool {
    let is_local = matches!(
        function.linkage(),
        Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage
    );
    is_local
        && function.users().into_iter().all(|user| {
            user.as_call().is_some_and(|call| {
                call.callee() == *function
                    && !call.arguments().contains(&*function)
                    && call.instruction().function().has_mark(MARK)
            })
        })
}

/// Follows the paths from forks.
struct Flow<'m> {
    module: &'m Module,
    known: HashSet<Function<'m>>,
    /// Functions that may be called, and left, after a region with nothing announced yet.
    entered: HashSet<Function<'m>>,
    left: HashSet<Function<'m>>,
    announcements: Vec<Instruction<'m>>,
}

impl<'m> Flow<'m> {
    fn follow(&mut self, function: Function<'m>) {
        let blocks = function.blocks();
        let mut unannounced: HashMap<Block<'m>, bool> = HashMap::new();
        let mut rest: Vec<Block<'m>> = blocks.iter().rev().copied().collect();
        if self.entered.contains(&function) {
            unannounced.insert(blocks[0], true);
        }
        while let Some(block) = rest.pop() {
            let at_end = self.pass_through(block, unannounced.get(&block) == Some(&true), false);
            for next in block.successors() {
                if at_end && unannounced.insert(next, true) != Some(true) {
                    rest.push(next);
                }
            }
        }
        for block in blocks {
            self.pass_through(block, unannounced.get(&block) == Some(&true), true);
        }
    }

    /// Whether nothing is announced at the end of a block, given that at its start. Records what it
    /// finds where `record` says so.
    fn pass_through(&mut self, block: Block<'m>, mut unannounced: bool, record: bool) -> bool {
        for at in block.instructions() {
            match self.effect(at) {
                Effect::Harmless => {}
                Effect::Forks => unannounced = true,
                Effect::Announces => unannounced = false,
                Effect::Calls(callee) => {
                    if unannounced && record {
                        self.entered.insert(callee);
                    }
                    unannounced = self.left.contains(&callee);
                }
                Effect::Touches => {
                    if unannounced && record {
                        self.announcements.push(at);
                    }
                    unannounced = false;
                }
            }
            let leaves = at.opcode() == Opcode::LLVMRet && unannounced;
            if leaves && record {
                self.left.insert(at.function());
            }
        }
        unannounced
    }

    fn effect(&self, at: Instruction<'m>) -> Effect<'m> {
        if let Some(call) = at.as_call() {
            return self.effect_of_call(call);
        }
        match at.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMStore => match at.address() {
                Some(address) if self.is_small(address) => Effect::Harmless,
                _ => Effect::Touches,
            },
            Opcode::LLVMRet if !self.known.contains(&at.function()) => Effect::Touches,
            Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg
            | Opcode::LLVMFence
            | Opcode::LLVMVAArg
            | Opcode::LLVMResume
            | Opcode::LLVMCatchRet
            | Opcode::LLVMCleanupRet
            | Opcode::LLVMUserOp1
            | Opcode::LLVMUserOp2 => Effect::Touches,
            _ => Effect::Harmless,
        }
    }

    fn effect_of_call(&self, call: Call<'m>) -> Effect<'m> {
        let name = call.callee_name();
        if name == f::okl_mpi_serial_code.name {
            return Effect::Announces;
        }
        if name.starts_with("okl_mpi_fork") {
            return Effect::Forks;
        }
        let takes_pointers = call.arguments().iter().any(|one| one.ty().is_pointer());
        let is_of_runtime = name.starts_with("okl_mpi_omp_");
        let is_declared = call.callee_function().is_some_and(Function::is_declaration);
        if is_declared
            && !(is_of_runtime && takes_pointers)
            && (HARMLESS.iter().any(|&harmless| name.starts_with(harmless))
                || is_mathematics(&name))
        {
            return Effect::Harmless;
        }
        match call.callee_function() {
            Some(callee) if self.known.contains(&callee) => Effect::Calls(callee),
            _ => Effect::Touches,
        }
    }

    /// Whether an address lies on the stack or in a global variable smaller than a page.
    fn is_small(&self, address: Value<'m>) -> bool {
        let base = base_of(address);
        match base.as_global() {
            // A variable that another file defines may be declared without a size.
            Some(global) => (1..PAGE).contains(&self.module.size_of(global.value_type())),
            None => base.as_op(Opcode::LLVMAlloca).is_some(),
        }
    }
}
