//! What the user is told, and where.

use std::fmt;

use crate::llvm::{Function, Global, Instruction, Module, Severity};

/// The source place a construct stands for.
#[derive(Clone, Copy)]
pub enum Site<'m> {
    /// An instruction: its line, or without debug information its function.
    Instruction(Instruction<'m>),
    /// A global variable.
    Global(Global<'m>),
    /// The module as a whole.
    Module(&'m Module),
}

impl fmt::Display for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Site::Instruction(at) => match at.source_location() {
                Some((file, line)) => write!(f, "{file}:{line}"),
                None => write!(f, "in function {}", user_name(at.function())),
            },
            Site::Global(global) => {
                let location = global.source_location();
                if location.is_empty() {
                    write!(f, "variable {}", crate::llvm::demangle(&global.name()))
                } else {
                    write!(f, "{location}")
                }
            }
            Site::Module(module) => write!(f, "{}", module.source_file()),
        }
    }
}

/// The name of a function as the user wrote it. The compiler's names of outlined regions become
/// the function they were written in.
pub fn user_name(function: Function<'_>) -> String {
    let name = function.name();
    let source = function.source_name();
    let shown = if source.is_empty() { &name } else { &source };
    let shown = shown.split(".omp_").next().unwrap_or(shown);
    if shown == "okl.main" {
        return "main".to_string();
    }
    let plain = crate::llvm::demangle(shown);
    if plain.is_empty() { name } else { plain }
}

/// Something that is not done, or not done in the best way, and why.
pub struct Declined<'m> {
    /// Where.
    pub site: Site<'m>,
    /// A complete message without file and line.
    pub reason: String,
}

/// Reports to the compiler's diagnostics.
pub fn report(module: &Module, declined: &Declined<'_>, severity: Severity) {
    match declined.site {
        Site::Instruction(at) => {
            module.diagnose(Some(at.function()), Some(at), &declined.reason, severity);
        }
        // Neither has a function, which is what LLVM attaches a location to.
        Site::Global(global) => {
            let location = global.source_location();
            let place = if location.is_empty() {
                location
            } else {
                format!("{location}: ")
            };
            module.diagnose(None, None, &format!("{place}{}", declined.reason), severity);
        }
        Site::Module(_) => {
            let message = format!("{}: {}", declined.site, declined.reason);
            module.diagnose(None, None, &message, severity);
        }
    }
}
