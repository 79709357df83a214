//! Loops on a device: what front ends found becomes kernels, and the host launches these.
//!
//! What can become one is a candidate, of a kind: a loop over blocks of work items ([`blocks`]), or over a set ([`sets`]), or
//! a region whose threads share one loop ([`range`]). The kernels of all
//! candidates are made in a copy of the module, and compiled, while it is looked at what can be lowered ([`compile`]): what a
//! device has no code for is seen there, and then the module stays as it is. What is left to emit are the code, as data, and
//! the launches ([`launch`]). What a device cannot do is looked for before, so that the user is told of its line ([`reach`]),
//! and because of some of it LLVM would end the compiler.
//!
//! Kinds of devices differ in data: [`target`].

mod asked;
mod blocks;
mod compile;
mod launch;
mod link;
mod math;
mod range;
mod reach;
mod sets;
mod shape;
pub mod target;

use crate::diagnostic::{Declined, Site};
use crate::ir::{Origin, ParallelLoop, Region, Space};
use crate::llvm::{Call, Function, Instruction, Machine, Module, Silence};

use compile::Failed;
use launch::Kernel;
use target::GpuTarget;

/// What goes to devices.
#[derive(Default)]
pub struct Plan<'m> {
    going: Vec<Going<'m>>,
    images: Vec<Image>,
    has_cpu: bool,
    on_ranks: bool,
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
    Range(Box<range::Fork<'m>>),
}

/// Code for a kind of device.
struct Image {
    target: &'static GpuTarget,
    code: Vec<u8>,
}

/// A loop that may go to a device, as far as can be seen in the module.
enum Candidate<'a, 'm> {
    /// It runs a block of work items for each number.
    Blocks(Box<blocks::Candidate<'a, 'm>>),
    /// It runs a body for each element of a set.
    Sets(sets::Candidate<'a, 'm>),
    /// Its threads share a loop.
    Range(range::Candidate<'a, 'm>),
}

/// What the host passes to a kernel.
enum Passed {
    Blocks(Vec<blocks::Passed>),
    Sets(Vec<sets::Passed>),
    Range(range::Hosted),
}

/// What may go to devices.
pub struct Asked<'a, 'm> {
    /// Loops outside regions.
    pub loops: &'a [ParallelLoop<'m>],
    /// Regions.
    pub regions: &'a [Region<'m>],
    /// Whether ranks share them, or the loops.
    pub on_ranks: bool,
}

/// What cannot go there.
#[derive(Default)]
pub struct Stays<'m> {
    /// Loops outside regions.
    pub loops: Vec<Declined<'m>>,
    /// Regions, which their threads run.
    pub regions: Vec<Declined<'m>>,
}

/// Which loops and regions go to devices of these kinds.
pub fn check<'m>(
    module: &'m Module,
    asked: Asked<'_, 'm>,
    targets: &[&'static GpuTarget],
    has_cpu: bool,
) -> (Plan<'m>, Stays<'m>) {
    let mut stays = Stays::default();
    let mut decline = |is_region: bool, site: Site<'m>, why: &str| {
        let (list, instead) = match (is_region, has_cpu) {
            (true, _) => (&mut stays.regions, ", so threads run it"),
            (_, true) => (&mut stays.loops, ", so the processor runs it"),
            _ => (&mut stays.loops, ""),
        };
        list.push(Declined {
            site,
            reason: format!("this cannot run on a device{instead}: {why}"),
        });
    };
    let blocks = asked.loops.iter().filter(|one| one.region().is_some());
    let mut candidates = Vec::new();
    for (number, one) in blocks.enumerate() {
        let others = asked.loops.iter().filter(|other| other.site == one.site);
        if asked.on_ranks && others.count() > 1 {
            let why = "ranks share an @outer loop that others stand in beside each other";
            decline(false, Site::Instruction(one.site.instruction()), why);
            continue;
        }
        match blocks::Candidate::of(module, number, one, targets, asked.on_ranks) {
            Ok(found) => candidates.push(Candidate::Blocks(Box::new(found))),
            Err((at, why)) => decline(false, Site::Instruction(at), &why),
        }
    }
    // All else has been looked at for CUDA devices alone.
    let other = targets.iter().any(|one| *one != &target::CUDA);
    let only = "okl sends it to CUDA devices alone";
    if other {
        for one in asked.regions.iter().filter(|one| !range::is_done(one)) {
            decline(true, Site::Instruction(one.site.instruction()), only);
        }
    }
    let found = match other {
        true => Vec::new(),
        false => regions(module, &asked, targets),
    };
    for (one, found) in found {
        match found {
            Ok(found) => candidates.push(Candidate::Range(found)),
            Err(range::Why { why, place }) => {
                let at = place.and_then(|place| stands_at(module, one, &place));
                let at = at.unwrap_or(one.site.instruction());
                decline(true, Site::Instruction(at), &why);
            }
        }
    }
    let sets = asked
        .loops
        .iter()
        .filter(|one| matches!(one.space, Space::Set { .. }));
    for one in sets {
        let found = match other {
            true => Err((one.site.instruction(), only.to_string())),
            false => sets::Candidate::of(module, one),
        };
        match found {
            Ok(found) => candidates.push(Candidate::Sets(found)),
            Err((at, why)) => decline(false, Site::Instruction(at), &why),
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
                    None => fail_alone(module, &mut candidates, target),
                };
                for one in gone {
                    decline(
                        one.is_region(),
                        Site::Instruction(one.site().instruction()),
                        &why,
                    );
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
            (Candidate::Range(one), Passed::Range(does)) => Host::Range(Box::new(one.fork(does))),
            _ => unreachable!("each has its own kernel"),
        },
    });
    let plan = Plan {
        going: going.collect(),
        images,
        has_cpu,
        on_ranks: asked.on_ranks,
    };
    (plan, stays)
}

/// Those regions of which a device's compiler may be asked, and why the others may not.
fn regions<'a, 'm>(
    module: &'m Module,
    asked: &Asked<'a, 'm>,
    targets: &[&'static GpuTarget],
) -> Vec<(&'a Region<'m>, Result<range::Candidate<'a, 'm>, range::Why>)> {
    let all = asked.regions;
    let target = targets.first().filter(|_| !all.is_empty());
    let Some((target, machine)) = target.and_then(|one| Some((*one, Machine::of(&one.processor)?)))
    else {
        return Vec::new();
    };
    let _nobody_is_told = Silence::begin(module);
    let probe = compile::copy(module, &machine);
    let mut found = Vec::new();
    for (which, one) in all.iter().enumerate() {
        if range::is_done(one) || one.origin == Origin::OklOuter {
            continue;
        }
        let of_it = range::Candidate::of(module, one, asked.on_ranks).and_then(|candidate| {
            range::outline(&probe, &candidate, which, target)?;
            Ok(candidate)
        });
        found.push((one, of_it));
    }
    found
}

/// The first instruction of a line, in a region or what it calls.
fn stands_at<'m>(
    module: &'m Module,
    region: &Region<'m>,
    place: &(String, u32),
) -> Option<Instruction<'m>> {
    let is_there = |one: &Instruction<'m>| crate::diagnostic::place(*one).as_ref() == Some(place);
    let in_body = region.body.instructions().into_iter().find(is_there);
    let functions = module.functions().into_iter();
    let mut others = functions
        .filter(|one| !one.is_declaration())
        .flat_map(|one| one.instructions());
    in_body.or_else(|| others.find(is_there))
}

/// Takes out those that cannot be compiled by themselves; all of them where each of them can.
fn fail_alone<'a, 'm>(
    module: &'m Module,
    candidates: &mut Vec<Candidate<'a, 'm>>,
    target: &'static GpuTarget,
) -> Vec<Candidate<'a, 'm>> {
    let mut gone = Vec::new();
    let mut kept = Vec::new();
    for one in std::mem::take(candidates) {
        let alone = [one];
        let is_built =
            compile::build(module, target, |device| outline(device, &alone, target)).is_ok();
        let [one] = alone;
        match is_built {
            true => kept.push(one),
            false => gone.push(one),
        }
    }
    match gone.is_empty() {
        true => kept,
        false => {
            *candidates = kept;
            gone
        }
    }
}

/// Makes kernels of the candidates in a copy of their module.
fn outline(
    device: &Module,
    candidates: &[Candidate<'_, '_>],
    target: &'static GpuTarget,
) -> Result<Vec<(Kernel, Passed)>, Failed> {
    let (mut blocks, mut sets, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
    for (which, one) in candidates.iter().enumerate() {
        match one {
            Candidate::Blocks(one) => blocks.push((which, &**one)),
            Candidate::Sets(one) => sets.push((which, one)),
            Candidate::Range(one) => ranges.push((which, one)),
        }
    }
    let mut all = Vec::new();
    if !blocks.is_empty() {
        let (numbers, list): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
        let made = blocks::outline_all(device, &list, target);
        let made = made
            .map_err(|failed| failed.counted_so(&numbers))?
            .into_iter();
        let made = made.map(|(kernel, passed)| (kernel, Passed::Blocks(passed)));
        all.extend(numbers.into_iter().zip(made));
    }
    if !ranges.is_empty() {
        let (numbers, list): (Vec<_>, Vec<_>) = ranges.into_iter().unzip();
        let made = range::outline_all(device, &list, target);
        let made = made
            .map_err(|failed| failed.counted_so(&numbers))?
            .into_iter();
        let made = made.map(|(kernel, does)| (kernel, Passed::Range(does)));
        all.extend(numbers.into_iter().zip(made));
    }
    for (which, one) in sets {
        match sets::outline(device, one.one, which, target) {
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
            Self::Range(one) => one.region.origin,
        }
    }

    /// Where it is, for what concerns all of it.
    fn site(&self) -> Call<'m> {
        match self {
            Self::Blocks(one) => one.one.site,
            Self::Sets(one) => one.one.site,
            Self::Range(one) => one.region.site,
        }
    }

    fn is_region(&self) -> bool {
        match self {
            Self::Blocks(_) | Self::Sets(_) => false,
            Self::Range(_) => true,
        }
    }
}

impl<'m> Going<'m> {
    /// The function that the user knows it by.
    fn function(&self) -> Function<'m> {
        match &self.host {
            Host::Blocks(nest) => nest.function,
            Host::Sets(kernel, _) => *kernel,
            Host::Range(fork) => fork.site.instruction().function(),
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
    pub fn code(&self) -> Vec<u8> {
        self.images
            .iter()
            .flat_map(|one| one.code.clone())
            .collect()
    }
}

pub use launch::{Launches, emit, finish};
pub use range::prepare;
