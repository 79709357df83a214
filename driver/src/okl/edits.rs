//! What is changed in a text, and the text that comes out: every token that stays is where it was.

use std::fmt::Write;
use std::iter::repeat_n;

use super::Mode;
use super::tokens::Tokens;

/// Some bytes of the text, and what takes their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
    /// The byte at whose place the compiler is to see the text, if not where it is put in.
    pub(crate) at: Option<usize>,
    /// The text has to have lines of its own where lines are not kept as they are.
    pub(crate) is_line: bool,
}

/// The text with all that is changed. Edits may come in any order; those at one place keep theirs.
pub(crate) fn apply(tokens: &Tokens, mut edits: Vec<Edit>, mode: Mode) -> String {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    if mode == Mode::Preprocessed {
        // What touches is put in at once.
        edits.dedup_by(|next, edit| {
            let is_here = next.at.is_none() && edit.at.is_none();
            let joins = next.start == edit.end && is_here && !next.is_line && !edit.is_line;
            if joins {
                edit.text += &next.text;
                edit.end = next.end;
            }
            joins
        });
    }
    let text = tokens.text;
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut at = 0;
    for (number, edit) in edits.iter().enumerate() {
        debug_assert!(edit.start >= at, "{edit:?} overlaps what stands before it");
        let start = edit.start.max(at);
        out += &text[at..start];
        at = edit.end.max(start);
        let old = &text[start..at];
        match mode {
            Mode::Source if !tokens.directives_in(start, at).is_empty() => {
                let _ = write!(out, "{}\n{}", edit.text, marker(tokens, at));
            }
            Mode::Source if edit.is_line && edit.text.starts_with('#') => {
                let place = tokens.position(at);
                let _ = write!(
                    out,
                    "\n{}\n#line {} \"{}\"\n",
                    edit.text, place.line, place.quoted
                );
            }
            Mode::Source => {
                if touch(&out, &edit.text) {
                    out.push(' ');
                }
                out += &edit.text;
                out.extend(old.matches('\n'));
                if edit.text.is_empty() {
                    let next = edits.get(number + 1).map_or(text.len(), |next| next.start);
                    at += blanks(&text[..start], &text[at..next.max(at)]);
                    if text[at..].starts_with([',', ';', ')']) && !old.contains('\n') {
                        out.truncate(out.trim_end_matches(' ').len());
                    }
                }
                if touch(&out, &text[at..]) && start < at {
                    out.push(' ');
                }
            }
            Mode::Preprocessed
                if edit.at.is_none()
                    && edit.text.len() <= old.len()
                    && !old.contains('\n')
                    && !edit.is_line =>
            {
                out += &edit.text;
                out.extend(repeat_n(' ', old.len() - edit.text.len()));
            }
            Mode::Preprocessed => {
                if !edit.text.is_empty() {
                    let place = edit.at.unwrap_or(start);
                    let _ = write!(out, "\n{}", marker(tokens, place));
                    if !edit.is_line {
                        out.extend(repeat_n(' ', tokens.position(place).column - 1));
                    }
                    out += &edit.text;
                }
                let _ = write!(out, "\n{}", marker(tokens, at));
                out.extend(repeat_n(' ', tokens.position(at).column - 1));
            }
        }
    }
    out += &text[at..];
    out
}

/// Whether two pieces would become one name or number.
fn touch(before: &str, behind: &str) -> bool {
    let in_name = |one: char| one.is_alphanumeric() || one == '_';
    before.ends_with(in_name) && behind.starts_with(in_name)
}

/// `# LINE "FILE"` for the line of a byte.
pub(crate) fn marker(tokens: &Tokens, byte: usize) -> String {
    let place = tokens.position(byte);
    format!("# {} \"{}\"{}\n", place.line, place.quoted, place.flags)
}

/// How many blanks go with what is taken out between `before` and `behind`.
fn blanks(before: &str, behind: &str) -> usize {
    let free = before.is_empty() || before.ends_with(|one: char| one.is_whitespace() || one == '(');
    let count = behind
        .bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t'));
    if free { count.count() } else { 0 }
}
