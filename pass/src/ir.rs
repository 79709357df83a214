//! What every recogniser produces and every lowering consumes: regions and parallel loops.
//!
//! A [`Region`] is run by a team. Its [`Step`]s are what the team's synchronisations separate, and a step's
//! [`Part`]s say who runs what: the team shares a loop, one thread runs code, or each thread does. A
//! [`ParallelLoop`] is an iteration space and a body that may run for its elements in any order; it is a part of a
//! region, or stands in serial code. What a lowering needs to know must be here: none asks which construct something
//! was written as.

use std::collections::HashSet;
use std::fmt;

use crate::diagnostic::{Site, user_name};
use crate::llvm::{Block, Call, Function, Global, Instruction, Value};
use crate::numbers::Polynomial;

/// The attribute of a function that has been lowered to MPI ranks, or need not be.
pub const MARK: &str = "okl-lowered";
/// Its value in functions that have been changed, which run on several ranks only.
pub const FOR_RANKS: &str = "mpi";

/// The attribute of a function that only hands its parameters on.
pub const FORWARDS: &str = "okl-forwards";

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
    pub args: Vec<Argument<'m>>,
    /// How its iterations are divided.
    pub schedule: Schedule,
    /// Iterations of a chunk, where the schedule has chunks of a known length.
    pub chunk: Option<i64>,
    /// Whether its iterations have an ordered part.
    pub ordered: bool,
    /// What it does in memory, where that has been looked at: see [`crate::analysis::iterations`].
    pub description: Option<Description<'m>>,
}

/// What the iterations of a loop do in memory that other threads may access too.
#[derive(Default)]
pub struct Description<'m> {
    /// What each of them accesses.
    pub accesses: Vec<Access<'m>>,
    /// What is combined of what the threads have computed.
    pub reductions: Vec<Reduction<'m>>,
    /// What gets the value of the last iteration.
    pub finals: Vec<Object<'m>>,
    /// What may do more than that, and why: the end of a sentence that begins with "it".
    pub unknown: Option<(Instruction<'m>, String)>,
}

/// What an iteration accesses.
#[derive(Clone, PartialEq)]
pub struct Access<'m> {
    /// How. An object that is read and written has two of them.
    pub mode: Mode,
    /// Whether every iteration accesses all of it.
    pub must: bool,
    /// Bytes of an element.
    pub bytes: i64,
    /// The object.
    pub base: Base<'m>,
    /// Where in it; anywhere where there is none.
    pub elements: Option<Elements<'m>>,
}

/// An object that an address is computed from.
#[derive(Clone, Debug, PartialEq)]
pub enum Base<'m> {
    /// What a captured value points to, by its number.
    Capture(usize),
    /// A global variable.
    Global(Global<'m>),
    /// What a pointer points to that is somewhere itself.
    Loaded(Box<Object<'m>>),
}

/// A place in an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object<'m> {
    /// The object.
    pub base: Base<'m>,
    /// Bytes from its beginning.
    pub offset: Number<'m>,
}

/// Elements of an object: from a place on, so many so many bytes apart, for each row.
#[derive(Clone, PartialEq)]
pub struct Elements<'m> {
    /// Bytes from the beginning of the object to the first one.
    pub offset: Number<'m>,
    /// Bytes from one to the next, and how many, inner rows first.
    pub rows: Vec<(Number<'m>, Number<'m>)>,
}

/// A number, if the program's numbers do not overflow.
pub type Number<'m> = Polynomial<Unknown<'m>>;

/// What a number depends on.
#[derive(Clone, Debug, PartialEq)]
pub enum Unknown<'m> {
    /// The number of the iteration, in the loop's [`Space`].
    Iteration,
    /// The first iteration of a thread's share. No description depends on it.
    First,
    /// A captured value.
    Capture(usize),
    /// What an object holds.
    Loaded(Box<Object<'m>>),
    /// The least of these.
    Least(Vec<Number<'m>>),
    /// The largest of these.
    Largest(Vec<Number<'m>>),
}

/// Values of the threads that are combined.
#[derive(Clone, PartialEq)]
pub struct Reduction<'m> {
    /// Where the result is.
    pub target: Object<'m>,
    /// How two values are combined.
    pub operation: Operation,
}

/// How two values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Their sum.
    Add,
    /// Their product.
    Multiply,
    /// The bits that both have.
    And,
    /// The bits that one of them has.
    Or,
    /// The bits that they differ in.
    Xor,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// In another way, which the programmer has declared.
    Declared,
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
}

/// What a loop iterates over.
#[derive(Clone, PartialEq, Eq)]
pub enum Space<'m> {
    /// Numbers from 0.
    Range {
        /// The last one, where it is known in front of the loop.
        last: Option<Value<'m>>,
        /// Bits of the iteration variable.
        width: u32,
        /// Whether the iteration variable is signed.
        signed: bool,
    },
    /// The elements of a set.
    Set {
        /// The set, as the program declared it.
        set: Value<'m>,
    },
}

/// What a loop runs.
#[derive(Clone)]
pub enum Body<'m> {
    /// A part of the region that the loop is in.
    Code(Code<'m>),
    /// A function of the arguments.
    Function(Function<'m>),
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
    /// How the body accesses it.
    pub access: Mode,
    /// Where the body accesses it.
    pub place: Place,
    /// What an element of it consists of, where that is known.
    pub element: Option<Element>,
    /// The map that leads to it.
    pub map: Option<Map<'m>>,
    /// How its elements lie in memory.
    pub storage: Storage,
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

/// An element of data: values of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The type of the values.
    pub scalar: Scalar,
    /// How many there are.
    pub components: i64,
    /// Whether there may be no data at all.
    pub optional: bool,
}

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Bytes of a number.
    pub bytes: i64,
    /// `float` or `double`.
    pub floating: bool,
    /// Whether an integer may be negative.
    pub signed: bool,
}

impl Scalar {
    /// An `int`, which numbers of elements are.
    pub const INT: Self = Self {
        bytes: 4,
        floating: false,
        signed: true,
    };
}

/// A map from set to set.
#[derive(Clone, Copy)]
pub struct Map<'m> {
    /// The map, as the program declared it.
    pub value: Value<'m>,
    /// How many elements each element leads to, where that is known.
    pub arity: Option<i64>,
}

/// How a body accesses an argument, in OP2's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Reads only.
    Read,
    /// Writes without reading.
    Write,
    /// Reads and writes.
    ReadWrite,
    /// Adds to it, and does nothing else.
    Increment,
    /// Replaces it by the smaller of it and another value, and does nothing else.
    Min,
    /// Replaces it by the larger of it and another value, and does nothing else.
    Max,
}

/// Where a body accesses an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// One object that is accessed as a whole.
    Scalar,
    /// Elements `offset + stride * i`, for iteration `i`.
    Section {
        /// First element.
        offset: i64,
        /// Elements from one iteration to the next.
        stride: i64,
    },
    /// Elements that a map selects.
    Indirect {
        /// The columns of the map.
        columns: Columns,
    },
    /// No data: the number of the iteration, or of the element that a column of a map leads to.
    Number {
        /// The column.
        column: Option<u32>,
    },
}

/// Columns of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// One of them.
    One(u32),
    /// The first ones.
    First(u32),
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
        if parameters != Self::LEADING + captures {
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
        self.loops().try_for_each(ParallelLoop::verify)
    }
}

impl<'m> Part<'m> {
    /// What is run, where it is no function.
    pub fn code(&self) -> Option<&Code<'m>> {
        match self {
            Part::One(_, code) | Part::Each(code) => Some(code),
            Part::Share(one) => match &one.body {
                Body::Code(code) => Some(code),
                Body::Function(_) => None,
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

impl<'m> ParallelLoop<'m> {
    /// What the programmer says that it accesses, as text.
    pub fn accesses(&self) -> String {
        let mut text = format!(
            "{} at {}:\n",
            self.origin,
            Site::Instruction(self.site.instruction())
        );
        for (index, one) in self.args.iter().enumerate() {
            text += &format!("  arg {index}: {one}\n");
        }
        text
    }

    /// The function that runs for each element, where it is one.
    pub fn kernel(&self) -> Option<Function<'m>> {
        match self.body {
            Body::Function(function) => Some(function),
            Body::Code(_) => None,
        }
    }

    /// Checks what every lowering relies on.
    pub fn verify(&self) -> Result<(), String> {
        if let Space::Range { width, .. } = self.space
            && ![32, 64].contains(&width)
        {
            return Err(format!("a loop of {width} bits"));
        }
        let Some(kernel) = self.kernel() else {
            return match self.args.is_empty() {
                true => Ok(()),
                false => Err("arguments of code that is no function".to_string()),
            };
        };
        if kernel.is_declaration() {
            return Err("the body is not defined in this module".to_string());
        }
        let parameters = kernel.parameters().len();
        if parameters != self.args.len() {
            return Err(format!(
                "the body has {parameters} parameters for {} arguments",
                self.args.len()
            ));
        }
        let only_reads = |one: &Argument<'_>| one.access == Mode::Read;
        let is_number = |one: &Argument<'_>| matches!(one.place, Place::Number { .. });
        match self
            .args
            .iter()
            .position(|one| is_number(one) && !only_reads(one))
        {
            Some(index) => Err(format!("argument {index}: a number is written")),
            None => Ok(()),
        }
    }
}

impl Element {
    /// Bytes from one element to the next, where that is the same in every run.
    pub fn bytes(&self) -> Option<i64> {
        let bytes = self.components.checked_mul(self.scalar.bytes);
        bytes.filter(|_| !self.optional)
    }
}

/// What was found, where: the first line of a region and of a loop.
fn heading(f: &mut fmt::Formatter<'_>, origin: Origin, site: Call<'_>) -> fmt::Result {
    let site = site.instruction();
    write!(f, "{origin} in {}", user_name(site.function()))?;
    match site.source_location() {
        Some((file, line)) => writeln!(f, " at {file}:{line}"),
        None => writeln!(f),
    }
}

impl fmt::Display for Region<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        heading(f, self.origin, self.site)?;
        writeln!(f, "  body {}", self.body.name())?;
        writeln!(f, "  {}", self.team)?;
        if self.condition.is_some() {
            writeln!(f, "  one thread unless a condition holds")?;
        }
        for (index, one) in self.captures.iter().enumerate() {
            let passing = match one.by_reference {
                true => "by reference",
                false => "by value",
            };
            writeln!(f, "  capture {index}: {passing}")?;
        }
        if self.straight().is_none() {
            writeln!(f, "  steps that do not follow each other in a line")?;
        }
        for (index, step) in self.steps.iter().enumerate() {
            write!(f, "  step {index}: {step}")?;
            for edge in self.edges.iter().filter(|edge| edge.from == Some(index)) {
                match edge.to {
                    Some(to) => write!(f, "; {}, step {to}", edge.sync)?,
                    None => write!(f, "; {}", edge.sync)?,
                }
            }
            writeln!(f)?;
            if let Some((at, reason)) = &step.unknown {
                writeln!(f, "    unknown: it {reason} ({})", Site::Instruction(*at))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Share(one) => one.fmt_share(f),
            Part::One(Who::Single, _) => f.write_str("one thread"),
            Part::One(Who::Master, _) => f.write_str("thread 0"),
            Part::One(Who::Masked, _) => f.write_str("a thread of a number"),
            Part::Each(_) => f.write_str("each thread"),
        }
    }
}

impl fmt::Display for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Team::Threads => "team",
            Team::League => "league",
        })
    }
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sync::Fork => "fork",
            Sync::Barrier => "barrier",
            Sync::Join => "join",
        })
    }
}

impl ParallelLoop<'_> {
    fn fmt_share(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.schedule {
            Schedule::Any => write!(f, "{}", self.space)?,
            schedule => write!(f, "{schedule} {}", self.space)?,
        }
        if self.ordered {
            f.write_str(", ordered")?;
        }
        match self.chunk {
            Some(chunk) => write!(f, ", chunks of {chunk}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ParallelLoop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        heading(f, self.origin, self.site)?;
        if let Some(kernel) = self.kernel() {
            writeln!(f, "  body {}", kernel.name())?;
        }
        f.write_str("  ")?;
        self.fmt_share(f)?;
        writeln!(f)?;
        for (index, arg) in self.args.iter().enumerate() {
            writeln!(f, "  arg {index}: {arg}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Description<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.accesses {
            let may = if one.must { "" } else { "may " };
            let (base, mode) = (&one.base, one.mode);
            write!(f, "  {may}{mode} {} bytes in {base}", one.bytes)?;
            match &one.elements {
                Some(elements) => {
                    write!(f, " at {}", elements.offset)?;
                    for (stride, count) in &elements.rows {
                        write!(f, ", {count} times each {stride}")?;
                    }
                    writeln!(f)?;
                }
                None => writeln!(f, ", anywhere")?,
            }
        }
        for one in &self.reductions {
            writeln!(f, "  combines into {}: {:?}", one.target, one.operation)?;
        }
        for one in &self.finals {
            writeln!(f, "  the last iteration's value goes to {one}")?;
        }
        match &self.unknown {
            Some((at, reason)) => {
                writeln!(f, "  unknown: it {reason} ({})", Site::Instruction(*at))
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset.as_constant() {
            Some(0) => write!(f, "{}", self.base),
            _ => write!(f, "{} at {}", self.base, self.offset),
        }
    }
}

impl fmt::Display for Base<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::Capture(index) => write!(f, "capture {index}"),
            Base::Global(global) => f.write_str(&global.name()),
            Base::Loaded(from) => write!(f, "*({from})"),
        }
    }
}

impl fmt::Display for Unknown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name, all: &[Number<'_>]| {
            let all: Vec<_> = all.iter().map(|one| one.to_string()).collect();
            write!(f, "{name}({})", all.join(", "))
        };
        match self {
            Unknown::Iteration => f.write_str("i"),
            Unknown::First => f.write_str("the share's first i"),
            Unknown::Capture(index) => write!(f, "capture {index}"),
            Unknown::Loaded(from) => write!(f, "[{from}]"),
            Unknown::Least(all) => list(f, "min", all),
            Unknown::Largest(all) => list(f, "max", all),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::OpenMpParallel => "parallel region",
            Origin::OpenMpTeams => "teams region",
            Origin::OpenMpLoop => "worksharing loop",
            Origin::Op2ParLoop => "op_par_loop",
        })
    }
}

impl fmt::Display for Space<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Range {
                width,
                signed,
                last,
            } => {
                let sign = if *signed { 'i' } else { 'u' };
                let end = match last.map(|last| last.as_constant_int()) {
                    Some(Some(last)) => format!(" 0 to {last}"),
                    Some(None) => String::new(),
                    None => " of an unknown length".to_string(),
                };
                write!(f, "{sign}{width} loop{end}")
            }
            Space::Set { .. } => f.write_str("elements of a set"),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Schedule::Any => "any order",
            Schedule::Static => "static",
            Schedule::StaticChunked => "static chunked",
            Schedule::Distribute => "distribute",
            Schedule::DistributeChunked => "distribute chunked",
            Schedule::Dynamic => "dynamic",
            Schedule::Guided => "guided",
            Schedule::Runtime => "runtime",
            Schedule::Auto => "auto",
            Schedule::Unknown => "unknown",
        })
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Read => "read",
            Mode::Write => "write",
            Mode::ReadWrite => "read and write",
            Mode::Increment => "increment",
            Mode::Min => "min",
            Mode::Max => "max",
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Scalar => write!(f, "scalar"),
            Place::Section { offset, stride } => write!(f, "section {offset} + {stride} * i"),
            Place::Indirect { columns } => match columns {
                Columns::One(column) => write!(f, "through column {column} of a map"),
                Columns::First(count) => write!(f, "through the first {count} columns of a map"),
            },
            Place::Number { column: None } => write!(f, "number of the iteration"),
            Place::Number {
                column: Some(column),
            } => write!(f, "number in column {column} of a map"),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (self.floating, self.signed) {
            (true, _) => 'f',
            (false, true) => 'i',
            (false, false) => 'u',
        };
        write!(f, "{kind}{}", self.bytes * 8)
    }
}

impl fmt::Display for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.access, self.place)?;
        if let Some(arity) = self.map.and_then(|map| map.arity) {
            write!(f, " of {arity}")?;
        }
        if let Some(element) = self.element {
            write!(f, ", {} x {}", element.components, element.scalar)?;
            if element.optional {
                f.write_str(", optional")?;
            }
        }
        f.write_str(match self.storage {
            Storage::ByElement => "",
            Storage::Either {
                by_component: false,
            } => ", by element or component",
            Storage::Either { by_component: true } => ", by component or element",
            Storage::Unknown => ", by element only",
        })
    }
}
