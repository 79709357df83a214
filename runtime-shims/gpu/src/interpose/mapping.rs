//! `mmap` and its family: which memory the program, and each library, has mapped in one piece.

use std::ffi::{c_int, c_void};

use crate::mappings;
use crate::next::Next;

static MMAP: Next = Next::new(c"mmap");
static MUNMAP: Next = Next::new(c"munmap");
static MREMAP: Next = Next::new(c"mremap");

#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    type Function =
        unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;
    // SAFETY: the C library's function has this signature, and the caller's promises are the same.
    unsafe {
        let next = std::mem::transmute::<*mut c_void, Function>(MMAP.address());
        let mapped = next(address, length, protection, flags, file, offset);
        if mapped != libc::MAP_FAILED {
            mappings::add(mapped.addr(), length);
        }
        mapped
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the caller's promises are the same.
    unsafe { mmap(address, length, protection, flags, file, offset) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, length: usize) -> c_int {
    type Function = unsafe extern "C" fn(*mut c_void, usize) -> c_int;
    // Before another thread may get the addresses.
    mappings::remove(address.addr(), length);
    // SAFETY: the C library's function has this signature, and the caller's promises are the same.
    unsafe { std::mem::transmute::<*mut c_void, Function>(MUNMAP.address())(address, length) }
}

/// The last argument is there where the flags say so.
#[unsafe(no_mangle)]
unsafe extern "C" fn mremap(
    address: *mut c_void,
    length: usize,
    new_length: usize,
    flags: c_int,
    new_address: *mut c_void,
) -> *mut c_void {
    type Function =
        unsafe extern "C" fn(*mut c_void, usize, usize, c_int, *mut c_void) -> *mut c_void;
    // SAFETY: the C library's function has this signature, and the caller's promises are the same.
    unsafe {
        let next = std::mem::transmute::<*mut c_void, Function>(MREMAP.address());
        let mapped = next(address, length, new_length, flags, new_address);
        if mapped != libc::MAP_FAILED {
            mappings::remove(address.addr(), length);
            mappings::add(mapped.addr(), new_length);
        }
        mapped
    }
}
