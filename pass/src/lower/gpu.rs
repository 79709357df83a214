//! Loops on a device: what front ends found becomes kernels, and the host launches these.
//!
//! What can become one is a candidate, of a kind: a loop over blocks of work items ([`blocks`]), or over a set ([`sets`]). The kernels of all
//! candidates are made in a copy of the module, and compiled, while it is looked at what can be lowered ([`compile`]): what a
//! device has no code for is seen there, and then the module stays as it is. What is left to emit are the code, as data, and
//! the launches ([`launch`]). What a device cannot do is looked for before, so that the user is told of its line ([`reach`]),
//! and because of some of it LLVM would end the compiler.
//!
//! Kinds of devices differ in data: [`target`].

mod blocks;
mod compile;
mod launch;
mod math;
mod reach;
mod sets;
mod shape;
pub mod target;

use crate::diagnostic::{Declined, Site};
use crate::ir::{Origin, ParallelLoop, Space};
use crate::llvm::{Call, Function, Module};

use compile::Failed;
use launch::Kernel;
use target::GpuTarget;

/// What goes to devices.
#[derive(Default)]
pub struct Plan<'m> {
    going: Vec<Going<'m>>,
    images: Vec<Image>,
    has_cpu: bool,
}

/// A loop that goes to a device.
struct Going<'m> {
    origin: Origin,
    site: Call<'m>,
    kernel: Kernel,
    host: Host<'m>,
}

/// What the host has of it, which depends on what it is.
enum Host<'m> {
    Blocks(Box<blocks::Nest<'m>>),
    /// The run time launches it: what it is passed.
    Sets(Function<'m>, Vec<sets::Passed>),
}

/// Code for a kind of device.
struct Image {
    target: &'static GpuTarget,
    code: String,
}

/// A loop that may go to a device, as far as can be seen in the module.
enum Candidate<'a, 'm> {
    /// It runs a block of work items for each number.
    Blocks(Box<blocks::Candidate<'a, 'm>>),
    /// It runs a body for each element of a set.
    Sets(sets::Candidate<'a, 'm>),
}

/// What the host passes to a kernel.
enum Passed {
    Blocks(Vec<blocks::Passed>),
    Sets(Vec<sets::Passed>),
}

/// Which loops go to devices of these kinds. What cannot go there is added to `declined`.
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
        match blocks::Candidate::of(module, number, one, targets) {
            Ok(found) => candidates.push(Candidate::Blocks(Box::new(found))),
            Err((at, why)) => decline(Site::Instruction(at), &why),
        }
    }
    let sets = loops
        .iter()
        .filter(|one| matches!(one.space, Space::Set { .. }));
    for one in sets {
        match sets::Candidate::of(module, one) {
            Ok(found) => candidates.push(Candidate::Sets(found)),
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
        match compile::build(module, target, |device| {
            outline(device, &candidates, target)
        }) {
            Ok((code, built)) => {
                images.push(Image { target, code });
                kernels = built;
                next = rest.next();
            }
            Err(Failed { which, why }) => {
                // All of them have the same entries, whatever they are compiled for.
                let gone: Vec<_> = match which {
                    Some(which) => vec![candidates.remove(which)],
                    None => std::mem::take(&mut candidates),
                };
                for one in gone {
                    decline(Site::Instruction(one.site().instruction()), &why);
                }
                images.clear();
                rest = targets.iter();
                next = rest.next();
            }
        }
    }
    let going = candidates.into_iter().zip(kernels);
    let going = going.map(|(candidate, (kernel, passed))| Going {
        origin: candidate.origin(),
        site: candidate.site(),
        kernel,
        host: match (candidate, passed) {
            (Candidate::Blocks(one), Passed::Blocks(passed)) => {
                Host::Blocks(Box::new(one.nest(passed)))
            }
            (Candidate::Sets(one), Passed::Sets(passed)) => {
                Host::Sets(one.one.kernel().expect("it was looked at"), passed)
            }
            _ => unreachable!("kernels are of their candidates"),
        },
    });
    Plan {
        going: going.collect(),
        images,
        has_cpu,
    }
}

/// Makes kernels of the candidates in a copy of their module.
fn outline(
    device: &Module,
    candidates: &[Candidate<'_, '_>],
    target: &'static GpuTarget,
) -> Result<Vec<(Kernel, Passed)>, Failed> {
    let (mut blocks, mut sets) = (Vec::new(), Vec::new());
    for (which, one) in candidates.iter().enumerate() {
        match one {
            Candidate::Blocks(one) => blocks.push((which, &**one)),
            Candidate::Sets(one) => sets.push((which, one)),
        }
    }
    // A kind knows its own candidates by their numbers.
    let of_kind = |failed: Failed, numbers: &dyn Fn(usize) -> usize| Failed {
        which: failed.which.map(numbers),
        ..failed
    };
    let list: Vec<_> = blocks.iter().map(|(_, one)| *one).collect();
    let made = blocks::outline_all(device, &list, target)
        .map_err(|failed| of_kind(failed, &|at| blocks[at].0))?;
    let made = made.into_iter().zip(&blocks);
    let mut all: Vec<_> = made
        .map(|((kernel, passed), (which, _))| (*which, (kernel, Passed::Blocks(passed))))
        .collect();
    for (which, one) in sets {
        let made = sets::outline(device, one.one, which, target);
        match made {
            Ok((kernel, passed)) => all.push((which, (kernel, Passed::Sets(passed)))),
            Err(why) => return compile::failed(Some(which), &why),
        }
    }
    all.sort_by_key(|(which, _)| *which);
    Ok(all.into_iter().map(|(_, one)| one).collect())
}

impl<'m> Candidate<'_, 'm> {
    fn origin(&self) -> Origin {
        match self {
            Self::Blocks(one) => one.one.origin,
            Self::Sets(one) => one.one.origin,
        }
    }

    /// Where it is, for what concerns all of it.
    fn site(&self) -> Call<'m> {
        match self {
            Self::Blocks(one) => one.one.site,
            Self::Sets(one) => one.one.site,
        }
    }
}

impl<'m> Going<'m> {
    /// The function that the user knows it by.
    fn function(&self) -> Function<'m> {
        match &self.host {
            Host::Blocks(nest) => nest.function,
            Host::Sets(kernel, _) => *kernel,
        }
    }
}

impl<'m> Plan<'m> {
    /// The loops that go there.
    pub fn sites(&self) -> impl Iterator<Item = (Origin, Call<'m>)> {
        self.going.iter().map(|one| (one.origin, one.site))
    }

    /// Whether a loop goes there.
    pub fn has(&self, site: Call<'m>) -> bool {
        self.going.iter().any(|one| one.site == site)
    }

    /// The code, of all kinds of devices.
    pub fn text(&self) -> String {
        self.images.iter().map(|one| one.code.as_str()).collect()
    }
}

pub use launch::{emit, finish};
