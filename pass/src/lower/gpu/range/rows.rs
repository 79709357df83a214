//! Loops that lie in the iterations of a region's loop and go along rows of arrays: work items that lie next to each other
//! have elements of a row that do. So a warp asks memory for a few sectors where one that has a row for each of its work
//! items asks for one each.
//!
//! How many work items share a row the host says: a power of two, and 1 where it cannot be more, which leaves a row to each
//! work item. All of them run the iteration, and of the loops in it each every so many turns, from its own one on. Where the
//! loops are in others, or have others in them, these each work item runs as they are; but where turns of one around each of
//! them are independent, too, work items share both, and each has a number of its own in either direction.
//!
//! Guarantee: in one iteration what a turn writes no other turn accesses that another work item may have, and what stands
//! around these loops changes nothing that others see, and reads nothing that they write: so it is the same for all that
//! share an iteration, and each element is computed by one of them, in the order of the program. Where that depends on values,
//! the host asks in front of the launch. (What other iterations access they may at any time.)

mod accesses;
mod emit;
mod numbers;
mod shared;

pub(super) use shared::{Powers, Shared};

use okl_abi::Effects;

use super::checks::tells_only;
use super::uniform::Evaluated;
use super::wide::Copy;
use super::{Passed, calls};
use crate::analysis::runtime::{self, effects};
use crate::analysis::variables::is_harmless;
use crate::llvm::{
    Block, Call, Code, Evolution, Function, Instruction, Module, Opcode, Reach, Value,
};
use crate::lower::gpu::math;
use accesses::Turns;
use shared::LEAST_TURNS;

/// Bytes from one turn's element to the next one's, at most.
const MOST_STEP: i64 = 1 << 20;
/// Bytes within which next to each other is near.
const NEAR: i64 = 64;
/// Operations of a number that the host computes, at most.
const MOST_OPERATIONS: usize = 40;
/// Instructions around these loops, at most, which each of the work items runs that share a row, and how many a call counts as.
const MOST_AROUND: usize = 64;
const OF_CALL: usize = 32;
/// Questions of the host's, at most.
const MOST_QUESTIONS: usize = 48;

/// Loops whose turns work items share.
pub(super) struct Rows<'d> {
    loops: Vec<Row<'d>>,
    shared: Shared,
}

/// One of them: its header asks whether there is another turn, and does nothing else.
struct Row<'d> {
    header: Block<'d>,
    preheader: Block<'d>,
    latch: Block<'d>,
    /// Whether there is another turn where it is so what it asks.
    yes: bool,
    counters: Vec<Counter<'d>>,
    /// In which direction it is shared: 0 is that of work items next to each other.
    direction: usize,
    /// Its number of turns, in the list of what the host is asked about.
    turns: usize,
}

/// What counts turns.
struct Counter<'d> {
    phi: Instruction<'d>,
    /// What is added in each.
    by: i64,
    /// What computes the next one.
    next: Instruction<'d>,
}

/// Loops that work items share: that along whose turns neighbours lie next to each other, and one around it.
#[derive(Clone, Copy, PartialEq)]
struct Lanes {
    along: usize,
    across: Option<usize>,
}

impl Lanes {
    fn all(self) -> impl Iterator<Item = usize> {
        std::iter::once(self.along).chain(self.across)
    }
}

/// What is looked at.
struct Look<'a, 'd> {
    module: &'d Module,
    code: Evolution<'d>,
    /// The loop over iterations, and the first one's number there.
    iterations: usize,
    first: Value<'d>,
    signed: bool,
    values: Vec<(Value<'d>, &'a Passed)>,
    last: Option<&'a (Evaluated, u32, bool)>,
}

/// The loops in the iterations of a body's loop, if they are such; the values that the body loads in front of its code the
/// host passes. `last` is the number of the last iteration, as the host computes it.
pub(super) fn find<'d>(
    module: &'d Module,
    body: Function<'d>,
    site: Call<'d>,
    signed: bool,
    values: &[(Value<'d>, Passed)],
    last: Option<&(Evaluated, u32, bool)>,
) -> Option<Rows<'d>> {
    // Loops get their blocks in front of them.
    let code = Code::open(body);
    over_iterations(&code, site)?;
    drop(code);
    let copy = Copy::of(module, body);
    let found = find_in(module, &copy, site, signed, values, last);
    copy.erase();
    found
}

fn find_in<'d>(
    module: &'d Module,
    copy: &Copy<'d>,
    site: Call<'d>,
    signed: bool,
    values: &[(Value<'d>, Passed)],
    last: Option<&(Evaluated, u32, bool)>,
) -> Option<Rows<'d>> {
    let code = Code::open(copy.body);
    let site = copy.copied(site.instruction())?.as_call()?;
    let (iterations, first) = over_iterations(&code, site)?;
    let values = values.iter().filter_map(|(value, passed)| {
        let value = copy.copied(value.as_instruction()?)?;
        Some((*value, passed))
    });
    let look = Look {
        module,
        code: Evolution::of(code),
        iterations,
        first,
        signed,
        values: values.collect(),
        last,
    };
    look.choices()
        .iter()
        .find_map(|lanes| look.rows(lanes, copy))
}

/// The loop that goes from one iteration of a share to the next, and the number of its first one.
fn over_iterations<'d>(code: &Code<'d>, site: Call<'d>) -> Option<(usize, Value<'d>)> {
    let lowers: Vec<_> = match effects(site).has(Effects::DEALS) {
        true => {
            let all = calls(code.function()).into_iter();
            let next = all
                .filter(|one| runtime::function(*one).is_some_and(|one| one.has(Effects::SHARES)));
            next.filter_map(|one| runtime::argument(one, "lower"))
                .collect()
        }
        false => runtime::argument(site, "lower").into_iter().collect(),
    };
    let begins = |of: usize| {
        let one = &code.loops()[of];
        let code = one.header.instructions().into_iter();
        let phis = code.take_while(|at| at.opcode() == Opcode::LLVMPHI);
        let mut firsts = phis.filter_map(|phi| {
            let (first, next) = incoming(phi, one.preheader?, one.latch?)?;
            let load = first.as_op(Opcode::LLVMLoad)?;
            let sum = next.as_op(Opcode::LLVMAdd)?;
            let is_next = sum.operand(0) == *phi && sum.operand(1).as_constant_int() == Some(1);
            (lowers.contains(&load.operand(0)) && is_next).then_some(first)
        });
        firsts.next()
    };
    let mut all = (0..code.loops().len()).filter_map(|of| Some((of, begins(of)?)));
    all.next().filter(|_| all.next().is_none())
}

/// What a phi of a header is in the first turn, and in the next one.
fn incoming<'d>(
    phi: Instruction<'d>,
    preheader: Block<'d>,
    latch: Block<'d>,
) -> Option<(Value<'d>, Value<'d>)> {
    let all = phi.incoming();
    let from = |block| Some(all.iter().find(|(_, from)| *from == block)?.0);
    Some((from(preheader)?, from(latch)?)).filter(|_| all.len() == 2)
}

/// Whether an instruction computes a number or an address, wherever it stands.
fn only_counts(at: Instruction<'_>) -> bool {
    matches!(
        at.opcode(),
        Opcode::LLVMPHI
            | Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMShl
            | Opcode::LLVMAnd
            | Opcode::LLVMOr
            | Opcode::LLVMXor
            | Opcode::LLVMSExt
            | Opcode::LLVMZExt
            | Opcode::LLVMTrunc
            | Opcode::LLVMICmp
            | Opcode::LLVMSelect
            | Opcode::LLVMGetElementPtr
    )
}

impl<'d> Look<'_, 'd> {
    /// Loops that work items may share, as far as their own code says, of which the first are best.
    fn choices(&self) -> Vec<Vec<Lanes>> {
        let mut all: Vec<Vec<Lanes>> = Vec::new();
        for is_inner in [true, false] {
            let Some(along) = self.shared_in(self.iterations, is_inner) else {
                continue;
            };
            let alone = along.iter().map(|of| Lanes {
                along: *of,
                across: None,
            });
            let alone: Vec<_> = alone.collect();
            let with_another = alone.iter().map(|one| {
                let around = std::iter::successors(self.parent(one.along), |of| self.parent(*of));
                let mut around = around.filter(|of| self.row(*of, 2).is_some());
                let across = Some(around.next()?);
                Some(Lanes { across, ..*one })
            });
            let with_another: Option<Vec<_>> = with_another.collect();
            let with_another = with_another.filter(|lanes| self.in_two_directions(lanes));
            for one in with_another.into_iter().chain([alone]) {
                if !all.contains(&one) {
                    all.push(one);
                }
            }
        }
        all
    }

    /// Whether no loop is in two of the same direction: a work item would have those of its turns alone where both have its
    /// number.
    fn in_two_directions(&self, lanes: &[Lanes]) -> bool {
        lanes.iter().all(|one| {
            let mut around = std::iter::successors(Some(one.along), |of| self.parent(*of));
            let across = lanes.iter().filter_map(|other| other.across);
            around.all(|of| one.across == Some(of) || !across.clone().any(|other| other == of))
        })
    }

    /// The loop of an iteration that a loop is in.
    fn parent(&self, of: usize) -> Option<usize> {
        let parent = self.code.loops()[of].parent;
        parent.filter(|of| *of != self.iterations)
    }

    /// Loops of the iterations, or of one of their loops, of which all others are part, or which are part of them: the
    /// innermost ones that may be shared, or the outermost ones.
    fn shared_in(&self, of: usize, is_inner: bool) -> Option<Vec<usize>> {
        let is_own = of != self.iterations && self.row(of, LEAST_TURNS).is_some();
        if is_own && !is_inner {
            return Some(vec![of]);
        }
        let inside = (0..self.code.loops().len())
            .filter(|one| self.code.loops()[*one].parent == Some(of))
            .map(|one| self.shared_in(one, is_inner));
        let inside: Option<Vec<_>> = inside.collect();
        let inside = inside.map(|all| all.concat()).filter(|all| !all.is_empty());
        // What a loop writes around the loops in it, it has to be shared for.
        let writes_around = |shared: &Vec<usize>| {
            let blocks = self.code.loops()[of].blocks.iter();
            let mut around = blocks.filter(|block| {
                let mut shared = shared.iter();
                !shared.any(|one| self.code.contains(*one, **block))
            });
            around.any(|block| {
                let mut code = block.instructions().into_iter();
                code.any(|at| at.opcode() == Opcode::LLVMStore && self.is_seen(at))
            })
        };
        let inside = inside.filter(|shared| !is_own || !writes_around(shared));
        inside.or_else(|| is_own.then(|| vec![of]))
    }

    /// Whether a store writes what others see.
    fn is_seen(&self, store: Instruction<'d>) -> bool {
        let object = store.operand(1).underlying_object();
        object.as_op(Opcode::LLVMAlloca).is_none()
    }

    /// These loops, if work items may share them.
    fn rows(&self, lanes: &[Lanes], copy: &Copy<'d>) -> Option<Rows<'d>> {
        if self.around(lanes) > MOST_AROUND {
            return None;
        }
        let accesses = self.accesses(lanes)?;
        let score = self.go_along_rows(&accesses);
        if score < 0 {
            return None;
        }
        let mut turns = Turns::new();
        let questions = self.questions(&accesses, &mut turns)?;
        let mut loops: Vec<Row<'d>> = Vec::new();
        let mut shared = [Vec::new(), Vec::new()];
        let mut known = Vec::new();
        for (direction, of) in lanes.iter().flat_map(|one| one.all().enumerate()) {
            if known.contains(&of) {
                continue;
            }
            known.push(of);
            let number = self.turn(of, &mut turns)?;
            shared[direction].push(number);
            let row = self.row(of, 0)?.original(copy)?;
            loops.push(Row {
                direction,
                turns: number,
                ..row
            });
        }
        let [along, across] = shared;
        let shared = Shared {
            turns: turns.into_iter().map(|(_, turns)| turns).collect(),
            along,
            across,
            is_near: score > 0,
            fits: questions.fits,
            apart: questions.apart,
            cells: questions.cells,
        };
        Some(Rows { loops, shared })
    }

    /// How many turns a loop has, or more, as the host computes it: so many where its header does nothing but ask whether
    /// there is another one.
    fn most_turns(&self, of: usize) -> Option<(Evaluated, u32)> {
        let count = self.code.backedge_taken_count(of)?;
        let bits = self.code.bits(count);
        let mut turns = self.number(count)?;
        if bits < 32 {
            turns = Evaluated::Cast(Opcode::LLVMZExt, Box::new(turns), 32);
        }
        let bits = bits.max(32);
        if !self.only_asks(of) {
            let one = Evaluated::Constant(1, bits);
            turns = numbers::binary(Opcode::LLVMAdd, turns, one);
        }
        (bits <= 64).then_some((turns, bits))
    }

    /// Whether a loop is left from its header alone, which does nothing else.
    fn only_asks(&self, of: usize) -> bool {
        let one = &self.code.loops()[of];
        let leaves = |block: &Block<'d>| {
            let mut next = block.successors().into_iter();
            next.any(|to| !self.code.contains(of, to))
        };
        let code = one.header.instructions();
        let end = one.header.terminator();
        let does_more =
            |at: &Instruction<'d>| Some(*at) != end && !only_counts(*at) && !is_told(*at);
        Some(one.header) != one.latch
            && end.is_some_and(|end| end.branch_condition().is_some())
            && one
                .blocks
                .iter()
                .all(|block| leaves(block) == (*block == one.header))
            && !code.iter().any(does_more)
    }

    /// A loop whose turns may be dealt out, as far as its own code says, if it may have so many of them.
    fn row(&self, of: usize, least: i64) -> Option<Row<'d>> {
        let one = &self.code.loops()[of];
        let (header, preheader, latch) = (one.header, one.preheader?, one.latch?);
        let inside = |block: Block<'d>| self.code.contains(of, block);
        if !self.only_asks(of) {
            return None;
        }
        let mut counters = Vec::new();
        for at in one.blocks.iter().flat_map(|block| block.instructions()) {
            // Nothing of it is used behind it.
            if at
                .instruction_users()
                .iter()
                .any(|user| !inside(user.block()))
            {
                return None;
            }
            if at.block() != header || at.opcode() != Opcode::LLVMPHI {
                continue;
            }
            let (_, next) = incoming(at, preheader, latch)?;
            if !self.code.can_know(*at) {
                return None;
            }
            let counts = self.code.expression(*at);
            let counts = self.code.recurrence(counts).filter(|one| one.of == of)?;
            counters.push(Counter {
                phi: at,
                by: i64::try_from(counts.step.constant()?).ok()?,
                next: next.as_instruction()?,
            });
        }
        let count = self.code.backedge_taken_count(of)?;
        if let Some(known) = count.constant()
            && known < i128::from(least)
        {
            return None;
        }
        self.most_turns(of)?;
        Some(Row {
            header,
            preheader,
            latch,
            yes: inside(header.successors()[0]),
            counters,
            direction: 0,
            turns: 0,
        })
    }

    /// How much of an iteration's code stands around its loops.
    fn around(&self, lanes: &[Lanes]) -> usize {
        let is_around = |block: &&Block<'d>| {
            let mut lanes = lanes.iter();
            !lanes.any(|one| self.code.contains(one.along, **block))
        };
        let blocks = self.code.loops()[self.iterations].blocks.iter();
        let code = blocks
            .filter(is_around)
            .flat_map(|block| block.instructions());
        let counts = code.map(|at| match at.as_call() {
            Some(_) if is_told(at) => 0,
            Some(_) => OF_CALL,
            None => 1,
        });
        counts.sum()
    }
}

/// Whether an instruction tells something and does nothing.
fn is_told(at: Instruction<'_>) -> bool {
    is_harmless(at) || at.as_call().is_some_and(tells_only)
}

fn is_of_runtime(at: Instruction<'_>) -> bool {
    at.as_call()
        .is_some_and(|call| runtime::function(call).is_some())
}
/// Whether a call computes something of numbers and does nothing else on a device.
fn computes(call: Call<'_>) -> bool {
    call.instruction().opcode() == Opcode::LLVMCall
        && runtime::function(call).is_none()
        && (math::is_function(call)
            || call.reach() == Reach::Nothing && !call.instruction().may_write())
}
