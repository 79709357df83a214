//! Regions whose atomic accesses follow on each other too fast for ranks: each has to be carried out at once, as its value is
//! used or orders others, and little is computed between two of them. So do critical sections that keep their lock, and
//! others' locks: with each goes what was written before.
//!
//! Guarantee: what is said here is about time alone; a region is right wherever it runs. A loop counts where each turn may be
//! short, whatever else others do; one that tries an access until it succeeds does not count: what it is tried for may be
//! long. Turns that take a lock must be short as they are, inner loops that turn a few times included, but for what critical
//! sections do: no other thread does that meanwhile, wherever it runs.
//! Where the threads meet in loops, the other loops between two meetings must be short, too: they have no loops in them.

use std::collections::HashSet;

use okl_abi::{Effects, f};

use crate::analysis::call_graph::reached;
use crate::analysis::control_flow;
use crate::analysis::critical::body_of;
use crate::analysis::library::is_mathematics;
use crate::analysis::memory::private_variable;
use crate::analysis::runtime;
use crate::llvm::{
    Block, Call, Code, Evolution, Function, Instruction, NaturalLoop, Opcode, Value,
};

/// A turn of so many instructions takes less than a microsecond.
const SHORT: usize = 500;
/// One of so many takes less than a lock does between machines.
const SHORT_FOR_LOCK: u64 = 5000;
/// Bytes that are copied in such a turn.
const FEW: i64 = 256;

/// The first atomic access, or the first call that takes a lock, that makes a region such a one. The region's body is simplified, with what it calls inlined.
pub fn first(body: Function<'_>) -> Option<Instruction<'_>> {
    let functions = reached(body);
    let mut first = None;
    for &function in &functions {
        let loops = Turns::of(function);
        let accesses = function.instructions().into_iter();
        let dense = accesses
            .filter(|one| one.as_call().is_some_and(is_at_once))
            .filter(|&at| is_dense(&loops, at));
        let dense: Vec<_> = dense.chain(dense_locks(function)).collect();
        first = first.or(dense.first().copied());
        if has_long_rounds(function, function == body, &loops, &dense) {
            return None;
        }
    }
    first
}

/// Whether threads meet in a loop of a function in which there may be much to do between two meetings besides `dense`
/// accesses. What the body calls it may call often.
fn has_long_rounds<'m>(
    function: Function<'m>,
    is_body: bool,
    loops: &[Turns<'m>],
    dense: &[Instruction<'m>],
) -> bool {
    let meetings: Vec<_> = function
        .instructions()
        .into_iter()
        .filter(|one| {
            let called = one.as_call().and_then(runtime::function);
            called.is_some_and(|one| one.effects.has(Effects::BARRIER))
        })
        .collect();
    if !is_body {
        return !meetings.is_empty();
    }
    let has = |one: &Turns<'m>, all: &[Instruction<'m>]| {
        all.iter().any(|at| one.blocks.contains(&at.block()))
    };
    let is_long = |one: &Turns<'m>| {
        !has(one, &meetings)
            && !has(one, dense)
            && loops.iter().any(|other| other.is_in(one) && !other.waits)
    };
    let mut rounds = loops.iter().filter(|one| has(one, &meetings));
    rounds.any(|round| loops.iter().any(|one| one.is_in(round) && is_long(one)))
}

/// Whether a call is an atomic access of memory that others may share, which cannot wait.
fn is_at_once(call: Call<'_>) -> bool {
    const ORDERS: [&str; 2] = [
        f::okl_mpi_atomic_release.name,
        f::okl_mpi_atomic_acquire.name,
    ];
    let Some(function) = runtime::function(call) else {
        return false;
    };
    let address = call
        .arguments()
        .into_iter()
        .find(|one| one.ty().is_pointer());
    function.effects.has(Effects::ATOMIC)
        && !function.effects.has(Effects::UPDATES)
        && !ORDERS.contains(&function.name)
        && address.is_some_and(|one| private_variable(one).is_none())
}

/// A loop, and whether what an atomic access yields, or another thread, ends it.
struct Turns<'m> {
    natural: NaturalLoop<'m>,
    blocks: HashSet<Block<'m>>,
    waits: bool,
}

impl<'m> Turns<'m> {
    /// The loops of a function.
    fn of(function: Function<'m>) -> Vec<Self> {
        let loops = function.loops().into_iter();
        let mut found: Vec<Self> = loops.map(Self::of_loop).collect();
        // What turns is the innermost loop.
        let turns = function.instructions().into_iter();
        for at in turns.filter(|at| is_turn_of_wait(*at)) {
            let around = found.iter_mut();
            let around = around.filter(|one| one.blocks.contains(&at.block()));
            if let Some(one) = around.min_by_key(|one| one.blocks.len()) {
                one.waits = true;
            }
        }
        found
    }

    fn of_loop(natural: NaturalLoop<'m>) -> Self {
        let blocks: HashSet<_> = natural.blocks.iter().copied().collect();
        let ends = blocks.iter().filter(|one| {
            let next = one.successors();
            next.iter().any(|next| !blocks.contains(next))
        });
        let mut conditions = ends.filter_map(|one| condition(*one));
        let waits = conditions.any(|one| follows_from_access(one, &blocks));
        Self {
            natural,
            blocks,
            waits,
        }
    }

    fn is_in(&self, other: &Self) -> bool {
        self.natural.header != other.natural.header && other.blocks.contains(&self.natural.header)
    }
}

fn is_turn_of_wait(at: Instruction<'_>) -> bool {
    let function = at.as_call().and_then(runtime::function);
    function.is_some_and(|one| one.name == f::okl_mpi_waits_here.name)
}

/// What a block's end chooses by.
fn condition(block: Block<'_>) -> Option<Value<'_>> {
    let end = block.terminator()?;
    let chooses = matches!(end.opcode(), Opcode::LLVMBr | Opcode::LLVMSwitch);
    (chooses && block.successors().len() > 1).then(|| end.operand(0))
}

/// Whether a value follows from what an atomic access in some of `blocks` yields, or is a choice by that.
fn follows_from_access<'m>(value: Value<'m>, blocks: &HashSet<Block<'m>>) -> bool {
    let mut seen = HashSet::new();
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        let Some(at) = value.as_instruction() else {
            continue;
        };
        if !blocks.contains(&at.block()) || !seen.insert(value) {
            continue;
        }
        match at.opcode() {
            Opcode::LLVMLoad => {}
            Opcode::LLVMCall | Opcode::LLVMInvoke => {
                if at.as_call().is_some_and(is_at_once) {
                    return true;
                }
            }
            Opcode::LLVMPHI => {
                let incoming = at.incoming();
                let constants = incoming.iter().filter(|(one, _)| one.is_constant());
                if constants.clone().count() > 1 {
                    rest.extend(constants.filter_map(|(_, from)| condition(*from)));
                }
                rest.extend(incoming.iter().map(|(one, _)| *one));
            }
            _ => rest.extend(at.operands()),
        }
    }
    false
}

/// Whether an access is executed in each of the turns of a loop, where these are short.
fn is_dense<'m>(loops: &[Turns<'m>], at: Instruction<'m>) -> bool {
    let around = loops.iter().filter(|one| one.blocks.contains(&at.block()));
    // The innermost one that does not wait.
    let Some(turns) = around
        .filter(|one| !one.waits)
        .min_by_key(|one| one.blocks.len())
    else {
        return false;
    };
    let inner = || loops.iter().filter(|one| one.is_in(turns));
    let is_short = |block: &Block<'m>| {
        inner().all(|one| one.waits || !one.blocks.contains(block))
            && block.instructions().into_iter().all(is_short)
    };
    let short: HashSet<_> = turns.blocks.iter().copied().filter(is_short).collect();
    let next = |block: Block<'m>| -> Vec<_> {
        let next = block.successors().into_iter();
        next.filter(|next| short.contains(next)).collect()
    };
    let header = turns.natural.header;
    let instructions = short.iter().map(|one| one.instructions().len());
    instructions.sum::<usize>() <= SHORT
        && short.contains(&header)
        && control_flow::reached(vec![header], next).contains(&at.block())
        && control_flow::reached(next(at.block()), next).contains(&header)
}

/// Whether a call takes a lock for which others may wait.
pub fn takes_lock(call: Call<'_>) -> bool {
    const SET: [&str; 2] = [
        f::okl_mpi_omp_set_lock.name,
        f::okl_mpi_omp_set_nest_lock.name,
    ];
    runtime::function(call)
        .is_some_and(|one| one.effects.has(Effects::ENTERS) || SET.contains(&one.name))
}

/// Whether a call takes a lock or gives it back.
fn is_of_lock(call: Call<'_>) -> bool {
    const UNSET: [&str; 2] = [
        f::okl_mpi_omp_unset_lock.name,
        f::okl_mpi_omp_unset_nest_lock.name,
    ];
    takes_lock(call)
        || runtime::function(call)
            .is_some_and(|one| one.effects.has(Effects::LEAVES) || UNSET.contains(&one.name))
}

/// The locks of a function that are taken in each of the turns of a loop, where these are short.
fn dense_locks<'m>(function: Function<'m>) -> Vec<Instruction<'m>> {
    let all = function.instructions().into_iter();
    let taken: Vec<_> = all
        .filter(|at| at.as_call().is_some_and(takes_lock))
        .collect();
    if taken.is_empty() {
        return taken;
    }
    // What critical sections do.
    let bodies = taken.iter().filter_map(|at| body_of(at.as_call()?).ok());
    let apart: HashSet<_> = bodies.flat_map(|body| body.instructions).collect();
    let code = Evolution::of(Code::open(function));
    let is_dense = |at: &Instruction<'m>| !apart.contains(at) && is_dense_lock(&code, &apart, *at);
    taken.into_iter().filter(is_dense).collect()
}

/// Whether a lock is taken in each of the turns of a loop, where these are short, but for what critical sections do.
fn is_dense_lock<'m>(
    code: &Evolution<'m>,
    apart: &HashSet<Instruction<'m>>,
    at: Instruction<'m>,
) -> bool {
    let Some(turns) = code.loop_of(at.block()) else {
        return false;
    };
    let times = |one: usize| {
        let back = code.backedge_taken_count(one)?.constant()?;
        u64::try_from(back).ok()?.checked_add(1)
    };
    // How many instructions a block executes in a turn.
    let length = |block: Block<'m>| {
        let all = block.instructions().into_iter();
        let rest: Vec<_> = all.filter(|one| !apart.contains(one)).collect();
        if rest.is_empty() {
            return Some(0);
        }
        let is_short =
            |one: &Instruction<'m>| one.as_call().is_some_and(is_of_lock) || is_short(*one);
        let mut inner = code.loops_around(block).take_while(|&one| one != turns);
        let each = rest.len() as u64;
        rest.iter()
            .all(is_short)
            .then(|| inner.try_fold(each, |so_far, one| so_far.checked_mul(times(one)?)))?
    };
    let natural = &code.loops()[turns];
    let sum = |so_far: u64, &block: &Block<'m>| so_far.checked_add(length(block)?);
    let whole = natural.blocks.iter().try_fold(0, sum);
    let is_short = whole.is_some_and(|whole| whole <= SHORT_FOR_LOCK);
    let latch = natural.latch;
    is_short && latch.is_some_and(|latch| code.dominates(at.block(), latch))
}

/// Whether an instruction takes little time.
fn is_short(at: Instruction<'_>) -> bool {
    let Some(call) = at.as_call() else {
        return at.opcode() != Opcode::LLVMCallBr;
    };
    if let Some(function) = runtime::function(call) {
        return function.effects.has(Effects::ATOMIC)
            || function.effects.has(Effects::HIDDEN)
            || function.name == f::okl_mpi_waits_here.name;
    }
    let Some(callee) = call.callee_function() else {
        return false;
    };
    let name = callee.name();
    let copies = || call.argument(2).and_then(|bytes| bytes.as_constant_int());
    match callee.is_intrinsic() {
        true if name.starts_with("llvm.mem") => copies().is_some_and(|bytes| bytes <= FEW),
        true => true,
        false => is_mathematics(&name),
    }
}
