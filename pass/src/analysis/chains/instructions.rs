//! Which instructions of the program access the spaces of a chain, and where in them.
//!
//! Guarantee: what an iteration reads of a space, and uses, or writes there, it reads or writes by an instruction that is told
//! here, with that space and the place of each time that it is run.

use okl_chains::model::{Affine, Mode};

use super::accesses::Found;
use crate::llvm::{Instruction, Module, Opcode};

/// What the numbers of the program's accesses are called where they are noted.
const NOTE: &str = "okl.access";

/// An access of an iteration to a space.
#[derive(Clone)]
pub struct Accessing<'m> {
    /// The load or store, or the call that copies or fills memory. It may be in a function that the iteration calls, and is
    /// told once for each place where it is run. Nothing where the compiler would make one of several.
    pub at: Option<Instruction<'m>>,
    /// The number of the space.
    pub space: usize,
    /// What it does.
    pub mode: Mode,
    /// The element, by as many numbers as the space has; anywhere in the space where there are none.
    pub index: Option<Vec<Affine>>,
    /// Where in the element, where that is known.
    pub inside: Option<Inside<'m>>,
    /// Bytes; 0 where they are not known.
    pub bytes: i64,
}

/// A place in an element, as if all parts of an element that are accessed lay side by side.
#[derive(Clone, Default, PartialEq)]
pub struct Inside<'m> {
    /// Bytes from the beginning of the element, where all counters are 0.
    pub constant: i64,
    /// What loops inside an iteration count with, and how many bytes their next number is further on.
    pub counters: Vec<(Instruction<'m>, i64)>,
}

/// Accesses of a program that can be found again in its copy.
pub struct Originals<'m> {
    all: Vec<Instruction<'m>>,
}

impl<'m> Originals<'m> {
    /// Of a module, in a copy of it that nothing has changed yet.
    pub fn note(module: &'m Module, copy: &Module) -> Self {
        let mut all = Vec::new();
        for (function, its) in module.functions().into_iter().zip(copy.functions()) {
            let pairs = function.instructions().into_iter().zip(its.instructions());
            for (one, copied) in pairs {
                let is_access = matches!(
                    one.opcode(),
                    Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMCall | Opcode::LLVMInvoke
                );
                if is_access {
                    copied.note_number(NOTE, all.len());
                    all.push(one);
                }
            }
        }
        Self { all }
    }

    /// What an instruction of the copy is in the program.
    pub fn of(&self, copied: Instruction<'_>) -> Option<Instruction<'m>> {
        self.all.get(copied.noted_number(NOTE)?).copied()
    }

    /// All by which an iteration does what has been found.
    pub fn accessing(
        &self,
        found: &Found<'_>,
        space: usize,
        index: Option<&Vec<Affine>>,
        inside: Option<&Inside<'m>>,
    ) -> Vec<Accessing<'m>> {
        let mut all: Vec<Accessing<'m>> = Vec::new();
        for &(one, mode) in &found.by {
            all.push(Accessing {
                at: self.of(one),
                space,
                mode,
                index: index.cloned(),
                inside: inside.cloned(),
                bytes: found.bytes,
            });
        }
        all
    }
}
