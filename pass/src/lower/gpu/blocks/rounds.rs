//! A loop over work items, as one of them runs it: at its own number, or at that and all that lie as many further as a block
//! has work items.

use super::iterator;
use crate::ir::Counter;
use crate::llvm::{Builder, Comparison, IntPredicate, Module, Opcode, Update, Value};
use crate::lower::cpu::counted::Copies;
use crate::lower::gpu::asked::number;
use crate::lower::gpu::shape::Shape;
use crate::lower::gpu::shape::dealt::Dealt;
use crate::lower::gpu::target::GpuTarget;

/// Has each work item run a loop over work items where it is its turn. In the directions that the loop has no loop of, and
/// others have, only the first work item does. `lacks` says where it is noted that there are too few work items.
pub fn run<'d>(
    device: &'d Module,
    counter: &Counter<'d>,
    shape: &Shape<'d>,
    target: &GpuTarget,
    lacks: &mut dyn FnMut() -> Value<'d>,
) {
    let (dealt, items) = (shape.dealt(counter), shape.constant_items());
    let mut leaves = shape.missing.iter();
    let leaf = leaves.find(|(one, _)| one.decides == counter.decides);
    let missing = leaf.map_or(&[][..], |(_, axes)| axes);

    let known = counter.blocks.iter().copied().collect();
    let mut copies = Copies::before(device, counter.begins, known);
    let counted = copies.counted(device, counter);
    let builder = copies.builder;
    let number = |axis: usize| number(&builder, &target.item, axis, items.map(|all| all[axis]));
    let own = number(counter.axis);
    let mut firsts = missing.iter().map(|&axis| {
        let other = number(axis);
        builder.compare(other, device.const_i64(0), false)
    });
    let is_first = firsts
        .next()
        .map(|first| firsts.fold(first, |all, one| builder.and(all, one)));
    let [body, header] = [counter.body, counter.decides.block()];
    let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
    let width = items.map_or(0, |all| all[counter.axis]);
    let end = counter.decides;
    let goes_first = end.block().successors().first() == Some(&body);
    assert!(goes_first, "the body comes first");
    let decide = |is_there: Value<'d>| {
        end.always_branch(device, true);
        end.set_branch_condition(is_there);
    };
    if dealt == Dealt::Rounds {
        let long = device.int(64);
        let place = Builder::at_entry(device, end.function()).alloca(long, 8);
        builder.store(own, place);
        let builder = Builder::before(device, end);
        let at = builder.load(long, place);
        builder.store(iterator(&builder, counter, &counted, at), *counted.variable);
        let is_there = builder.ask(less, at, counted.count);
        decide(is_first.map_or(is_there, |first| builder.and(is_there, first)));
        let builder = Builder::before(device, counter.steps);
        let next = builder.sum(builder.load(long, place), device.const_i64(width));
        builder.store(next, place);
        counter.steps.erase();
        return;
    }
    let is_there = builder.ask(less, own, counted.count);
    decide(is_first.map_or(is_there, |first| builder.and(is_there, first)));
    counter
        .begins
        .set_operand(0, iterator(&builder, counter, &counted, own));
    counter.steps.block().turn(header, counter.exit);
    if dealt == Dealt::Checked {
        let more = Comparison::Integer(IntPredicate::LLVMIntSGT);
        let is_more = builder.ask(more, counted.count, device.const_i64(width));
        let at = counter.begins.insert_if(is_more);
        let builder = Builder::before(device, at);
        let most = device.const_i64(i64::from(u32::MAX));
        let is_huge = builder.ask(more, counted.count, most);
        let count = builder.int_cast(builder.select(is_huge, most, counted.count), device.int(32));
        builder.update(Update::LLVMAtomicRMWBinOpUMax, lacks(), count, 4);
    }
}

/// What an iterator is multiplied with to be a number of a direction in which a grid may be launched in parts.
pub fn plus<'d>(builder: &Builder<'d>, own: Value<'d>, first: Option<Value<'d>>) -> Value<'d> {
    match first {
        Some(first) => {
            let first = builder.cast(Opcode::LLVMZExt, first, own.ty());
            builder.sum(own, first)
        }
        None => own,
    }
}
