//! Destructors of objects that live until the program ends.
//!
//! Guarantee: the destructor of a function-local static runs once, when the program exits on rank 0,
//! whichever rank initialised the object.

use std::ffi::{c_int, c_void};

use super::Next;
use crate::{cell::ProgramCell, mpi_job, program, team};

/// Words of one registration: function, argument, and the library it belongs to.
const WORDS: usize = 3;

type Register = unsafe extern "C" fn(usize, usize, usize) -> c_int;

static NEXT: Next = Next::new("__cxa_atexit\0");
/// What this rank, which is not rank 0, registered since the last synchronisation.
static REGISTERED: ProgramCell<Vec<u64>> = ProgramCell::new(Vec::new());

/// Looks up the real function.
pub(super) fn resolve() {
    NEXT.find();
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_atexit(function: usize, argument: usize, library: usize) -> c_int {
    if program::allocates_shared() && team::is_distributed() && mpi_job::rank() != 0 {
        let words = [function, argument, library].map(|word| word as u64);
        REGISTERED.with(|registered| registered.extend(words));
        return 0;
    }
    // SAFETY: the caller's promises are the same.
    unsafe { register(function, argument, library) }
}

/// # Safety
/// As for `__cxa_atexit`.
unsafe fn register(function: usize, argument: usize, library: usize) -> c_int {
    // SAFETY: the C library's function has this signature.
    unsafe {
        std::mem::transmute::<*mut c_void, Register>(NEXT.address())(function, argument, library)
    }
}

/// What this rank registered since it was asked last.
pub(crate) fn take_registered() -> Vec<u64> {
    REGISTERED.with(std::mem::take)
}

/// Rank 0: registers what another rank did.
pub(crate) fn register_for_others(words: &[u64]) {
    for words in words.chunks_exact(WORDS) {
        let [function, argument, library] = [0, 1, 2].map(|index| words[index] as usize);
        // SAFETY: the program has the same addresses on every rank, and called `__cxa_atexit` with these.
        unsafe { register(function, argument, library) };
    }
}
