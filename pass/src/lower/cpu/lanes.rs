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
use crate::ir::{Kind, Mode, Parameter, Storage};
use crate::llvm::{Builder, Call, Function, Linkage, Module, Value, VectorUnit};
use crate::lower::elements::{Fields, Source};
use crate::record::LoopRecord;
use crate::simplified::Unrolled;

use argument::LaneArgument;
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
        let record = record.map_err(other_version);
        let arguments = record.as_ref().map_err(String::clone);
        let arguments = arguments.and_then(|record| LaneArgument::of(record));
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
    arguments: &[LaneArgument<'_>],
) -> Result<(), String> {
    let mut found = Body::of(module, body, parameters(arguments));
    found.keeps_to_arguments()?;
    let pointers = body.parameters();
    for (at, one) in arguments.iter().enumerate() {
        let done = uses(pointers[at]);
        let is_right = match one.parameter.access.mode {
            Mode::Increment if one.parameter.is_sum() => {
                let only_adds = !(done.reads || done.writes || done.minimises || done.maximises);
                only_adds || found.only_increments(at).is_ok()
            }
            Mode::Min | Mode::Max => done.reads || !done.writes,
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
    arguments: &[LaneArgument<'_>],
    bits: u32,
) -> Option<(Function<'m>, i64)> {
    let is_either = |one: &LaneArgument<'_>| one.parameter.is_either();
    let is_said = |one: &LaneArgument<'_>| {
        let by_component = Kind::Data(Storage::Either { by_component: true });
        one.parameter.kind == by_component
    };
    let with = |is_so: &dyn Fn(&LaneArgument<'_>) -> bool| {
        let laid = arguments.iter().map(|one| match is_so(one) {
            true => one.by_component(),
            false => *one,
        });
        laid.collect::<Vec<_>>()
    };
    let name = rest.name();
    let name = name.replacen("okl.components.", "okl.component_lanes.", 1);
    let mut lanes = write(module, &name, rest, body, &with(&is_either), bits).ok()?;
    let is_mixed = arguments.iter().any(is_said)
        && arguments.iter().any(|one| is_either(one) && !is_said(one));
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
    arguments: &[LaneArgument<'_>],
    bits: u32,
) -> Result<(Function<'m>, i64), String> {
    let widest = arguments.iter().map(LaneArgument::bytes).max().unwrap_or(1);
    let width = i64::from(bits) / 8 / widest;
    if width < LEAST_WIDTH {
        return Err("the target's vectors are too short".to_string());
    }
    let lanes = module.add_function(name, rest.function_type(), Linkage::LLVMInternalLinkage);
    lanes.compile_like(rest);
    let has_components = arguments.iter().any(|one| one.is_by_component);
    let builder = Builder::at_end(module, lanes.append_block(module));
    let passed = lanes.parameters()[1];
    let values = arguments.iter().enumerate().map(|(at, one)| {
        let fields = Fields::of(&builder, passed, at);
        let is_compared = has_components && one.parameter.is_either();
        let found_size = is_compared.then(|| fields.number("size"));
        let stride = one.is_by_component.then(|| fields.number("stride"));
        let data = fields.address("data");
        let size = match one.size {
            None => fields.number("size"),
            Some(size) => module.const_i64(size),
        };
        let map = fields.address("map");
        let found_arity = fields.number("arity");
        let arity = one
            .arity
            .map_or(found_arity, |arity| module.const_i64(arity));
        let source = Source {
            data,
            size,
            stride,
            map,
            arity,
        };
        LaneValues {
            source,
            found_size,
            found_arity,
        }
    });
    let values: Vec<_> = values.collect();
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

/// What the body gets.
fn parameters<'a>(arguments: &[LaneArgument<'a>]) -> Vec<Parameter<'a>> {
    arguments.iter().map(|one| one.parameter).collect()
}
