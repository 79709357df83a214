//! What a region has to be for a device to run it, looked at in the copy of which its kernel is made.

use super::deal::is_last_barrier;
use super::{Why, calls, steps, why};
use crate::analysis::runtime::{self, effects};
use crate::analysis::variables::is_harmless;
use crate::ir::{Body, Code as Spans, ParallelLoop, Part, Region};
use crate::llvm::{
    Call, Code, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::lower::gpu::reach::{self, Variables};
use okl_abi::Effects;

/// The loop that a region's threads share, where that is all that they do together.
pub fn only_loop<'r, 'd>(
    region: &'r Region<'d>,
) -> Result<(&'r ParallelLoop<'d>, &'r Spans<'d>), Why> {
    let Some(steps) = region.straight() else {
        return why(
            None,
            "its threads meet in turns of a loop or under a condition",
        );
    };
    for step in steps {
        if let Some((at, reason)) = &step.unknown {
            return why(Some(*at), &format!("it {reason}"));
        }
        if let Some(Part::One(_, code)) = step.parts.iter().find(|one| matches!(one, Part::One(..)))
        {
            let at = code
                .spans
                .first()
                .and_then(|span| span.instructions().first().copied());
            return why(at, "it has code for one of its threads");
        }
    }
    let mut loops = region.loops();
    let Some(one) = loops.next() else {
        return why(None, "its threads share no loop");
    };
    if let Some(other) = loops.next() {
        return why(
            Some(other.site.instruction()),
            "its threads share several loops",
        );
    }
    match &one.body {
        Body::Code(code) if one.site.instruction().function() == region.body => Ok((one, code)),
        _ => why(Some(one.site.instruction()), "its loop is not in it"),
    }
}

/// Checks that what stands outside of the loop changes what is a work item's own, and nothing else; but for what the last
/// iteration leaves.
pub fn outside_is_private<'d>(
    code: &Code<'d>,
    one: &ParallelLoop<'d>,
    spans: &Spans<'d>,
    is_behind: &dyn Fn(Instruction<'d>) -> bool,
) -> Result<(), Why> {
    let last = runtime::argument(one.site, "last");
    let calls = calls(code.function());
    let last = last.or_else(|| {
        calls
            .iter()
            .find_map(|call| runtime::argument(*call, "last"))
    });
    // Where a thread goes that has the last iteration.
    let of_last: Vec<_> = last
        .map(|last| last.instruction_users())
        .unwrap_or_default()
        .into_iter()
        .filter(|user| user.opcode() == Opcode::LLVMLoad)
        .flat_map(|load| load.instruction_users())
        .filter_map(|asked| {
            let branch = asked.instruction_users();
            let branch = branch
                .iter()
                .find(|one| one.branch_condition() == Some(*asked))?;
            let [yes, no] = branch.block().successors()[..] else {
                return None;
            };
            match asked.comparison()? {
                _ if asked.operand(1).as_constant_int() != Some(0) => None,
                Comparison::Integer(IntPredicate::LLVMIntEQ) => Some((no, branch.block())),
                Comparison::Integer(IntPredicate::LLVMIntNE) => Some((yes, branch.block())),
                _ => None,
            }
        })
        .filter(|(to, _)| to.predecessors().len() == 1)
        .collect();
    for at in code.function().instructions() {
        let is_allowed = !at.may_write()
            || is_harmless(at)
            || spans.has(at)
            || at
                .as_call()
                .is_some_and(|call| runtime::function(call).is_some())
            || at.as_call().is_some_and(|call| tells_only(call))
            || written(at).is_some_and(|to| steps::object(to).as_op(Opcode::LLVMAlloca).is_some())
            || of_last
                .iter()
                .any(|(to, _)| code.dominates(*to, at.block()));
        if !is_allowed {
            return why(
                Some(at),
                "outside of the loop each thread changes what others see",
            );
        }
        let is_of_last = || {
            of_last
                .iter()
                .any(|(to, _)| code.dominates(*to, at.block()))
        };
        let reads = match at.opcode() {
            Opcode::LLVMLoad => Some(at.operand(0)),
            _ => None,
        };
        // The numbers of its thread are no others' either.
        let is_shared = reads.is_some_and(|from| {
            let object = steps::object(from);
            let is_number =
                (object.as_parameter()).is_some_and(|(_, index)| index < Region::LEADING);
            object.as_op(Opcode::LLVMAlloca).is_none() && !is_number
        });
        if is_shared && !spans.has(at) && is_behind(at) && !is_of_last() {
            let told = "behind the loop each thread looks at what others changed";
            return why(Some(at), told);
        }
    }
    Ok(())
}

/// Whether a call says something and does nothing.
pub fn tells_only(call: Call<'_>) -> bool {
    let name = call.callee_name();
    let known = ["llvm.assume", "llvm.dbg.", "llvm.experimental.noalias."];
    known.iter().any(|known| name.starts_with(known))
}

/// Where an instruction writes, if it writes nothing else.
pub fn written(at: Instruction<'_>) -> Option<Value<'_>> {
    match at.opcode() {
        Opcode::LLVMStore => Some(at.operand(1)),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => Some(at.operand(0)),
        Opcode::LLVMCall => {
            let call = at.as_call()?;
            let is_filling = call.callee_name().starts_with("llvm.mem");
            is_filling.then(|| call.arguments()[0])
        }
        _ => None,
    }
}

/// Checks that a device can run all of a body.
pub(super) fn check_all(device: &Module, body: Function<'_>) -> Result<(), Why> {
    for one in body.instructions() {
        if one.as_call().is_some_and(|call| is_replaced(call)) {
            continue;
        }
        if one.is_volatile() {
            return why(Some(one), "it accesses memory that is `volatile`");
        }
        if one.opcode() == Opcode::LLVMFence {
            return why(Some(one), "its threads see by a flush what others do");
        }
        if one.opcode() == Opcode::LLVMAtomicCmpXchg && one.operand(1).is_constant() {
            return why(Some(one), "it may wait for other iterations");
        }
        if let Err(told) = reach::instruction(device, one, Variables::Constants) {
            return why(Some(one), &told);
        }
        let is_own = |address: Value<'_>| {
            let object = address.underlying_object();
            object.as_op(Opcode::LLVMAlloca).is_some()
                || object.as_global().is_some_and(|one| one.is_readonly())
        };
        let is_pointer = one.opcode() == Opcode::LLVMLoad && one.ty().is_pointer();
        if is_pointer && !is_own(one.operand(0)) {
            let told =
                "it follows a pointer that is in memory, which leads to no memory of the device's";
            return why(Some(one), told);
        }
        if one.opcode() == Opcode::LLVMIntToPtr {
            return why(Some(one), "it makes a pointer of a number");
        }
    }
    Ok(())
}

/// Whether a call is one that something else takes the place of.
pub(super) fn is_replaced(call: Call<'_>) -> bool {
    let does = effects(call);
    let all = [
        Effects::SHARES,
        Effects::DEALS,
        Effects::ENDS_SHARE,
        Effects::ENDS_DEAL,
    ];
    all.iter().any(|one| does.has(*one))
        || does.has(Effects::REDUCES)
        || call.callee_name() == "__kmpc_global_thread_num"
        || is_last_barrier(call)
}
