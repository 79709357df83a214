//! The pass, read aloud: recognise what is parallel, analyse the module around it, plan where it goes, check that it can
//! be lowered, tell the user what cannot, lower the rest. What depends on what LLVM finds out comes later.

mod chains;

use std::ffi::CStr;

use okl_chains::kept::Kept;

use crate::analysis::iterations;
use crate::diagnostic::{Declined, Site, report};
use crate::ir::{Origin, ParallelLoop, Part, Region};
use crate::llvm::{self, Call, Module, OwnModule, Point, Run, Severity};
use crate::lower::{cpu, gpu, instance, jit, mpi, stated, user_target};
use crate::options::{Options, plan_called};
use crate::plan::{Plan, Plans};
use crate::recognise::{self, Found, loop_chain, op2};

/// What LLVM's pipeline runs, and where.
pub struct Stage {
    /// What it is called in `-passes=`, but for a stage at [`Point::Peephole`].
    pub name: &'static str,
    /// Where it runs.
    pub point: Point,
    /// True where it changed the module.
    pub run: fn(&Run<'_>) -> bool,
}

/// All stages in their order.
pub const STAGES: &[Stage] = &[
    // Of a file that a program has compiled for an instance of a kernel: the instance.
    at(Point::Start, "okl-instance", |run| {
        instance::check_literals(run.module);
        instance::run(run.module)
    }),
    // What the user's plug-ins know of becomes what okl does.
    at(Point::Start, "okl-plugins", run_plugins),
    // As the compiler made it: recognise, analyse, plan, lower.
    at(Point::Start, "okl-lower", lower),
    // Wherever LLVM simplifies a function: it may know now which of its two versions it is.
    at(Point::Peephole, "okl-choose-version", choose_version),
    // Simplified, before vectorisation: say what regions access, leave code for the program to compile once more, make loops work on several elements at once, and fetch
    // rows of blocks ahead, which adds calls that those before need not know.
    at(Point::BeforeVectorising, "okl-sections", declare_sections),
    at(Point::BeforeVectorising, "okl-costs", declare_costs),
    at(Point::BeforeVectorising, "okl-embed", embed),
    at(Point::BeforeVectorising, "okl-lanes", add_lanes),
    at(Point::BeforeVectorising, "okl-prefetch", add_prefetches),
    // At the end: versions that turned out the same become one, large variables get pages that devices may have, too, and
    // what reads a clock waits for them.
    at(Point::End, "okl-finish", finish),
    // For tests and the curious.
    at(Point::ByName, "print<okl-loops>", print_loops),
    at(
        Point::ByName,
        "print<okl-chains>",
        crate::analysis::chains::print,
    ),
    at(Point::ByName, "print<okl-plan>", print_plan),
    at(Point::ByName, "print<okl-accesses>", print_accesses),
    at(Point::ByName, "print<okl-lanes>", print_lanes),
    at(Point::ByName, "print<okl-device>", print_device),
    at(Point::ByName, "okl-panic", panic_half_way),
];

const fn at(point: Point, name: &'static str, run: fn(&Run<'_>) -> bool) -> Stage {
    Stage { name, point, run }
}

/// Those that the parameters name, or else the compiler's options.
fn run_plugins(run: &Run<'_>) -> bool {
    let named = run.parameters.split(';').filter(|one| !one.is_empty());
    let mut files: Vec<_> = named.map(str::to_owned).collect();
    if files.is_empty() {
        files = llvm::plugin_option();
    }
    stated::run(run.module, &files, run.is_strict)
}

fn lower(run: &Run<'_>) -> bool {
    options(run, &run.parameters).is_some_and(|options| lower_as(run.module, &options))
}

/// What the user asks for; where it is not understood he is told.
fn options(run: &Run<'_>, parameters: &str) -> Option<Options> {
    let told = |message: String| run.module.diagnose(None, None, &message, Severity::Error);
    read(run, parameters).map_err(told).ok()
}

fn read(run: &Run<'_>, parameters: &str) -> Result<Options, String> {
    let environment = std::env::var("OKL_TARGET").ok();
    Options::read(
        parameters,
        &run.target,
        run.is_strict,
        run.fuses,
        environment.as_deref(),
    )
}

/// The environment variable that has chains run as if they were large: tests are small.
const LARGE: &str = "OKL_CHAINS_LARGE";

fn lower_as(module: &Module, options: &Options) -> bool {
    loop_chain::as_in_c(module);
    let mut kept = llvm::keep_option().and_then(|words| kept(module, words));
    let merged = mpi::external_calls::call_translated(module);
    // What becomes of chains is loops and regions like others.
    let on_devices = options.plan.as_ref().is_some_and(Plan::has_devices);
    let is_shared = options.plan.as_ref().is_some_and(|plan| plan.distribute);
    let asked = chains::Asked {
        strict: options.strict,
        on_devices,
        // Ranks would have to have all of what one of them runs.
        by_size: !on_devices && !is_shared && std::env::var_os(LARGE).is_none(),
        fuse: options.fuse,
        is_kept: kept.is_some(),
        is_open: kept.as_ref().is_some_and(|kept| !kept.wanted.is_empty()),
    };
    let became = chains::lower(module, asked);
    let chains = became.is_changed;
    if !became.is_right {
        return merged || chains;
    }
    let carry_out = |lowering: Lowering<'_>| {
        let prepared = lowering.prepared;
        let is_right = lowering.tell(module, options.strict);
        (is_right, is_right && lowering.emit(module) || prepared)
    };
    // What threads share of blocks is regions: ranks share them like others.
    let blocks = Lowering::of_blocks(module, options).map(carry_out);
    let (is_right, blocks) = blocks.unwrap_or((true, false));
    let (is_right, rest) = match is_right {
        true => carry_out(Lowering::of(module, options)),
        false => (false, false),
    };
    let own = options.own.as_deref().filter(|_| is_right);
    let handed = own.is_some_and(|name| hand_over(module, name, options.strict));
    let settled = op2::settle(module);
    // Not before: copies of the module do not need it.
    if let Some(kept) = &mut kept {
        kept.is_open = asked.is_open && became.is_declined;
        module.note_bytes(KEPT, &kept.written());
    }
    merged || chains || blocks || rest || handed || settled || kept.is_some()
}

/// Hands what threads would share to a target of a plug-in.
fn hand_over(module: &Module, name: &str, strict: bool) -> bool {
    let mut all = llvm::user_targets().into_iter();
    let target = all.find(|one| one.name == name);
    target.is_some_and(|target| user_target::run(module, &target, strict))
}

/// What is noted of a module for whoever links.
const KEPT: &CStr = c"okl.kept";

/// A module as the compiler made it, if chains of other files may have a use for it or its own for others.
fn kept(module: &Module, options: String) -> Option<Kept> {
    let elsewhere = loop_chain::elsewhere(module)?;
    Some(Kept {
        options,
        is_open: false,
        wanted: elsewhere.wanted,
        defined: elsewhere.defined,
        code: module.bitcode(),
    })
}

/// Everything there is to do in a module, and to say of it.
struct Lowering<'m> {
    plans: Plans,
    /// Whether the module was changed before it was looked at.
    prepared: bool,
    devices: gpu::Plan<'m>,
    loops: cpu::Plan<'m>,
    regions: Regions<'m>,
    /// What is certainly wrong in the program: errors.
    mistakes: Vec<Declined<'m>>,
    /// What would be wrong on several ranks: errors, too.
    refused: Vec<Declined<'m>>,
    /// Warnings.
    doubts: Vec<Declined<'m>>,
    /// Loops that stay as they are.
    declined: Vec<Declined<'m>>,
    /// Loops that the processor runs although they were to go to a device.
    stays: Vec<Declined<'m>>,
    /// The target of a plug-in that gets what threads would share.
    own: Option<String>,
}

/// What becomes of the regions of a module.
enum Regions<'m> {
    /// They keep their threads, for a reason that is not the user's.
    Keep(Vec<Region<'m>>, Option<&'static str>),
    /// The ranks of an MPI job share them.
    Share(Box<mpi::Plan<'m>>),
    /// There are none in a file of another kind of program, as it seems.
    LeaveAlone,
}

impl<'m> Lowering<'m> {
    /// Of loops over blocks of work items, where ranks are to share them: threads share them before.
    fn of_blocks(module: &'m Module, options: &Options) -> Option<Self> {
        let asked = options.plan.as_ref().filter(|asked| asked.distribute)?;
        let named = asked.has_devices() && gpu::give_names(module);
        let prepared = recognise::prepare(module) || named;
        let found = recognise::recognise_blocks(module);
        Some(Self {
            prepared,
            ..Self::check(
                module,
                found,
                Plans::of_blocks(asked.clone()),
                false,
                &gpu::Whys::new(),
            )
        })
    }

    /// Of a module, which is prepared before: it means the same then.
    fn of(module: &'m Module, options: &Options) -> Self {
        let may_distribute = match &options.plan {
            Some(asked) => asked.distribute,
            None => recognise::has_ranks(module),
        };
        let has_devices = options.plan.as_ref().is_some_and(Plan::has_devices);
        let joined = options.fuse && op2::join(module);
        let named = has_devices && gpu::give_names(module);
        let written = recognise::prepare(module) || named || joined;
        let prepared = may_distribute && mpi::prepare(module) || written;
        let shares = may_distribute && has_devices;
        let prepared = shares && gpu::prepare_shares(module) || prepared;
        let mut found = recognise::recognise(module);
        let plans = Plans::of(options, &found);
        let devices: Vec<_> = plans.regions.devices().collect();
        let shares = plans.regions.distribute && may_distribute;
        let (cut, whys) = match found.mistakes.is_empty() {
            true => gpu::prepare(module, &found.regions, &devices, shares),
            false => (false, gpu::Whys::new()),
        };
        if cut {
            found = recognise::recognise(module);
        }
        let mut all = Self {
            prepared: prepared || cut,
            own: options.own.clone(),
            ..Self::check(module, found, plans, may_distribute, &whys)
        };
        if let Some(name) = &options.own {
            // What becomes of its regions is told when they are handed over.
            if let Regions::Keep(_, why) = &mut all.regions {
                *why = None;
            }
            let sets = all.loops.sites.iter();
            let sets = sets.filter(|(origin, _)| *origin == Origin::Op2ParLoop);
            all.declined.extend(sets.map(|(origin, site)| {
                user_target::stays(*origin, site.instruction(), name, "it is a loop over a set")
            }));
        }
        all
    }

    /// Finds out all that there is to do, and what cannot be done.
    fn check(
        module: &'m Module,
        found: Found<'m>,
        plans: Plans,
        may_distribute: bool,
        whys: &gpu::Whys,
    ) -> Self {
        let (mut loops, mut declined) = (found.loops, found.declined);
        let mut mistakes = found.mistakes;
        if plans.regions.distribute && may_distribute {
            // Functions for ranks are made of those that are there: loops do not become more of them.
            declined.extend(loops.drain(..).map(|one| Declined {
                site: Site::Instruction(one.site.instruction()),
                reason: format!(
                    "{} stays as it is: ranks share the file's regions",
                    one.origin
                ),
            }));
        }
        let mut stays = Vec::new();
        let targets: Vec<_> = plans.loops.devices().collect();
        let mut devices = gpu::Plan::default();
        if !targets.is_empty() && mistakes.is_empty() {
            let has_cpu = plans.loops.has_cpu();
            let on_ranks = plans.loops.distribute || plans.regions.distribute && may_distribute;
            let asked = gpu::Asked {
                loops: &loops,
                regions: match plans.regions.devices().next() {
                    Some(_) => &found.regions,
                    None => &[],
                },
                on_ranks,
                whys,
            };
            let (plan, told) = gpu::check(module, asked, &targets, has_cpu);
            devices = plan;
            match has_cpu {
                true => stays.extend(told.loops),
                false => mistakes.extend(told.loops),
            }
            stays.extend(told.regions);
            stays.extend(told.partly);
            // Loops over sets are run by threads.
            loops.retain(|one| has_cpu || on_ranks || one.region().is_none());
        }
        let loops = cpu::Loops {
            loops,
            kernels: found.kernels,
            // Of the whole file, which is looked at once more behind them.
            notes: (!plans.loops.distribute).then_some(found.notes),
            markers: found.markers,
            // What a share of several loops accesses is not known in front of them.
            most_loops: match plans.loops.distribute {
                true => 1,
                false => ParallelLoop::MOST_EXTENTS,
            },
            // On ranks regions tell.
            with_costs: !plans.loops.distribute,
        };
        let loops = cpu::check(module, loops, &mut declined, &mut mistakes);
        let mut refused = Vec::new();
        let regions = match plans.regions.distribute {
            false => {
                let why = found.keeps_threads.map(|one| one.why);
                Regions::Keep(found.regions, why)
            }
            true if may_distribute => {
                refused = found.refused;
                let plan = mpi::check(module, found.regions, &mut refused);
                Regions::Share(Box::new(plan))
            }
            true => Regions::LeaveAlone,
        };
        Self {
            plans,
            prepared: false,
            devices,
            loops,
            regions,
            mistakes,
            refused,
            doubts: found.doubts,
            declined,
            stays,
            own: None,
        }
    }

    /// Tells the user what is wrong or declined. True where nothing of it is an error.
    fn tell(&self, module: &Module, strict: bool) -> bool {
        let error = strict.then_some(Severity::Error);
        let alone = match &self.regions {
            Regions::Share(plan) => plan.declined(),
            Regions::Keep(..) if self.plans.loops.distribute => self.loops.alone(),
            Regions::Keep(..) | Regions::LeaveAlone => Vec::new(),
        };
        let refused = self.refused.iter().map(|one| Declined {
            site: one.site,
            reason: format!("okl: {}", one.reason),
        });
        for (list, severity) in [
            (&self.mistakes, Some(Severity::Error)),
            (&refused.collect(), Some(Severity::Error)),
            (&self.doubts, Some(Severity::Warning)),
            (&self.declined, error),
            (&alone, error.or(Some(Severity::Warning))),
            (&self.stays, error.or(Some(Severity::Warning))),
        ] {
            for one in list {
                report_declined(module, one, severity);
            }
        }
        let lists = [&self.declined, &alone, &self.stays];
        let is_declined = lists.iter().any(|list| !list.is_empty());
        self.is_right() && !(strict && is_declined)
    }

    fn is_right(&self) -> bool {
        self.mistakes.is_empty() && self.refused.is_empty()
    }

    /// Where regions and loops go, and what keeps them from going there.
    fn print(&self) {
        let plans = &self.plans;
        let print = |origin: Origin, site: Call<'_>, plan: &Plan, why: &str| {
            let site = Site::Instruction(site.instruction());
            let own = self.own.as_ref().filter(|_| origin != Origin::Op2ParLoop);
            let own = own.map(|name| format!("by target {name} where that takes it, or else "));
            let own = own.unwrap_or_default();
            llvm::print(&format!("{origin} at {site}: {own}{plan}{why}\n"));
        };
        match &self.regions {
            Regions::Keep(regions, why) => {
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                let plan = plans.regions.on_the_processor();
                for one in regions.iter().filter(|one| !self.devices.has(one.site)) {
                    print(one.origin, one.site, &plan, &why);
                }
            }
            Regions::Share(plan) => {
                for (one, alone) in plan.regions() {
                    let why = alone.map(|reason| format!(", on rank 0 alone: it {reason}"));
                    print(
                        one.origin,
                        one.site,
                        &plans.regions,
                        &why.unwrap_or_default(),
                    );
                }
            }
            Regions::LeaveAlone => {}
        }
        for (origin, site) in self.devices.sites() {
            print(origin, site, &plans.loops, "");
        }
        let others = self.loops.sites.iter();
        for &(origin, site) in others.filter(|(_, site)| !self.devices.has(*site)) {
            print(origin, site, &plans.loops.on_the_processor(), "");
        }
        for (what, list) in [
            ("wrong", &self.mistakes),
            ("refused", &self.refused),
            ("declined", &self.declined),
            ("declined", &self.stays),
        ] {
            for one in list {
                llvm::print(&format!("{what} at {}: {}\n", one.site, one.reason));
            }
        }
    }

    /// Does it. True where the module was changed.
    fn emit(self, module: &'m Module) -> bool {
        let devices = self.devices.sites().next().is_some();
        let launched = gpu::emit(module, &self.devices);
        let loops = cpu::emit(module, &self.loops, &launched);
        gpu::finish(&self.devices);
        let regions = match self.regions {
            Regions::Keep(regions, why) => {
                keep_threads(&regions, why);
                false
            }
            Regions::Share(plan) => {
                plan.remark();
                mpi::emit(module, *plan)
            }
            Regions::LeaveAlone => mpi::leave_alone(module),
        };
        devices || loops || regions
    }
}

/// Tells that regions stay what they are where the user may expect something else.
fn keep_threads(regions: &[Region<'_>], why: Option<&str>) {
    let Some(why) = why else { return };
    for region in regions {
        let reason = format!("{} keeps its threads: {why}", region.origin);
        region.site.instruction().remark("Threads", &reason, true);
    }
}

/// Declares what the regions of a lowered module access.
fn declare_sections(run: &Run<'_>) -> bool {
    let module = run.module;
    let restored = mpi::thread_private::restore(module);
    let calls = mpi::twins::call_own_kind(module);
    let plan = mpi::sections::check(module);
    plan.remark();
    let serial_code = mpi::serial_code::check(module);
    let declares = mpi::sections::emit(module, &plan);
    let announces = mpi::serial_code::emit(module, &serial_code);
    let apart = mpi::thread_private::tell_apart(module);
    restored || calls || declares || announces || apart
}

/// Has the kernels of a lowered module say what they access, for those who ask what they cost.
fn declare_costs(run: &Run<'_>) -> bool {
    let plan = cpu::costs::check(run.module);
    cpu::costs::declare_accesses(run.module, &plan)
}

/// Has a function in two versions know which it is, wherever LLVM has brought a choice into it.
fn choose_version(run: &Run<'_>) -> bool {
    run.function
        .is_some_and(|function| mpi::twins::choose(run.module, function))
}

/// Leaves the code of loops as it is now for the program to compile once more, where the user asks for that.
fn embed(run: &Run<'_>) -> bool {
    if !llvm::jit_option() {
        return false;
    }
    let named = gpu::give_names(run.module);
    jit::embed::leave(run.module, &run.vector_unit()) || named
}

/// Makes the loops of a lowered module work on several elements at once.
fn add_lanes(run: &Run<'_>) -> bool {
    let plans = cpu::lanes::check(run.module, &run.vector_unit());
    cpu::lanes::emit(run.module, &plans)
}

/// Has blocks of work items fetch what later ones access.
fn add_prefetches(run: &Run<'_>) -> bool {
    let plans = cpu::prefetch::check(run.module);
    cpu::prefetch::emit(run.module, &plans)
}

/// What is left to do after all other passes.
fn finish(run: &Run<'_>) -> bool {
    let restored = mpi::thread_private::restore(run.module);
    let merged = mpi::twins::finish(run.module);
    // Ranks have their memory from their own run time.
    let plan = read(run, &run.parameters).ok().and_then(|one| one.plan);
    let has_devices = plan.is_some_and(|plan| plan.has_devices() && !plan.distribute);
    let moved = has_devices && gpu::give_pages(run.module);
    let timed = has_devices && gpu::wait_for_kernels(run.module);
    restored || merged || moved || timed
}

/// Prints the regions and loops of a module; behind a region the loops that its team shares, as a simplified copy of the
/// module has them.
fn print_loops(run: &Run<'_>) -> bool {
    let prepared = prepared_copy(run.module);
    let found = recognise::recognise(&prepared);
    let copy = simplified_copy(run.module);
    let described = described_regions(&copy);
    for (index, one) in found.regions.iter().enumerate() {
        llvm::print(&one.to_string());
        let is_same = described.len() == found.regions.len();
        let with_loops = described.get(index).filter(|_| is_same).unwrap_or(one);
        for one in with_loops.loops() {
            llvm::print(&one.to_string());
        }
    }
    for one in &found.loops {
        llvm::print(&one.to_string());
    }
    report_all(run.module, &found.refused, Severity::Error);
    report_all(run.module, &found.declined, Severity::Warning);
    false
}

/// Prints where they go as the user has it, and what keeps them from going there.
fn print_plan(run: &Run<'_>) -> bool {
    let Some(options) = options(run, "") else {
        return false;
    };
    let copy = OwnModule::copy_of(run.module);
    if let Some(blocks) = Lowering::of_blocks(&copy, &options) {
        blocks.print();
        if !blocks.is_right() {
            return false;
        }
        blocks.emit(&copy);
    }
    Lowering::of(&copy, &options).print();
    false
}

/// Prints what regions access, as it is declared, and what the programmer has said of loops outside regions.
fn print_accesses(run: &Run<'_>) -> bool {
    let prepared = prepared_copy(run.module);
    let found = recognise::recognise(&prepared);
    for one in &found.loops {
        print_description(one);
    }
    let copy = simplified_copy(run.module);
    for region in described_regions(&copy) {
        print_descriptions(&region);
    }
    let copy = lowered_copy(run.module, "mpi");
    llvm::print(&mpi::sections::check(&copy).print());
    false
}

/// A copy of a module as it is when its loops are looked for.
fn prepared_copy(module: &Module) -> OwnModule {
    let copy = OwnModule::copy_of(module);
    recognise::prepare(&copy);
    copy
}

/// A copy of a module in which loops can be described.
fn simplified_copy(module: &Module) -> OwnModule {
    let mut copy = OwnModule::copy_of(module);
    copy.simplify();
    iterations::prepare_loops(&copy);
    copy
}

/// The regions of such a copy, with what their parts do: each iteration of a loop, and other code.
fn described_regions(copy: &Module) -> Vec<Region<'_>> {
    let mut regions = recognise::recognise(copy).regions;
    for region in &mut regions {
        iterations::describe(copy, region);
        if let Err(why) = region.verify() {
            let message = format!("okl describes a region wrongly: {why}");
            copy.diagnose(None, None, &message, Severity::Error);
        }
    }
    regions
}

/// What the parts of its steps do.
fn print_descriptions(region: &Region<'_>) {
    let at = Site::Instruction(region.site.instruction());
    for (number, step) in region.steps.iter().enumerate() {
        for part in &step.parts {
            match (part, part.description()) {
                (Part::Share(one), _) => print_description(one),
                (_, Some(does)) => {
                    let what = format!("{part}, step {number} of {} at {at}", region.origin);
                    llvm::print(&format!("{what}:\n{does}"));
                }
                (_, None) => {}
            }
        }
    }
}

fn print_description(one: &ParallelLoop<'_>) {
    let site = Site::Instruction(one.site.instruction());
    let (origin, share) = (one.origin, one.share());
    llvm::print(&format!("{origin} at {site}: {share}\n{}", one.description));
}

/// Prints how many elements loops outside regions run at once.
fn print_lanes(run: &Run<'_>) -> bool {
    let copy = lowered_copy(run.module, "cpu");
    llvm::print(&cpu::lanes::check(&copy, &run.vector_unit()).print());
    false
}

/// Prints the code for devices.
fn print_device(run: &Run<'_>) -> bool {
    let Some(options) = options(run, &run.parameters) else {
        return false;
    };
    let copy = OwnModule::copy_of(run.module);
    llvm::print_bytes(&Lowering::of(&copy, &options).devices.code());
    false
}

/// A copy of a module, lowered and as simple as before vectorisation.
fn lowered_copy(module: &Module, target: &str) -> OwnModule {
    let mut copy = OwnModule::copy_of(module);
    let options = Options {
        plan: plan_called([target]).ok(),
        ..Options::default()
    };
    lower_as(&copy, &options);
    copy.simplify();
    copy
}

/// Fails as a mistake of ours would, with a function half written.
fn panic_half_way(run: &Run<'_>) -> bool {
    let module = run.module;
    let ty = module.function_type(module.void(), &[]);
    let function = module.add_function("okl.half_written", ty, llvm::Linkage::LLVMInternalLinkage);
    function.append_block(module);
    panic!("asked to panic");
}

fn report_all(module: &Module, declined: &[Declined<'_>], severity: Severity) {
    for one in declined {
        report_declined(module, one, Some(severity));
    }
}

/// A diagnostic, if it has a severity, and a remark.
fn report_declined(module: &Module, one: &Declined<'_>, severity: Option<Severity>) {
    if let Some(severity) = severity {
        report(module, one, severity);
    }
    if let Site::Instruction(at) = one.site {
        at.remark("Declined", &one.reason, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Access, Base, Description, Extent, Mode, Place, Space};

    /// A loop over a set as OP2 has them, and a region.
    const CODE: &str = "
        @known = global i32 0
        declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
        define void @code(ptr %number, ptr %bound) {
            ret void
        }
        define void @kernel() {
            ret void
        }
        define void @main() {
            call void @kernel()
            call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @code)
            ret void
        }";

    /// Why the loop is not lowered, and whether something is wrong.
    fn check(set: bool, writable: bool, shared: bool) -> (Vec<String>, bool) {
        let module = OwnModule::parse(CODE);
        let mut found = recognise::recognise(&module);
        let kernel = module.function("kernel").expect("it is there");
        let site = kernel.users()[0].as_call().expect("a call");
        let null = module.pointer().zero();
        let access = Access {
            mode: Mode::Read,
            must: false,
            optional: false,
            stated: false,
            element: None,
            base: Base::Global(module.global("known").expect("it is there")),
            place: Place::Anywhere,
        };
        found.loops.push(ParallelLoop {
            origin: Origin::Op2ParLoop,
            site,
            space: match set {
                true => Space::Set {
                    set: null,
                    name: null,
                },
                false => Space::Range(vec![Extent {
                    last: None,
                    most: None,
                    width: 32,
                    signed: true,
                    counter: None,
                }]),
            },
            body: crate::ir::Body::Function(kernel),
            arguments: Vec::new(),
            schedule: crate::ir::Schedule::Any,
            chunk: None,
            ordered: Some(false),
            description: Description {
                accesses: (!writable).then(|| access.clone()).into_iter().collect(),
                ..Description::default()
            },
        });
        let options = Options {
            plan: plan_called([if shared { "mpi" } else { "cpu" }]).ok(),
            ..Options::default()
        };
        let plans = Plans::of(&options, &found);
        let lowering = Lowering::check(&module, found, plans, shared, &gpu::Whys::new());
        let declined = lowering.declined.iter().map(|one| one.reason.clone());
        (
            declined.collect(),
            !lowering.mistakes.is_empty() || !lowering.refused.is_empty(),
        )
    }

    #[test]
    fn loops_that_cannot_be_handed_over_stay_as_they_are() {
        let declined = |why: &str| (vec![format!("op_par_loop stays as it is: {why}")], false);
        assert_eq!(check(true, true, false), (Vec::new(), false));
        assert_eq!(
            check(false, true, false),
            declined("it is no loop over a set")
        );
        assert_eq!(
            check(true, false, false),
            declined("what it accesses cannot be written down for later stages")
        );
        assert_eq!(
            check(true, true, true),
            declined("ranks share the file's regions")
        );
    }
}
