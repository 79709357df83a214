//! Loop chains, as a recogniser finds them in the code that the compiler made.

use okl_chains::pragma::{ChainPragma, LoopPragma};

use super::Extent;
use crate::llvm::{Call, Value};

/// Loops that follow each other, and are run in another order. Control comes to its beginning and leaves it by its end.
pub struct Chain<'m> {
    /// The call that stands in front of all of it.
    pub site: Call<'m>,
    /// The call that stands behind all of it.
    pub end: Call<'m>,
    /// The file that the pragmas are in.
    pub file: String,
    /// What the programmer says of it.
    pub said: ChainPragma,
    /// The values that its schedule names, of 64 bits.
    pub values: Vec<Value<'m>>,
    /// The loops, in the order in which they are written. Nothing but them is run between its beginning and its end.
    pub nests: Vec<Nest<'m>>,
}

/// Loops one in the other.
pub struct Nest<'m> {
    /// The call that stands in front of it.
    pub site: Call<'m>,
    /// The call that stands behind it.
    pub end: Call<'m>,
    /// What the programmer says of it.
    pub said: LoopPragma,
    /// The values that it names, of 64 bits.
    pub values: Vec<Value<'m>>,
    /// The loops, the outermost first: as many as its domain has dimensions. Each has a counter; what is in the innermost
    /// one is the body, and of the others nothing is run but their counters and what is in them.
    pub loops: Vec<Extent<'m>>,
}
