//! `master`, `masked`, `single`: constructs that one thread of the team executes.

use std::ffi::c_void;

use crate::team;

/// `__kmpc_master`.
pub(crate) fn okl_mpi_kmpc_master(_ident: *mut c_void, _gtid: i32) -> i32 {
    i32::from(team::thread_num() == 0)
}

/// `__kmpc_end_master`.
pub(crate) fn okl_mpi_kmpc_end_master(_ident: *mut c_void, _gtid: i32) {}

/// `__kmpc_masked`.
pub(crate) fn okl_mpi_kmpc_masked(_ident: *mut c_void, _gtid: i32, filter: i32) -> i32 {
    i32::from(team::thread_num() == filter)
}

/// `__kmpc_end_masked`.
pub(crate) fn okl_mpi_kmpc_end_masked(_ident: *mut c_void, _gtid: i32) {}

/// `__kmpc_single`: thread 0 executes it; its writes are published by the barrier at its end.
pub(crate) fn okl_mpi_kmpc_single(ident: *mut c_void, gtid: i32) -> i32 {
    okl_mpi_kmpc_master(ident, gtid)
}

/// `__kmpc_end_single`.
pub(crate) fn okl_mpi_kmpc_end_single(_ident: *mut c_void, _gtid: i32) {}
