//! Declared sections: what a loop nest is about to access.

use std::ffi::c_void;

/// Takes a declaration.
pub(crate) fn okl_mpi_sections(_table: *mut c_void, _values: *mut c_void) {}
