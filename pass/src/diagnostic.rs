//! What the user is told, and where.

use std::fmt;

use okl_chains::pragma::{Position, Pragma, read_marker};

use crate::fortran;
use crate::llvm::{Call, Function, Global, Instruction, Module, Severity};
use crate::marks::{CHAINS, USER_MAIN, VERSIONS};

/// What the names of OKL files end with.
const OKL: &str = ".okl";

/// The source place a construct stands for.
#[derive(Clone, Copy)]
pub enum Site<'m> {
    /// An instruction: its line, or without debug information its function.
    Instruction(Instruction<'m>),
    /// A place in the file of a pragma of a loop chain, which this call marks.
    Pragma(Call<'m>, Position),
    /// A function as a whole.
    Function(Function<'m>),
    /// A global variable.
    Global(Global<'m>),
    /// The module as a whole.
    Module(&'m Module),
}

impl fmt::Display for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Site::Instruction(at) => match place(at) {
                Some((file, line)) => write!(f, "{file}:{line}"),
                None => write!(f, "{}", place_of(at.function())),
            },
            Site::Pragma(marker, at) => match pragma(marker) {
                Some((file, _)) => write!(f, "{file}:{}", at.line),
                None => write!(f, "{}", Site::Instruction(marker.instruction())),
            },
            Site::Function(function) => write!(f, "{}", place_of(function)),
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

/// File and line of an instruction, where they are known.
pub fn place(at: Instruction<'_>) -> Option<(String, u32)> {
    at.source_location().or_else(|| annotated_at(at))
}

/// The pragma of a loop chain that a call marks, and the file that it is in.
pub fn pragma(marker: Call<'_>) -> Option<(String, Pragma)> {
    let is_one = marker.callee_name().starts_with(CHAINS);
    let text = marker.argument(0).filter(|_| is_one)?.as_text()?;
    read_marker(&text).ok()
}

/// File and line of the variable that an instruction says something of, or of the pragma that it stands for.
fn annotated_at(at: Instruction<'_>) -> Option<(String, u32)> {
    let call = at.as_call()?;
    if let Some((file, pragma)) = pragma(call) {
        return Some((file, pragma.at().line));
    }
    let [_, _, file, line, ..] = call.arguments()[..] else {
        return None;
    };
    if !call.callee_name().starts_with("llvm.var.annotation") {
        return None;
    }
    Some((
        file.as_text()?,
        u32::try_from(line.as_constant_int()?).ok()?,
    ))
}

/// Where something is in a function without debug information.
fn place_of(function: Function<'_>) -> String {
    if function.name().starts_with(fortran::MAIN_PROGRAM) {
        return "in the main program".to_string();
    }
    let kind = match function.is_fortran() {
        true => "procedure",
        false => "function",
    };
    format!("in {kind} {}", user_name(function))
}

/// The name of a function as the user wrote it. The compiler's names of outlined regions become
/// the function they were written in.
pub fn user_name(function: Function<'_>) -> String {
    let name = function.name();
    if function.is_fortran() {
        let plain = name.split("..omp_").next().unwrap_or(&name);
        return match plain {
            fortran::MAIN_PROGRAM => "main program".to_string(),
            _ => crate::llvm::demangle(plain.strip_suffix('_').unwrap_or(plain)),
        };
    }

    let name = VERSIONS
        .iter()
        .find_map(|version| name.strip_suffix(version))
        .map_or_else(|| name.clone(), str::to_string);
    let source = function.source_name();
    let shown = if source.is_empty() { &name } else { &source };
    let shown = shown.split(".omp_").next().unwrap_or(shown);
    if shown == USER_MAIN {
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

/// A place that clang does not find by itself: what becomes of OKL files is preprocessed, and annotations have lines also
/// where nothing else has them.
struct Place {
    file: String,
    line: u32,
    column: Option<u32>,
}

impl Place {
    fn of(site: Site<'_>) -> Option<Self> {
        let (location, column) = match site {
            Site::Instruction(at) if at.function().is_fortran() => return None,
            Site::Instruction(at) => match at.source_location() {
                Some((file, _)) if !file.ends_with(OKL) => return None,
                Some(location) => (Some(location), at.source_column()),
                None => (annotated_at(at), None),
            },
            Site::Function(function) => {
                let location = function.source_location();
                (location.filter(|(file, _)| file.ends_with(OKL)), None)
            }
            Site::Pragma(marker, at) => {
                let file = pragma(marker).map(|(file, _)| file);
                (file.map(|file| (file, at.line)), Some(at.column))
            }
            Site::Global(_) | Site::Module(_) => return None,
        };
        let (file, line) = location?;
        Some(Self { file, line, column })
    }

    fn report(&self, module: &Module, message: &str) {
        let (line, column) = (self.line.max(1) as usize, self.column.unwrap_or(1) as usize);
        let contents = std::fs::read_to_string(&self.file).unwrap_or_default();
        let mut before = contents.split_inclusive('\n').take(line);
        let begins: usize = before.by_ref().take(line - 1).map(str::len).sum();
        let here = before.next().map(str::trim_end);
        let blank = |text: &str| text.len() - text.trim_start().len();
        let byte = here.and_then(|here| match self.column {
            Some(column) => (column <= here.len() as u32).then_some(begins + column as usize - 1),
            None => Some(begins + blank(here)),
        });
        match byte {
            Some(byte) => module.error_in_file(&self.file, &contents, byte, message),
            // What stands there cannot be shown: it came from a pipe, or has changed.
            None => {
                let lines = "\n".repeat(line - 1) + &" ".repeat(column);
                module.error_in_file(&self.file, &lines, line + column - 2, message);
            }
        }
    }
}

/// Whether the compiler was given a preprocessed text, as that of a file with loop chains is.
fn is_preprocessed(module: &Module) -> bool {
    let name = module.source_name();
    let has_chains = || {
        module
            .functions()
            .iter()
            .any(|one| one.name().starts_with(CHAINS))
    };
    [".i", ".ii"].iter().any(|end| name.ends_with(end)) || has_chains()
}

/// Reports to the compiler's diagnostics.
pub fn report(module: &Module, declined: &Declined<'_>, severity: Severity) {
    if let (Severity::Error, Some(place)) = (severity, Place::of(declined.site)) {
        return place.report(module, &declined.reason);
    }
    match declined.site {
        // flang prints the types of the function's arguments, and no line.
        Site::Instruction(at) if at.function().is_fortran() => {
            let message = format!("{}: {}", declined.site, declined.reason);
            module.diagnose(None, None, &message, severity);
        }
        // What becomes of OKL files and of those with loop chains is preprocessed, and there clang does not find the lines of a
        // file.
        Site::Instruction(at)
            if at
                .source_location()
                .is_some_and(|(file, _)| file.ends_with(OKL) || is_preprocessed(module)) =>
        {
            let message = format!("{}: {}", declined.site, declined.reason);
            module.diagnose(None, None, &message, severity);
        }
        // An annotation has its line also without debug information.
        Site::Instruction(at) if at.source_location().is_none() && annotated_at(at).is_some() => {
            let message = format!("{}: {}", declined.site, declined.reason);
            module.diagnose(None, None, &message, severity);
        }
        Site::Instruction(at) => {
            module.diagnose(Some(at.function()), Some(at), &declined.reason, severity);
        }
        Site::Function(function) => {
            module.diagnose(Some(function), None, &declined.reason, severity);
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
        Site::Pragma(..) | Site::Module(_) => {
            let message = format!("{}: {}", declined.site, declined.reason);
            module.diagnose(None, None, &message, severity);
        }
    }
}
