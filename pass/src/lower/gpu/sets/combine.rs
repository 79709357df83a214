//! What the work items of a block make of a global argument, they combine.

use super::BLOCK;
use super::item::Writer;
use crate::ir::{Form, Parameter};
use crate::llvm::{Block, Builder, Comparison, IntPredicate, Opcode, RealPredicate, Value};
use crate::lower::elements::{combined, is_better};
use crate::lower::gpu::asked::meet;

/// Bytes of a place in which a work item hands over a value.
const SLOT: i64 = 8;

/// What decides between equal values, and what goes along with the one that wins.
pub(super) struct Ties<'d> {
    /// The element of this work item, as the program knows it.
    pub(super) number: Value<'d>,
    /// Room for those of all work items of the block.
    pub(super) shared: Value<'d>,
    /// Where blocks put the number of the element that has the value.
    pub(super) firsts: Value<'d>,
    /// What the work item has, where blocks put it, and its bytes.
    pub(super) along: Vec<(Value<'d>, Value<'d>, i64)>,
}

impl<'d> Writer<'d> {
    /// Combines what the work items of a block have: each adds to its own what the one has that stands half as far behind
    /// each time, so that the order is always the same. Continues behind that.
    pub(super) fn combine(
        &self,
        (mut builder, mut front): (Builder<'d>, Block<'d>),
        argument: &Parameter<'_>,
        [item, block]: [Value<'d>; 2],
        [own, shared, to]: [Value<'d>; 3],
        ties: Option<Ties<'d>>,
    ) -> (Builder<'d>, Block<'d>) {
        let (module, kernel) = (self.device, self.kernel);
        let element = argument.element();
        let (scalar, bytes) = (element.scalar.ty(module), element.scalar.bytes);
        let at = |block| {
            let builder = Builder::at_end(module, block);
            builder.stand_at_start_of(kernel);
            builder
        };
        let zero = module.const_i64(0);
        let slot = module.array(module.int(8), SLOT as u64);
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        for component in 0..element.components {
            let mine = builder.element(slot, shared, item);
            let value = builder.load(scalar, builder.offset(own, component * bytes));
            builder.store(value, mine);
            let numbered = ties.as_ref().map(|ties| {
                let place = builder.element(module.int(32), ties.shared, item);
                builder.store(ties.number, place);
                place
            });
            meet(&builder, self.target);
            let [head, adds, met, done, last, next] = [(); 6].map(|()| kernel.append_block(module));
            builder.go(head);
            let builder_at_head = at(head);
            let distance = builder_at_head.phi(module.int(64));
            distance.add_incoming(module.const_i64(BLOCK / 2), front);
            let is_lower = builder_at_head.ask(less, item, distance);
            builder_at_head.go_if(is_lower, adds, met);

            let builder_at_adds = at(adds);
            let other = builder_at_adds.element(slot, shared, builder_at_adds.sum(item, distance));
            let [old, new] = [mine, other].map(|from| builder_at_adds.load(scalar, from));
            match (&ties, numbered) {
                (Some(ties), Some(numbered)) => {
                    let builder = &builder_at_adds;
                    let int = module.int(32);
                    let others = builder.element(int, ties.shared, builder.sum(item, distance));
                    let [first, second] = [numbered, others].map(|from| builder.load(int, from));
                    let equal = match element.scalar.form {
                        Form::Floating => Comparison::Floating(RealPredicate::LLVMRealOEQ),
                        _ => Comparison::Integer(IntPredicate::LLVMIntEQ),
                    };
                    let is_before = builder.ask(less, second, first);
                    let is_same = builder.and(builder.ask(equal, old, new), is_before);
                    let is_better = is_better(builder, argument, old, new);
                    let wins = builder.binary(Opcode::LLVMOr, is_better, is_same);
                    builder.store(builder.select(wins, new, old), mine);
                    builder.store(builder.select(wins, second, first), numbered);
                }
                _ => {
                    let both = combined(&builder_at_adds, argument, old, new);
                    builder_at_adds.store(both, mine);
                }
            }
            builder_at_adds.go(met);

            let builder_at_met = at(met);
            meet(&builder_at_met, self.target);
            let half = builder_at_met.shift_right(distance, 1);
            distance.add_incoming(half, met);
            let is_more = builder_at_met.compare(half, zero, true);
            builder_at_met.go_if(is_more, head, done);

            let builder_at_done = at(done);
            // The one whose value it is has what goes along with it.
            let is_it = match &ties {
                Some(ties) => {
                    let winner = builder_at_done.load(module.int(32), ties.shared);
                    builder_at_done.compare(winner, ties.number, false)
                }
                None => builder_at_done.compare(item, zero, false),
            };
            builder_at_done.go_if(is_it, last, next);

            let builder_at_last = at(last);
            let result = builder_at_last.load(scalar, shared);
            let of_block = module.const_i64(element.bytes().unwrap_or(0));
            let of_block = builder_at_last.multiply(block, of_block);
            let place = builder_at_last.element(module.int(8), to, of_block);
            let place = builder_at_last.offset(place, component * bytes);
            builder_at_last.store(result, place);
            if let Some(ties) = &ties {
                let builder = &builder_at_last;
                let place = builder.element(module.int(32), ties.firsts, block);
                builder.store(ties.number, place);
                for (own, to, bytes) in &ties.along {
                    let of_block = builder.multiply(block, module.const_i64(*bytes));
                    let place = builder.element(module.int(8), *to, of_block);
                    let align = [8, 4, 1].into_iter().find(|one| bytes % one == 0);
                    builder.copy_aligned(place, *own, *bytes, align.expect("one is") as u32);
                }
            }
            builder_at_last.go(next);

            (builder, front) = (at(next), next);
            meet(&builder, self.target);
        }
        (builder, front)
    }
}
