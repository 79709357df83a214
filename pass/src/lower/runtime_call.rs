//! Runtime functions as a module declares them.

use okl_abi::{Effects, RuntimeFn};

use crate::llvm::{Function, Linkage, Module};

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
    if !function.has(Effects::MAY_UNWIND) {
        declared.set_attribute(module, "nounwind");
    }
    if function.has(Effects::ANSWERS) {
        declared.set_attribute(module, "willreturn");
        declared.set_uses_hidden_memory(module, false);
    }
    if function.has(Effects::HIDDEN) {
        declared.set_uses_hidden_memory(module, true);
    }
    declared
}

/// The declaration of the function of OpenMP's own run time that a line of the list is about, added where the module lacks
/// it.
pub fn declare_openmp<'m>(module: &'m Module, function: &RuntimeFn) -> Function<'m> {
    let short = function.short_name();
    let name = match short == function.name {
        true => short.to_string(),
        false => format!("__{short}"),
    };
    if let Some(declared) = module.function(&name) {
        return declared;
    }
    let parameters = function.params.iter().map(|&ty| module.abi_type(ty));
    let parameters: Vec<_> = parameters.collect();
    let result = module.abi_type(function.ret);
    let ty = match function.has(Effects::FORKS_BODY) {
        true => module.variadic_type(result, &parameters),
        false => module.function_type(result, &parameters),
    };
    let declared = module.add_function(&name, ty, Linkage::LLVMExternalLinkage);
    // What it runs ends the program rather than leave it by an exception.
    declared.set_attribute(module, "nounwind");
    declared
}
