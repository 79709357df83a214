//! What the code of loops over blocks of work items shares with `libokl_gpu.so`, which runs them on a device.

use crate::{functions::function_table, tables::abi_structs};

/// Calls `$m!` with every function of that library. A change of a signature or a struct changes the number in the names.
/// The form is that of [`crate::for_each_mpi_fn`].
#[macro_export]
macro_rules! for_each_gpu_fn {
    ($m:ident) => {
        $m! {
            /// Runs a loop over blocks of work items on the device: `blocks` and `items` are three `i64` each, `arguments`
            /// points to as many addresses of values as the `DeviceKernel` has parameters. 1 where it ran there; 0 where it
            /// is to run on the processor, which `OKL_BACKEND` or a missing device says, and only where `has_processor` is
            /// not 0.
            fn okl_gpu_launch_v6(kernel: ptr, blocks: ptr, items: ptr, arguments: ptr, has_processor: i32) -> i32: [UNPLAIN, APART];

            /// What runs a kernel, a `DeviceKernel`: a number of `runs`; the processor where that is to do it, as above.
            fn okl_gpu_runs_v5(kernel: ptr, has_processor: i32) -> i32: [UNPLAIN, APART];

            /// Waits until all kernels have run that were launched: in front of what reads a clock.
            fn okl_gpu_finish_v1(): [UNPLAIN, APART];
        }
    };
}

for_each_gpu_fn!(function_table);

abi_structs! {
    /// Device code of a loop over blocks of work items; a variable of its file.
    struct DeviceKernel {
        /// The kernel's name as the user wrote it, NUL-terminated.
        name: ptr,
        /// `file:line` of the loop, NUL-terminated.
        place: ptr,
        /// The function's name in all images, NUL-terminated.
        entry: ptr,
        /// [`Image`] array, the one that is tried first in front.
        images: ptr,
        /// Length of `images`.
        image_count: i64,
        /// [`DeviceParameter`] array.
        parameters: ptr,
        /// Length of `parameters`.
        parameter_count: i64,
        /// Work items of a block, at most; 0 where that is not known.
        most_items: i64,
        /// Bytes of memory that a block shares and is given when it is launched, where the driver does that.
        shared: i64,
        /// Bits of [`does`].
        does: i64,
        /// `i64` array: which bytes it accesses, see [`section`].
        sections: ptr,
        /// Length of `sections`; 0 where that is not known.
        section_count: i64,
        /// Array of pointers to [`JitCode`](crate::jit::JitCode), one for each image: what may be compiled once more, or null.
        /// Null where that is so of none.
        codes: ptr,
        /// The library's: 0 until it has met the kernel.
        state: i64,
    }

    /// Device code of a file, for one kind of device. All kernels of a file share it.
    struct Image {
        /// One of [`form`].
        form: i64,
        /// The processor it is for, as `sm_70`, NUL-terminated.
        processor: ptr,
        /// The code; a text has a NUL behind it.
        code: ptr,
        /// Bytes of it, without that.
        size: i64,
        /// Of the bits of [`does`] that are additions, those for which there are instructions in it: others are loops that
        /// compare and exchange.
        adds: i64,
    }

    /// What is passed to a kernel.
    struct DeviceParameter {
        /// Bits of [`parameter`]; 0 is a value.
        kind: i64,
        /// Bytes of what is passed.
        size: i64,
    }
}

/// Large arrays: as blocks of the heap of this size and more they are watched, page by page.
pub mod arrays {
    /// So many bytes at least.
    pub const SMALLEST: usize = 64 << 10;
    /// Bytes of a page.
    pub const PAGE: usize = 4096;
    /// The section of a program that lists its large variables: for each its address and as many bytes as the program knows of.
    /// Where such a variable's symbol begins a page, and has more bytes than that, up to the end of a page, then these pages are
    /// its alone, and no address in them leads to another one. (The linker may have taken another file's definition.)
    pub const SECTION: &str = "okl_arrays";
}

/// What device code is written in.
pub mod form {
    /// PTX, a text.
    pub const PTX: i64 = 1;
    /// A code object of AMD's.
    pub const CODE_OBJECT: i64 = 2;
    /// SPIR-V.
    pub const SPIRV: i64 = 3;
}

/// What is known of a parameter.
pub mod parameter {
    /// It is an address of the program's.
    pub const ADDRESS: i64 = 1;
    /// What it points to may be read.
    pub const READ: i64 = 2;
    /// It may be written.
    pub const WRITTEN: i64 = 4;
    /// It is an address of the program's where each block leaves as many bytes as `size` says, one block's behind the
    /// other's: what is there before the kernel does not see.
    pub const RESULTS: i64 = 8;
    /// It is the address of a word of the library's on the device, 0 at first, which is a lock: all kernels have one.
    pub const LOCK: i64 = 16;
    /// It is the address of a word of the library's on the device, 0 at first: where a block needs more work items than there
    /// are, how many at least.
    pub const ITEMS: i64 = 32;
    /// It is the number of the first block in the second direction, of 32 bits: the library launches a part of them at a time.
    pub const FIRST_Y: i64 = 64;
    /// The same in the third direction.
    pub const FIRST_Z: i64 = 128;
    /// What the library has the value of, so that none is passed.
    pub const OF_LIBRARY: i64 = LOCK | ITEMS | FIRST_Y | FIRST_Z;
}

/// What is known of a kernel.
pub mod does {
    /// It writes to the standard output, so that the program goes on when it has run.
    pub const PRINTS: i64 = 1;
    /// Of a loop over a set: its work items add numbers of 32 bits with a fraction to what others may add to at the same time.
    pub const ADDS_F32: i64 = 2;
    /// The same of 64 bits.
    pub const ADDS_F64: i64 = 4;
    /// All that are such additions.
    pub const ADDITIONS: i64 = ADDS_F32 | ADDS_F64;
}

/// What runs a kernel.
pub mod runs {
    /// The processor.
    pub const PROCESSOR: i32 = 0;
    /// The device.
    pub const DEVICE: i32 = 1;
    /// The device, which has no instructions for some of the additions that the kernel [`does`](super::does).
    pub const DEVICE_EXCHANGES: i32 = 2;
}

/// Which bytes a kernel accesses that runs the iterations of a loop from one to another one: numbers, one behind the other.
///
/// In front stand the positions of the parameters that are the first iteration and the last one. Then follows for each section
/// the position of the parameter whose object it is in, whether it is written (1) or read (0), bytes of an element or
/// [`ANYWHERE`](section::ANYWHERE), behind which stands no more; else the place of the first element, in bytes from where the parameter leads to, a
/// number of rows, and for each of these bytes from one element to the next, and how many.
///
/// Each of the latter is a sum: its length, and for each product what it is multiplied with, a number of factors, and these:
/// the position of a parameter that is a number, [`ITERATION`](section::ITERATION), [`ONE_OF`](section::ONE_OF), behind
/// which stand a number of sums, any of which it is, or [`TURN`](section::TURN), behind which one stands. What the program computes in 32 bits and what stands here differ by
/// multiples of 2^32. Of an object that has sections nothing else is accessed.
pub mod section {
    /// Anything of the object may be accessed.
    pub const ANYWHERE: i64 = 0;
    /// The number of the iteration.
    pub const ITERATION: i64 = -1;
    /// Any of some sums.
    pub const ONE_OF: i64 = -2;
    /// Any number from 0 to a sum, which is how often a loop goes back, if it runs.
    pub const TURN: i64 = -3;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_one_of_its_version() {
        let hash = crate::hash(TEXT, LAYOUT_TEXT);
        assert_eq!((ALL.len(), hash), (3, 0xeb6b398cd3eefe91));
    }
}
