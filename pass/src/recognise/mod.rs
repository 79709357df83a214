//! The front ends: each finds the parallel code of one way of writing it.
//!
//! A new one is a file here and a line of [`FRONT_ENDS`].

pub mod op2;
pub mod openmp;
pub mod steps;

use crate::diagnostic::Declined;
use crate::ir::{ParallelLoop, Region};
use crate::llvm::{Call, Instruction, Module};

/// What the front ends found in a module.
#[derive(Default)]
pub struct Found<'m> {
    /// Regions.
    pub regions: Vec<Region<'m>>,
    /// Loops outside regions.
    pub loops: Vec<ParallelLoop<'m>>,
    /// What is not understood and stays as it is: it is right, but gains nothing.
    pub declined: Vec<Declined<'m>>,
    /// What is not understood and would be wrong if regions were distributed.
    pub refused: Vec<Declined<'m>>,
    /// What is certainly wrong in the program.
    pub mistakes: Vec<Declined<'m>>,
    /// What may be meant as it is.
    pub doubts: Vec<Declined<'m>>,
    /// Whether the module is a part of a program of which each process runs all.
    pub every_process_runs_all: bool,
    /// The calls of functions that may end the program with a message.
    pub may_end: Vec<Call<'m>>,
    /// Where the program looks at data of loops that their declarations say nothing of.
    pub looks_at_data: Option<Instruction<'m>>,
    /// Where it looks at their maps so.
    pub looks_at_maps: Option<Instruction<'m>>,
}

/// Adds what it finds in a module.
type FrontEnd = for<'m> fn(&'m Module, &mut Found<'m>);

/// All of them.
const FRONT_ENDS: [FrontEnd; 2] = [openmp::recognise, op2::recognise];

/// What a module has of all of them.
pub fn recognise(module: &Module) -> Found<'_> {
    let mut found = Found::default();
    for front_end in FRONT_ENDS {
        front_end(module, &mut found);
    }
    found
}
