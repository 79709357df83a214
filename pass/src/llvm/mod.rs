//! LLVM as the rest of the crate sees it: the only unsafe code.
//!
//! Values are copyable handles with the lifetime of the module they live in. LLVM is built without
//! assertions, so every accessor that is only right for one kind of value belongs to a type of that
//! kind, reached by a checked conversion (`value.as_call()`). What the types do not track is
//! deletion: [`Instruction::erase`] and [`Global::erase`] make every copy of the handle stale. The
//! crate therefore collects first and changes afterwards, and each erasure is the last thing that
//! happens to a value.

#![allow(unsafe_code)]

// The plugin finds LLVM in the compiler that loads it.
#[cfg(test)]
#[link(name = "LLVM-22")]
unsafe extern "C" {}

mod apart;
mod attributes;
mod builder;
mod code;
mod copies;
mod device;
mod expressions;
mod extract;
mod instruction;
mod jit;
mod kernels;
mod metadata;
mod module;
mod plugin;
mod retarget;
mod shim;
mod types;
mod user_plugins;
mod value;
mod vectors;

pub use apart::{apart, employ, work, worker};
pub use attributes::Place;
pub use builder::{Asks, Builder};
pub use code::{Code, Naming, Reach};
pub use copies::{Use, ValueMap};
pub use device::{Machine, Processor};
pub use expressions::{Evolution, Expression, ExpressionKind, Recurrence};
pub use extract::Update;
pub use instruction::{Block, Comparison, IntPredicate, Opcode, RealPredicate};
pub use jit::{Linked, in_program, llvm_file, own_targets, pack, read_picked};
pub use kernels::{Passes, Silence};
pub use module::{Module, OwnModule, Visibility};
pub use plugin::{
    PluginInfo, Point, Run, jit_option, keep_option, libdevice_option, plugin_info, plugin_option,
};
pub use shim::{NaturalLoop, Severity, demangle, hash, hash_bytes, print, print_bytes};
pub use types::Type;
pub use user_plugins::{Handed, Heard, Stated, UserPlugin, UserTarget, Watched, user_targets};
pub use value::{Call, Function, Global, Instruction, Linkage, Value};
pub use vectors::{Intrinsic, VectorUnit};
