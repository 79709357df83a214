//! Files that were compiled with OpenMP, for the ranks of an MPI job. They cannot be part of an OP2 program: each of its
//! processes runs all of it.
//!
//! Guarantee: a program that has such a file ends before `main`, and says which one it is.

use std::ffi::{CStr, c_void};

use crate::report::fatal;

/// `table`: the [`okl_abi::ModuleTable`] of a file, which is handed over before `main`.
fn refuse(table: *const c_void) -> ! {
    // SAFETY: the pass emits the table and the text, which have the same beginning in all versions.
    let file =
        unsafe { CStr::from_ptr((*table.cast::<okl_abi::ModuleTable>()).source_file.cast()) };
    fatal(&format!(
        "{} was compiled with OpenMP, for the ranks of an MPI job, and this is an OP2 program: compile the file with \
         -mllvm -okl-target=cpu, so that its regions run on threads",
        file.to_string_lossy()
    ))
}

/// The first function is the one that each file calls before `main`, so that no other is called.
macro_rules! refuse_all {
    (
        $(#[$first_doc:meta])* fn $register:ident($table:ident: ptr): [$($first_effect:ident),*];
        $($(#[$doc:meta])* fn $name:ident($($param:ident: $type:ident),*) $(-> $ret:ident)? : [$($effect:ident),*] $($words:literal)?;)*
    ) => {
        /// # Safety
        /// Called by code that the pass generated.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $register($table: okl_abi::rust_type!(ptr)) {
            refuse($table)
        }
        $(
            /// # Safety
            /// Is never called.
            #[unsafe(no_mangle)]
            #[allow(clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name($(_: okl_abi::rust_type!($type)),*) $(-> okl_abi::rust_type!($ret))? {
                unreachable!("the program has ended")
            }
        )*
    };
}
okl_abi::for_each_mpi_fn!(refuse_all);

/// One of [`okl_abi::PLAIN_FORKS`], which is never called.
#[unsafe(no_mangle)]
pub extern "C" fn okl_mpi_plain_fork_call() {
    unreachable!("the program has ended")
}

/// The other one.
#[unsafe(no_mangle)]
pub extern "C" fn okl_mpi_plain_fork_teams() {
    unreachable!("the program has ended")
}
