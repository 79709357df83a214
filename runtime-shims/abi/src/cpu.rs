//! What the code of OKL's kernels shares with `libokl_cpu.so`, which knows what they cost on the processor.

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_one_of_its_version() {
        let hash = crate::hash(TEXT, LAYOUT_TEXT);
        assert_eq!((ALL.len(), hash), (3, 0xf2925fb0b609bec));
    }
}
