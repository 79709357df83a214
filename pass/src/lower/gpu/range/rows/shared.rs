//! What the host asks of rows that work items share: how many turns their loops have, and whether what turns access lies
//! apart from what others write.

use crate::llvm::{Builder, Comparison, IntPredicate, Intrinsic, Opcode, Value};
use crate::lower::gpu::range::host::MOST_ITERATIONS;
use crate::lower::gpu::range::uniform::Evaluated;

/// Work items that share a row, at most, as a power of two: a block's; of those that share rows in two directions, as many as
/// a warp has.
const MOST_OF_ROW: i64 = 8;
const MOST_OF_PLANE_ROW: i64 = 5;
/// Work items that share loops in one direction, at most, as a power of two.
pub(super) const MOST_OF_DIRECTION: i64 = 20;
/// Work items of a launch, as a power of two, from which on no more are wanted but for those that share a row: some times as
/// many as a large device runs at once.
const WANTED: i64 = 20;
/// Turns of a loop, at least, that are shared.
pub(super) const LEAST_TURNS: i64 = 8;
/// Turns of a loop that is shared, at most.
const MOST_TURNS: i64 = 1 << 30;
/// Distances that the host computes with: a greater one it does not look at.
const MOST_DISTANCE: i64 = 1 << 61;
/// What a distance grows by from one iteration to the next, at most.
const MOST_GROWTH: i64 = 1 << 32;

/// What an element of a step is at most far from the next one, as long as the host looks at it.
const MOST_SPAN: i64 = 1 << 58;

/// What the host finds out of it.
#[derive(PartialEq)]
pub struct Shared {
    /// How many turns each of the loops has: of so many bits, 32 at least, without a sign.
    pub(super) turns: Vec<(Evaluated, u32)>,
    /// Those whose turns are those of work items next to each other, and those that are shared besides.
    pub(super) along: Vec<usize>,
    pub(super) across: Vec<usize>,
    /// Whether these are next to each other in memory rather than those of the next iteration.
    pub(super) is_near: bool,
    pub(super) fits: Vec<Fits>,
    pub(super) apart: Vec<Apart>,
    pub(super) cells: Vec<Cells>,
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
    /// For each: which loops it is in, and how far its element in a turn of one is from that in the next one.
    pub(super) spans: [Vec<(usize, Evaluated)>; 2],
    /// Bytes that they access.
    pub(super) bytes: [i64; 2],
}

/// That two accesses meet in the same turns alone of loops that are shared, if the host finds it so: that the steps of these,
/// and those that are greater, are greater than all that lies between the elements of loops with smaller ones.
#[derive(PartialEq)]
pub(super) struct Cells {
    /// Bytes from one turn to the next one, and how many turns there are: as many as the most of these loops have.
    pub(super) loops: Vec<(Evaluated, Vec<usize>)>,
    /// How many of them are shared: the first ones.
    pub(super) shared: usize,
    /// Bytes that they access, with those by which they begin apart.
    pub(super) bytes: i64,
}

/// How many work items share an iteration.
#[derive(Clone, Copy)]
pub struct Powers<'m> {
    /// All of them, as a power of two.
    pub all: Value<'m>,
    /// Those next to each other, as a power of two.
    pub along: Value<'m>,
}

impl Shared {
    /// Whether loops are shared in two directions.
    pub fn is_planes(&self) -> bool {
        !self.across.is_empty()
    }

    /// How many work items share a row, as a power of two, where the iterations are those from a first one to a last one: 0
    /// where a work item has to have it alone.
    pub fn emit<'m>(
        &self,
        builder: &Builder<'m>,
        captures: &[Value<'m>],
        [first, last]: [Value<'m>; 2],
    ) -> Powers<'m> {
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
        let most_of = |loops: &[usize]| {
            let loops = loops.iter().map(|one| turns[*one]);
            loops.reduce(largest)
        };
        let most = most_of(&self.along).expect("there is one");
        if !self.is_planes() {
            holds.push(at_most(number(LEAST_TURNS), most));
        }
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
            for (side, spans) in one.spans.iter().enumerate() {
                for (row, step) in spans {
                    // What it is nearer by in the last turn, or further.
                    let step = step.emit(builder, captures);
                    holds.push(within(step, MOST_GROWTH));
                    let far = product(builder.plus(turns[*row], -1), step);
                    holds.push(within(far, MOST_SPAN));
                    let far = match side {
                        0 => far,
                        _ => builder.difference(number(0), far),
                    };
                    let (none, is_less) = (number(0), at_most(far, number(0)));
                    least = builder.sum(least, builder.select(is_less, far, none));
                    most = builder.sum(most, builder.select(is_less, none, far));
                }
            }
            let [bytes, of_other] = one.bytes;
            let behind = at_most(number(of_other), least);
            let before = at_most(most, number(-bytes));
            holds.push(builder.select(behind, behind, before));
        }
        for one in &self.cells {
            let loops = one.loops.iter().enumerate().map(|(at, (step, its))| {
                let step = step.emit(builder, captures);
                holds.push(within(step, MOST_GROWTH));
                let step = largest(step, builder.difference(number(0), step));
                let turns = most_of(its).expect("there is one");
                let extent = product(step, builder.plus(largest(turns, number(1)), -1));
                holds.push(within(extent, MOST_SPAN));
                [step, extent, turns, number(i64::from(at < one.shared))]
            });
            // Those with the smallest steps first.
            let mut loops: Vec<_> = loops.collect();
            for end in (1..loops.len()).rev() {
                for at in 0..end {
                    let [a, b] = [loops[at], loops[at + 1]];
                    let is_less = at_most(a[0], b[0]);
                    let choose = |a: [_; 4], b: [_; 4]| {
                        [0, 1, 2, 3].map(|part| builder.select(is_less, a[part], b[part]))
                    };
                    (loops[at], loops[at + 1]) = (choose(a, b), choose(b, a));
                }
            }
            let (mut below, mut shared) = (number(one.bytes), number(0));
            for [step, extent, turns, is_shared] in loops {
                shared = largest(shared, is_shared);
                // A loop of one turn is always in that one, and in which turns those are whose steps are smaller than those
                // of loops that are shared does not count.
                let asks = builder.select(at_most(turns, number(1)), number(0), shared);
                let room = builder.select(at_most(below, step), number(1), number(0));
                holds.push(at_most(asks, room));
                below = builder.sum(below, extent);
            }
        }
        let all = holds.into_iter().reduce(|a, b| builder.and(a, b));
        let all = all.expect("there are some");
        let bits_of = |value| {
            let none = builder.int_cast(number(0), module.int(1));
            let ctlz = Intrinsic::named("llvm.ctlz");
            let free = builder.call_intrinsic(ctlz, &[long], &[value, none]);
            builder.difference(number(64), free)
        };
        // Not more than have a turn, and so few that all of them are counted.
        let own = |most| largest(builder.plus(bits_of(most), -1), number(0));
        let left = |room: i64, taken| {
            let left = builder.difference(number(room), taken);
            largest(left, number(0))
        };
        let room = i64::from(MOST_ITERATIONS.trailing_zeros());
        let iterations = bits_of(iterations);
        let wanted = left(WANTED, iterations);
        let limit = match (self.is_near, self.is_planes()) {
            (false, _) => builder.least(wanted, number(MOST_OF_DIRECTION)),
            (true, false) => number(MOST_OF_ROW),
            (true, true) => number(MOST_OF_PLANE_ROW),
        };
        let along = builder.least(builder.least(own(most), limit), left(room, iterations));
        let along = builder.select(all, along, number(0));
        let Some(most) = most_of(&self.across) else {
            return Powers { all: along, along };
        };
        let taken = builder.sum(iterations, along);
        let limit = builder.least(left(WANTED, taken), number(MOST_OF_DIRECTION));
        let across = builder.least(builder.least(own(most), limit), left(room, taken));
        let across = builder.select(all, across, number(0));
        let all = builder.sum(along, across);
        Powers { all, along }
    }
}
