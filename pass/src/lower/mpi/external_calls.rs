//! Calls of functions that may hand a pointer to the kernel. A page that is elsewhere would make
//! the system call fail, so the object is brought in first.
//!
//! A function this module only declares may be translated in another one; then its own accesses
//! bring pages in. A module therefore defines `okl.translated.f` for each function `f` it
//! translates, and a caller brings objects in only where that symbol is missing.

use std::collections::HashSet;

use okl_abi::f;

use crate::analysis::library::{is_library_variable, known};
use crate::analysis::runtime::is_of_runtime;
use crate::llvm::{Builder, Call, Function, Global, Instruction, Linkage, Module, Value};
use crate::lower::runtime_call::declare;
use crate::marks::{SHARED, forwarded, is_ours, is_shared, translated_name};

use super::forwarder;
use super::twins::is_set;

/// What the names of forwarders that bring objects in begin with.
const FORWARDER: &str = "okl.touching.";

/// A call with the pointers to bring in.
struct External<'m> {
    call: Call<'m>,
    pointers: Vec<Value<'m>>,
    /// Name of a function that may be translated elsewhere.
    perhaps_translated: Option<String>,
}

fn calls<'m>(function: Function<'m>) -> impl Iterator<Item = External<'m>> {
    let instructions = function.instructions().into_iter();
    instructions.filter_map(|instruction| external(instruction.as_call()?))
}

/// Whether a function has such calls.
pub fn has_some(function: Function<'_>) -> bool {
    calls(function).next().is_some()
}

fn external(call: Call<'_>) -> Option<External<'_>> {
    let callee = call.callee_function()?;
    // A function that writes no memory makes no system call either.
    if !callee.is_declaration() || callee.is_intrinsic() || callee.only_reads() {
        return None;
    }
    let name = callee.name();
    if is_of_runtime(&name) {
        return None;
    }
    let perhaps_translated = match known(&name) {
        Some(known) if !known.enters_kernel => return None,
        Some(_) => None,
        None => Some(name),
    };
    let mut pointers = Vec::new();
    for (index, argument) in call.arguments().into_iter().enumerate() {
        if may_be_shared(argument) && !call.is_by_value(index) && !pointers.contains(&argument) {
            pointers.push(argument);
        }
    }
    (!pointers.is_empty()).then_some(External {
        call,
        pointers,
        perhaps_translated,
    })
}

fn may_be_shared(argument: Value<'_>) -> bool {
    let base = crate::analysis::memory::base_of(argument);
    let is_private = base.as_global().is_some_and(|global| {
        global.is_readonly() || is_ours(global) || is_library_variable(&global.name())
    });
    argument.ty().is_pointer()
        && !argument.is_null()
        && !argument.is_undef()
        && base.as_function().is_none()
        && !is_private
}

/// Inserts the calls that bring objects in: where a function may be translated elsewhere in a forwarder to it, if there
/// can be one, so that they are not repeated at each of its calls. `flag` is set where the program runs on one rank.
pub fn emit<'m>(module: &'m Module, functions: &[Function<'m>], flag: Global<'m>) {
    for &function in functions {
        let loops = function.loops();
        let blocks: HashSet<_> = loops.iter().flat_map(|one| &one.blocks).copied().collect();
        let in_loop = |one: &External<'m>| blocks.contains(&one.call.instruction().block());
        let calls: Vec<_> = calls(function).map(|one| (in_loop(&one), one)).collect();
        for (in_loop, one) in calls {
            let at = one.call.instruction();
            let callee = one.call.callee();
            let Some(name) = one.perhaps_translated else {
                touch(module, at, &one.pointers);
                continue;
            };
            let Some(forwarder) =
                forwarder::put_before(module, one.call, &format!("{FORWARDER}{name}"))
            else {
                touch(module, unless_translated(module, at, &name), &one.pointers);
                continue;
            };
            complete(module, forwarder, &name);
            if in_loop && is_shared(function) {
                // Which it is can be known before the loop.
                let is_plain = is_set(module, flag, at);
                let either = Builder::before(module, at).select(is_plain, callee, *forwarder);
                one.call.set_callee(either);
            }
        }
    }
}

/// Has a forwarder to `name` bring in what its parameters point to.
fn complete<'m>(module: &'m Module, forwarder: Function<'m>, name: &str) {
    let [start] = forwarder.blocks()[..] else {
        return;
    };
    SHARED.put_on(module, forwarder);
    let parameters = forwarder.parameters().into_iter();
    let pointers: Vec<_> = parameters.filter(|one| one.ty().is_pointer()).collect();
    let call = start.instructions()[0];
    touch(module, unless_translated(module, call, name), &pointers);
}

fn touch<'m>(module: &'m Module, at: Instruction<'m>, pointers: &[Value<'m>]) {
    for &pointer in pointers {
        Builder::before(module, at).call(declare(module, &f::okl_mpi_touch), &[pointer]);
    }
}

/// Has calls reach functions directly that turn out to be translated when modules are merged. True where there are any.
pub fn call_translated(module: &Module) -> bool {
    let mut changed = false;
    for forwarder in module.functions() {
        let Some(function) = forwarded(forwarder).and_then(Value::as_function) else {
            continue;
        };
        if module.has_alias(&translated_name(&function.name())) {
            forwarder.replace_all_uses_with(*function);
            forwarder.erase();
            changed = true;
        }
    }
    changed
}

/// The symbol that is there if a function is translated.
pub fn translated<'m>(module: &'m Module, name: &str) -> Global<'m> {
    let name = translated_name(name);
    module.global(&name).unwrap_or_else(|| {
        let linkage = Linkage::LLVMExternalWeakLinkage;
        module.add_global(&name, module.int(8), None, linkage)
    })
}

fn unless_translated<'m>(module: &'m Module, at: Instruction<'m>, name: &str) -> Instruction<'m> {
    let symbol = translated(module, name);
    let null = module.pointer().zero();
    let missing = Builder::before(module, at).compare(*symbol, null, false);
    at.insert_if(missing)
}

/// Defines the symbols of the functions this module translates for others.
pub fn emit_markers(module: &Module, functions: &[Function<'_>]) {
    for function in functions {
        let callable = matches!(
            function.linkage(),
            Linkage::LLVMExternalLinkage
                | Linkage::LLVMWeakAnyLinkage
                | Linkage::LLVMWeakODRLinkage
        );
        if callable && function.name() != "main" {
            module.add_alias(&translated_name(&function.name()), *function);
        }
    }
}
