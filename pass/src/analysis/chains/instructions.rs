//! Which instructions of the program access the spaces of a chain, and where in them.
//!
//! Guarantee: what an iteration reads of a space, and uses, or writes there, it reads or writes by an instruction that is told
//! here, with that space and the place of each time that it is run.

use okl_chains::model::{Affine, Mode};

use super::accesses::Found;
use super::objects::Fit;
use super::single::Iteration;
use super::spaces::Named;
use super::splits::Used;
use crate::llvm::{Instruction, Module, Opcode};
use crate::numbers::Polynomial;

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
    /// Whether every iteration accesses all of the element so.
    pub covers: bool,
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

/// The number that is noted of an instruction of the copy.
pub fn noted(copied: Instruction<'_>) -> Option<usize> {
    copied.noted_number(NOTE)
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
        self.numbered(noted(copied)?)
    }

    /// The instruction with a number.
    pub fn numbered(&self, number: usize) -> Option<Instruction<'m>> {
        self.all.get(number).copied()
    }

    /// All by which an iteration of a nest does what has been found, to what of a space.
    pub fn accessing<'c>(
        &self,
        found: &Found<'c>,
        fit: &Fit,
        named: Option<&Named<'c>>,
        nest: &Iteration<'c>,
    ) -> Vec<Accessing<'m>> {
        let inside = named.and_then(|named| self.inside(found, fit, named, nest));
        let (inside, covers) = inside.unzip();
        let covers = found.must && covers == Some(true);
        let one = |&(one, mode): &(Instruction<'c>, Mode)| Accessing {
            at: self.of(one),
            space: fit.space,
            mode,
            index: fit.index.clone(),
            inside: inside.clone(),
            covers,
            bytes: found.bytes,
        };
        found.by.iter().map(one).collect()
    }

    /// Where in an element an access is, and whether it is to all of it.
    fn inside<'c>(
        &self,
        found: &Found<'c>,
        fit: &Fit,
        named: &Named<'c>,
        nest: &Iteration<'c>,
    ) -> Option<(Inside<'m>, bool)> {
        let (split, within) = found.split.as_ref().zip(fit.within.as_ref())?;
        let mut inside = Inside {
            constant: within.at,
            counters: Vec::new(),
        };
        let mut rest: Vec<&Used<'c>> = split.turns.iter().collect();
        // The first byte, and how far loops go on from it.
        let mut least = within.at;
        let mut runs = Vec::new();
        // As often as there are runs behind in the other distances.
        let mut bytes = named.bytes;
        for (part, &first) in named.parts.iter().zip(&within.first).rev() {
            let turned = part.stride.times(&Polynomial::constant(-1))?;
            let is_its = |used: &&Used<'c>| {
                used.range.by.abs() == 1 && [&part.stride, &turned].contains(&&used.factor)
            };
            match rest.iter().position(is_its) {
                Some(at) => {
                    let used = rest.remove(at);
                    let sign = if used.factor == part.stride { 1 } else { -1 };
                    let its = bytes.checked_mul(sign)?;
                    self.count(&mut inside, used, nest, its)?;
                    runs.push((its.checked_mul(used.range.by)?, used));
                }
                // Each of its runs is the same one.
                None if rest.iter().any(|used| used.factor.as_constant().is_none()) => return None,
                None => {}
            }
            inside.constant = inside.constant.checked_add(bytes.checked_mul(first)?)?;
            least = least.checked_add(bytes.checked_mul(first)?)?;
            bytes = bytes.checked_mul(part.count.as_constant()?)?;
        }
        // Runs that are one.
        for used in rest {
            let its = used.factor.as_constant()?;
            self.count(&mut inside, used, nest, its)?;
            runs.push((its.checked_mul(used.range.by)?, used));
        }
        runs.sort_by_key(|run| run.0.saturating_abs());
        let all = runs.iter().try_fold(found.bytes, |all, (step, used)| {
            let count = used.range.count.as_constant()?;
            (step.checked_abs()? == all).then(|| all.checked_mul(count))?
        });
        let covers = least == 0 && all.is_some() && all == bytes_of(named);
        Some((inside, covers))
    }

    /// Adds how far a loop's number is away from that with which the access comes first in the element.
    fn count<'c>(
        &self,
        inside: &mut Inside<'m>,
        used: &Used<'c>,
        nest: &Iteration<'c>,
        bytes: i64,
    ) -> Option<()> {
        let range = &used.range;
        let first = range.first.as_constant()?;
        // Where the loop begins behind the others.
        let step = bytes.checked_mul(range.by)?;
        let least = match step < 0 {
            true => {
                let count = range.count.as_constant()?;
                first.checked_add(range.by.checked_mul(count - 1)?)?
            }
            false => first,
        };
        let back = bytes.checked_mul(least)?;
        inside.constant = inside.constant.checked_sub(back)?;
        let begins = self.numbered(nest.turns[used.turn].begins()?)?;
        let variable = begins.operand(1).as_instruction()?;
        inside.counters.push((variable, bytes));
        Some(())
    }
}

/// Bytes of an element whose runs lie side by side.
pub fn bytes_of(named: &Named<'_>) -> Option<i64> {
    let counts = named.parts.iter().map(|part| part.count.as_constant());
    { counts }.try_fold(named.bytes, |bytes, count| bytes.checked_mul(count?))
}
