//! The loops of a kernel: how each of them counts, and which is in which.

use std::collections::HashSet;

use super::annotations::{Annotation, Kind, What};
use super::counts::Written;
use crate::analysis::variables::{Does, uses};
use crate::attributes::nobarrier::NOBARRIER;
use crate::ir::{Counter, Counting, Extent};
use crate::llvm::{Block, Comparison, Instruction, IntPredicate, NaturalLoop, Opcode, Value};

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
        let form = Form::of(annotation, kind.name(), all, said)?;
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

/// How a loop counts.
pub struct Form<'m> {
    /// Gives the iterator its first value.
    pub begins: Instruction<'m>,
    /// Gives it the next one.
    pub steps: Instruction<'m>,
    /// Decides whether there is another iteration.
    pub decides: Instruction<'m>,
    /// Where an iteration begins.
    pub body: Block<'m>,
    /// Where control goes in the end.
    pub exit: Block<'m>,
    /// Its first block.
    pub header: Block<'m>,
    /// All of them.
    pub blocks: Vec<Block<'m>>,
    /// Where it ends.
    pub bound: Bound<'m>,
    /// How far it goes.
    pub step: Step<'m>,
    /// The step, where the compiler knows it.
    pub by: Option<i64>,
    /// Iterations, where the compiler knows them, and whether there are so many also if the computation of the ends
    /// overflows, as numbers without a sign may. There are none then.
    pub count: Option<(i64, bool)>,
    /// Bits of the iterator.
    pub width: u32,
}

impl<'m> Form<'m> {
    /// Of the loop that an annotated variable counts, which is called `name` where it is wrong.
    pub fn of(
        annotation: &Annotation<'m>,
        name: &str,
        all: &[NaturalLoop<'m>],
        said: &[Annotation<'m>],
    ) -> Result<Self, WrongLoop<'m>> {
        let site = annotation.site.instruction();
        let wrong = |why: &str| WrongLoop::from((site, format!("this {name} loop {why}")));
        let variable = annotation.variable;
        let of_it = |one: &&Annotation<'m>| one.variable == variable;
        let is_loop = |one: &&Annotation<'m>| matches!(one.what, What::Loop(..) | What::Tile(_));
        if said.iter().filter(of_it).filter(is_loop).count() > 1 {
            return Err(wrong("is said to be one twice"));
        }
        let ty = variable.allocated_type().and_then(|ty| ty.bits());
        let width = ty.filter(|bits| [8, 16, 32, 64].contains(bits));
        let width = width
            .ok_or_else(|| wrong("counts with something that is no integer of at most 64 bits"))?;
        let stores = stores(variable).ok_or_else(|| {
            wrong("has an iterator whose address is taken: nothing but the loop may change it")
        })?;
        let asks = |one: &&NaturalLoop<'m>| {
            let mut instructions = one.header.instructions().into_iter();
            instructions.any(|one| is_load_of(*one, variable))
        };
        let natural = all.iter().filter(asks).max_by_key(|one| one.blocks.len());
        let form = "is not understood: it has the form `for (int i = START; i < END; i += STEP)`, with `<`, `<=`, `>` or \
                    `>=`, `++`, `--`, `+=` or `-=`";
        let natural = natural.ok_or_else(|| wrong(form))?;
        let (inside, before): (Vec<_>, Vec<_>) = stores
            .into_iter()
            .partition(|one| natural.blocks.contains(&one.block()));
        let begins = match before[..] {
            [one] => one,
            [] => return Err(wrong("has an iterator without a first value")),
            _ => return Err(wrong("has an iterator that is changed elsewhere")),
        };
        let may_follow = |why: &str| WrongLoop {
            may_follow: natural.blocks.clone(),
            ..wrong(why)
        };
        let steps = match inside[..] {
            [one] => one,
            [] => return Err(wrong(form)),
            _ => return Err(may_follow("has an iterator that is changed in its body")),
        };
        let changes = Changes::of(natural, variable);
        let header = natural.header;
        let decides = header.terminator().ok_or_else(|| wrong(form))?;
        let [body, exit] = decides.block().successors()[..] else {
            return Err(wrong(form));
        };
        if !natural.blocks.contains(&body) || natural.blocks.contains(&exit) {
            return Err(wrong(form));
        }
        let bound = Bound::of(decides, variable).ok_or_else(|| wrong(form))?;
        if let Some(why) = changes.of_value(bound.value) {
            return Err(wrong(&format!("has an end that {why}")));
        }
        let step = Step::of(steps, variable).ok_or_else(|| wrong(form))?;
        if let Some(why) = changes.of_value(step.value) {
            return Err(wrong(&format!("has a step that {why}")));
        }
        if !is_step_alone(steps, header) {
            return Err(wrong(form));
        }
        let constant = step.value.as_constant_int();
        let constant = constant.map(|one| if step.is_added { one } else { -one });
        match constant {
            Some(0) => return Err(wrong("has a step of 0")),
            Some(by) if (by > 0) != bound.is_above => {
                return Err(wrong("steps away from its end"));
            }
            None if step.is_added != bound.is_above => {
                return Err(wrong("may step away from its end"));
            }
            _ => {}
        }
        if leaves(natural, exit) {
            return Err(may_follow(
                "is left by a `break`, `return` or `goto`: all of its iterations have to run; `continue` ends one of \
                 them",
            ));
        }
        // How often a part of the iterator is below the end, nobody counts.
        let counted = constant.filter(|_| bound.is_whole(width));
        let numbers = counted.and_then(|by| {
            let begin = number(begins.operand(0), bound.counts_signed)?;
            Some((begin, number(bound.value, bound.signed)?, i128::from(by)))
        });
        let known = numbers.map(|(begin, end, by)| count(end - begin, by, bound.is_last));
        if let Some(((begin, _, by), count)) = numbers.zip(known) {
            let end = begin + i128::from(count) * by;
            let least = -i128::from(bound.counts_signed) << (width - 1);
            if !(least..least + (1 << width)).contains(&end) {
                return Err(wrong(
                    "does not come to its end: its iterator is too small for that",
                ));
            }
        }
        let count = match (known, counted) {
            (Some(count), _) => Some((count, true)),
            (None, Some(by)) => {
                let written = Written {
                    begins,
                    blocks: &natural.blocks,
                };
                written.count(&bound, by, width)
            }
            (None, None) => None,
        };
        Ok(Self {
            begins,
            steps,
            decides,
            body,
            exit,
            header,
            blocks: natural.blocks.clone(),
            bound,
            step,
            by: constant,
            count,
            width,
        })
    }

    /// Whether a block is in it.
    pub fn has(&self, block: Block<'m>) -> bool {
        self.blocks.contains(&block)
    }
}

/// Whether a value is all of a variable.
fn is_load_of<'m>(value: Value<'m>, variable: Instruction<'m>) -> bool {
    let load = value.as_op(Opcode::LLVMLoad);
    let is_whole = Some(value.ty()) == variable.allocated_type();
    load.is_some_and(|load| load.operand(0) == *variable && is_whole)
}

/// The stores into a variable, where nothing else changes it, whoever else reads it.
fn stores<'m>(variable: Instruction<'m>) -> Option<Vec<Instruction<'m>>> {
    let uses = uses(variable).into_iter();
    let changes = uses.filter(|(_, does)| *does != Does::Read);
    let is_store =
        |one: Instruction<'m>| one.opcode() == Opcode::LLVMStore && one.operand(1) == *variable;
    changes
        .map(|(one, does)| (does == Does::Write && is_store(one)).then_some(one))
        .collect()
}

/// A value without what only makes it wider or narrower.
fn without_casts(value: Value<'_>) -> Value<'_> {
    let mut value = value;
    while let Some(cast) = value.as_instruction()
        && matches!(
            cast.opcode(),
            Opcode::LLVMSExt | Opcode::LLVMZExt | Opcode::LLVMTrunc
        )
    {
        value = cast.operand(0);
    }
    value
}

/// Where a loop ends.
pub struct Bound<'m> {
    /// The number.
    pub value: Value<'m>,
    /// The iterator, as it is compared.
    pub iterator: Value<'m>,
    /// Whether the loop counts up to it.
    pub is_above: bool,
    /// Whether there is an iteration of this number.
    pub is_last: bool,
    /// Whether it is compared as a number with a sign.
    pub signed: bool,
    /// Whether the iterator has one.
    pub counts_signed: bool,
}

impl<'m> Bound<'m> {
    fn of(decides: Instruction<'m>, variable: Instruction<'m>) -> Option<Self> {
        use IntPredicate::*;
        let asks = decides.branch_condition()?.as_op(Opcode::LLVMICmp)?;
        let Comparison::Integer(predicate) = asks.comparison()? else {
            return None;
        };
        let (is_above, is_last, signed) = match predicate {
            LLVMIntSLT => (true, false, true),
            LLVMIntSLE => (true, true, true),
            LLVMIntULT => (true, false, false),
            LLVMIntULE => (true, true, false),
            LLVMIntSGT => (false, false, true),
            LLVMIntSGE => (false, true, true),
            LLVMIntUGT => (false, false, false),
            LLVMIntUGE => (false, true, false),
            LLVMIntEQ | LLVMIntNE => return None,
        };
        let [first, second] = [asks.operand(0), asks.operand(1)];
        let is_it = |value| is_load_of(without_casts(value), variable);
        let (value, is_above) = match (is_it(first), is_it(second)) {
            (true, false) => (second, is_above),
            (false, true) => (first, !is_above),
            _ => return None,
        };
        // A narrow one is made wider first, as its type has it.
        let iterator = if value == first { second } else { first };
        let counts_signed = match iterator.as_instruction().map(Instruction::opcode) {
            Some(Opcode::LLVMZExt) => false,
            Some(Opcode::LLVMSExt) => true,
            _ => signed,
        };
        Some(Self {
            value,
            iterator,
            is_above,
            is_last,
            signed,
            counts_signed,
        })
    }

    /// Whether all of an iterator with so many bits is compared.
    fn is_whole(&self, width: u32) -> bool {
        let mut value = self.iterator;
        while let Some(cast) = value.as_instruction()
            && cast.is_cast()
            && value.ty().bits() > Some(width)
        {
            value = cast.operand(0);
        }
        value.as_op(Opcode::LLVMLoad).is_some()
    }
}

/// What a loop adds to its iterator, or takes from it.
pub struct Step<'m> {
    /// The number.
    pub value: Value<'m>,
    /// Whether it is added.
    pub is_added: bool,
}

impl<'m> Step<'m> {
    fn of(store: Instruction<'m>, variable: Instruction<'m>) -> Option<Self> {
        let sum = without_casts(store.operand(0)).as_instruction()?;
        let is_added = match sum.opcode() {
            Opcode::LLVMAdd => true,
            Opcode::LLVMSub => false,
            _ => return None,
        };
        let [first, second] = [sum.operand(0), sum.operand(1)];
        let is_it = |value| is_load_of(without_casts(value), variable);
        let value = match (is_it(first), is_it(second)) {
            (true, false) => second,
            (false, true) if is_added => first,
            _ => return None,
        };
        Some(Self { value, is_added })
    }
}

/// What a loop may change.
struct Changes<'m> {
    variable: Instruction<'m>,
    blocks: HashSet<Block<'m>>,
}

impl<'m> Changes<'m> {
    fn of(natural: &NaturalLoop<'m>, variable: Instruction<'m>) -> Self {
        let blocks = natural.blocks.iter().copied().collect();
        Self { variable, blocks }
    }

    /// Why a value that is computed in the loop need not be the same in all iterations.
    fn of_value(&self, value: Value<'m>) -> Option<String> {
        let mut rest = vec![value];
        let mut seen = HashSet::new();
        while let Some(value) = rest.pop() {
            let Some(one) = value.as_instruction() else {
                continue;
            };
            if !self.blocks.contains(&one.block()) || !seen.insert(one) {
                continue;
            }
            if is_load_of(value, self.variable) {
                return Some("depends on its iterator".to_string());
            }
            if let Some(address) = one.address() {
                let stored = |user: Value<'m>| {
                    user.as_op(Opcode::LLVMStore).is_some_and(|store| {
                        store.operand(1) == address && self.blocks.contains(&store.block())
                    })
                };
                let is_variable = address.as_op(Opcode::LLVMAlloca).is_some();
                if is_variable && address.users().into_iter().any(stored) {
                    return Some("changes while it runs".to_string());
                }
            }
            rest.extend(one.operands());
        }
        None
    }
}

/// Whether the block of a step does nothing else, and is the only one that goes back to the header.
fn is_step_alone<'m>(steps: Instruction<'m>, header: Block<'m>) -> bool {
    let block = steps.block();
    let is_simple = |one: Instruction<'m>| {
        let is_kept = matches!(
            one.opcode(),
            Opcode::LLVMLoad | Opcode::LLVMBr | Opcode::LLVMGetElementPtr
        );
        one == steps || is_kept || one.only_computes()
    };
    let mut before = header.predecessors();
    before.retain(|one| *one != steps.block());
    block.successors() == [header]
        && block.instructions().into_iter().all(is_simple)
        && before.len() == 1
}

/// Whether a loop ends in another way than by its count, with the program going on.
fn leaves<'m>(natural: &NaturalLoop<'m>, exit: Block<'m>) -> bool {
    let members: HashSet<_> = natural.blocks.iter().copied().collect();
    let mut rest = Vec::new();
    for &block in &natural.blocks {
        let next = block.successors().into_iter();
        let next = next.filter(|next| !members.contains(next));
        rest.extend(next.filter(|next| block != natural.header || *next != exit));
    }
    let mut seen: HashSet<_> = rest.iter().copied().collect();
    while let Some(block) = rest.pop() {
        let end = block.terminator();
        if end.is_some_and(|end| end.opcode() == Opcode::LLVMRet) {
            return true;
        }
        rest.extend(
            block
                .successors()
                .into_iter()
                .filter(|next| seen.insert(*next)),
        );
    }
    false
}

/// A constant, as a number with or without a sign.
pub fn number(value: Value<'_>, signed: bool) -> Option<i128> {
    let number = i128::from(value.as_constant_int()?);
    let bits = value.ty().bits()?;
    Some(match signed || number >= 0 {
        true => number,
        false => number + (1_i128 << bits),
    })
}

/// Iterations of a loop that has so far to go, and its last number among them or not.
pub fn count(distance: i128, by: i128, is_last: bool) -> i64 {
    let (distance, by) = if by > 0 {
        (distance, by)
    } else {
        (-distance, -by)
    };
    let distance = distance + i128::from(is_last);
    let count = (distance + by - 1).div_euclid(by).max(0);
    i64::try_from(count).unwrap_or(i64::MAX)
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
