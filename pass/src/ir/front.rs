//! Numbers and addresses that are known in front of a chain of loops, and what is asked of them there when the program runs.

use crate::llvm::{Call, Instruction, Opcode, Value};
use crate::numbers::Polynomial;
use okl_chains::pragma::Position;

/// A number of 64 bits.
pub type Amount<'m> = Polynomial<Front<'m>>;

/// What numbers are made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Front<'m> {
    /// A value, as a number with or without a sign.
    Value(Value<'m>, bool),
    /// What is in a variable of the function.
    Variable(Instruction<'m>, bool),
    /// What lies at an address, so many bits.
    Loaded(Box<Address<'m>>, u32, bool),
    /// What an operation makes of numbers, of so many bits.
    Computed(Opcode, Vec<Amount<'m>>, u32, bool),
}

/// An address.
#[derive(Clone, Debug, PartialEq)]
pub struct Address<'m> {
    /// Where the object begins.
    pub object: Start<'m>,
    /// Bytes from there.
    pub offset: Amount<'m>,
}

/// Where an object begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Start<'m> {
    /// At an address.
    Value(Value<'m>),
    /// At that in a variable of the function.
    Variable(Instruction<'m>),
    /// At that which lies at an address.
    Loaded(Box<Address<'m>>),
}

/// Bytes of an object that lie side by side, and others that are multiples of some distances further on.
#[derive(Clone, Debug, PartialEq)]
pub struct Run<'m> {
    /// Bytes from the beginning of the object to the first one.
    pub first: Amount<'m>,
    /// So many bytes.
    pub bytes: i64,
    /// The distances, and the first and the last number that each of them is multiplied with.
    pub steps: Vec<[Amount<'m>; 3]>,
    /// From where to where loops around go: where one of them has no iteration there are no such bytes.
    pub loops: Vec<[Amount<'m>; 2]>,
}

/// Bytes of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Bytes<'m> {
    /// The object.
    pub object: Start<'m>,
    /// All of these.
    pub runs: Vec<Run<'m>>,
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum Asks<'m> {
    /// Whether no byte from the first to the last one of the one is from the first to the last one of the other.
    Apart(Bytes<'m>, Bytes<'m>),
    /// Whether two numbers are the same.
    Same(Amount<'m>, Amount<'m>),
    /// Whether a number is not less than 0.
    Natural(Amount<'m>),
}

/// Something on which the order of a chain relies.
#[derive(Clone)]
pub struct Asked<'m> {
    /// What is asked.
    pub asks: Asks<'m>,
    /// The call that marks what says so, and where that is; in no line where it is the call's own place.
    pub site: (Call<'m>, Position),
    /// What is wrong where it does not hold: a sentence for the programmer.
    pub otherwise: String,
}
