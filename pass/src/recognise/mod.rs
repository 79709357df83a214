//! The front ends: each finds the parallel code of one way of writing it.
//!
//! A new one is a file here and a line of [`FRONT_ENDS`].

pub mod counted;
pub mod loop_chain;
pub mod okl;
pub mod op2;
pub mod openmp;
pub mod steps;

use crate::diagnostic::{Declined, Site};
use crate::ir::{Origin, ParallelLoop, Region};
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
    /// Why its regions are not to be shared by ranks.
    pub keeps_threads: Option<KeepsThreads>,
    /// What run times are told of the program's text.
    pub notes: Vec<Note<'m>>,
    /// Calls that only say what the code around them is, and go once its loops are lowered.
    pub markers: Vec<Call<'m>>,
    /// OKL's kernels, which the loops of blocks are of.
    pub kernels: Vec<okl::Kernel<'m>>,
}

/// Why the regions of a module stay in their process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepsThreads {
    /// The reason, as a sentence of the user's language.
    pub why: &'static str,
    /// False where that is so whatever the user asks for.
    pub unless_asked: bool,
}

/// What a run time is told of the program's text.
#[derive(Clone, Copy)]
pub enum Note<'m> {
    /// The run time may end the program in this call, with a message.
    MayEnd(Call<'m>),
    /// The program looks at data of loops that their declarations say nothing of: here first.
    LooksAtData(Instruction<'m>),
    /// It looks at their maps so.
    LooksAtMaps(Instruction<'m>),
}

/// One way of writing parallel code.
struct FrontEnd {
    /// Whether a module is written so, and its regions may be shared by ranks.
    has_ranks: fn(&Module) -> bool,
    /// Whether its loops run blocks of work items: what threads share of these is a region.
    has_blocks: bool,
    /// Writes a module more plainly, so that it means the same. True where it was changed.
    prepare: fn(&Module) -> bool,
    /// Adds what it finds in a module.
    recognise: for<'m> fn(&'m Module, &mut Found<'m>),
}

/// All of them.
const FRONT_ENDS: [FrontEnd; 3] = [
    FrontEnd {
        has_ranks: openmp::is_used,
        has_blocks: false,
        prepare: |_| false,
        recognise: openmp::recognise,
    },
    FrontEnd {
        // Its processes are ranks of its own run time.
        has_ranks: |_| false,
        has_blocks: false,
        prepare: |_| false,
        recognise: op2::recognise,
    },
    FrontEnd {
        has_ranks: |_| false,
        has_blocks: true,
        prepare: okl::prepare,
        recognise: okl::recognise,
    },
];

/// Whether ranks may share the regions of a module, as far as its front ends are concerned.
pub fn has_ranks(module: &Module) -> bool {
    let mut front_ends = FRONT_ENDS.iter();
    front_ends.any(|one| (one.has_ranks)(module))
}

/// Writes a module as [`recognise`] expects it: it means the same. True where it was changed.
pub fn prepare(module: &Module) -> bool {
    let changed = FRONT_ENDS.map(|one| (one.prepare)(module));
    changed.contains(&true)
}

/// What a module that is prepared has of all of them, each of which is as lowerings rely on.
pub fn recognise(module: &Module) -> Found<'_> {
    found_by(module, |_| true)
}

/// The same of those whose loops run blocks of work items.
pub fn recognise_blocks(module: &Module) -> Found<'_> {
    found_by(module, |one| one.has_blocks)
}

fn found_by(module: &Module, is_asked: impl Fn(&FrontEnd) -> bool) -> Found<'_> {
    let mut found = Found::default();
    for front_end in FRONT_ENDS.iter().filter(|one| is_asked(one)) {
        (front_end.recognise)(module, &mut found);
    }
    found.verify();
    found
}

fn wrong_one<'m>(origin: Origin, site: Call<'m>, why: &str) -> Declined<'m> {
    Declined {
        site: Site::Instruction(site.instruction()),
        reason: format!("this {origin} is not understood: {why}"),
    }
}

impl Found<'_> {
    /// Takes away what is not as [`Region::verify`] and [`ParallelLoop::verify`] have it: a region is refused then, a loop
    /// stays as it is.
    pub fn verify(&mut self) {
        let refused = &mut self.refused;
        self.regions.retain(|one| {
            let wrong = one.verify().err();
            refused.extend(wrong.iter().map(|why| wrong_one(one.origin, one.site, why)));
            wrong.is_none()
        });
        let declined = &mut self.declined;
        self.loops.retain(|one| {
            let wrong = one.verify().err();
            declined.extend(wrong.iter().map(|why| wrong_one(one.origin, one.site, why)));
            wrong.is_none()
        });
    }
}
