//! What every recogniser produces and every lowering consumes: regions and parallel loops.
//!
//! A [`Region`] is run by a team. Its [`Step`]s are what the team's synchronisations separate, and a step's
//! [`Part`]s say who runs what: the team shares a loop, one thread runs code, or each thread does. A
//! [`ParallelLoop`] is an iteration space and a body that may run for its elements in any order; it is a part of a
//! region, or stands in serial code. What a lowering needs to know must be here: none asks which construct something
//! was written as.

mod chain;
mod description;
mod front;
#[cfg(test)]
mod tests;
mod text;

use std::collections::{HashMap, HashSet};

use crate::diagnostic::Site;
use crate::llvm::{Block, Call, Function, Instruction, Value};

pub use chain::{Border, Chain, Holds, Nest, Strip};
pub use description::{
    Access, Along, Base, Columns, Description, Element, Elements, Form, Mode, Number, Object,
    Operation, Place, Reduction, Scalar, Unknown, depends_on,
};
pub use front::{Address, Amount, Asked, Asks, Bytes, Front, Run, Start};

/// Code that the threads of a team run.
pub struct Region<'m> {
    /// The construct it was written as, for messages.
    pub origin: Origin,
    /// The call that begins it.
    pub site: Call<'m>,
    /// What each thread runs: a function of the numbers of the thread, behind pointers, and of the captures.
    pub body: Function<'m>,
    /// What the threads are.
    pub team: Team,
    /// Where this integer is zero, the team has one thread.
    pub condition: Option<Value<'m>>,
    /// What the body's other parameters get.
    pub captures: Vec<Capture<'m>>,
    /// Variables of which each block of work items, or each work item, has one.
    pub locals: Vec<Local<'m>>,
    /// What nothing separates, in the order in which it is first reached.
    pub steps: Vec<Step<'m>>,
    /// How control goes from step to step.
    pub edges: Vec<Edge>,
}

/// What runs a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Team {
    /// The threads of a team.
    Threads,
    /// The teams of a league, each with one thread at first.
    League,
    /// The work items of one block. Each of them runs the body of a loop that they share once.
    Items,
}

/// A variable of a region of work items.
#[derive(Clone, Copy)]
pub struct Local<'m> {
    /// The stack variable that stands for all of them.
    pub variable: Instruction<'m>,
    /// Whose it is.
    pub kind: LocalKind,
    /// The call that says so.
    pub site: Call<'m>,
}

/// Whose a variable of a region of work items is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    /// All work items of a block have one.
    Shared,
    /// Each work item has its own.
    Exclusive,
}

/// A value that a region gets when it begins.
#[derive(Clone, Copy)]
pub struct Capture<'m> {
    /// What is passed.
    pub value: Value<'m>,
    /// Whether it is the address of a variable, which the threads then share.
    pub by_reference: bool,
}

/// What the threads of a team run between two points at which all of them meet.
#[derive(Default)]
pub struct Step<'m> {
    /// What is run, by whom. Nothing separates the parts.
    pub parts: Vec<Part<'m>>,
    /// The functions that they call, whole.
    pub called: HashSet<Function<'m>>,
    /// What may do more than its parts say, and why: the end of a sentence that begins with "it".
    pub unknown: Option<(Instruction<'m>, String)>,
}

/// A part of a step.
pub enum Part<'m> {
    /// The threads share the iterations of a loop.
    Share(ParallelLoop<'m>),
    /// One of them runs it.
    One(Who, Code<'m>),
    /// Each of them runs it.
    Each(Code<'m>),
}

/// Which thread runs what one thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Any of them.
    Single,
    /// The one with number 0.
    Master,
    /// Those with a number that is computed.
    Masked,
}

/// Instructions of a region's body and of functions that it calls.
#[derive(Clone, Default)]
pub struct Code<'m> {
    /// Those between two places of a block.
    pub spans: Vec<Span<'m>>,
    /// What a thread that runs them does in memory, where that has been looked at. Of the body of a loop the loop says it.
    pub description: Option<Description<'m>>,
}

/// Consecutive instructions of a block: the numbers of the first one, and of the one behind the last one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Span<'m> {
    /// The block.
    pub block: Block<'m>,
    /// Its first instruction here.
    pub from: usize,
    /// The first one that is not.
    pub to: usize,
}

/// A way from one step to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The step that ends; the region begins where there is none.
    pub from: Option<usize>,
    /// What all threads of the team meet at.
    pub sync: Sync,
    /// The step that begins; the region ends where there is none.
    pub to: Option<usize>,
}

/// What all threads of a team meet at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// The beginning of the region.
    Fork,
    /// A barrier.
    Barrier,
    /// The end of the region.
    Join,
}

/// A loop whose iterations may run in any order, and several at once.
pub struct ParallelLoop<'m> {
    /// The construct it was written as, for messages.
    pub origin: Origin,
    /// The call that runs it, or that asks for a thread's share of it.
    pub site: Call<'m>,
    /// What it iterates over.
    pub space: Space<'m>,
    /// What runs for each of them.
    pub body: Body<'m>,
    /// What the body gets, where it is a function.
    pub arguments: Vec<Argument<'m>>,
    /// How its iterations are divided.
    pub schedule: Schedule,
    /// Iterations of a chunk, where the schedule has chunks of a given length.
    pub chunk: Option<Value<'m>>,
    /// Whether its iterations have an ordered part, where that is known.
    pub ordered: Option<bool>,
    /// What it does in memory, as far as it has been looked at.
    pub description: Description<'m>,
}

/// The construct something was written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `#pragma omp parallel`.
    OpenMpParallel,
    /// `#pragma omp teams`.
    OpenMpTeams,
    /// `#pragma omp for`, `#pragma omp distribute` and their like.
    OpenMpLoop,
    /// OP2's `op_par_loop`.
    Op2ParLoop,
    /// OKL's nests of loops with `@outer`.
    OklOuter,
    /// OKL's nests of loops with `@inner`.
    OklInner,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::OpenMpParallel,
        Self::OpenMpTeams,
        Self::OpenMpLoop,
        Self::Op2ParLoop,
        Self::OklOuter,
        Self::OklInner,
    ];

    /// The one that is printed so.
    pub fn called(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|one| one.to_string() == name)
    }
}

/// What a loop iterates over.
#[derive(Clone, PartialEq, Eq)]
pub enum Space<'m> {
    /// Numbers from 0, or pairs or triples of them: of up to three loops, the outermost first.
    Range(Vec<Extent<'m>>),
    /// The elements of a set.
    Set {
        /// The set, as the program declared it.
        set: Value<'m>,
        /// What the program calls the loop.
        name: Value<'m>,
    },
}

/// Numbers from 0.
#[derive(Clone, PartialEq, Eq)]
pub struct Extent<'m> {
    /// The last one, where it is known in front of the loop.
    pub last: Option<Value<'m>>,
    /// The number that it is at most, where the programmer says it; which is to be looked at when the program runs.
    pub most: Option<i64>,
    /// Bits of the iteration variable.
    pub width: u32,
    /// Whether the iteration variable is signed.
    pub signed: bool,
    /// The code that counts, where it stands around the body.
    pub counter: Option<Counter<'m>>,
}

/// A loop of the program that counts through an extent.
#[derive(Clone, PartialEq, Eq)]
pub struct Counter<'m> {
    /// The direction in the grid, from 0.
    pub axis: usize,
    /// Gives the iteration variable, which is nowhere written but here and in `steps`, its first value.
    pub begins: Instruction<'m>,
    /// Gives it the next one, in the block that goes back to the header.
    pub steps: Instruction<'m>,
    /// Decides whether there is another iteration, in the header.
    pub decides: Instruction<'m>,
    /// Where an iteration begins.
    pub body: Block<'m>,
    /// Where control goes in the end.
    pub exit: Block<'m>,
    /// All of the loop.
    pub blocks: Vec<Block<'m>>,
    /// From which number to which it counts.
    pub counting: Counting<'m>,
}

/// How a loop of the program compares its iteration variable, and changes it.
#[derive(Clone, PartialEq, Eq)]
pub struct Counting<'m> {
    /// The variable as it is compared.
    pub compared: Value<'m>,
    /// What it is compared with.
    pub end: Value<'m>,
    /// Whether it counts up to it.
    pub is_up: bool,
    /// Whether there is an iteration of that number.
    pub is_last: bool,
    /// Whether it is compared as a number with a sign.
    pub signed: bool,
    /// What is added, or taken away; of a constant the sign says nothing.
    pub step: Value<'m>,
}

/// What a loop runs.
pub enum Body<'m> {
    /// A part of the region that the loop is in.
    Code(Code<'m>),
    /// A function of the arguments.
    Function(Function<'m>),
    /// What a team of its own runs for each iteration: code of the function that the loop is in.
    Region(Box<Region<'m>>),
}

/// How a worksharing loop is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// As the lowering likes.
    Any,
    /// One contiguous part for each thread.
    Static,
    /// Chunks in turn.
    StaticChunked,
    /// One contiguous part for each team of a league.
    Distribute,
    /// Chunks for the teams of a league in turn.
    DistributeChunked,
    /// Chunks on demand.
    Dynamic,
    /// Shrinking chunks on demand.
    Guided,
    /// Chosen when the program runs.
    Runtime,
    /// Chosen by the implementation.
    Auto,
    /// Not known when the program is compiled.
    Unknown,
}

/// One argument of a body.
pub struct Argument<'m> {
    /// What is passed.
    pub value: Value<'m>,
    /// What it stands for.
    pub kind: Kind,
    /// The position of the first argument whose data seem to be the same; its own, where there is none before.
    pub first: usize,
}

/// What an argument of a body stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Data, and how they are stored.
    Data(Storage),
    /// The number of an element, as if each had its own in its data.
    Number,
}

/// How elements of data lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// One after the other.
    ByElement,
    /// One after the other, or the components of all one after the other: known when the program runs. The body can
    /// work on copies of its elements; of those that it increments, on sums that are added later.
    Either {
        /// What the program says.
        by_component: bool,
    },
    /// As before, but the body cannot work on copies.
    Unknown,
}

/// A parameter of a body: what the argument stands for, and what is accessed by it.
#[derive(Clone, Copy)]
pub struct Parameter<'a> {
    /// What it stands for.
    pub kind: Kind,
    /// What every iteration does by it.
    pub access: &'a Access<'a>,
}

impl<'m> Region<'m> {
    /// How many parameters of a body come before the captures.
    pub const LEADING: usize = 2;

    /// The loops that the team shares, in the order of their appearance.
    pub fn loops(&self) -> impl Iterator<Item = &ParallelLoop<'m>> {
        let parts = self.steps.iter().flat_map(|step| &step.parts);
        parts.filter_map(|part| match part {
            Part::Share(one) => Some(one),
            Part::One(..) | Part::Each(_) => None,
        })
    }

    /// The steps, where each follows on the one before it.
    pub fn straight(&self) -> Option<&[Step<'m>]> {
        let follows = |at: usize, edge: &Edge| {
            edge.from == at.checked_sub(1)
                && edge.to == Some(at).filter(|&at| at < self.steps.len())
        };
        let is_straight = self.edges.len() == self.steps.len() + 1
            && self
                .edges
                .iter()
                .enumerate()
                .all(|(at, edge)| follows(at, edge));
        is_straight.then_some(&self.steps)
    }

    /// Whether two instructions may run in one step, in which nothing separates them. Of what is in no step nothing is
    /// known.
    pub fn may_share_a_step(&self, one: Instruction<'m>, other: Instruction<'m>) -> bool {
        let (one, other) = (self.steps_of(one), self.steps_of(other));
        one.is_empty() || other.is_empty() || one.iter().any(|step| other.contains(step))
    }

    /// The steps in which an instruction may run.
    fn steps_of(&self, at: Instruction<'m>) -> Vec<usize> {
        let function = at.function();
        let may_run = |step: &Step<'m>| {
            let is_unknown = step.unknown.is_some() && function != self.body;
            let mut parts = step.parts.iter();
            is_unknown || step.called.contains(&function) || parts.any(|part| part.has(at))
        };
        let steps = self.steps.iter().enumerate();
        steps
            .filter(|(_, step)| may_run(step))
            .map(|(number, _)| number)
            .collect()
    }

    /// Checks what every lowering relies on.
    pub fn verify(&self) -> Result<(), String> {
        if self.body.is_declaration() {
            return Err("the body is not defined in this module".to_string());
        }
        let (parameters, captures) = (self.body.parameters().len(), self.captures.len());
        let is_inside = self.team == Team::Items;
        if is_inside && captures > 0 {
            return Err("captures of code that is no function".to_string());
        }
        if !is_inside && parameters != Self::LEADING + captures {
            return Err(format!(
                "the body has {parameters} parameters for {} arguments",
                Self::LEADING + captures
            ));
        }
        let is_address = |one: &Capture<'_>| one.value.ty().is_pointer();
        let bad = |one: &Capture<'_>| one.by_reference && !is_address(one);
        if let Some(index) = self.captures.iter().position(bad) {
            return Err(format!("capture {index} is no address"));
        }
        if self.condition.is_some_and(|value| !value.ty().is_integer()) {
            return Err("its condition is not an integer".to_string());
        }
        if !is_inside && !self.locals.is_empty() {
            return Err("variables of work items that there are not".to_string());
        }
        let is_there = |one: &Local<'_>| {
            one.variable.allocated_type().is_some() && one.variable.function() == self.body
        };
        if !self.locals.iter().all(is_there) {
            return Err("a variable that is none of its body".to_string());
        }
        // Blocks are long, and have many spans: each is measured once.
        let mut lengths = HashMap::new();
        let parts = self.steps.iter().flat_map(|step| &step.parts);
        for span in parts.filter_map(Part::code).flat_map(|code| &code.spans) {
            let length = lengths.entry(span.block);
            let length = *length.or_insert_with(|| span.block.instructions().len());
            if !(span.from <= span.to && span.to <= length) {
                return Err("code behind the end of its block".to_string());
            }
        }
        let is_known = |step: Option<usize>| step.is_none_or(|step| step < self.steps.len());
        for edge in &self.edges {
            if !is_known(edge.from) || !is_known(edge.to) {
                return Err("a way to a step that there is not".to_string());
            }
            if edge.from.is_none() != (edge.sync == Sync::Fork)
                || edge.to.is_none() != (edge.sync == Sync::Join)
            {
                return Err(format!("a {} in the middle", edge.sync));
            }
        }
        let mut parts = self.steps.iter().flat_map(|step| &step.parts);
        parts.try_for_each(Part::verify)
    }
}

impl<'m> Part<'m> {
    /// Checks what every lowering relies on.
    pub fn verify(&self) -> Result<(), String> {
        match self {
            Part::Share(one) => one.verify(),
            Part::One(_, code) | Part::Each(code) => match &code.description {
                Some(one) => one.verify_of_code(),
                None => Ok(()),
            },
        }
    }

    /// What it does in memory, where that has been looked at.
    pub fn description(&self) -> Option<&Description<'m>> {
        match self {
            Part::Share(one) => Some(&one.description),
            Part::One(_, code) | Part::Each(code) => code.description.as_ref(),
        }
    }

    /// What is run, where it is no function.
    pub fn code(&self) -> Option<&Code<'m>> {
        match self {
            Part::One(_, code) | Part::Each(code) => Some(code),
            Part::Share(one) => match &one.body {
                Body::Code(code) => Some(code),
                Body::Function(_) | Body::Region(_) => None,
            },
        }
    }

    fn has(&self, at: Instruction<'m>) -> bool {
        self.code().is_some_and(|code| code.has(at))
    }
}

impl<'m> Code<'m> {
    /// Whether an instruction is in it.
    pub fn has(&self, at: Instruction<'m>) -> bool {
        self.spans.iter().any(|span| span.has(at))
    }
}

impl<'m> Span<'m> {
    /// Whether an instruction is in it.
    pub fn has(&self, at: Instruction<'m>) -> bool {
        at.block() == self.block && self.block.instructions()[self.from..self.to].contains(&at)
    }

    /// Those instructions.
    pub fn instructions(&self) -> Vec<Instruction<'m>> {
        self.block.instructions()[self.from..self.to].to_vec()
    }

    /// What is left of it without others.
    pub fn without(self, others: &[Span<'m>]) -> Vec<Span<'m>> {
        let mut left = vec![self];
        for other in others.iter().filter(|one| one.block == self.block) {
            let parts = left.into_iter().flat_map(|one| {
                let before = Span {
                    to: one.to.min(other.from),
                    ..one
                };
                let behind = Span {
                    from: one.from.max(other.to),
                    ..one
                };
                [before, behind]
            });
            left = parts.filter(|one| one.from < one.to).collect();
        }
        left
    }
}

impl Extent<'_> {
    fn verify(&self) -> Result<(), String> {
        let width = self.width;
        let Some(counter) = &self.counter else {
            return match [32, 64].contains(&width) {
                true => Ok(()),
                false => Err(format!("a loop of {width} bits")),
            };
        };
        let has = |block: Block<'_>| counter.blocks.contains(&block);
        if ![8, 16, 32, 64].contains(&width) {
            return Err(format!("a loop of {width} bits"));
        }
        let inside = [counter.steps.block(), counter.decides.block(), counter.body];
        let outside = [counter.begins.block(), counter.exit];
        match inside.into_iter().all(has) && !outside.into_iter().any(has) {
            true => Ok(()),
            false => Err("a loop that counts somewhere else".to_string()),
        }
    }
}

impl<'m> ParallelLoop<'m> {
    /// How many loops can be one.
    pub const MOST_EXTENTS: usize = 3;

    /// The function that runs for each element, where it is one.
    pub fn kernel(&self) -> Option<Function<'m>> {
        match self.body {
            Body::Function(function) => Some(function),
            Body::Code(_) | Body::Region(_) => None,
        }
    }

    /// What a team runs for each element, where it is one.
    pub fn region(&self) -> Option<&Region<'m>> {
        match &self.body {
            Body::Region(region) => Some(region),
            Body::Code(_) | Body::Function(_) => None,
        }
    }

    /// The loops that count through its space.
    pub fn counters(&self) -> impl DoubleEndedIterator<Item = &Counter<'m>> {
        let extents = match &self.space {
            Space::Range(extents) => &extents[..],
            Space::Set { .. } => &[],
        };
        extents.iter().filter_map(|one| one.counter.as_ref())
    }

    /// Checks what every lowering relies on.
    pub fn verify(&self) -> Result<(), String> {
        if let Space::Range(extents) = &self.space {
            if !(1..=Self::MOST_EXTENTS).contains(&extents.len()) {
                return Err(format!("{} loops in one", extents.len()));
            }
            extents.iter().try_for_each(Extent::verify)?;
            let axes: HashSet<_> = self.counters().map(|one| one.axis).collect();
            if axes.len() != self.counters().count() {
                return Err("two loops of one direction".to_string());
            }
        }
        let kinds = self.kinds();
        self.description.verify(&kinds, &self.space)?;
        if let Some(region) = self.region() {
            region.verify()?;
        }
        let Some(kernel) = self.kernel() else {
            return match kinds.is_empty() {
                true => Ok(()),
                false => Err("arguments of code that is no function".to_string()),
            };
        };
        if kernel.is_declaration() {
            return Err("the body is not defined in this module".to_string());
        }
        match (kernel.parameters().len(), kinds.len()) {
            (parameters, arguments) if parameters != arguments => Err(format!(
                "the body has {parameters} parameters for {arguments} arguments"
            )),
            _ => Ok(()),
        }
    }

    /// What its arguments stand for.
    pub fn kinds(&self) -> Vec<Kind> {
        self.arguments.iter().map(|one| one.kind).collect()
    }

    /// The parameters of its body, which is a function.
    pub fn parameters(&self) -> Vec<Parameter<'_>> {
        Parameter::of(&self.kinds(), &self.description.accesses)
    }
}

impl<'a> Parameter<'a> {
    /// Of arguments of these kinds, each of which is accessed in one way.
    pub fn of(kinds: &[Kind], accesses: &'a [Access<'a>]) -> Vec<Self> {
        let all = kinds.iter().enumerate();
        let all = all.map(|(at, &kind)| {
            let mut of_it = accesses.iter().filter(|one| one.base == Base::Argument(at));
            let access = of_it.next().expect("each argument has an access");
            Self { kind, access }
        });
        all.collect()
    }

    /// What an element consists of. What is not known has no components that could be used.
    pub fn element(&self) -> Element {
        let unknown = Element {
            scalar: Scalar {
                bytes: 1,
                form: Form::Unknown,
            },
            components: 0,
        };
        self.access.element.unwrap_or(unknown)
    }

    /// The columns of a map that lead to its elements.
    pub fn columns(&self) -> Option<Columns> {
        self.path().map(|(_, columns)| columns)
    }

    /// How many elements the body gets.
    pub fn elements(&self) -> i64 {
        self.columns().map_or(1, Columns::count)
    }

    /// Bytes from one element of data to the next, where data lie element by element and that is the same in every run.
    pub fn bytes(&self) -> Option<i64> {
        let element = self.access.element?;
        element.bytes().filter(|_| self.kind != Kind::Number)
    }

    /// The map that leads to its elements, and the columns of it.
    pub fn path(&self) -> Option<(&'a Access<'a>, Columns)> {
        match (self.kind, &self.access.place) {
            (Kind::Data(_), Place::Through(map, columns)) => Some((map, *columns)),
            _ => None,
        }
    }

    /// Whether the body gets the addresses of several elements.
    pub fn is_table(&self) -> bool {
        matches!(self.columns(), Some(Columns::First(_)))
    }

    /// Whether it is the same object in all iterations.
    pub fn is_whole(&self) -> bool {
        self.access.place == Place::Whole
    }

    /// Whether it is the number of the element itself, which is nowhere in memory.
    pub fn is_own_number(&self) -> bool {
        self.kind == Kind::Number && self.access.place == Place::Own
    }

    /// Whether iterations may have an element in common.
    pub fn is_shared(&self) -> bool {
        self.columns().is_some() || self.is_whole()
    }

    /// Whether iterations only add to an element that others add to, too.
    pub fn is_sum(&self) -> bool {
        self.access.mode == Mode::Increment && self.is_shared()
    }

    /// Whether its elements may lie component by component.
    pub fn is_either(&self) -> bool {
        matches!(self.kind, Kind::Data(Storage::Either { .. }))
    }
}
