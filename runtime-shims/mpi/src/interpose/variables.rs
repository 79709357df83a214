//! Environment variables for others than program code.
//!
//! Guarantee: MPI, the runtime and foreign threads find the variables that the process was started with.
//! What the program's own list names is shared memory, which may be elsewhere when they ask.

use std::{
    ffi::{CStr, c_char, c_void},
    mem, ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use super::Next;
use crate::program;

type Get = unsafe extern "C" fn(*const c_char) -> *mut c_char;
type List = *mut *mut c_char;

static GETENV: Next = Next::new("getenv\0");
static SECURE_GETENV: Next = Next::new("secure_getenv\0");

/// Rank 0: the list that the process was started with; null on ranks whose program has no other.
static STARTED_WITH: AtomicPtr<*mut c_char> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" {
    static mut environ: List;
}

/// Looks up the real functions.
pub(super) fn resolve() {
    GETENV.find();
    SECURE_GETENV.find();
}

/// Gives the program `list`.
///
/// # Safety
/// The list ends with null, and its texts with NUL; nothing is freed. Called once.
pub(crate) unsafe fn give_program(list: List) {
    // The C library grows the list it has made itself, whatever `environ` is by then: this one must not be it.
    // SAFETY: the program's thread, before the program starts.
    unsafe {
        let mut copy: Vec<*mut c_char> = Vec::new();
        while !(*environ.add(copy.len())).is_null() {
            copy.push(*environ.add(copy.len()));
        }
        copy.push(ptr::null_mut());
        STARTED_WITH.store(copy.leak().as_mut_ptr(), Relaxed);
        environ = list;
    }
}

/// The program has ended.
pub(crate) fn take_from_program() {
    let list = STARTED_WITH.load(Relaxed);
    if !list.is_null() {
        // SAFETY: a list like the one at the start; nothing of the program runs any more.
        unsafe { environ = list };
    }
}

/// # Safety
/// As for `getenv`.
unsafe fn get(next: &Next, name: *const c_char) -> *mut c_char {
    let list = STARTED_WITH.load(Relaxed);
    if list.is_null() || program::allocates_shared() {
        // SAFETY: the C library's functions have this signature, and the caller's promises are the same.
        return unsafe { mem::transmute::<*mut c_void, Get>(next.address())(name) };
    }
    // SAFETY: the caller's name, and the list of `give_program`.
    unsafe { find(list, CStr::from_ptr(name).to_bytes()) }
}

/// The value of the variable `name` in a list; null if it has none.
///
/// # Safety
/// As for the list of [`give_program`].
unsafe fn find(mut list: List, name: &[u8]) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe {
        while !(*list).is_null() {
            let entry = CStr::from_ptr(*list).to_bytes();
            if entry.get(name.len()) == Some(&b'=') && entry.starts_with(name) {
                return (*list).add(name.len() + 1);
            }
            list = list.add(1);
        }
    }
    ptr::null_mut()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the caller's promises are the same.
    unsafe { get(&GETENV, name) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn secure_getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the caller's promises are the same.
    unsafe { get(&SECURE_GETENV, name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_whole() {
        let entries = [c"AB=1", c"A=2=3", c"C="];
        let mut list: Vec<*mut c_char> = entries.iter().map(|e| e.as_ptr().cast_mut()).collect();
        list.push(ptr::null_mut());
        let value = |name: &[u8]| {
            // SAFETY: a list as `find` wants it.
            let value = unsafe { find(list.as_mut_ptr(), name) };
            // SAFETY: part of a text of the list.
            (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_bytes().to_vec())
        };
        let mut value = value;
        assert_eq!(value(b"A"), Some(b"2=3".to_vec()));
        assert_eq!(value(b"AB"), Some(b"1".to_vec()));
        assert_eq!(value(b"C"), Some(Vec::new()));
        assert_eq!(value(b"B"), None);
    }
}
