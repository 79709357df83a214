//! Sections of random nests, as expressions, against what the nests access.
//!
//! The nests are two loops around a store; a section's terms are evaluated for some values of the parameters, and compared
//! with the addresses that the loops go through.

use std::collections::BTreeSet;

use super::conditions::{Conditions, Question};
use super::*;
use crate::llvm::{IntPredicate, OwnModule};

/// Values of the parameters `a`, `n`, `m` and `t` of the functions.
type Arguments = [i128; 4];

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
            arguments[value.as_parameter().expect("a parameter").1]
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
}

impl End {
    fn value(self, i: i128, [_, n, m, t]: Arguments) -> i128 {
        match self {
            Self::Zero => 0,
            Self::I => i,
            Self::M => m,
            Self::N => n,
            Self::Tile => (i + t).min(n),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Zero => "0",
            Self::I => "%i",
            Self::M => "%m",
            Self::N => "%n",
            Self::Tile => "%tile",
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Program {
    /// `i` goes up by `t`; by 1 otherwise.
    steps_by_t: bool,
    inner: (End, End),
    /// Elements for each `i` and each `j`, and at the start.
    scale: [i128; 3],
    /// Indices have 32 bits, which overflow is undefined of.
    is_narrow: bool,
}

impl Program {
    fn any(random: &mut impl FnMut(usize) -> usize) -> Self {
        use End::*;
        let inner = [(Zero, M), (Zero, I), (I, N), (I, Tile), (Zero, N), (I, M)];
        let inner = inner[random(inner.len())];
        let mut number = || random(7) as i128 - 3;
        let scale = [number(), number(), number()];
        Self {
            steps_by_t: matches!(inner.1, Tile) || random(4) == 0,
            inner,
            scale,
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
        format!(
            "define void @f(ptr %a, {ty} %n, {ty} %m, {ty} %t) {{
entry:
  %any = icmp sgt {ty} %n, 0
  %up = icmp sgt {ty} %t, 0
  %both = and i1 %any, %up
  br i1 %both, label %before, label %end
before:
  br label %outer
outer:
  %i = phi {ty} [ 0, %before ], [ %i.next, %outer.end ]
  %sum = add nsw {ty} %i, %t
  %is.inside = icmp slt {ty} %sum, %n
  %tile = select i1 %is.inside, {ty} %sum, {ty} %n
  %has.row = icmp slt {ty} {from}, {to}
  br i1 %has.row, label %row, label %outer.end
row:
  br label %inner
inner:
  %j = phi {ty} [ {from}, %row ], [ %j.next, %inner ]
  %part.i = mul nsw {ty} %i, {on_i}
  %part.j = mul nsw {ty} %j, {on_j}
  %parts = add nsw {ty} %part.i, %part.j
  %index = add nsw {ty} %parts, {start}
  {extend}
  %place = getelementptr inbounds double, ptr %a, i64 %long
  store double 0.0, ptr %place
  %j.next = add nsw {ty} %j, 1
  %more = icmp slt {ty} %j.next, {to}
  br i1 %more, label %inner, label %row.end
row.end:
  br label %outer.end
outer.end:
  %i.next = add nsw {ty} %i, {step}
  %again = icmp slt {ty} %i.next, %n
  br i1 %again, label %outer, label %done
done:
  br label %end
end:
  ret void
}}
"
        )
    }

    fn accessed(&self, arguments: Arguments) -> BTreeSet<i128> {
        let [_, n, _, t] = arguments;
        let [on_i, on_j, start] = self.scale;
        let mut all = BTreeSet::new();
        let mut i = 0;
        while i < n && t > 0 {
            for j in self.inner.0.value(i, arguments)..self.inner.1.value(i, arguments) {
                all.insert(ADDRESS + 8 * (on_i * i + on_j * j + start));
            }
            i += if self.steps_by_t { t } else { 1 };
        }
        all
    }
}

/// The extent of the store, in front of the outer loop.
fn extent_of<'m>(nests: &Nests<'m>, scope: Scope<'m>) -> Extent<'m> {
    let all = nests.function().instructions();
    let mut stores = all
        .into_iter()
        .filter(|one| one.opcode() == Opcode::LLVMStore);
    let store = stores.next().expect("the program stores");
    nests.extent(store.operand(1), None, store.block(), scope)
}

#[test]
fn sections_are_what_random_nests_access() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % bound
    };
    let (mut sections, mut exact) = (0, 0);
    for _ in 0..300 {
        let program = Program::any(&mut random);
        let module = OwnModule::parse(&program.text());
        let function = module.function("f").expect("it was written");
        let nests = Nests::open(&module, function);
        let Extent::Section(section) = extent_of(&nests, Scope::Loop(0)) else {
            continue;
        };
        sections += 1;
        for _ in 0..20 {
            let mut number = |bound| random(bound) as i128;
            let arguments = [ADDRESS, number(12), number(12), 1 + number(5)];
            // A section is that of a loop that is reached.
            if arguments[1] == 0 {
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
        steps_by_t: false,
        inner: (End::Zero, End::M),
        scale: [3, 1, 0],
        is_narrow: true,
    };
    let module = OwnModule::parse(&program.text().replace(" nsw", ""));
    let nests = Nests::open(&module, module.function("f").expect("it was written"));
    let Extent::Section(section) = extent_of(&nests, Scope::Loop(0)) else {
        panic!("it has a section");
    };
    let small = [ADDRESS, 10, 10, 1];
    let declared = addresses(&nests, &section, &small);
    assert!(declared.is_some_and(|all| all.is_superset(&program.accessed(small))));
    let large = [ADDRESS, 1 << 30, 10, 1];
    assert_eq!(addresses(&nests, &section, &large), None);
}

#[test]
fn terms_of_one_expression_are_one() {
    let program = Program::any(&mut |_| 0);
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
