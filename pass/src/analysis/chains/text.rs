//! What is known of chains, in words.

use std::fmt::Write as _;

use okl_chains::model::Affine;

use super::model;
use crate::diagnostic::Declined;
use crate::llvm::{self, Run};
use crate::recognise::loop_chain;

/// A bound of the model in words.
fn shown(number: &Affine) -> String {
    let parameters = number
        .parameters
        .iter()
        .enumerate()
        .filter(|one| *one.1 != 0);
    let parameters: Vec<_> = parameters
        .map(|(at, times)| match times {
            1 => format!("p{at}"),
            _ => format!("{times} * p{at}"),
        })
        .collect();
    match (parameters.is_empty(), number.constant) {
        (true, constant) => constant.to_string(),
        (false, 0) => parameters.join(" + "),
        (false, constant) => format!("{}{constant:+}", parameters.join(" + ")),
    }
}

/// Prints the chains of a module, and what is known of them.
pub fn print(run: &Run<'_>) -> bool {
    let found = loop_chain::recognise(run.module);
    let outcomes = model(run.module, &found.chains);
    let mut text = String::new();
    let tell = |text: &mut String, what: &str, list: &[Declined<'_>]| {
        for one in list {
            let _ = writeln!(text, "{what} at {}: {}", one.site, one.reason);
        }
    };
    for (one, outcome) in found.chains.iter().zip(&outcomes) {
        text += &one.to_string();
        if let Some(known) = &outcome.modelled {
            for one in &known.findings {
                let _ = writeln!(text, "  {one}");
            }
            let parameters: Vec<_> = known
                .parameters
                .iter()
                .map(|one| one.operand_text())
                .collect();
            if !parameters.is_empty() {
                let scheduled = &known.values;
                let _ = writeln!(
                    text,
                    "  parameters {}, of the schedule {scheduled:?}",
                    parameters.join(", ")
                );
            }
            for (number, one) in known.model.nests.iter().enumerate() {
                let bounds: Vec<_> = one
                    .bounds
                    .iter()
                    .map(|one| format!("{}:{}", shown(&one.first), shown(&one.last)))
                    .collect();
                let _ = writeln!(text, "  nest {number}: {}", bounds.join(", "));
            }
            let spaces = &known.model.spaces;
            for &(one, other) in &known.must_not_overlap {
                let _ = writeln!(
                    text,
                    "  {} and {} must not overlap",
                    spaces[one].name, spaces[other].name
                );
            }
            tell(&mut text, "  trusted", &known.trusted);
            tell(&mut text, "  doubtful", &known.doubts);
        }
        tell(&mut text, "wrong", &outcome.mistakes);
        tell(&mut text, "declined", &outcome.declined);
    }
    tell(&mut text, "wrong", &found.mistakes);
    tell(&mut text, "declined", &found.declined);
    llvm::print(&text);
    false
}
