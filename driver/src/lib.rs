//! The compiler drivers and the launcher.
//!
//! `okl-cc` and `okl-c++` take the options of clang and call it with the plugin and, when linking, the
//! run-time libraries: `CC=okl-cc CXX=okl-c++` is all that a build system has to be told. What they add
//! may be added to any command: it changes nothing where there is nothing to do, and clang says nothing
//! about it. `okl-run` starts a program on the ranks of an MPI job.

pub mod arguments;
mod attempts;
// The pass has it too: see there.
#[path = "../../attributes/mod.rs"]
mod attributes;
pub mod command;
mod embedded;
pub mod explain;
mod front_step;
pub mod installation;
pub mod language;
pub mod launch;
mod link_time;
mod loop_chains;
pub mod measured;
mod occa_devices;
pub mod okl;
mod okl_inputs;
mod quote;
pub mod tune;
