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
            fn okl_cpu_version_v2(call: ptr, code: ptr, function: ptr, arguments: ptr) -> ptr: [HAS_VERSIONS];
            /// It has run.
            fn okl_cpu_ran_v1(call: ptr): [];
            /// Puts a `KernelInstance` into the table of kernels that programs find by their names.
            fn okl_cpu_add_kernel_v1(kernel: ptr): [APART];
            /// The same for one that a literal names: it is for the call of that literal alone.
            fn okl_cpu_add_literal_v1(kernel: ptr): [APART];
            /// Takes it out.
            fn okl_cpu_remove_kernel_v1(kernel: ptr): [APART];
            /// A `KernelSource` is part of the program.
            fn okl_cpu_add_source_v1(source: ptr): [APART];
            /// It no longer is.
            fn okl_cpu_remove_source_v1(source: ptr): [APART];
            /// The code of the kernel that an `AskedKernel` names, or null: then its message says why.
            fn okl_cpu_find_kernel_v1(asked: ptr) -> ptr: [];
        }
    };
}

for_each_cpu_fn!(function_table);

/// The variable with the address of the instance, in a file that is compiled for one while a program runs.
pub const INSTANCE: &str = "okl_kernel_instance_v1";

/// What the names of variables have in them that are a `KernelInstance` for a literal; a number follows.
pub const LITERAL: &str = "okl_kernel_literal_";

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

    /// A kernel in the table; a variable of its file. Texts are NUL-terminated.
    struct KernelInstance {
        /// Its type and the name of its function, in the words of the compiler: `[T = void (*)(int), F = &name]` is the end.
        told: ptr,
        /// What the user calls it, with its arguments as a template; or these alone.
        arguments: ptr,
        /// Its function.
        code: ptr,
        /// Where it is named: the file.
        file: ptr,
        /// The line.
        line: i64,
    }

    /// The text of a file that has kernels which are templates; a variable of the file. Texts are NUL-terminated.
    struct KernelSource {
        /// The text as the compiler had it, in zlib's form.
        packed: ptr,
        /// So many bytes.
        packed_size: i64,
        /// Of the text itself.
        size: i64,
        /// Which compiler that was, and the words for `okl-c++`; a line each.
        words: ptr,
        /// What its templates are called, and where they stand, with a tab and a number of how they are written; a line each.
        names: ptr,
    }

    /// Which kernel a program wants to call.
    struct AskedKernel {
        /// What it is called.
        name: ptr,
        /// Its type, in the words of the compiler: `[T = void (*)(int)]` is the end.
        told: ptr,
        /// Where it is asked for: the file.
        file: ptr,
        /// The line.
        line: i64,
        /// Where a message has room.
        message: ptr,
        /// For so many bytes, with the NUL.
        room: i64,
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
        assert_eq!((ALL.len(), hash), (11, 0xe7d3b3e08746630));
    }
}
