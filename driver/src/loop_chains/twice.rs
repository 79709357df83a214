//! Chains that are there twice: with calls of markers, and as the program has them.
//!
//! ```text
//! { if (__okl_omplc_scheduled()) { ..the chain with calls of markers.. } else { ..the chain as it is written.. } }
//! ```
//!
//! So a chain of which the compiler makes nothing, or that cannot run as scheduled when the program runs, has the threads that
//! its loops' own directives of OpenMP give it.

use std::fmt::Write;
use std::iter::repeat_n;

use super::{Dialect, WORD};
use crate::okl::tokens::{Tokens, end_of_directive};

/// What stands in front of the chain with calls of markers.
pub(super) fn asks(dialect: Dialect) -> String {
    let truth = match dialect {
        Dialect::C => "_Bool",
        Dialect::Cpp => "bool",
    };
    let name = "__okl_omplc_scheduled";
    format!(
        "{{ extern {truth} {name}(void) __asm__(\"{name}\") __attribute__((nothrow)); if ({name}())"
    )
}

/// Whether what stands between two tokens means the same where it is there once more, in the same function: it declares
/// nothing that is there once, and has no labels.
pub(super) fn can_be(tokens: &Tokens, open: usize, close: usize) -> bool {
    const ONCE: [&str; 9] = [
        "static",
        "thread_local",
        "_Thread_local",
        "__thread",
        "goto",
        "asm",
        "__asm",
        "__asm__",
        "__label__",
    ];
    (open..close).all(|at| {
        let begins = matches!(tokens.word(at), "{" | "}" | ";" | ")" | ":");
        let is_label = begins
            && tokens.is_name(at + 1)
            && tokens.word(at + 2) == ":"
            && tokens.word(at + 1) != "default";
        !is_label && !ONCE.contains(&tokens.word(at))
    })
}

/// What is written between two bytes, as text of a system header.
pub(super) fn copy(tokens: &Tokens, start: usize, end: usize) -> String {
    let mut out = String::new();
    let line = |out: &mut String, byte: usize, number: usize| {
        let place = tokens.position(byte);
        let _ = writeln!(out, "# {number} \"{}\" 3", place.quoted);
    };
    line(&mut out, end, tokens.position(end).line);
    out += "else\n";
    let place = tokens.position(start);
    line(&mut out, start, place.line);
    out.extend(repeat_n(' ', place.column - 1));
    let mut at = start;
    for &(directive, is_marker) in tokens.directives_in(start, end) {
        let after = end_of_directive(tokens.text.as_bytes(), directive);
        let mut words = tokens.text[directive..after].split_whitespace();
        if !is_marker {
            if words.any(|word| word == WORD) {
                out += &tokens.text[at..directive];
                at = after;
            }
            continue;
        }
        out += &tokens.text[at..directive];
        at = after;
        // The next line is what it is about.
        let behind = (at + 1).min(end);
        line(&mut out, behind, tokens.position(behind).line);
        at = behind;
    }
    out += &tokens.text[at..end];
    out += "\n}";
    out
}
