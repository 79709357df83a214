//! The stack on which page faults are served: each thread has one.

use std::ffi::c_void;

use crate::kernel;

/// MPI runs on it.
const BYTES: usize = 1 << 20;

/// Gives the calling thread one, for as long as it lives.
pub(crate) fn install() {
    std::mem::forget(Stack::install());
}

/// That of one thread.
pub(crate) struct Stack(*mut c_void);

impl Stack {
    /// Gives one to the calling thread.
    pub(crate) fn install() -> Self {
        // SAFETY: plain system calls with structures that live long enough.
        unsafe {
            let stack = kernel::mmap(
                std::ptr::null_mut(),
                BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            );
            assert!(
                stack != libc::MAP_FAILED,
                "no memory for the fault handler's stack"
            );
            set_alternate_stack(stack, 0);
            Self(stack)
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the thread ends, in no handler, and its stack is used by nobody else.
        unsafe {
            set_alternate_stack(std::ptr::null_mut(), libc::SS_DISABLE);
            kernel::munmap(self.0, BYTES);
        }
    }
}

/// # Safety
/// `stack` has `BYTES` bytes, or is not used.
unsafe fn set_alternate_stack(stack: *mut c_void, flags: i32) {
    let alternate = libc::stack_t {
        ss_sp: stack,
        ss_flags: flags,
        ss_size: BYTES,
    };
    // SAFETY: a plain system call with a structure that lives long enough.
    unsafe { libc::sigaltstack(&alternate, std::ptr::null_mut()) };
}
