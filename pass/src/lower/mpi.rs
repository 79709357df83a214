//! OpenMP on the ranks of an MPI job.
//!
//! Loads and stores stay as they are. What changes is where variables live (`globals`,
//! `thread_private`), who runs what (`regions`, `main_entry`, `constructors`), which runtime is
//! called (`runtime_calls`, `atomics`, `criticals`, `fortran_units`), what LLVM may rely on (`loop_bounds`,
//! `chunks`) and what not (`iterations`), what the runtime is told (`module_table`, `guards`, `endless`,
//! `external_calls`; later `sections` and `serial_code`), and which of it a process on one rank skips (`twins`).
//!
//! Functions are marked as they are processed, so that a module may come by twice: the plugin loaded
//! twice, or compiled modules merged by link-time optimisation.

mod atomics;
mod chunks;
mod constructors;
mod criticals;
mod endless;
pub mod external_calls;
mod flags;
mod fortran_units;
pub mod forwarder;
mod globals;
mod guards;
mod iterations;
mod library_names;
mod loop_bounds;
mod main_entry;
mod module_table;
mod one_by_one;
mod regions;
mod runtime_calls;
pub mod sections;
pub mod serial_code;
mod stack_arrays;
mod stretches;
mod summaries;
pub mod thread_private;
pub mod twins;
mod unsafe_sites;

use std::collections::HashSet;

use okl_abi::{LEFT_ALONE_SECTION, f, region_flags};

use crate::analysis::call_graph::CallGraph;
use crate::analysis::stored_types;
use crate::analysis::waiting::endless::Endless;
use crate::diagnostic::{Declined, Site, user_name};
use crate::ir::Region;
use crate::llvm::{Function, Module, OwnModule};
use crate::marks::{ENTRY, ON_DEVICE, RANKS, gives_memory, is_lowered};
use crate::recognise;
use unsafe_sites::UnsafeSites;

/// Names a file without OpenMP, which may be one of another kind of program and stays as it is: in a program whose other
/// files are lowered, the run time finds out. True: the module was changed.
pub fn leave_alone(module: &Module) -> bool {
    let name = module.add_text("okl.left_alone", &module.source_file());
    name.set_section(LEFT_ALONE_SECTION);
    module.append_to_used(&[name]);
    true
}

/// Everything there is to do in a module.
pub struct Plan<'m> {
    functions: Vec<Function<'m>>,
    regions: Vec<Region<'m>>,
    /// For each region, why it runs on rank 0 alone, if it does.
    alone: Vec<Option<String>>,
    /// And why it does so unless the user has it otherwise.
    waits: Vec<Option<String>>,
    /// And whether its threads may run one after the other.
    one_by_one: Vec<bool>,
    unsafe_sites: UnsafeSites<'m>,
    endless: Vec<Endless<'m>>,
    globals: globals::Plan<'m>,
    thread_private: thread_private::Plan<'m>,
    constructors: constructors::Plan<'m>,
    runtime_calls: runtime_calls::Plan<'m>,
    atomics: atomics::Plan<'m>,
    criticals: criticals::Plan<'m>,
    fortran_units: fortran_units::Plan<'m>,
    table: module_table::Plan<'m>,
}

/// Prepares a module for [`check`]: it means the same afterwards, whatever becomes of it. True where it was changed.
pub fn prepare(module: &Module) -> bool {
    let renamed = crate::fortran::call_by_c_names(module);
    let ordered = flags::prepare(module);
    let noted = stored_types::note(module);
    fortran_units::prepare(module) || renamed || ordered || noted
}

/// Finds out what there is to do; what cannot be done is added to `refused`.
pub fn check<'m>(
    module: &'m Module,
    regions: Vec<Region<'m>>,
    refused: &mut Vec<Declined<'m>>,
) -> Plan<'m> {
    let plan = plan(module, regions, refused);
    let is_single = |one: &Function<'m>| !twins::can_be_copied(*one);
    if refused.is_empty() && plan.functions.iter().any(is_single) {
        let torn = torn(module).into_iter().map(|at| plan.functions[at]);
        refused.extend(torn.map(|function| Declined {
            site: Site::Function(function),
            reason: format!(
                "{} cannot be compiled both for one rank and for several: its inline assembly defines a name, or other \
                 functions use its labels",
                user_name(function)
            ),
        }));
    }
    plan
}

/// Of which functions, by their places in [`Plan::functions`], there would have to be two where there cannot be. What
/// changes a function is known best by those that change it: a copy of the module is lowered. Few modules have functions
/// of which it matters.
fn torn(module: &Module) -> Vec<usize> {
    let copy = OwnModule::clone_of(module);
    let plan = plan(&copy, recognise::recognise(&copy).regions, &mut Vec::new());
    let functions = plan.functions.clone();
    let torn = emit_all(&copy, plan);
    let functions = functions.into_iter().enumerate();
    let torn = functions.filter(|(_, one)| torn.contains(one));
    torn.map(|(at, _)| at).collect()
}

fn plan<'m>(
    module: &'m Module,
    regions: Vec<Region<'m>>,
    refused: &mut Vec<Declined<'m>>,
) -> Plan<'m> {
    let functions: Vec<_> = module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration() && !is_lowered(*function))
        .filter(|function| !gives_memory(*function))
        .collect();
    let graph = CallGraph::of(module);
    let unsafe_sites = unsafe_sites::find(module, &functions, &graph);
    unsafe_sites::refuse(&functions, &regions, &graph, &unsafe_sites, refused);
    regions::refuse(module, &regions, refused);
    let alone = regions
        .iter()
        .map(|one| unsafe_sites.reason_in(&graph, one.body))
        .collect();
    let waits = flags::Waits::of(&functions);
    let table = module_table::check(&functions, &regions, &graph, &unsafe_sites, &waits);
    let waits = regions
        .iter()
        .map(|one| waits.reason_in(&graph, one.body))
        .collect();
    let endless = endless::check(&functions, &graph);
    Plan {
        alone,
        waits,
        one_by_one: regions
            .iter()
            .map(|one| one_by_one::may_run(one, &endless))
            .collect(),
        globals: globals::check(module, refused),
        thread_private: thread_private::check(module, refused),
        constructors: constructors::check(module, refused),
        runtime_calls: runtime_calls::check(module, refused),
        atomics: atomics::check(module, &functions),
        criticals: criticals::check(module, &functions, &regions, &graph),
        endless,
        fortran_units: fortran_units::check(module, refused),
        functions,
        regions,
        unsafe_sites,
        table,
    }
}

impl<'m> Plan<'m> {
    /// The regions, and why they will run on one rank only, where they will.
    pub fn regions(&self) -> impl Iterator<Item = (&Region<'m>, Option<&str>)> {
        let reasons = self.alone.iter().zip(&self.waits);
        let reasons = reasons.map(|(alone, waits)| alone.as_deref().or(waits.as_deref()));
        self.regions.iter().zip(reasons)
    }

    /// The regions that will run on one rank only, and why.
    pub fn declined(&self) -> Vec<Declined<'m>> {
        self.regions()
            .filter_map(|(one, reason)| {
                Some(Declined {
                    site: Site::Instruction(one.site.instruction()),
                    reason: format!("{} runs on rank 0 alone: it {}", one.origin, reason?),
                })
            })
            .collect()
    }

    /// Tells what will be distributed, for `-Rpass=okl`.
    pub fn remark(&self) {
        for (one, alone) in self.regions() {
            if alone.is_none() {
                one.site.instruction().remark(
                    "Distributed",
                    &format!("{} distributed over MPI ranks", one.origin),
                    false,
                );
            }
        }
        self.criticals.remark();
    }
}

/// Changes the module. True where there was something to do.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>) -> bool {
    let is_nothing = plan.functions.is_empty()
        && plan.globals.is_empty()
        && plan.thread_private.is_empty()
        && plan.constructors.is_empty();
    if is_nothing {
        return false;
    }
    let torn = emit_all(module, plan);
    assert!(torn.is_empty(), "what would be torn is refused");
    true
}

/// Changes the module. Returns the functions of which there would have to be two where there cannot be: what comes out
/// is right only where there are none.
fn emit_all<'m>(module: &'m Module, plan: Plan<'m>) -> Vec<Function<'m>> {
    // What clang says too much is wrong on one rank as well.
    iterations::emit(module, &plan.functions);
    let mut harmless = harmless(&plan);
    let mut copies = twins::copy(module, &plan.functions);
    // First what is inserted in front of instructions, then what replaces them.
    let sites = guards::emit(module, &plan.unsafe_sites);
    copies.keep_single(module);
    endless::emit(module, &plan.endless);
    let units = fortran_units::emit(module, &plan.fortran_units);
    let reasons = plan.alone.iter().zip(&plan.waits);
    let flags: Vec<_> = reasons
        .zip(&plan.one_by_one)
        .map(|(reasons, &may_run)| match reasons {
            (Some(_), _) => region_flags::RANK_ZERO_ALONE,
            (None, Some(_)) => region_flags::WAITS_FOR_FLAGS,
            (None, None) if may_run => region_flags::ONE_BY_ONE,
            (None, None) => 0,
        })
        .zip(&plan.regions)
        .map(|(flags, region)| match ON_DEVICE.is_on(region.body) {
            true => flags | region_flags::ON_DEVICES,
            false => flags,
        })
        .collect();
    let regions = regions::emit(module, &plan.regions, &flags);
    criticals::emit(module, plan.criticals);
    let asked = runtime_calls::emit(module, plan.runtime_calls);
    loop_bounds::emit(module);
    loop_bounds::leave_out_last(module);
    atomics::emit(module, plan.atomics);

    let thread_privates = thread_private::emit(module, plan.thread_private);
    globals::emit_many_threads(module);
    let bounds = globals::emit_bounds(module);
    let (shared, externs) = globals::emit(module, plan.globals);
    let constructors = plan.constructors;
    let main = main_entry::emit(module);
    external_calls::emit_markers(module, &plan.functions);
    let descriptors: Vec<_> = regions.forks.iter().map(|one| one.descriptor).collect();
    let register = module_table::emit(
        module,
        plan.table,
        module_table::Parts {
            bounds,
            shared,
            externs,
            thread_privates,
            units,
            constructors: &constructors,
            regions: &descriptors,
            sites: &sites,
            flag: twins::flag(module),
        },
    );
    let start = main.map(|main| main.start);
    for new in regions.trampolines.into_iter().chain(start) {
        RANKS.put_on(module, new);
    }
    ENTRY.put_on(module, register);
    let bodies: Vec<_> = plan.regions.iter().map(|one| one.body).collect();
    harmless.renamed = asked.iter().map(|one| (one.old, one.new)).collect();
    let twins = copies.settle(module, &bodies, &harmless);
    runtime_calls::choose(module, &asked);
    external_calls::emit(module, &plan.functions, twins.flag);
    regions::emit_forks(module, &regions.forks, &twins);
    if let Some(main) = main {
        main_entry::emit_choice(module, main, &twins);
    }
    constructors::emit(module, constructors, register, &twins);
    library_names::hide(module);
    twins.torn
}

/// What [`emit`] adds that does nothing on one rank, or chooses.
fn harmless<'m>(plan: &Plan<'m>) -> twins::Harmless<'m> {
    let mut some: HashSet<_> = plan.runtime_calls.asking().collect();
    // In a loop even a call that does nothing costs time, and to choose between calls that may be left by exceptions
    // is not worth writing.
    let mut costly = Vec::new();
    for &function in &plan.functions {
        if external_calls::has_some(function) {
            some.insert(function);
        }
    }
    for site in plan.unsafe_sites.all() {
        some.insert(site.at.function());
        if guards::is_costly(site) {
            costly.push(site.at.function());
        }
    }
    for region in &plan.regions {
        let function = region.site.instruction().function();
        some.insert(function);
        if region.site.invoke_targets().is_some() {
            costly.push(function);
        }
    }
    twins::Harmless {
        added: f::okl_mpi_unsafe_here.name,
        renamed: Vec::new(),
        some,
        costly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function that shares a loop of `turns` turns, with assembly.
    fn module(assembly: &str, turns: &str) -> OwnModule {
        OwnModule::parse(&format!(
            "declare void @__kmpc_barrier(ptr, i32)
            define void @loop() {{
                call void asm sideeffect \"{assembly}\", \"\"()
                {turns}
                ret void
            }}"
        ))
    }

    /// What is refused. Nothing else becomes of the module.
    fn refused(module: &Module) -> Vec<String> {
        let all = |module: &Module| {
            let functions = module.functions().into_iter();
            let functions: Vec<_> = functions.map(|one| one.print()).collect();
            (functions, module.globals().len())
        };
        let before = all(module);
        let mut refused = Vec::new();
        let regions = recognise::recognise(module).regions;
        check(module, regions, &mut refused);
        assert_eq!(all(module), before);
        refused.into_iter().map(|one| one.reason).collect()
    }

    #[test]
    fn what_cannot_be_both_is_refused_before_anything_is_emitted() {
        let barrier = "call void @__kmpc_barrier(ptr null, i32 0)";
        let [reason] = &refused(&module("a_name: nop", barrier))[..] else {
            panic!("it would be torn");
        };
        assert!(reason.starts_with("loop cannot be compiled both for one rank and for several"));
        // Where it need not be both, and where it can be.
        assert_eq!(refused(&module("a_name: nop", "")), [""; 0]);
        assert_eq!(refused(&module("nop", barrier)), [""; 0]);
    }

    #[test]
    fn preparing_says_whether_it_changed_anything() {
        let text = |call: &str| {
            format!(
                "declare i32 @{call}()
                define i32 @asks() {{
                    %number = call i32 @{call}()
                    ret i32 %number
                }}"
            )
        };
        assert!(!prepare(&OwnModule::parse(&text("omp_get_num_threads"))));
        let module = OwnModule::parse(&text("omp_get_num_threads_"));
        assert!(prepare(&module));
        assert!(!prepare(&module));
        let module = OwnModule::parse(&text("_FortranAioBeginExternalListOutput"));
        assert!(prepare(&module));
        assert!(!prepare(&module));
    }
}
