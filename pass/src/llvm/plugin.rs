//! What LLVM calls: the plugin's description and the entry of each pass.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::panic::{self, AssertUnwindSafe};

use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};

use okl_abi::Effects;

use super::shim::{Text, okl_register};
use super::{Function, Module, Severity, VectorUnit};
use crate::analysis::runtime;

/// `llvm::PassPluginLibraryInfo` of LLVM 22.
#[repr(C)]
pub struct PluginInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(*mut c_void),
    pre_codegen: *const c_void,
}

/// The description LLVM asks a plugin for.
pub fn plugin_info() -> PluginInfo {
    PluginInfo {
        api_version: 2,
        name: c"okl".as_ptr(),
        version: c"0.1".as_ptr(),
        register: okl_register,
        pre_codegen: std::ptr::null(),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_run_lower(
    module: LLVMModuleRef,
    parameters: Text,
    target_option: Text,
    strict_option: bool,
) -> bool {
    // SAFETY: the shim passes a live module and live texts.
    let (module, parameters, target_option) = unsafe {
        (
            Module::new(module),
            parameters.to_string(),
            target_option.to_string(),
        )
    };
    guarded(&module, || {
        crate::pipeline::lower(&module, &parameters, &target_option, strict_option)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_run_print_loops(module: LLVMModuleRef) {
    // SAFETY: the shim passes a live module.
    let module = unsafe { Module::new(module) };
    guarded(&module, || {
        crate::pipeline::print_loops(&module);
        false
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_run_sections(module: LLVMModuleRef) -> bool {
    // SAFETY: the shim passes a live module.
    let module = unsafe { Module::new(module) };
    guarded(&module, || crate::pipeline::declare_sections(&module))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_run_choose_version(module: LLVMModuleRef, function: LLVMValueRef) -> bool {
    // SAFETY: the shim passes a live module and a function of it.
    let (module, function) = unsafe { (Module::new(module), Function::from_nullable(function)) };
    let choose = || function.is_some_and(|one| crate::pipeline::choose_version(&module, one));
    match caught(choose) {
        Ok(changed) => changed,
        Err(failure) => {
            module.diagnose(None, None, &failure, Severity::Error);
            true
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_run_finish(module: LLVMModuleRef) -> bool {
    // SAFETY: the shim passes a live module.
    let module = unsafe { Module::new(module) };
    guarded(&module, || crate::pipeline::finish(&module))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_run_lanes(module: LLVMModuleRef, analyses: *mut c_void) -> bool {
    // SAFETY: the shim passes a live module and the analyses of its pass.
    let (module, unit) = unsafe { (Module::new(module), VectorUnit::new(analyses)) };
    guarded(&module, || crate::pipeline::add_lanes(&module, &unit))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_run_print_sections(module: LLVMModuleRef) {
    // SAFETY: the shim passes a live module.
    let module = unsafe { Module::new(module) };
    guarded(&module, || {
        crate::pipeline::print_sections(&module);
        false
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_run_panic(module: LLVMModuleRef) {
    // SAFETY: the shim passes a live module.
    let module = unsafe { Module::new(module) };
    guarded(&module, || crate::pipeline::panic_half_way(&module));
}

/// What `okl_abi` says of the function of a runtime that has this name.
fn effects_of(name: Text) -> Effects {
    // SAFETY: the shim passes a live text.
    runtime::effects_of(&unsafe { name.to_string() })
}

#[unsafe(no_mangle)]
extern "C" fn okl_is_of_runtime(name: Text) -> bool {
    // SAFETY: the shim passes a live text.
    runtime::is_of_runtime(&unsafe { name.to_string() })
}

#[unsafe(no_mangle)]
extern "C" fn okl_keeps_no_pointer(name: Text) -> bool {
    let keeping_none = [Effects::QUIET, Effects::ATOMIC, Effects::FORKS];
    keeping_none.iter().any(|&one| effects_of(name).has(one))
}

#[unsafe(no_mangle)]
extern "C" fn okl_forks(name: Text) -> bool {
    effects_of(name).has(Effects::FORKS)
}

#[unsafe(no_mangle)]
extern "C" fn okl_updates(name: Text) -> bool {
    effects_of(name).has(Effects::UPDATES)
}

#[unsafe(no_mangle)]
extern "C" fn okl_shares_unsigned(name: Text, lower: u32) -> bool {
    // SAFETY: the shim passes a live text.
    let function = runtime::function_of(&unsafe { name.to_string() });
    function.is_some_and(|one| {
        one.has(Effects::SHARES.and(Effects::UNSIGNED))
            && one.position("lower") == Some(lower as usize)
    })
}

thread_local! {
    static PANIC_PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs a pass. A panic becomes a compiler error, and a module that no longer verifies is emptied:
/// the pass pipeline goes on after an error, and must not meet half-written functions.
fn guarded(module: &Module, pass: impl FnOnce() -> bool) -> bool {
    let failure = match caught(pass) {
        Ok(false) => return false,
        Ok(true) => match module.verify() {
            Ok(()) => return true,
            Err(text) => format!("okl: internal error: the module is broken: {text}"),
        },
        Err(failure) => failure,
    };
    module.diagnose(None, None, &failure, Severity::Error);
    if module.verify().is_err() {
        module.delete_bodies();
    }
    true
}

/// Runs a pass. What a panic says, where there is one.
fn caught(pass: impl FnOnce() -> bool) -> Result<bool, String> {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or(String::new(), |l| format!(" ({l})"));
        PANIC_PLACE.with_borrow_mut(|text| *text = place);
    }));
    let outcome = panic::catch_unwind(AssertUnwindSafe(pass));
    panic::set_hook(previous);
    outcome.map_err(|payload| {
        let place = PANIC_PLACE.with_borrow(String::clone);
        format!("okl: internal error: {}{place}", panic_text(&*payload))
    })
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("panic")
}
