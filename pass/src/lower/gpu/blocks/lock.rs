//! `@atomic` code that is more than one update of one object: one work item at a time runs it, under a lock that all kernels
//! have in common.
//!
//! Work items that a device runs in lockstep cannot wait for each other, unless it promises that each of them goes on. Where
//! it does not they come to the code by turns, and who waits for the lock waits for others than these.

use std::collections::HashSet;

use super::given;
use crate::llvm::{
    Block, Builder, Call, Comparison, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::lower::gpu::asked::number;
use crate::lower::gpu::compile::declared;
use crate::lower::gpu::target::GpuTarget;

/// How long who waits for the lock lets others run.
const NANOSECONDS: i32 = 50;

/// Atomic code: where it begins, and where it ends.
pub type Section<'d> = (Call<'d>, Vec<Call<'d>>);

/// Puts code under the lock, of a kernel whose blocks have these work items.
pub fn lock<'d>(
    device: &'d Module,
    (begin, ends): &Section<'d>,
    items: Option<[i64; 3]>,
    target: &GpuTarget,
) -> Result<(), String> {
    let turns = match target.goes_on {
        true => None,
        false => Some(turns(*begin, ends, items)?),
    };
    let address = given::lock(device);
    let at = begin.instruction();
    let function = at.function();
    let before = at.block();
    let section = at.split_before();
    let waits = function.append_block(device);
    let builder = Builder::at_end_like(device, waits, at);
    let [zero, one] = [0, 1].map(|number| device.const_i32(number));
    let pair = builder.compare_exchange(address, zero, one, 4);
    let again = match target.sleeps {
        Some(name) => {
            let again = function.append_block(device);
            let ty = device.function_type(device.void(), &[device.int(32)]);
            let rests = Builder::at_end_like(device, again, at);
            rests.call(declared(device, name, ty), &[device.const_i32(NANOSECONDS)]);
            rests.go(waits);
            again
        }
        None => waits,
    };
    builder.go_if(builder.extract(pair, 1), section, again);
    for end in ends {
        let end = end.instruction();
        Builder::before(device, end).compare_exchange(address, one, zero, 4);
    }
    let Some(Turns { items, end }) = turns else {
        before.turn(section, waits);
        return Ok(());
    };
    // for (turn = 0; turn < items; ++turn) if (turn == own) { ... }
    // Where LLVM knew the turn it would see that each work item comes to the code once, and have all of them wait there at the
    // same time: the turn is volatile.
    let after = end.split_before();
    let [asks, next] = [(); 2].map(|()| function.append_block(device));
    let ended = after.predecessors()[0];
    let long = device.int(64);
    let place = Builder::at_entry(device, function).alloca(long, 8);
    let entry = Builder::before(device, before.terminator().expect("a complete block"));
    let own = linear(&entry, items, target);
    entry.store_volatile(device.const_i64(0), place);
    before.turn(section, asks);
    let builder = Builder::at_end_like(device, asks, at);
    let turn = builder.load_volatile(long, place);
    let is_own = builder.compare(turn, own, false);
    builder.go_if(is_own, waits, next);
    ended.turn(after, next);
    let builder = Builder::at_end_like(device, next, at);
    let more = builder.plus(turn, 1);
    builder.store_volatile(more, place);
    let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
    let count = device.const_i64(items.iter().product());
    builder.go_if(builder.ask(less, more, count), asks, after);
    Ok(())
}

/// Work items of a block, and the end of atomic code which they come to by turns.
struct Turns<'d> {
    items: [i64; 3],
    end: Instruction<'d>,
}

fn turns<'d>(
    begin: Call<'d>,
    ends: &[Call<'d>],
    items: Option<[i64; 3]>,
) -> Result<Turns<'d>, String> {
    let why = "its @atomic code is more than one update of one object, and";
    let Some(items) = items else {
        return Err(format!(
            "{why} how many work items come to it by turns is not known when it is compiled"
        ));
    };
    let [end] = ends else {
        return Err(format!("{why} has several ends"));
    };
    let end = end.instruction();
    let inside = inside(begin.instruction(), end);
    let leaves = inside.iter().any(|one| {
        let mut users = one.instruction_users().into_iter();
        users.any(|user| !inside.contains(&user) && user != end)
    });
    match leaves {
        true => Err(format!("{why} a value of it is used behind it")),
        false => Ok(Turns { items, end }),
    }
}

/// The instructions from one on, before control comes to another one.
fn inside<'d>(begin: Instruction<'d>, end: Instruction<'d>) -> HashSet<Instruction<'d>> {
    let mut found = HashSet::new();
    let mut seen: HashSet<Block<'d>> = HashSet::new();
    let here = begin.block().instructions().into_iter();
    let mut rest = vec![here.skip_while(|one| *one != begin).collect::<Vec<_>>()];
    while let Some(code) = rest.pop() {
        let mut has_ended = false;
        for one in code.iter().copied() {
            if one == end {
                has_ended = true;
                break;
            }
            found.insert(one);
        }
        if let Some(last) = code.last().filter(|_| !has_ended) {
            for next in last.block().successors() {
                if seen.insert(next) {
                    rest.push(next.instructions());
                }
            }
        }
    }
    found
}

/// The number of a work item in its block.
fn linear<'d>(builder: &Builder<'d>, items: [i64; 3], target: &GpuTarget) -> Value<'d> {
    let module = builder.module();
    let own = |axis: usize| number(builder, &target.item, axis, Some(items[axis]));
    let mut linear = own(2);
    for axis in [1, 0] {
        let rows = builder.binary(Opcode::LLVMMul, linear, module.const_i64(items[axis]));
        linear = builder.sum(rows, own(axis));
    }
    linear
}
