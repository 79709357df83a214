//! What a job is to both run times: who started it ([`launcher`]), how its ranks communicate ([`mpi`]), what the user asks
//! of it ([`settings`]) and is told ([`report`]), and the status with which okl ends it.
//!
//! Guarantee: [`launcher`] and [`settings`] ask the environment that is handed over, and nothing else; nothing here is linked
//! with MPI, which is there when [`mpi::load`] has been called.

pub mod launcher;
pub mod mpi;
pub mod opened;
pub mod report;
pub mod settings;

/// Exit status of a program, or a whole job, that okl ends (`EX_SOFTWARE` of `sysexits.h`).
pub const FAILED: i32 = 70;

/// The environment: the value of a variable.
pub trait Environment: Fn(&str) -> Option<String> {}
impl<F: Fn(&str) -> Option<String>> Environment for F {}

/// The process's own. What is no text is not there.
pub fn own_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
