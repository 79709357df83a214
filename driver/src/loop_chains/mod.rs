//! `#pragma omplc` in a preprocessed text: each becomes a call of a marker, which the pass knows.
//!
//! ```text
//! #pragma omplc loopchain schedule(..)      { __okl_omplc_chain("TEXT", (long)(value), ..);
//! {                                           ..
//!   ..                                        __okl_omplc_end();
//! }                                         }
//!
//! #pragma omplc for domain(..) ..           { __okl_omplc_for("TEXT", (long)(value), ..);
//! for (..) ..                                 for (..) ..
//!                                             __okl_omplc_next();
//!                                           }
//! ```
//!
//! A chain whose loops have directives of OpenMP is there once more as the program has it, for where it does not run as
//! scheduled ([`twice`]); and so is one that calls functions. Of calls in chains, and of those in functions which have loops of
//! chains, it is said what stands for which parameter:
//!
//! ```text
//! f(a, b + 1);                              { __okl_omplc_call("TEXT"); f(a, b + 1); }
//! ```
//!
//! `TEXT` is the normal form of [`okl_chains::pragma`]. `#pragma omp parallel for` and `simd` of such a loop go: the schedule
//! takes their place, and the text says what they say of variables. Variables that they make private are declared anew
//! around the loop, so that those outside keep their values.
//!
//! All tokens of the user's stay at their lines and columns. What is put in is text of a system header to the compiler, so
//! that it does not warn of it.

pub(crate) mod fortran;
mod functions;
mod openmp;
mod pragmas;
mod rewrite;
mod search;
mod twice;

pub(crate) use search::{bytes_of, chains, reads_typed};

use crate::okl::tokens::Tokens;
use crate::okl::{Diagnostic, without_definitions};
use crate::tune::told::Tuned;

/// What a text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// C.
    C,
    /// C++.
    Cpp,
}

/// The word that says that a text may have loop chains.
pub(crate) const WORD: &str = "omplc";

/// What is known of a text by the macros that the compiler defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) dialect: Dialect,
    /// Whether directives of OpenMP are more than comments.
    pub(crate) has_openmp: bool,
}

impl Facts {
    /// Of a preprocessed text with all its definitions.
    pub(crate) fn of(text: &str) -> Facts {
        let defines = |name: &str| {
            let definition = format!("#define {name} ");
            text.lines().any(|line| line.starts_with(&definition))
        };
        Facts {
            dialect: match defines("__cplusplus") {
                true => Dialect::Cpp,
                false => Dialect::C,
            },
            has_openmp: defines("_OPENMP"),
        }
    }
}

/// A preprocessed text with the definitions that pragmas need, in which calls of markers take the place of pragmas; or all
/// that is wrong with these. `name` is the name of its file where no line marker says otherwise. `tuned` has schedules for
/// chains; `read` reads the user's files, and `expand` is the preprocessor.
pub(crate) fn marked(
    text: &str,
    name: &str,
    facts: Facts,
    tuned: Option<&Tuned>,
    read: impl Fn(&str) -> Option<String>,
    expand: impl Fn(&str) -> Result<String, String>,
) -> Result<Result<String, Vec<Diagnostic>>, String> {
    let tokens = Tokens::of(text, name);
    let found = pragmas::find(&tokens, &read, &expand)?;
    let marked = rewrite::run(&tokens, &found, facts, tuned)?;
    // Other definitions were for these pragmas alone.
    Ok(marked.map(|text| unsuspicious(&without_definitions(&text))))
}

/// Warnings that clang does not give where a macro stands, which the preprocessed text no longer tells; and those that the
/// preprocessor has given.
const SILENT: [&str; 14] = [
    "#pragma-messages",
    "constant-logical-operand",
    "logical-op-parentheses",
    "parentheses-equality",
    "self-assign",
    "self-assign-field",
    "sign-conversion",
    "tautological-compare",
    "tautological-type-limit-compare",
    "tautological-unsigned-zero-compare",
    "unused-comparison",
    "unused-value",
    "xor-used-as-pow",
    "c++-keyword",
];

/// A text for which the compiler does not give these.
fn unsuspicious(text: &str) -> String {
    // The first line names the file to the compiler, where there is nothing else in it.
    let Some((first, rest)) = text.split_once('\n') else {
        return text.to_string();
    };
    if !first.starts_with("# ") {
        return text.to_string();
    }
    let mut out = format!("{first}\n{first} 3\n");
    for one in SILENT {
        out += &format!("#pragma clang diagnostic ignored \"-W{one}\"\n");
    }
    format!("{out}{first}\n{rest}")
}

/// Whether a text may have loop chains.
pub(crate) fn may_be_in(text: &str) -> bool {
    text.contains(WORD)
}

/// Why a file cannot be read.
pub(crate) fn not_utf_8(name: &str) -> String {
    format!("{name} has loop chains, and is not UTF-8")
}

/// How macros in pragmas are expanded: definitions and text come in, and nothing but text goes out.
pub(crate) fn expansion(dialect: Dialect) -> [&'static str; 7] {
    let language = match dialect {
        Dialect::C => "c",
        Dialect::Cpp => "c++",
    };
    ["-E", "-P", "-w", "-undef", "-x", language, "-"]
}

#[cfg(test)]
mod tests;
