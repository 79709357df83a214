//! Loop chains, as a recogniser finds them in the code that the compiler made.

use okl_chains::pragma::{ChainPragma, LoopPragma};

use std::fmt;

use super::Extent;
use crate::diagnostic::Site;
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

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let site = Site::Instruction(self.site.instruction());
        writeln!(f, "loop chain at {site}: {} loops", self.nests.len())?;
        for one in &self.nests {
            let site = Site::Instruction(one.site.instruction());
            let loops: Vec<_> = one.loops.iter().map(counts).collect();
            writeln!(f, "  nest at {site}: {}", loops.join(", "))?;
        }
        let end = Site::Instruction(self.end.instruction());
        writeln!(f, "  ends at {end}, pragmas in {}", self.file)
    }
}

/// How a loop counts, in short.
fn counts(one: &Extent<'_>) -> String {
    let sign = if one.signed { "i" } else { "u" };
    let compares = one
        .counter
        .as_ref()
        .map_or("?", |counter| match counter.counting.is_last {
            true => "<=",
            false => "<",
        });
    format!("{sign}{} {compares}", one.width)
}
