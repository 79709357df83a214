//! PTX text as a tree of what stands in it. Names are not looked up, instructions not understood; what is no PTX is an error
//! with its line.

mod lexer;
mod module;

pub use module::{float_bits, parse};

use crate::types::Type;

/// Why a text is not taken, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line of the PTX text, from 1.
    pub line: u32,
    /// What is wrong.
    pub what: String,
}

/// The state spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// An address says by itself where it leads.
    Generic,
    /// The device's memory.
    Global,
    /// A block's.
    Shared,
    /// A thread's.
    Local,
    /// The device's, that kernels only read.
    Constant,
    /// Parameters and results.
    Param,
}

/// What a text declares.
#[derive(Debug, Default)]
pub struct Module {
    /// `.version`: 78 for 7.8.
    pub version: u32,
    /// `.target`'s number: 70 for `sm_70`.
    pub capability: u32,
    /// Variables outside of functions.
    pub variables: Vec<Variable>,
    /// Functions, also those that are only declared.
    pub functions: Vec<Function>,
    /// The files that `.loc` names by number.
    pub files: Vec<(u32, String)>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// Of what its address is a multiple.
    pub align: usize,
    /// How many bytes it has; 0 where the launch says so.
    pub size: usize,
    /// What is in it; zeros behind it.
    pub initial: Vec<u8>,
    /// Addresses in it: where, of what, plus how much, and whether as one of the generic space.
    pub addresses: Vec<(usize, String, i64, bool)>,
    /// Whether it is defined elsewhere.
    pub is_extern: bool,
    /// Its line.
    pub line: u32,
}

/// A parameter or a result.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Of what its address is a multiple.
    pub align: usize,
    /// How many bytes it has.
    pub size: usize,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it can be launched.
    pub is_entry: bool,
    /// What it returns.
    pub returns: Vec<Param>,
    /// What it is given.
    pub params: Vec<Param>,
    /// The most threads of a block, by dimension; zeros where nothing says so.
    pub most_threads: [u32; 3],
    /// Whether a block has to have just as many.
    pub exactly: bool,
    /// What it does; none where it is only declared.
    pub body: Option<Vec<Statement>>,
    /// Its line.
    pub line: u32,
}

/// A statement and its line.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The line of the text.
    pub line: u32,
    /// What it is.
    pub what: What,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum What {
    /// A place to go to.
    Label(String),
    /// Registers: a name, and how many of it where they are numbered.
    Registers(Type, Vec<(String, Option<u32>)>),
    /// A variable of a function.
    Variable(Variable),
    /// `{`
    Open,
    /// `}`
    Close,
    /// A file's number and a line of it.
    Place(u32, u32),
    /// The labels among which an index chooses.
    Targets(String, Vec<String>),
    /// An instruction.
    Instruction(Instruction),
}

/// An instruction as it stands there.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The predicate in front, and whether it is negated.
    pub guard: Option<(String, bool)>,
    /// Its name and what follows with dots.
    pub words: Vec<String>,
    /// What it works on.
    pub operands: Vec<Operand>,
}

/// An operand as it stands there.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A name.
    Name(String),
    /// `!` and a name.
    Not(String),
    /// A whole number.
    Number(u64),
    /// The bits of a number with a point, and how many they are.
    Float(u64, u32),
    /// `[base+offset]`; no base: an address.
    Address(Option<String>, i64),
    /// `name+offset`.
    Sum(String, i64),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `(a, b)`, of calls.
    Group(Vec<Operand>),
    /// `a|b`
    Pair(Box<Operand>, Box<Operand>),
}
