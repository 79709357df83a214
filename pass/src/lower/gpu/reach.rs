//! What a device cannot run, where it stands in the program.

use std::collections::HashSet;

use super::shape::{Wrong, followers};
use super::target::GpuTarget;
use super::{math, print};
use crate::analysis::variables::is_harmless;
use crate::diagnostic::user_name;
use crate::llvm::{Block, Call, Function, Instruction, Intrinsic, Module, Opcode, Type, Value};
use crate::marks::is_okl_marker;

/// Intrinsics that LLVM has code for on each device.
const INTRINSICS: [&str; 70] = [
    "llvm.abs",
    "llvm.annotation",
    "llvm.assume",
    "llvm.bitreverse",
    "llvm.bswap",
    "llvm.ceil",
    "llvm.copysign",
    "llvm.ctlz",
    "llvm.ctpop",
    "llvm.cttz",
    "llvm.dbg.assign",
    "llvm.dbg.declare",
    "llvm.dbg.label",
    "llvm.dbg.value",
    "llvm.donothing",
    "llvm.expect",
    "llvm.expect.with.probability",
    "llvm.experimental.noalias.scope.decl",
    "llvm.fabs",
    "llvm.floor",
    "llvm.fma",
    "llvm.fmuladd",
    "llvm.fshl",
    "llvm.fshr",
    "llvm.invariant.end",
    "llvm.invariant.start",
    "llvm.is.constant",
    "llvm.is.fpclass",
    "llvm.launder.invariant.group",
    "llvm.lifetime.end",
    "llvm.lifetime.start",
    "llvm.maximum",
    "llvm.maximumnum",
    "llvm.maxnum",
    "llvm.memcpy",
    "llvm.memcpy.inline",
    "llvm.memmove",
    "llvm.memset",
    "llvm.memset.inline",
    "llvm.minimum",
    "llvm.minimumnum",
    "llvm.minnum",
    "llvm.nearbyint",
    "llvm.objectsize",
    "llvm.ptr.annotation",
    "llvm.ptrmask",
    "llvm.rint",
    "llvm.round",
    "llvm.roundeven",
    "llvm.sadd.sat",
    "llvm.sadd.with.overflow",
    "llvm.scmp",
    "llvm.smax",
    "llvm.smin",
    "llvm.smul.with.overflow",
    "llvm.sqrt",
    "llvm.ssa.copy",
    "llvm.ssub.sat",
    "llvm.ssub.with.overflow",
    "llvm.strip.invariant.group",
    "llvm.trap",
    "llvm.trunc",
    "llvm.uadd.sat",
    "llvm.uadd.with.overflow",
    "llvm.ucmp",
    "llvm.umax",
    "llvm.umin",
    "llvm.umul.with.overflow",
    "llvm.usub.sat",
    "llvm.usub.with.overflow",
];

/// What becomes of variables outside of a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Variables {
    /// They are constants.
    Constants,
    /// Whoever makes the kernel has their values passed.
    Passed,
    /// The same of their addresses, but where each thread has one.
    Given,
}

/// Checks that nothing that work items run, and the functions that it calls, is beyond a device.
pub fn check<'m>(
    module: &Module,
    code: &[Block<'m>],
    variables: Variables,
) -> Result<(), Wrong<'m>> {
    check_each(code, &mut |one| instruction(module, one, variables))
}

/// Checks that each kind of device has what only some have: functions that print.
pub fn check_for<'m>(code: &[Block<'m>], targets: &[&'static GpuTarget]) -> Result<(), Wrong<'m>> {
    let Some(target) = targets.iter().find(|one| !one.prints) else {
        return Ok(());
    };
    check_each(code, &mut |one| {
        let callee = one.as_call().and_then(|call| call.callee_function());
        match callee.filter(|callee| callee.is_declaration() && print::is_known(&callee.name())) {
            Some(callee) => Err(format!(
                "it calls {}, which {} cannot do",
                user_name(callee),
                target.words
            )),
            None => Ok(()),
        }
    })
}

/// Checks each instruction that work items run, and that functions have which they call.
fn check_each<'m>(
    code: &[Block<'m>],
    one_is_right: &mut dyn FnMut(Instruction<'m>) -> Result<(), String>,
) -> Result<(), Wrong<'m>> {
    let mut functions = HashSet::new();
    let mut rest = vec![code.to_vec()];
    while let Some(blocks) = rest.pop() {
        for one in blocks.iter().flat_map(|block| block.instructions()) {
            one_is_right(one).map_err(|why| (one, why))?;
            let callee = one.as_call().and_then(|call| call.callee_function());
            let callee = callee.filter(|callee| !callee.is_declaration());
            if let Some(callee) = callee.filter(|callee| functions.insert(*callee)) {
                rest.push(reached(callee));
            }
        }
    }
    Ok(())
}

/// The blocks of a function, but for those that only exceptions come to.
fn reached(function: Function<'_>) -> Vec<Block<'_>> {
    let mut found = vec![function.blocks()[0]];
    let mut at = 0;
    while let Some(&block) = found.get(at) {
        for next in followers(block) {
            if !found.contains(&next) {
                found.push(next);
            }
        }
        at += 1;
    }
    found
}

/// The same of an instruction.
pub fn instruction<'m>(
    module: &Module,
    one: Instruction<'m>,
    variables: Variables,
) -> Result<(), String> {
    if is_harmless(one) {
        return Ok(());
    }
    if let Some(why) = has_no_code(module, one) {
        return Err(why.to_string());
    }
    let code = "it has code that only its processor has";
    match one.opcode() {
        Opcode::LLVMCall | Opcode::LLVMInvoke => {
            call(one.as_call().expect("it is one"), variables)?;
        }
        Opcode::LLVMAlloca if one.operand(0).as_constant_int().is_none() => {
            return Err(
                "it has an array whose length is not known when it is compiled".to_string(),
            );
        }
        Opcode::LLVMVAArg
        | Opcode::LLVMIndirectBr
        | Opcode::LLVMCallBr
        | Opcode::LLVMCatchSwitch
        | Opcode::LLVMCatchPad
        | Opcode::LLVMCleanupPad => return Err(code.to_string()),
        _ => {}
    }
    let mut rest = one.operands();
    while let Some(value) = rest.pop() {
        if value.is_alias() {
            rest.push(value.through_alias());
        } else if value.is_composite_constant() {
            rest.extend(value.operands());
        }
        if variables != Variables::Passed {
            variable(value, variables == Variables::Given)?;
        }
        let is_called = one.as_call().is_some_and(|call| call.callee() == value);
        if value.as_function().is_some() && !is_called {
            return Err("it takes the address of a function".to_string());
        }
    }
    Ok(())
}

fn variable(value: Value<'_>, is_given: bool) -> Result<(), String> {
    let Some(global) = value.as_global() else {
        return Ok(());
    };
    let name = crate::llvm::demangle(&global.name());
    if global.is_thread_local() {
        return Err(format!("it uses {name}, of which each thread has one"));
    }
    let is_table = global.is_readonly() && !global.is_declaration() && !value.is_interposable();
    match is_table || is_given {
        true => Ok(()),
        false => Err(format!(
            "it uses {name}, a variable outside of the kernel that is no constant of this file: pass it as an argument"
        )),
    }
}

/// What an instruction has that devices have no code for, whatever it does.
fn has_no_code(module: &Module, one: Instruction<'_>) -> Option<&'static str> {
    let is_too_long = |ty: Type<'_>| {
        ty.is_floating() && ["x86_fp80", "fp128", "ppc_fp128"].contains(&ty.print().as_str())
    };
    let is_too_wide = |ty: Type<'_>| ty.bits().is_some_and(|bits| bits > 128);
    let values = one.operands().into_iter().chain([*one]);
    let types: Vec<_> = values.map(|value| value.ty()).collect();
    if types.iter().copied().any(is_too_long) {
        return Some("it computes with `long double` or `__float128`");
    }
    if types.into_iter().any(is_too_wide) {
        return Some("it computes with integers of more than 128 bits");
    }
    let accessed = match one.opcode() {
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => Some(one.operand(1).ty()),
        Opcode::LLVMStore if one.is_atomic_access() => Some(one.operand(0).ty()),
        Opcode::LLVMLoad if one.is_atomic_access() => Some(one.ty()),
        _ => None,
    };
    if accessed.is_some_and(|ty| module.size_of(ty) > LARGEST_ATOMIC) {
        return Some("it accesses objects of more than 8 bytes at once");
    }
    let is_last = one.as_call().is_some_and(|call| call.is_must_tail());
    is_last.then_some("it has a call that takes the place of its function")
}

/// Bytes that devices access at once.
const LARGEST_ATOMIC: u64 = 8;

fn call(call: Call<'_>, variables: Variables) -> Result<(), String> {
    if call.callee().as_inline_assembly().is_some() {
        return Err("it has inline assembly".to_string());
    }
    if let Some(name) = call.intrinsic().map(Intrinsic::name) {
        // Of arrays and variables it is told where they are.
        let told = [
            "llvm.stacksave",
            "llvm.stackrestore",
            "llvm.threadlocal.address",
        ];
        let is_known = INTRINSICS.contains(&name.as_str())
            || told.contains(&name.as_str())
            || math::has_intrinsic(call);
        return match is_known {
            true => Ok(()),
            false => Err(format!("it uses {name}, which only processors have")),
        };
    }
    let Some(callee) = call.callee_function() else {
        return Err("it calls a function by its address".to_string());
    };
    let name = callee.name();
    if is_okl_marker(&name) {
        return Ok(());
    }
    let prints = variables == Variables::Given && print::is_known(&name);
    match callee.is_declaration() && !math::has_function(callee) && !prints {
        true => Err(format!(
            "it calls {}, of which this file has no code",
            user_name(callee)
        )),
        false => Ok(()),
    }
}

/// What code of a device that is ready to be compiled has that the device has not.
pub fn what_is_left(
    module: &Module,
    function: Function<'_>,
    names: &[&str],
    target: &GpuTarget,
) -> Option<String> {
    for one in function.instructions() {
        if let Some(why) = has_no_code(module, one) {
            return Some(why.to_string());
        }
        if let Some(why) = is_beyond(module, one, target) {
            return Some(format!("{why}, which {} cannot do", target.words));
        }
        match one.opcode() {
            Opcode::LLVMCall => {
                let call = one.as_call().expect("it is one");
                if call.callee().as_inline_assembly().is_some() {
                    // It was looked for before libdevice's came.
                    if target.is_for_ptxas {
                        continue;
                    }
                    return Some("it has inline assembly".to_string());
                }
                let Some(callee) = call.callee().as_function() else {
                    return Some("it calls a function by its address".to_string());
                };
                let intrinsic = call.intrinsic().map(Intrinsic::name);
                let is_known = match &intrinsic {
                    Some(name) => {
                        !target.lacks.contains(&name.as_str())
                            && (INTRINSICS.contains(&name.as_str())
                                || target.has.iter().any(|start| name.starts_with(start))
                                || names.contains(&name.as_str())
                                || name.starts_with("llvm.vector.reduce."))
                    }
                    None => {
                        let name = callee.name();
                        !callee.is_declaration()
                            || names.contains(&name.as_str())
                            || target.library.is_none() && math::is_library(&name)
                    }
                };
                if !is_known {
                    return Some(format!("it calls {}", user_name(callee)));
                }
            }
            Opcode::LLVMLoad if one.ty().is_pointer() && !is_own(one.operand(0)) => {
                return Some("it follows a pointer that is in memory".to_string());
            }
            Opcode::LLVMStore if one.operand(0).ty().is_pointer() && !is_own(one.operand(1)) => {
                return Some("it stores a pointer in memory".to_string());
            }
            Opcode::LLVMAlloca if one.operand(0).as_constant_int().is_none() => {
                return Some(
                    "it has an array whose length is not known when it is compiled".to_string(),
                );
            }
            Opcode::LLVMInvoke
            | Opcode::LLVMLandingPad
            | Opcode::LLVMResume
            | Opcode::LLVMVAArg
            | Opcode::LLVMIndirectBr
            | Opcode::LLVMCallBr
            | Opcode::LLVMCatchSwitch
            | Opcode::LLVMCatchPad
            | Opcode::LLVMCleanupPad => {
                return Some("it has code that only its processor has".to_string());
            }
            _ => {}
        }
    }
    None
}

/// What an instruction does that a kind of device has no code for, and others have.
fn is_beyond(module: &Module, one: Instruction<'_>, target: &GpuTarget) -> Option<String> {
    let values = one.operands().into_iter().chain([*one]);
    let is_value = |value: &Value<'_>| value.as_function().is_none();
    let values: Vec<_> = values.filter(is_value).collect();
    if !target.integers.is_empty() {
        for (element, count) in values.iter().map(|value| value.ty().lanes()) {
            if let Some(bits) = element
                .bits()
                .filter(|bits| !target.integers.contains(bits))
            {
                return Some(format!("it computes with integers of {bits} bits"));
            }
            if ![1, 2, 3, 4, 8, 16].contains(&count) {
                return Some(format!("it computes with {count} numbers at once"));
            }
        }
    }
    let accessed = match one.opcode() {
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => Some(one.operand(1).ty()),
        Opcode::LLVMStore if one.is_atomic_access() => Some(one.operand(0).ty()),
        Opcode::LLVMLoad if one.is_atomic_access() => Some(one.ty()),
        _ => None,
    };
    let least = target.atomics.least;
    if accessed.is_some_and(|ty| module.size_of(ty) < least) {
        return Some(format!(
            "it accesses objects of less than {least} bytes at once"
        ));
    }
    if target.has_flat_pointers {
        return None;
    }
    // A pointer of no particular address space is one to the stack.
    let leads_to_stack = |value: Value<'_>| value.ty().lanes().0.space() == Some(0);
    let is_made = matches!(
        one.opcode(),
        Opcode::LLVMAlloca
            | Opcode::LLVMGetElementPtr
            | Opcode::LLVMPHI
            | Opcode::LLVMSelect
            | Opcode::LLVMFreeze
    );
    let is_foreign = |value: &Value<'_>| {
        leads_to_stack(*value) && value.is_constant() && !value.is_null() && !value.is_undef()
    };
    let is_lost = leads_to_stack(*one) && !is_made || values.iter().any(is_foreign);
    is_lost.then(|| "it has a pointer that may lead to memory of several kinds".to_string())
}

/// Whether an address is that of a variable of the function's own.
fn is_own(address: Value<'_>) -> bool {
    let object = address.underlying_object();
    object.as_op(Opcode::LLVMAlloca).is_some() || object.as_global().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsics_are_llvms_and_in_order() {
        for name in INTRINSICS {
            assert_eq!(Intrinsic::named(name).name(), name);
        }
        assert!(INTRINSICS.is_sorted());
    }
}
