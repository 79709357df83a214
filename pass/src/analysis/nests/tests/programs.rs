//! Random programs that nests are taken from, and what they access.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{ADDRESS, Arguments};

/// Where the inner loop begins and ends, as a number of `i`, `n`, `m` and `t`.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Zero,
    I,
    M,
    N,
    /// `min(i + t, n)`.
    Tile,
    Three,
    /// `i + 3`.
    Beyond,
}

impl End {
    fn value(self, i: i128, [_, n, m, t, ..]: Arguments) -> i128 {
        match self {
            Self::Zero => 0,
            Self::I => i,
            Self::M => m,
            Self::N => n,
            Self::Tile => (i + t).min(n),
            Self::Three => 3,
            Self::Beyond => i + 3,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Zero => "0",
            Self::I => "%i",
            Self::M => "%m",
            Self::N => "%n",
            Self::Tile => "%tile",
            Self::Three => "3",
            Self::Beyond => "%beyond",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// The turns are those from `lower` to `upper`; otherwise those in which `i` is less than `n`.
    pub(super) is_share: bool,
    /// `i` goes up by `t`; by 1 otherwise.
    pub(super) steps_by_t: bool,
    /// Where `i` is not less than `m`, nothing is accessed.
    pub(super) is_below_m: bool,
    pub(super) inner: (End, End),
    /// Whether the inner loop has turns is asked in front of the outer one.
    pub(super) asks_before: bool,
    /// A tile is begun where `i` is less than `n`, even if it has no elements: then it has one.
    pub(super) asks_less: bool,
    /// The inner loop also ends before `j` is `m`.
    pub(super) stops_at_m: bool,
    /// Elements for each `i` and each `j`, and at the start.
    pub(super) scale: [i128; 3],
    /// `m` times as many for each `i`.
    pub(super) has_rows_of_m: bool,
    /// Each time `t` bytes are filled; otherwise an element is stored.
    pub(super) fills: bool,
    /// Indices have 32 bits, which overflow is undefined of.
    pub(super) is_narrow: bool,
}

impl Program {
    pub(super) fn any(is_share: bool, random: &mut impl FnMut(usize) -> usize) -> Self {
        use End::*;
        let inner = [
            (Zero, M),
            (Zero, I),
            (I, N),
            (I, Tile),
            (Zero, N),
            (I, M),
            (Zero, Three),
            (I, Beyond),
        ];
        let inner = inner[random(inner.len())];
        let mut number = || random(7) as i128 - 3;
        let scale = [number(), number(), number()];
        Self {
            is_share,
            steps_by_t: matches!(inner.1, Tile) || random(4) == 0,
            is_below_m: random(8) == 0,
            inner,
            asks_before: matches!(inner, (Zero, M | N)) && random(2) == 0,
            asks_less: matches!(inner.1, Tile) && random(2) == 0,
            stops_at_m: random(6) == 0,
            scale,
            fills: random(4) == 0,
            has_rows_of_m: random(4) == 0,
            is_narrow: random(2) == 0,
        }
    }

    /// As clang writes it, when LLVM has rotated its loops.
    pub(super) fn text(&self) -> String {
        let [on_i, on_j, start] = self.scale;
        let (from, to) = (self.inner.0.name(), self.inner.1.name());
        let step = if self.steps_by_t { "%t" } else { "1" };
        let (ty, extend) = match self.is_narrow {
            true => ("i32", "%long = sext i32 %index to i64"),
            false => ("i64", "%long = add i64 %index, 0"),
        };
        let guard = match self.is_below_m {
            true => format!(
                "%is.below = icmp slt {ty} %i, %m
  br i1 %is.below, label %guard, label %outer.end"
            ),
            false => "br label %guard".to_string(),
        };
        let each_row = if self.has_rows_of_m { "%m" } else { "1" };
        let asked_before = match self.asks_before {
            true => format!("{from}, {to}"),
            false => "0, 1".to_string(),
        };
        let asked = if self.asks_less { "%n" } else { to };
        let ask = match self.asks_before || matches!(self.inner.1, End::Three | End::Beyond) {
            true => "br label %row".to_string(),
            false => format!(
                "%has.row = icmp slt {ty} {from}, {asked}
  br i1 %has.row, label %row, label %outer.end"
            ),
        };
        let stop = match self.stops_at_m {
            true => format!(
                "%is.m = icmp eq {ty} %j.next, %m
  br i1 %is.m, label %row.end, label %last.check"
            ),
            false => "br label %last.check".to_string(),
        };
        let access = match self.fills {
            true => "call void @llvm.memset.p0.i64(ptr %place, i8 0, i64 %bytes, i1 false)",
            false => "store double 0.0, ptr %place",
        };
        let bytes = match self.is_narrow {
            true => "zext i32 %t to i64",
            false => "add i64 %t, 0",
        };
        let (enter, first, next) = match self.is_share {
            true => (
                format!(
                    "%lower = alloca {ty}
  %upper = alloca {ty}
  call void @deal(ptr %lower, ptr %upper)
  %first = load {ty}, ptr %lower
  %last = load {ty}, ptr %upper
  %both = icmp sle {ty} %first, %last"
                ),
                format!(
                    "%turn = phi {ty} [ %first, %before ], [ %turn.next, %outer.end ]
  %i = mul nsw {ty} %turn, {step}"
                ),
                format!(
                    "%turn.next = add nsw {ty} %turn, 1
  %again = icmp slt {ty} %turn, %last"
                ),
            ),
            false => (
                format!(
                    "%any = icmp sgt {ty} %n, 0
  %up = icmp sgt {ty} %t, 0
  %both = and i1 %any, %up"
                ),
                format!("%i = phi {ty} [ 0, %before ], [ %i.next, %outer.end ]"),
                format!(
                    "%i.next = add nsw {ty} %i, {step}
  %again = icmp slt {ty} %i.next, %n"
                ),
            ),
        };
        format!(
            "declare void @deal(ptr, ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @f(ptr %a, {ty} %n, {ty} %m, {ty} %t) {{
entry:
  {enter}
  %has.rows = icmp slt {ty} {asked_before}
  %enters = and i1 %both, %has.rows
  br i1 %enters, label %before, label %end
before:
  %bytes = {bytes}
  br label %outer
outer:
  {first}
  %sum = add nsw {ty} %i, %t
  %is.inside = icmp slt {ty} %sum, %n
  %tile = select i1 %is.inside, {ty} %sum, {ty} %n
  %beyond = add nsw {ty} %i, 3
  {guard}
guard:
  {ask}
row:
  br label %inner
inner:
  %j = phi {ty} [ {from}, %row ], [ %j.next, %last.check ]
  %part.m = mul nsw {ty} %i, {each_row}
  %part.i = mul nsw {ty} %part.m, {on_i}
  %part.j = mul nsw {ty} %j, {on_j}
  %parts = add nsw {ty} %part.i, %part.j
  %index = add nsw {ty} %parts, {start}
  {extend}
  %place = getelementptr inbounds double, ptr %a, i64 %long
  {access}
  %j.next = add nsw {ty} %j, 1
  {stop}
last.check:
  %more = icmp slt {ty} %j.next, {to}
  br i1 %more, label %inner, label %row.end
row.end:
  br label %outer.end
outer.end:
  {next}
  br i1 %again, label %outer, label %done
done:
  br label %end
end:
  ret void
}}
"
        )
    }

    /// Whether control gets to the outer loop.
    pub(super) fn is_reached(&self, arguments: Arguments) -> bool {
        let [from, to] = [self.inner.0, self.inner.1].map(|end| end.value(0, arguments));
        !self.turns(arguments).is_empty() && (!self.asks_before || from < to)
    }

    /// The turns of the inner loop, which are those from the first one on as long as there are more.
    fn inner_turns(&self, i: i128, arguments: Arguments) -> Range<i128> {
        let [_, n, m, ..] = arguments;
        let [from, to] = [self.inner.0, self.inner.1].map(|end| end.value(i, arguments));
        if from >= if self.asks_less { n } else { to } {
            return from..from;
        }
        let end = to.max(from + 1);
        match self.stops_at_m && m > from {
            true => from..end.min(m),
            false => from..end,
        }
    }

    pub(super) fn in_turn(&self, turn: i128, arguments: Arguments) -> BTreeSet<i128> {
        let [_, _, m, t, ..] = arguments;
        let [on_i, on_j, start] = self.scale;
        let i = if self.steps_by_t { turn * t } else { turn };
        let row = if self.has_rows_of_m { m } else { 1 };
        let length = if self.fills { t } else { 1 };
        self.inner_turns(i, arguments)
            .filter(|_| !self.is_below_m || i < m)
            .map(|j| ADDRESS + 8 * (on_i * row * i + on_j * j + start))
            .flat_map(|place| place..place + length)
            .collect()
    }

    pub(super) fn turns(&self, [_, n, _, t, lower, upper]: Arguments) -> Range<i128> {
        let step = if self.steps_by_t { t } else { 1 };
        match self.is_share {
            true => lower..upper + 1,
            false => 0..(n + step - 1) / step,
        }
    }

    pub(super) fn accessed(&self, arguments: Arguments) -> BTreeSet<i128> {
        let turns = self.turns(arguments);
        turns
            .flat_map(|turn| self.in_turn(turn, arguments))
            .collect()
    }
}
