//! Loops over sets on a device: each becomes a kernel, of which a work item runs the body for one element.
//!
//! Guarantee: what the body adds to an element that others add to comes there at once. What it makes of a global argument each
//! work item has for itself; the work items of a block combine that, and what the block has the host combines; of equal least or greatest values, with what goes
//! along, the one of the element wins whose number is the least. Nothing is
//! accessed of an argument that is left out. A variable of the program's that the body reads is passed as it is when the loop begins. Which elements run at the same time, the run time
//! decides: it keeps apart those that write the same in another way.

use std::collections::HashMap;

use okl_abi::gpu::parameter;
use okl_abi::op2::{DeviceLoop, DeviceValue, device as what};

use super::asked::{meet, number};
use super::compile::entry_name;
use super::launch::{Kernel, Parameter as Given};
use super::reach::{self, Variables};
use super::shape::Wrong;
use super::target::GpuTarget;
use crate::ir::{Along, Base, Columns, Form, Kind, Mode, ParallelLoop, Parameter, Place, Storage};
use crate::llvm::{
    Block, Builder, Comparison, Function, Global, IntPredicate, Linkage, Module, Opcode,
    RealPredicate, Type, Value,
};
use crate::lower::elements::one::Passed as Access;
use crate::lower::elements::{Source, combined, components_of, is_better};
use crate::lower::runtime_call::declare;

/// Work items of a block: a power of two.
const BLOCK: i64 = 256;

/// More components of all arguments are not worth their code.
const MOST_COMPONENTS: i64 = 256;

/// Values of one global argument that blocks combine, at most.
const MOST_VALUES: i64 = 64;

/// Bytes of what goes along with a value, at most.
const MOST_ALONG: i64 = 256;

/// Bytes of a place in which a work item hands over a value.
const SLOT: i64 = 8;

/// A loop that may go to a device.
pub struct Candidate<'a, 'm> {
    /// The loop.
    pub one: &'a ParallelLoop<'m>,
}

/// What is passed to a kernel, or has to hold: a [`DeviceValue`].
pub struct Passed {
    what: i64,
    argument: usize,
    size: i64,
    /// Of the program's.
    variable: Option<String>,
}

impl<'a, 'm> Candidate<'a, 'm> {
    /// A loop, or why it cannot go there.
    pub fn of(module: &Module, one: &'a ParallelLoop<'m>) -> Result<Self, Wrong<'m>> {
        let site = one.site.instruction();
        let Some(kernel) = one.kernel() else {
            return Err((site, "its body is no function".to_string()));
        };
        let parameters = one.parameters();
        for (at, parameter) in parameters.iter().enumerate() {
            let fits = match along_of(one, at) {
                None => fits(parameter),
                Some(along) => fits_along(along, parameters.get(along.winner)),
            };
            fits.map_err(|why| (site, format!("arg{at} {why}")))?;
        }
        let count = components_of(one);
        if count > MOST_COMPONENTS {
            return Err((site, format!("its arguments have {count} components")));
        }
        reach::check(module, &kernel.blocks(), Variables::Passed)?;
        for global in variables(kernel) {
            let name = crate::llvm::demangle(&global.name());
            let why = match () {
                () if global.is_thread_local() => "of which each thread has one",
                () if global.value_type().has_pointers() => "which has pointers in it",
                () if global.name().is_empty() => "which has no name",
                () => continue,
            };
            return Err((site, format!("its kernel uses {name}, {why}")));
        }
        Ok(Self { one })
    }
}

/// What an argument goes along with.
fn along_of(one: &ParallelLoop<'_>, at: usize) -> Option<Along> {
    let mut all = one.description.along.iter();
    all.find(|one| one.argument == at).copied()
}

/// Why what goes along with an argument, `winner`, is nothing for a device, as the end of such a sentence.
fn fits_along(along: Along, winner: Option<&Parameter<'_>>) -> Result<(), &'static str> {
    let is_one = winner.is_some_and(|winner| {
        matches!(winner.access.mode, Mode::Min | Mode::Max)
            && winner.is_whole()
            && !winner.access.optional
            && winner.element().components == 1
    });
    match along.bytes {
        _ if !is_one => Err("is op_arg_info of what is not one value that is OP_MIN or OP_MAX"),
        1..=MOST_ALONG => Ok(()),
        _ => Err("has more bytes than devices hand on with a value"),
    }
}

/// Why an argument is nothing for a device, as the end of a sentence that begins with it.
fn fits(parameter: &Parameter<'_>) -> Result<(), &'static str> {
    let access = parameter.access;
    if parameter.kind == Kind::Number {
        return Ok(());
    }
    let Some(element) = access.element else {
        return Err(match (parameter.is_whole(), access.mode) {
            (true, Mode::ReadWrite) => {
                "is op_arg_info, or of a type or dimension that is no literal"
            }
            _ => "is of a type or dimension that is no literal",
        });
    };
    if parameter.kind == Kind::Data(Storage::Unknown) {
        return Err("is used by its kernel in a way that cannot be done to a copy");
    }
    let is_number = element.scalar.form != Form::Unknown && matches!(element.scalar.bytes, 4 | 8);
    match (parameter.is_whole(), access.mode) {
        (true, Mode::Read) => Ok(()),
        (true, Mode::Write | Mode::ReadWrite) => {
            Err("is a global argument that the kernel assigns")
        }
        (true, _) if !is_number => Err("is of a type that devices do not combine"),
        (true, _) if element.components > MOST_VALUES => {
            Err("has more than 64 values to be combined")
        }
        (true, _) => Ok(()),
        (false, Mode::Increment) if parameter.is_sum() && !is_number => {
            Err("is of a type that devices do not add to at once")
        }
        (false, Mode::Increment) if parameter.is_sum() && access.stated => {
            Err("is OP_INC, and its kernel does not only add to it")
        }
        _ => Ok(()),
    }
}

/// The variables that a function, and those that it calls, use as long as they may change.
fn variables(function: Function<'_>) -> Vec<Global<'_>> {
    let mut found = Vec::new();
    let mut functions = vec![function];
    let mut at = 0;
    while let Some(&function) = functions.get(at) {
        for one in function.instructions() {
            let callee = one.as_call().and_then(|call| call.callee_function());
            let callee = callee.filter(|callee| !callee.is_declaration());
            if let Some(callee) = callee.filter(|callee| !functions.contains(callee)) {
                functions.push(callee);
            }
            let mut rest = one.operands();
            while let Some(value) = rest.pop() {
                if value.is_composite_constant() {
                    rest.extend(value.operands());
                }
                if let Some(global) = value.as_global()
                    && !is_table(global)
                    && !found.contains(&global)
                {
                    found.push(global);
                }
            }
        }
        at += 1;
    }
    found
}

/// Whether a variable is the same in all files and at all times.
fn is_table(global: Global<'_>) -> bool {
    global.is_readonly() && !global.is_declaration() && !global.is_interposable()
}

/// The parameters of a kernel in the making.
struct Signature<'d> {
    device: &'d Module,
    target: &'static GpuTarget,
    types: Vec<Type<'d>>,
    /// Of those that are copies, what is copied, and its alignment.
    copied: Vec<Option<(Type<'d>, u32)>>,
    given: Vec<Given>,
    passed: Vec<Passed>,
    /// What has to hold.
    holds: Vec<Passed>,
}

impl<'d> Signature<'d> {
    fn add(
        &mut self,
        ty: Type<'d>,
        copied: Option<(Type<'d>, u32)>,
        given: Given,
        passed: Passed,
    ) -> usize {
        self.types.push(ty);
        self.copied.push(copied);
        self.given.push(given);
        self.passed.push(passed);
        self.types.len() - 1
    }

    /// A number of so many bits.
    fn number(&mut self, what: i64, argument: usize, bits: u32) -> usize {
        let given = Given {
            kind: 0,
            size: i64::from(bits / 8),
            is_alone: false,
            stays: None,
        };
        let passed = Passed::of(what, argument, 0);
        self.add(self.device.int(bits), None, given, passed)
    }

    /// An address of the device's memory, of elements of so many bytes. `is_alone`: what it leads to stays as it is while the
    /// kernel runs.
    fn address(&mut self, what: i64, argument: usize, size: i64, is_alone: bool) -> usize {
        let given = Given {
            kind: parameter::ADDRESS,
            size: 8,
            is_alone,
            stays: None,
        };
        let ty = self.device.pointer_into(self.target.global_space);
        self.add(ty, None, given, Passed::of(what, argument, size))
    }

    /// A copy of an object, which is to stay as it is.
    fn copy(&mut self, (ty, align): (Type<'d>, u32), name: String, passed: Passed) -> usize {
        let given = Given {
            kind: 0,
            size: self.device.size_of(ty) as i64,
            is_alone: false,
            stays: Some(name),
        };
        let align = align.max(self.device.align_of(ty));
        let pointer = match self.target.object_space {
            Some(space) => self.device.pointer_into(space),
            None => self.device.pointer(),
        };
        self.add(pointer, Some((ty, align)), given, passed)
    }
}

impl Passed {
    fn of(what: i64, argument: usize, size: i64) -> Self {
        Self {
            what,
            argument,
            size,
            variable: None,
        }
    }
}

/// Which parameters of the kernel an argument of the loop has: how the body gets at it, and whether it is there, where it may
/// be left out.
struct Has {
    how: How,
    is_there: Option<usize>,
}

/// How the body gets at an argument.
enum How {
    /// Its elements, and how they lie where that is not known.
    Data {
        data: usize,
        order: Option<[usize; 2]>,
        map: Option<Map>,
    },
    /// The number of the element as the program knows it, by the one that it has here; or what a map has that leads to such
    /// numbers.
    Number {
        numbers: usize,
    },
    MappedNumber(Map),
    /// Its value.
    Value(usize),
    /// Where blocks put their values, and what these begin with where it is not zero.
    Partials {
        to: usize,
        first: Option<usize>,
    },
    /// The same of a value with which others go along: where blocks put the number of the element that has it, and where the
    /// numbers are that the program knows elements by.
    Winner {
        to: usize,
        first: usize,
        firsts: usize,
        numbers: usize,
    },
    /// What goes along with the value of argument `winner`.
    Along {
        to: usize,
        first: usize,
        winner: usize,
        bytes: i64,
    },
}

/// A map, and which column of it.
#[derive(Clone, Copy)]
struct Map {
    entries: usize,
    column: usize,
    which: i64,
}

/// Makes a kernel of a loop in a copy of its module.
pub fn outline(
    device: &Module,
    one: &ParallelLoop<'_>,
    number: usize,
    target: &'static GpuTarget,
) -> Result<(Kernel, Vec<Passed>), String> {
    let host = one.kernel().expect("it was looked at");
    let body = device.function(&host.name());
    let body = body.ok_or("its copy is not what it was")?;
    let parameters = one.parameters();
    let mut signature = Signature {
        device,
        target,
        types: Vec::new(),
        copied: Vec::new(),
        given: Vec::new(),
        passed: Vec::new(),
        holds: Vec::new(),
    };
    let from = signature.number(what::FROM, 0, 32);
    let to = signature.number(what::TO, 0, 32);
    let numbers = signature.address(what::NUMBERS, 0, 4, true);
    let mut maps: HashMap<usize, (usize, usize)> = HashMap::new();
    let has: Vec<_> = parameters
        .iter()
        .enumerate()
        .map(|(at, parameter)| has(&mut signature, &mut maps, one, at, parameter))
        .collect();
    let variables = variables(body);
    let variables: Vec<_> = variables
        .into_iter()
        .map(|global| {
            let name = crate::llvm::demangle(&global.name());
            let passed = Passed {
                variable: Some(global.name()),
                ..Passed::of(
                    what::VARIABLE,
                    0,
                    device.size_of(global.value_type()) as i64,
                )
            };
            // Code that reads it counts on its alignment.
            let of_it = (global.value_type(), global.alignment());
            (global, signature.copy(of_it, name, passed))
        })
        .collect();
    let bytes = signature.given.iter();
    let bytes = bytes.map(|one| one.size.saturating_add(8));
    if bytes.fold(0_i64, i64::saturating_add) > target.most_passed {
        return Err(format!(
            "it gets more values than the {} bytes that {} has room for",
            target.most_passed, target.name
        ));
    }
    let entry = entry_name(body, number);
    let ty = device.function_type(device.void(), &signature.types);
    let kernel = device.add_function(&entry, ty, Linkage::LLVMExternalLinkage);
    kernel.copy_subprogram(body);
    for (at, copied) in signature.copied.iter().enumerate() {
        if let Some((ty, align)) = *copied {
            match target.object_space {
                Some(_) => kernel.refer_to_parameter(device, at, ty, align),
                None => kernel.copy_parameter(device, at, ty, align),
            }
        }
        if signature.given[at].is_alone {
            kernel.set_parameter_attribute(device, at, "noalias");
        }
    }
    let mut writer = Writer {
        device,
        target,
        kernel,
        body,
        given: kernel.parameters(),
        name: entry.clone(),
    };
    writer.write([from, to, numbers], &parameters, &has);
    replace(kernel, body, &variables, &writer.given);
    body.set_linkage(Linkage::LLVMInternalLinkage);
    signature.passed.extend(signature.holds);
    let kernel = Kernel {
        entry,
        parameters: signature.given,
        items: Some([BLOCK, 1, 1]),
        ..Kernel::default()
    };
    Ok((kernel, signature.passed))
}

/// The parameters that an argument has.
fn has(
    signature: &mut Signature<'_>,
    maps: &mut HashMap<usize, (usize, usize)>,
    one: &ParallelLoop<'_>,
    at: usize,
    argument: &Parameter<'_>,
) -> Has {
    let optional = argument.access.optional;
    let is_there = optional.then(|| signature.number(what::IS_THERE, at, 32));
    let how = match along_of(one, at) {
        Some(along) => how_along(signature, along),
        None => how(signature, maps, at, argument),
    };
    let how = match how {
        How::Partials {
            to,
            first: Some(first),
        } if one.description.along.iter().any(|one| one.winner == at) => How::Winner {
            to,
            first,
            firsts: signature.address(what::FIRSTS, at, 4, false),
            numbers: signature.address(what::ORIGINAL, at, 4, true),
        },
        how => how,
    };
    Has { how, is_there }
}

fn how_along(signature: &mut Signature<'_>, along: Along) -> How {
    let Along {
        argument,
        winner,
        bytes,
    } = along;
    let module = signature.device;
    let values = module.array(module.int(8), bytes as u64);
    let name = format!("arg{argument}, which is op_arg_info");
    How::Along {
        first: signature.copy((values, 8), name, Passed::of(what::VALUE, argument, bytes)),
        to: signature.address(what::PARTIALS, argument, bytes, false),
        winner,
        bytes,
    }
}

fn how(
    signature: &mut Signature<'_>,
    maps: &mut HashMap<usize, (usize, usize)>,
    at: usize,
    argument: &Parameter<'_>,
) -> How {
    let mode = argument.access.mode;
    let is_number = argument.kind == Kind::Number;
    let map = match &argument.access.place {
        Place::Through(map, columns) => {
            let Base::Map(first) = map.base else {
                unreachable!("maps are of arguments");
            };
            let which = match columns {
                Columns::One(column) => i64::from(*column),
                Columns::First(_) => 0,
            };
            let (entries, column) = match is_number {
                true => (
                    signature.address(what::ORIGINAL_MAP, at, 4, true),
                    signature.number(what::COLUMN, at, 64),
                ),
                false => {
                    if first != at {
                        let same = Passed::of(what::SAME_MAP, at, first as i64);
                        signature.holds.push(same);
                    }
                    *maps.entry(first).or_insert_with(|| {
                        let entries = signature.address(what::MAP, first, 4, true);
                        (entries, signature.number(what::COLUMN, first, 64))
                    })
                }
            };
            Some(Map {
                entries,
                column,
                which,
            })
        }
        _ => None,
    };
    if is_number {
        return match map {
            Some(map) => How::MappedNumber(map),
            None => How::Number {
                numbers: signature.address(what::ORIGINAL, at, 4, true),
            },
        };
    }
    let element = argument.element();
    let bytes = element.bytes().unwrap_or(0);
    if !argument.is_whole() {
        let data = signature.address(what::DATA, at, bytes, mode == Mode::Read);
        let order = argument
            .is_either()
            .then(|| [what::STEP, what::STRIDE].map(|what| signature.number(what, at, 64)));
        return How::Data { data, order, map };
    }
    let module = signature.device;
    let values = module.array(element.scalar.ty(module), element.components as u64);
    let mut value = || {
        let passed = Passed::of(what::VALUE, at, bytes);
        signature.copy((values, 1), format!("arg{at}, which is OP_READ"), passed)
    };
    match mode {
        Mode::Read => How::Value(value()),
        Mode::Increment => How::Partials {
            first: None,
            to: signature.address(what::PARTIALS, at, bytes, false),
        },
        _ => How::Partials {
            first: Some(value()),
            to: signature.address(what::PARTIALS, at, bytes, false),
        },
    }
}

/// What decides between equal values, and what goes along with the one that wins.
struct Ties<'d> {
    /// The element of this work item, as the program knows it.
    number: Value<'d>,
    /// Room for those of all work items of the block.
    shared: Value<'d>,
    /// Where blocks put the number of the element that has the value.
    firsts: Value<'d>,
    /// What the work item has, where blocks put it, and its bytes.
    along: Vec<(Value<'d>, Value<'d>, i64)>,
}

/// A kernel in the making.
struct Writer<'d> {
    device: &'d Module,
    target: &'static GpuTarget,
    kernel: Function<'d>,
    body: Function<'d>,
    /// What it is passed.
    given: Vec<Value<'d>>,
    name: String,
}

impl<'d> Writer<'d> {
    /// An address of the device's memory as one like others.
    fn address(&self, builder: &Builder<'d>, at: usize) -> Value<'d> {
        let pointer = self.device.pointer();
        builder.cast(Opcode::LLVMAddrSpaceCast, self.given[at], pointer)
    }

    fn write(&mut self, [from, to, numbers]: [usize; 3], arguments: &[Parameter<'_>], has: &[Has]) {
        let (module, kernel) = (self.device, self.kernel);
        let [start, begin, look, run, join] = [(); 5].map(|()| kernel.append_block(module));
        let (int, long) = (module.int(32), module.int(64));
        let at = |block| {
            let builder = Builder::at_end(module, block);
            builder.stand_at_start_of(kernel);
            builder
        };
        let builder = at(start);
        if let Some(space) = self.target.object_space {
            for given in &mut self.given {
                if given.ty().space() == Some(space) {
                    *given = builder.cast(Opcode::LLVMAddrSpaceCast, *given, module.pointer());
                }
            }
        }
        let item = number(&builder, &self.target.item, 0, Some(BLOCK));
        let block = number(&builder, &self.target.block, 0, None);
        let before = builder.multiply(block, module.const_i64(BLOCK));
        let first = builder.sign_extend(self.given[from], long);
        let position = builder.sum(builder.sum(first, before), item);
        let end = builder.sign_extend(self.given[to], long);
        let accesses: Vec<_> = arguments
            .iter()
            .zip(has)
            .map(|(argument, has)| self.access(&builder, argument, has))
            .collect();
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        // What stands for an element where there is none: a number that none has.
        let nobody = builder.difference(module.const_i64(i64::from(i32::MAX)), item);
        let nobody = builder.int_cast(nobody, int);
        let is_there = builder.ask(less, position, end);
        builder.go_if(is_there, begin, join);

        let builder = at(begin);
        let same = builder.int_cast(position, int);
        let none = self.given[numbers].ty().zero();
        let has_numbers = builder.compare(self.given[numbers], none, true);
        builder.go_if(has_numbers, look, run);

        let builder = at(look);
        let entry = builder.element(int, self.given[numbers], position);
        let told = builder.load(int, entry);
        builder.go(run);

        let mut builder = at(run);
        let number = builder.phi(int);
        number.add_incoming(same, begin);
        number.add_incoming(told, look);
        let mut front = run;
        let mut gathered = Vec::new();
        for ((access, _), has) in accesses.iter().zip(has) {
            let mut shown = number;
            if let How::Number { numbers } = has.how {
                let known = self.given[numbers];
                let differs = builder.compare(known, known.ty().zero(), true);
                (builder, front, shown) =
                    self.only_if(builder, front, differs, number, |builder| {
                        builder.load(int, builder.element(int, known, number))
                    });
            }
            let Some(is_there) = has.is_there else {
                gathered.push(access.gather(&builder, shown));
                continue;
            };
            let mut found = None;
            let is_there = builder.compare(self.given[is_there], int.zero(), true);
            let none = module.pointer().zero();
            let parameter;
            (builder, front, parameter) = self.only_if(builder, front, is_there, none, |builder| {
                let one = access.gather(builder, shown);
                let parameter = one.parameter;
                found = Some(one);
                parameter
            });
            gathered.push(found.expect("it was made").instead(parameter));
        }
        let passed: Vec<_> = gathered.iter().map(|one| one.parameter).collect();
        let call = builder.call(self.body, &passed).as_call();
        for (((access, _), has), gathered) in accesses.iter().zip(has).zip(&gathered) {
            let Some(is_there) = has.is_there.filter(|_| access.is_scattered()) else {
                access.scatter(&builder, gathered);
                continue;
            };
            let is_there = builder.compare(self.given[is_there], int.zero(), true);
            (builder, front, _) = self.only_if(builder, front, is_there, int.zero(), |builder| {
                access.scatter_anew(builder, number);
                int.zero()
            });
        }
        let mut shown = number;
        let known = has.iter().find_map(|one| match one.how {
            How::Winner { numbers, .. } => Some(self.given[numbers]),
            _ => None,
        });
        if let Some(known) = known {
            let differs = builder.compare(known, known.ty().zero(), true);
            (builder, front, shown) = self.only_if(builder, front, differs, number, |builder| {
                builder.load(int, builder.element(int, known, number))
            });
        }
        builder.go(join);
        let builder = at(join);
        let shown_by = [(nobody, start), (shown, front)];
        let shown = builder.phi(int);
        for (shown_there, from) in shown_by {
            shown.add_incoming(shown_there, from);
        }
        call.expect("a call").inline();

        let mut end = (builder, join);
        let mut shared = None;
        let all = has;
        let each = arguments.iter().zip(all).zip(&accesses).enumerate();
        for (which, ((argument, has), (_, own))) in each {
            let (to, firsts) = match has.how {
                How::Partials { to, .. } => (to, None),
                How::Winner { to, firsts, .. } => (to, Some(firsts)),
                _ => continue,
            };
            let own = own.expect("it has a copy");
            let shared = *shared.get_or_insert_with(|| {
                let slots = module.array(long, BLOCK as u64);
                let name = format!("{}_values", self.name);
                module.add_in_space(&name, slots, self.target.shared_space, 16)
            });
            let ties = firsts.map(|firsts| {
                let slots = module.array(int, BLOCK as u64);
                let name = format!("{}_numbers_{which}", self.name);
                let along = all.iter().zip(&accesses).filter_map(|(has, (_, own))| {
                    let How::Along {
                        to, winner, bytes, ..
                    } = has.how
                    else {
                        return None;
                    };
                    let is_its = winner == which;
                    is_its.then(|| {
                        let own = own.expect("it has a copy");
                        (own, self.address(&end.0, to), bytes)
                    })
                });
                Ties {
                    number: shown,
                    shared: module.add_in_space(&name, slots, self.target.shared_space, 16),
                    firsts: self.address(&end.0, firsts),
                    along: along.collect(),
                }
            });
            let to = self.address(&end.0, to);
            end = self.combine(end, argument, [item, block], [own, shared, to], ties);
        }
        end.0.ret(None);
    }

    /// Does something where a condition holds, and has a value of it, or `other`. Continues behind that.
    fn only_if(
        &self,
        builder: Builder<'d>,
        front: Block<'d>,
        condition: Value<'d>,
        other: Value<'d>,
        does: impl FnOnce(&Builder<'d>) -> Value<'d>,
    ) -> (Builder<'d>, Block<'d>, Value<'d>) {
        let [yes, next] = [(); 2].map(|()| self.kernel.append_block(self.device));
        let at = |block| {
            let builder = Builder::at_end(self.device, block);
            builder.stand_at_start_of(self.kernel);
            builder
        };
        builder.go_if(condition, yes, next);
        let builder = at(yes);
        let value = does(&builder);
        builder.go(next);
        let builder = at(next);
        let both = builder.phi(value.ty());
        both.add_incoming(value, yes);
        both.add_incoming(other, front);
        (builder, next, both)
    }

    /// How the body gets at an argument; where it has a copy of a global argument, its address.
    fn access<'a>(
        &self,
        builder: &Builder<'d>,
        argument: &Parameter<'a>,
        has: &Has,
    ) -> (Access<'a, 'd>, Option<Value<'d>>) {
        let module = self.device;
        let zero = module.const_i64(0);
        let element = argument.element();
        let mut source = Source {
            data: module.pointer().zero(),
            size: zero,
            stride: None,
            map: module.pointer().zero(),
            arity: module.const_i64(1),
            column: None,
        };
        let column_of = |map: &Map| {
            let distance = self.given[map.column];
            let distance = builder.multiply(distance, module.const_i64(map.which));
            let entries = self.address(builder, map.entries);
            builder.element(module.int(32), entries, distance)
        };
        let mut own = None;
        match &has.how {
            How::Data { data, order, map } => {
                source.data = self.address(builder, *data);
                source.size = module.const_i64(element.bytes().unwrap_or(0));
                if let Some([step, stride]) = order {
                    source.size = self.given[*step];
                    source.stride = Some(self.given[*stride]);
                }
                if let Some(map) = map {
                    source.map = column_of(map);
                    source.column = Some(self.given[map.column]);
                }
            }
            How::Number { .. } => source.data = builder.alloca(module.int(32), 4),
            How::MappedNumber(map) => {
                source.data = column_of(map);
                source.size = module.const_i64(4);
            }
            How::Value(at) => source.data = self.given[*at],
            How::Along { first, bytes, .. } => {
                let value = builder.alloca(module.array(module.int(8), *bytes as u64), 16);
                builder.copy(value, self.given[*first], *bytes);
                source.data = value;
                own = Some(value);
            }
            How::Partials { .. } | How::Winner { .. } => {
                let first = match &has.how {
                    How::Partials { first, .. } => *first,
                    How::Winner { first, .. } => Some(*first),
                    _ => None,
                };
                let scalar = element.scalar.ty(module);
                let values = module.array(scalar, element.components as u64);
                let values = builder.alloca(values, 16);
                for component in 0..element.components {
                    let at = component * element.scalar.bytes;
                    let value = match first {
                        Some(first) => {
                            let from = builder.offset(self.given[first], at);
                            builder.load(scalar, from)
                        }
                        None => scalar.zero(),
                    };
                    builder.store(value, builder.offset(values, at));
                }
                source.data = values;
                own = Some(values);
            }
        }
        let columns = argument.elements().max(1) as u64;
        let columns_at = match argument.is_table() {
            true => builder.alloca(module.array(module.pointer(), columns), 8),
            false => module.pointer().zero(),
        };
        let access = Access::of_item(builder, *argument, source, columns_at);
        (access, own)
    }

    /// Combines what the work items of a block have: each adds to its own what the one has that stands half as far behind
    /// each time, so that the order is always the same. Continues behind that.
    fn combine(
        &self,
        (mut builder, mut front): (Builder<'d>, Block<'d>),
        argument: &Parameter<'_>,
        [item, block]: [Value<'d>; 2],
        [own, shared, to]: [Value<'d>; 3],
        ties: Option<Ties<'d>>,
    ) -> (Builder<'d>, Block<'d>) {
        let (module, kernel) = (self.device, self.kernel);
        let element = argument.element();
        let (scalar, bytes) = (element.scalar.ty(module), element.scalar.bytes);
        let at = |block| {
            let builder = Builder::at_end(module, block);
            builder.stand_at_start_of(kernel);
            builder
        };
        let zero = module.const_i64(0);
        let slot = module.array(module.int(8), SLOT as u64);
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        for component in 0..element.components {
            let mine = builder.element(slot, shared, item);
            let value = builder.load(scalar, builder.offset(own, component * bytes));
            builder.store(value, mine);
            let numbered = ties.as_ref().map(|ties| {
                let place = builder.element(module.int(32), ties.shared, item);
                builder.store(ties.number, place);
                place
            });
            meet(&builder, self.target);
            let [head, adds, met, done, last, next] = [(); 6].map(|()| kernel.append_block(module));
            builder.go(head);
            let builder_at_head = at(head);
            let distance = builder_at_head.phi(module.int(64));
            distance.add_incoming(module.const_i64(BLOCK / 2), front);
            let is_lower = builder_at_head.ask(less, item, distance);
            builder_at_head.go_if(is_lower, adds, met);

            let builder_at_adds = at(adds);
            let other = builder_at_adds.element(slot, shared, builder_at_adds.sum(item, distance));
            let [old, new] = [mine, other].map(|from| builder_at_adds.load(scalar, from));
            match (&ties, numbered) {
                (Some(ties), Some(numbered)) => {
                    let builder = &builder_at_adds;
                    let int = module.int(32);
                    let others = builder.element(int, ties.shared, builder.sum(item, distance));
                    let [first, second] = [numbered, others].map(|from| builder.load(int, from));
                    let equal = match element.scalar.form {
                        Form::Floating => Comparison::Floating(RealPredicate::LLVMRealOEQ),
                        _ => Comparison::Integer(IntPredicate::LLVMIntEQ),
                    };
                    let is_before = builder.ask(less, second, first);
                    let is_same = builder.and(builder.ask(equal, old, new), is_before);
                    let is_better = is_better(builder, argument, old, new);
                    let wins = builder.binary(Opcode::LLVMOr, is_better, is_same);
                    builder.store(builder.select(wins, new, old), mine);
                    builder.store(builder.select(wins, second, first), numbered);
                }
                _ => {
                    let both = combined(&builder_at_adds, argument, old, new);
                    builder_at_adds.store(both, mine);
                }
            }
            builder_at_adds.go(met);

            let builder_at_met = at(met);
            meet(&builder_at_met, self.target);
            let half = builder_at_met.shift_right(distance, 1);
            distance.add_incoming(half, met);
            let is_more = builder_at_met.compare(half, zero, true);
            builder_at_met.go_if(is_more, head, done);

            let builder_at_done = at(done);
            // The one whose value it is has what goes along with it.
            let is_it = match &ties {
                Some(ties) => {
                    let winner = builder_at_done.load(module.int(32), ties.shared);
                    builder_at_done.compare(winner, ties.number, false)
                }
                None => builder_at_done.compare(item, zero, false),
            };
            builder_at_done.go_if(is_it, last, next);

            let builder_at_last = at(last);
            let result = builder_at_last.load(scalar, shared);
            let of_block = module.const_i64(element.bytes().unwrap_or(0));
            let of_block = builder_at_last.multiply(block, of_block);
            let place = builder_at_last.element(module.int(8), to, of_block);
            let place = builder_at_last.offset(place, component * bytes);
            builder_at_last.store(result, place);
            if let Some(ties) = &ties {
                let builder = &builder_at_last;
                let place = builder.element(module.int(32), ties.firsts, block);
                builder.store(ties.number, place);
                for (own, to, bytes) in &ties.along {
                    let of_block = builder.multiply(block, module.const_i64(*bytes));
                    let place = builder.element(module.int(8), *to, of_block);
                    let align = [8, 4, 1].into_iter().find(|one| bytes % one == 0);
                    builder.copy_aligned(place, *own, *bytes, align.expect("one is") as u32);
                }
            }
            builder_at_last.go(next);

            (builder, front) = (at(next), next);
            meet(&builder, self.target);
        }
        (builder, front)
    }
}

/// Has a kernel, into which its body is copied, use what it is passed in place of variables of the program's.
fn replace<'d>(
    kernel: Function<'d>,
    body: Function<'d>,
    globals: &[(Global<'d>, usize)],
    given: &[Value<'d>],
) {
    if globals.is_empty() {
        return;
    }
    // Functions that are called are other kernels', too. One that calls itself stays, and is refused later.
    let mut seen = HashMap::new();
    loop {
        let calls = kernel.instructions().into_iter();
        let mut calls = calls.filter_map(|one| one.as_call()).filter(|call| {
            let callee = call.callee_function();
            callee.is_some_and(|callee| {
                !callee.is_declaration()
                    && callee != body
                    && *seen.entry(callee).or_insert(0) < MOST_COPIES
                    && !variables(callee).is_empty()
            })
        });
        let Some(call) = calls.next() else { break };
        drop(calls);
        let callee = call.callee_function().expect("it was found");
        *seen.entry(callee).or_insert(0) += 1;
        if !call.inline() {
            seen.insert(callee, MOST_COPIES);
        }
    }
    for (global, at) in globals {
        global.expand_constant_users();
        for one in kernel.instructions() {
            for (operand, value) in one.operands().into_iter().enumerate() {
                if value == **global {
                    one.set_operand(operand, given[*at]);
                }
            }
        }
    }
}

/// So often a function is copied into a kernel.
const MOST_COPIES: usize = 64;

/// What the run time is told of a loop whose kernel is `record`: a [`DeviceLoop`].
pub fn record<'m>(
    module: &'m Module,
    record: Value<'m>,
    halo: Option<Value<'m>>,
    passed: &[Passed],
    has_cpu: bool,
) -> Value<'m> {
    let rows = passed.iter().map(|one| {
        let fields = DeviceValue::NAMES.iter().map(|&field| match field {
            "what" => module.const_i64(one.what),
            "argument" => module.const_i64(one.argument as i64),
            "size" => module.const_i64(one.size),
            "variable" => match &one.variable {
                Some(name) => *module.global(name).expect("its copy was found"),
                None => module.pointer().zero(),
            },
            other => unreachable!("a value has no {other}"),
        });
        module.const_struct(&fields.collect::<Vec<_>>())
    });
    let rows: Vec<_> = rows.collect();
    let values = module.add_constant("okl.device.values", module.const_array(rows[0].ty(), &rows));
    values.set_alignment(8);
    use okl_abi::gpu::f;
    let fields = DeviceLoop::NAMES.iter().map(|&field| match field {
        "kernel" => record,
        "launch" => *declare(module, &f::okl_gpu_launch_v4),
        "runs" => *declare(module, &f::okl_gpu_runs_v3),
        "values" => *values,
        "value_count" => module.const_i64(rows.len() as i64),
        "block" => module.const_i64(BLOCK),
        "has_processor" => module.const_i64(i64::from(has_cpu)),
        "halo" => halo.expect("it was made with the loop's kernel"),
        other => unreachable!("a loop of a device has no {other}"),
    });
    let value = module.const_struct(&fields.collect::<Vec<_>>());
    let record = module.add_constant("okl.device.loop", value);
    record.set_alignment(8);
    *record
}
