//! Where serial code after a parallel region first touches memory that regions may have declared.
//!
//! After a region rank 0 would have to close pages that are not wholly current on it. Most serial code
//! between two regions touches none of them: it counts, swaps pointers, reads a field of a structure, and
//! forks again. So the pass announces serial code that might, on every path from a fork that does not meet
//! another fork before:
//!
//! * by `okl_mpi_serial_access` a single load or store, whose address the run time looks at. What follows
//!   is not announced yet.
//! * by `okl_mpi_serial_code` all else: in front of a loop, so that nothing is asked in each iteration, or
//!   of an instruction.
//!
//! The stack is never in such pages, nor are small global variables that this module defines: the run time
//! keeps their pages out (`LARGEST_UNANNOUNCED`).

use std::collections::{HashMap, HashSet};

use okl_abi::{Effects, LARGEST_UNANNOUNCED, RuntimeFn, f};

use crate::analysis::library::is_mathematics;
use crate::analysis::memory::base_of;
use crate::analysis::runtime::{effects, function_of};
use crate::llvm::{
    Block, Builder, Call, Function, Instruction, Linkage, Module, Opcode, Type, Value,
};
use crate::lower::runtime_call::declare;
use crate::marks::{is_for_ranks, is_plain, is_shared};

/// Intrinsics that touch no memory of the program's.
const HARMLESS: [&str; 11] = [
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

/// Intrinsics that touch what their pointers lead to, and nothing else.
const FILLS: [&str; 3] = ["llvm.memset.", "llvm.memcpy.", "llvm.memmove."];

/// What an instruction means after a region.
enum Effect<'m> {
    /// It touches nothing that a region may have declared.
    Harmless,
    /// It begins a region; what follows is serial code again.
    Forks,
    /// It calls a function all of whose callers are known.
    Calls(Function<'m>),
    /// It accesses one place.
    Accesses,
    /// It may touch anything, or leave to code that may.
    Touches,
    /// It announces serial code already.
    Announces,
}

/// The instructions before which serial code is announced.
#[derive(Default)]
pub struct Plan<'m> {
    /// All of it.
    announcements: Vec<Instruction<'m>>,
    /// This load or store only.
    accesses: Vec<Instruction<'m>>,
}

/// Finds the places.
pub fn check(module: &Module) -> Plan<'_> {
    let run_on_ranks = module.functions().into_iter().filter(|&function| {
        !function.is_declaration() && (is_for_ranks(function) || is_shared(function))
    });
    let mut functions: Vec<_> = run_on_ranks.collect();
    let forking = forking(&functions);
    // One rank runs the others as well, and in regions.
    functions.retain(|&function| is_for_ranks(function) || forking.contains(&function));
    let known: HashSet<_> = functions
        .iter()
        .copied()
        .filter(|&function| callers_are_known(function))
        .collect();
    let mut flow = Flow {
        module,
        forking,
        known,
        entered: HashSet::new(),
        left: HashSet::new(),
        plan: Plan::default(),
    };
    let loops: Vec<_> = functions
        .iter()
        .map(|&one| flow.serial_loops(one))
        .collect();
    // What is found makes more be found, never less.
    loop {
        let before = (flow.entered.len(), flow.left.len());
        flow.plan = Plan::default();
        for (&function, loops) in functions.iter().zip(&loops) {
            flow.follow(function, loops);
        }
        if (flow.entered.len(), flow.left.len()) == before {
            break;
        }
    }
    flow.plan
}

/// Emits the announcements. True where there are any.
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>) -> bool {
    for &at in &plan.announcements {
        let callee = declare(module, &f::okl_mpi_serial_code);
        Builder::before(module, at).call(callee, &[]);
    }
    for &at in &plan.accesses {
        let callee = declare(module, &f::okl_mpi_serial_access);
        let address = at.address().expect("a load or store");
        let bytes = module.size_of(accessed_type(at)) as i64;
        let writes = i32::from(at.opcode() == Opcode::LLVMStore);
        let arguments = [address, module.const_i64(bytes), module.const_i32(writes)];
        Builder::before(module, at).call(callee, &arguments);
    }
    !plan.announcements.is_empty() || !plan.accesses.is_empty()
}

/// The type of what a load or store moves.
fn accessed_type(at: Instruction<'_>) -> Type<'_> {
    match at.opcode() {
        Opcode::LLVMStore => at.operand(0).ty(),
        _ => at.ty(),
    }
}

/// The functions among `functions` that may fork.
fn forking<'m>(functions: &[Function<'m>]) -> HashSet<Function<'m>> {
    let mut found = HashSet::new();
    let mut calls = Vec::new();
    for &function in functions {
        for call in function
            .instructions()
            .into_iter()
            .filter_map(|at| at.as_call())
        {
            if forks(call) {
                found.insert(function);
            }
            calls.extend(call.callee_function().map(|callee| (function, callee)));
        }
    }
    loop {
        let before = found.len();
        for (function, callee) in &calls {
            if found.contains(callee) {
                found.insert(*function);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether a call of a runtime function touches no memory of the program's.
fn touches_nothing(call: Call<'_>, function: &RuntimeFn) -> bool {
    // The place of the call is none.
    let ident = function.position("ident");
    let mut arguments = call.arguments().into_iter().enumerate();
    function.has(Effects::QUIET)
        && arguments.all(|(at, one)| Some(at) == ident || !one.ty().is_pointer())
}

fn forks(call: Call<'_>) -> bool {
    effects(call).has(Effects::FORKS)
}

/// The outermost loops of a function in which nothing forks and something touches memory, each block of
/// them with its loop's number.
type SerialLoops<'m> = HashMap<Block<'m>, usize>;

/// Whether all calls of a function are direct calls in this module.
fn callers_are_known(function: Function<'_>) -> bool {
    let is_local = matches!(
        function.linkage(),
        Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage
    );
    is_local
        && function.users().into_iter().all(|user| {
            user.as_call().is_some_and(|call| {
                let caller = call.instruction().function();
                call.callee() == *function
                    && !call.arguments().contains(&*function)
                    && (is_for_ranks(caller) || is_shared(caller) || is_plain(caller))
            })
        })
}

/// The branch at the end of a block from which control can only go into a serial loop, from outside.
fn entered_loop<'m>(block: Block<'m>, loops: &SerialLoops<'m>) -> Option<Instruction<'m>> {
    let branch = block.terminator()?;
    let [next] = block.successors()[..] else {
        return None;
    };
    let entered = loops
        .get(&next)
        .is_some_and(|one| loops.get(&block) != Some(one));
    (entered && branch.opcode() == Opcode::LLVMBr).then_some(branch)
}

/// Follows the paths from forks.
struct Flow<'m> {
    module: &'m Module,
    known: HashSet<Function<'m>>,
    /// Functions that may fork.
    forking: HashSet<Function<'m>>,
    /// Functions that may be called, and left, after a region with nothing announced yet.
    entered: HashSet<Function<'m>>,
    left: HashSet<Function<'m>>,
    plan: Plan<'m>,
}

impl<'m> Flow<'m> {
    fn serial_loops(&self, function: Function<'m>) -> SerialLoops<'m> {
        let mut found = SerialLoops::new();
        for (number, one) in function.loops().iter().enumerate() {
            let instructions = || one.blocks.iter().flat_map(|block| block.instructions());
            let may_fork = instructions().filter_map(|at| at.as_call()).any(|call| {
                let callee = call.callee_function();
                forks(call) || callee.is_some_and(|callee| self.forking.contains(&callee))
            });
            let touches = instructions().any(|at| {
                let effect = self.effect(at);
                matches!(
                    effect,
                    Effect::Accesses | Effect::Touches | Effect::Calls(_)
                )
            });
            if touches && !may_fork {
                for &block in &one.blocks {
                    found.entry(block).or_insert(number);
                }
            }
        }
        found
    }

    fn follow(&mut self, function: Function<'m>, loops: &SerialLoops<'m>) {
        let blocks = function.blocks();
        let mut unannounced: HashMap<Block<'m>, bool> = HashMap::new();
        let mut rest: Vec<Block<'m>> = blocks.iter().rev().copied().collect();
        if self.entered.contains(&function) {
            unannounced.insert(blocks[0], true);
        }
        while let Some(block) = rest.pop() {
            let at_start = unannounced.get(&block) == Some(&true);
            let at_end = self.pass_through(block, at_start, loops, false);
            let announces = entered_loop(block, loops).is_some();
            for next in block.successors() {
                if at_end && !announces && unannounced.insert(next, true) != Some(true) {
                    rest.push(next);
                }
            }
        }
        for block in blocks {
            let at_start = unannounced.get(&block) == Some(&true);
            self.pass_through(block, at_start, loops, true);
        }
    }

    /// Whether nothing is announced at the end of a block, given that at its start. Records what it
    /// finds where `record` says so.
    fn pass_through(
        &mut self,
        block: Block<'m>,
        mut unannounced: bool,
        loops: &SerialLoops<'m>,
        record: bool,
    ) -> bool {
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
                Effect::Accesses if !loops.contains_key(&block) => {
                    if unannounced && record {
                        self.plan.accesses.push(at);
                    }
                }
                Effect::Accesses | Effect::Touches => {
                    if unannounced && record {
                        self.plan.announcements.push(at);
                    }
                    unannounced = false;
                }
            }
            if !(unannounced && record) {
                continue;
            }
            if at.opcode() == Opcode::LLVMRet {
                self.left.insert(at.function());
            }
            if Some(at) == entered_loop(block, loops) {
                self.plan.announcements.push(at);
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
                _ => Effect::Accesses,
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
        if forks(call) {
            return Effect::Forks;
        }
        // What one rank does instead, and an announcement that concerns one access.
        if effects(call).has(Effects::FORKS_BODY) || name == f::okl_mpi_serial_access.name {
            return Effect::Harmless;
        }
        let is_declared = call.callee_function().is_some_and(Function::is_declaration);
        let is_harmless = || {
            HARMLESS.iter().any(|&harmless| name.starts_with(harmless))
                || is_mathematics(&name)
                || function_of(&name).is_some_and(|function| touches_nothing(call, function))
        };
        let fills_small = || {
            let pointers = call
                .arguments()
                .into_iter()
                .filter(|one| one.ty().is_pointer());
            FILLS.iter().any(|&fills| name.starts_with(fills))
                && pointers.into_iter().all(|one| self.is_small(one))
        };
        if is_declared && (is_harmless() || fills_small()) {
            return Effect::Harmless;
        }
        match call.callee_function() {
            Some(callee) if self.known.contains(&callee) => Effect::Calls(callee),
            _ => Effect::Touches,
        }
    }

    /// Whether an address lies on the stack or in a small global variable of this module that the run time knows.
    fn is_small(&self, address: Value<'m>) -> bool {
        let base = base_of(address);
        match base.as_global() {
            // What another file defines may be larger than it is declared here.
            Some(global) => {
                let size = self.module.size_of(global.value_type());
                !global.is_declaration()
                    && (1..=LARGEST_UNANNOUNCED as u64).contains(&size)
                    && !(global.is_local() && global.has_comdat())
            }
            None => base.as_op(Opcode::LLVMAlloca).is_some(),
        }
    }
}
