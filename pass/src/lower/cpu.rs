//! Loops outside regions on the processor. One over blocks of work items stays where it is ([`items`]) and is shared by
//! threads ([`threads`], [`atomics`]); for one over a set there is a function that calls the body for a range of elements.
//!
//! What each parameter of the body points to is known here, so that LLVM sees plain address arithmetic
//! around the body and inlines it. The run time decides which ranges run, where and when.
//!
//! Once LLVM has simplified the body, a second function is made that works on several elements at once: [`lanes`]. Short
//! rows of blocks of work items are prefetched then: [`prefetch`].

pub(in crate::lower) mod atomics;
pub mod costs;
pub(in crate::lower) mod counted;
mod exceptions;
pub mod items;
pub mod lanes;
pub mod prefetch;
pub(in crate::lower) mod threads;

use std::collections::HashMap;

use crate::analysis::call_graph::is_final;
use crate::diagnostic::{Declined, Site};
use crate::ir::{Origin, ParallelLoop, Parameter};
use crate::llvm::{Builder, Call, Function, Linkage, Module, Value};
use crate::lower::elements::one::Passed;
use crate::lower::elements::{Fields, components_of, may_lie_by_component};
use crate::lower::gpu::Launches;
use crate::lower::op2;
use crate::marks::{COMPONENTS, RANGE};
use crate::recognise::Note;
use crate::recognise::okl::Kernel;
use crate::record::LoopRecord;

/// The loops of a module outside of regions, and what goes with them.
#[derive(Default)]
pub struct Loops<'m> {
    /// The loops.
    pub loops: Vec<ParallelLoop<'m>>,
    /// The kernels that those over blocks of work items are of.
    pub kernels: Vec<Kernel<'m>>,
    /// What run times are told of the program's text; nothing where that is not yet to be done.
    pub notes: Option<Vec<Note<'m>>>,
    /// Calls that only say what the code around them is.
    pub markers: Vec<Call<'m>>,
    /// So many loops over blocks are counted through as one where they stand one in the other.
    pub most_loops: usize,
    /// Whether the user may ask what kernels cost.
    pub with_costs: bool,
}

/// What is to become of the loops of a module.
pub struct Plan<'m> {
    /// All loops that are lowered, for messages, before anything is emitted.
    pub sites: Vec<(Origin, Call<'m>)>,
    loops: Vec<SetLoop<'m>>,
    /// Those over blocks of work items.
    items: Vec<items::Items<'m>>,
    /// What of them threads share.
    nests: Vec<threads::Nest<'m>>,
    /// Code that nobody sees half done.
    atomics: atomics::Plan<'m>,
    /// Calls that say what the code around them is.
    markers: Vec<Call<'m>>,
    /// What the run time is told besides, if it is told.
    notes: Option<Vec<Note<'m>>>,
    /// Kernels whose loops are lowered: their attributes may ask for something.
    kernels: Vec<Kernel<'m>>,
    /// Whether the user may ask what they cost.
    with_costs: bool,
}

/// A loop over a set.
struct SetLoop<'m> {
    /// The loop.
    one: ParallelLoop<'m>,
    /// Its body.
    kernel: Function<'m>,
    /// How the run time gets it.
    call: op2::Call<'m>,
    /// Why its data cannot lie component by component.
    stays_by_element: Option<String>,
}

/// What becomes of loops; those that are not lowered are added to `declined`, and stay as they are, or to `wrong`, where
/// they would not be right as they are.
pub fn check<'m>(
    module: &Module,
    found: Loops<'m>,
    declined: &mut Vec<Declined<'m>>,
    wrong: &mut Vec<Declined<'m>>,
) -> Plan<'m> {
    let mut plan = Vec::new();
    let mut items = Vec::new();
    let mut blocks = Vec::new();
    let mut sites = Vec::new();
    for one in found.loops {
        let site = (one.origin, one.site);
        if one.region().is_some() {
            match items::check(module, &one) {
                Ok(of_it) => {
                    blocks.push((one, of_it.bytes(module)));
                    items.push(of_it);
                    sites.push(site);
                }
                Err(one) => wrong.push(one),
            }
            continue;
        }
        let call = match LoopRecord::of(&one).can_be_left() {
            true => op2::Call::of(&one),
            false => Err("what it accesses cannot be written down for later stages".to_string()),
        };
        match call.and_then(|call| Ok((call, one.kernel().ok_or("its body is no function")?))) {
            Ok((call, kernel)) => {
                sites.push(site);
                plan.push(SetLoop {
                    kernel,
                    call,
                    stays_by_element: may_lie_by_component(&one).err(),
                    one,
                });
            }
            Err(why) => declined.push(Declined {
                site: Site::Instruction(one.site.instruction()),
                reason: format!("{} stays as it is: {why}", one.origin),
            }),
        }
    }
    let nests = threads::check(module, &blocks, found.most_loops);
    let atomics = atomics::check(module, &found.markers, wrong);
    let is_lowered = |kernel: &Kernel<'m>| {
        let mut regions = blocks.iter().filter_map(|(one, _)| one.region());
        regions.any(|region| region.body == kernel.function)
    };
    let mut kernels = found.kernels;
    kernels.retain(is_lowered);
    Plan {
        sites,
        loops: plan,
        items,
        nests,
        atomics,
        markers: found.markers,
        notes: found.notes,
        kernels,
        with_costs: found.with_costs,
    }
}

impl<'m> Plan<'m> {
    /// Loops over blocks of work items that no threads share, and so no ranks either.
    pub fn alone(&self) -> Vec<Declined<'m>> {
        self.nests.iter().filter_map(threads::Nest::alone).collect()
    }
}

/// Replaces the loops. True where the module was changed. Of those in `devices` the run time is also told how it has them run
/// on a device.
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>, devices: &Launches<'m>) -> bool {
    let notes = plan.notes.as_ref();
    let told = notes.is_some_and(|notes| op2::notes::tell(module, notes));
    let mut sizes = HashMap::new();
    for set_loop in &plan.loops {
        inline_calls(module, set_loop.kernel, &mut Vec::new(), &mut sizes);
        let range = range(module, set_loop);
        let components = match &set_loop.stays_by_element {
            None => component_range(module, set_loop),
            Some(reason) => {
                let origin = set_loop.one.origin;
                let message = format!("{origin} needs its data element by element: {reason}");
                let site = set_loop.one.site.instruction();
                site.remark("Storage", &message, true);
                None
            }
        };
        let functions = op2::Functions {
            kernel: set_loop.kernel,
            range,
            components,
            device: devices
                .sets
                .iter()
                .find(|(site, _)| *site == set_loop.one.site)
                .map(|(_, told)| *told),
        };
        set_loop.call.emit(module, &set_loop.one, functions);
    }
    for kernel in &plan.kernels {
        kernel.lower_attributes();
    }
    let emitted = plan.items.iter().map(|one| items::emit(module, one));
    let emitted: Vec<_> = emitted.collect();
    for nest in &plan.nests {
        nest.remark();
    }
    atomics::emit(module, &plan.atomics);
    for marker in &plan.markers {
        marker.take_out(module);
    }
    items::finish(module, &emitted);
    let bodies: Vec<_> = plan
        .nests
        .iter()
        .filter_map(|one| one.emit(module, &devices.blocks))
        .collect();
    if plan.with_costs {
        for kernel in &plan.kernels {
            let own = bodies.iter().filter(|one| one.kernel == kernel.function);
            let own: Vec<_> = own.map(|one| one.body).collect();
            costs::emit(module, kernel, &own);
        }
    }
    let has_items = !plan.items.is_empty() || !plan.markers.is_empty();
    told || has_items || !plan.loops.is_empty()
}

/// Has the functions that a body calls inlined where it is optimised: lanes do without calls. `above` are the functions
/// that lead to this one: one that calls itself stays what it is. Returns the instructions that it comes to.
fn inline_calls<'m>(
    module: &Module,
    function: Function<'m>,
    above: &mut Vec<Function<'m>>,
    sizes: &mut HashMap<Function<'m>, usize>,
) -> usize {
    if let Some(&size) = sizes.get(&function) {
        return size;
    }
    let instructions = function.instructions();
    let mut size = instructions.len();
    if !function.has_attribute("optnone") {
        above.push(function);
        for call in instructions.into_iter().filter_map(|one| one.as_call()) {
            let callee = call.callee_function().filter(|callee| {
                let is_kept = ["optnone", "noinline"].iter();
                let is_kept = is_kept.copied().any(|name| callee.has_attribute(name));
                is_final(*callee) && !callee.is_declaration() && !is_kept && !above.contains(callee)
            });
            if let Some(callee) = callee {
                let more = inline_calls(module, callee, above, sizes);
                if size + more <= MOST_INLINED {
                    call.inline_always(module);
                    size += more;
                }
            }
        }
        above.pop();
    }
    sizes.insert(function, size);
    size
}

/// Instructions of a body; with more, compiling it takes longer than its calls.
const MOST_INLINED: usize = 10_000;

/// `void range(void *kernel, Parameter *parameters, int from, int to)`, which has no blocks yet.
pub(in crate::lower) fn new_range<'m>(
    module: &'m Module,
    prefix: &str,
    kernel: Function<'m>,
) -> Function<'m> {
    let (pointer, int) = (module.pointer(), module.int(32));
    let ty = module.function_type(module.void(), &[pointer, pointer, int, int]);
    let name = format!("{prefix}{}", kernel.name());
    let range = module.add_function(&name, ty, Linkage::LLVMInternalLinkage);
    range.compile_like(kernel);
    range
}

/// Fills a range function: it calls the body for each element.
pub(in crate::lower) fn fill_range<'m>(
    module: &'m Module,
    range: Function<'m>,
    kernel: Function<'m>,
    parameters: &[Parameter<'_>],
    by_component: bool,
) {
    let [_, passed, from, to] = range.parameters()[..] else {
        unreachable!("four parameters");
    };
    let prepare = |builder: &Builder<'m>| -> Vec<_> {
        let each = parameters.iter().enumerate();
        let each = each.map(|(at, parameter)| {
            let fields = Fields::of(builder, passed, at);
            Passed::of(builder, *parameter, &fields, by_component)
        });
        each.collect()
    };
    let call = |builder: &Builder<'m>, passed: &Vec<Passed<'_, 'm>>, number: Value<'m>| {
        let gathered = passed.iter().map(|one| one.gather(builder, number));
        let gathered: Vec<_> = gathered.collect();
        let parameters: Vec<_> = gathered.iter().map(|one| one.parameter).collect();
        builder.call(kernel, &parameters);
        for (passed, gathered) in passed.iter().zip(&gathered) {
            passed.scatter(builder, gathered);
        }
    };
    Builder::counted_loop(module, range, [from, to], prepare, call);
}

/// A range function for data that lie element by element.
fn range<'m>(module: &'m Module, set_loop: &SetLoop<'m>) -> Function<'m> {
    let range = new_range(module, RANGE, set_loop.kernel);
    fill_range(
        module,
        range,
        set_loop.kernel,
        &set_loop.one.parameters(),
        false,
    );
    range
}

/// One for data that may lie component by component; none where all data are sure not to.
fn component_range<'m>(module: &'m Module, set_loop: &SetLoop<'m>) -> Option<Function<'m>> {
    if components_of(&set_loop.one) == 0 {
        return None;
    }
    let range = new_range(module, COMPONENTS, set_loop.kernel);
    fill_range(
        module,
        range,
        set_loop.kernel,
        &set_loop.one.parameters(),
        true,
    );
    Some(range)
}
