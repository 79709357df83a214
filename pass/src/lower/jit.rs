//! Code that is compiled once more when the program runs, and more is known: what the values are that it reads and nobody
//! changes meanwhile, and on which processor it runs.
//!
//! Ahead of time [`embed`] leaves the simplified code of a loop over a set, as it is in front of lanes, in the file that has
//! the loop, with the addresses of all that it reaches and the places of what may be known. In the program
//! [`version`] makes machine code of it for values: [`fold`] puts them in, but for what [`counts`] is to leave out, [`rounding`]
//! sees to it that results are those of the code as it was compiled ahead of time, bit for bit; [`join`] makes one of several
//! loops; [`ranges`] writes what is not left of loops; and the stages and passes run that the compiler would have run.

mod counts;
pub mod embed;
pub(super) mod fold;
mod join;
mod ranges;
pub(super) mod rounding;
pub mod version;

use crate::llvm::{Linkage, Module, Value};

/// What a module declares and does not define, in its order: that of [`okl_abi::jit::JitCode::addresses`]. It may know what a
/// variable holds all the same.
fn declared(module: &Module) -> Vec<Value<'_>> {
    let functions = module.functions().into_iter();
    let functions = functions.filter(|one| one.is_declaration() && !one.is_intrinsic());
    let globals = module.globals().into_iter();
    let globals = globals.filter(|one| {
        one.is_declaration() || one.linkage() == Linkage::LLVMAvailableExternallyLinkage
    });
    functions
        .map(|one| *one)
        .chain(globals.map(|one| *one))
        .collect()
}
