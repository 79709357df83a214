//! Loops over sets on a device: each becomes a kernel, of which a work item runs the body for one element.
//!
//! Guarantee: what the body adds to an element that others add to comes there at once, or, in kernels for which the run time
//! keeps elements or blocks apart that do so, without atomic operations ([`Adds`]). What it makes of a global argument each
//! work item has for itself; the work items of a block combine that, and what the block has the host combines; of equal least
//! or greatest values, with what goes along, the one of the element wins whose number is the least. Nothing is accessed of an
//! argument that is left out. A variable of the program's that the body reads is passed as it is when the loop begins. Which
//! elements run at the same time, the run time decides: it keeps apart those that write the same in another way.

mod combine;
mod item;
mod signature;
mod staged;
mod variables;

use std::collections::HashMap;

use okl_abi::gpu::does;
use okl_abi::op2::{DeviceLoop, DeviceValue, device as what};

use super::compile::entry_name;
use super::launch::Kernel;
use super::reach::{self, Variables};
use super::shape::Wrong;
use super::target::GpuTarget;
use crate::ir::{Along, Form, Kind, Mode, ParallelLoop, Parameter, Storage};
use crate::llvm::{Linkage, Module, Value};
use crate::lower::elements::components_of;
use crate::lower::elements::one::Adds;
use crate::lower::runtime_call::declare;
use item::Writer;
use signature::{Signature, has};
use variables::{replace, variables};

/// Work items of a block: a power of two.
const BLOCK: i64 = 256;

/// More components of all arguments are not worth their code.
const MOST_COMPONENTS: i64 = 256;

/// Values of one global argument that blocks combine, at most.
const MOST_VALUES: i64 = 64;

/// Bytes of what goes along with a value, at most.
const MOST_ALONG: i64 = 256;

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

/// What the run time is told of a loop.
pub struct Told {
    /// What is passed to its kernels, which is the same for all of them.
    values: Vec<Passed>,
    /// The names of its kernels but the first, of which elements, or blocks, must not run at the same time that add to the same.
    apart: Option<String>,
    staged: Option<String>,
}

impl Told {
    /// The names of its other kernels, and of the ways in which what they add comes there.
    pub fn others(&self) -> [(Option<&str>, &'static str); 2] {
        let ways = [(&self.apart, "colours"), (&self.staged, "blocks")];
        ways.map(|(name, way)| (name.as_deref(), way))
    }

    /// Whether the work items of its first kernel do so.
    pub fn adds_at_once(&self) -> bool {
        self.apart.is_some()
    }
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

/// How what is added to elements through maps comes there in the kernels of a loop, the first of which is that of the loop as
/// it is.
fn ways(parameters: &[Parameter<'_>], is_staged: bool) -> Vec<Adds> {
    let mut written = parameters.iter().filter(|one| {
        let mode = one.access.mode;
        one.kind != Kind::Number && one.columns().is_some() && mode != Mode::Read
    });
    let has_sums = parameters.iter().any(|one| one.is_sum() && !one.is_whole());
    match (written.all(Parameter::is_sum), has_sums) {
        (true, true) if is_staged => vec![Adds::AtOnce, Adds::Apart, Adds::Staged],
        (true, true) => vec![Adds::AtOnce, Adds::Apart],
        // What keeps apart those that write the same in another way, keeps apart those that add to it.
        _ => vec![Adds::Apart],
    }
}

/// What its elements add to others that also others add to, as the host is told.
fn additions(parameters: &[Parameter<'_>]) -> i64 {
    let sums = parameters
        .iter()
        .filter(|one| one.is_sum() && !one.is_whole());
    let each = sums.map(|one| {
        let scalar = one.element().scalar;
        match (scalar.form, scalar.bytes) {
            (Form::Floating, 4) => does::ADDS_F32,
            (Form::Floating, 8) => does::ADDS_F64,
            _ => 0,
        }
    });
    each.fold(0, |all, one| all | one)
}

/// Makes the kernels of a loop in a copy of its module. The host knows of the first one; the others are like it.
pub fn outline(
    device: &Module,
    one: &ParallelLoop<'_>,
    number: usize,
    target: &'static GpuTarget,
) -> Result<(Vec<Kernel>, Told), String> {
    let host = one.kernel().expect("it was looked at");
    let body = device.function(&host.name());
    let body = body.ok_or("its copy is not what it was")?;
    let parameters = one.parameters();
    let mut signature = Signature::new(device, target);
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
    let mut groups = Vec::new();
    if ways(&parameters, true).contains(&Adds::Staged) {
        groups = staged::groups(&mut signature, one, &parameters);
    }
    if signature.bytes() > target.most_passed {
        return Err(format!(
            "it gets more values than the {} bytes that {} has room for",
            target.most_passed, target.name
        ));
    }
    let ty = device.function_type(device.void(), &signature.types);
    let mut kernels = Vec::new();
    let mut told = Told {
        values: Vec::new(),
        apart: None,
        staged: None,
    };
    for adds in ways(&parameters, !groups.is_empty()) {
        let mut entry = entry_name(body, number);
        if !kernels.is_empty() {
            let (ending, name) = match adds {
                Adds::Staged => ("staged", &mut told.staged),
                Adds::AtOnce | Adds::Apart => ("apart", &mut told.apart),
            };
            entry = format!("{entry}_{ending}");
            *name = Some(entry.clone());
        }
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
            adds,
        };
        writer.write([from, to, numbers], &parameters, &has, &groups);
        replace(kernel, body, &variables, &writer.given);
        kernels.push(Kernel {
            entry,
            parameters: signature.given.clone(),
            items: Some([BLOCK, 1, 1]),
            adds: match adds {
                Adds::AtOnce => additions(&parameters),
                Adds::Apart | Adds::Staged => 0,
            },
            ..Kernel::default()
        });
    }
    body.set_linkage(Linkage::LLVMInternalLinkage);
    told.values = signature.passed;
    told.values.extend(signature.holds);
    Ok((kernels, told))
}

/// What the run time is told of a loop whose kernels are these: a [`DeviceLoop`].
pub fn record<'m>(
    module: &'m Module,
    [kernel, apart, staged]: [Option<Value<'m>>; 3],
    halo: Option<Value<'m>>,
    told: &Told,
    has_cpu: bool,
) -> Value<'m> {
    let none = module.pointer().zero();
    let rows = told.values.iter().map(|one| {
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
        "kernel" => kernel.unwrap_or(none),
        "apart" => apart.unwrap_or(none),
        "staged" => staged.unwrap_or(none),
        "launch" => *declare(module, &f::okl_gpu_launch_v6),
        "runs" => *declare(module, &f::okl_gpu_runs_v5),
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
