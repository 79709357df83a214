//! What the iterations of a loop do in memory, as far as it has been looked at: see [`crate::analysis::iterations`].

use std::fmt;

use super::Mode;
use crate::diagnostic::Site;
use crate::llvm::{Global, Instruction};
use crate::numbers::Polynomial;

/// What the iterations of a loop do in memory that other threads may access too.
#[derive(Default)]
pub struct Description<'m> {
    /// What each of them accesses.
    pub accesses: Vec<Access<'m>>,
    /// What is combined of what the threads have computed.
    pub reductions: Vec<Reduction<'m>>,
    /// What gets the value of the last iteration.
    pub finals: Vec<Object<'m>>,
    /// What may do more than that, and why: the end of a sentence that begins with "it".
    pub unknown: Option<(Instruction<'m>, String)>,
}

/// What an iteration accesses.
#[derive(Clone, PartialEq)]
pub struct Access<'m> {
    /// How. An object that is read and written has two of them.
    pub mode: Mode,
    /// Whether every iteration accesses all of it.
    pub must: bool,
    /// Bytes of an element.
    pub bytes: i64,
    /// The object.
    pub base: Base<'m>,
    /// Where in it; anywhere where there is none.
    pub elements: Option<Elements<'m>>,
}

/// An object that an address is computed from.
#[derive(Clone, Debug, PartialEq)]
pub enum Base<'m> {
    /// What a captured value points to, by its number.
    Capture(usize),
    /// A global variable.
    Global(Global<'m>),
    /// What a pointer points to that is somewhere itself.
    Loaded(Box<Object<'m>>),
}

/// A place in an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object<'m> {
    /// The object.
    pub base: Base<'m>,
    /// Bytes from its beginning.
    pub offset: Number<'m>,
}

/// Elements of an object: from a place on, so many so many bytes apart, for each row.
#[derive(Clone, PartialEq)]
pub struct Elements<'m> {
    /// Bytes from the beginning of the object to the first one.
    pub offset: Number<'m>,
    /// Bytes from one to the next, and how many, inner rows first.
    pub rows: Vec<(Number<'m>, Number<'m>)>,
}

/// A number, if the program's numbers do not overflow.
pub type Number<'m> = Polynomial<Unknown<'m>>;

/// What a number depends on.
#[derive(Clone, Debug, PartialEq)]
pub enum Unknown<'m> {
    /// The number of the iteration, in the loop's [`Space`].
    Iteration,
    /// The first iteration of a thread's share. No description depends on it.
    First,
    /// A captured value.
    Capture(usize),
    /// What an object holds.
    Loaded(Box<Object<'m>>),
    /// The least of these.
    Least(Vec<Number<'m>>),
    /// The largest of these.
    Largest(Vec<Number<'m>>),
}

/// Values of the threads that are combined.
#[derive(Clone, PartialEq)]
pub struct Reduction<'m> {
    /// Where the result is.
    pub target: Object<'m>,
    /// How two values are combined.
    pub operation: Operation,
}

/// How two values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Their sum.
    Add,
    /// Their product.
    Multiply,
    /// The bits that both have.
    And,
    /// The bits that one of them has.
    Or,
    /// The bits that they differ in.
    Xor,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// In another way, which the programmer has declared.
    Declared,
}

impl fmt::Display for Description<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.accesses {
            let may = if one.must { "" } else { "may " };
            let (base, mode) = (&one.base, one.mode);
            write!(f, "  {may}{mode} {} bytes in {base}", one.bytes)?;
            match &one.elements {
                Some(elements) => {
                    write!(f, " at {}", elements.offset)?;
                    for (stride, count) in &elements.rows {
                        write!(f, ", {count} times each {stride}")?;
                    }
                    writeln!(f)?;
                }
                None => writeln!(f, ", anywhere")?,
            }
        }
        for one in &self.reductions {
            writeln!(f, "  combines into {}: {:?}", one.target, one.operation)?;
        }
        for one in &self.finals {
            writeln!(f, "  the last iteration's value goes to {one}")?;
        }
        match &self.unknown {
            Some((at, reason)) => {
                writeln!(f, "  unknown: it {reason} ({})", Site::Instruction(*at))
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset.as_constant() {
            Some(0) => write!(f, "{}", self.base),
            _ => write!(f, "{} at {}", self.base, self.offset),
        }
    }
}

impl fmt::Display for Base<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::Capture(index) => write!(f, "capture {index}"),
            Base::Global(global) => f.write_str(&global.name()),
            Base::Loaded(from) => write!(f, "*({from})"),
        }
    }
}

impl fmt::Display for Unknown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name, all: &[Number<'_>]| {
            let all: Vec<_> = all.iter().map(|one| one.to_string()).collect();
            write!(f, "{name}({})", all.join(", "))
        };
        match self {
            Unknown::Iteration => f.write_str("i"),
            Unknown::First => f.write_str("the share's first i"),
            Unknown::Capture(index) => write!(f, "capture {index}"),
            Unknown::Loaded(from) => write!(f, "[{from}]"),
            Unknown::Least(all) => list(f, "min", all),
            Unknown::Largest(all) => list(f, "max", all),
        }
    }
}
