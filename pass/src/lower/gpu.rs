//! Loops over blocks of work items on a device: each nest of outer loops becomes a kernel, in which a work item runs each inner
//! loop once, at its own number.
//!
//! Kernels are made of a copy of the module, and compiled, while it is looked at what can be lowered ([`kernel`]): what a
//! device has no code for is seen there, and then the module stays as it is. What is left to emit are the code, as data, and
//! its launch ([`launch`]). What a device cannot do is looked for before, so that the user is told of its line ([`reach`]),
//! and because of some of it LLVM would end the compiler.
//!
//! Kinds of devices differ in data: [`target`].

mod kernel;
mod launch;
mod math;
mod reach;
mod shape;
pub mod target;

use crate::diagnostic::{Declined, Site};
use crate::ir::{Counter, Origin, ParallelLoop};
use crate::llvm::{Call, Function, Instruction, Module, Opcode};
use crate::lower::cpu::threads;

use kernel::{Failed, Kernel};
use shape::Shape;
use target::GpuTarget;

/// What becomes of loops over blocks of work items.
#[derive(Default)]
pub struct Plan<'m> {
    nests: Vec<Nest<'m>>,
    images: Vec<Image>,
    has_cpu: bool,
}

/// A loop that goes to a device.
struct Nest<'m> {
    origin: Origin,
    site: Call<'m>,
    /// The function it is in.
    function: Function<'m>,
    /// The stack variables that it has from its beginning.
    variables: Vec<Instruction<'m>>,
    /// The loops that count blocks, the outermost first.
    grid: Vec<Counter<'m>>,
    shape: Shape<'m>,
    kernel: Kernel,
}

/// Code for a kind of device.
struct Image {
    target: &'static GpuTarget,
    code: String,
}

/// A loop that may go to a device, as far as can be seen in the module.
struct Candidate<'a, 'm> {
    /// Which loop over blocks of the module it is.
    number: usize,
    one: &'a ParallelLoop<'m>,
    grid: Vec<Counter<'m>>,
    shape: Shape<'m>,
}

/// Which loops over blocks of work items go to devices of these kinds. What cannot go there is added to `declined`.
pub fn check<'m>(
    module: &'m Module,
    loops: &[ParallelLoop<'m>],
    targets: &[&'static GpuTarget],
    has_cpu: bool,
    declined: &mut Vec<Declined<'m>>,
) -> Plan<'m> {
    let mut decline = |site: Site<'m>, why: &str| {
        let instead = match has_cpu {
            true => ", so the processor runs it",
            false => "",
        };
        declined.push(Declined {
            site,
            reason: format!("this cannot run on a device{instead}: {why}"),
        });
    };
    let blocks = loops.iter().filter(|one| one.region().is_some());
    let mut candidates = Vec::new();
    for (number, one) in blocks.enumerate() {
        let site = one.site.instruction();
        let found = threads::grid(one).map_err(|why| (site, why));
        let found = found.and_then(|grid| {
            let shape = Shape::of(module, one, &grid, targets)?;
            reach::check(module, &shape)?;
            Ok((grid, shape))
        });
        match found {
            Ok((grid, shape)) => candidates.push(Candidate {
                number,
                one,
                grid,
                shape,
            }),
            Err((at, why)) => decline(Site::Instruction(at), &why),
        }
    }
    let mut images = Vec::new();
    let mut kernels = Vec::new();
    let mut rest = targets.iter();
    let mut next = rest.next();
    while let Some(&target) = next {
        if candidates.is_empty() {
            break;
        }
        match kernel::build(module, &candidates, target) {
            Ok(built) => {
                images.push(Image {
                    target,
                    code: built.code,
                });
                kernels = built.kernels;
                next = rest.next();
            }
            Err(Failed { which, why }) => {
                // All of them have the same entries, whatever they are compiled for.
                let gone: Vec<_> = match which {
                    Some(which) => vec![candidates.remove(which)],
                    None => std::mem::take(&mut candidates),
                };
                for one in gone {
                    decline(Site::Instruction(one.one.site.instruction()), &why);
                }
                images.clear();
                rest = targets.iter();
                next = rest.next();
            }
        }
    }
    let nests = candidates.into_iter().zip(kernels);
    let nests = nests.map(|(candidate, kernel)| Nest {
        origin: candidate.one.origin,
        site: candidate.one.site,
        function: candidate.grid[0].decides.function(),
        variables: variables(candidate.grid[0].decides.function()),
        grid: candidate.grid,
        shape: candidate.shape,
        kernel,
    });
    Plan {
        nests: nests.collect(),
        images,
        has_cpu,
    }
}

/// The stack variables that a function has from its beginning.
fn variables(function: Function<'_>) -> Vec<Instruction<'_>> {
    let code = function.blocks()[0].instructions().into_iter();
    code.filter(|one| one.opcode() == Opcode::LLVMAlloca)
        .collect()
}

impl<'m> Plan<'m> {
    /// The loops that go there.
    pub fn sites(&self) -> impl Iterator<Item = (Origin, Call<'m>)> {
        self.nests.iter().map(|one| (one.origin, one.site))
    }

    /// Whether a loop goes there.
    pub fn has(&self, site: Call<'m>) -> bool {
        self.nests.iter().any(|one| one.site == site)
    }

    /// The code, of all kinds of devices.
    pub fn text(&self) -> String {
        self.images.iter().map(|one| one.code.as_str()).collect()
    }
}

pub use launch::{emit, finish};
