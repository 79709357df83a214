//! Environment variables, for program code and for others.
//!
//! Guarantee: MPI, the runtime and foreign threads find the variables that the process was started with.
//! What the program's own list names is shared memory, which may be elsewhere when they ask.
//!
//! Program code finds rank 0's variables on every rank, as serial code has left them: all texts are shared
//! memory, and a copy of rank 0's list is, whose address is a control word. Only teams of one change them.

use std::{
    ffi::{CStr, c_char, c_void},
    mem, ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use super::allocation;
use crate::{
    cell::ProgramCell,
    control_area,
    control_words::{exchange_word, load_word},
    mpi_job,
    next::Next,
    program, scopes, sections,
};

type Get = unsafe extern "C" fn(*const c_char) -> *mut c_char;
type Put = unsafe extern "C" fn(*mut c_char) -> i32;
type Unset = unsafe extern "C" fn(*const c_char) -> i32;
type Set = unsafe extern "C" fn(*const c_char, *const c_char, i32) -> i32;
type Clear = unsafe extern "C" fn() -> i32;
type List = *mut *mut c_char;

static GETENV: Next = Next::new("getenv\0");
static SECURE_GETENV: Next = Next::new("secure_getenv\0");
static SETENV: Next = Next::new("setenv\0");
static PUTENV: Next = Next::new("putenv\0");
static UNSETENV: Next = Next::new("unsetenv\0");
static CLEARENV: Next = Next::new("clearenv\0");

/// Rank 0: the list that other ranks see, and what `environ` was when it was made.
static PUBLISHED: ProgramCell<(usize, usize)> = ProgramCell::new((0, 0));

/// Rank 0: the list that the process was started with; null on ranks whose program has no other.
static STARTED_WITH: AtomicPtr<*mut c_char> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" {
    static mut environ: List;
}

/// Looks up the real functions.
pub(super) fn resolve() {
    for next in [
        &GETENV,
        &SECURE_GETENV,
        &SETENV,
        &PUTENV,
        &UNSETENV,
        &CLEARENV,
    ] {
        next.find();
    }
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
    show(list);
}

/// Shows other ranks `list`, which is shared memory.
fn show(list: List) {
    let word = control_area::ENVIRONMENT;
    let old = PUBLISHED.with(|published| {
        // SAFETY: the program thread's own variable.
        mem::replace(published, (list as usize, unsafe { environ } as usize)).0
    });
    exchange_word(word, old as u64, list as u64);
}

/// Rank 0, before a region: other ranks are to see a list that the program has put in the place of its own.
pub(crate) fn follow() {
    // SAFETY: the program thread's own variable.
    let current = unsafe { environ } as usize;
    if PUBLISHED.with(|published| published.1) != current {
        publish();
    }
}

/// Rank 0: shows other ranks a copy of the list as it is.
fn publish() {
    if mpi_job::ranks() == 1 || PUBLISHED.with(|published| published.0) == 0 {
        return;
    }
    sections::okl_mpi_serial_code();
    let mut texts: Vec<*mut c_char> = Vec::new();
    // SAFETY: the program's list, which ends with null, or none.
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            texts.push(*next);
            next = next.add(1);
        }
    }
    texts.push(ptr::null_mut());
    let bytes = mem::size_of_val(texts.as_slice());
    let copy = allocation::for_program(bytes) as List;
    if !copy.is_null() {
        // SAFETY: a new block of this size.
        unsafe { ptr::copy_nonoverlapping(texts.as_ptr(), copy, texts.len()) };
        // The list before stays: serial code is not told when others last looked at it.
        show(copy);
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
    let is_programs = program::allocates_shared();
    if is_programs && mpi_job::rank() != 0 {
        let list = load_word(control_area::ENVIRONMENT) as List;
        // SAFETY: the caller's name, and a list of `show`.
        return unsafe { find(list, CStr::from_ptr(name).to_bytes()) };
    }
    let list = STARTED_WITH.load(Relaxed);
    if list.is_null() || is_programs {
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

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the caller's promises are the same.
    unsafe { get(&GETENV, name) }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn secure_getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the caller's promises are the same.
    unsafe { get(&SECURE_GETENV, name) }
}

/// Adds `text`, which is shared memory, to the program's list.
///
/// # Safety
/// As for `putenv`.
unsafe fn put(text: *mut c_char) -> i32 {
    // SAFETY: the C library's function has this signature. What it allocates is the list alone.
    let status =
        scopes::private(|| unsafe { mem::transmute::<*mut c_void, Put>(PUTENV.address())(text) });
    publish();
    status
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn putenv(text: *mut c_char) -> i32 {
    if !program::allocates_shared() {
        // SAFETY: the C library's function has this signature, and the caller's promises are the same.
        return unsafe { mem::transmute::<*mut c_void, Put>(PUTENV.address())(text) };
    }
    // SAFETY: the caller's promises are the same.
    unsafe { put(text) }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn setenv(name: *const c_char, value: *const c_char, overwrite: i32) -> i32 {
    // SAFETY: the caller's texts, and the C library's function, which has this signature.
    unsafe {
        let bytes = if name.is_null() {
            &[]
        } else {
            CStr::from_ptr(name).to_bytes()
        };
        if !program::allocates_shared()
            || value.is_null()
            || bytes.is_empty()
            || bytes.contains(&b'=')
        {
            return mem::transmute::<*mut c_void, Set>(SETENV.address())(name, value, overwrite);
        }
        if overwrite == 0 && !getenv(name).is_null() {
            return 0;
        }
        // The C library would make a text of its own, which is private to this rank.
        let value = CStr::from_ptr(value).to_bytes_with_nul();
        let text = allocation::for_program(bytes.len() + 1 + value.len()) as *mut u8;
        if text.is_null() {
            return -1;
        }
        ptr::copy_nonoverlapping(bytes.as_ptr(), text, bytes.len());
        *text.add(bytes.len()) = b'=';
        ptr::copy_nonoverlapping(value.as_ptr(), text.add(bytes.len() + 1), value.len());
        put(text.cast())
    }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn unsetenv(name: *const c_char) -> i32 {
    // SAFETY: the C library's function has this signature, and the caller's promises are the same.
    let status = unsafe { mem::transmute::<*mut c_void, Unset>(UNSETENV.address())(name) };
    if program::allocates_shared() {
        publish();
    }
    status
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn clearenv() -> i32 {
    // SAFETY: the C library's function has this signature.
    let status = unsafe { mem::transmute::<*mut c_void, Clear>(CLEARENV.address())() };
    if program::allocates_shared() {
        publish();
    }
    status
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
