//! A device module of any front end's kernels becomes code.
//!
//! Guarantee: the module that the kernels are copies of stays as it is, and nothing comes to LLVM's back end that ends LLVM.
//! Of what cannot be compiled it is said which kernel has it, where that is known.

use okl_abi::AtomicOp;
use okl_abi::gpu::parameter;

use super::launch::Kernel;
use super::target::GpuTarget;
use super::{math, reach};
use crate::diagnostic::user_name;
use crate::llvm::{
    Builder, Function, Linkage, Machine, Module, OwnModule, Silence, Type, Update, Value,
};

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
/// with it. What the host knows of the kernels is completed.
pub fn build<H>(
    module: &Module,
    target: &'static GpuTarget,
    outline: impl FnOnce(&Module) -> Result<Vec<(Kernel, H)>, Failed>,
) -> Result<(String, Vec<(Kernel, H)>), Failed> {
    let Some(machine) = Machine::of(&target.processor) else {
        let why = format!("this compiler has no code for {}", target.processor.triple);
        return failed(None, &why);
    };
    let silence = Silence::begin(module);
    let mut device = copy(module, &machine);
    let mut outlined = outline(&device)?;
    add_negated(&device);
    let mut kernels: Vec<_> = outlined.iter_mut().map(|(kernel, _)| kernel).collect();
    device.forget_processor();
    for kernel in &kernels {
        let function = device.function(&kernel.entry).expect("it was just made");
        function.set_linkage(Linkage::LLVMExternalLinkage);
        function.set_convention(target.convention);
        if let Some([x, y, z]) = kernel.items {
            function.mark(&device, target.bound, &format!("{x},{y},{z}"));
        }
    }
    machine.adopt(&device);
    machine.run(&mut device, "globaldce");
    for function in device.functions() {
        if !function.is_declaration() {
            function.set_attribute(&device, "convergent");
        }
    }
    if math::rename(&device) {
        let Some(library) = library(target) else {
            let why = format!(
                "it calls mathematical functions, and libclc's {} is not there: install libclc-22",
                target.library
            );
            return failed(None, &why);
        };
        if !device.link_needed(&library) {
            return failed(None, &format!("libclc's {} cannot be read", target.library));
        }
        for function in device.functions() {
            if !function.is_declaration() && !function.is_local() {
                let mut entries = kernels.iter().map(|one| &one.entry);
                if !entries.any(|entry| *entry == function.name()) {
                    function.set_linkage(Linkage::LLVMInternalLinkage);
                }
            }
        }
    }
    machine.run(
        &mut device,
        "function(simplifycfg),nvvm-reflect,default<O2>,globaldce",
    );
    look_at(&device, &kernels, target)?;
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
            // What nobody writes is the same on both sides of a barrier, too.
            if passed.is_alone && says("readonly") {
                function.set_parameter_attribute(&device, at, "noalias");
            }
        }
    }
    let code = machine.assembly(&mut device);
    let has_failed = module.has_failed();
    drop(silence);
    match code {
        Some(code) if !has_failed => Ok((code, outlined)),
        _ => failed(None, "LLVM has no code for it"),
    }
}

/// A copy of a module in which kernels can be made.
pub fn copy(module: &Module, machine: &Machine) -> OwnModule {
    let mut device = OwnModule::copy_with_lines(module);
    // There are no exceptions on devices.
    machine.run(&mut device, "function(lower-invoke)");
    device
}

/// Checks that what is to be compiled has nothing that ends LLVM.
fn look_at(device: &Module, kernels: &[&mut Kernel], target: &GpuTarget) -> Result<(), Failed> {
    if device.has_aliases() {
        return failed(None, "it uses a function or variable that has two names");
    }
    let own: Vec<_> = target
        .item
        .iter()
        .chain(&target.block)
        .chain([&target.barrier])
        .copied()
        .collect();
    for function in device.functions() {
        if function.is_declaration() {
            // Tables may have it, too.
            if !function.is_intrinsic() && !function.is_unused() {
                let name = user_name(function);
                return failed(
                    None,
                    &format!("it uses {name}, of which this file has no code"),
                );
            }
            continue;
        }
        let mut all = kernels.iter();
        let which = all.position(|one| one.entry == function.name());
        if let Some(why) = reach::what_is_left(device, function, &own) {
            return failed(which, &why);
        }
    }
    for global in device.globals() {
        let is_table = global.is_readonly() && !global.is_declaration();
        let is_shared = global.address_space() == target.shared_space;
        if !is_table && !is_shared || global.is_thread_local() {
            let name = crate::llvm::demangle(&global.name());
            return failed(None, &format!("it uses {name}, which is no constant"));
        }
    }
    Ok(())
}

/// Where libclc is installed.
const LIBRARIES: [&str; 3] = [
    "/usr/lib/clc",
    "/usr/share/clc",
    "/usr/lib/llvm-22/share/clc",
];

fn library(target: &GpuTarget) -> Option<Vec<u8>> {
    let mut folders = LIBRARIES.iter();
    folders.find_map(|folder| std::fs::read(format!("{folder}/{}", target.library)).ok())
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

/// Has all work items of the block wait for each other.
pub fn meet<'d>(builder: &Builder<'d>, target: &GpuTarget) {
    let module = builder.module();
    let ty = module.function_type(module.void(), &[module.int(32)]);
    let barrier = declared(module, target.barrier, ty);
    builder.call(barrier, &[module.const_i32(0)]);
}

/// A number that the device knows, as one of 64 bits; below another one, where that is known.
pub fn number<'d>(builder: &Builder<'d>, name: &str, end: Option<i64>) -> Value<'d> {
    let module = builder.module();
    let ty = module.function_type(module.int(32), &[]);
    let number = builder.call(declared(module, name, ty), &[]);
    if let Some((end, call)) = end.zip(number.as_instruction()) {
        call.set_result_below(module, end);
    }
    builder.int_cast(number, module.int(64))
}
