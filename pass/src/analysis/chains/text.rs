//! What is known of chains, in words.

use std::fmt::Write as _;

use okl_chains::model::{Affine, Mode};

use super::{Accessing, model};
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

/// What accesses a space, in words.
fn accessing(one: &Accessing<'_>, name: &str, element: Option<i64>) -> String {
    let by = match one.at {
        Some(at) => match at.source_location() {
            Some((_, line)) => format!("line {line}"),
            None => "by what has no line".to_string(),
        },
        None => "by what is one of several".to_string(),
    };
    let does = match one.mode {
        Mode::Read => "reads",
        Mode::Write => "writes",
        Mode::Reduce(_) => "combines something with",
    };
    let index = one.index.as_ref().map(|all| {
        let of = |one: &Affine| match one.iterators.iter().position(|times| *times != 0) {
            Some(level) if one.constant == 0 => format!("i{level}"),
            Some(level) => format!("i{level}{:+}", one.constant),
            None => one.constant.to_string(),
        };
        let all: Vec<_> = all.iter().map(of).collect();
        all.join(",")
    });
    let index = index.unwrap_or_else(|| "?".to_string());
    let inside = one.inside.as_ref().map_or_else(
        || "anywhere in it".to_string(),
        |inside| {
            let counters = inside.counters.iter();
            let counters: String = counters
                .map(|(variable, bytes)| format!(" + {bytes} * {}", variable.operand_text()))
                .collect();
            format!("at {}{counters}", inside.constant)
        },
    );
    let element = element.map_or_else(|| "?".to_string(), |bytes| bytes.to_string());
    let bytes = one.bytes;
    format!("{by}: {does} {bytes} bytes of {name}{{({index})}}, {inside} of {element}")
}

/// Prints the chains of a module, and what is known of them.
pub fn print(run: &Run<'_>) -> bool {
    loop_chain::as_in_c(run.module);
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
            for (number, all) in known.accessing.iter().enumerate() {
                for one in all {
                    let element = known.elements[one.space];
                    let name = &spaces[one.space].name;
                    let _ = writeln!(text, "  nest {number} {}", accessing(one, name, element));
                }
            }
            for &(one, other) in &known.model.may_overlap {
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
    for (what, list) in [("wrong", found.mistakes), ("declined", found.declined)] {
        let list: Vec<_> = list.into_iter().map(|one| one.1).collect();
        tell(&mut text, what, &list);
    }
    llvm::print(&text);
    false
}
