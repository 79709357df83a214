//! Finding parallel loops, one module for each way of writing them.

pub mod op2;
pub mod openmp;
