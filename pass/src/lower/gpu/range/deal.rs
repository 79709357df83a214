//! How iterations come to work items: in the place of what asks for a thread's share, each gets those of its own number.

use super::host::MOST_ITERATIONS;
use super::share::is_left_out;
use super::{Why, calls, why};
use crate::analysis::runtime::{self, effects};
use crate::ir::{Code, ParallelLoop};
use crate::llvm::{Builder, Call, Comparison, Instruction, IntPredicate, Module, Opcode, Value};
use crate::recognise::openmp::stored_before;
use okl_abi::Effects;

/// Whether a call is where the threads meet in the end.
pub fn is_last_barrier(call: Call<'_>) -> bool {
    effects(call).has(Effects::BARRIER) && call.callee_name() == "__kmpc_barrier"
}

/// What work items are dealt.
pub(super) struct Dealt<'d> {
    /// The number of a work item, and how many there are: of 64 bits, or of 32 where all iterations are counted so.
    pub own: Value<'d>,
    pub items: Value<'d>,
    /// The variable that has the number of its iteration.
    pub index: Value<'d>,
    /// The number of the last iteration, where it is known, from 0 on.
    pub last: Option<Value<'d>>,
    /// The first one and the last one of a share of the iterations.
    pub share: Option<[Value<'d>; 2]>,
    /// Whether iterations are numbers with a sign.
    pub signed: bool,
    /// Whether work items meet behind the loop.
    pub meets: bool,
    /// Whether there are as many work items as iterations.
    pub one_each: bool,
}

/// Has a work item run the iteration with its number, and those that lie as many behind it as there are work items. One that
/// has none is done, unless work items meet behind the loop.
pub(super) fn deal<'d>(device: &'d Module, site: Call<'d>, dealt: &Dealt<'d>) -> Result<(), Why> {
    let &Dealt {
        own,
        items,
        index,
        last: known,
        share,
        signed,
        meets,
        one_each,
    } = dealt;
    let body = site.instruction().function();
    let at = site.instruction();
    // Numbers are counted so.
    let counted = own.ty();
    let argument =
        |call: Call<'d>, name: &str| runtime::argument(call, name).expect("its line has it");
    let is_deal = effects(site).has(Effects::DEALS);
    let extended = |builder: &Builder<'d>, opcode, value: Value<'d>, ty| match value.ty() == ty {
        true => value,
        false => builder.cast(opcode, value, ty),
    };
    let long = device.int(64);
    let wide = |builder: &Builder<'d>, value: Value<'d>| match signed {
        true => extended(builder, Opcode::LLVMSExt, value, long),
        false => extended(builder, Opcode::LLVMZExt, value, long),
    };
    let flag = |builder: &Builder<'d>, value: Value<'d>| {
        extended(builder, Opcode::LLVMZExt, value, device.int(32))
    };
    let ends: Vec<_> = calls(body)
        .into_iter()
        .filter(|one| is_end(one.instruction(), site))
        .collect();
    let own_at = |builder: &Builder<'d>, lower: Value<'d>, number: Value<'d>| {
        let ty = lower.ty();
        builder.binary(Opcode::LLVMAdd, lower, builder.int_cast(number, ty))
    };
    // The last number, from the loop's first iteration on.
    let last_of = |builder: &Builder<'d>, lower: Value<'d>, upper: Value<'d>| {
        if let Some(known) = known {
            return known;
        }
        let last = builder.difference(wide(builder, upper), wide(builder, lower));
        builder.int_cast(last, counted)
    };
    // The first number of a work item, and the last of all that run.
    let first_and_end = |builder: &Builder<'d>, lower: Value<'d>, last: Value<'d>| match share {
        None => (own, last),
        Some([from, to]) => {
            let lower = wide(builder, lower);
            let first = builder.sum(own, builder.difference(from, lower));
            (first, builder.least(builder.difference(to, lower), last))
        }
    };
    let equal = Comparison::Integer(IntPredicate::LLVMIntEQ);
    let at_most = Comparison::Integer(IntPredicate::LLVMIntSLE);
    if is_deal {
        let builder = Builder::before(device, at);
        let [lower, upper] = ["lower", "upper"].map(|name| argument(site, name));
        let last = last_of(&builder, lower, upper);
        let (own, end) = first_and_end(&builder, lower, last);
        builder.store(own, index);
        let none = builder.int_cast(device.const_i64(MOST_ITERATIONS), counted);
        for next in calls(body) {
            let is_next = runtime::function(next).is_some_and(|one| one.has(Effects::SHARES));
            if !is_next {
                continue;
            }
            let builder = Builder::before(device, next.instruction());
            let number = builder.load(counted, index);
            let has = builder.ask(at_most, number, end);
            let value = own_at(&builder, lower, number);
            builder.store(value, argument(next, "lower"));
            builder.store(value, argument(next, "upper"));
            let one = builder.int_cast(device.const_i64(1), value.ty());
            builder.store(one, argument(next, "stride"));
            let is_last = flag(&builder, builder.ask(equal, number, last));
            let old = builder.load(device.int(32), argument(next, "last"));
            builder.store(builder.select(has, is_last, old), argument(next, "last"));
            let next_number = match one_each {
                true => none,
                false => builder.sum(number, items),
            };
            builder.store(next_number, index);
            let result = flag(&builder, has);
            next.instruction().replace_all_uses_with(result);
            next.instruction().erase();
        }
        for end in ends {
            end.instruction().erase();
        }
        at.erase();
        return Ok(());
    }
    let [fini] = ends[..] else {
        return why(Some(at), "its loop ends in several places");
    };
    let [lower_at, upper_at, stride_at, last_at] =
        ["lower", "upper", "stride", "last"].map(|name| argument(site, name));
    let bits = match signed_width(site) {
        Some(bits) => bits,
        None => return why(Some(at), "its loop is not understood"),
    };
    // Where values of it are used behind it, work items that have no iteration go through the loop, too.
    let goes_through = meets && !is_left_out(at, fini.instruction());
    // Before the iterations, each of them, and behind them.
    let behind = fini.instruction().split_before();
    let inside = at.split_before();
    let front = inside.predecessors();
    let [front] = front[..] else {
        return why(Some(at), "its loop is not understood");
    };
    let [leaves] = behind.predecessors()[..] else {
        return why(Some(at), "its loop ends in several places");
    };
    front.terminator().expect("a complete block").erase();
    let builder = Builder::at_end_like(device, front, at);
    let ty = device.int(bits);
    let lower = builder.load(ty, lower_at);
    let upper = builder.load(ty, upper_at);
    let last = last_of(&builder, lower, upper);
    let (own, end) = first_and_end(&builder, lower, last);
    builder.store(own, index);
    match (goes_through, meets) {
        (true, _) => builder.go(inside),
        (false, true) => {
            builder.go_if(builder.ask(at_most, own, end), inside, behind);
        }
        (false, false) => {
            let done = body.append_block(device);
            Builder::at_end_like(device, done, at).ret(None);
            builder.go_if(builder.ask(at_most, own, end), inside, done);
        }
    }
    let builder = Builder::before(device, at);
    let number = builder.load(counted, index);
    if goes_through {
        // None are from the second to the first one.
        let has = builder.ask(at_most, number, end);
        let [first, second] = [0, 1].map(|none| {
            let none = builder.int_cast(device.const_i64(none), counted);
            builder.select(has, number, none)
        });
        builder.store(own_at(&builder, lower, second), lower_at);
        builder.store(own_at(&builder, lower, first), upper_at);
    } else {
        let value = own_at(&builder, lower, number);
        builder.store(value, lower_at);
        builder.store(value, upper_at);
    }
    // So far is no other chunk.
    let far = builder.plus(builder.int_cast(last, long), 1);
    builder.store(builder.int_cast(far, ty), stride_at);
    let is_last = builder.ask(equal, number, last);
    builder.store(flag(&builder, is_last), last_at);
    leaves.terminator().expect("a complete block").erase();
    let builder = Builder::at_end_like(device, leaves, at);
    match one_each {
        true => builder.go(behind),
        false => {
            let next = builder.sum(builder.load(counted, index), items);
            builder.store(next, index);
            builder.go_if(builder.ask(at_most, next, end), inside, behind);
        }
    }
    fini.instruction().erase();
    at.erase();
    for barrier in calls(body)
        .into_iter()
        .filter(|call| is_last_barrier(*call))
    {
        barrier.instruction().erase();
    }
    Ok(())
}

/// Whether the numbers of a loop's iterations begin with 0, as far as the code in front of it says.
pub(super) fn begins_with_0(one: &ParallelLoop<'_>, code: &Code<'_>) -> bool {
    let lower = runtime::argument(one.site, "lower");
    let lower = lower.and_then(|lower| match effects(one.site).has(Effects::DEALS) {
        true => Some(lower),
        false => stored_before(lower, code),
    });
    lower.and_then(Value::as_constant_int) == Some(0)
}

/// Whether an instruction ends what a call begins.
pub fn is_end<'d>(at: Instruction<'d>, site: Call<'d>) -> bool {
    let [one, other] = [at.as_call(), Some(site)].map(|call| call.and_then(runtime::function));
    one.zip(other).is_some_and(|(one, other)| one.ends(other))
}

/// Bits of the numbers of a loop's iterations.
pub(super) fn signed_width(site: Call<'_>) -> Option<u32> {
    runtime::argument(site, "chunk")?.ty().bits()
}
