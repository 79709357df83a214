//! The parallel loop: what every recogniser produces and every lowering consumes.
//!
//! A loop is an iteration space, a body *function* and the arguments it is called with. An argument
//! says how the body accesses it and where; what a lowering needs to know must be here, so that no
//! lowering asks where a loop came from.

use std::fmt;

use crate::diagnostic::user_name;
use crate::llvm::{Call, Function, Value};

/// The attribute of a function that has been lowered to MPI ranks, or need not be.
pub const MARK: &str = "okl-lowered";
/// Its value in functions that have been changed, which run on several ranks only.
pub const FOR_RANKS: &str = "mpi";

/// A parallel loop found in the program.
pub struct ParallelLoop<'m> {
    /// The construct it was written as, for messages.
    pub origin: Origin,
    /// The call that runs it.
    pub site: Call<'m>,
    /// What is distributed.
    pub space: Space<'m>,
    /// What runs.
    pub body: Body<'m>,
    /// What it runs on.
    pub args: Vec<Argument<'m>>,
    /// Where this integer is zero, one thread runs it.
    pub condition: Option<Value<'m>>,
}

/// The construct a loop was written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `#pragma omp parallel`.
    OpenMpParallel,
    /// `#pragma omp teams`.
    OpenMpTeams,
    /// OP2's `op_par_loop`.
    Op2ParLoop,
}

/// What is distributed.
#[derive(Clone, PartialEq, Eq)]
pub enum Space<'m> {
    /// Each thread of a team runs the whole body; the worksharing loops in it are divided.
    Team {
        /// The worksharing loops found in the body, in the order of their appearance.
        loops: Vec<WorksharingLoop>,
    },
    /// Each team of a league runs the whole body, with one thread at first.
    League {
        /// The worksharing loops found in the body.
        loops: Vec<WorksharingLoop>,
    },
    /// The body runs once for each element of a set.
    Set {
        /// The set, as the program declared it.
        set: Value<'m>,
    },
}

/// A loop that a team divides among its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorksharingLoop {
    /// How it is divided.
    pub schedule: Schedule,
    /// Whether its iterations have an ordered part.
    pub ordered: bool,
    /// Bits of the iteration variable.
    pub width: u32,
    /// Whether the iteration variable is signed.
    pub signed: bool,
    /// Iterations of a chunk, where the schedule has chunks of a known length.
    pub chunk: Option<i64>,
}

/// How a worksharing loop is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
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

/// What runs: a function that takes the arguments behind its leading parameters. Those of a region are
/// pointers to the global thread number and to the number in the team.
#[derive(Clone, Copy)]
pub struct Body<'m> {
    /// The function.
    pub function: Function<'m>,
    /// How many parameters come before the arguments.
    pub leading: usize,
}

/// One argument of a body.
pub struct Argument<'m> {
    /// What is passed.
    pub value: Value<'m>,
    /// How it is passed.
    pub passing: Passing,
    /// How the body accesses it.
    pub access: Access,
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

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// The body gets a copy.
    ByValue,
    /// The body gets the address.
    ByReference,
    /// The value describes the data of a whole set; the body gets the address of an element's, or of
    /// pointers to several.
    Element,
}

/// How a body accesses an argument, in OP2's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Not at all.
    Unused,
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
    /// Anywhere.
    Unknown,
}

/// Columns of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// One of them.
    One(u32),
    /// The first ones.
    First(u32),
}

impl ParallelLoop<'_> {
    /// Checks what every lowering relies on.
    pub fn verify(&self) -> Result<(), String> {
        let parameters = self.body.function.parameters();
        if self.body.function.is_declaration() {
            return Err("the body is not defined in this module".to_string());
        }
        if parameters.len() != self.body.leading + self.args.len() {
            return Err(format!(
                "the body has {} parameters for {} arguments",
                parameters.len(),
                self.body.leading + self.args.len()
            ));
        }
        for (index, arg) in self.args.iter().enumerate() {
            arg.verify()
                .map_err(|problem| format!("argument {index}: {problem}"))?;
        }
        if self.condition.is_some_and(|value| !value.ty().is_integer()) {
            return Err("its condition is not an integer".to_string());
        }
        for ws in self.space.loops() {
            if ![32, 64].contains(&ws.width) {
                return Err(format!("a worksharing loop of {} bits", ws.width));
            }
        }
        Ok(())
    }
}

impl Element {
    /// Bytes from one element to the next, where that is the same in every run.
    pub fn bytes(&self) -> Option<i64> {
        let bytes = self.components.checked_mul(self.scalar.bytes);
        bytes.filter(|_| !self.optional)
    }
}

impl Argument<'_> {
    fn verify(&self) -> Result<(), String> {
        if self.passing == Passing::ByReference && !self.value.ty().is_pointer() {
            return Err("passed by reference, but not an address".to_string());
        }
        let only_read = matches!(self.access, Access::Read | Access::Unused);
        if self.passing == Passing::ByValue && !only_read {
            return Err("a copy is written".to_string());
        }
        let is_element = matches!(
            self.place,
            Place::Section { .. } | Place::Indirect { .. } | Place::Number { .. }
        );
        if is_element && self.passing != Passing::Element {
            return Err("an element of no set".to_string());
        }
        Ok(())
    }
}

impl Space<'_> {
    /// The worksharing loops of the space.
    pub fn loops(&self) -> &[WorksharingLoop] {
        match self {
            Space::Team { loops } | Space::League { loops } => loops,
            Space::Set { .. } => &[],
        }
    }
}

impl fmt::Display for ParallelLoop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let site = self.site.instruction();
        write!(f, "{} in {}", self.origin, user_name(site.function()))?;
        match site.source_location() {
            Some((file, line)) => writeln!(f, " at {file}:{line}")?,
            None => writeln!(f)?,
        }
        writeln!(f, "  body {}", self.body.function.name())?;
        writeln!(f, "  {}", self.space)?;
        if self.condition.is_some() {
            writeln!(f, "  one thread unless a condition holds")?;
        }
        for (index, arg) in self.args.iter().enumerate() {
            writeln!(f, "  arg {index}: {arg}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::OpenMpParallel => "parallel region",
            Origin::OpenMpTeams => "teams region",
            Origin::Op2ParLoop => "op_par_loop",
        })
    }
}

impl fmt::Display for Space<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Team { .. } => "team",
            Space::League { .. } => "league",
            Space::Set { .. } => "elements of a set",
        })?;
        for ws in self.loops() {
            write!(f, ", {ws}")?;
        }
        Ok(())
    }
}

impl fmt::Display for WorksharingLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.signed { 'i' } else { 'u' };
        let ordered = if self.ordered { " ordered" } else { "" };
        write!(f, "{} {sign}{}{ordered} loop", self.schedule, self.width)?;
        match self.chunk {
            Some(chunk) => write!(f, " with chunks of {chunk}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
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

impl fmt::Display for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passing = match self.passing {
            Passing::ByValue => "by value",
            Passing::ByReference => "by reference",
            Passing::Element => "by element",
        };
        let access = match self.access {
            Access::Unused => "unused",
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadWrite => "read and write",
            Access::Increment => "increment",
            Access::Min => "min",
            Access::Max => "max",
        };
        write!(f, "{passing}, {access}")?;
        match self.place {
            Place::Scalar => write!(f, ", scalar"),
            Place::Section { offset, stride } => write!(f, ", section {offset} + {stride} * i"),
            Place::Indirect { columns } => match columns {
                Columns::One(column) => write!(f, ", through column {column} of a map"),
                Columns::First(count) => write!(f, ", through the first {count} columns of a map"),
            },
            Place::Number { column: None } => write!(f, ", number of the iteration"),
            Place::Number {
                column: Some(column),
            } => write!(f, ", number in column {column} of a map"),
            Place::Unknown => write!(f, ", anywhere"),
        }
    }
}
