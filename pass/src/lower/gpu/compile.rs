//! A device module of any front end's kernels becomes code.
//!
//! Guarantee: the module that the kernels are copies of stays as it is, and nothing comes to LLVM's back end that ends LLVM.
//! Of what cannot be compiled it is said which kernel has it, where that is known.

use std::collections::HashSet;

use okl_abi::AtomicOp;
use okl_abi::gpu::parameter;

use super::launch::Kernel;
use super::library::Library;
use super::target::{Bound, Code, GpuTarget};
use super::{again, link, math, print, reach};
use crate::analysis::variables::is_harmless;
use crate::diagnostic::user_name;
use crate::llvm::{
    Builder, Function, Linkage, Machine, Module, Opcode, OwnModule, Silence, Type, Update, Value,
    apart, worker,
};
use crate::lower::jit::rounding;

/// Code, the kernels that are in it, with what the host has of each, and those that are left to be compiled once more.
pub type Built<H> = (Vec<u8>, Vec<(Kernel, H)>, Vec<again::Left>);

/// Why there is no code.
pub struct Failed {
    /// For which of the candidates; for all where that is not known.
    pub which: Option<usize>,
    /// Why.
    pub why: String,
}

impl Failed {
    /// The same where candidates have these numbers.
    pub fn counted_so(self, numbers: &[usize]) -> Self {
        let which = self.which.map(|which| numbers[which]);
        Self { which, ..self }
    }
}

/// That there is no code.
pub fn failed<T>(which: Option<usize>, why: &str) -> Result<T, Failed> {
    Err(Failed {
        which,
        why: why.to_string(),
    })
}

/// Makes code of a copy of a module, in which `outline` makes a kernel for each candidate, and says what of the host's goes
/// with it. What the host knows of the kernels is completed. With `is_left` they are left to be compiled once more, too.
pub fn build<H>(
    module: &Module,
    target: &'static GpuTarget,
    is_left: bool,
    outline: impl FnOnce(&Module) -> Result<Vec<(Kernel, H)>, Failed>,
) -> Result<Built<H>, Failed> {
    let Some(machine) = Machine::of(&target.processor) else {
        let why = format!("this compiler has no code for {}", target.processor.triple);
        return failed(None, &why);
    };
    let silence = Silence::begin(module);
    let mut device = copy(module, &machine);
    let mut outlined = outline(&device)?;
    add_negated(&device);
    if target.prints
        && let Err(why) = print::rename(&device)
    {
        return failed(None, &why);
    }
    for (kernel, _) in &mut outlined {
        let function = device.function(&kernel.entry).expect("it was just made");
        kernel.prints = print::prints(function);
    }
    let mut kernels: Vec<_> = outlined.iter_mut().map(|(kernel, _)| kernel).collect();
    device.forget_processor();
    for kernel in &kernels {
        let function = device.function(&kernel.entry).expect("it was just made");
        function.set_linkage(Linkage::LLVMExternalLinkage);
        function.set_convention(target.convention);
        match (&target.bound, kernel.items) {
            (Bound::Directions(name), Some([x, y, z])) => {
                function.mark(&device, name, &format!("{x},{y},{z}"));
            }
            (Bound::Counts(name), items) => {
                let most = items.map_or(target.most_items, |all| all.iter().product());
                function.mark(&device, name, &format!("1,{most}"));
            }
            (Bound::Directions(_), None) | (Bound::Nothing, _) => {}
        }
        for (name, value) in target.attributes {
            function.mark(&device, name, value);
        }
    }
    machine.adopt(&device);
    machine.run(&mut device, "globaldce");
    let mut parameters = kernels.iter().flat_map(|one| &one.parameters);
    if parameters.any(|one| one.stays.is_some()) {
        // Only so much that nobody finds that a copy is changed and not read.
        machine.run(&mut device, "function(sroa,early-cse)");
    }
    for (which, kernel) in kernels.iter().enumerate() {
        let function = device.function(&kernel.entry).expect("it was just made");
        for (passed, value) in kernel.parameters.iter().zip(function.parameters()) {
            if let Some(name) = &passed.stays
                && !is_only_read(value, &mut HashSet::new())
            {
                return failed(Some(which), &format!("it may change {name}"));
            }
        }
    }
    retarget(&mut device, target);
    if target.is_for_ptxas {
        device.keep_questions();
    }
    for function in device.functions() {
        if !function.is_declaration() {
            function.set_attribute(&device, "convergent");
        }
    }
    let has_assembly = |function: &Function<'_>| {
        let code = function.instructions().into_iter();
        let mut calls = code.filter_map(|one| one.as_call());
        calls.any(|call| call.callee().as_inline_assembly().is_some())
    };
    if device.functions().iter().any(has_assembly) {
        return failed(None, "it has inline assembly");
    }
    let library = Library::of(target).or_else(|why| failed(None, &why))?;
    let called = math::rename(&device, &library);
    if !called.is_empty() {
        let linked = library.link(&mut device, &called);
        linked.or_else(|why| failed(None, &why))?;
        for function in device.functions() {
            if !function.is_declaration() && !function.is_local() {
                let mut entries = kernels.iter().map(|one| &one.entry);
                if !entries.any(|entry| *entry == function.name()) {
                    function.set_linkage(Linkage::LLVMInternalLinkage);
                }
            }
        }
    }
    for kernel in &kernels {
        let function = device.function(&kernel.entry).expect("it was just made");
        let alone = kernel.parameters.iter().enumerate();
        let alone = alone.filter(|(_, one)| one.is_alone);
        let alone: Vec<_> = alone.map(|(at, _)| at.to_string()).collect();
        function.mark(&device, ALONE, &alone.join(","));
    }
    let mut left = Vec::new();
    if is_left {
        // Which products and sums become one operation is not to depend on what is known then.
        rounding::fix(&device, true);
        let found = kernels.iter();
        left.extend(found.filter_map(|one| again::leave(&device, one, target)));
    }
    let entries: Vec<_> = kernels.iter().map(|one| one.entry.as_str()).collect();
    let mut device = optimised(&machine, device, &entries, target)?;
    for kernel in &mut kernels {
        let function = device.function(&kernel.entry).expect("it is kept");
        for (at, passed) in kernel.parameters.iter_mut().enumerate() {
            let says = |name: &str| function.has_parameter_attribute(at, name);
            if passed.kind & parameter::ADDRESS == 0 {
                continue;
            }
            passed.kind |= match (says("readnone"), says("readonly"), says("writeonly")) {
                (true, ..) => 0,
                (_, true, _) => parameter::READ,
                (.., true) => parameter::WRITTEN,
                _ => parameter::READ | parameter::WRITTEN,
            };
        }
    }
    let code = code(&machine, &mut device, target);
    drop(silence);
    Ok((code?, outlined, left))
}

/// Which parameters of a kernel lead to what nothing else leads to, as the program says: a note of the function, until it is
/// optimised.
const ALONE: &str = "okl.alone";

/// A module with these kernels, optimised, if nothing is in it that ends LLVM.
pub fn optimised(
    machine: &Machine,
    mut device: OwnModule,
    entries: &[&str],
    target: &GpuTarget,
) -> Result<OwnModule, Failed> {
    // What LLVM makes of code may need what the device has not, and the code itself does not.
    let plain = (!target.integers.is_empty()).then(|| OwnModule::clone_of(&device));
    let fails = || Failed {
        which: None,
        why: format!("LLVM cannot optimise it for {}", target.words),
    };
    device = optimise(machine, device, target, ALL).ok_or_else(fails)?;
    let mut seen = look_at(&device, entries, target);
    if let (Err(_), Some(plain)) = (&seen, plain) {
        device = optimise(machine, plain, target, FEW).ok_or_else(fails)?;
        seen = look_at(&device, entries, target);
    }
    seen?;
    for entry in entries {
        let function = device.function(entry).expect("it is kept");
        let alone = function.mark_value(ALONE).unwrap_or_default();
        function.unmark(ALONE);
        // What nobody writes is the same on both sides of a barrier, too.
        let alone = alone.split(',').filter_map(|at| at.parse().ok());
        for at in alone.filter(|at| function.has_parameter_attribute(*at, "readonly")) {
            function.set_parameter_attribute(&device, at, "noalias");
        }
    }
    Ok(device)
}

/// The code of such a module, for the driver.
pub fn code(
    machine: &Machine,
    device: &mut OwnModule,
    target: &GpuTarget,
) -> Result<Vec<u8>, Failed> {
    if target.is_for_ptxas {
        machine.expand_atomics(device);
    }
    if let Some(worker) = worker().filter(|_| target.is_made_apart()) {
        let made = worker.make(&again::to_compile(device, target));
        return made.or_else(|why| failed(None, &why));
    }
    let code = match target.compiles_one {
        true => apart(|| compiled(machine, device, target)),
        false => compiled(machine, device, target),
    };
    finished(code, target)
}

/// What LLVM makes of such a module, here.
pub fn compiled(machine: &Machine, device: &mut OwnModule, target: &GpuTarget) -> Option<Vec<u8>> {
    let code = machine.compile(device, target.code == Code::Assembly);
    code.filter(|_| !device.has_failed())
}

/// What the driver gets of that.
pub fn finished(code: Option<Vec<u8>>, target: &GpuTarget) -> Result<Vec<u8>, Failed> {
    let none = || format!("LLVM has no code for it for {}", target.words);
    let code = code.ok_or_else(none);
    let finished = code.and_then(|code| match target.code {
        Code::Assembly | Code::Object => Ok(code),
        Code::Linked => link::shared(&code),
    });
    finished.or_else(|why| failed(None, &why))
}

/// Has a module be as a kind of device wants it, but for its code.
fn retarget(device: &mut OwnModule, target: &GpuTarget) {
    if target.stack_space != 0 {
        device.move_stack(target.stack_space);
    }
    if target.table_space != 0 {
        device.move_tables(target.table_space);
    }
    if !target.atomics.has_floating {
        device.expand_atomics();
    }
    if let Some(scope) = target.atomics.scope {
        device.scope_atomics(scope, target.atomics.notes);
    }
    if let Some((name, number)) = target.flag {
        device.flag(name, number);
    }
    say_version(device, target);
}

/// Notes which version of its language a module for a kind of device has.
pub fn say_version(device: &mut OwnModule, target: &GpuTarget) {
    if let Some((name, version)) = target.version {
        device.say_version(name, version);
    }
}

/// What optimises a module.
const ALL: &str = "default<O3>";

/// What does so, and makes no integers of other types than the code has.
const FEW: &str = "function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,\
    loop(loop-rotate),loop(loop-unroll-full),sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
    loop-mssa(licm),gvn,dse,instcombine<no-verify-fixpoint>,simplifycfg,adce),cgscc(function-attrs)";

/// Short loops are written out before the pipeline begins, which takes from sums in loops that they do not overflow.
const FOR_PTXAS: &str = "function(simplifycfg,sroa,early-cse),cgscc(inline),globaldce,nvvm-reflect,\
     function(nvvm-intr-range,sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,\
     loop-mssa(loop-instsimplify,loop-simplifycfg,loop-rotate),simplifycfg,instcombine<no-verify-fixpoint>,\
     loop(indvars,loop-unroll-full),sroa,early-cse),default<O3>,globaldce";

/// None where LLVM fails.
fn optimise(
    machine: &Machine,
    mut device: OwnModule,
    target: &GpuTarget,
    by: &str,
) -> Option<OwnModule> {
    if !target.has_flat_pointers {
        // Where a pointer leads is found out in one function.
        for function in device.functions() {
            if !function.is_declaration() {
                function.set_attribute(&device, "alwaysinline");
                for (name, value) in target.attributes {
                    function.mark(&device, name, value);
                }
            }
        }
        machine.run(
            &mut device,
            "always-inline,globaldce,function(sroa<modify-cfg>,early-cse,simplifycfg)",
        );
        machine.infer_spaces(&mut device);
    }
    let others = format!("function(simplifycfg),{by},globaldce");
    let passes = match target.is_for_ptxas {
        true => FOR_PTXAS,
        false => &others,
    };
    device = machine.optimise(device, passes, target.is_for_ptxas)?;
    if !target.has_flat_pointers {
        machine.infer_spaces(&mut device);
        machine.run(
            &mut device,
            "function(instcombine<no-verify-fixpoint>,simplifycfg),globaldce",
        );
    }
    if !target.has_overflow {
        device.expand_overflow();
    }
    if !target.has_fills {
        device.expand_fills();
    }
    if !target.has_same_cases && device.functions().into_iter().any(has_same_cases) {
        machine.run(&mut device, "function(lower-switch)");
    }
    if target.function_convention != 0 {
        device.call_by(target.function_convention, target.convention);
    }
    Some(device)
}

/// Whether several cases of a `switch` lead to the same place.
fn has_same_cases(function: Function<'_>) -> bool {
    function.blocks().into_iter().any(|block| {
        let end = block.terminator();
        let switch = end.filter(|one| one.opcode() == Opcode::LLVMSwitch);
        switch.is_some_and(|one| {
            let (cases, others) = one.cases();
            let mut seen = HashSet::from([others]);
            cases.into_iter().any(|(_, case)| !seen.insert(case))
        })
    })
}

/// A copy of a module in which kernels can be made.
pub fn copy(module: &Module, machine: &Machine) -> OwnModule {
    let mut device = OwnModule::copy_with_lines(module);
    // There are no exceptions on devices.
    machine.run(&mut device, "function(lower-invoke)");
    device
}

/// Checks that what is to be compiled has nothing that ends LLVM.
fn look_at(device: &Module, entries: &[&str], target: &GpuTarget) -> Result<(), Failed> {
    if device.has_aliases() {
        return failed(None, "it uses a function or variable that has two names");
    }
    let own = target.functions();
    for function in device.functions() {
        if function.is_declaration() {
            // Tables may have it, too.
            let is_known = own.contains(&function.name().as_str())
                || target.library.is_none() && math::is_library(&function.name());
            if !function.is_intrinsic() && !function.is_unused() && !is_known {
                let name = user_name(function);
                return failed(
                    None,
                    &format!("it uses {name}, of which this file has no code"),
                );
            }
            continue;
        }
        let which = entries.iter().position(|one| *one == function.name());
        if let Some(why) = reach::what_is_left(device, function, &own, target) {
            return failed(which, &why);
        }
    }
    for global in device.globals() {
        let is_table = global.is_readonly() && !global.is_declaration();
        let is_shared = global.address_space() == target.shared_space;
        let is_elsewhere = !target.has_flat_pointers
            && is_table
            && (global.address_space() != target.table_space || global.value_type().has_pointers());
        if is_elsewhere {
            return failed(
                None,
                &format!("it uses a table that {} cannot have", target.words),
            );
        }
        if !is_table && !is_shared || global.is_thread_local() {
            let name = crate::llvm::demangle(&global.name());
            return failed(None, &format!("it uses {name}, which is no constant"));
        }
    }
    Ok(())
}

/// Whether code certainly does nothing with what is at an address but to read it.
pub fn is_only_read<'d>(address: Value<'d>, seen: &mut HashSet<Value<'d>>) -> bool {
    !seen.insert(address)
        || address
            .instruction_users()
            .into_iter()
            .all(|one| match one.opcode() {
                Opcode::LLVMLoad | Opcode::LLVMICmp => true,
                Opcode::LLVMGetElementPtr
                | Opcode::LLVMBitCast
                | Opcode::LLVMAddrSpaceCast
                | Opcode::LLVMPHI
                | Opcode::LLVMSelect => is_only_read(*one, seen),
                Opcode::LLVMCall => {
                    let call = one.as_call().expect("it is one");
                    let passed = call.arguments();
                    let mut at = (0..passed.len()).filter(|&at| passed[at] == address);
                    if is_harmless(one) {
                        return true;
                    }
                    if call.callee_name().starts_with("llvm.memcpy.") {
                        return at.all(|at| at == 1);
                    }
                    let callee = call.callee_function();
                    let callee = callee.filter(|callee| !callee.is_declaration());
                    callee.is_some_and(|callee| {
                        let parameters = callee.parameters();
                        at.all(|at| {
                            let parameter = parameters.get(at);
                            parameter.is_some_and(|one| is_only_read(*one, seen))
                        })
                    })
                }
                _ => false,
            })
}

/// A function that each device has.
pub fn declared<'d>(module: &'d Module, name: &str, ty: Type<'d>) -> Function<'d> {
    let add = || module.add_function(name, ty, Linkage::LLVMExternalLinkage);
    module.function(name).unwrap_or_else(add)
}

/// The name of a kernel: that of its function, in letters that all devices take.
pub fn entry_name(function: Function<'_>, number: usize) -> String {
    let name = function.name();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = name
        .chars()
        .map(|one| if is_plain(one) { one } else { '_' });
    format!("okl_{}_{number}", name.collect::<String>())
}

/// Has numbers added at once where they are taken away, which devices cannot do.
fn add_negated(device: &Module) {
    let functions = device.functions().into_iter();
    let code: Vec<_> = functions.flat_map(|one| one.instructions()).collect();
    for one in code {
        let is_relaxed = one.is_atomic_update() && one.releases_and_acquires() == (false, false);
        if is_relaxed && one.atomic_operation() == Some(AtomicOp::FSub) {
            let builder = Builder::before(device, one);
            let by = builder.negate(one.operand(1));
            let add = Update::LLVMAtomicRMWBinOpFAdd;
            let old = builder.update(add, one.operand(0), by, one.alignment());
            one.replace_all_uses_with(old);
            one.erase();
        }
    }
}
