//! Sections of random nests, as expressions, against what the nests access; `projection` compares them with what is said of
//! each turn.
//!
//! The nests are two loops around a store; a section's terms are evaluated for some values of the parameters, and compared
//! with the addresses that the loops go through.

mod projection;

use std::collections::BTreeSet;
use std::ops::Range;

use super::conditions::{Conditions, Question};
use super::*;
use crate::llvm::{IntPredicate, OwnModule};

/// Values of the parameters `a`, `n`, `m` and `t` of the functions, and of the variables `lower` and `upper`, which hold the
/// first and the last turn of a share.
type Arguments = [i128; 6];

const LOWER: usize = 4;
const UPPER: usize = 5;

const ADDRESS: i128 = 1 << 30;

/// A number of so many bits with its sign.
fn wrapped(number: i128, bits: u32) -> i128 {
    let shift = i128::BITS - bits;
    number << shift >> shift
}

fn without_sign(number: i128, bits: u32) -> u128 {
    let shift = i128::BITS - bits;
    (number as u128) << shift >> shift
}

/// The value of an expression in parameters.
fn value_of(nests: &Nests<'_>, one: Expression<'_>, arguments: &Arguments) -> i128 {
    let bits = nests.bits(one);
    let operands: Vec<_> = one
        .operands()
        .iter()
        .map(|&part| value_of(nests, part, arguments))
        .collect();
    let unsigned = || operands.iter().map(|&one| without_sign(one, bits));
    let value = match one.kind() {
        Kind::Constant => one.constant().expect("numbers are small"),
        Kind::Value => {
            let value = one.value().expect("a value");
            let variable = || value.as_op(Opcode::LLVMLoad)?.address();
            match value.as_parameter() {
                Some((_, index)) => arguments[index],
                None => match &*variable().expect("a parameter or a variable").name() {
                    "lower" => arguments[LOWER],
                    "upper" => arguments[UPPER],
                    other => panic!("{other} is not known"),
                },
            }
        }
        Kind::Truncate | Kind::SignExtend | Kind::PointerToInteger => operands[0],
        Kind::ZeroExtend => without_sign(operands[0], nests.bits(one.operands()[0])) as i128,
        Kind::Add => operands.iter().sum(),
        Kind::Multiply => operands.iter().product(),
        Kind::UnsignedDivide => {
            (without_sign(operands[0], bits) / without_sign(operands[1], bits)) as i128
        }
        Kind::SignedMin => *operands.iter().min().expect("operands"),
        Kind::SignedMax => *operands.iter().max().expect("operands"),
        Kind::UnsignedMin | Kind::SequentialMin => unsigned().min().expect("operands") as i128,
        Kind::UnsignedMax => unsigned().max().expect("operands") as i128,
        Kind::Recurrence | Kind::Other | Kind::Unknown => panic!("{} is not known", one.text()),
    };
    wrapped(value, bits)
}

/// The value of a term; `None` where a check fails.
fn evaluate<'m>(nests: &Nests<'m>, term: Term<'m>, arguments: &Arguments) -> Option<i128> {
    let (value, Conditions { guards, checks }) = nests.parts(term);
    let of = |one| value_of(nests, one, arguments);
    let fits = checks.iter().all(|check| {
        let number = of(check.value);
        match check.signed {
            true => wrapped(number, check.bits) == number,
            false => without_sign(number, check.bits) as i128 == number,
        }
    });
    let holds = guards.iter().all(|guard| {
        let Question::Comparison(predicate, a, b) = guard.question else {
            panic!("all conditions are comparisons");
        };
        let (a, b) = (of(a), of(b));
        let is_so = match predicate {
            IntPredicate::LLVMIntSLT => a < b,
            IntPredicate::LLVMIntSGT => a > b,
            IntPredicate::LLVMIntSLE => a <= b,
            IntPredicate::LLVMIntSGE => a >= b,
            IntPredicate::LLVMIntEQ => a == b,
            IntPredicate::LLVMIntNE => a != b,
            _ => panic!("all comparisons have signs"),
        };
        is_so == guard.wanted
    });
    fits.then(|| if holds { of(value) } else { 0 })
}

/// The addresses in a section; `None` where a check fails.
fn addresses<'m>(
    nests: &Nests<'m>,
    section: &Section<'m>,
    arguments: &Arguments,
) -> Option<BTreeSet<i128>> {
    let mut all = BTreeSet::from([evaluate(nests, section.address, arguments)?]);
    for &(stride, count) in &section.dimensions {
        let (stride, count) = (
            evaluate(nests, stride, arguments)?,
            evaluate(nests, count, arguments)?,
        );
        all = all
            .iter()
            .flat_map(|&start| (0..count).map(move |step| start + step * stride))
            .collect();
    }
    Some(all)
}

/// Where the inner loop begins and ends, as a number of `i`, `n`, `m` and `t`.
#[derive(Clone, Copy, Debug)]
enum End {
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
struct Program {
    /// The turns are those from `lower` to `upper`; otherwise those in which `i` is less than `n`.
    is_share: bool,
    /// `i` goes up by `t`; by 1 otherwise.
    steps_by_t: bool,
    /// Where `i` is not less than `m`, nothing is accessed.
    is_below_m: bool,
    inner: (End, End),
    /// Whether the inner loop has turns is asked in front of the outer one.
    asks_before: bool,
    /// A tile is begun where `i` is less than `n`, even if it has no elements: then it has one.
    asks_less: bool,
    /// The inner loop also ends before `j` is `m`.
    stops_at_m: bool,
    /// Elements for each `i` and each `j`, and at the start.
    scale: [i128; 3],
    /// `m` times as many for each `i`.
    has_rows_of_m: bool,
    /// Each time `t` bytes are filled; otherwise an element is stored.
    fills: bool,
    /// Indices have 32 bits, which overflow is undefined of.
    is_narrow: bool,
}

impl Program {
    fn any(is_share: bool, random: &mut impl FnMut(usize) -> usize) -> Self {
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
    fn text(&self) -> String {
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
    fn is_reached(&self, arguments: Arguments) -> bool {
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

    fn in_turn(&self, turn: i128, arguments: Arguments) -> BTreeSet<i128> {
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

    fn turns(&self, [_, n, _, t, lower, upper]: Arguments) -> Range<i128> {
        let step = if self.steps_by_t { t } else { 1 };
        match self.is_share {
            true => lower..upper + 1,
            false => 0..(n + step - 1) / step,
        }
    }

    fn accessed(&self, arguments: Arguments) -> BTreeSet<i128> {
        let turns = self.turns(arguments);
        turns
            .flat_map(|turn| self.in_turn(turn, arguments))
            .collect()
    }
}

/// What is stored into, the bytes that are filled, and the block.
fn access_in<'m>(nests: &Nests<'m>) -> (Value<'m>, Option<Value<'m>>, Block<'m>) {
    let all = nests.function().instructions().into_iter();
    let mut accesses = all.filter_map(|one| match one.opcode() {
        Opcode::LLVMStore => Some((one.operand(1), None, one.block())),
        _ if copies_or_fills(one) => Some((one.operand(0), Some(one.operand(2)), one.block())),
        _ => None,
    });
    accesses.next().expect("the program stores or fills")
}

/// Its extent.
fn extent_of<'m>(nests: &Nests<'m>, scope: Scope<'m>) -> Extent<'m> {
    let (pointer, length, block) = access_in(nests);
    nests.extent(pointer, length, block, scope)
}

/// The same numbers at each run.
fn random_numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % bound
    }
}

#[test]
fn sections_are_what_random_nests_access() {
    let mut random = random_numbers();
    let (mut sections, mut exact) = (0, 0);
    for _ in 0..300 {
        let program = Program::any(false, &mut random);
        let module = OwnModule::parse(&program.text());
        let function = module.function("f").expect("it was written");
        let nests = Nests::open(&module, function);
        let Extent::Section(section) = extent_of(&nests, Scope::Loop(0)) else {
            continue;
        };
        sections += 1;
        for _ in 0..20 {
            let mut number = |bound| random(bound) as i128;
            let arguments = [ADDRESS, number(12), number(14) - 2, 1 + number(5), 0, 0];
            // A section is that of a loop that is reached.
            if !program.is_reached(arguments) {
                continue;
            }
            let accessed = program.accessed(arguments);
            // Checks may fail although nothing overflows: the section is not used then.
            let Some(declared) = addresses(&nests, &section, &arguments) else {
                continue;
            };
            let is_right = match section.exact {
                true => declared == accessed,
                false => declared.is_superset(&accessed),
            };
            assert!(
                is_right,
                "{program:?} with {arguments:?} accesses {accessed:?}, not {declared:?}"
            );
            exact += usize::from(section.exact);
        }
    }
    assert!(
        sections > 150 && exact > 1000,
        "{sections} sections, {exact} times exact"
    );
}

#[test]
fn indices_that_overflow_are_noticed() {
    let program = Program {
        is_share: false,
        steps_by_t: false,
        is_below_m: false,
        asks_before: false,
        asks_less: false,
        stops_at_m: false,
        fills: false,
        inner: (End::Zero, End::M),
        scale: [3, 1, 0],
        has_rows_of_m: false,
        is_narrow: true,
    };
    let module = OwnModule::parse(&program.text().replace(" nsw", ""));
    let nests = Nests::open(&module, module.function("f").expect("it was written"));
    let Extent::Section(section) = extent_of(&nests, Scope::Loop(0)) else {
        panic!("it has a section");
    };
    let small = [ADDRESS, 10, 10, 1, 0, 0];
    let declared = addresses(&nests, &section, &small);
    assert!(declared.is_some_and(|all| all.is_superset(&program.accessed(small))));
    let large = [ADDRESS, 1 << 30, 10, 1, 0, 0];
    assert_eq!(addresses(&nests, &section, &large), None);
}

#[test]
fn terms_of_one_expression_are_one() {
    let program = Program::any(false, &mut |_| 0);
    let module = OwnModule::parse(&program.text());
    let nests = Nests::open(&module, module.function("f").expect("it was written"));
    let one = nests.term(nests.word(7));
    assert!(one == nests.plus(nests.term(nests.word(5)), 2));
    assert_eq!(nests.distance(one, nests.term(nests.word(4))), Some(3));
    assert_eq!(nests.constant(one), Some(7));
    let half = nests.number(128, i64::MIN);
    assert_eq!(half.constant(), Some(i128::from(i64::MIN)));
    let wide = nests.product(&[half, half]);
    assert_eq!(wide.constant(), Some(1 << 126));
}

#[test]
fn numbers_fit_where_their_types_have_them() {
    use super::widening::is_one_of;
    for (number, bits, signed, expected) in [
        (127, 8, true, true),
        (128, 8, true, false),
        (-128, 8, true, true),
        (-129, 8, true, false),
        (255, 8, false, true),
        (256, 8, false, false),
        (-1, 8, false, false),
        (0, 63, false, true),
        (-1, 63, false, false),
        (i128::from(i64::MAX), 64, true, true),
        (i128::from(i64::MAX) + 1, 64, true, false),
    ] {
        assert_eq!(
            is_one_of(number, bits, signed),
            expected,
            "{number} in {bits} bits"
        );
    }
}
