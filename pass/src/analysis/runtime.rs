//! What calls of the runtimes mean, asked by either name: the OpenMP runtime's, or ours.
//!
//! The lines of `okl_abi` say it. A call of anything else has no effects that are known here.

use std::cell::RefCell;
use std::collections::HashMap;

use okl_abi::{Effects, RuntimeFn};

use crate::llvm::Call;

thread_local! {
    /// What was asked before.
    static KNOWN: RefCell<HashMap<String, Option<&'static RuntimeFn>>> = RefCell::default();
}

/// The runtime function of that name, or the one that replaces it.
pub fn function_of(name: &str) -> Option<&'static RuntimeFn> {
    const BEGINNINGS: [&str; 5] = ["okl_", "__kmpc_", "omp", "__atomic_", "__cxa_guard_"];
    if !BEGINNINGS.iter().any(|one| name.starts_with(one)) {
        return None;
    }
    KNOWN.with_borrow_mut(|known| match known.get(name) {
        Some(&function) => function,
        None => {
            let function = okl_abi::runtime_function(name);
            known.insert(name.to_string(), function);
            function
        }
    })
}

/// The runtime function that is called, or the one that replaces it.
pub fn function(call: Call<'_>) -> Option<&'static RuntimeFn> {
    function_of(&call.callee_name())
}

/// What a call of a runtime function does.
pub fn effects(call: Call<'_>) -> Effects {
    effects_of(&call.callee_name())
}

/// What the runtime function of that name does.
pub fn effects_of(name: &str) -> Effects {
    function_of(name).map_or(Effects::NONE, |function| function.effects)
}

/// Whether `name` is a function of a runtime: one that the compiler calls, one of `omp.h`, or ours.
pub fn is_of_runtime(name: &str) -> bool {
    name.starts_with("__kmpc_") || function_of(name).is_some()
}
