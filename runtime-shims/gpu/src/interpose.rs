//! C library functions that this library stands in for, in the whole process: the program finds these before the C library's,
//! as this library stands before it in the order of loading.
//!
//! Guarantee: large blocks come from the heap that is watched, all others from the C library, and each goes back to where it
//! came from; system calls find the memory they are given open; page faults of ours are served whatever the program does to
//! signals, and all others are the program's.

mod allocation;
mod io;
mod mapping;
pub mod signals;
