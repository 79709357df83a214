//! Loops on a device: what front ends found becomes kernels, and the host launches these.
//!
//! What can become one is a candidate, of a kind: a loop over blocks of work items ([`blocks`]), or over a set ([`sets`]), or
//! a region whose threads share one loop ([`range`]), as regions that share several have become before ([`several`]). The
//! kernels of all candidates are made in a copy of the module, and compiled, while it is looked at what can be lowered ([`compile`]): what a
//! device has no code for is seen there, and then the module stays as it is. What is left to emit are the code, as data, and
//! the launches ([`launch`]). What a device cannot do is looked for before, so that the user is told of its line ([`reach`]),
//! and because of some of it LLVM would end the compiler.
//!
//! Kinds of devices differ in data: [`target`].

pub mod again;
mod arrays;
mod asked;
mod blocks;
mod clocks;
mod compile;
pub(in crate::lower) mod flow;
mod halo;
mod launch;
mod library;
mod link;
mod math;
mod mended;
mod print;
pub(in crate::lower) mod range;
mod reach;
mod sets;
mod several;
mod shape;
pub mod target;

use crate::diagnostic::{Declined, Site};
use crate::ir::{Origin, ParallelLoop, Region, Space};
use crate::llvm::{self, Call, Function, Instruction, Machine, Module, Silence};

use compile::Failed;
use launch::Kernel;
use target::GpuTarget;

/// What goes to devices.
#[derive(Default)]
pub struct Plan<'m> {
    going: Vec<Going<'m>>,
    /// Which of the images have what moves elements of other ranks.
    halo: Vec<usize>,
    images: Vec<Image>,
    has_cpu: bool,
    on_ranks: bool,
}

/// A loop that goes to a device.
struct Going<'m> {
    origin: Origin,
    site: Call<'m>,
    kernel: Kernel,
    /// Which of the images have it.
    images: Vec<usize>,
    host: Host<'m>,
}

/// What the host has of it, which depends on what it is.
enum Host<'m> {
    Blocks(Box<blocks::Nest<'m>>),
    /// The run time launches it, of which it is told.
    Sets(Function<'m>, sets::Told),
    Range(Box<range::Fork<'m>>),
}

/// Code for a kind of device.
struct Image {
    target: &'static GpuTarget,
    code: Vec<u8>,
    /// The kernels that are left to be compiled once more.
    left: Vec<again::Left>,
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
    Sets(sets::Told),
    Range(range::Hosted),
    /// What else the run time launches of loops over sets: what moves elements, and kernels that are like another one.
    Other,
}

impl Passed {
    /// Whether the host passes the same for another kind of device. What kernels of blocks and of regions use, their code
    /// decides, and that of atomic updates is not the same on all.
    fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Blocks(one), Self::Blocks(other)) => one == other,
            (Self::Range(one), Self::Range(other)) => one == other,
            _ => true,
        }
    }
}

/// What may go to devices.
pub struct Asked<'a, 'm> {
    /// Loops outside regions.
    pub loops: &'a [ParallelLoop<'m>],
    /// Regions.
    pub regions: &'a [Region<'m>],
    /// Whether ranks share them, or the loops.
    pub on_ranks: bool,
    /// Why some of them could not be prepared.
    pub whys: &'a several::Whys,
}

/// What cannot go there.
#[derive(Default)]
pub struct Stays<'m> {
    /// Loops outside regions.
    pub loops: Vec<Declined<'m>>,
    /// Regions, which their threads run.
    pub regions: Vec<Declined<'m>>,
    /// What goes to some kinds of devices, and not to others.
    pub partly: Vec<Declined<'m>>,
}

/// What is known of a candidate.
#[derive(Default)]
struct Known<'m> {
    /// Its kernel, and what is passed to it.
    made: Option<(Kernel, Passed)>,
    /// Which of the images have it.
    images: Vec<usize>,
    /// Which devices cannot run it, where, and why.
    lacks: Vec<(&'static GpuTarget, Instruction<'m>, String)>,
}

/// Gives variables names that have none: by these kernels' copies are told from one another. True where the module was changed.
pub fn give_names(module: &Module) -> bool {
    let all = module.globals().into_iter();
    let unnamed: Vec<_> = all.filter(|one| one.name().is_empty()).collect();
    for one in &unnamed {
        one.set_name("unnamed");
    }
    !unnamed.is_empty()
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
        let of = |target: &&'static GpuTarget| {
            let found = blocks::Candidate::of(module, number, one, &[*target], asked.on_ranks);
            found.map_err(|(at, why)| (*target, at, why))
        };
        let (mut found, mut lacks) = (None, Vec::new());
        for of_one in targets.iter().map(of) {
            match of_one {
                Ok(one) => found = found.or(Some(one)),
                Err(wrong) => lacks.push(wrong),
            }
        }
        match (found, lacks.first()) {
            (Some(found), _) => {
                let known = Known {
                    lacks,
                    ..Known::default()
                };
                candidates.push((Candidate::Blocks(Box::new(found)), known));
            }
            (None, Some((_, at, why))) => decline(false, Site::Instruction(*at), why),
            (None, None) => {}
        }
    }
    for (one, found) in regions(module, &asked, targets) {
        match found {
            Ok(found) => candidates.push((Candidate::Range(found), Known::default())),
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
        match sets::Candidate::of(module, one) {
            Ok(found) => candidates.push((Candidate::Sets(found), Known::default())),
            Err((at, why)) => decline(false, Site::Instruction(at), &why),
        }
    }
    let (candidates, mut known): (Vec<_>, Vec<_>) = candidates.into_iter().unzip();
    let mut images = Vec::new();
    for target in targets {
        images.extend(image(module, &candidates, &mut known, target, images.len()));
    }
    let mut going = Vec::new();
    for (candidate, known) in candidates.into_iter().zip(known) {
        let is_region = candidate.is_region();
        let Some((kernel, passed)) = known.made else {
            if let Some((_, at, why)) = known.lacks.first() {
                decline(is_region, Site::Instruction(*at), why);
            }
            continue;
        };
        for (target, at, why) in known.lacks {
            let instead = match (is_region, has_cpu) {
                (true, _) => ", so threads run it there",
                (_, true) => ", so the processor runs it there",
                _ => "",
            };
            stays.partly.push(Declined {
                site: Site::Instruction(at),
                reason: format!("this cannot run on {}{instead}: {why}", target.described()),
            });
        }
        going.push(Going {
            origin: candidate.origin(),
            site: candidate.site(),
            kernel,
            images: known.images,
            host: match (candidate, passed) {
                (Candidate::Blocks(one), Passed::Blocks(passed)) => {
                    Host::Blocks(Box::new(one.nest(passed)))
                }
                (Candidate::Sets(one), Passed::Sets(told)) => {
                    Host::Sets(one.one.kernel().expect("it was looked at"), told)
                }
                (Candidate::Range(one), Passed::Range(does)) => {
                    Host::Range(Box::new(one.fork(does)))
                }
                _ => unreachable!("each has its own kernel"),
            },
        });
    }
    let mut halo = Vec::new();
    for one in &going {
        if let Host::Sets(..) = one.host {
            halo.extend(&one.images);
        }
    }
    halo.sort_unstable();
    halo.dedup();
    let plan = Plan {
        going,
        halo,
        images,
        has_cpu,
        on_ranks: asked.on_ranks,
    };
    (plan, stays)
}

/// The code for a device of all candidates that it can run, which is the image of a number; there is none where it can run
/// none of them.
fn image<'m>(
    module: &'m Module,
    candidates: &[Candidate<'_, 'm>],
    known: &mut [Known<'m>],
    target: &'static GpuTarget,
    number: usize,
) -> Option<Image> {
    let mut rest: Vec<usize> = (0..candidates.len()).collect();
    loop {
        rest.retain(|&at| known[at].lacks.iter().all(|(lacks, ..)| *lacks != target));
        if rest.is_empty() {
            return None;
        }
        match compile::build(module, target, llvm::jit_option(), |device| {
            outline(device, candidates, &rest, target)
        }) {
            Ok((code, built, left)) => {
                let mut has_all = true;
                for (&at, (kernel, passed)) in rest.iter().zip(built) {
                    let Some((first, first_passed)) = &mut known[at].made else {
                        known[at].made = Some((kernel, passed));
                        continue;
                    };
                    // The host does the same for all of them.
                    if !first.joins(&kernel) || !first_passed.agrees(&passed) {
                        let site = candidates[at].site().instruction();
                        let why = "its kernel gets other values than elsewhere".to_string();
                        known[at].lacks.push((target, site, why));
                        has_all = false;
                    }
                }
                if has_all {
                    for at in rest {
                        known[at].images.push(number);
                    }
                    return Some(Image { target, code, left });
                }
            }
            Err(Failed { which, why }) => {
                let gone = match which.filter(|which| *which < rest.len()) {
                    Some(which) => vec![(rest[which], why)],
                    None => fail_alone(module, candidates, &rest, target, &why),
                };
                for (at, why) in gone {
                    let site = candidates[at].site().instruction();
                    known[at].lacks.push((target, site, why));
                }
            }
        }
    }
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
        let name = one.body.name();
        let known = asked.whys.iter().find(|(body, _)| *body == name);
        let of_it = range::Candidate::of(module, one, asked.on_ranks).and_then(|candidate| {
            range::outline(&probe, &candidate, which, target)?;
            Ok(candidate)
        });
        // What is not several may still be one; where it is not, it is known already why.
        let of_it = of_it.map_err(|why| known.map_or(why, |(_, known)| known.clone()));
        found.push((one, of_it));
    }
    found
}

/// The first instruction of a line, in a region or what it calls.
pub(in crate::lower) fn stands_at<'m>(
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

/// Those that cannot be compiled by themselves, and why; all of them where each of them can.
fn fail_alone(
    module: &Module,
    candidates: &[Candidate<'_, '_>],
    which: &[usize],
    target: &'static GpuTarget,
    why: &str,
) -> Vec<(usize, String)> {
    let fails = |&at: &usize| {
        let built = compile::build(module, target, false, |device| {
            outline(device, candidates, &[at], target)
        });
        Some((at, built.err()?.why))
    };
    let gone: Vec<_> = which.iter().filter_map(fails).collect();
    match gone.is_empty() {
        true => which.iter().map(|at| (*at, why.to_string())).collect(),
        false => gone,
    }
}

/// Makes kernels of these candidates in a copy of their module, and behind them what loops over sets need. For all kinds of
/// devices their names are the same.
fn outline(
    device: &Module,
    candidates: &[Candidate<'_, '_>],
    which: &[usize],
    target: &'static GpuTarget,
) -> Result<Vec<(Kernel, Passed)>, Failed> {
    let (mut blocks, mut sets, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
    for (position, &at) in which.iter().enumerate() {
        match &candidates[at] {
            Candidate::Blocks(one) => blocks.push((position, &**one)),
            Candidate::Sets(one) => sets.push((position, at, one)),
            Candidate::Range(one) => {
                let before = candidates[..at].iter();
                let number = before.filter(|one| one.is_region()).count();
                ranges.push((position, (number, one)));
            }
        }
    }
    let mut all = Vec::new();
    if !blocks.is_empty() {
        let (positions, list): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
        let made = blocks::outline_all(device, &list, target);
        let made = made
            .map_err(|failed| failed.counted_so(&positions))?
            .into_iter();
        let made = made.map(|(kernel, passed)| (kernel, Passed::Blocks(passed)));
        all.extend(positions.into_iter().zip(made));
    }
    if !ranges.is_empty() {
        let (positions, list): (Vec<_>, Vec<_>) = ranges.into_iter().unzip();
        let made = range::outline_all(device, &list, target);
        let made = made
            .map_err(|failed| failed.counted_so(&positions))?
            .into_iter();
        let made = made.map(|(kernel, does)| (kernel, Passed::Range(does)));
        all.extend(positions.into_iter().zip(made));
    }
    let has_sets = !sets.is_empty();
    let mut others = Vec::new();
    for (position, number, one) in sets {
        match sets::outline(device, one.one, number, target) {
            Ok((kernels, told)) => {
                let mut kernels = kernels.into_iter();
                let first = kernels.next().expect("there is one");
                all.push((position, (first, Passed::Sets(told))));
                others.extend(kernels);
            }
            Err(why) => return compile::failed(Some(position), &why),
        }
    }
    all.sort_by_key(|(position, _)| *position);
    if has_sets {
        others.push(halo::outline(device, target));
    }
    let others = others.into_iter();
    all.extend(others.map(|kernel| (which.len(), (kernel, Passed::Other))));
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

pub use arrays::give_pages;
pub use clocks::wait_for_kernels;
pub use launch::{Launches, emit, finish};
pub use range::prepare as prepare_shares;
pub use several::{Whys, prepare};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::OwnModule;

    #[test]
    fn no_variable_is_without_a_name() {
        let module = OwnModule::parse(
            "@0 = internal global i32 0
            @unnamed = global i32 0
            @1 = private global i32 0",
        );
        assert!(give_names(&module));
        let mut names: Vec<_> = module.globals().iter().map(|one| one.name()).collect();
        names.sort();
        names.dedup();
        assert!(names.len() == 3 && names.iter().all(|name| !name.is_empty()));
        assert!(!give_names(&module));
    }
}
