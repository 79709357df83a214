//! `libokl_jit.so`: the pass and LLVM in a program that compiles embedded code once more. The run time opens it when it first
//! needs it, for itself alone: the program does not see LLVM.

mod statics;

use std::ffi::{c_char, c_void};
use std::panic::catch_unwind;
use std::sync::Once;

use okl_abi::jit::{JitAnswer, JitRequest};
use okl_pass::version::{Request, Version, make};

#[link(name = "LLVM-22")]
unsafe extern "C" {
    fn LLVMGetVersion(major: *mut u32, minor: *mut u32, patch: *mut u32);
}

/// What LLVM makes stays, and what its templates have in this file.
fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for of in [LLVMGetVersion as *const c_void, keep as *const c_void] {
            // SAFETY: functions of files that nobody closes.
            unsafe { statics::stay(of) };
        }
    });
}

/// Answers a request: see [`JitAnswer`].
///
/// # Safety
/// The request's arrays have the lengths it says, and hold what a `JitCode` of the program has; the answer has room for its
/// message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn okl_jit_compile_v1(request: *const JitRequest, answer: *mut JitAnswer) {
    // SAFETY: the caller's promise.
    let (request, answer) = unsafe { (&*request, &mut *answer) };
    keep();
    // SAFETY: the caller's promises.
    let request = unsafe {
        let values = slice(request.values.cast(), request.value_count);
        let count: i64 = values
            .iter()
            .map(|one: &okl_abi::jit::JitValue| one.size)
            .sum();
        Request {
            bitcode: slice(request.bitcode.cast(), request.length),
            addresses: slice(request.addresses.cast(), request.address_count),
            values,
            bytes: slice(request.bytes.cast(), count),
            flags: request.flags,
            receiver: request.receiver.addr() as u64,
            unwanted: request.unwanted,
            unread: request.unread,
            vector_bits: request.vector_bits,
        }
    };
    let made = catch_unwind(|| make(&request));
    let made = made.unwrap_or_else(|_| Err("an internal error".to_string()));
    let (version, message) = match made {
        Ok(version) => (version, String::new()),
        Err(why) => {
            let entry = std::ptr::null_mut();
            let nanoseconds = [0; 2];
            (Version { entry, nanoseconds }, why)
        }
    };
    answer.entry = version.entry;
    let [simplify, generate] = version.nanoseconds.map(|one| one as i64);
    (answer.simplify, answer.generate) = (simplify, generate);
    let room = answer.room as usize;
    if room > 0 {
        let text = message.as_bytes();
        let length = text.len().min(room - 1);
        // SAFETY: there is room for the text and its end.
        unsafe {
            let to = answer.message.cast::<c_char>();
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), to, length);
            to.add(length).write(0);
        }
    }
}

/// # Safety
/// There are so many, if any.
unsafe fn slice<'a, T>(first: *const T, count: i64) -> &'a [T] {
    match count {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(first, count as usize) },
    }
}
