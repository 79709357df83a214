//! Sections of random nests, as expressions, against what the nests access; `projection` compares them with what is said of
//! each turn.
//!
//! The nests are two loops around a store; a section's terms are evaluated for some values of the parameters, and compared
//! with the addresses that the loops go through.

mod collapsed;
mod programs;
mod projection;
mod threaded;

use std::collections::BTreeSet;

use super::conditions::{Conditions, Question};
use super::*;
use crate::llvm::{IntPredicate, OwnModule};
use programs::{End, Program};

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
