//! Errors end the program with one message; what rank 0 alone prints.

use std::{
    collections::BTreeSet,
    ffi::{CStr, c_char, c_int, c_void},
    io::Write,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed},
    },
};

use okl_job::{
    end::{self, Speaker},
    report,
};

/// Where the program is, if it has just called one of OP2's functions and the compiler plugin has told where.
static PLACE: AtomicPtr<c_char> = AtomicPtr::new(std::ptr::null_mut());

/// The program calls one of OP2's functions at `place`, or, where that is null, has done so.
///
/// # Safety
/// It is null or a string that stays.
pub(crate) unsafe fn okl_op2_at(place: *mut c_void) {
    PLACE.store(place.cast(), Relaxed);
}

/// Where that is, as [`okl_op2_at`] has it.
pub(crate) fn called_at() -> *mut c_char {
    PLACE.load(Relaxed)
}

/// As long as it is there messages are about a call at another place.
pub(crate) struct At(*mut c_char);

/// See [`At`].
pub(crate) fn at(place: *mut c_char) -> At {
    At(PLACE.swap(place, Relaxed))
}

impl Drop for At {
    fn drop(&mut self) {
        PLACE.store(self.0, Relaxed);
    }
}

/// The place of the call that is being made, for the beginning of a message about it.
pub(crate) fn place() -> String {
    // SAFETY: null, or a string that stays.
    match unsafe { text(PLACE.load(Relaxed)) } {
        "" => String::new(),
        place => format!("{place}: "),
    }
}

/// What messages that end the program begin with.
fn introduction() -> String {
    // What the program printed before comes first.
    // SAFETY: flushes all streams of the C library.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    place()
}

/// Ends the program, on all ranks, with `message`.
pub(crate) fn fatal(message: &str) -> ! {
    end::introduce(introduction);
    end::fatal(message, Speaker::Program)
}

/// Tells what is not as the user may expect of the call that is being made, and what all ranks know.
pub(crate) fn warn(message: &str) {
    warn_of_program(&format!("{}{message}", place()));
}

/// The same of the whole program.
pub(crate) fn warn_of_program(message: &str) {
    if is_root() {
        report::say(&format!("warning: {message}"));
    }
}

/// The same, the first time only.
pub(crate) fn warn_once(message: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut told = TOLD.lock().expect("no panic while it is locked");
    if told.insert(message.to_owned()) {
        warn(message);
    }
}

/// A name that the program gave; "" for none.
///
/// # Safety
/// `text` is null or a string that stays as it is.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().unwrap_or("(not UTF-8)")
}

/// Whether this process prints.
#[unsafe(no_mangle)]
pub extern "C" fn op_is_root() -> c_int {
    c_int::from(is_root())
}

/// This process is rank 0, or alone.
static IS_ROOT: AtomicBool = AtomicBool::new(true);

fn is_root() -> bool {
    IS_ROOT.load(Relaxed)
}

/// Prints what rank 0 has to say, through the C library, so that it stays in order with the program's own.
pub(crate) fn print(line: &str) {
    if !is_root() {
        return;
    }
    let mut bytes = line.as_bytes().to_vec();
    bytes.push(b'\n');
    // SAFETY: `printf` writes that many bytes of a live buffer.
    unsafe { libc::printf(c"%.*s".as_ptr(), bytes.len() as c_int, bytes.as_ptr()) };
}

/// What `op_printf` goes on with: Rust defines no variadic functions, but passes their arguments on
/// untouched.
static PRINTF: AtomicPtr<c_void> = AtomicPtr::new(libc::printf as *const () as *mut c_void);

/// What it goes on with on the other ranks.
extern "C" fn nothing() {}

/// The rank is known now.
pub(crate) fn start(is_root: bool) {
    end::introduce(introduction);
    IS_ROOT.store(is_root, Relaxed);
    if !is_root {
        PRINTF.store(nothing as *const () as *mut c_void, Relaxed);
    }
}

/// `printf` on rank 0.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub extern "C" fn op_printf() {
    std::arch::naked_asm!("jmp qword ptr [rip + {printf}]", printf = sym PRINTF)
}

/// Prints a line on rank 0.
///
/// # Safety
/// `line` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_print(line: *const c_char) {
    // SAFETY: the caller's promise.
    print(unsafe { text(line) });
}

/// A value has not the type whose name the program gives.
///
/// # Safety
/// All are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn okl_op2_wrong_type(
    function: *const c_char,
    type_name: *const c_char,
    name: *const c_char,
) -> ! {
    // SAFETY: the caller's promise.
    let (function, type_name, name) = unsafe { (text(function), text(type_name), text(name)) };
    let named = match name {
        "" => String::new(),
        name => format!(" {name}"),
    };
    fatal(&format!(
        "{function}{named}: the data are not of the type \"{type_name}\""
    ))
}

/// Writes `bytes` to the new file `path`, on rank 0.
pub(crate) fn write_file(function: &str, path: &str, bytes: &[u8]) {
    if !is_root() {
        return;
    }
    let written = std::fs::File::create(path).and_then(|mut file| file.write_all(bytes));
    if let Err(error) = written {
        fatal(&format!("{function}: {path}: {error}"));
    }
}
