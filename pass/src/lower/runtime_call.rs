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
