//! `libokl_pass.so`, a pass plugin for LLVM 22: finds the parallel loops of a module and re-targets
//! them. This file is the entry LLVM looks for; `pipeline` is what happens then.

#![deny(unsafe_code)]

mod analysis;
// The driver has it too, and asks for what the pass does not.
#[allow(dead_code)]
#[path = "../../attributes/mod.rs"]
mod attributes;
mod diagnostic;
mod fortran;
mod ir;
mod llvm;
mod lower;
mod marks;
mod numbers;
mod options;
mod pipeline;
mod plan;
mod recognise;
mod record;
mod simplified;

/// For `libokl_jit.so`, which is this crate without a compiler around it.
pub use lower::jit::version;

/// The symbol LLVM looks up. It is defined in Rust because the linker hides what comes from the
/// C++ shim.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> llvm::PluginInfo {
    llvm::plugin_info()
}
