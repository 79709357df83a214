//! Run-time library of OKL kernels and of regions on the processor. It finds out what kernels cost, where the user asks for that
//! (`OKL_STATS=1`), has regions compiled once more that were compiled for that (`--okl-jit`), and has the table of kernels that
//! programs find by their names (`okl::kernel`).
//!
//! | module | what it does |
//! |---|---|
//! | `bytes` | what the threads of a kernel say they access, as numbers of bytes |
//! | `kernels` | the kernels of the program, what their calls took, and the table of it |
//! | `regions` | versions of regions |
//! | `names` | what kernels are called, and their types, in the words of compilers |
//! | `sources` | the texts that kernels are made from while the program runs |
//! | `table` | the kernels that programs find by their names |

mod bytes;
mod kernels;
#[cfg(test)]
mod layers;
mod names;
mod regions;
mod sources;
mod table;

use kernels::{okl_cpu_accesses_v1, okl_cpu_begin_kernel_v1, okl_cpu_end_kernel_v1};
use regions::{okl_cpu_ran_v1, okl_cpu_version_v2};
use sources::okl_cpu_add_source_v1;
use table::{
    okl_cpu_add_kernel_v1, okl_cpu_add_literal_v1, okl_cpu_find_kernel_v1,
    okl_cpu_remove_kernel_v1, okl_cpu_remove_source_v1,
};

mod exported {
    macro_rules! export {
        ($($(#[$doc:meta])* fn $name:ident($($param:ident: $type:ident),*) $(-> $ret:ident)? : [$($effect:ident),*];)*) => {$(
            $(#[$doc])*
            ///
            /// # Safety
            /// Called by the program's code, with the arguments it documents.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($param: okl_abi::rust_type!($type)),*) $(-> okl_abi::rust_type!($ret))? {
                // SAFETY: the caller's promise.
                unsafe { super::$name($($param),*) }
            }
        )*};
    }
    okl_abi::for_each_cpu_fn!(export);
}
