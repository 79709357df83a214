//! What the code of OKL's kernels and of OpenMP's regions shares with `libokl_cpu.so`, which knows what kernels cost on the
//! processor, and of which regions there are versions.

use crate::{functions::function_table, tables::abi_structs};

/// Calls `$m!` with every function of that library. A change of a signature or a struct changes the number in the names.
/// The form is that of [`crate::for_each_mpi_fn`].
#[macro_export]
macro_rules! for_each_cpu_fn {
    ($m:ident) => {
        $m! {
            /// Where a `Kernel` begins: when that is, for `okl_cpu_end_kernel_v1`; 0 where nothing is measured.
            fn okl_cpu_begin_kernel_v1(kernel: ptr) -> i64: [APART];
            /// Where it ends.
            fn okl_cpu_end_kernel_v1(kernel: ptr, begin: i64): [APART];
            /// What a thread's part of the kernel accesses, as `okl_mpi_sections` has it, but for marks; null where that is
            /// not known.
            fn okl_cpu_accesses_v1(kernel: ptr, table: ptr, computed: ptr): [APART];
            /// What is to run in place of `function`, which threads of a team are to run: a version of it, or itself. `code` is
            /// its `JitCode`; `arguments` has its parameters, of 8 bytes each, as far as `code` asks for them. `call`, a
            /// `RegionCall`, is filled in.
            fn okl_cpu_version_v1(call: ptr, code: ptr, function: ptr, arguments: ptr) -> ptr: [HAS_VERSIONS];
            /// It has run.
            fn okl_cpu_ran_v1(call: ptr): [];
        }
    };
}

for_each_cpu_fn!(function_table);

abi_structs! {
    /// A kernel; a variable of its file.
    struct Kernel {
        /// Its name as the user wrote it, NUL-terminated.
        name: ptr,
        /// `file:line`, NUL-terminated.
        place: ptr,
        /// The library's: 0 until it has met the kernel.
        number: i64,
    }

    /// A region that runs.
    struct RegionCall {
        /// The version for the values that are there, or null: the library's.
        version: ptr,
        /// When it began, in nanoseconds since some moment.
        begin: i64,
        /// What of it runs: the library's.
        turn: i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_one_of_its_version() {
        let hash = crate::hash(TEXT, LAYOUT_TEXT);
        assert_eq!((ALL.len(), hash), (5, 0x44fbeeae181f0d9));
    }
}
