//! Run-time library of OKL kernels on the processor. It does nothing for them but find out what they cost, where the user asks
//! for that: `OKL_STATS=1`.
//!
//! | module | what it does |
//! |---|---|
//! | `bytes` | what the threads of a kernel say they access, as numbers of bytes |
//! | `kernels` | the kernels of the program, what their calls took, and the table of it |

mod bytes;
mod kernels;
#[cfg(test)]
mod layers;

macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $type:ident),*) $(-> $ret:ident)? : [$($effect:ident),*];)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Called by the code of a kernel, with the arguments it documents.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($param: okl_abi::rust_type!($type)),*) $(-> okl_abi::rust_type!($ret))? {
            // SAFETY: the caller's promise.
            unsafe { kernels::$name($($param),*) }
        }
    )*};
}
okl_abi::for_each_cpu_fn!(export);
