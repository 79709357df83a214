//! Loop chains, as a recogniser finds them in the code that the compiler made.

use okl_chains::pragma::{ChainPragma, LoopPragma};

use std::fmt;

use super::Extent;
use crate::diagnostic::Site;
use crate::llvm::{Call, Instruction, Value};

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
    /// Conditions in the body that tell iterations at its borders from others.
    pub strips: Vec<Strip<'m>>,
    /// Stores of which only the last iteration runs any: what variables are behind the loops.
    pub lasts: Vec<Instruction<'m>>,
}

/// A condition in the body of a nest which is the same for all iterations between two borders.
#[derive(Clone)]
pub struct Strip<'m> {
    /// What is other than 0 where it holds: a number of 64 bits that the body computes, or may be handed.
    pub value: Value<'m>,
    /// When it holds.
    pub holds: Holds,
    /// The borders that this names.
    pub borders: Vec<Border<'m>>,
}

/// What asks whether the number of an iteration is at least so large.
#[derive(Clone)]
pub struct Border<'m> {
    /// The loop of the nest.
    pub level: usize,
    /// The number from which on it is: the sum of one of 64 bits, which is there in front of the chain, and a constant.
    pub base: Option<Value<'m>>,
    pub constant: i64,
}

/// When a condition holds.
#[derive(Clone)]
pub enum Holds {
    /// Behind a border.
    Behind(usize),
    /// Where another one does not.
    Not(Box<Holds>),
    /// Where two do.
    Both(Box<[Holds; 2]>),
    /// Where one of two does.
    Either(Box<[Holds; 2]>),
    /// That is not known.
    Unknown,
}

impl Holds {
    /// Whether it does, given that of some borders it is known whether an iteration is behind them.
    pub fn answer(&self, known: &[Option<bool>]) -> Option<bool> {
        match self {
            Self::Behind(border) => known[*border],
            Self::Not(one) => one.answer(known).map(|answer| !answer),
            Self::Both(two) => match [two[0].answer(known), two[1].answer(known)] {
                [Some(false), _] | [_, Some(false)] => Some(false),
                [Some(true), other] => other,
                [None, _] => None,
            },
            Self::Either(two) => match [two[0].answer(known), two[1].answer(known)] {
                [Some(true), _] | [_, Some(true)] => Some(true),
                [Some(false), other] => other,
                [None, _] => None,
            },
            Self::Unknown => None,
        }
    }
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
