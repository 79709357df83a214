//! What is wrong with a text, at the user's place.

use std::fmt;

/// An error in OKL text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as line markers name it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1, as clang counts.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let Diagnostic {
            file,
            line,
            column,
            message,
        } = self;
        write!(to, "{file}:{line}:{column}: error: {message}")
    }
}
