//! What the host asks of rows that work items share: how many turns their loops have, and whether what turns access lies
//! apart from what others write.

use crate::llvm::{Builder, Comparison, IntPredicate, Intrinsic, Opcode, Value};
use crate::lower::gpu::range::host::MOST_ITERATIONS;
use crate::lower::gpu::range::uniform::Evaluated;

/// Work items that share a row, at most, as a power of two: a block's.
pub(super) const MOST_SHARE: i64 = 8;
/// Turns of a loop, at least, that are shared.
pub(super) const LEAST_TURNS: i64 = 8;
/// Turns of a loop that is shared, at most.
const MOST_TURNS: i64 = 1 << 30;
/// Distances that the host computes with: a greater one it does not look at.
const MOST_DISTANCE: i64 = 1 << 61;
/// What a distance grows by from one iteration to the next, at most.
const MOST_GROWTH: i64 = 1 << 32;

/// What the host finds out of it.
#[derive(PartialEq)]
pub struct Shared {
    /// How many turns each of the loops has: of so many bits, 32 at least, without a sign.
    pub(super) turns: Vec<(Evaluated, u32)>,
    pub(super) fits: Vec<Fits>,
    pub(super) apart: Vec<Apart>,
}

/// That a number that counts iterations does not overflow, if the host finds it so.
#[derive(PartialEq)]
pub(super) struct Fits {
    /// What it is in iteration 0, of so many bits, perhaps with a sign, and what is added in each.
    pub(super) start: Evaluated,
    pub(super) bits: u32,
    pub(super) signed: bool,
    pub(super) step: i64,
}

/// That two accesses of an iteration meet nowhere, if the host finds it so.
#[derive(PartialEq)]
pub(super) struct Apart {
    /// How many bytes the first element of one is behind the first one of the other, in iteration 0.
    pub(super) distance: Evaluated,
    /// What that grows by from one iteration to the next.
    pub(super) growth: Option<Evaluated>,
    /// For each: which loop it is in, and how far its element in a turn is from that in the next one.
    pub(super) steps: [Option<(usize, i64)>; 2],
    /// Bytes that they access.
    pub(super) bytes: [i64; 2],
}

impl Shared {
    /// How many work items share a row, as a power of two, where the iterations are those from a first one to a last one: 0
    /// where a work item has to have it alone.
    pub fn emit<'m>(
        &self,
        builder: &Builder<'m>,
        captures: &[Value<'m>],
        [first, last]: [Value<'m>; 2],
    ) -> Value<'m> {
        let module = builder.module();
        let (long, number) = (module.int(64), |number| module.const_i64(number));
        let ask = |predicate, a, b| builder.ask(Comparison::Integer(predicate), a, b);
        let at_most = |a, b| ask(IntPredicate::LLVMIntSLE, a, b);
        let within = |value, most: i64| {
            let least = at_most(number(-most), value);
            builder.and(least, at_most(value, number(most)))
        };
        let largest = |a, b| builder.select(at_most(a, b), b, a);
        let turns = self.turns.iter().map(|(turns, _)| {
            let turns = turns.emit(builder, captures);
            match turns.ty() == long {
                true => turns,
                false => builder.cast(Opcode::LLVMZExt, turns, long),
            }
        });
        let turns: Vec<_> = turns.collect();
        let mut holds: Vec<_> = (turns.iter())
            .map(|turns| ask(IntPredicate::LLVMIntULE, *turns, number(MOST_TURNS)))
            .collect();
        let most = turns.iter().copied().reduce(largest).expect("there is one");
        holds.push(at_most(number(LEAST_TURNS), most));
        let iterations = builder.difference(last, first);
        let product = |a, b| builder.binary(Opcode::LLVMMul, a, b);
        for one in &self.fits {
            let at_0 = one.start.emit(builder, captures);
            let at_0 = match (at_0.ty() == long, one.signed) {
                (true, _) => at_0,
                (_, true) => builder.cast(Opcode::LLVMSExt, at_0, long),
                (_, false) => builder.cast(Opcode::LLVMZExt, at_0, long),
            };
            let [least, most] = match one.signed {
                true => [-(1 << (one.bits - 1)), (1 << (one.bits - 1)) - 1],
                false => [0, (1 << one.bits) - 1],
            };
            // Of first iterations that are so great it is not asked how far it is to there.
            holds.push(within(first, MOST_GROWTH));
            for iteration in [first, last] {
                let value = builder.sum(at_0, product(iteration, number(one.step)));
                holds.push(at_most(number(least), value));
                holds.push(at_most(value, number(most)));
            }
        }
        for one in &self.apart {
            let at_0 = one.distance.emit(builder, captures);
            let [mut least, mut most] = [at_0; 2];
            if let Some(growth) = &one.growth {
                let growth = growth.emit(builder, captures);
                holds.push(within(growth, MOST_GROWTH));
                let start = builder.sum(at_0, product(growth, first));
                let end = builder.sum(start, product(growth, iterations));
                let is_more = at_most(start, end);
                least = builder.select(is_more, start, end);
                most = builder.select(is_more, end, start);
            }
            holds.push(within(least, MOST_DISTANCE));
            holds.push(within(most, MOST_DISTANCE));
            for (side, step) in one.steps.iter().enumerate() {
                let Some((row, step)) = step.filter(|(_, step)| *step != 0) else {
                    continue;
                };
                // What it is nearer by in the last turn, or further.
                let step = if side == 0 { step } else { -step };
                let far = builder.plus(turns[row], -1);
                let far = builder.binary(Opcode::LLVMMul, far, number(step));
                match step < 0 {
                    true => least = builder.sum(least, far),
                    false => most = builder.sum(most, far),
                }
            }
            let [bytes, of_other] = one.bytes;
            let behind = at_most(number(of_other), least);
            let before = at_most(most, number(-bytes));
            holds.push(builder.select(behind, behind, before));
        }
        let all = holds.into_iter().reduce(|a, b| builder.and(a, b));
        let bits_of = |value| {
            let none = builder.int_cast(number(0), module.int(1));
            let ctlz = Intrinsic::named("llvm.ctlz");
            let free = builder.call_intrinsic(ctlz, &[long], &[value, none]);
            builder.difference(number(64), free)
        };
        // Not more than have a turn, and so few that all of them are counted.
        let own = builder.plus(bits_of(most), -1);
        let room = i64::from(MOST_ITERATIONS.trailing_zeros());
        let room = builder.difference(number(room), bits_of(iterations));
        let bits = builder.least(builder.least(own, number(MOST_SHARE)), room);
        builder.select(all.expect("there are some"), bits, number(0))
    }
}
