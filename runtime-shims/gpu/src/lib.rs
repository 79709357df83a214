//! Run-time library of programs with kernels on devices: it launches them, and sees to it that a program that knows nothing of
//! devices finds its memory as its kernels left it.
//!
//! | module | what it does |
//! |---|---|
//! | `table`, `cuda`, `hip`, `opencl` | a driver's functions under our names, and what CUDA, HIP and OpenCL call them |
//! | `settings` | what the user wants |
//! | `timeline`, `device` | a device, what it is asked to do, and when it was done |
//! | `pages`, `arena`, `arrays`, `mirrors` | blocks of the heap, and large variables, that the device has, too, page by page |
//! | `mappings`, `symbols`, `places` | all other memory, which is copied at each launch |
//! | `described`, `values`, `given`, `costs`, `accessed`, `offload` | kernels: what the compiler says of them, what they are passed, what the library gives them, what they cost and access, and a device with all that it has |
//! | `program`, `job`, `next`, `allocator` | this process, and the run time for ranks where it is one |
//! | `interpose`, `fault` | calls of the C library, and page faults |
//! | `launch`, `ranks`, `explicit` | what the program calls |
//!
//! Pages are not those of `okl-coherence`: its ranks each run the program, fault, and meet at synchronisations, by which it knows
//! who wrote what. A device does nothing of that; what it may access is known before, and what remains is three states of a page.

mod accessed;
mod allocator;
mod arena;
mod arrays;
mod costs;
mod cuda;
mod described;
mod device;
mod explicit;
mod fault;
mod given;
mod hip;
mod interpose;
mod job;
mod launch;
#[cfg(test)]
mod layers;
mod mappings;
mod mirrors;
mod next;
mod offload;
mod opencl;
mod pages;
mod places;
mod program;
mod ranks;
mod settings;
mod symbols;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod values;
mod versions;

#[global_allocator]
static ALLOCATOR: allocator::OwnAllocator = allocator::OwnAllocator;

macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $type:ident),*) $(-> $ret:ident)? : [$($effect:ident),*];)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Called by the code of the program, with the arguments it documents.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($param: okl_abi::rust_type!($type)),*) $(-> okl_abi::rust_type!($ret))? {
            // SAFETY: the caller's promise.
            unsafe { launch::$name($($param),*) }
        }
    )*};
}
okl_abi::for_each_gpu_fn!(export);
