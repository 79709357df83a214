//! The constructs that divide work among the threads of a team, in one function: loops, and code for one thread.
//!
//! Guarantee: what a construct's code says is run between its beginning and its end, and in no other way.

use std::collections::HashSet;

use okl_abi::{AbiType, Effects, LoopSchedule, RuntimeFn, ScheduleKind};

use crate::analysis::runtime::{self, effects};
use crate::ir::{
    Body, Code, Description, Extent, Origin, ParallelLoop, Part, Schedule, Space, Span, Who,
};
use crate::llvm::{Block, Call, Comparison, Instruction, IntPredicate, Opcode, Value};
use crate::recognise::steps::Construct;

/// Whether a call asks for a thread's share of a loop, or begins to deal out its iterations.
fn begins_loop(call: Call<'_>) -> bool {
    effects(call).has(Effects::DEALS)
        || runtime::function(call).is_some_and(RuntimeFn::begins_share)
}

/// Which thread a call chooses.
fn who(call: Call<'_>) -> Option<Who> {
    let effects = effects(call);
    effects.has(Effects::CHOOSES).then(|| {
        if effects.has(Effects::FIRST) {
            Who::Master
        } else if effects.has(Effects::FILTERED) {
            Who::Masked
        } else {
            Who::Single
        }
    })
}

/// Whether a call ends what another one begins.
fn ends(call: Call<'_>, begins: Call<'_>) -> bool {
    let [one, other] = [call, begins].map(runtime::function);
    one.zip(other).is_some_and(|(one, other)| one.ends(other))
}

/// The constructs that begin in some blocks, in the order of their beginnings.
pub fn constructs<'m>(blocks: &[Block<'m>]) -> Vec<Construct<'m>> {
    let calls = blocks.iter().flat_map(|block| block.instructions());
    let calls = calls.filter_map(|one| one.as_call());
    let all = calls.filter_map(|call| {
        let part = if begins_loop(call) {
            parallel_loop(call).map(Part::Share)
        } else {
            let who = who(call)?;
            one(call).map(|code| Part::One(who, code))
        };
        Some(Construct {
            begins: call.instruction(),
            part,
        })
    });
    all.collect()
}

fn one<'m>(call: Call<'m>) -> Result<Code<'m>, String> {
    let chosen = chosen(call).ok_or("has a construct for one thread that is not understood")?;
    code([(chosen, 0)], |one| ends(one, call))
        .ok_or_else(|| "has a construct for one thread whose end is not clear".to_string())
}

/// Where the thread goes on that a call has chosen.
fn chosen<'m>(call: Call<'m>) -> Option<Block<'m>> {
    let end = call.instruction().block().terminator()?;
    let condition = end.branch_condition()?.as_instruction()?;
    let is_zero = |value: Value<'_>| value.as_constant_int() == Some(0);
    let is_asked = condition.operand(0) == *call.instruction() && is_zero(condition.operand(1));
    let [first, second] = end.block().successors()[..] else {
        return None;
    };
    match condition.comparison()? {
        Comparison::Integer(IntPredicate::LLVMIntNE) if is_asked => Some(first),
        Comparison::Integer(IntPredicate::LLVMIntEQ) if is_asked => Some(second),
        _ => None,
    }
}

/// What is run from some places on up to a call that ends it. None where it may be left in another way, or the team meets
/// in it.
fn code<'m>(
    from: impl IntoIterator<Item = (Block<'m>, usize)>,
    ends: impl Fn(Call<'m>) -> bool,
) -> Option<Code<'m>> {
    let mut rest: Vec<_> = from.into_iter().collect();
    let mut seen: HashSet<_> = rest.iter().map(|(block, _)| *block).collect();
    let mut code = Code::default();
    while let Some((block, from)) = rest.pop() {
        let instructions = block.instructions();
        let calls = instructions.iter().enumerate().skip(from);
        let mut calls = calls.filter_map(|(at, one)| Some((at, one.as_call()?)));
        let stop = calls.find(|(_, call)| ends(*call) || effects(*call).has(Effects::BARRIER));
        match stop {
            Some((_, call)) if !ends(call) => return None,
            Some((to, _)) => code.spans.push(Span { block, from, to }),
            None => {
                let to = instructions.len();
                code.spans.push(Span { block, from, to });
                let next = block.successors();
                // What does not return, or throws, leaves the program.
                let leaves = |one: &Instruction<'m>| {
                    matches!(one.opcode(), Opcode::LLVMRet | Opcode::LLVMResume)
                };
                if instructions.last().is_some_and(leaves) {
                    return None;
                }
                rest.extend(
                    next.into_iter()
                        .filter(|one| seen.insert(*one))
                        .map(|one| (one, 0)),
                );
            }
        }
    }
    Some(code)
}

fn parallel_loop<'m>(call: Call<'m>) -> Result<ParallelLoop<'m>, String> {
    let at = call.instruction();
    let deals = effects(call).has(Effects::DEALS);
    let first = at.block().instructions();
    let first = first.iter().position(|one| *one == at);
    let first = first.expect("it stands in its block") + 1;
    let code = code([(at.block(), first)], |one| ends(one, call))
        .ok_or("has a loop whose end is not clear")?;
    let (width, signed) = counts(call).ok_or("has a loop that is not understood")?;
    let known = runtime::schedule(call);
    let schedule = division(known);
    let chunked = matches!(
        schedule,
        Schedule::StaticChunked
            | Schedule::DistributeChunked
            | Schedule::Dynamic
            | Schedule::Guided
    );
    let chunk = runtime::argument(call, "chunk");
    let last = runtime::argument(call, "upper").and_then(|upper| match deals {
        true => Some(upper),
        false => stored_before(upper, &code),
    });
    Ok(ParallelLoop {
        origin: Origin::OpenMpLoop,
        site: call,
        space: Space::Range(vec![Extent {
            last,
            most: None,
            width,
            signed,
            counter: None,
        }]),
        body: Body::Code(code),
        arguments: Vec::new(),
        schedule,
        chunk: chunk.filter(|_| chunked),
        ordered: known.map(|schedule| schedule.ordered),
        description: Description::unseen(call.instruction()),
    })
}

/// Bits of the iteration variable of the loop that a call begins, and whether it has a sign.
fn counts(call: Call<'_>) -> Option<(u32, bool)> {
    let function = runtime::function(call)?;
    // A chunk has the type of the iteration variable.
    let width = match function.type_of("chunk")? {
        AbiType::I32 => 32,
        AbiType::I64 => 64,
        AbiType::Void | AbiType::F64 | AbiType::Ptr => return None,
    };
    Some((width, !function.has(Effects::UNSIGNED)))
}

/// What a variable gets in front of some code.
pub fn stored_before<'m>(variable: Value<'m>, code: &Code<'m>) -> Option<Value<'m>> {
    variable.as_op(Opcode::LLVMAlloca)?;
    let users = variable.instruction_users().into_iter();
    let is_store = |one: &Instruction<'m>| {
        one.opcode() == Opcode::LLVMStore && one.operand(1) == variable && !code.has(*one)
    };
    let mut stores = users.filter(is_store);
    let store = stores.next().filter(|_| stores.next().is_none())?;
    Some(store.operand(0))
}

/// How the iterations of a loop are divided whose schedule has a code.
fn division(schedule: Option<LoopSchedule>) -> Schedule {
    schedule.map_or(Schedule::Unknown, |schedule| match schedule.kind {
        ScheduleKind::StaticChunked => Schedule::StaticChunked,
        ScheduleKind::Static => Schedule::Static,
        ScheduleKind::Dynamic => Schedule::Dynamic,
        ScheduleKind::Guided => Schedule::Guided,
        ScheduleKind::Runtime => Schedule::Runtime,
        ScheduleKind::Auto => Schedule::Auto,
        ScheduleKind::DistributeChunked => Schedule::DistributeChunked,
        ScheduleKind::Distribute => Schedule::Distribute,
        ScheduleKind::Trapezoidal
        | ScheduleKind::StaticGreedy
        | ScheduleKind::StaticBalanced
        | ScheduleKind::GuidedIterative
        | ScheduleKind::GuidedAnalytical
        | ScheduleKind::StaticSteal
        | ScheduleKind::StaticBalancedChunked
        | ScheduleKind::GuidedSimd
        | ScheduleKind::RuntimeSimd => Schedule::Unknown,
    })
}
