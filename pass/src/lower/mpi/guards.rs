//! Checks in front of unsafe constructs: they stop the job where the caller's team has more than
//! one rank, which only happens if a region reached the construct in a way the call graph lacks.

use okl_abi::f;

use crate::analysis::unsafe_sites::UnsafeSites;
use crate::llvm::{Builder, Global, Module};
use crate::lower::runtime_call::declare;

/// Inserts the checks. Returns the `UnsafeSite` of each construct, in the order of the sites.
pub fn emit<'m>(module: &'m Module, sites: &UnsafeSites<'m>) -> Vec<Global<'m>> {
    let mut descriptors = Vec::new();
    for site in sites.all() {
        let value = module.const_struct(&[
            *module.add_text("okl.unsafe.reason", &site.reason),
            *module.add_text("okl.unsafe.location", &site.location()),
        ]);
        let descriptor = module.add_constant("okl.unsafe", value);
        // A naked function is its assembly alone: a call would overwrite its arguments.
        if !site.check_before.function().has_attribute("naked") {
            let callee = declare(module, &f::okl_mpi_unsafe_here);
            Builder::before(module, site.check_before).call(callee, &[*descriptor]);
        }
        descriptors.push(descriptor);
    }
    descriptors
}
