//! Loops that wait for another thread without a synchronisation point.
//!
//! Changes by threads of other processes arrive at synchronisation points, so a loop that only looks at memory until
//! another thread has changed it would look for ever, or go on with old data around it. An atomic access
//! that acquires, or has a flush or a fence beside it in every turn, is such a point: it looks at the one
//! place where all of them change the variable, brings in what was released before, and lets go what this process
//! has collected for others. A load that is not atomic, with a flush, is none: what another thread writes by a
//! store may stay with it until it synchronises itself, which it may do by waiting for this one.
//! A waiting loop ends when a volatile, atomic or watched load changes, or when an exchange on one place finds the
//! value it keeps asking for (a spin lock). A load is watched where the loop makes the compiler read
//! memory again: by a flush, a fence, a pause, or an exchange on the same place. Not meant are loops with a synchronisation point in
//! them, loops that update memory by compare-and-swap, and loops that count and do work.

pub mod endless;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use okl_abi::{AtomicOp, Effects};

use crate::analysis::call_graph::CallGraph;
use crate::analysis::library::{Effect, known};
use crate::analysis::loops::{LoopView, is_same_address};
use crate::analysis::memory::{base_of, private_variable};
use crate::analysis::runtime::{effects, effects_of};
use crate::llvm::{Block, Call, Function, Instruction, Opcode, Value};

/// How many calls deep the functions are followed through which C++ reaches its atomics.
const DEPTH: usize = 5;

/// Instructions such a function may have: a compare-and-swap for each pair of memory orders.
const ACCESSOR_SIZE: usize = 1000;

/// What is noted of loads of variables that no region changes: they are not what a loop in a region waits for.
pub const CONSTANT: &str = "okl.constant";

/// A waiting loop.
pub struct Waiting<'m> {
    /// The access that it waits with.
    pub at: Instruction<'m>,
    /// The first block of the loop.
    pub header: Block<'m>,
    /// Whether the loop has a flush or a fence.
    flushes: bool,
}

impl Waiting<'_> {
    /// What it does, as the end of a sentence that begins with "it".
    pub fn reason(&self) -> &'static str {
        match self.flushes {
            true => {
                "waits with a flush for another thread to change a variable, but does not read it atomically: what a \
                 thread writes arrives where it synchronises itself"
            }
            false => {
                "waits for another thread to change a variable, without a synchronisation point"
            }
        }
    }
}

/// What is remembered of functions from one loop to the next.
pub struct Callees<'a, 'm> {
    graph: &'a CallGraph<'m>,
    accesses: RefCell<HashMap<Function<'m>, Option<Accesses>>>,
    synchronises: RefCell<HashMap<Function<'m>, bool>>,
}

impl<'a, 'm> Callees<'a, 'm> {
    /// Nothing yet.
    pub fn new(graph: &'a CallGraph<'m>) -> Self {
        Self {
            graph,
            accesses: RefCell::default(),
            synchronises: RefCell::default(),
        }
    }
}

/// The waiting loops of a function, outer ones first.
pub fn find<'m>(function: Function<'m>, callees: &Callees<'_, 'm>) -> Vec<Waiting<'m>> {
    if !function
        .instructions()
        .into_iter()
        .any(|i| may_synchronise(i, callees))
    {
        return Vec::new();
    }
    let views: Vec<_> = function.loops().iter().map(LoopView::of).collect();
    let mut found: Vec<Waiting<'m>> = Vec::new();
    for view in &views {
        if let Some(at) = waits_with(view, callees) {
            // The inner one of two loops that wait with the same access.
            found.retain(|outer| outer.at != at);
            found.push(Waiting {
                at,
                header: view.header,
                flushes: view.instructions.iter().copied().any(flushes),
            });
        }
    }
    found
}

fn may_synchronise<'m>(instruction: Instruction<'m>, callees: &Callees<'_, 'm>) -> bool {
    instruction.is_atomic_access()
        || instruction.is_volatile_load()
        || instruction
            .as_call()
            .is_some_and(|call| callees.accesses(call).is_some())
        || makes_reload(instruction)
}

fn waits_with<'m>(view: &LoopView<'m>, callees: &Callees<'_, 'm>) -> Option<Instruction<'m>> {
    let calls = || {
        view.instructions
            .iter()
            .filter_map(|instruction| instruction.as_call())
    };
    if calls().any(|call| callees.synchronises(call)) {
        return None;
    }
    let reloads = view.instructions.iter().copied().any(makes_reload);
    if view.counts(&view.decides_exit()) && works(view, callees) {
        return None;
    }
    let brings_in = view.always_meets(acquires_all);
    let synchronises = |instruction| match callees.asks(instruction) {
        Asks::AndAcquires => true,
        Asks::Atomically => brings_in,
        Asks::Otherwise => false,
    };
    // Not what such an access only takes its address from.
    let decides = view.decides_exit_through(|instruction| !synchronises(instruction));
    let decides: HashSet<_> = decides.into_iter().collect();
    view.instructions
        .iter()
        .copied()
        .filter(|instruction| decides.contains(instruction) && !synchronises(*instruction))
        .find(|&instruction| is_wait(view, instruction, reloads, callees))
}

fn is_wait<'m>(
    view: &LoopView<'m>,
    instruction: Instruction<'m>,
    reloads: bool,
    callees: &Callees<'_, 'm>,
) -> bool {
    let unchanging =
        |address: Value<'_>| private_variable(address).is_none() && view.is_invariant(address);
    match instruction.opcode() {
        Opcode::LLVMLoad => {
            let address = instruction.operand(0);
            if instruction.has_note(CONSTANT) {
                return false;
            }
            let is_watched =
                reloads || instruction.is_atomic_access() || instruction.is_volatile_load();
            unchanging(address)
                && (is_watched && !is_written(view, address) || is_exchanged(view, address))
        }
        Opcode::LLVMAtomicRMW => {
            let sets = instruction.atomic_operation().is_some_and(sets)
                && is_stale(view, instruction.operand(1), &mut HashSet::new());
            unchanging(instruction.operand(0)) && (sets || only_looks(instruction))
        }
        Opcode::LLVMAtomicCmpXchg => {
            unchanging(instruction.operand(0))
                && is_stale(view, instruction.operand(1), &mut HashSet::new())
        }
        Opcode::LLVMCall | Opcode::LLVMInvoke => instruction
            .as_call()
            .is_some_and(|call| is_waiting_call(view, call, callees)),
        _ => false,
    }
}

fn is_waiting_call<'m>(view: &LoopView<'m>, call: Call<'m>, callees: &Callees<'_, 'm>) -> bool {
    let Some(accesses) = callees.accesses(call) else {
        return false;
    };
    let arguments = call.arguments();
    if !arguments
        .iter()
        .all(|&argument| view.is_invariant(argument))
    {
        return false;
    }
    if accesses.compares {
        // The expected value is passed by address: asked for again if the loop resets it.
        let variables = arguments
            .iter()
            .filter_map(|&argument| base_of(argument).as_op(Opcode::LLVMAlloca));
        return variables.into_iter().any(|variable| {
            view.instructions.iter().any(|store| {
                store.opcode() == Opcode::LLVMStore
                    && base_of(store.operand(1)) == *variable
                    && is_stale(view, store.operand(0), &mut HashSet::new())
            })
        });
    }
    accesses.exchanges || accesses.loads
}

/// Whether an update leaves memory as it is: adds, subtracts or flips nothing.
fn only_looks(update: Instruction<'_>) -> bool {
    let keeps_by_zero = |one| matches!(one, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor);
    update.atomic_operation().is_some_and(keeps_by_zero) && is_zero(update.operand(1))
}

/// Whether an operation sets what may be set already.
fn sets(operation: AtomicOp) -> bool {
    matches!(operation, AtomicOp::Xchg | AtomicOp::And | AtomicOp::Or)
}

/// Whether a value is the constant 0, which at -O0 is first kept in a variable.
fn is_zero(value: Value<'_>) -> bool {
    let kept_in = |load: Instruction<'_>| {
        private_variable(load.operand(0)).is_some_and(|variable| {
            let users = variable.instruction_users();
            let mut stores = users
                .into_iter()
                .filter(|user| user.opcode() == Opcode::LLVMStore)
                .peekable();
            stores.peek().is_some()
                && stores.all(|store| store.operand(0).as_constant_int() == Some(0))
        })
    };
    value.as_constant_int() == Some(0) || value.as_op(Opcode::LLVMLoad).is_some_and(kept_in)
}

/// Whether the loop itself changes what is at an address.
fn is_written(view: &LoopView<'_>, address: Value<'_>) -> bool {
    view.instructions.iter().any(|instruction| {
        instruction.opcode() != Opcode::LLVMLoad
            && instruction
                .address()
                .is_some_and(|written| is_same_address(written, address))
    })
}

/// Whether the loop keeps asking for one value at an address, although what it finds there is looked
/// at by another load.
fn is_exchanged<'m>(view: &LoopView<'m>, address: Value<'m>) -> bool {
    view.instructions.iter().any(|exchange| {
        exchange.opcode() == Opcode::LLVMAtomicCmpXchg
            && is_same_address(exchange.operand(0), address)
            && is_stale(view, exchange.operand(1), &mut HashSet::new())
    })
}

/// Whether a value that the loop compares with may be the same in the next iteration although
/// memory has changed: it comes from a constant or from before the loop.
fn is_stale<'m>(
    view: &LoopView<'m>,
    value: Value<'m>,
    seen: &mut HashSet<Instruction<'m>>,
) -> bool {
    let Some(instruction) = value.as_instruction().filter(|i| view.contains(*i)) else {
        return true;
    };
    if !seen.insert(instruction) {
        return false;
    }
    match instruction.opcode() {
        Opcode::LLVMLoad => match private_variable(instruction.operand(0)) {
            Some(variable) => {
                let stores = view.stored_into(variable);
                stores.is_empty()
                    || stores
                        .iter()
                        .any(|store| is_stale(view, store.operand(0), seen))
            }
            None => false,
        },
        Opcode::LLVMPHI => {
            let at_header = instruction.block() == view.header;
            instruction.incoming().into_iter().any(|(value, from)| {
                // What comes from before the loop is only the first guess.
                let first = at_header && from.terminator().is_some_and(|end| !view.contains(end));
                !first && is_stale(view, value, seen)
            })
        }
        Opcode::LLVMAtomicRMW
        | Opcode::LLVMAtomicCmpXchg
        | Opcode::LLVMCall
        | Opcode::LLVMInvoke => false,
        _ => instruction
            .operands()
            .into_iter()
            .all(|operand| is_stale(view, operand, seen)),
    }
}

/// Whether the loop does something besides waiting: writes shared memory, walks through memory, or
/// calls functions other than those one waits with.
fn works<'m>(view: &LoopView<'m>, callees: &Callees<'_, 'm>) -> bool {
    view.instructions
        .iter()
        .any(|instruction| match instruction.opcode() {
            Opcode::LLVMStore => {
                !instruction.is_atomic_access()
                    && private_variable(instruction.operand(1)).is_none()
            }
            Opcode::LLVMLoad => {
                let address = instruction.operand(0);
                private_variable(address).is_none() && !view.is_invariant(address)
            }
            Opcode::LLVMCall | Opcode::LLVMInvoke => instruction
                .as_call()
                .is_some_and(|call| !is_idle(call, callees)),
            _ => false,
        })
}

/// Functions of the C library that give other threads time.
const PAUSES: [&str; 8] = [
    "sched_yield",
    "pthread_yield",
    "thrd_yield",
    "thrd_sleep",
    "usleep",
    "sleep",
    "nanosleep",
    "clock_nanosleep",
];

/// Calls that tell the time.
const CLOCKS: [&str; 4] = ["clock", "clock_gettime", "gettimeofday", "time"];

fn gives_time(call: Call<'_>) -> bool {
    is_one_of(call, &PAUSES) || effects(call).has(Effects::YIELDS)
}

/// Whether a call is of a function outside the module that has one of these names.
fn is_one_of(call: Call<'_>, names: &[&str]) -> bool {
    let callee = call.callee_function().filter(|one| one.is_declaration());
    callee.is_some_and(|callee| names.contains(&callee.name().as_str()))
}

/// Whether the compiler has to read memory again after an instruction that does no work.
fn makes_reload(instruction: Instruction<'_>) -> bool {
    if instruction.opcode() == Opcode::LLVMFence {
        return true;
    }
    let Some(call) = instruction.as_call() else {
        return false;
    };
    if let Some((_, constraints, _)) = call.callee().as_inline_assembly() {
        return constraints.split(',').any(|item| item == "~{memory}");
    }
    let name = call.callee_name();
    is_flush(call) || gives_time(call) || name.starts_with("llvm.x86.sse2.pause")
}

fn is_idle<'m>(call: Call<'m>, callees: &Callees<'_, 'm>) -> bool {
    let Some(callee) = call.callee_function() else {
        return call.callee().as_inline_assembly().is_some();
    };
    callee.is_intrinsic()
        || is_flush(call)
        || gives_time(call)
        || effects(call).has(Effects::ASKS)
        || is_one_of(call, &CLOCKS)
        || callees.accesses(call).is_some()
}

/// How an instruction asks for what another thread writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// Atomically, and what was released with it is seen then.
    AndAcquires,
    /// Atomically.
    Atomically,
    /// By a load that may find a copy, or not at all.
    Otherwise,
}

impl Asks {
    fn atomically(access: Instruction<'_>) -> Self {
        match access.releases_and_acquires().1 {
            true => Self::AndAcquires,
            false => Self::Atomically,
        }
    }
}

/// Whether what other threads have released is seen after an instruction, whatever they released it with.
fn acquires_all(instruction: Instruction<'_>) -> bool {
    instruction.is_thread_fence() && instruction.releases_and_acquires().1
        || instruction.as_call().is_some_and(is_flush)
}

/// Whether an instruction is such a one, or calls a function that has some.
fn flushes(instruction: Instruction<'_>) -> bool {
    let callee = instruction
        .as_call()
        .and_then(|call| call.callee_function());
    let inner = callee.into_iter().flat_map(|callee| callee.instructions());
    acquires_all(instruction) || inner.into_iter().any(acquires_all)
}

pub(super) fn is_flush(call: Call<'_>) -> bool {
    effects(call).has(Effects::FLUSHES)
}

impl<'m> Callees<'_, 'm> {
    /// Whether a call is, or contains, a point at which changes of other threads arrive.
    fn synchronises(&self, call: Call<'m>) -> bool {
        let Some(callee) = call.callee_function() else {
            return false;
        };
        if callee.is_declaration() {
            return effects(call).has(Effects::ACQUIRES);
        }
        if let Some(&known) = self.synchronises.borrow().get(&callee) {
            return known;
        }
        let reach = self.graph.reachable(callee);
        let answer = reach
            .into_iter()
            .filter_map(|inner| self.graph.node(inner))
            .any(|node| {
                node.mentions
                    .iter()
                    .any(|mentioned| effects_of(&mentioned.name()).has(Effects::ACQUIRES))
            });
        self.synchronises.borrow_mut().insert(callee, answer);
        answer
    }

    /// How an instruction asks for what another thread writes.
    fn asks(&self, instruction: Instruction<'m>) -> Asks {
        if instruction.is_atomic_access() {
            return Asks::atomically(instruction);
        }
        let call = instruction.as_call();
        let accesses = call.and_then(|call| Some((call, self.accesses(call)?)));
        accesses.map_or(Asks::Otherwise, |(call, accesses)| accesses.asks(call))
    }

    /// The atomic accesses of the callee, where it is a small function that does nothing else.
    fn accesses(&self, call: Call<'m>) -> Option<Accesses> {
        let callee = call
            .callee_function()
            .filter(|callee| !callee.is_declaration())?;
        if let Some(&known) = self.accesses.borrow().get(&callee) {
            return known;
        }
        let answer =
            collect(callee, DEPTH).filter(|found| found.loads || found.exchanges || found.compares);
        self.accesses.borrow_mut().insert(callee, answer);
        answer
    }
}

/// The atomic accesses of a small function that does nothing else, such as a member of
/// `std::atomic`.
#[derive(Clone, Copy, Default)]
struct Accesses {
    loads: bool,
    exchanges: bool,
    compares: bool,
    /// Whether some access is not atomic.
    is_plain: bool,
    /// Whether some access, and whether some does not, acquires.
    acquires: bool,
    not_acquires: bool,
}

impl Accesses {
    fn note(&mut self, asks: Asks) {
        match asks {
            Asks::AndAcquires => self.acquires = true,
            Asks::Atomically => self.not_acquires = true,
            Asks::Otherwise => self.is_plain = true,
        }
    }

    /// What a call of the function does.
    fn asks(self, call: Call<'_>) -> Asks {
        // The order is the last argument of what has accesses of several orders, in the numbers of C.
        const ACQUIRING: [i64; 4] = [1, 2, 4, 5];
        let order = call
            .arguments()
            .last()
            .and_then(|one| one.as_constant_int());
        let is_chosen = order.is_some_and(|order| ACQUIRING.contains(&order));
        match () {
            () if self.is_plain => Asks::Otherwise,
            () if self.acquires && (!self.not_acquires || is_chosen) => Asks::AndAcquires,
            () => Asks::Atomically,
        }
    }
}

fn collect(function: Function<'_>, depth: usize) -> Option<Accesses> {
    let instructions = function.instructions();
    if depth == 0 || function.is_declaration() || instructions.len() > ACCESSOR_SIZE {
        return None;
    }
    let mut found = Accesses::default();
    let reloads = instructions.iter().copied().any(makes_reload);
    for instruction in instructions {
        match instruction.opcode() {
            Opcode::LLVMLoad if instruction.is_atomic_access() => {
                found.loads = true;
                found.note(Asks::atomically(instruction));
            }
            Opcode::LLVMLoad => {
                let is_watched = instruction.is_volatile_load()
                    || reloads && private_variable(instruction.operand(0)).is_none();
                if is_watched {
                    found.loads = true;
                    found.note(Asks::Otherwise);
                }
            }
            Opcode::LLVMAtomicRMW => {
                match instruction.atomic_operation() {
                    _ if only_looks(instruction) => found.loads = true,
                    Some(operation) if sets(operation) => found.exchanges = true,
                    _ => return None,
                }
                found.note(Asks::atomically(instruction));
            }
            Opcode::LLVMAtomicCmpXchg => {
                found.compares = true;
                found.note(Asks::atomically(instruction));
            }
            Opcode::LLVMStore if instruction.is_atomic_access() => return None,
            Opcode::LLVMCall | Opcode::LLVMInvoke => {
                if makes_reload(instruction) {
                    continue;
                }
                let call = instruction.as_call()?;
                let callee = call.callee_function()?;
                let name = callee.name();
                let harmless = callee.is_intrinsic()
                    || callee.is_declaration()
                        && known(&name).is_some_and(|known| known.effect == Effect::None);
                if !harmless {
                    let inner = collect(callee, depth - 1)?;
                    found.loads |= inner.loads;
                    found.exchanges |= inner.exchanges;
                    found.compares |= inner.compares;
                    if inner.loads || inner.exchanges || inner.compares {
                        found.note(inner.asks(call));
                        // Which of them it is the caller may choose.
                        found.acquires |= inner.acquires && !inner.is_plain;
                    }
                }
            }
            _ => {}
        }
    }
    if has_loop(function) {
        None
    } else {
        Some(found)
    }
}

fn has_loop(function: Function<'_>) -> bool {
    !function.loops().is_empty()
}
