//! A machine that executes PTX as LLVM's NVPTX back end and NVRTC write it, behind the functions of CUDA's driver: what runs
//! where there is no device, and what tests run on. What it does not know it does not load; what a kernel does wrong it says,
//! with the line, and the launch fails:
//!
//! - accesses out of bounds, or not aligned;
//! - branches, addresses and results that values decide which were never written;
//! - barriers that part of a block meets;
//! - races on a block's memory and the device's, between barriers and between blocks.
//!
//! It counts warp instructions and sectors of memory. `OKL_PTX_MACHINE` (`settings`) says what it is like.
//!
//! | module | what it does |
//! |---|---|
//! | `types`, `float` | what bits mean, and how numbers are rounded |
//! | `parse`, `program`, `decode` | text as a tree, and as what is executed |
//! | `memory`, `check`, `counts` | the device's memory, who accessed it, what that costs |
//! | `warp`, `block`, `grid` | who runs, together and in turns |
//! | `loaded`, `machine`, `driver` | modules, streams and events; the functions that programs call |

pub mod check;
pub mod counts;
pub mod decode;
pub mod driver;
pub mod float;
pub mod loaded;
pub mod machine;
pub mod memory;
pub mod parse;
pub mod program;
pub mod settings;
pub mod surroundings;
pub mod types;

mod block;
mod grid;
mod host;
mod warp;

#[cfg(test)]
mod layers;
