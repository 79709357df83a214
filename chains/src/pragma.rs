//! What `#pragma omplc` says.
//!
//! The driver reads it as the programmer has written it ([`parse()`]), and hands it to the pass as text again, in which numbers
//! that are no constants are numbers of values that stand behind it ([`write_marker`], [`read_marker`]). What is written so
//! is read as it was.

mod parse;
mod text;
mod tokens;

pub use parse::{Said, Written, parse};
pub use text::{read_marker, write_marker};
pub use tokens::{Token, tokens};

use std::fmt;

/// A pragma.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pragma {
    /// `loopchain`.
    Chain(ChainPragma),
    /// `for`.
    Loop(LoopPragma),
    /// `strip`, in front of an `if` in a loop: where its condition holds the chain runs as it is written.
    Strip(Position),
    /// No pragma: a call of a function that may have loops of a chain.
    Call(CallNote),
}

impl Pragma {
    /// Where it is.
    pub fn at(&self) -> Position {
        match self {
            Pragma::Chain(said) => said.at,
            Pragma::Loop(said) => said.at,
            Pragma::Strip(at) => *at,
            Pragma::Call(said) => said.at,
        }
    }
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where.
    pub at: Position,
    /// What is wrong, and what may stand there.
    pub message: String,
}

/// A place in a file of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Position {
    /// A line and a column.
    pub fn new(line: u32, column: u32) -> Self {
        Self { line, column }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{}:{}", self.line, self.column)
    }
}

/// `loopchain`, in front of the compound statement that its loops are in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainPragma {
    /// Where it is.
    pub at: Position,
    /// `schedule`: what is done with the loops, in that order.
    pub schedule: Vec<Item>,
    /// `local`: spaces that nothing reads behind the chain.
    pub locals: Vec<Name>,
}

/// A name of the programmer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Where it is.
    pub at: Position,
    /// What it is.
    pub text: String,
}

/// What is done with the loops of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Where that is said.
    pub at: Position,
    /// What it is.
    pub what: What,
}

/// What is done with the loops of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// `fuse`: they become one, each moved by so many iterations, where that is said.
    Fuse(Option<Vec<Vec<Number>>>),
    /// `tile`.
    Tile(Tile),
    /// `serial`.
    Serial,
    /// `parallel`.
    Parallel,
    /// `wavefront`.
    Wavefront,
    /// `auto`: whatever is fastest.
    Auto,
}

/// `tile`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Iterations of a tile in each dimension, the outermost first.
    pub sizes: Vec<Number>,
    /// How tiles follow each other: not [`What::Fuse`], and not [`What::Auto`].
    pub over: Box<Item>,
    /// How the iterations of a tile do.
    pub within: Box<Item>,
    /// `overlap`: tiles compute again what they need of others.
    pub overlaps: bool,
}

/// A number that is a constant, or known when the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A constant.
    Constant(i64),
    /// The value of that number of those that stand behind the text.
    Value(usize),
}

/// `for`, in front of a loop of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopPragma {
    /// Where it is.
    pub at: Position,
    /// `domain`: the first and the last value of each iteration variable, the outermost first.
    pub domain: Vec<(Number, Number)>,
    /// Where each of them is said.
    pub domain_at: Vec<Position>,
    /// `with`: what they are called, each once. There are none where it is left out.
    pub iterators: Vec<Name>,
    /// What an iteration accesses. Where there is none it is not said, and left to the analysis.
    pub accesses: Vec<AccessPragma>,
    /// The loop's own directive of OpenMP, which the schedule takes the place of.
    pub openmp: Option<OpenMp>,
    /// The function that the loop is in, where its chain is in another one.
    pub within: Option<Within>,
}

/// A function, whose parameters stand for something else in each call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Within {
    /// What it is called.
    pub name: String,
    /// Its parameters, those without a name empty; and behind them variables of its own, for which nothing stands in a call.
    pub parameters: Vec<String>,
}

/// A call of a function that may have loops of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallNote {
    /// Where it is.
    pub at: Position,
    /// What the function is called.
    pub callee: String,
    /// What stands for its parameters, as it is written.
    pub arguments: Vec<String>,
    /// The function that the call is in, where the chain is in another one.
    pub within: Option<Within>,
}

/// Whether a text is a name and nothing else.
fn is_plain(text: &str) -> bool {
    let tokens = tokens(text, Position::default());
    matches!(&tokens[..], [one] if one.is_name() && one.text == text)
}

impl CallNote {
    /// What something in the function that is called says, as the caller would say it. False where that is another function.
    pub fn bind(&self, inner: &mut Pragma) -> bool {
        let within = match inner {
            Pragma::Loop(said) => &mut said.within,
            Pragma::Call(said) => &mut said.within,
            Pragma::Chain(_) | Pragma::Strip(_) => return false,
        };
        let callee = match within.take() {
            Some(callee) if callee.name == self.callee => callee,
            other => {
                *within = other;
                return false;
            }
        };
        within.clone_from(&self.within);
        let own = |name: &str| format!("'{name}' of {}", self.at);
        let bound = |text: &mut String| {
            // A variable of a function that this one calls.
            if text.starts_with('\'') {
                *text += &format!(", {}", self.at);
                return;
            }
            let mut out = String::new();
            let mut before = String::new();
            for token in tokens(text, Position::default()) {
                let is_member = matches!(before.as_str(), "." | "->" | "::");
                let mut names = callee.parameters.iter();
                let at = names.position(|one| *one == token.text && !is_member);
                let argument = at.map(|at| match self.arguments.get(at) {
                    Some(argument) => argument.clone(),
                    None => own(&token.text),
                });
                let is_alone = token.text == *text;
                out += if token.is_apart && !out.is_empty() {
                    " "
                } else {
                    ""
                };
                out += &match argument {
                    Some(argument) if is_alone || is_plain(&argument) => argument,
                    Some(argument) => format!("({argument})"),
                    None => token.text.clone(),
                };
                before = token.text;
            }
            *text = out;
        };
        match inner {
            Pragma::Loop(said) => said
                .accesses
                .iter_mut()
                .for_each(|one| bound(&mut one.space.text)),
            Pragma::Call(said) => said.arguments.iter_mut().for_each(bound),
            Pragma::Chain(_) | Pragma::Strip(_) => {}
        }
        true
    }
}

/// A directive of OpenMP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenMp {
    /// Where it is.
    pub at: Position,
    /// Whether it is `parallel for`: its iterations may run on several threads.
    pub is_parallel: bool,
    /// Whether it is `for`: the threads of the region that it is in share its iterations.
    pub is_shared: bool,
    /// Whether it is `simd`: several of them may run at once.
    pub is_simd: bool,
    /// What its clauses say of variables.
    pub clauses: Vec<Clause>,
}

/// What is said of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// What.
    pub sharing: Sharing,
    /// The variables; in a reduction sections of arrays as well.
    pub variables: Vec<Name>,
}

/// What becomes of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// `private`
    Private,
    /// `firstprivate`
    FirstPrivate,
    /// `lastprivate`
    LastPrivate,
    /// `reduction`, and by what: `+`, `max`, or the name of the programmer's own.
    Reduction(String),
}

/// `read` or `write`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessPragma {
    /// Where it is.
    pub at: Position,
    /// Whether it is `write`.
    pub is_write: bool,
    /// The data space.
    pub space: Name,
    /// The elements.
    pub places: Vec<Vec<Index>>,
}

/// One of the numbers of an element: an iteration variable and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// The iteration variable, by its number; a constant where there is none.
    pub iterator: Option<usize>,
    /// The constant.
    pub offset: i64,
}
