//! Where parallel loops go, one module for each target, and what OP2's run time is handed. A lowering that can decline has
//! a `check` that only reads and an `emit` that cannot fail.

pub mod chains;
mod counted;
pub mod cpu;
mod declarations;
mod elements;
pub mod gpu;
pub mod instance;
pub mod jit;
mod kept;
mod marks;
pub mod mpi;
mod op2;
pub mod runtime_call;
pub mod stated;
pub mod user_target;
