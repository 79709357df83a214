//! What the iterations of a loop do in memory, as the programmer says it of a loop's arguments, or as it has been found
//! by [`crate::analysis::iterations`].

use std::fmt;

use super::{Kind, Space};
use crate::diagnostic::Site;
use crate::llvm::{Global, Instruction, Module, Type};
use crate::numbers::Polynomial;

/// What the iterations of a loop do in memory that other threads may access too. Of a loop whose body is a function, that
/// is what it does by its arguments; what it names besides is not here. Of code that is no loop, it is what a thread does
/// that runs it once.
#[derive(Clone, Default)]
pub struct Description<'m> {
    /// What each of them accesses. Each argument has one.
    pub accesses: Vec<Access<'m>>,
    /// What is combined of what the threads have computed.
    pub reductions: Vec<Reduction<'m>>,
    /// What gets the value of the last iteration.
    pub finals: Vec<Object<'m>>,
    /// What goes along with the least or greatest value of an argument.
    pub along: Box<[Along]>,
    /// What may do more than that, and why: the end of a sentence that begins with "it".
    pub unknown: Option<(Instruction<'m>, String)>,
}

/// An argument that is what an iteration leaves there whose value of another argument is the least or greatest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    /// Its position.
    pub argument: usize,
    /// That of the other argument.
    pub winner: usize,
    /// Bytes of it.
    pub bytes: i64,
}

/// What an iteration accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct Access<'m> {
    /// How. An object that is found to be read and written has two of them.
    pub mode: Mode,
    /// Whether every iteration accesses all of it.
    pub must: bool,
    /// Whether there may be no such object: then nothing is accessed.
    pub optional: bool,
    /// Whether the programmer says so, as opposed to what the code shows: then it has to be checked, or trusted.
    pub stated: bool,
    /// What an element is, where that is known.
    pub element: Option<Element>,
    /// The object.
    pub base: Base<'m>,
    /// Where in it.
    pub place: Place<'m>,
}

/// How something is accessed.
///
/// Of the last three, iterations may have an element in common, and the result does not depend on their order. Where code
/// is found to do so, each update is atomic there, and nothing is left to do for whoever runs it. What a body does by an
/// argument ([`Base::Argument`]) it does as if it were alone: whoever runs several iterations at once sees to it that none
/// is lost, in order, atomically, or by copies that are combined later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Read only.
    Read,
    /// Written without being read.
    Write,
    /// Read and written.
    ReadWrite,
    /// Added to, and nothing else.
    Increment,
    /// Replaced by the smaller of it and another value, and nothing else.
    Min,
    /// Replaced by the larger of it and another value, and nothing else.
    Max,
}

/// Values of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The type.
    pub scalar: Scalar,
    /// How many there are.
    pub components: i64,
}

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Bytes of a number.
    pub bytes: i64,
    /// What they mean.
    pub form: Form,
}

/// What the bytes of a number mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `float` or `double`.
    Floating,
    /// An integer that may be negative.
    Signed,
    /// One that may not.
    Unsigned,
    /// Any of these, or no number at all.
    Unknown,
}

/// An object that an address is computed from.
#[derive(Clone, Debug, PartialEq)]
pub enum Base<'m> {
    /// What the body gets by an argument, by its number.
    Argument(usize),
    /// The map that an argument uses, by the number of the first one whose map seems to be the same.
    Map(usize),
    /// What a captured value points to, by its number.
    Capture(usize),
    /// What a parameter points to, by its number, of the function that the loop is in, where a region calls that.
    Parameter(usize),
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

/// Where in an object an iteration accesses it.
#[derive(Clone, Debug, PartialEq)]
pub enum Place<'m> {
    /// All of it, which is one element.
    Whole,
    /// The element with the number of the iteration.
    Own,
    /// Computed from what is the same for all iterations and the iteration's number.
    At(Elements<'m>),
    /// The elements whose numbers stand in columns of what is accessed there, a map.
    Through(Box<Access<'m>>, Columns),
    /// Anywhere.
    Anywhere,
}

/// Columns of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// One of them.
    One(u32),
    /// The first ones.
    First(u32),
}

/// Elements of an object: from a place on, so many so many bytes apart, for each row.
#[derive(Clone, Debug, PartialEq)]
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
    /// A parameter: see [`Base::Parameter`].
    Parameter(usize),
    /// What an object holds.
    Loaded(Box<Object<'m>>),
    /// The least of these.
    Least(Vec<Number<'m>>),
    /// The largest of these.
    Largest(Vec<Number<'m>>),
    /// Any number from 0 to this one: the turn of a loop inside, which is no further one.
    Turn(Box<Number<'m>>),
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

impl Scalar {
    /// An `int`, which numbers of elements are.
    pub const INT: Self = Self {
        bytes: 4,
        form: Form::Signed,
    };

    /// As LLVM has it.
    pub fn ty<'m>(&self, module: &'m Module) -> Type<'m> {
        let bits = self.bytes as u32 * 8;
        match self.form {
            Form::Floating => module.floating(bits),
            Form::Signed | Form::Unsigned | Form::Unknown => module.int(bits),
        }
    }
}

impl Element {
    /// The number of an element.
    pub const NUMBER: Self = Self {
        scalar: Scalar::INT,
        components: 1,
    };

    /// So many bytes, of which nothing else is known.
    pub fn of_bytes(bytes: i64) -> Self {
        let form = Form::Unknown;
        Self {
            scalar: Scalar { bytes, form },
            components: 1,
        }
    }

    /// Bytes of all components.
    pub fn bytes(&self) -> Option<i64> {
        self.components.checked_mul(self.scalar.bytes)
    }
}

impl Columns {
    /// How many they are.
    pub fn count(self) -> i64 {
        match self {
            Self::One(_) => 1,
            Self::First(count) => i64::from(count),
        }
    }

    /// Columns that a map which has them has at least.
    pub fn least_arity(self) -> i64 {
        match self {
            Self::One(column) => i64::from(column) + 1,
            Self::First(count) => i64::from(count),
        }
    }
}

impl<'m> Description<'m> {
    /// Of what has not been looked at, and begins there.
    pub fn unseen(site: Instruction<'m>) -> Self {
        Self {
            unknown: Some((site, "has not been looked at".to_string())),
            ..Self::default()
        }
    }

    /// Checks what is relied on, of a loop with arguments of these kinds.
    pub fn verify(&self, kinds: &[Kind], space: &Space<'_>) -> Result<(), String> {
        let has_own = |one: &Access<'_>| matches!(one.place, Place::Own | Place::Through(..));
        if matches!(space, Space::Range(_)) && self.accesses.iter().any(has_own) {
            return Err("an access of elements of a set in a loop over none".to_string());
        }
        Access::verify_all(&self.accesses, kinds)
    }

    /// Checks what is relied on, of code that is no loop.
    pub fn verify_of_code(&self) -> Result<(), String> {
        let is_iteration = |one: &Unknown<'_>| matches!(one, Unknown::Iteration);
        for one in &self.accesses {
            let depends = match &one.place {
                Place::Own | Place::Through(..) => true,
                Place::At(elements) => elements.depends_on(&is_iteration),
                Place::Whole | Place::Anywhere => false,
            };
            if depends || one.base.depends_on(&is_iteration) {
                return Err("an access of elements of a loop in code that is none".to_string());
            }
        }
        match self.reductions.is_empty() && self.finals.is_empty() {
            true => Access::verify_all(&self.accesses, &[]),
            false => Err("results of a loop in code that is none".to_string()),
        }
    }
}

impl Base<'_> {
    /// Whether which object it is depends on something that is such, or on what is loaded from there.
    pub fn depends_on(&self, is_it: &dyn Fn(&Unknown<'_>) -> bool) -> bool {
        match self {
            Base::Loaded(from) => from.depends_on(is_it),
            Base::Argument(_) | Base::Map(_) | Base::Capture(_) | Base::Parameter(_) => false,
            Base::Global(_) => false,
        }
    }
}

impl Object<'_> {
    /// Whether which it is depends on something that is such, or on what is loaded from there.
    pub fn depends_on(&self, is_it: &dyn Fn(&Unknown<'_>) -> bool) -> bool {
        self.base.depends_on(is_it) || depends_on(&self.offset, is_it)
    }
}

impl Elements<'_> {
    /// Whether where they are, or how many, depends on something that is such, or on what is loaded from there.
    pub fn depends_on(&self, is_it: &dyn Fn(&Unknown<'_>) -> bool) -> bool {
        let rows = self.rows.iter().flat_map(|(stride, count)| [stride, count]);
        let mut all = rows.chain([&self.offset]);
        all.any(|one| depends_on(one, is_it))
    }
}

/// Whether a number depends on something that is such, or on what is loaded from there.
pub fn depends_on(number: &Number<'_>, is_it: &dyn Fn(&Unknown<'_>) -> bool) -> bool {
    number.depends_on(|unknown| {
        is_it(unknown)
            || match unknown {
                Unknown::Iteration | Unknown::First => false,
                Unknown::Capture(_) | Unknown::Parameter(_) => false,
                Unknown::Loaded(from) => from.depends_on(is_it),
                Unknown::Least(all) | Unknown::Largest(all) => {
                    all.iter().any(|one| depends_on(one, is_it))
                }
                Unknown::Turn(last) => depends_on(last, is_it),
            }
    })
}

impl Access<'_> {
    /// Checks the accesses of a loop with arguments of these kinds.
    pub fn verify_all(all: &[Self], kinds: &[Kind]) -> Result<(), String> {
        for (at, kind) in kinds.iter().enumerate() {
            let of_it: Vec<_> = all
                .iter()
                .filter(|one| one.base == Base::Argument(at))
                .collect();
            let [access] = of_it[..] else {
                return Err(format!("argument {at} has {} accesses", of_it.len()));
            };
            let is_read = access.mode == Mode::Read && access.element == Some(Element::NUMBER);
            if *kind == Kind::Number && !is_read {
                return Err(format!("argument {at}: a number is not read"));
            }
        }
        all.iter().try_for_each(|one| one.verify(kinds.len()))
    }

    fn verify(&self, arguments: usize) -> Result<(), String> {
        if let Base::Argument(at) | Base::Map(at) = self.base
            && at >= arguments
        {
            return Err(format!("an access by argument {at} of {arguments}"));
        }
        let Place::Through(map, _) = &self.place else {
            return Ok(());
        };
        let is_of_int = |one: Element| one.scalar == Scalar::INT;
        match map.mode == Mode::Read && map.element.is_none_or(is_of_int) {
            true => map.verify(arguments),
            false => Err(format!("{} is no map", map.base)),
        }
    }
}

impl fmt::Display for Description<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.accesses {
            writeln!(f, "  {one}")?;
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

impl fmt::Display for Access<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stated = if self.stated { "stated: " } else { "" };
        let may = if self.must { "" } else { "may " };
        write!(f, "{stated}{may}{}", self.mode)?;
        if let Some(element) = self.element {
            write!(f, " {element}")?;
        }
        write!(f, " in {}{}", self.base, self.place)?;
        match self.optional {
            true => f.write_str(", if it is there"),
            false => Ok(()),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => f.write_str(", all of it"),
            Place::Own => f.write_str(", its own element"),
            Place::At(elements) => {
                write!(f, " at {}", elements.offset)?;
                for (stride, count) in &elements.rows {
                    write!(f, ", {count} times each {stride}")?;
                }
                Ok(())
            }
            Place::Through(map, columns) => {
                match columns {
                    Columns::One(column) => write!(f, " through column {column}")?,
                    Columns::First(count) => write!(f, " through the first {count} columns")?,
                }
                if let Some(row) = map.element {
                    write!(f, " of {}", row.components)?;
                }
                write!(f, " of {}", map.base)
            }
            Place::Anywhere => f.write_str(", anywhere"),
        }
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

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.scalar.form, self.components) {
            (Form::Unknown, 1) => write!(f, "{} bytes", self.scalar.bytes),
            _ => write!(f, "{} x {}", self.components, self.scalar),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self.form {
            Form::Floating => 'f',
            Form::Signed => 'i',
            Form::Unsigned => 'u',
            Form::Unknown => 'b',
        };
        write!(f, "{form}{}", self.bytes * 8)
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
            Base::Argument(index) => write!(f, "arg {index}"),
            Base::Map(index) => write!(f, "the map of arg {index}"),
            Base::Capture(index) => write!(f, "capture {index}"),
            Base::Parameter(index) => write!(f, "parameter {index}"),
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
            Unknown::Parameter(index) => write!(f, "parameter {index}"),
            Unknown::Loaded(from) => write!(f, "[{from}]"),
            Unknown::Least(all) => list(f, "min", all),
            Unknown::Largest(all) => list(f, "max", all),
            Unknown::Turn(last) => write!(f, "turn to {last}"),
        }
    }
}
