//! Loops over sets with vectors: several elements at once.
//!
//! Whether its elements may run on several threads is found out, too.
//!
//! What is known of a loop's arguments when it is recognised is in its record. Later, when LLVM has simplified
//! the body, [`check`] finds out how it can work on as many elements as a vector register has room for, and [`emit`] writes
//! that. The run time uses it where no data that the loop writes are those of another argument.
//!
//! Checking leaves the module as it is, but for copies of kernels whose loops are written out: they are the plans', and
//! go with them.

mod layout;
mod plan;
mod planner;
mod write;

use okl_abi::Effects;

use crate::analysis::access::uses;
use crate::analysis::call_graph::is_final;
use crate::analysis::increments;
use crate::analysis::kernel::Kernel;
use crate::analysis::runtime::{self, argument, effects};
use crate::diagnostic::Site;
use crate::ir::{Kind, Mode, Parameter, Storage};
use crate::llvm::{Call, Function, Module, Value, VectorUnit};
use crate::marks::{COMPONENT_LANES, COMPONENTS, LANES, RANGE, is_lowered_range, vector_bits};
use crate::record::LoopRecord;
use crate::simplified::Unrolled;

use layout::Layout;
use plan::Plan;

/// Lanes that make the rearrangement worth its while.
const LEAST_WIDTH: i64 = 4;

/// What is to become of the loops of a module.
pub struct Plans<'m>(Vec<LoopPlan<'m>>);

/// What is to become of a loop.
struct LoopPlan<'m> {
    /// The calls that run it.
    sites: Vec<Call<'m>>,
    /// The function that runs its elements one at a time, and the one for data that lie component by component.
    range: Function<'m>,
    components: Option<Function<'m>>,
    /// What is known of it: the same at all sites.
    record: Option<LoopRecord<'m>>,
    /// For several elements at once, or why there is nothing.
    lanes: Result<Plan<'m>, String>,
    /// The same where data lie component by component: each leaves to the one before it what lies otherwise.
    component_lanes: Vec<Plan<'m>>,
    /// Why its elements may not run in any order and on any thread.
    order: Result<(), String>,
    /// What the plans are made of.
    _kernel: Option<Unrolled<'m>>,
}

/// Finds out what can become of the loops of a module.
pub fn check<'m>(module: &'m Module, unit: &VectorUnit<'_>) -> Plans<'m> {
    let loops = loops(module).into_iter();
    let plans = loops.filter_map(|(range, sites)| LoopPlan::of(module, unit, range, sites));
    Plans(plans.collect())
}

/// Gives the loops their lanes. True where the module was changed.
pub fn emit<'m>(module: &'m Module, plans: &Plans<'m>) -> bool {
    for one in &plans.0 {
        one.emit(module);
    }
    !plans.0.is_empty()
}

impl Plans<'_> {
    /// As text.
    pub fn print(&self) -> String {
        let mut text = String::new();
        for one in &self.0 {
            for site in &one.sites {
                let site = Site::Instruction(site.instruction());
                for message in [Some(one.elements()), one.threads()] {
                    text.extend(message.map(|message| format!("{site}: {message}\n")));
                }
            }
        }
        text
    }
}

impl<'m> LoopPlan<'m> {
    /// Of the loop with a range function, that these calls run. What the headers write for a loop that is not understood never
    /// had a record: it runs one element at a time.
    fn of(
        module: &'m Module,
        unit: &VectorUnit<'_>,
        range: Function<'m>,
        sites: Vec<Call<'m>>,
    ) -> Option<Self> {
        let record = record(range, &sites)?;
        let operand = |name| operand(sites[0], name).as_function();
        let components = operand("components");
        let body = operand("kernel");
        let body = body.filter(|body| !body.is_declaration() && is_final(*body));
        let body = body.ok_or("the kernel is defined or replaced in another file".to_string());
        let kernel = body.clone().map(|body| Unrolled::of(module, body));
        let found = match (&body, &kernel, &record) {
            (Ok(body), Ok(kernel), Ok(record)) => {
                let parameters = record.parameters();
                let kernel = Kernel::of(module, **kernel, &parameters);
                layout::check(&parameters).map(|()| {
                    let bits = vector_bits(*body).unwrap_or_else(|| unit.bits(*body));
                    Found::of(&kernel, bits, components.is_some())
                })
            }
            (Err(reason), ..) | (_, Err(reason), _) | (.., Err(reason)) => Err(reason.clone()),
        };
        let found = found.unwrap_or_else(|reason| Found {
            lanes: Err(reason.clone()),
            component_lanes: Vec::new(),
            order: Err(reason),
        });
        Some(Self {
            sites,
            range,
            components,
            record: record.ok(),
            lanes: found.lanes,
            component_lanes: found.component_lanes,
            order: found.order,
            _kernel: kernel.ok(),
        })
    }

    fn emit(&self, module: &'m Module) {
        let parameters = self.record.as_ref().map(LoopRecord::parameters);
        let parameters = parameters.unwrap_or_default();
        let write = |rest: Function<'m>, [from, to]: [&str; 2], plan: &Plan<'m>| {
            let name = rest.name().replacen(from, to, 1);
            write::write(module, &name, rest, plan, &parameters)
        };
        let lanes = self.lanes.as_ref().ok();
        let lanes = lanes.map(|plan| write(self.range, [RANGE, LANES], plan));
        let names = [COMPONENTS, COMPONENT_LANES];
        let component_lanes = self.components.and_then(|mut rest| {
            for plan in &self.component_lanes {
                rest = write(rest, names, plan);
            }
            (!self.component_lanes.is_empty()).then_some(rest)
        });
        let mut plans = self.lanes.iter().chain(&self.component_lanes);
        let width = plans.next().map(|plan| module.const_i32(plan.width as i32));
        let order = self.order.is_ok().then(|| module.const_i32(1));
        for &site in &self.sites {
            for (name, new) in [
                ("lanes", lanes.map(|one| *one)),
                ("component_lanes", component_lanes.map(|one| *one)),
                ("width", width),
                ("any_order", order),
            ] {
                if let Some(new) = new {
                    site.instruction().set_operand(position(site, name), new);
                }
            }
            let site = site.instruction();
            site.remark("Lanes", &self.elements(), self.lanes.is_err());
            if let Some(message) = self.threads() {
                site.remark("Threads", &message, true);
            }
        }
    }

    /// As what the user wrote it, where that is known.
    fn written_as(&self) -> String {
        let origin = self.record.as_ref().map(|record| record.origin.to_string());
        origin.unwrap_or_else(|| "loop".to_string())
    }

    /// How many elements it runs at a time.
    fn elements(&self) -> String {
        let one = self.written_as();
        match &self.lanes {
            Ok(plan) => format!("{one} runs {} elements at a time", plan.width),
            Err(reason) => {
                let unless = match self.component_lanes.is_empty() {
                    true => "",
                    false => ", unless its data are stored component by component",
                };
                format!("{one} runs one element at a time: {reason}{unless}")
            }
        }
    }

    /// Why it runs on one thread.
    fn threads(&self) -> Option<String> {
        let reason = self.order.as_ref().err()?;
        Some(format!(
            "{} runs on one thread: {reason}",
            self.written_as()
        ))
    }
}

/// The range functions of loops, as they stand in the module, each with the calls that run it.
pub(in crate::lower) fn loops(module: &Module) -> Vec<(Function<'_>, Vec<Call<'_>>)> {
    let ranges = module.functions().into_iter();
    let loops = ranges.map(|range| {
        let calls = range.users().into_iter().filter_map(Value::as_call);
        let runs = |call: &Call<'_>| {
            effects(*call).has(Effects::RUNS_LOOP) && argument(*call, "range") == Some(*range)
        };
        (range, calls.filter(runs).collect::<Vec<_>>())
    });
    loops.filter(|(_, sites)| !sites.is_empty()).collect()
}

/// Which operand of the call that runs a loop has that name.
pub(in crate::lower) fn position(site: Call<'_>, name: &str) -> usize {
    let position = runtime::function(site).and_then(|function| function.position(name));
    position.expect("the function has the parameter")
}

/// The operand of that name.
pub(in crate::lower) fn operand<'m>(site: Call<'m>, name: &str) -> Value<'m> {
    site.arguments()[position(site, name)]
}

/// What all calls of a loop say of it; nothing where none of them has ever said anything.
pub(in crate::lower) fn record<'m>(
    range: Function<'m>,
    sites: &[Call<'m>],
) -> Option<Result<LoopRecord<'m>, String>> {
    let records: Vec<_> = sites.iter().map(|site| LoopRecord::at(*site)).collect();
    if records.iter().all(Option::is_none) {
        let lost = || Err("its record is lost".to_string());
        return is_lowered_range(range).then(lost);
    }
    let mut all = records.into_iter();
    let first = all.next().flatten();
    let is_same = all.all(|one| one == first);
    Some(match first {
        Some(Ok(record)) if is_same => Ok(record),
        Some(Err(_)) if is_same => Err("another version of okl wrote its record".to_string()),
        _ => Err("copies of its call have lost its record, or have another one".to_string()),
    })
}

/// What is found of a kernel.
struct Found<'m> {
    lanes: Result<Plan<'m>, String>,
    component_lanes: Vec<Plan<'m>>,
    order: Result<(), String>,
}

impl<'m> Found<'m> {
    /// Of one in vectors of `bits`; its data may lie component by component if it `has_components`.
    fn of(kernel: &Kernel<'_, 'm>, bits: u32, has_components: bool) -> Self {
        let fits = fits(kernel);
        let width = width(kernel.arguments, bits);
        let width = width.and_then(|width| planner::check(kernel, &fits).map(|()| width));
        let plan = |by_component: &[bool]| {
            let layout = Layout {
                parameters: kernel.arguments,
                by_component,
            };
            Plan::of(kernel, layout, width.clone()?)
        };
        let component_lanes = match has_components {
            true => for_components(kernel.arguments, plan),
            false => Vec::new(),
        };
        Self {
            lanes: plan(&vec![false; kernel.arguments.len()]),
            component_lanes,
            order: any_order(kernel, &fits),
        }
    }
}

/// How many elements, of which the arguments are, have room in vectors of `bits`.
fn width(arguments: &[Parameter<'_>], bits: u32) -> Result<usize, String> {
    let bytes = arguments.iter().map(|one| one.element().scalar.bytes);
    match i64::from(bits) / 8 / bytes.max().unwrap_or(1) {
        ..LEAST_WIDTH => Err("the target's vectors are too short".to_string()),
        width => Ok(width as usize),
    }
}

/// Of which arguments the kernel does what the loop says of them, where elements of the set may have them in common.
fn fits(kernel: &Kernel<'_, '_>) -> Vec<bool> {
    let pointers = kernel.function.parameters().into_iter();
    let each = pointers.zip(kernel.arguments).enumerate();
    let each = each.map(|(at, (pointer, argument))| match argument.access.mode {
        // It has been found already.
        Mode::Increment if !argument.access.stated => true,
        Mode::Increment if argument.is_sum() => {
            increments::only_adds(kernel, at, &[&uses(pointer)])
        }
        Mode::Min | Mode::Max => increments::may_compare(&uses(pointer)),
        Mode::Increment | Mode::Read | Mode::Write | Mode::ReadWrite => true,
    });
    each.collect()
}

/// Whether the elements of a loop may run in any order and on any thread, and if not, why.
fn any_order(kernel: &Kernel<'_, '_>, fits: &[bool]) -> Result<(), String> {
    kernel.keeps_to_arguments()?;
    match fits.iter().position(|fits| !fits) {
        None => Ok(()),
        Some(at) => Err(format!(
            "the kernel does to arg{at} what its access does not say"
        )),
    }
}

/// Where data lie component by component: all that may, and then, as the program says of each, some.
fn for_components<'m>(
    arguments: &[Parameter<'_>],
    plan: impl Fn(&[bool]) -> Result<Plan<'m>, String>,
) -> Vec<Plan<'m>> {
    let is_said = |one: &Parameter<'_>| {
        let by_component = Kind::Data(Storage::Either { by_component: true });
        one.kind == by_component
    };
    let either: Vec<_> = arguments.iter().map(Parameter::is_either).collect();
    let said: Vec<_> = arguments.iter().map(is_said).collect();
    let Ok(first) = plan(&either) else {
        return Vec::new();
    };
    let is_mixed = said.contains(&true) && said != either;
    let second = is_mixed.then(|| plan(&said).ok()).flatten();
    [first].into_iter().chain(second).collect()
}
