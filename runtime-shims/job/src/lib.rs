//! What a job is to both run times: who started it ([`launcher`]), how its ranks communicate ([`mpi`]) and agree ([`agree`]),
//! what the user asks of it ([`settings`]) and is told ([`report`]), and how it ends in an error ([`end`]).
//!
//! Guarantee: [`launcher`] and [`settings`] ask the environment that is handed over, and nothing else; nothing here is linked
//! with MPI, which is there when [`mpi::load`] has been called.

pub mod agree;
pub mod end;
pub mod json;
pub mod launcher;
#[cfg(test)]
mod layers;
pub mod mpi;
mod object;
mod of_ranks;
pub mod opened;
pub mod report;
pub mod settings;

pub use of_ranks::of_ranks;

/// The environment: the value of a variable.
pub trait Environment: Fn(&str) -> Option<String> {}
impl<F: Fn(&str) -> Option<String>> Environment for F {}

/// The process's own. What is no text is not there.
pub fn own_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
