//! What is said of each turn of random nests, as polynomials, against what the turns access, and against the sections of
//! shares: these are its projections.

use std::collections::BTreeSet;

use super::*;
use crate::ir::{Base, Elements, Number, Unknown};

/// A number, of a turn and of the parameters.
fn number(one: &Number<'_>, turn: i128, arguments: &Arguments) -> i128 {
    let of = |one: &Number<'_>| number(one, turn, arguments);
    one.value(&|unknown| match unknown {
        Unknown::Iteration => turn,
        Unknown::Parameter(index) => arguments[*index],
        Unknown::Least(all) => all.iter().map(of).min().expect("numbers"),
        Unknown::Largest(all) => all.iter().map(of).max().expect("numbers"),
        Unknown::Turn(_) => unreachable!("loops inside were left"),
        // The only variables are where the share begins and ends.
        Unknown::First | Unknown::Capture(_) | Unknown::Loaded(_) => {
            panic!("a turn does not depend on {unknown}")
        }
    })
}

/// The addresses of elements of `a` in a turn.
fn places(elements: &Elements<'_>, turn: i128, arguments: &Arguments) -> BTreeSet<i128> {
    let of = |one| number(one, turn, arguments);
    let mut all = BTreeSet::from([arguments[0] + of(&elements.offset)]);
    for (stride, count) in &elements.rows {
        let (stride, count) = (of(stride), of(count));
        all = all
            .iter()
            .flat_map(|&start| (0..count).map(move |step| start + step * stride))
            .collect();
    }
    all
}

/// What the store accesses in a turn of the outer loop.
fn in_turn_of<'m>(nests: &Nests<'m>) -> InTurn<'m> {
    let (pointer, length, block) = access_in(nests);
    let all = nests.function().instructions();
    let variable = |one: &&Instruction<'_>| one.name() == "lower";
    let turn = Turn {
        nest: Some(0),
        first: all.iter().find(variable).map(|&one| *one),
        is_body: false,
        writers: &[],
        is_hull: false,
    };
    let known = nests.in_one_turn(pointer, length, block, turn);
    known.expect("its object is a parameter")
}

#[test]
fn sections_of_shares_are_projections_of_what_turns_access() {
    let mut random = random_numbers();
    let (mut known, mut certain, mut both, mut exact) = (0, 0, 0, 0);
    for _ in 0..300 {
        let program = Program::any(true, &mut random);
        let module = OwnModule::parse(&program.text());
        let function = module.function("f").expect("it was written");
        let nests = Nests::open(&module, function);
        let relation = in_turn_of(&nests);
        assert!(relation.base == Base::Parameter(0), "{program:?}");
        let Some(elements) = relation.elements else {
            assert!(!relation.must, "{program:?}");
            continue;
        };
        known += 1;
        let section = match extent_of(&nests, Scope::Loop(0)) {
            Extent::Section(section) => Some(section),
            _ => None,
        };
        for _ in 0..20 {
            let mut any = |bound| random(bound) as i128;
            let lower = any(8);
            let arguments = [
                ADDRESS,
                any(12),
                any(14) - 2,
                any(7) - 1,
                lower,
                lower + any(6),
            ];
            // There are no bytes of a negative number.
            if program.fills && arguments[3] < 0 {
                continue;
            }
            // Both are of a loop that is reached.
            if !program.is_reached(arguments) {
                continue;
            }
            let mut union = BTreeSet::new();
            for turn in program.turns(arguments) {
                let declared = places(&elements, turn, &arguments);
                let accessed = program.in_turn(turn, arguments);
                let is_right = match relation.must {
                    true => declared == accessed,
                    false => declared.is_superset(&accessed),
                };
                assert!(
                    is_right,
                    "{program:?} with {arguments:?} accesses {accessed:?} in turn {turn}, not {declared:?}"
                );
                union.extend(declared);
            }
            certain += usize::from(relation.must);
            let Some(section) = &section else {
                continue;
            };
            // Checks may fail although nothing overflows: the section is not used then.
            let Some(declared) = addresses(&nests, section, &arguments) else {
                continue;
            };
            // What is not certain lacks the conditions that the section has, and may be more.
            let expected = match relation.must {
                true => union,
                false => program.accessed(arguments),
            };
            let is_right = match section.exact {
                true => declared == expected,
                false => declared.is_superset(&expected),
            };
            assert!(
                is_right,
                "turns of {program:?} with {arguments:?} access {expected:?}, not {declared:?}"
            );
            both += 1;
            exact += usize::from(section.exact);
        }
    }
    assert!(
        known > 150 && certain > 800 && both > 1500 && exact > 800,
        "{known} known, {certain} times certain; {both} times with sections, {exact} times exact"
    );
}
