//! Loops over sets with vectors: several elements at once.
//!
//! Whether its elements may run on several threads is found out, too.
//!
//! What is known of a loop's arguments when it is recognised is in its record. Later, when LLVM has simplified
//! the body, it is made to work on as many elements as a vector register has room for. The run time uses the result where no data that the loop writes are those of another argument.

pub mod argument;
pub mod body;
mod data;
mod masks;

use okl_abi::op2::f;

use crate::analysis::access::uses;
use crate::analysis::sections::is_final;
use crate::diagnostic::Site;
use crate::ir::{Columns, Mode, Place, Scalar, Storage};
use crate::llvm::{Builder, Call, Function, Linkage, Module, Value, VectorUnit};

use crate::lower::elements::{field, parameter_at};
use crate::record::{ArgumentRecord, LoopRecord, MapRecord};
use crate::simplified::Unrolled;

use argument::{LaneAccess, LaneArgument, LanePlace, LaneStorage};
use body::Body;
use data::LaneValues;

/// Positions among the operands of `okl_op2_par_loop`.
const BODY: usize = 4;
const RANGE: usize = 5;
const LANES: usize = 6;
const WIDTH: usize = 7;
const ANY_ORDER: usize = 8;
const COMPONENTS: usize = 9;
const COMPONENT_LANES: usize = 10;
/// Lanes that make the rearrangement worth its while.
const LEAST_WIDTH: i64 = 4;
/// More arguments than a loop may have.
const MOST_COLUMNS: u32 = 32;

/// What the lanes need to know of a loop's arguments, or why it has none.
fn lane_arguments(record: &LoopRecord) -> Result<Vec<LaneArgument>, String> {
    let arguments = record.arguments.iter().enumerate();
    arguments
        .map(|(at, argument)| lane_argument(record, at, argument))
        .collect()
}

fn lane_argument(
    record: &LoopRecord,
    at: usize,
    argument: &ArgumentRecord,
) -> Result<LaneArgument, String> {
    let element = match argument.place {
        Place::Number { .. } => Some((Scalar::INT, 1)),
        _ => argument.element.map(|one| (one.scalar, one.components)),
    };
    // What is not known has no components that could be used.
    let (scalar, components) = element.unwrap_or((
        Scalar {
            bytes: 1,
            ..Scalar::INT
        },
        0,
    ));
    let (place, columns) = match argument.place {
        Place::Section { .. } | Place::Number { column: Some(_) } => (LanePlace::Direct, 1),
        Place::Number { column: None } => (LanePlace::Number, 1),
        Place::Scalar => (LanePlace::Global, 1),
        Place::Indirect { columns } => match columns {
            Columns::One(_) => (LanePlace::Mapped, 1),
            Columns::First(count) if count <= MOST_COLUMNS => (LanePlace::Columns, count),
            Columns::First(_) => return Err(format!("arg{at} stands for many elements")),
        },
    };
    // They may be the same ones: then it matters which component of which is written last.
    if columns > 1 && argument.access == Mode::Write {
        return Err(format!("arg{at} is OP_WRITE of several elements"));
    }
    Ok(LaneArgument {
        place,
        access: match argument.access {
            Mode::Read => LaneAccess::Read,
            Mode::Write => LaneAccess::Write,
            Mode::ReadWrite => LaneAccess::ReadWrite,
            Mode::Increment => LaneAccess::Increment,
            Mode::Min => LaneAccess::Min,
            Mode::Max => LaneAccess::Max,
        },
        bytes: scalar.bytes,
        is_floating: scalar.floating,
        is_signed: scalar.signed,
        components,
        columns: i64::from(columns),
        leader: leader(record, at, argument),
        arity: argument.map.map_or(0, |map| arity(record, map)),
        size: match argument.place {
            Place::Section { .. } | Place::Indirect { .. } => components * scalar.bytes,
            _ => 0,
        },
        storage: match argument.storage {
            Storage::ByElement | Storage::Unknown => LaneStorage::ByElement,
            Storage::Either {
                by_component: false,
            } => LaneStorage::Either,
            Storage::Either { by_component: true } => LaneStorage::EitherByComponent,
        },
    })
}

/// The first argument that seems to use the same columns of the same map.
fn leader(record: &LoopRecord, at: usize, argument: &ArgumentRecord) -> usize {
    let Some(map) = argument.map else { return at };
    let is_like = |other: &ArgumentRecord| {
        other.place == argument.place && other.map.is_some_and(|other| other.first == map.first)
    };
    record.arguments.iter().position(is_like).unwrap_or(at)
}

/// The columns that a map seems to have: as declared, or as many as the loop uses.
fn arity(record: &LoopRecord, map: MapRecord) -> i64 {
    let used = |other: &ArgumentRecord| {
        let uses = other.map.is_some_and(|other| other.first == map.first);
        match other.place {
            Place::Indirect { columns } if uses => match columns {
                Columns::One(column) => column + 1,
                Columns::First(count) => count,
            },
            _ => 0,
        }
    };
    let used = record.arguments.iter().map(used).max().unwrap_or(0);
    map.arity.unwrap_or(i64::from(used))
}

/// What becomes of a loop.
struct Outcome<'m> {
    /// The function for several elements at once, and their number, or why there is none.
    lanes: Result<(Function<'m>, i64), String>,
    /// The same where data lie component by component.
    component_lanes: Option<(Function<'m>, i64)>,
    /// Why its elements may not run in any order and on any thread.
    order: Result<(), String>,
}

impl<'m> Outcome<'m> {
    /// Of the loop with a range function, that a call runs. What the headers write for a loop that is not understood has no
    /// record: it runs one element at a time.
    fn of(
        module: &'m Module,
        unit: &VectorUnit<'_>,
        range: Function<'m>,
        site: Call<'m>,
    ) -> Option<Self> {
        let record = LoopRecord::at(site)?;
        let other_version = |_| "another version of okl wrote its record".to_string();
        let arguments = record.map_err(other_version);
        let arguments = arguments.and_then(|record| lane_arguments(&record));
        let components = site.arguments()[COMPONENTS].as_function();
        let body = site.arguments()[BODY].as_function();
        let body = body.filter(|body| !body.is_declaration() && is_final(*body));
        let body = body.map(|body| (Unrolled::of(module, body), unit.bits(body)));
        let body = body
            .as_ref()
            .ok_or("the kernel is defined or replaced in another file");
        let body = body.map_err(str::to_string);
        let lanes = body.clone().and_then(|(body, bits)| {
            let arguments = arguments.clone()?;
            let name = range.name().replacen("okl.range.", "okl.lanes.", 1);
            write(module, &name, range, **body, &arguments, *bits)
        });
        let component_lanes = body.clone().ok().zip(components);
        let component_lanes = component_lanes.and_then(|((body, bits), components)| {
            let arguments = arguments.clone().ok()?;
            write_for_components(module, components, **body, &arguments, *bits)
        });
        let order = body.and_then(|(body, _)| any_order(module, **body, &arguments?));
        Some(Self {
            lanes,
            component_lanes,
            order,
        })
    }

    /// How many elements it runs at a time, and whether that is more than one where data lie element by element.
    fn elements(&self) -> (String, bool) {
        match &self.lanes {
            Ok((_, width)) => (format!("op_par_loop runs {width} elements at a time"), true),
            Err(reason) => {
                let unless = match self.component_lanes {
                    Some(_) => ", unless its data are stored component by component",
                    None => "",
                };
                let message = "op_par_loop runs one element at a time";
                (format!("{message}: {reason}{unless}"), false)
            }
        }
    }

    /// Why it runs on one thread.
    fn threads(&self) -> Option<String> {
        let reason = self.order.as_ref().err()?;
        Some(format!("op_par_loop runs on one thread: {reason}"))
    }
}

/// Gives the loops of a module their lanes. True where the module was changed.
pub fn emit(module: &Module, unit: &VectorUnit<'_>) -> bool {
    let loops = loops(module);
    for (range, sites) in &loops {
        let Some(outcome) = Outcome::of(module, unit, *range, sites[0]) else {
            continue;
        };
        for site in sites {
            let instruction = site.instruction();
            if let Ok((lanes, width)) = outcome.lanes {
                instruction.set_operand(LANES, *lanes);
                instruction.set_operand(WIDTH, module.const_i32(width as i32));
            }
            if let Some((lanes, width)) = outcome.component_lanes {
                instruction.set_operand(COMPONENT_LANES, *lanes);
                instruction.set_operand(WIDTH, module.const_i32(width as i32));
            }
            let (message, has_lanes) = outcome.elements();
            instruction.remark("Lanes", &message, !has_lanes);
            match outcome.threads() {
                None => instruction.set_operand(ANY_ORDER, module.const_i32(1)),
                Some(message) => instruction.remark("Threads", &message, true),
            }
        }
    }
    !loops.is_empty()
}

/// What becomes of the loops of a module, which is changed for it, as text.
pub fn print(module: &Module, unit: &VectorUnit<'_>) -> String {
    let mut text = String::new();
    for (range, sites) in loops(module) {
        let Some(outcome) = Outcome::of(module, unit, range, sites[0]) else {
            continue;
        };
        for site in sites {
            let site = Site::Instruction(site.instruction());
            for message in [Some(outcome.elements().0), outcome.threads()] {
                text.extend(message.map(|message| format!("{site}: {message}\n")));
            }
        }
    }
    text
}

/// The range functions of loops, as they stand in the module, each with the calls that run it.
fn loops(module: &Module) -> Vec<(Function<'_>, Vec<Call<'_>>)> {
    if module.function(f::okl_op2_par_loop_v3.name).is_none() {
        return Vec::new();
    }
    let ranges = module.functions().into_iter();
    let loops = ranges.map(|range| {
        let calls = range.users().into_iter().filter_map(Value::as_call);
        let runs = |call: &Call<'_>| {
            call.callee_name() == f::okl_op2_par_loop_v3.name
                && call.argument(RANGE) == Some(*range)
        };
        (range, calls.filter(runs).collect::<Vec<_>>())
    });
    loops.filter(|(_, sites)| !sites.is_empty()).collect()
}

/// Whether the elements of a loop may run in any order and on any thread, and if not, why.
fn any_order(
    module: &Module,
    body: Function<'_>,
    arguments: &[LaneArgument],
) -> Result<(), String> {
    let mut found = Body::of(module, body, arguments);
    found.keeps_to_arguments()?;
    let parameters = body.parameters();
    for (at, argument) in arguments.iter().enumerate() {
        let done = uses(parameters[at]);
        let is_right = match argument.access {
            LaneAccess::Increment if argument.is_shared() => {
                let only_adds = !(done.reads || done.writes || done.minimises || done.maximises);
                only_adds || found.only_increments(at).is_ok()
            }
            LaneAccess::Min | LaneAccess::Max => done.reads || !done.writes,
            _ => true,
        };
        if !is_right {
            return Err(format!(
                "the kernel does to arg{at} what its access does not say"
            ));
        }
    }
    Ok(())
}

/// The function for several elements at once where data lie component by component, and their number: as the program
/// says of each, or else all; in vectors of `bits`. What does not lie as it expects, it leaves to `rest`.
fn write_for_components<'m>(
    module: &'m Module,
    rest: Function<'m>,
    body: Function<'m>,
    arguments: &[LaneArgument],
    bits: u32,
) -> Option<(Function<'m>, i64)> {
    let with = |is_so: &dyn Fn(LaneStorage) -> bool| {
        let laid = arguments.iter().map(|one| match is_so(one.storage) {
            true => LaneArgument {
                size: one.bytes,
                storage: LaneStorage::ByComponent,
                ..*one
            },
            false => *one,
        });
        laid.collect::<Vec<_>>()
    };
    let is_either = |one: LaneStorage| one != LaneStorage::ByElement;
    let is_said = |one: LaneStorage| one == LaneStorage::EitherByComponent;
    let all = |is_so: &dyn Fn(LaneStorage) -> bool| arguments.iter().all(|one| is_so(one.storage));
    let name = rest.name();
    let name = name.replacen("okl.components.", "okl.component_lanes.", 1);
    let mut lanes = write(module, &name, rest, body, &with(&is_either), bits).ok()?;
    let is_mixed = !all(&|one| !is_said(one)) && !all(&|one| is_said(one) || !is_either(one));
    if is_mixed {
        lanes = write(module, &name, lanes.0, body, &with(&is_said), bits).unwrap_or(lanes);
    }
    Some(lanes)
}

/// The function for several elements at once, and their number, in vectors of `bits`; `rest` is the one for what is left.
fn write<'m>(
    module: &'m Module,
    name: &str,
    rest: Function<'m>,
    body: Function<'m>,
    arguments: &[LaneArgument],
    bits: u32,
) -> Result<(Function<'m>, i64), String> {
    let widest = arguments.iter().map(|one| one.bytes).max().unwrap_or(1);
    let width = i64::from(bits) / 8 / widest;
    if width < LEAST_WIDTH {
        return Err("the target's vectors are too short".to_string());
    }
    let lanes = module.add_function(name, rest.function_type(), Linkage::LLVMInternalLinkage);
    lanes.compile_like(rest);
    let is_laid = |one: &LaneArgument| one.storage == LaneStorage::ByComponent;
    let has_components = arguments.iter().any(is_laid);
    let builder = Builder::at_end(module, lanes.append_block(module));
    let parameters = lanes.parameters()[1];
    let values: Vec<_> = arguments
        .iter()
        .enumerate()
        .map(|(at, argument)| {
            let at = builder.offset(parameters, parameter_at(at));
            let load = |name: &str, ty| builder.load(ty, builder.offset(at, field(name)));
            let (pointer, long) = (module.pointer(), module.int(64));
            let is_compared = has_components && argument.storage != LaneStorage::ByElement;
            LaneValues {
                found_size: is_compared.then(|| load("size", long)),
                stride: match is_laid(argument) {
                    true => load("stride", long),
                    false => module.const_i64(0),
                },
                data: load("data", pointer),
                size: match argument.size {
                    0 => load("size", long),
                    known => module.const_i64(known),
                },
                map: load("map", pointer),
                arity: load("arity", long),
            }
        })
        .collect();
    match masks::write(
        module,
        [lanes, rest, body],
        arguments,
        &values,
        width as usize,
    ) {
        Ok(()) => Ok((lanes, width)),
        Err(reason) => {
            lanes.erase_unused();
            Err(reason)
        }
    }
}
