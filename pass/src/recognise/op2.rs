//! OP2's parallel loops: calls of instances of the template `op_par_loop`, of OP2's own header or of
//! okl's, as clang emits them before anything is inlined.
//!
//! What an argument is follows from the one call that makes it: `op_arg_dat` and its like. What a loop
//! says is compared with what it does: [`checks`].

mod as_one;
mod calls;
mod checks;
mod constants;
mod globals;
mod kernels;

use crate::diagnostic::{Declined, Site};
use crate::ir::{
    Access, Along, Argument, Base, Body, Columns, Description, Element, Kind, Mode, Origin,
    ParallelLoop, Place, Scalar, Schedule, Space, Storage,
};
use crate::llvm::{Call, Function, Instruction, Module, Opcode, Value};
use okl_abi::op2::{access, f};

use crate::recognise::KeepsThreads;
use crate::recognise::{Found, Note};

pub use as_one::{join, settle};
use calls::{Api, Made, api, is_op2, may_end};
use kernels::Kernels;

/// Adds the loops of a module.
pub fn recognise<'m>(module: &'m Module, found: &mut Found<'m>) {
    let mut described = Vec::new();
    let mut may_end_in = Vec::new();
    let mut is_part = false;
    for function in module.functions() {
        for instruction in function.instructions() {
            let Some(call) = (*instruction).as_call() else {
                continue;
            };
            let Some(api) = api(call) else { continue };
            is_part |= is_op2(&api);
            let written = calls::written_at(call);
            if may_end(&api) && !constants::is_library(written.function()) {
                may_end_in.extend((*written).as_call().map(Note::MayEnd));
            }
            if api.name != "op_par_loop" || is_forwarder(call) {
                continue;
            }
            match Described::of(call, &api) {
                Ok(one) => described.push(one),
                Err(reason) => found.declined.push(declined(call, &reason)),
            }
        }
    }
    let looks = [
        looks_at(module, MAP).map(Note::LooksAtMaps),
        looks_at(module, DATA).map(Note::LooksAtData),
    ];
    is_part |= looks.iter().any(Option::is_some);
    // Other programs have functions of such names, too, and no run time that could be told.
    if is_part || module.function(f::okl_op2_looks_at_data.name).is_some() {
        found.notes.extend(may_end_in);
    }
    found.notes.extend(looks.into_iter().flatten());
    if is_part {
        // Each process runs all of the program.
        found.keeps_threads = Some(KeepsThreads {
            why: "the file is part of an OP2 program",
            unless_asked: false,
        });
        constants::check(module, found);
    }
    let kernels = Kernels::of(module, &described);
    for one in &described {
        // Of what was written as one each loop is still there.
        if !as_one::is_as_one(one.call) {
            checks::check(one, &kernels, found);
        }
        match one.parallel_loop(&kernels) {
            Ok(one) => found.loops.push(one),
            Err(reason) => found.declined.push(declined(one.call, &reason)),
        }
    }
}

/// A field of a struct: the struct's name in clang's code, and the field's position.
type Field = (&'static str, i64);
const DATA: Field = ("struct.op_dat_core", 4);
const MAP: Field = ("struct.op_map_core", 4);

/// The first place where a module takes the address of such a field, as clang writes it; not of a copy that the program
/// has been given.
fn looks_at<'m>(module: &'m Module, (name, position): Field) -> Option<Instruction<'m>> {
    let functions = module.functions().into_iter();
    let mut all = functions.flat_map(|function| function.instructions());
    all.find(|one| {
        let is_dat = one.opcode() == Opcode::LLVMGetElementPtr
            && one
                .source_element_type()
                .and_then(|ty| ty.struct_name())
                .is_some_and(|its_name| {
                    let rest = its_name.strip_prefix(name);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                });
        let operands = one.operands();
        let copies = ["op_fetch_data_file", "op_mpi_get_data"];
        let is_copy_of = |copy: &str| calls::declaration(operands[0], copy).is_some();
        let is_copy = || copies.into_iter().any(is_copy_of);
        is_dat
            && !is_copy()
            && operands.get(2).and_then(|field| field.as_constant_int()) == Some(position)
    })
}

fn declined<'m>(call: Call<'m>, reason: &str) -> Declined<'m> {
    Declined {
        site: Site::Instruction(calls::written_at(call)),
        reason: format!("op_par_loop runs element by element as it is written: {reason}"),
    }
}

/// Whether a call only hands a lambda on to the call that is recognised.
fn is_forwarder(call: Call<'_>) -> bool {
    let callee = call.callee_function();
    let inner = callee.into_iter().flat_map(|callee| callee.instructions());
    let mut inner = inner.filter_map(|one| api((*one).as_call()?));
    inner.any(|api| api.name == "op_par_loop")
}

/// A call of `op_par_loop` with what makes its arguments.
struct Described<'m> {
    call: Call<'m>,
    kernel: Value<'m>,
    name: Value<'m>,
    set: Value<'m>,
    arguments: Vec<DescribedArgument<'m>>,
}

struct DescribedArgument<'m> {
    /// The `op_arg`.
    value: Value<'m>,
    /// What the kernel's parameter points to, as C++ writes it.
    type_name: String,
    made: Made<'m>,
}

/// Operands of `op_par_loop` before the arguments: kernel, name, set.
const LEADING: usize = 3;

impl<'m> Described<'m> {
    fn of(call: Call<'m>, api: &Api) -> Result<Self, String> {
        let operands = call.arguments();
        let count = operands.len().saturating_sub(LEADING);
        let is_copy = |at: usize| call.is_by_value(at) || as_one::is_as_one(call);
        if count == 0 || !(LEADING..operands.len()).all(is_copy) {
            return Err("its arguments are not of type op_arg".to_string());
        }
        let types = api.template_arguments.get(..count);
        let types = types.ok_or("the types of the kernel's parameters are not known")?;
        let arguments = operands[LEADING..].iter().zip(types).enumerate();
        let arguments = arguments.map(|(at, (&value, type_name))| {
            let made = Made::of(value, call);
            let made = made.map_err(|why| format!("arg{at} {why}"))?;
            Ok(DescribedArgument {
                value,
                // Whether the pointers themselves are constant makes no difference.
                type_name: type_name.replace("* const", "*"),
                made,
            })
        });
        Ok(Self {
            call,
            kernel: calls::kernel(operands[0]),
            name: operands[1],
            set: operands[2],
            arguments: arguments.collect::<Result<_, String>>()?,
        })
    }

    /// The kernel, where this file defines it.
    fn defined_kernel(&self) -> Option<Function<'m>> {
        self.kernel
            .as_function()
            .filter(|kernel| !kernel.is_declaration())
    }

    fn parallel_loop(&self, kernels: &Kernels) -> Result<ParallelLoop<'m>, String> {
        let function = self.kernel.as_function();
        let function = function.ok_or("the kernel is known only when the program runs")?;
        if function.is_declaration() {
            return Err("the kernel is not defined in this file".to_string());
        }
        if let Some((at, what)) = globals::used_by_name(self) {
            return Err(format!("arg{at} {what}"));
        }
        let mut arguments = Vec::new();
        let mut accesses = Vec::new();
        for (at, one) in self.arguments.iter().enumerate() {
            let mut access = self.access(at).map_err(|why| format!("arg{at}: {why}"))?;
            let is_data = matches!(one.made, Made::Dat(_));
            if is_data && access.mode == Mode::ReadWrite && kernels.only_reads(self, at) {
                (access.mode, access.stated) = (Mode::Read, false);
            }
            if access.mode == Mode::Increment && kernels.only_adds(self, at) {
                access.stated = false;
            }
            let kind = match one.made.kind() {
                Kind::Data(Storage::Either { .. }) if !kernels.may_have_copies(self, at) => {
                    Kind::Data(Storage::Unknown)
                }
                kind => kind,
            };
            accesses.push(access);
            arguments.push(Argument {
                value: one.value,
                kind,
                first: self.first_of(at),
            });
        }
        let one = ParallelLoop {
            origin: Origin::Op2ParLoop,
            site: self.call,
            space: Space::Set {
                set: self.set,
                name: self.name,
            },
            body: Body::Function(function),
            arguments,
            schedule: Schedule::Any,
            chunk: None,
            ordered: Some(false),
            description: Description {
                accesses,
                along: self.along(),
                ..Description::default()
            },
        };
        one.verify().map(|()| one)
    }

    /// What goes along with the least or greatest value of another argument.
    fn along(&self) -> Box<[Along]> {
        let all = self.arguments.iter().enumerate();
        let all = all.filter_map(|(argument, one)| match one.made {
            Made::Information {
                bytes: Some(bytes),
                winner: Some(winner),
            } => Some(Along {
                argument,
                winner,
                bytes,
            }),
            _ => None,
        });
        all.collect()
    }

    /// The first argument that seems to have the same data.
    fn first_of(&self, at: usize) -> usize {
        let dat = |one: &DescribedArgument<'m>| match &one.made {
            Made::Dat(dat) => Some(dat.dat),
            _ => None,
        };
        let mine = dat(&self.arguments[at]);
        let mut all = self.arguments.iter();
        let is_its = |one| {
            let both = dat(one).zip(mine);
            both.is_some_and(|(other, mine)| calls::is_same(other, mine))
        };
        all.position(is_its).unwrap_or(at)
    }

    /// What the program says that the kernel does by an argument.
    fn access(&self, at: usize) -> Result<Access<'m>, String> {
        let mode = self.arguments[at].mode()?;
        Ok(self.access_in(at, mode, self.place(at)?))
    }

    fn access_in(&self, at: usize, mode: Mode, place: Place<'m>) -> Access<'m> {
        let made = &self.arguments[at].made;
        Access {
            mode,
            must: mode == Mode::Write,
            optional: made.is_optional(),
            stated: true,
            element: match made {
                Made::Number { .. } => Some(Element::NUMBER),
                _ => made.element(),
            },
            base: Base::Argument(at),
            place,
        }
    }

    /// Where the elements of an argument are.
    fn place(&self, at: usize) -> Result<Place<'m>, String> {
        let made = &self.arguments[at].made;
        let columns = match made {
            Made::Dat(dat) => dat.index,
            Made::Number { index, .. } => *index,
            Made::Global { .. } | Made::Information { .. } => return Ok(Place::Whole),
        };
        if let Some(map) = made.map() {
            let columns = self::columns(columns)?;
            return match (made, columns) {
                (Made::Number { .. }, Columns::First(_)) => {
                    Err("it names several columns".to_string())
                }
                _ => Ok(Place::Through(Box::new(self.row(map)), columns)),
            };
        }
        match made {
            Made::Dat(dat) if dat.components.is_none() => {
                Err("its dimension is not a literal".to_string())
            }
            _ => Ok(Place::Own),
        }
    }

    /// What is read of a map: the row of the element.
    fn row(&self, map: Value<'m>) -> Access<'m> {
        let uses_it = |one: &DescribedArgument<'m>| {
            let other = one.made.map();
            other.is_some_and(|other| calls::is_same(other, map))
        };
        let first = self.arguments.iter().position(uses_it);
        let row = |components| Element {
            scalar: Scalar::INT,
            components,
        };
        Access {
            mode: Mode::Read,
            must: false,
            optional: false,
            stated: true,
            element: calls::arity(map).map(row),
            base: Base::Map(first.expect("an argument uses the map")),
            place: Place::Own,
        }
    }
}

/// The columns that an index selects: -n means the first n.
fn columns(index: Option<i64>) -> Result<Columns, String> {
    let index = index.ok_or("its index is not a literal")?;
    let number = u32::try_from(index.unsigned_abs()).map_err(|_| "its index is too large")?;
    match index {
        -1 => Err("it has a map, but no index".to_string()),
        ..-1 => Ok(Columns::First(number)),
        _ => Ok(Columns::One(number)),
    }
}

impl DescribedArgument<'_> {
    /// Whether the kernel gets pointers to several elements.
    fn is_several(&self) -> bool {
        matches!(&self.made, Made::Dat(dat) if dat.index.is_some_and(|index| index < -1))
    }

    /// How the program says that the kernel accesses it.
    fn mode(&self) -> Result<Mode, String> {
        if matches!(self.made, Made::Information { .. }) {
            return Ok(Mode::ReadWrite);
        }
        match self.access().ok_or("its access is not a literal")? {
            access::READ => Ok(Mode::Read),
            access::WRITE => Ok(Mode::Write),
            access::RW | access::WORK => Ok(Mode::ReadWrite),
            access::INC => Ok(Mode::Increment),
            access::MIN => Ok(Mode::Min),
            access::MAX => Ok(Mode::Max),
            other => Err(format!("there is no access {other}")),
        }
    }
}
