//! Where a loop's loads may be done before it is known whether it comes to them.
//!
//! Guarantee: where [`okl_mpi_readable`] says so can be loaded from, and if the program can load from the address that it
//! asks for, it is that one.

use std::ffi::c_void;

use crate::{layout, program_stacks};

/// Bytes of the largest value that is asked for.
const LARGEST: usize = 8;

/// What is loaded from where nothing can be.
#[repr(align(16))]
struct Zeros([u8; 2 * LARGEST]);

static ZEROS: Zeros = Zeros([0; 2 * LARGEST]);

/// The address itself, if so many bytes can be read there, otherwise that of zeros.
pub(crate) fn okl_mpi_readable(address: *mut c_void, bytes: i64) -> *mut c_void {
    let first = address as usize;
    let last = first.wrapping_add((bytes as usize).clamp(1, LARGEST) - 1);
    // All of an aligned word can be read, or nothing.
    let is_one = first / LARGEST == last / LARGEST;
    match can_read(first) && (is_one || can_read(last)) {
        true => address,
        false => ZEROS.0.as_ptr().cast_mut().cast(),
    }
}

/// Whether a byte can be read: the kernel says so, but of pages that are brought in when they are accessed.
fn can_read(address: usize) -> bool {
    let is_shared = layout::get().is_some_and(|layout| layout.page_of(address).is_some());
    match is_shared {
        true => program_stacks::overflow_at(address).is_none(),
        false => kernel_can_read(address / LARGEST * LARGEST),
    }
}

/// Asks the kernel to change the mask of signals in a way that there is not, to what lies at an address: it reads that
/// first.
fn kernel_can_read(word: usize) -> bool {
    const NO_WAY: i32 = -1;
    if word == 0 {
        // No mask is given.
        return false;
    }
    // SAFETY: nothing is changed; `errno` belongs to the program.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        *errno = 0;
        let nowhere = std::ptr::null_mut::<c_void>();
        libc::syscall(libc::SYS_rt_sigprocmask, NO_WAY, word, nowhere, LARGEST);
        let can_read = *errno != libc::EFAULT;
        *errno = before;
        can_read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(address: usize, bytes: i64) -> usize {
        okl_mpi_readable(address as *mut c_void, bytes) as usize
    }

    #[test]
    fn what_can_be_read_is_where_it_is() {
        let value = [1_u64, 2];
        let at = value.as_ptr() as usize;
        for (offset, bytes) in [(0, 8), (8, 8), (3, 8), (15, 1), (6, 4)] {
            assert_eq!(asked(at + offset, bytes), at + offset);
        }
        let code = asked as *const () as usize;
        assert_eq!(asked(code, 8), code);
    }

    #[test]
    fn elsewhere_zeros_are() {
        let zeros = ZEROS.0.as_ptr() as usize;
        // SAFETY: two pages of our own, the second of which is closed.
        let pages = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let pages = libc::mmap(std::ptr::null_mut(), 8192, protection, flags, -1, 0);
            assert_eq!(
                libc::mprotect(pages.byte_add(4096), 4096, libc::PROT_NONE),
                0
            );
            *libc::__errno_location() = 77;
            pages as usize
        };
        assert_eq!(asked(pages + 4088, 8), pages + 4088);
        for (address, bytes) in [
            (0, 8),
            (24, 4),
            (usize::MAX, 8),
            (usize::MAX - 2, 1),
            (1 << 63, 8),
            (pages + 4096, 1),
            (pages + 4092, 8),
            (pages + 4095, 2),
        ] {
            assert_eq!(asked(address, bytes), zeros, "{address:#x}, {bytes}");
        }
        // SAFETY: asks for the thread's own.
        assert_eq!(unsafe { *libc::__errno_location() }, 77);
    }
}
