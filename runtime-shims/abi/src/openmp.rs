//! Functions of OpenMP's run time that none of ours replaces under their name, and names by which ours are told from
//! them. No runtime is expanded from this list, and it is no part of the boundary: it only says what analyses may know
//! of them.

use crate::{Effects, functions::function_table, runtime_function};

/// What names begin with that no program has of its own: those by which compilers call the run time, and those of target
/// regions.
const RESERVED: [&str; 3] = ["__kmpc_", TARGET, "omp_target_"];

/// What the names begin with by which compilers begin target regions.
pub const TARGET: &str = "__tgt_";

/// A function that every OpenMP run time has and every version of the pass knows.
pub const PRESENT: &str = "__kmpc_global_thread_num";

/// Calls `$m!` with each of them. The form is that of [`crate::for_each_mpi_fn`].
macro_rules! for_each_openmp_fn {
    ($m:ident) => {
        $m! {
            /// `parallel`. The pass writes a call of `okl_mpi_fork` in its place.
            fn __kmpc_fork_call(ident: ptr, count: i32, body: ptr): [FORKS_BODY, UNPLAIN, ACQUIRES, MAY_UNWIND, APART] "starts a parallel region";
            /// `parallel if`, all captured values behind one pointer, which is there even if there are none.
            fn __kmpc_fork_call_if(ident: ptr, count: i32, body: ptr, condition: i32): [FORKS_BODY, UNPLAIN, ACQUIRES, MAY_UNWIND, APART] "starts a parallel region";
            /// `teams`. The pass writes a call of `okl_mpi_fork_teams` in its place.
            fn __kmpc_fork_teams(ident: ptr, count: i32, body: ptr): [FORKS_BODY, LEAGUE, UNPLAIN, ACQUIRES, MAY_UNWIND, APART] "starts a parallel region";
            /// One of [`crate::PLAIN_FORKS`].
            fn okl_mpi_plain_fork_call(ident: ptr, count: i32, body: ptr): [UNPLAIN, ACQUIRES, MAY_UNWIND, APART] "starts a parallel region";
            /// One of [`crate::PLAIN_FORKS`].
            fn okl_mpi_plain_fork_teams(ident: ptr, count: i32, body: ptr): [UNPLAIN, ACQUIRES, MAY_UNWIND, APART] "starts a parallel region";
            /// This thread's copy of the variable `data`. The pass writes an access of its own in its place.
            fn __kmpc_threadprivate_cached(ident: ptr, gtid: i32, data: ptr, size: i64, cache: ptr) -> ptr: [APART];

            // What LLVM's `omp.h` has besides.
            /// `omp_control_tool`.
            fn omp_control_tool(command: i32, modifier: i32, argument: ptr) -> i32: [UNSUPPORTED];
            /// `omp_get_device_allocator`.
            fn omp_get_device_allocator(device: i32, space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_device_and_host_allocator`.
            fn omp_get_device_and_host_allocator(device: i32, space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_device_and_host_memspace`.
            fn omp_get_device_and_host_memspace(device: i32, space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_device_from_uid`.
            fn omp_get_device_from_uid(uid: ptr) -> i32: [UNSUPPORTED];
            /// `omp_get_device_memspace`.
            fn omp_get_device_memspace(device: i32, space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_devices_all_allocator`.
            fn omp_get_devices_all_allocator(space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_devices_all_memspace`.
            fn omp_get_devices_all_memspace(space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_devices_allocator`.
            fn omp_get_devices_allocator(count: i32, devices: ptr, space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_devices_and_host_allocator`.
            fn omp_get_devices_and_host_allocator(count: i32, devices: ptr, space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_devices_and_host_memspace`.
            fn omp_get_devices_and_host_memspace(count: i32, devices: ptr, space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_devices_memspace`.
            fn omp_get_devices_memspace(count: i32, devices: ptr, space: i64) -> i64: [UNSUPPORTED];
            /// `omp_get_interop_int`.
            fn omp_get_interop_int(interop: ptr, property: i32, error: ptr) -> i64: [UNSUPPORTED];
            /// `omp_get_interop_name`.
            fn omp_get_interop_name(interop: ptr, property: i32) -> ptr: [UNSUPPORTED];
            /// `omp_get_interop_ptr`.
            fn omp_get_interop_ptr(interop: ptr, property: i32, error: ptr) -> ptr: [UNSUPPORTED];
            /// `omp_get_interop_rc_desc`.
            fn omp_get_interop_rc_desc(interop: ptr, code: i32) -> ptr: [UNSUPPORTED];
            /// `omp_get_interop_str`.
            fn omp_get_interop_str(interop: ptr, property: i32, error: ptr) -> ptr: [UNSUPPORTED];
            /// `omp_get_interop_type_desc`.
            fn omp_get_interop_type_desc(interop: ptr, property: i32) -> ptr: [UNSUPPORTED];
            /// `omp_get_mapped_ptr`.
            fn omp_get_mapped_ptr(pointer: ptr, device: i32) -> ptr: [UNSUPPORTED];
            /// `omp_get_memspace_num_resources`.
            fn omp_get_memspace_num_resources(space: i64) -> i32: [UNSUPPORTED];
            /// `omp_get_num_interop_properties`.
            fn omp_get_num_interop_properties(interop: ptr) -> i32: [UNSUPPORTED];
            /// `omp_get_submemspace`.
            fn omp_get_submemspace(space: i64, count: i32, resources: ptr) -> i64: [UNSUPPORTED];
            /// `omp_get_uid_from_device`.
            fn omp_get_uid_from_device(device: i32) -> ptr: [UNSUPPORTED];
        }
    };
}

for_each_openmp_fn!(function_table);

fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|one| name.starts_with(one))
}

/// `omp_get_num_threads` for `omp_get_num_threads_`, by which a Fortran program without an interface of it calls it;
/// `None` where there is no such function.
pub fn name_in_c(name: &str) -> Option<&str> {
    let c_name = name.strip_suffix('_')?;
    (c_name.starts_with("omp_") && runtime_function(c_name).is_some()).then_some(c_name)
}

/// Whether `name` is a function of OpenMP's. Other names that begin with `omp_` are the program's own.
pub fn is_openmp(name: &str) -> bool {
    is_reserved(name)
        || name_in_c(name).is_some()
        || name.starts_with("omp") && runtime_function(name).is_some()
}

/// Whether `name` is a function of OpenMP's, or of the compiler's for atomic accesses, of which ours has nothing in its
/// place.
pub fn is_unsupported(name: &str) -> bool {
    match runtime_function(name) {
        Some(function) => function.has(Effects::UNSUPPORTED),
        None => is_reserved(name) || name_in_c(name).is_some() || is_sized_atomic(name),
    }
}

/// Whether `name` is an atomic access for one size, which clang only leaves in a program that names it itself.
fn is_sized_atomic(name: &str) -> bool {
    name.strip_prefix("__atomic_")
        .and_then(|rest| rest.rsplit_once('_'))
        .is_some_and(|(_, size)| ["1", "2", "4", "8", "16"].contains(&size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PLAIN_FORKS, replacement_of};

    #[test]
    fn names_are_told_from_the_program_s_own() {
        for one in [
            "__kmpc_new",
            "__tgt_new",
            "omp_target_alloc",
            "omp_get_wtime",
            "omp_get_wtime_",
            "ompc_display_affinity",
            "omp_get_mapped_ptr",
        ] {
            assert!(is_openmp(one), "{one}");
        }
        for one in [
            "omp_sum",
            "omp_sum_",
            "ompc_sum",
            "ompi",
            "__atomic_load",
            "__cxa_guard_acquire",
            "okl_mpi_fork",
        ] {
            assert!(!is_openmp(one), "{one}");
        }
    }

    #[test]
    fn what_has_no_replacement_is_unsupported() {
        for one in ALL.iter().filter(|one| one.has(Effects::UNSUPPORTED)) {
            assert!(is_unsupported(one.name) && replacement_of(one.name).is_none());
        }
        for one in [
            "__kmpc_new",
            "__tgt_target_kernel",
            "omp_target_new",
            "omp_get_wtime_",
            "omp_get_mapped_ptr_",
            "__atomic_load_4",
        ] {
            assert!(is_unsupported(one), "{one}");
        }
        for one in [
            "__kmpc_fork_call",
            "__kmpc_threadprivate_cached",
            "__kmpc_barrier",
            "omp_get_wtime",
            "omp_sum",
            "omp_sum_",
            "__atomic_load",
            "__atomic_load_3",
        ] {
            assert!(!is_unsupported(one), "{one}");
        }
    }

    #[test]
    fn forks_and_what_is_called_in_their_place_do_the_same() {
        let begins = Effects::FORKS_BODY.and(Effects::FORKS);
        for (fork, plain) in PLAIN_FORKS {
            let [fork, plain] = [fork, plain].map(|name| runtime_function(name).unwrap());
            assert!(fork.has(Effects::FORKS_BODY) && !plain.effects.has_some(begins));
            assert!(fork.has(plain.effects), "{}", fork.name);
            assert_eq!((fork.params, fork.words), (plain.params, plain.words));
        }
        assert_eq!(
            replacement_of(PRESENT).map(|one| one.name),
            Some("okl_mpi_kmpc_global_thread_num")
        );
    }
}
