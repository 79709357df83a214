//! What kernels are given besides the values of their function: the addresses of variables of the program's that are no
//! constants, and what is the library's.
//!
//! A kernel is a function of parameters, and functions that it calls know nothing of these: those that need one become a part
//! of it.

use std::collections::HashSet;

use okl_abi::gpu::parameter;

use super::Passed;
use crate::analysis::call_graph::calls_itself;
use crate::diagnostic::user_name;
use crate::llvm::{Builder, Function, Instruction, Linkage, Module, Type, Value};
use crate::lower::cpu::atomics;
use crate::lower::gpu::launch::Parameter;
use crate::marks::OKL_ATOMIC;

/// What stands for the address of the lock in the code of devices.
pub const LOCK: &str = "okl.device.lock";
/// How much code a kernel has at most, before it is optimised.
const MOST_INSTRUCTIONS: usize = 1 << 17;

/// The name of a variable of the program's whose address a value leads to, if it is no constant.
pub fn variable<'d>(module: &'d Module, value: Value<'d>) -> Option<String> {
    if !value.is_constant() || !value.ty().is_pointer() {
        return None;
    }
    let (base, _) = value.offset_in_object(module);
    let global = base.as_global()?;
    let is_table = global.is_readonly() && !global.is_declaration() && !base.is_interposable();
    let is_given = !is_table && !global.is_thread_local() && global.address_space() == 0;
    is_given.then(|| global.name())
}

/// Whether code that begins with a call, or a function, has code that needs the lock.
fn needs_lock<'d>(
    module: &Module,
    function: Function<'d>,
    seen: &mut HashSet<Function<'d>>,
) -> bool {
    !function.is_declaration()
        && seen.insert(function)
        && function.instructions().into_iter().any(|one| {
            one.as_call().is_some_and(|call| {
                atomics::needs_lock(module, call)
                    || call
                        .callee_function()
                        .is_some_and(|callee| needs_lock(module, callee, seen))
            })
        })
}

/// Whether a function, or one that it calls, needs what only the kernel has.
fn needs<'d>(
    module: &'d Module,
    function: Function<'d>,
    locks: bool,
    seen: &mut HashSet<Function<'d>>,
) -> bool {
    !function.is_declaration()
        && seen.insert(function)
        && function.instructions().into_iter().any(|one| {
            let mut operands = one.operands().into_iter();
            let has_variable = operands.any(|value| variable(module, value).is_some());
            has_variable
                || one.as_call().is_some_and(|call| {
                    locks && call.callee_name() == OKL_ATOMIC[0]
                        || call
                            .callee_function()
                            .is_some_and(|callee| needs(module, callee, locks, seen))
                })
        })
}

/// Has functions that need something of the kernel's become a part of it.
pub fn gather<'d>(module: &'d Module, kernels: &[Function<'d>]) -> Result<(), (usize, String)> {
    let mut seen = HashSet::new();
    let locks = kernels
        .iter()
        .any(|kernel| needs_lock(module, *kernel, &mut seen));
    for (which, kernel) in kernels.iter().enumerate() {
        loop {
            let calls = kernel.instructions().into_iter();
            let mut calls = calls.filter_map(|one| one.as_call());
            let call = calls.find(|call| {
                let callee = call.callee_function();
                callee.is_some_and(|callee| needs(module, callee, locks, &mut HashSet::new()))
            });
            let Some(call) = call else { break };
            let callee = call.callee_function().expect("it was looked at");
            let name = user_name(callee);
            let is_too_much =
                calls_itself(callee) || kernel.instructions().len() > MOST_INSTRUCTIONS;
            if is_too_much || callee.is_interposable() || !call.inline() {
                let told = format!(
                    "it calls {name}, which uses variables that are no constants, or has @atomic code, and cannot be a part of it"
                );
                return Err((which, told));
            }
        }
    }
    Ok(())
}

/// Values of a kernel that stand for what it is given, while its code is that of its function.
pub struct Given<'d> {
    module: &'d Module,
    function: Function<'d>,
    all: Vec<(Value<'d>, Passed)>,
}

impl<'d> Given<'d> {
    /// To a kernel made of a function's code.
    pub fn to(module: &'d Module, function: Function<'d>) -> Self {
        Self {
            module,
            function,
            all: Vec::new(),
        }
    }

    /// A value that stands for it.
    pub fn value(&mut self, passed: Passed) -> Value<'d> {
        if let Some((value, _)) = self.all.iter().find(|(_, known)| *known == passed) {
            return *value;
        }
        let builder = Builder::at_entry(self.module, self.function);
        let (ty, align) = match passed {
            Passed::FirstBlock(_) => (self.module.int(32), 4),
            _ => (self.module.pointer(), 8),
        };
        let value = builder.load(ty, builder.alloca(ty, align));
        self.all.push((value, passed));
        value
    }

    /// What a value stands for.
    pub fn passed(&self, value: Value<'d>) -> Option<&Passed> {
        let mut all = self.all.iter();
        Some(&all.find(|(known, _)| *known == value)?.1)
    }

    /// Has code, which begins with the first of these instructions, use these in place of variables of the program's, and the
    /// lock.
    pub fn replace(&mut self, code: &[Instruction<'d>]) {
        for one in code {
            for (at, operand) in one.operands().into_iter().enumerate() {
                let Some(name) = variable(self.module, operand) else {
                    continue;
                };
                let is_called = one.as_call().is_some_and(|call| call.callee() == operand);
                if is_called {
                    continue;
                }
                let (_, bytes) = operand.offset_in_object(self.module);
                let address = self.value(match name == LOCK {
                    true => Passed::Lock,
                    false => Passed::Global(name),
                });
                let instead = Builder::before(self.module, code[0]).offset(address, bytes);
                one.set_operand(at, instead);
            }
        }
    }
}

/// What stands for the lock.
pub fn lock(module: &Module) -> Value<'_> {
    let add = || {
        let linkage = Linkage::LLVMExternalLinkage;
        module.add_global(LOCK, module.int(32), None, linkage)
    };
    *module.global(LOCK).unwrap_or_else(add)
}

/// The parameter by which a kernel is given something.
pub fn parameter(module: &Module, passed: &Passed, ty: Type<'_>) -> Parameter {
    let kind = match passed {
        Passed::Lock => parameter::ADDRESS | parameter::LOCK,
        Passed::Lacks => parameter::ADDRESS | parameter::ITEMS,
        Passed::FirstBlock(1) => parameter::FIRST_Y,
        Passed::FirstBlock(_) => parameter::FIRST_Z,
        _ => parameter::ADDRESS,
    };
    Parameter {
        kind,
        size: module.size_of(ty) as i64,
        is_alone: false,
        stays: None,
    }
}
