//! `libokl_jit.so`: the pass and LLVM in a program that compiles embedded code once more. The run time opens it when it first
//! needs it, for itself alone: the program does not see LLVM.

mod statics;

use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::time::Duration;

use okl_abi::jit::{JitAnswer, JitRequest, code_flags};
use okl_pass::version::{Made, Request, employ, llvm_file, make, make_apart, work};

#[link(name = "LLVM-22")]
unsafe extern "C" {
    fn LLVMGetVersion(major: *mut u32, minor: *mut u32, patch: *mut u32);
}

/// Those of devices are made known where the first version for one is made.
macro_rules! targets {
    ($($name:ident)*) => {
        #[link(name = "LLVM-22")]
        unsafe extern "C" { $(fn $name();)* }
        fn know_devices() {
            // SAFETY: that may be done any number of times.
            unsafe { $($name();)* }
        }
    };
}

targets! {
    LLVMInitializeNVPTXTargetInfo LLVMInitializeNVPTXTarget LLVMInitializeNVPTXTargetMC LLVMInitializeNVPTXAsmPrinter
    LLVMInitializeSPIRVTargetInfo LLVMInitializeSPIRVTarget LLVMInitializeSPIRVTargetMC LLVMInitializeSPIRVAsmPrinter
    LLVMInitializeAMDGPUTargetInfo LLVMInitializeAMDGPUTarget LLVMInitializeAMDGPUTargetMC LLVMInitializeAMDGPUAsmPrinter
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
pub unsafe extern "C" fn okl_jit_compile_v3(request: *const JitRequest, answer: *mut JitAnswer) {
    // SAFETY: the caller's promise.
    let (request, answer) = unsafe { (&*request, &mut *answer) };
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
    let made = match Turn::take() {
        Some(_turn) => {
            keep();
            if request.flags & code_flags::DEVICE != 0 {
                know_devices();
                find_worker();
            }
            catch_unwind(|| make(&request)).unwrap_or_else(|_| Err("an internal error".to_string()))
        }
        None => Err("the process was forked while code was being compiled".to_string()),
    };
    answer.object = std::ptr::null_mut();
    answer.entry = std::ptr::null_mut();
    let mut message = String::new();
    match made {
        Ok(version) => {
            let [simplify, generate] = version.nanoseconds.map(|one| one as i64);
            (answer.simplify, answer.generate) = (simplify, generate);
            match version.made {
                Made::Linked(entry) => answer.entry = entry,
                Made::Object {
                    bytes,
                    names,
                    receiver,
                } => {
                    let names = names
                        .iter()
                        .flat_map(|one| [one.as_bytes(), b"\0"].concat());
                    let told = Told {
                        object: bytes,
                        names: names.collect(),
                        llvm: llvm_file().unwrap_or_default(),
                    };
                    tell(answer, told, receiver);
                }
            }
        }
        Err(why) => message = why,
    }
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

/// Has a program that lies beside this library make what LLVM is not to make in this process.
fn find_worker() {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address of this library's, whose file's name stays.
    let own = unsafe {
        if libc::dladdr(find_worker as *const c_void, found.as_mut_ptr()) == 0 {
            return;
        }
        CStr::from_ptr(found.assume_init().dli_fname)
    };
    let own = Path::new(OsStr::from_bytes(own.to_bytes()));
    let own = own.canonicalize().unwrap_or_else(|_| own.to_owned());
    let worker = own.with_file_name("okl-jit-worker").into_os_string();
    if let (Ok(worker), Some(llvm)) = (CString::new(worker.into_vec()), llvm_file()) {
        employ(worker, llvm);
    }
}

/// What the worker does: 1 where it has made something.
#[unsafe(no_mangle)]
pub extern "C" fn okl_jit_work_v1() -> c_int {
    know_devices();
    c_int::from(work(make_apart))
}

/// LLVM is used by one thread at a time, and not where it was in use when the process was forked: its locks are held there, and
/// nobody gives them back.
struct Turn;

/// The process whose thread uses it, or 0.
static USED: AtomicU32 = AtomicU32::new(0);

impl Turn {
    fn take() -> Option<Self> {
        let process = std::process::id();
        loop {
            match USED.compare_exchange(0, process, Acquire, Relaxed) {
                Ok(_) => return Some(Self),
                Err(user) if user != process => return None,
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        USED.store(0, Release);
    }
}

/// What an answer points to.
#[derive(Default)]
struct Told {
    object: Vec<u8>,
    names: Vec<u8>,
    llvm: CString,
}

thread_local! {
    /// It is there until the thread asks again.
    static LAST: RefCell<Told> = RefCell::default();
}

fn tell(answer: &mut JitAnswer, told: Told, receiver: Option<usize>) {
    LAST.with_borrow_mut(|last| {
        *last = told;
        answer.object = last.object.as_mut_ptr().cast();
        answer.object_length = last.object.len() as i64;
        answer.names = last.names.as_mut_ptr().cast();
        answer.llvm = last.llvm.as_ptr().cast_mut().cast();
    });
    answer.receiver = receiver.map_or(-1, |at| at as i64);
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
