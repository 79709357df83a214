//! Versions of a program's code that are compiled while it runs: for values that are the same for all that a version runs, and
//! for the processor that it runs on.
//!
//! Guarantee: whoever asks for a version gets one whose values are those that are there now, or none; then the code runs as it
//! was compiled ahead of time. Nobody waits for a version, but where the user wants that (`OKL_JIT=sync`). What fails is told
//! under `OKL_STATS`, and changes nothing.
//!
//! | module | what it does |
//! |---|---|
//! | `settings` | what the user asks for |
//! | `compiler` | the thread that has versions made, by `libokl_jit.so` |
//! | `trial` | whether a version is faster than the code as it was |
//! | `versions` | which versions there are of some code, and for which values |
//! | `report` | tells of them in the end |
//!
//! A module uses those above it, but for `report`, which they are told to.

mod compiler;
mod report;
mod settings;
mod trial;
mod versions;

pub use compiler::Receiver;
pub use versions::{Asked, Version, find, values};
