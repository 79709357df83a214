//! Checks in front of unsafe constructs: they stop the job where the caller's team has more than
//! one rank, which only happens if a region reached the construct in a way the call graph lacks.

use okl_abi::f;

use super::unsafe_sites::{UnsafeSite, UnsafeSites};
use crate::analysis::library::{Effect, known};
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

/// Whether a check adds to the time of what it stands in front of: in a loop, unless a file is worked on.
pub fn is_costly(site: &UnsafeSite<'_>) -> bool {
    let works_on_file = (*site.at).as_call().is_some_and(|call| {
        let known = known(&call.callee_name());
        known.is_some_and(|one| {
            matches!(
                one.effect,
                Effect::Stream(_) | Effect::Input | Effect::Descriptor
            )
        })
    });
    let block = site.at.block();
    let loops = site.at.function().loops();
    !works_on_file && loops.iter().any(|one| one.blocks.contains(&block))
}
