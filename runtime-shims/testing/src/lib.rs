//! What unit tests of the run times have in common.

pub mod layers;
mod random;

pub use random::{Random, seeds};
