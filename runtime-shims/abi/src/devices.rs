//! What the run times for devices and for the processor ask of the one for ranks, where a process has both: the memory is that
//! one's.
//!
//! It finds the table by the name of the function that returns it, which changes with it.

use core::ffi::{c_int, c_void};

/// The function that returns the address of a [`ForDevices`], NUL-terminated. Programs are not linked with it.
pub const NAME: &str = "__okl_mpi_for_devices_v1\0";

/// What is around an address.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// One of [`around`].
    pub what: c_int,
    /// Where the object begins, or something in front of it.
    pub start: usize,
    /// Where it ends, or something behind it.
    pub end: usize,
}

/// Values of [`Around::what`].
pub mod around {
    use core::ffi::c_int;

    /// Nothing that ranks share.
    pub const OTHER: c_int = 0;
    /// What ranks share: the whole object is in the range.
    pub const SHARED: c_int = 1;
    /// Where the object begins and ends is not known.
    pub const UNKNOWN: c_int = 2;
}

/// The table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ForDevices {
    /// The number of this rank; -1 in a process that is the whole program, in which nothing else of this may be called.
    pub rank: extern "C" fn() -> i64,
    /// What is around an address, where the frames of the program's code that asks begin at `frame`.
    pub around: extern "C" fn(address: usize, frame: usize) -> Around,
    /// Makes so many bytes from an address readable.
    pub bring: extern "C" fn(start: usize, bytes: usize),
    /// What the calling thread allocates is private to the process: from now on (1), or no longer (0).
    pub private: extern "C" fn(begins: c_int),
    /// This rank works with a device. As the job ends `end` is called on it, and handed `told`; where the user wants to know
    /// what things cost it hands `told` a text of so many bytes, which rank 0 prints.
    pub begin: extern "C" fn(end: extern "C" fn(told: extern "C" fn(*const c_void, usize))),
    /// Ends the job with a message.
    pub fatal: extern "C" fn(message: *const c_void, bytes: usize) -> !,
}
