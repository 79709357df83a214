//! Calls of functions that may hand a pointer to the kernel. A page that is elsewhere would make
//! the system call fail, so the object is brought in first.
//!
//! A function this module only declares may be translated in another one; then its own accesses
//! bring pages in. A module therefore defines `okl.translated.f` for each function `f` it
//! translates, and a caller brings objects in only where that symbol is missing.

use okl_abi::{f, is_openmp_function};

use crate::analysis::library::{is_library_variable, known};
use crate::llvm::{Builder, Call, Function, Instruction, Linkage, Module, Value};
use crate::lower::runtime_call::declare;

use super::twins::RANKS;

/// What the names of forwarders that bring objects in begin with.
const FORWARDER: &str = "okl.touching.";

/// The calls of a module with the pointers to bring in.
pub struct Plan<'m> {
    calls: Vec<External<'m>>,
}

struct External<'m> {
    call: Call<'m>,
    pointers: Vec<Value<'m>>,
    /// Name of a function that may be translated elsewhere.
    perhaps_translated: Option<String>,
}

/// Finds the calls.
pub fn check<'m>(functions: &[Function<'m>]) -> Plan<'m> {
    let calls = functions
        .iter()
        .flat_map(|function| function.instructions())
        .filter_map(|instruction| external(instruction.as_call()?))
        .collect();
    Plan { calls }
}

fn external(call: Call<'_>) -> Option<External<'_>> {
    let callee = call.callee_function()?;
    // A function that writes no memory makes no system call either.
    if !callee.is_declaration() || callee.is_intrinsic() || callee.only_reads() {
        return None;
    }
    let name = callee.name();
    if is_openmp_function(&name) || name.starts_with("__atomic_") || name.starts_with("okl") {
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
    let is_private = base
        .as_global()
        .is_some_and(|global| global.is_readonly() || is_library_variable(&global.name()));
    argument.ty().is_pointer()
        && !argument.is_null()
        && !argument.is_undef()
        && base.as_function().is_none()
        && !is_private
}

/// Inserts the calls that bring objects in: where a function may be translated elsewhere in a forwarder to it, if there
/// can be one, so that they are not repeated at each of its calls.
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>) {
    for external in &plan.calls {
        let at = external.call.instruction();
        let Some(name) = &external.perhaps_translated else {
            touch(module, at, &external.pointers);
            continue;
        };
        match external.call.forward(&format!("{FORWARDER}{name}")) {
            Some(forwarder) => complete(module, forwarder, name),
            None => touch(module, unless_translated(module, at, name), &external.pointers),
        }
    }
}

/// Has a forwarder to `name` bring in what its parameters point to.
fn complete<'m>(module: &'m Module, forwarder: Function<'m>, name: &str) {
    let [start] = forwarder.blocks()[..] else {
        return;
    };
    forwarder.mark(module, RANKS.name, RANKS.value);
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
        let Some(function) = forwarder.forwarded().and_then(Value::as_function) else {
            continue;
        };
        if module.has_alias(&marker(&function.name())) {
            forwarder.replace_all_uses_with(*function);
            forwarder.erase();
            changed = true;
        }
    }
    changed
}

fn marker(name: &str) -> String {
    format!("okl.translated.{name}")
}

fn unless_translated<'m>(module: &'m Module, at: Instruction<'m>, name: &str) -> Instruction<'m> {
    let name = marker(name);
    let symbol = module.global(&name).unwrap_or_else(|| {
        let linkage = Linkage::LLVMExternalWeakLinkage;
        module.add_global(&name, module.int(8), None, linkage)
    });
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
            module.add_alias(&marker(&function.name()), *function);
        }
    }
}
