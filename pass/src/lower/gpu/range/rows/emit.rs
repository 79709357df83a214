//! Has the work items that share loops run each its own turns.

use super::shared::{self, Shared};
use super::{Counter, Row, Rows};
use crate::llvm::{Builder, Comparison, Instruction, IntPredicate, Module, Opcode, Value};
use crate::lower::gpu::range::uniform::Evaluated;
use crate::lower::gpu::range::wide::Copy;

impl<'d> Rows<'d> {
    /// What the host finds out.
    pub(in super::super) fn shared(self) -> Shared {
        self.shared
    }

    /// Whether they share loops in two directions.
    pub(in super::super) fn is_planes(&self) -> bool {
        self.shared.is_planes()
    }

    /// How many turns each loop has.
    pub(in super::super) fn turns(&self) -> impl Iterator<Item = &(Evaluated, u32)> {
        let turns = &self.shared.turns;
        self.loops.iter().map(|row| &turns[row.turns])
    }

    /// Has each loop begin with the turn of the number in its direction, and go on so many turns further; `turns` are those
    /// of each loop.
    pub(in super::super) fn emit(
        &self,
        device: &'d Module,
        first: Instruction<'d>,
        turns: &[Value<'d>],
        directions: &[[Value<'d>; 2]],
    ) {
        for (row, turns) in self.loops.iter().zip(turns) {
            let [number, width] = directions[row.direction];
            let ty = turns.ty();
            let turn = Builder::before(device, first).alloca(ty, 8);
            let start = row.preheader.terminator().expect("a complete block");
            let end = row.latch.terminator().expect("a complete block");
            let asks = row.header.terminator().expect("a complete block");
            // Before and behind a turn.
            let [before, behind] = [start, end].map(|at| Builder::before(device, at));
            before.store(before.int_cast(number, ty), turn);
            let header = Builder::before(device, asks);
            let own = header.load(ty, turn);
            let less = Comparison::Integer(IntPredicate::LLVMIntULT);
            let has = header.ask(less, own, *turns);
            let asked = match row.yes {
                true => has,
                false => header.not(has),
            };
            asks.set_branch_condition(asked);
            let next = behind.sum(own, behind.int_cast(width, ty));
            if let Some(next) = next.as_instruction() {
                next.promise_no_wrap(false);
            }
            behind.store(next, turn);
            for counter in &row.counters {
                counter.emit(device, row, [&before, &behind], [number, width]);
            }
        }
    }
}

impl<'d> Row<'d> {
    /// The same in what was copied.
    pub(super) fn original(self, copy: &Copy<'d>) -> Option<Self> {
        let counters = self.counters.into_iter().map(|one| {
            Some(Counter {
                phi: copy.original(one.phi)?,
                next: copy.original(one.next)?,
                ..one
            })
        });
        Some(Self {
            header: copy.original_block(self.header)?,
            preheader: copy.original_block(self.preheader)?,
            latch: copy.original_block(self.latch)?,
            counters: counters.collect::<Option<_>>()?,
            ..self
        })
    }
}

impl<'d> Counter<'d> {
    /// Has it begin with the value of a turn, and go on by that of so many.
    fn emit(
        &self,
        device: &'d Module,
        row: &Row<'d>,
        [before, behind]: [&Builder<'d>; 2],
        [number, width]: [Value<'d>; 2],
    ) {
        let long = device.int(64);
        let phi = self.phi;
        let ty = phi.ty();
        let by = |builder: &Builder<'d>, times: Value<'d>| {
            let ty = if ty.is_pointer() { long } else { ty };
            let times = builder.int_cast(times, ty);
            let by = builder.int_cast(device.const_i64(self.by), ty);
            builder.binary(Opcode::LLVMMul, times, by)
        };
        let moved = |builder: &Builder<'d>, value: Value<'d>, times: Value<'d>| {
            let by = by(builder, times);
            if ty.is_pointer() {
                return builder.element(device.int(8), value, by);
            }
            let sum = builder.sum(value, by);
            // What it is in a turn it would have been without overflow, and in none it is not used.
            let bits = ty.bits().unwrap_or(64);
            // What is added is a number of that type only if it is small.
            let most = self
                .by
                .unsigned_abs()
                .saturating_mul(1 << shared::MOST_OF_DIRECTION);
            let fits = most < 1 << (bits - 1).min(62);
            for signed in [true, false].into_iter().filter(|_| fits) {
                if let Some(sum) = sum.as_op(Opcode::LLVMAdd)
                    && self.next.opcode() == Opcode::LLVMAdd
                    && self.next.keeps_number(signed)
                    && (signed || self.by > 0)
                {
                    sum.promise_no_wrap(signed);
                }
            }
            sum
        };
        for (at, (value, from)) in phi.incoming().into_iter().enumerate() {
            let value = match from == row.preheader {
                true => moved(before, value, number),
                false => moved(behind, *phi, width),
            };
            phi.set_operand(at, value);
        }
    }
}
