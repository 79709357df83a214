//! Loops with schedule(static, chunk), as clang writes them before anything is simplified: their chunks and the
//! iterations of a chunk are counted from zero. LLVM then knows how often both loops run, where it cannot see through
//! bounds that are carried from chunk to chunk.

use crate::analysis::runtime;
use crate::llvm::{
    Block, Builder, Call, Comparison, Instruction, IntPredicate, Intrinsic, Module, Opcode, Value,
};

/// The parts of such a loop.
struct Chunks<'m> {
    lower: Instruction<'m>,
    upper: Instruction<'m>,
    stride: Instruction<'m>,
    /// What asks whether there is one more chunk.
    outer: Instruction<'m>,
    /// What asks whether there is one more iteration.
    inner: Instruction<'m>,
    next_chunk: Instruction<'m>,
    next_iteration: Instruction<'m>,
}

/// Makes the chunks of the worksharing loop countable whose bounds this call hands out, where clang wrote it and nothing
/// has simplified it; `is_signed` says how its iterations are counted.
pub fn count<'m>(module: &'m Module, call: Call<'m>, is_signed: bool) {
    let Some(found) = find(call, is_signed) else {
        return;
    };
    let at = call.instruction();
    let entry = Builder::at_entry(module, at.function());
    let wide = module.int(64);
    let [chunk, iteration] = ["okl.chunk", "okl.iteration"].map(|name| {
        let counter = entry.alloca(wide, 8);
        counter.set_name(name);
        counter
    });
    let (zero, one) = (module.const_i64(0), module.const_i64(1));
    let [greatest, least] = ["llvm.umax", "llvm.smin"].map(Intrinsic::named);
    let load = |builder: &Builder<'m>, variable: Instruction<'m>| {
        let ty = variable.allocated_type().expect("a variable");
        let value = builder.load(ty, *variable);
        match is_signed {
            true => builder.sign_extend(value, wide),
            false => builder.int_cast(value, wide),
        }
    };
    let integer = Comparison::Integer;

    let last = load(&Builder::before(module, at), found.upper);
    let after = Builder::before(module, next(at));
    let [first, stride] = [found.lower, found.stride].map(|one| load(&after, one));
    let length = after.difference(load(&after, found.upper), first);
    let length = after.sum(length, one);
    // The runtime says that a thread has no chunk by a lower bound beyond the last iteration.
    let beyond = match is_signed {
        true => IntPredicate::LLVMIntSGT,
        false => IntPredicate::LLVMIntUGT,
    };
    let none = after.ask(integer(beyond), first, last);
    let step = after.call_intrinsic(greatest, &[wide], &[stride, one]);
    let more = after.difference(last, first);
    let more = after.binary(Opcode::LLVMUDiv, more, step);
    let chunks = after.select(none, zero, after.sum(more, one));
    after.store(zero, chunk);

    let outer = Builder::before(module, found.outer);
    let number = outer.load(wide, chunk);
    let is_more = outer.ask(integer(IntPredicate::LLVMIntULT), number, chunks);
    found.outer.set_branch_condition(is_more);

    let begin = found.outer.block().successors()[0].terminator();
    let begin = Builder::before(module, begin.expect("a complete block"));
    let start = begin.binary(Opcode::LLVMMul, number, stride);
    let left = begin.difference(last, begin.sum(first, start));
    let left = begin.sum(left, one);
    let iterations = begin.call_intrinsic(least, &[wide], &[length, left]);
    let is_some = begin.ask(integer(IntPredicate::LLVMIntSGT), iterations, zero);
    begin.call_intrinsic(Intrinsic::named("llvm.assume"), &[], &[is_some]);
    begin.store(zero, iteration);

    let inner = Builder::before(module, found.inner);
    let number = inner.load(wide, iteration);
    let is_more = inner.ask(integer(IntPredicate::LLVMIntSLT), number, iterations);
    found.inner.set_branch_condition(is_more);
    for (counter, store) in [(iteration, found.next_iteration), (chunk, found.next_chunk)] {
        let builder = Builder::before(module, next(store));
        let counted = builder.add_without_wrap(builder.load(wide, counter), one);
        builder.store(counted, counter);
    }
}

/// What stands behind an instruction that does not end its block.
fn next(one: Instruction<'_>) -> Instruction<'_> {
    let mut rest = one.block().instructions().into_iter();
    rest.find(|other| *other == one);
    rest.next().expect("a block ends with something else")
}

fn find<'m>(call: Call<'m>, is_signed: bool) -> Option<Chunks<'m>> {
    let argument = |param| runtime::argument(call, param);
    let increment = argument("increment")?;
    let [lower, upper, stride] =
        ["lower", "upper", "stride"].map(|param| argument(param).and_then(as_variable));
    let (lower, upper, stride) = (lower?, upper?, stride?);
    let (lowers, uppers, strides) = (
        stores_behind(call, lower)?,
        stores_behind(call, upper)?,
        stores_behind(call, stride)?,
    );
    // Both bounds are advanced by the stride; the upper one is clipped.
    let (&[next_chunk], &[mut advances, mut clips], []) = (&*lowers, &*uppers, &*strides) else {
        return None;
    };
    if advances.block() != next_chunk.block() {
        (advances, clips) = (clips, advances);
    }
    if !is_one(increment)
        || !is_sum(next_chunk.operand(0), lower, stride)
        || advances.block() != next_chunk.block()
        || !is_sum(advances.operand(0), upper, stride)
        || clips.operand(0).as_op(Opcode::LLVMPHI).is_none()
    {
        return None;
    }
    // A chunk begins where the counter becomes the lower bound.
    let begin = clips.block();
    let begins = |one: &Instruction<'m>| {
        one.opcode() == Opcode::LLVMStore && is_load_of(one.operand(0), lower)
    };
    let first = begin.instructions().into_iter().rfind(begins)?;
    let counter = as_variable(first.operand(1))?;
    let &[mut from, mut next_iteration] = &*stores_to(call, counter)? else {
        return None;
    };
    if from.block() != begin {
        (from, next_iteration) = (next_iteration, from);
    }
    let around = next_iteration.block();
    let counted = next_iteration.operand(0);
    if from.block() != begin || around == begin || !is_next(counted, counter) {
        return None;
    }
    let outer = bounded(begin, counter, upper, is_signed)?;
    let body = begin.successors()[0];
    let [_] = body.predecessors()[..] else {
        return None;
    };
    let [head] = body.successors()[..] else {
        return None;
    };
    let inner = bounded(head, counter, upper, is_signed)?;
    // Into the inner loop there is one way, and one around it.
    let is_way = |before: &Block<'m>| *before == body || *before == around;
    let is_loop = head.predecessors().iter().all(is_way) && around.successors()[..] == [head];
    (is_loop && next_chunk.block().successors().len() == 1).then_some(Chunks {
        lower,
        upper,
        stride,
        outer,
        inner,
        next_chunk,
        next_iteration,
    })
}

fn as_variable(value: Value<'_>) -> Option<Instruction<'_>> {
    value.as_op(Opcode::LLVMAlloca)
}

fn is_one(value: Value<'_>) -> bool {
    value.as_constant_int() == Some(1)
}

fn is_load_of<'m>(value: Value<'m>, variable: Instruction<'m>) -> bool {
    let load = value.as_op(Opcode::LLVMLoad);
    load.is_some_and(|load| !load.is_volatile() && load.operand(0) == *variable)
}

/// Whether a value is the sum of two variables.
fn is_sum<'m>(value: Value<'m>, a: Instruction<'m>, b: Instruction<'m>) -> bool {
    let sum = value.as_op(Opcode::LLVMAdd);
    sum.is_some_and(|sum| is_load_of(sum.operand(0), a) && is_load_of(sum.operand(1), b))
}

/// Whether a value is one more than a variable.
fn is_next<'m>(value: Value<'m>, variable: Instruction<'m>) -> bool {
    let next = value.as_op(Opcode::LLVMAdd);
    next.is_some_and(|next| is_one(next.operand(1)) && is_load_of(next.operand(0), variable))
}

/// The stores to a variable that nothing uses but loads, stores and the call; `None` where more does.
fn stores_to<'m>(call: Call<'m>, variable: Instruction<'m>) -> Option<Vec<Instruction<'m>>> {
    let mut stores = Vec::new();
    for user in variable.users() {
        if let Some(store) = user.as_op(Opcode::LLVMStore) {
            let is_plain = store.operand(0) != *variable && !store.is_volatile();
            stores.push(is_plain.then_some(store)?);
        } else if user != *call && !is_load_of(user, variable) && !is_lifetime(user) {
            return None;
        }
    }
    Some(stores)
}

/// Those but for the stores in front of the call, in its block.
fn stores_behind<'m>(call: Call<'m>, variable: Instruction<'m>) -> Option<Vec<Instruction<'m>>> {
    let at = call.instruction();
    let before = at.block().instructions().into_iter();
    let before: Vec<_> = before.take_while(|one| *one != at).collect();
    let mut stores = stores_to(call, variable)?;
    stores.retain(|store| !before.contains(store));
    Some(stores)
}

fn is_lifetime(user: Value<'_>) -> bool {
    let callee = user.as_call().and_then(|call| call.callee().as_function());
    callee.is_some_and(|callee| callee.name().starts_with("llvm.lifetime."))
}

/// The branch of a block that asks whether the counter is not beyond the upper bound; `None` where it does something else.
fn bounded<'m>(
    block: Block<'m>,
    counter: Instruction<'m>,
    upper: Instruction<'m>,
    is_signed: bool,
) -> Option<Instruction<'m>> {
    let branch = block.terminator()?;
    let condition = branch.branch_condition()?.as_op(Opcode::LLVMICmp)?;
    let (a, b) = (condition.operand(0), condition.operand(1));
    // clang asks whether an unsigned counter is less than the bound plus one.
    let (predicate, is_bound) = match is_signed {
        true => (IntPredicate::LLVMIntSLE, is_load_of(b, upper)),
        false => (IntPredicate::LLVMIntULT, is_next(b, upper)),
    };
    let asks = is_bound
        && is_load_of(a, counter)
        && condition.block() == block
        && condition.comparison() == Some(Comparison::Integer(predicate));
    (asks && branch.opcode() == Opcode::LLVMBr).then_some(branch)
}
