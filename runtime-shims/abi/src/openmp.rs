//! Functions of OpenMP's run time that none of ours replaces under their name, and names by which ours are told from
//! them. No runtime is expanded from this list, and it is no part of the boundary: it only says what analyses may know
//! of them.

use crate::functions::function_table;

/// Calls `$m!` with each of them. The form is that of [`crate::for_each_mpi_fn`].
macro_rules! for_each_openmp_fn {
    ($m:ident) => {
        $m! {
            /// This thread's copy of a variable. The pass writes an access of its own in its place.
            fn __kmpc_threadprivate_cached(ident: ptr, gtid: i32, data: ptr, size: i64, cache: ptr) -> ptr: [];
            /// One of [`crate::PLAIN_FORKS`].
            fn okl_mpi_plain_fork_call(ident: ptr, count: i32, body: ptr): [UNPLAIN, ACQUIRES, MAY_UNWIND] "starts a parallel region";
            /// One of [`crate::PLAIN_FORKS`].
            fn okl_mpi_plain_fork_teams(ident: ptr, count: i32, body: ptr): [UNPLAIN, ACQUIRES, MAY_UNWIND] "starts a parallel region";
        }
    };
}

for_each_openmp_fn!(function_table);
