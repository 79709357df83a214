//! The runtime's view of a rank's memory file, always writable.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst},
};

use okl_abi::AtomicOp;
use okl_coherence::atomics_values::apply;

use crate::kernel;

/// The runtime's view of one rank's memory file.
#[derive(Clone, Copy)]
pub(crate) struct View {
    first: *mut u8,
}

// SAFETY: a view lives as long as the process; who writes which bytes when is the protocol's matter,
// as it is between the processes that share the file.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    /// Maps `bytes` of the memory file `descriptor`, so that it can have [large pages](kernel::LARGE).
    pub(crate) fn map(descriptor: i32, bytes: usize) -> Result<Self, std::io::Error> {
        let map = |at: *mut c_void, bytes: usize, protection, flags, file| {
            // SAFETY: a new mapping at an address of the kernel's choice, or in one.
            let first = unsafe { kernel::mmap(at, bytes, protection, flags, file, 0) };
            match first == libc::MAP_FAILED {
                true => Err(std::io::Error::last_os_error()),
                false => Ok(first),
            }
        };
        let reserved = map(
            std::ptr::null_mut(),
            bytes + kernel::LARGE,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
        )?;
        let before = reserved.align_offset(kernel::LARGE);
        let first = map(
            reserved.wrapping_byte_add(before),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED,
            descriptor,
        )?;
        Ok(Self {
            first: first.cast(),
        })
    }

    /// The byte at `offset` of the file.
    pub(crate) fn at(self, offset: usize) -> *mut u8 {
        // SAFETY: callers pass offsets within the file, which is mapped whole.
        unsafe { self.first.add(offset) }
    }

    /// Copies `bytes` to `offset`.
    pub(crate) fn write(self, offset: usize, bytes: &[u8]) {
        // SAFETY: within the file; the source is private memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(offset), bytes.len()) };
    }

    /// Copies from `offset` into `bytes`.
    pub(crate) fn read(self, offset: usize, bytes: &mut [u8]) {
        // SAFETY: within the file; the target is private memory.
        unsafe { std::ptr::copy_nonoverlapping(self.at(offset), bytes.as_mut_ptr(), bytes.len()) };
    }

    /// The `count` words at `offset`, a multiple of their size, which nobody reaches otherwise.
    pub(crate) fn words(self, offset: usize, count: usize) -> &'static [AtomicU64] {
        // SAFETY: within the file, which stays mapped, and aligned; any bytes are a number.
        unsafe { std::slice::from_raw_parts(self.at(offset).cast(), count) }
    }

    /// Replaces the `size` bytes at `offset` by what `operation` makes of them and `value`. The old value.
    pub(crate) fn update(self, offset: usize, size: u32, operation: AtomicOp, value: u64) -> u64 {
        let mut old = self.compare_exchange(offset, 0, 0, size);
        loop {
            let new = apply(operation, old, value, size as i32);
            let seen = self.compare_exchange(offset, old, new, size);
            if seen == old {
                return old;
            }
            old = seen;
        }
    }

    /// Compares the `size` bytes at `offset` with `expected` and puts `desired` there where they are
    /// equal. The old value.
    pub(crate) fn compare_exchange(
        self,
        offset: usize,
        expected: u64,
        desired: u64,
        size: u32,
    ) -> u64 {
        let place = self.at(offset);
        macro_rules! exchange {
            ($atomic:ty, $value:ty) => {{
                // SAFETY: within the file and aligned, as C and C++ demand of atomic objects.
                let atomic = unsafe { &*place.cast::<$atomic>() };
                match atomic.compare_exchange(expected as $value, desired as $value, SeqCst, SeqCst)
                {
                    Ok(old) | Err(old) => u64::from(old),
                }
            }};
        }
        match size {
            1 => exchange!(AtomicU8, u8),
            2 => exchange!(AtomicU16, u16),
            4 => exchange!(AtomicU32, u32),
            8 => exchange!(AtomicU64, u64),
            _ => panic!("an atomic of {size} bytes"),
        }
    }
}
