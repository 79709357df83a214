//! The loops of a kernel: how each of them counts, and which is in which.

use super::annotations::{Annotation, Kind, What};
use crate::attributes::nobarrier::NOBARRIER;
use crate::ir::{Counter, Counting, Extent};
use crate::llvm::{Block, Instruction, NaturalLoop};
use crate::recognise::counted::{FORM, Form, Iterator, is_load_of};

/// A loop with `@outer` or `@inner`.
pub struct Loop<'m> {
    /// What it is.
    pub kind: Kind,
    /// The direction that is named.
    pub axis: Option<i64>,
    /// What says so.
    pub site: Instruction<'m>,
    /// The iteration variable.
    pub variable: Instruction<'m>,
    /// How it counts; the direction is the one that it has in the end.
    pub counter: Counter<'m>,
    /// Its first block.
    pub header: Block<'m>,
    /// Iterations, where the compiler knows it.
    pub count: Option<i64>,
    /// Bits of the iteration variable.
    pub width: u32,
    /// Whether it has a sign.
    pub signed: bool,
    /// Whether nobody waits at its end.
    pub no_barrier: bool,
    /// The loop of them that it is in.
    pub parent: Option<usize>,
    /// Whether a loop of another kind stands between it and that one.
    pub is_apart: bool,
}

/// What is wrong, and where.
pub type Wrong<'m> = (Instruction<'m>, String);

/// A loop that is wrong.
pub struct WrongLoop<'m> {
    /// What is, and where.
    pub wrong: Wrong<'m>,
    /// Its blocks, where what is wrong may only come of a loop in it that is.
    pub may_follow: Vec<Block<'m>>,
}

impl<'m> From<Wrong<'m>> for WrongLoop<'m> {
    fn from(wrong: Wrong<'m>) -> Self {
        Self {
            wrong,
            may_follow: Vec::new(),
        }
    }
}

/// What is wrong with loops, without what comes of other things that are: a `return` leaves all the loops around it.
pub fn causes(all: Vec<WrongLoop<'_>>) -> Vec<Wrong<'_>> {
    let follows = |one: &WrongLoop<'_>| {
        let has = |other: &WrongLoop<'_>| one.may_follow.contains(&other.wrong.0.block());
        all.iter()
            .any(|other| other.wrong.0 != one.wrong.0 && has(other))
    };
    let kept: Vec<_> = all.iter().map(|one| !follows(one)).collect();
    let kept = all.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept);
    kept.map(|(one, _)| one.wrong).collect()
}

impl<'m> Loop<'m> {
    /// The loop that an annotated variable counts. `all` are those of the function, `said` what is said of its variables.
    pub fn of(
        annotation: &Annotation<'m>,
        kind: Kind,
        axis: Option<i64>,
        all: &[NaturalLoop<'m>],
        said: &[Annotation<'m>],
    ) -> Result<Self, WrongLoop<'m>> {
        let site = annotation.site.instruction();
        check_axis(kind, axis).map_err(|told| (site, told))?;
        let form = form(annotation, kind.name(), all, said)?;
        let variable = annotation.variable;
        let of_it = |one: &&Annotation<'m>| one.variable == variable;
        let says = |what: fn(&What) -> bool| said.iter().filter(of_it).any(|one| what(&one.what));
        // Of work items, it is enough to know that there are no more.
        let count = form
            .count
            .filter(|(_, is_sure)| *is_sure || kind == Kind::Inner);
        Ok(Self {
            kind,
            axis,
            site,
            variable,
            counter: Counter {
                axis: 0,
                begins: form.begins,
                steps: form.steps,
                decides: form.decides,
                body: form.body,
                exit: form.exit,
                blocks: form.blocks,
                counting: Counting {
                    compared: form.bound.iterator,
                    end: form.bound.value,
                    is_up: form.bound.is_above,
                    is_last: form.bound.is_last,
                    signed: form.bound.signed,
                    step: form.step.value,
                },
            },
            header: form.header,
            count: count.map(|(count, _)| count),
            width: form.width,
            signed: form.bound.counts_signed,
            no_barrier: says(|what| what.is(&NOBARRIER)),
            parent: None,
            is_apart: false,
        })
    }

    /// The extent that it counts through.
    pub fn extent(&self, axis: usize, most: Option<i64>) -> Extent<'m> {
        let ty = self.variable.allocated_type();
        let last = self
            .count
            .zip(ty)
            .map(|(count, ty)| ty.integer_constant(count - 1));
        Extent {
            last,
            most: most.filter(|_| last.is_none()).map(|most| most - 1),
            width: self.width,
            signed: self.signed,
            counter: Some(Counter {
                axis,
                ..self.counter.clone()
            }),
        }
    }

    /// Whether a block is in it.
    pub fn has(&self, block: Block<'m>) -> bool {
        self.counter.blocks.contains(&block)
    }
}

/// What is wrong with the direction of the grid that a loop of a kind is said to have.
pub fn check_axis(kind: Kind, axis: Option<i64>) -> Result<(), String> {
    match axis.is_some_and(|axis| !(0..=2).contains(&axis)) {
        true => Err(format!("the axis of {} is 0, 1 or 2", kind.name())),
        false => Ok(()),
    }
}

/// The loop of an annotated variable, which is called `name` where it is wrong, as it counts.
pub fn form<'m>(
    annotation: &Annotation<'m>,
    name: &str,
    all: &[NaturalLoop<'m>],
    said: &[Annotation<'m>],
) -> Result<Form<'m>, WrongLoop<'m>> {
    let site = annotation.site.instruction();
    let wrong = |why: &str| WrongLoop::from((site, format!("this {name} loop {why}")));
    let variable = annotation.variable;
    let of_it = |one: &&Annotation<'m>| one.variable == variable;
    let is_loop = |one: &&Annotation<'m>| matches!(one.what, What::Loop(..) | What::Tile(_));
    if said.iter().filter(of_it).filter(is_loop).count() > 1 {
        return Err(wrong("is said to be one twice"));
    }
    let iterator = Iterator::of(variable).map_err(|why| wrong(&why.text))?;
    let asks = |one: &&NaturalLoop<'m>| {
        let mut instructions = one.header.instructions().into_iter();
        instructions.any(|one| is_load_of(*one, variable))
    };
    let natural = all.iter().filter(asks).max_by_key(|one| one.blocks.len());
    let natural = natural.ok_or_else(|| wrong(FORM))?;
    let stores = iterator.stores.iter();
    let before: Vec<_> = stores
        .filter(|one| !natural.blocks.contains(&one.block()))
        .collect();
    let begins = match before[..] {
        [&one] => one,
        [] => return Err(wrong("has an iterator without a first value")),
        _ => return Err(wrong("has an iterator that is changed elsewhere")),
    };
    Form::of(natural, &iterator, begins, false).map_err(|why| WrongLoop {
        may_follow: match why.may_follow {
            true => natural.blocks.clone(),
            false => Vec::new(),
        },
        ..wrong(&why.text)
    })
}

/// What is wrong with an outer loop without work items.
pub const NO_INNER: &str = "this @outer loop has no @inner loop in it";

/// Which loop each of them is in, and what is wrong with that.
pub fn nest<'m>(loops: &mut [Loop<'m>], all: &[NaturalLoop<'m>]) -> Vec<Wrong<'m>> {
    for at in 0..loops.len() {
        let header = loops[at].header;
        let around = loops.iter().enumerate();
        let around = around.filter(|(other, one)| *other != at && one.has(header));
        let parent = around.min_by_key(|(_, one)| one.counter.blocks.len());
        loops[at].parent = parent.map(|(other, _)| other);
    }
    let mut wrong = Vec::new();
    for at in 0..loops.len() {
        let one = &loops[at];
        let above = above(loops, at);
        let of_kind = |kind| {
            above
                .iter()
                .filter(|&&other| loops[other].kind == kind)
                .count()
        };
        let told = match one.kind {
            Kind::Inner if of_kind(Kind::Outer) == 0 => {
                Some("this @inner loop is outside of any @outer loop")
            }
            Kind::Outer if of_kind(Kind::Inner) > 0 => {
                Some("this @outer loop is inside of an @inner loop")
            }
            Kind::Outer if !has_inner(loops, at) => Some(NO_INNER),
            Kind::Inner if is_beside_outer(loops, at) => Some(
                "this @inner loop stands beside an @outer loop, in the same @outer loop: all loops of a level are of one kind",
            ),
            Kind::Outer if of_kind(Kind::Outer) >= 3 => {
                Some("this is the fourth @outer loop, one in the other: there are at most three")
            }
            Kind::Inner if of_kind(Kind::Inner) >= 3 => {
                Some("this is the fourth @inner loop, one in the other: there are at most three")
            }
            _ => None,
        };
        if let Some(told) = told {
            wrong.push((one.site, told.to_string()));
            continue;
        }
        if let Some(parent) = one.parent.filter(|&parent| loops[parent].kind == one.kind) {
            let between = |natural: &&NaturalLoop<'m>| {
                natural.blocks.contains(&one.header)
                    && natural.header != one.header
                    && natural.blocks.len() < loops[parent].counter.blocks.len()
                    && loops[parent].has(natural.header)
            };
            let is_apart = all.iter().any(|natural| between(&natural));
            // Blocks are run where they stand, in whatever loop.
            if is_apart && one.kind == Kind::Inner {
                let told =
                    "there is another loop between this @inner loop and the @inner loop around it";
                wrong.push((one.site, told.to_string()));
            }
            loops[at].is_apart = is_apart;
        }
    }
    wrong
}

/// The loops around one, the innermost first.
pub fn above(loops: &[Loop<'_>], at: usize) -> Vec<usize> {
    let parents = std::iter::successors(loops[at].parent, |&one| loops[one].parent);
    parents.collect()
}

fn is_beside_outer(loops: &[Loop<'_>], at: usize) -> bool {
    let parent = loops[at].parent;
    let mut all = loops.iter();
    all.any(|one| one.kind == Kind::Outer && one.parent == parent)
}

fn has_inner(loops: &[Loop<'_>], at: usize) -> bool {
    let inside = (0..loops.len()).filter(|&other| above(loops, other).contains(&at));
    inside
        .into_iter()
        .any(|other| loops[other].kind == Kind::Inner)
}

/// The direction of the grid of each loop: as is said, or how many of its kind are one in the other inside of it.
pub fn axes<'m>(loops: &[Loop<'m>]) -> Result<Vec<usize>, Wrong<'m>> {
    let mut axes = Vec::new();
    for (at, one) in loops.iter().enumerate() {
        let inside = (0..loops.len()).filter(|&other| loops[other].kind == one.kind);
        let depth = |other: usize| {
            let above = above(loops, other);
            let until = above.iter().position(|&one| one == at)?;
            let of_kind = |&&one: &&usize| loops[one].kind == loops[other].kind;
            Some(above[..=until].iter().filter(of_kind).count())
        };
        let automatic = inside.filter_map(depth).max().unwrap_or(0);
        axes.push(one.axis.map_or(automatic, |axis| axis as usize));
    }
    for (at, one) in loops.iter().enumerate() {
        let twin = |&other: &usize| loops[other].kind == one.kind && axes[other] == axes[at];
        if above(loops, at).iter().any(twin) {
            let why = format!(
                "this {0} loop and one around it both have axis {1}",
                one.kind.name(),
                axes[at]
            );
            return Err((one.site, why));
        }
    }
    Ok(axes)
}
