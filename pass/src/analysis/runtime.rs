//! What calls of the runtimes mean, asked by either name: the OpenMP runtime's, or ours.
//!
//! The lines of `okl_abi` say it. A call of anything else has no effects that are known here, whatever its name begins
//! with.

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
    function_of(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::library::{is_library_variable, known};
    use crate::analysis::sections::is_mathematics;

    /// Names as a later run time may have them.
    const UNKNOWN: [&str; 9] = [
        "__kmpc_",
        "__kmpc_barrier_52",
        "__kmpc_for_static_init_16",
        "__kmpc_new_construct",
        "okl_mpi_new",
        "okl_mpi_kmpc_new_construct",
        "okl_op2_par_loop_v0",
        "okl_gpu_launch",
        "omp_get_new_variable",
    ];

    #[test]
    fn a_name_without_a_line_is_not_known_to_do_no_harm() {
        for name in UNKNOWN {
            assert!(!is_of_runtime(name), "{name}");
            assert_eq!(effects_of(name), Effects::NONE, "{name}");
            assert!(known(name).is_none(), "{name}");
            assert!(!is_library_variable(name), "{name}");
            assert!(!is_mathematics(name), "{name}");
        }
    }

    #[test]
    fn both_names_of_a_function_are_known() {
        for one in okl_abi::ALL.iter().chain(okl_abi::op2::ALL) {
            assert!(is_of_runtime(one.name), "{}", one.name);
            let Some(rest) = one.name.strip_prefix("okl_mpi_kmpc_") else {
                continue;
            };
            assert_eq!(effects_of(&format!("__kmpc_{rest}")), one.effects, "{rest}");
        }
    }
}
