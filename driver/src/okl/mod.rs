//! OKL text as C++.
//!
//! OKL is C++ with attributes: `@kernel`, `@outer for (...)`. A text is read token by token and each
//! attribute becomes what keeps its meaning through the compiler: an annotation of the function, the
//! variable or the loop's iterator, or a call of a marker. `docs/okl.md` has a table of them.
//!
//! Every token of the user's stays at its file, line and column, so that whatever the compiler says, and
//! what it writes into line tables, is about the user's text. Here is said what a text alone can tell to be
//! wrong: attributes and their arguments, and what they stand at. How loops are nested is for the pass.

mod attributes;
pub(crate) mod columns;
mod declarations;
mod definitions;
mod diagnostics;
pub(crate) mod edits;
mod instances;
pub(crate) mod literals;
mod normalise;
pub(crate) mod occa;
mod scopes;
mod statements;
pub(crate) mod tokens;
mod uses;

#[cfg(test)]
mod tests;

pub use columns::at_columns;
pub use definitions::without_definitions;
pub use diagnostics::Diagnostic;
pub use occa::Occa;

use tokens::Tokens;

/// What kind of text is normalised, and so how lines are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As the user wrote it, for people: changes stay within their lines, whose columns move.
    Source,
    /// What the preprocessor made, for the compiler: what is put in has lines of its own, and markers say
    /// where the text goes on.
    Preprocessed,
}

/// What the markers are to the compiler.
const DECLARATIONS: &str = "extern \"C\" { \
__attribute__((convergent, nothrow)) void __okl_barrier(int); \
__attribute__((nothrow)) void __okl_atomic_begin(int); \
__attribute__((nothrow)) void __okl_atomic_end(void); \
__attribute__((nothrow)) void __okl_tile_size(long long); }\n";

/// OKL text as C++, or all that is wrong with it. `file` is its name where no line marker says otherwise.
///
/// A text without attributes stays as it is.
pub fn normalise(text: &str, file: &str, mode: Mode) -> Result<String, Vec<Diagnostic>> {
    normalise_for(text, file, mode, None)
}

/// The same; with the functions by which OCCA calls kernels, if it does.
pub fn normalise_for(
    text: &str,
    file: &str,
    mode: Mode,
    occa: Option<Occa>,
) -> Result<String, Vec<Diagnostic>> {
    normalise_with_templates(text, file, mode, occa).map(|done| done.text)
}

/// A text as C++, and what is in it.
pub(crate) struct Normalised {
    pub(crate) text: String,
    /// The kernels that are templates: their names, and where they stand, with a number of how they are written.
    pub(crate) templates: Vec<(String, String)>,
    /// Which of their instances it asks for by literals.
    pub(crate) literals: Vec<literals::Literal>,
}

/// The same, and what templates there are and which instances are asked for.
pub(crate) fn normalise_with_templates(
    text: &str,
    file: &str,
    mode: Mode,
    occa: Option<Occa>,
) -> Result<Normalised, Vec<Diagnostic>> {
    let tokens = Tokens::of(text, file);
    let mut done = normalise::Normaliser::run(tokens, mode);
    if !done.errors.is_empty() {
        let mut errors = done.errors;
        errors.sort_by_key(|(at, _)| *at);
        errors.dedup();
        let place = |(at, message): (usize, String)| {
            let place = done.tokens.position(at);
            Diagnostic {
                file: tokens::unescape(place.quoted),
                line: place.line,
                column: place.column,
                message,
            }
        };
        return Err(errors.into_iter().map(place).collect());
    }
    let entries = occa.map(|occa| occa::entries(&done, occa));
    let literals = literals::find(&done.tokens, &done.templates);
    if occa == Some(Occa::Devices) {
        done.edits.extend(occa::names(&done));
    }
    let mut normalised = edits::apply(&done.tokens, done.edits, mode);
    normalised.extend(entries);
    if done.has_instances && mode == Mode::Source {
        // Where the preprocessor has run the text has it: see `okl_implicit.hpp`.
        let first = done.tokens.position(0);
        let place = format!("#line {} \"{}\"\n", first.line, first.quoted);
        normalised.insert_str(0, &format!("#include <okl_instances.hpp>\n{place}"));
    }
    if done.has_markers {
        let first = done.tokens.position(0);
        let place = format!("{} \"{}\"\n", first.line, first.quoted);
        let head = match mode {
            Mode::Source => format!("{DECLARATIONS}#line {place}"),
            // The compiler takes the first line to name the file that it compiles.
            Mode::Preprocessed => format!("# {place}{DECLARATIONS}# {place}"),
        };
        normalised.insert_str(0, &head);
    }
    Ok(Normalised {
        text: normalised,
        templates: done.templates,
        literals,
    })
}
