//! The pass, read aloud: recognise the parallel loops, analyse the module around them, check that
//! everything can be lowered, tell the user what cannot, lower the rest.

use crate::diagnostic::{Declined, Site, report};
use crate::llvm::{self, Function, Module, Severity, VectorUnit};
use crate::lower::{cpu, cpu::calls, mpi};
use crate::options::{Options, Target};
use crate::recognise::{op2, openmp};

/// Runs the pass on a module. True where the module was changed.
pub fn lower(module: &Module, parameters: &str, target_flag: &str, strict_flag: bool) -> bool {
    let environment = std::env::var("OKL_TARGET").ok();
    let options = match Options::read(parameters, target_flag, strict_flag, environment.as_deref())
    {
        Ok(options) => options,
        Err(message) => {
            module.diagnose(None, None, &message, Severity::Error);
            return false;
        }
    };
    let merged = mpi::external_calls::call_translated(module);
    let op2 = op2::recognise(module);
    if let Some(at) = op2.looks_at_data {
        let message = "data stay element by element: the file looks at op_dat->data";
        at.remark("Storage", message, true);
    }
    let mut changes = cpu::say_whether_data_are_looked_at(module, op2.looks_at_data.is_some());
    for (at, what) in [
        (op2.looks_at_maps, "op_map->map"),
        (op2.looks_at_data, "op_dat->data"),
    ] {
        if let Some(at) = at {
            calls::say_what_is_looked_at(module, at, what);
            changes = true;
        }
    }
    let lowers = match options.target {
        // Every process runs all of an OP2 program: its OpenMP regions are not distributed.
        _ if op2.uses_op2 => lower_op2(module, op2, options.strict),
        Some(Target::Cpu) => false,
        None if !openmp::is_used(module) => mpi::leave_alone(module),
        Some(Target::Mpi) | None => lower_to_mpi(module, options.strict),
    };
    merged || changes || lowers
}

fn lower_op2(module: &Module, found: op2::Found<'_>, strict: bool) -> bool {
    report_all(module, &found.mistakes, Severity::Error);
    report_all(module, &found.doubts, Severity::Warning);
    for one in &found.declined {
        report_declined(module, one, strict.then_some(Severity::Error));
    }
    let (regions, _) = openmp::recognise(module);
    for region in &regions {
        let reason = format!(
            "{} keeps its threads: the file is part of an OP2 program",
            region.origin
        );
        region.site.instruction().remark("Threads", &reason, true);
    }
    if !found.mistakes.is_empty() {
        return false;
    }
    calls::say_where(module, &found.calls);
    cpu::emit(module, &found.loops);
    !found.calls.is_empty() || !found.loops.is_empty()
}

fn lower_to_mpi(module: &Module, strict: bool) -> bool {
    mpi::prepare(module);
    let (loops, mut refused) = openmp::recognise(module);
    let plan = mpi::check(module, loops, &mut refused);
    for one in &mut refused {
        one.reason.insert_str(0, "okl: ");
    }
    report_all(module, &refused, Severity::Error);

    let declined = plan.declined();
    let severity = if strict {
        Severity::Error
    } else {
        Severity::Warning
    };
    report_all(module, &declined, severity);
    if !refused.is_empty() || strict && !declined.is_empty() {
        return false;
    }
    plan.remark();
    mpi::emit(module, plan)
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

/// Prints the parallel loops of a module: `-passes='print<okl-loops>'`.
pub fn print_loops(module: &Module) {
    let (loops, declined) = openmp::recognise(module);
    let op2 = op2::recognise(module);
    for one in loops.iter().chain(&op2.loops) {
        llvm::print(&one.to_string());
    }
    report_all(module, &declined, Severity::Error);
    report_all(module, &op2.declined, Severity::Warning);
}

/// Declares what the regions of a lowered module access. True where the module was changed.
pub fn declare_sections(module: &Module) -> bool {
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

/// Has a function in two versions know which it is, wherever LLVM has brought a choice into it. True where it was changed.
pub fn choose_version(module: &Module, function: Function<'_>) -> bool {
    mpi::twins::choose(module, function)
}

/// What is left to do after all other passes. True where the module was changed.
pub fn finish(module: &Module) -> bool {
    let restored = mpi::thread_private::restore(module);
    mpi::twins::finish(module) || restored
}

/// Makes the loops of a lowered OP2 program work on several elements at once. True where the module was changed.
pub fn add_lanes(module: &Module, unit: &VectorUnit) -> bool {
    cpu::lanes::emit(module, unit)
}

/// Prints what the regions of a lowered module access: `-passes='print<okl-sections>'`, which runs
/// the passes before it on a copy.
pub fn print_sections(module: &Module) {
    llvm::print(&mpi::sections::check(module).print());
}

/// Fails as a mistake of ours would, with a function half written: `-passes=okl-panic`.
pub fn panic_half_way(module: &Module) -> bool {
    let ty = module.function_type(module.void(), &[]);
    let function = module.add_function("okl.half_written", ty, llvm::Linkage::LLVMInternalLinkage);
    function.append_block(module);
    panic!("asked to panic");
}
