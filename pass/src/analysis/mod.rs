//! What is found out about a module before anything is decided. Nothing here changes what it does; `nests` bring loops into
//! a form that they understand, and nothing else changes the module at all.

pub mod access;
pub mod at_once;
pub mod call_graph;
pub mod chains;
pub mod combine;
pub mod control_flow;
pub mod critical;
pub mod flags;
pub mod folds;
pub mod increments;
pub mod iterations;
pub mod kernel;
pub mod leaving;
pub mod library;
mod loops;
pub mod meeting;
pub mod memory;
pub mod nests;
pub mod objects;
pub mod runtime;
pub mod sections;
pub mod stored_types;
pub mod streams;
pub mod summaries;
pub mod updates;
pub mod variables;
pub mod waiting;
