//! Regions whose atomic accesses follow on each other too fast for ranks: each has to be carried out at once, as its value is
//! used or orders others, and little is computed between two of them.
//!
//! Guarantee: what is said here is about time alone; a region is right wherever it runs. A loop counts where each turn may be
//! short, whatever else others do; one that tries an access until it succeeds does not count: what it is tried for may be
//! long. Where the threads meet in loops, the other loops between two meetings must be short, too: they have no loops
//! in them.

use std::collections::HashSet;

use okl_abi::{Effects, f};

use crate::analysis::call_graph::reached;
use crate::analysis::control_flow;
use crate::analysis::library::is_mathematics;
use crate::analysis::memory::private_variable;
use crate::analysis::runtime;
use crate::llvm::{Block, Call, Function, Instruction, NaturalLoop, Opcode, Value};

/// A turn of so many instructions takes less than a microsecond.
const SHORT: usize = 500;
/// Bytes that are copied in such a turn.
const FEW: i64 = 256;

/// The first atomic access of a region that makes it such a one. The region's body is simplified, with what it calls inlined.
pub fn first(body: Function<'_>) -> Option<Instruction<'_>> {
    let functions = reached(body);
    let mut first = None;
    for &function in &functions {
        let loops = Turns::of(function);
        let accesses = function.instructions().into_iter();
        let dense: Vec<_> = accesses
            .filter(|one| one.as_call().is_some_and(is_at_once))
            .filter(|&at| is_dense(&loops, at))
            .collect();
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
