//! What the program says of its functions and variables, as clang hands it on: annotations of functions in
//! `llvm.global.annotations`, of variables in calls of `llvm.var.annotation`.

use std::fmt;

use crate::attributes::{Attribute, Form, LoopKind, Place, named};
use crate::llvm::{Call, Function, Global, Instruction, Module, Opcode, Value};
use crate::marks::is_okl_marker;

/// What is said of a variable.
pub struct Annotation<'m> {
    /// The call that says it.
    pub site: Call<'m>,
    /// The variable.
    pub variable: Instruction<'m>,
    /// What.
    pub what: What,
}

/// What can be said of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It counts a loop of this kind, in a direction of the grid where one is named.
    Loop(Kind, Option<i64>),
    /// It counts a loop that is to become two.
    Tile(Tile),
    /// All work items of a block have one.
    Shared,
    /// Each work item has its own.
    Exclusive,
    /// An attribute that has a file of its own, with its arguments, as far as these are numbers.
    Attribute(&'static Attribute, Vec<Option<i64>>),
    /// Something else.
    Other(String),
}

impl What {
    /// Whether it is this attribute.
    pub fn is(&self, attribute: &Attribute) -> bool {
        matches!(self, What::Attribute(one, _) if *one == attribute)
    }
}

impl PartialEq for Attribute {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Attribute {}

impl fmt::Debug for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.name)
    }
}

/// How a loop becomes one over blocks of its iterations and one over the iterations of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Iterations of a block; 0 where that is computed.
    pub size: i64,
    /// What the two loops are, with their directions of the grid; `None` for a loop like any other.
    pub kinds: [Option<(Kind, Option<i64>)>; 2],
    /// Whether the last block may have fewer iterations.
    pub checks: bool,
}

impl Tile {
    fn of(values: Value<'_>) -> Option<Self> {
        let values = values.as_global()?.initializer()?.operands();
        let [size, first, first_axis, second, second_axis, checks] = values[..] else {
            return None;
        };
        let kind = |name: Value<'_>, axis: Value<'_>| {
            let axis = axis.as_constant_int().filter(|&axis| axis != -1);
            Some(match name.as_text()?.as_str() {
                "outer" => Some((Kind::Outer, axis)),
                "inner" => Some((Kind::Inner, axis)),
                "regular" => None,
                _ => return None,
            })
        };
        Some(Self {
            size: size.as_constant_int()?,
            kinds: [kind(first, first_axis)?, kind(second, second_axis)?],
            checks: checks.as_constant_int()? != 0,
        })
    }

    /// The kind of the loop over blocks, and of that over the iterations of one.
    pub fn kind(&self, at: usize) -> Option<Kind> {
        self.kinds[at].map(|(kind, _)| kind)
    }

    /// The kinds of both.
    pub fn loops(&self) -> [LoopKind; 2] {
        [0, 1].map(|at| self.kind(at).map_or(LoopKind::Regular, LoopKind::from))
    }
}

/// A kind of loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Over blocks of work items.
    Outer,
    /// Over the work items of a block.
    Inner,
}

impl Kind {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Outer => "@outer",
            Kind::Inner => "@inner",
        }
    }
}

impl From<Kind> for LoopKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Outer => LoopKind::Outer,
            Kind::Inner => LoopKind::Inner,
        }
    }
}

/// Whether anything is said in a module, or marked.
pub fn are_used(module: &Module) -> bool {
    let mut functions = module.functions().into_iter();
    let is_said = module.global("llvm.global.annotations").is_some();
    is_said
        || functions.any(|one| {
            let name = one.name();
            one.is_declaration() && (name.starts_with(ANNOTATES) || is_okl_marker(&name))
        })
}

/// What the names of the intrinsics begin with that say something of a variable.
const ANNOTATES: &str = "llvm.var.annotation";

/// What is said of functions, of variables outside of them and of static ones: of which, what, where, and what goes with it.
fn global_entries(module: &Module) -> impl Iterator<Item = Vec<Value<'_>>> {
    let list = module.global("llvm.global.annotations");
    let entries = list.and_then(|list| list.initializer());
    let entries = entries.into_iter().flat_map(|list| list.operands());
    entries.map(Value::operands)
}

/// The same: of which, what, and where, if that is known.
fn said_of_globals(module: &Module) -> impl Iterator<Item = (Value<'_>, String, Option<String>)> {
    global_entries(module).filter_map(|operands| {
        let [of, what, ref rest @ ..] = operands[..] else {
            return None;
        };
        let place = match rest {
            [file, line, ..] => file.as_text().zip(line.as_constant_int()),
            _ => None,
        };
        let place = place.map(|(file, line)| format!("{file}:{line}"));
        Some((of, what.as_text()?, place))
    })
}

/// The functions of a module that are said to be kernels, each once, and where that is said, if it is known.
pub fn kernels(module: &Module) -> Vec<(Function<'_>, String)> {
    let mut found: Vec<(Function<'_>, String)> = Vec::new();
    for (of, what, place) in said_of_globals(module) {
        let function = of.through_alias().as_function();
        if let Some(function) = function.filter(|_| what == KERNEL)
            && !found.iter().any(|(known, _)| *known == function)
        {
            found.push((function, place.unwrap_or_default()));
        }
    }
    found
}

/// What the names of a kernel's functions on devices begin with, where that is said, as for those who load them by name.
pub fn entry_of(kernel: Function<'_>, module: &Module) -> Option<String> {
    global_entries(module).find_map(|operands| {
        let [of, what, _, _, values] = operands[..] else {
            return None;
        };
        let is_it = of.through_alias().as_function() == Some(kernel);
        let says = is_it && what.as_text().as_deref() == Some(ENTRY);
        let values = values.as_global().filter(|_| says)?.initializer()?;
        values.operands().first()?.as_text()
    })
}

/// The variables outside of all functions, or static ones, of which something is said that only others can have: what, and
/// where.
pub fn globals(module: &Module) -> Vec<(Global<'_>, String, String)> {
    let said = said_of_globals(module).filter_map(|(of, what, place)| {
        let what = what.strip_prefix(PREFIX)?.to_string();
        Some((of.as_global()?, what, place?))
    });
    said.collect()
}

const KERNEL: &str = "okl.kernel";
const ENTRY: &str = "okl.entry";
const PREFIX: &str = "okl.";

/// Whether a call says something of a variable.
pub fn is_annotation(call: Call<'_>) -> bool {
    call.callee_name().starts_with(ANNOTATES)
}

/// What is said in a function of its variables.
pub fn of(function: Function<'_>) -> Vec<Annotation<'_>> {
    let calls = function.instructions().into_iter();
    let calls = calls.filter_map(|one| one.as_call());
    calls.filter_map(annotation).collect()
}

fn annotation<'m>(call: Call<'m>) -> Option<Annotation<'m>> {
    let [of, what, _, _, values] = call.arguments()[..] else {
        return None;
    };
    if !is_annotation(call) {
        return None;
    }
    let what = what.as_text()?;
    let what = what.strip_prefix(PREFIX)?;
    let tile = Tile::of(values);
    let values = self::values(values);
    // That it is chosen automatically can be said, too.
    let axis = values.first().copied().flatten().filter(|&axis| axis != -1);
    let is_known = |row: &&Attribute| {
        let mut places = row.places.iter();
        let is_there = places.any(|one| [Place::Loop, Place::Variable].contains(one));
        is_there && matches!(row.form, Form::Annotation)
    };
    Some(Annotation {
        site: call,
        variable: of.underlying_object().as_op(Opcode::LLVMAlloca)?,
        what: match what {
            "outer" => What::Loop(Kind::Outer, axis),
            "inner" => What::Loop(Kind::Inner, axis),
            "shared" => What::Shared,
            "exclusive" => What::Exclusive,
            "tile" => tile.map_or(What::Other("tile".to_string()), What::Tile),
            other => match named(other).filter(is_known) {
                Some(row) => What::Attribute(row, values),
                None => What::Other(other.to_string()),
            },
        },
    })
}

/// The numbers that go with an annotation, among other things.
fn values(of: Value<'_>) -> Vec<Option<i64>> {
    let Some(value) = of.as_global().and_then(|one| one.initializer()) else {
        return Vec::new();
    };
    // A struct of zeros has no operands; the first number is enough to see that.
    if value.is_null() {
        return vec![Some(0)];
    }
    let numbers = value.operands().into_iter();
    numbers.map(Value::as_constant_int).collect()
}

/// All calls of a module that only say what the code around them is.
pub fn markers(module: &Module) -> Vec<Call<'_>> {
    let functions = module.functions().into_iter();
    let all = functions.flat_map(|function| function.instructions());
    let calls = all.filter_map(|one| one.as_call());
    let is_one = |call: &Call<'_>| is_marker(*call) || annotation(*call).is_some();
    calls.filter(is_one).collect()
}

/// Whether a call marks a place of the code.
pub fn is_marker(call: Call<'_>) -> bool {
    is_okl_marker(&call.callee_name())
}
