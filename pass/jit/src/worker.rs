//! Makes code in a process of its own, for what LLVM cannot do in a program that goes on: `libokl_jit.so`, which lies beside it,
//! starts it, and has the function that does it. It reads its standard input, and writes to its output.

use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

/// Opens a library, which stays.
fn open(file: Vec<u8>) -> Option<*mut c_void> {
    let file = CString::new(file).ok()?;
    // SAFETY: a name that lives through the call.
    let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    (!library.is_null()).then_some(library)
}

/// Whether something was made.
fn works() -> Option<bool> {
    // The LLVM of the process that has started this one.
    open(std::env::args_os().nth(1)?.into_vec())?;
    let own = std::env::current_exe()
        .ok()?
        .with_file_name("libokl_jit.so");
    let library = open(own.as_os_str().as_bytes().to_vec())?;
    // SAFETY: the library is open; the version of the function's type is in its name.
    unsafe {
        let name: *const c_char = c"okl_jit_work_v1".as_ptr();
        let function = libc::dlsym(library, name);
        (!function.is_null()).then(|| {
            let work =
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(function);
            work() != 0
        })
    }
}

fn main() -> ExitCode {
    match works() {
        Some(true) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
