//! Kernels that are compiled once more in the program, when it is known which values they get.
//!
//! Guarantee: what such a kernel computes is what the one computes that was compiled ahead of time, bit for bit. Both are made of
//! the same module, in which nothing is left to choose of how numbers are rounded, with the same functions of a library in it,
//! by the same passes and the same back end. It has the same parameters, so that it is launched in the same way; a value that is
//! known is used in place of one's.
//!
//! What is left is a module with one kernel and what it reaches. Variables that other kernels see, too, there are none of: no
//! kernel has any ([`compile`]).

use std::collections::HashSet;
use std::time::Instant;

use okl_abi::jit::{code_flags, value};

use super::compile::{self, Failed};
use super::launch::Kernel;
use super::math;
use super::target::{Bound, CUDA, GpuTarget, HIP, SPIRV};
use crate::llvm::{Function, Intrinsic, Machine, Module, Opcode, OwnModule, Value, read_picked};
use crate::lower::jit::embed::erase_unused;
use crate::lower::jit::fold::{self, Known};
use crate::lower::jit::rounding;
use crate::simplified::mentioned;

/// A kernel that is left, for one kind of device.
pub struct Left {
    /// Its name in the code.
    pub entry: String,
    /// The module that has it, as bitcode.
    pub bitcode: Vec<u8>,
    /// What may be known.
    pub values: Vec<Place>,
    /// Bits of [`code_flags`].
    pub flags: i64,
}

/// Where a value is that may be known: see [`okl_abi::jit::JitValue`].
pub struct Place {
    pub kind: i64,
    pub place: i64,
    pub size: i64,
}

/// For which device a kernel is compiled, as a note of the function.
const TARGET: &str = "okl.device";

/// Why nothing is left of a kernel.
pub const WHY_NOT: &str = "nothing that its kernel gets can be known";

/// The kind of device that has a [name](name_of).
fn named(name: &str) -> Result<&'static GpuTarget, String> {
    let mut all = [&CUDA, &SPIRV].into_iter().chain(&HIP);
    let found = all.find(|one| name_of(one) == name);
    found.ok_or_else(|| "it is for an unknown device".to_string())
}

fn name_of(target: &GpuTarget) -> String {
    format!("{}:{}", target.name, target.processor.name)
}

/// Leaves a kernel of a module for a device, as it is in front of the optimiser. `None`: nothing that it gets may be known.
pub fn leave(device: &Module, kernel: &Kernel, target: &GpuTarget) -> Option<Left> {
    let function = device.function(&kernel.entry)?;
    let values = values(device, function, kernel);
    if values.is_empty() {
        return None;
    }
    let reached = mentioned(&[function]);
    let mut code = OwnModule::copy_with(device, |one| reached.contains(&one));
    code.strip_debug_info();
    code.detach();
    erase_unused(&code);
    let functions = code.functions();
    let is_free = functions.iter().any(|one| rounds_freely(*one, target));
    let flags = [
        (code_flags::DEVICE, true),
        (code_flags::ROUNDS_FREELY, is_free),
        (
            code_flags::SINGLE,
            functions.iter().any(|one| is_single(*one)),
        ),
    ];
    let own = code.function(&kernel.entry)?;
    own.mark(&code, TARGET, &name_of(target));
    Some(Left {
        entry: kernel.entry.clone(),
        bitcode: code.bitcode(),
        values,
        flags: flags.iter().filter(|one| one.1).map(|one| one.0).sum(),
    })
}

fn values(device: &Module, function: Function<'_>, kernel: &Kernel) -> Vec<Place> {
    let parameters = kernel.parameters.iter().zip(function.parameters());
    let passed = parameters.enumerate().filter(|(at, (passed, parameter))| {
        let is_used = !parameter.is_unused();
        is_used && passed.kind == 0 && may_be_known(device, function, *at, *parameter, passed.size)
    });
    let mut all: Vec<_> = passed
        .map(|(at, (passed, _))| Place {
            kind: value::PARAMETER,
            place: at as i64,
            size: passed.size,
        })
        .collect();
    if kernel.items.is_none() {
        all.extend((0..3).map(|direction| Place {
            kind: value::ITEMS,
            place: direction,
            size: 4,
        }));
    }
    all
}

/// Whether a parameter may be replaced by its value: a number, or the address of an object that the kernel only reads.
fn may_be_known(
    device: &Module,
    function: Function<'_>,
    at: usize,
    parameter: Value<'_>,
    size: i64,
) -> bool {
    if !parameter.ty().is_pointer() {
        return fold::size_of_number(device, parameter.ty()) == Some(size);
    }
    let Some(ty) = function.copied_parameter(at) else {
        return false;
    };
    fold::size_of_type(device, ty) == Some(size)
        && function.parameter_alignment(at) <= fold::MOST_ALIGNED
        && compile::is_only_read(parameter, &mut HashSet::new())
}

/// Whether a function's results depend on what is known while it is compiled: on what LLVM computes there of numbers that it
/// knows, where devices compute something else.
fn rounds_freely(function: Function<'_>, target: &GpuTarget) -> bool {
    const ROUNDED: &str = " sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 exp10 log log2 log10 sincos pow powi ";
    let is_rounded = |name: &str| {
        let known = name.strip_prefix("llvm.");
        known.is_some_and(|known| ROUNDED.contains(&format!(" {known} ")))
    };
    let is_free = function.instructions().into_iter().any(|one| {
        let call = one.as_call();
        let intrinsic = call.and_then(|call| call.intrinsic()).map(Intrinsic::name);
        let is_root = intrinsic.as_deref() == Some("llvm.sqrt");
        let divides = one.opcode() == Opcode::LLVMFDiv || is_root;
        one.opcode() == Opcode::LLVMFRem
            || intrinsic.as_deref().is_some_and(is_rounded)
            // AMD's libraries say that of divisions.
            || divides && one.has_note("fpmath")
            // OpenCL says it of those of single precision, and most functions are the driver's.
            || target.library.is_none()
                && (divides && !one.ty().lanes().0.is_double()
                    || call.is_some_and(|call| math::is_inexact(&call.callee_name())))
    });
    // Products and sums are one operation on devices.
    is_free || rounding::is_free(function, true)
}

/// Whether a function computes with numbers of less than double precision, of which some devices take the smallest ones for 0.
fn is_single(function: Function<'_>) -> bool {
    let all = function.instructions().into_iter();
    let mut types = all.flat_map(|one| {
        let operands = one.operands().into_iter().map(Value::ty);
        operands.chain([one.ty()]).collect::<Vec<_>>()
    });
    types.any(|ty| {
        let ty = ty.lanes().0;
        ty.is_floating() && !ty.is_double()
    })
}

/// Code for a device, and how many nanoseconds it took to simplify it.
pub fn make(bitcode: &[u8], known: &[Known<'_>]) -> Result<(Vec<u8>, u64), String> {
    let start = Instant::now();
    let mut device = read_picked(bitcode)?;
    device.tell_nobody();
    let functions = device.functions();
    let found = functions.into_iter().find_map(|one| {
        let name = one.mark_value(TARGET)?;
        one.unmark(TARGET);
        Some((one.name(), name))
    });
    let (entry, target) = found.ok_or("it has no kernel")?;
    let target = named(&target)?;
    compile::say_version(&mut device, target);
    let machine = machine(target)?;
    put_in(&device, &entry, known, target)?;
    device.verify()?;
    let told = |failed: Failed| failed.why;
    let mut device = compile::optimised(&machine, device, &[&entry], target).map_err(told)?;
    let simplified = start.elapsed().as_nanos() as u64;
    let code = compile::code(&machine, &mut device, target).map_err(told)?;
    Ok((code, simplified))
}

/// What a process of its own makes code of: [`make_apart`].
pub fn to_compile(device: &Module, target: &GpuTarget) -> Vec<u8> {
    [name_of(target).as_bytes(), b"\0", &device.bitcode()].concat()
}

/// The code of a module that was simplified in another process.
pub fn make_apart(from: &[u8]) -> Result<Vec<u8>, String> {
    let end = from.iter().position(|byte| *byte == 0);
    let (name, bitcode) = from.split_at(end.ok_or("it names no device")?);
    let target = named(&String::from_utf8_lossy(name))?;
    let mut device = OwnModule::read(&bitcode[1..])?;
    device.tell_nobody();
    let machine = machine(target)?;
    let code = compile::compiled(&machine, &mut device, target);
    compile::finished(code, target).map_err(|failed| failed.why)
}

fn machine(target: &GpuTarget) -> Result<Machine, String> {
    let machine = Machine::of(&target.processor);
    machine.ok_or_else(|| format!("this LLVM has no code for {}", target.words))
}

/// Has a kernel use these values.
fn put_in(
    device: &Module,
    entry: &str,
    known: &[Known<'_>],
    target: &GpuTarget,
) -> Result<(), String> {
    let kernel = device.function(entry).ok_or("it has no kernel")?;
    let parameters = kernel.parameters();
    let mut items = Vec::new();
    for one in known {
        if one.at.kind == value::ITEMS {
            let bytes = one.bytes.try_into().map_err(|_| "a size is no number")?;
            items.push(u32::from_le_bytes(bytes));
            continue;
        }
        let at = usize::try_from(one.at.place).ok();
        let at = at.filter(|at| *at < parameters.len());
        let at = at.ok_or("it has no such parameter")?;
        let parameter = parameters[at];
        let value = match parameter.ty().is_pointer() {
            true => {
                let ty = kernel.copied_parameter(at);
                let align = ty.map_or(1, |ty| device.align_of(ty));
                let align = align.max(kernel.parameter_alignment(at));
                device.add_table(one.bytes, align, target.table_space, parameter.ty())
            }
            false => {
                let value = parameter.ty().constant_of_bytes(device, one.bytes);
                value.ok_or("a value is no number")?
            }
        };
        parameter.replace_all_uses_with(value);
    }
    if let [x, y, z] = items[..] {
        match &target.bound {
            Bound::Directions(name) => kernel.mark(device, name, &format!("{x},{y},{z}")),
            Bound::Counts(name) => {
                let all = u64::from(x) * u64::from(y) * u64::from(z);
                kernel.mark(device, name, &format!("{all},{all}"));
            }
            // What a block may have at most, the driver says when it has compiled it.
            Bound::Nothing => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_devices_compute_otherwise_is_not_known() {
        let module = OwnModule::parse(
            "declare double @llvm.fma.f64(double, double, double)
            declare double @llvm.sin.f64(double)
            define double @f(double %a, double %b) {
                %c = call double @llvm.fma.f64(double %a, double %b, double 1.0)
                %d = fdiv double %c, %b
                ret double %d
            }
            define double @g(double %a, double %b) {
                %c = frem double %a, %b
                ret double %c
            }
            define double @h(double %a) {
                %c = call double @llvm.sin.f64(double %a)
                ret double %c
            }
            define double @i(double %a, double %b) {
                %c = fadd contract double %a, %b
                ret double %c
            }",
        );
        let found = ["f", "g", "h", "i"].map(|name| {
            let function = module.function(name).expect("it is there");
            rounds_freely(function, &CUDA)
        });
        assert_eq!(found, [false, true, true, true]);
    }

    #[test]
    fn what_drivers_compute_otherwise_is_not_known() {
        let module = OwnModule::parse(
            "declare double @_Z3expd(double)
            declare double @_Z5floord(double)
            declare double @llvm.sqrt.f64(double)
            declare float @llvm.sqrt.f32(float)
            define double @f(double %a, double %b) {
                %c = fdiv double %a, %b
                %d = call double @llvm.sqrt.f64(double %c)
                %e = call double @_Z5floord(double %d)
                ret double %e
            }
            define float @g(float %a, float %b) {
                %c = fdiv float %a, %b
                ret float %c
            }
            define float @h(float %a) {
                %b = call float @llvm.sqrt.f32(float %a)
                ret float %b
            }
            define double @i(double %a) {
                %b = call double @_Z3expd(double %a)
                ret double %b
            }
            define double @j(double %a) {
                %b = fdiv double 1.0, %a, !fpmath !0
                ret double %b
            }
            define float @k(float %a) {
                %b = fadd float %a, %a
                ret float %b
            }
            !0 = !{float 2.5}",
        );
        let all = ["f", "g", "h", "i", "j", "k"];
        let functions = all.map(|name| module.function(name).expect("it is there"));
        let free = |target| functions.map(|one| rounds_freely(one, target));
        assert_eq!(free(&SPIRV), [false, true, true, true, true, false]);
        assert_eq!(free(&HIP[0]), [false, false, false, false, true, false]);
        let single = functions.map(is_single);
        assert_eq!(single, [false, true, true, false, false, true]);
    }

    #[test]
    fn known_values_are_used_in_place_of_parameters() {
        let module = OwnModule::parse(
            "%object = type { double, i32 }
            define void @kernel(i32 %count, double %scale, ptr byval(%object) align 8 %weights, ptr %to) {
                %first = load double, ptr %weights
                %wide = uitofp i32 %count to double
                %product = fmul double %scale, %wide
                %sum = fadd double %product, %first
                store double %sum, ptr %to
                ret void
            }",
        );
        let at = |kind, place, size| okl_abi::jit::JitValue {
            kind,
            place,
            offset: 0,
            size,
            variable: std::ptr::null_mut(),
        };
        let places = [
            at(value::PARAMETER, 0, 4),
            at(value::PARAMETER, 1, 8),
            at(value::PARAMETER, 2, 16),
            at(value::ITEMS, 0, 4),
            at(value::ITEMS, 1, 4),
            at(value::ITEMS, 2, 4),
        ];
        let object = [2.5_f64.to_le_bytes(), [7, 0, 0, 0, 0, 0, 0, 0]].concat();
        let (seven, half) = (7_u32.to_le_bytes(), 0.5_f64.to_le_bytes());
        let (four, one) = (4_u32.to_le_bytes(), 1_u32.to_le_bytes());
        let bytes: [&[u8]; 6] = [&seven, &half, &object, &four, &one, &one];
        let known = places.iter().zip(bytes);
        let known: Vec<_> = known.map(|(at, bytes)| Known { at, bytes }).collect();
        assert_eq!(put_in(&module, "kernel", &known, &CUDA), Ok(()));
        let kernel = module.function("kernel").expect("it is there");
        assert_eq!(kernel.mark_value("nvvm.maxntid").as_deref(), Some("4,1,1"));
        let used = kernel.parameters().into_iter().map(|one| one.is_unused());
        assert_eq!(used.collect::<Vec<_>>(), [true, true, true, false]);
        let text = kernel.print();
        assert!(text.contains("uitofp i32 7 to double"), "{text}");
        assert!(text.contains("fmul double 5.000000e-01,"), "{text}");
        assert!(text.contains("load double, ptr @okl.jit.known"), "{text}");
    }
}
