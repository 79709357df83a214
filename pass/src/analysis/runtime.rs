//! What calls of the runtimes mean, asked by either name: the OpenMP runtime's, or ours.
//!
//! The lines of `okl_abi` say it. A call of anything else has no effects that are known here, whatever its name begins
//! with.

use std::cell::RefCell;
use std::collections::HashMap;

use okl_abi::{Effects, LoopSchedule, RuntimeFn};

use crate::llvm::{Call, Value};

/// What names with a line begin with: others are not looked for.
const BEGINNINGS: [&str; 5] = ["okl_", "__kmpc_", "omp", "__atomic_", "__cxa_guard_"];

thread_local! {
    /// What was asked before.
    static KNOWN: RefCell<HashMap<String, Option<&'static RuntimeFn>>> = RefCell::default();
}

/// What the name of a function begins with that asks whether a kernel runs on a device, as long as it is not known which one.
pub const ASKS: &str = "okl.runs.";

/// The runtime function of that name, or the one that replaces it.
pub fn function_of(name: &str) -> Option<&'static RuntimeFn> {
    if name.starts_with(ASKS) {
        return Some(&okl_abi::gpu::f::okl_gpu_runs_v5);
    }
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

/// The argument of a call that its line calls `param`.
pub fn argument<'m>(call: Call<'m>, param: &str) -> Option<Value<'m>> {
    call.argument(function(call)?.position(param)?)
}

/// The schedule of the loop that a call begins; `None` where it is not known: the loop may be ordered.
pub fn schedule(call: Call<'_>) -> Option<LoopSchedule> {
    LoopSchedule::of(argument(call, "schedule")?.as_constant_int()?)
}

/// Whether `name` is a function of a runtime: one that the compiler calls, one of `omp.h`, or ours.
pub fn is_of_runtime(name: &str) -> bool {
    function_of(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::library::is_mathematics;
    use crate::analysis::library::{is_library_variable, known};

    fn all() -> impl Iterator<Item = &'static RuntimeFn> {
        let lists = [okl_abi::ALL, okl_abi::op2::ALL, okl_abi::cpu::ALL];
        lists.into_iter().flatten().copied()
    }

    #[test]
    fn a_name_without_a_line_is_not_known_to_do_no_harm() {
        // Names as a later run time may have them. That the C++ library's are told by their beginnings is another matter.
        let like_ours = all().map(|one| format!("{}_new", one.name));
        let like_others = all().map(|one| format!("__{}_new", one.short_name()));
        let others = BEGINNINGS.iter().filter(|one| !one.starts_with("__cxa_"));
        let others = others.map(|one| format!("{one}new"));
        for name in like_ours.chain(like_others).chain(others) {
            assert!(!is_of_runtime(&name), "{name}");
            assert_eq!(effects_of(&name), Effects::NONE, "{name}");
            assert!(known(&name).is_none(), "{name}");
            assert!(!is_library_variable(&name), "{name}");
            assert!(!is_mathematics(&name), "{name}");
        }
    }

    #[test]
    fn every_name_with_a_line_is_looked_for() {
        let lines = all().chain(okl_abi::openmp::ALL.iter().copied());
        let lines = lines.map(|one| (one.name, one));
        for (name, one) in lines.chain(okl_abi::COUNTERPARTS) {
            assert_eq!(
                function_of(name).map(|one| one.name),
                Some(one.name),
                "{name}"
            );
            assert_eq!(effects_of(name), one.effects, "{name}");
        }
    }

    #[test]
    fn both_names_of_a_function_are_known() {
        for one in all() {
            assert!(is_of_runtime(one.name), "{}", one.name);
            if one.short_name().starts_with("kmpc_") {
                let other = format!("__{}", one.short_name());
                assert_eq!(effects_of(&other), one.effects, "{other}");
            } else if one.short_name().starts_with("omp_") {
                assert_eq!(effects_of(one.short_name()), one.effects);
            }
        }
    }
}
