//! Runtime functions as a module declares them.

use okl_abi::RuntimeFn;

use crate::llvm::{Function, Linkage, Module};

/// Runtime functions whose results change only where other functions of the runtime are called: loads and
/// stores of the program may move across them, and they out of loops.
const QUERIES: [&str; 7] = [
    "okl_mpi_omp_get_level",
    "okl_mpi_omp_get_max_threads",
    "okl_mpi_omp_get_num_procs",
    "okl_mpi_omp_get_num_threads",
    "okl_mpi_omp_get_thread_limit",
    "okl_mpi_omp_get_thread_num",
    "okl_mpi_omp_in_parallel",
];

/// Runtime functions across which loads and stores of the program may move: no thread learns anything there.
const ORDERS_NOTHING: [&str; 2] = ["okl_mpi_critical_updates", "okl_mpi_end_critical_updates"];

/// The declaration of a runtime function, added where the module lacks it.
pub fn declare<'m>(module: &'m Module, function: &RuntimeFn) -> Function<'m> {
    if let Some(declared) = module.function(function.name) {
        return declared;
    }
    let parameters: Vec<_> = function
        .params
        .iter()
        .map(|&ty| module.abi_type(ty))
        .collect();
    let ty = module.function_type(module.abi_type(function.ret), &parameters);
    let declared = module.add_function(function.name, ty, Linkage::LLVMExternalLinkage);
    if !function.may_unwind() {
        declared.set_attribute(module, "nounwind");
    }
    if QUERIES.contains(&function.name) {
        declared.set_attribute(module, "willreturn");
        declared.set_uses_hidden_memory(module, false);
    }
    if ORDERS_NOTHING.contains(&function.name) {
        declared.set_uses_hidden_memory(module, true);
    }
    declared
}
