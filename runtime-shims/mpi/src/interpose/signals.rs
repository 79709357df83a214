//! Signal handlers of the program.
//!
//! Guarantee: a handler runs between two steps of program code, never inside the runtime or a library
//! under it, where a page of shared memory could not be served. It runs on the stack of the page-fault
//! handler, which the kernel can always write, and nothing the program does to signals keeps page faults
//! from being served. No signal makes the program lose output.
//!
//! Calls from elsewhere than program code go to the C library as they are.

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use crate::{next::Next, process, program, scopes, sections};

type Action = libc::sigaction;
type Set = libc::sigset_t;
type SetAction = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;
type SetMask = unsafe extern "C" fn(c_int, *const Set, *mut Set) -> c_int;
type SetHandler = unsafe extern "C" fn(c_int, usize) -> usize;
type SetStack = unsafe extern "C" fn(*const libc::stack_t, *mut libc::stack_t) -> c_int;
type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

static SIGACTION: Next = Next::new("sigaction\0");
static SIGNAL: Next = Next::new("signal\0");
static SIGPROCMASK: Next = Next::new("sigprocmask\0");
static PTHREAD_SIGMASK: Next = Next::new("pthread_sigmask\0");
static SIGALTSTACK: Next = Next::new("sigaltstack\0");

/// Signals are numbered from 1 to 64.
const SIGNALS: usize = 65;
/// The program's handlers, by signal.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];
/// Whether the program has set up a handler.
pub(crate) fn handles_any() -> bool {
    HANDLERS
        .iter()
        .any(|handler| !matches!(handler.load(Relaxed), libc::SIG_DFL | libc::SIG_IGN))
}

/// Signals that came while the runtime was busy: bit `n - 1` for signal `n`.
static PENDING: AtomicU64 = AtomicU64::new(0);

/// Looks up the real functions.
pub(super) fn resolve() {
    for next in [
        &SIGACTION,
        &SIGNAL,
        &SIGPROCMASK,
        &PTHREAD_SIGMASK,
        &SIGALTSTACK,
    ] {
        next.find();
    }
    find_write();
}

/// The code of the C library's `write`: its first byte, and the one after its last.
static WRITE: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn find_write() {
    const SYMBOL: c_int = 1;
    // SAFETY: looks up a function of the C library, which is there, and its entry in the table of symbols. (The next
    // library's may be another one that calls it.)
    unsafe {
        let library = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return;
        }
        let start = libc::dlsym(library, c"write".as_ptr());
        let mut info: libc::Dl_info = std::mem::zeroed();
        let mut symbol: *mut libc::Elf64_Sym = ptr::null_mut();
        let symbol_place = (&raw mut symbol).cast();
        if dladdr1(start, &mut info, symbol_place, SYMBOL) != 0 && !symbol.is_null() {
            WRITE[0].store(start as usize, Relaxed);
            WRITE[1].store(start as usize + (*symbol).st_size as usize, Relaxed);
        }
    }
}

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
}

/// Starts the interrupted code's write to a standard output again if the signal made it fail. Launchers
/// of MPI programs put a terminal in the place of the standard output, and unlike a file or a pipe with
/// room a terminal fails when a signal comes: `printf` would lose its text.
///
/// # Safety
/// `context` is what a signal handler got.
unsafe fn write_again(context: *mut c_void) {
    const INSTRUCTION: [u8; 2] = [0x0f, 0x05];
    // SAFETY: the caller's promise. Behind an instruction of `write` there are two bytes to look at.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let next = registers[libc::REG_RIP as usize] as usize;
        let code = WRITE[0].load(Relaxed) + INSTRUCTION.len()..WRITE[1].load(Relaxed);
        if registers[libc::REG_RAX as usize] == -i64::from(libc::EINTR)
            && matches!(registers[libc::REG_RDI as usize], 1 | 2)
            && code.contains(&next)
            && *((next - INSTRUCTION.len()) as *const [u8; 2]) == INSTRUCTION
        {
            registers[libc::REG_RAX as usize] = libc::SYS_write;
            registers[libc::REG_RIP as usize] -= INSTRUCTION.len() as i64;
        }
    }
}

/// The signals by which the runtime serves page faults.
fn is_page_fault(signal: c_int) -> bool {
    matches!(signal, libc::SIGSEGV | libc::SIGBUS)
}

/// All signals that the runtime's fault handler may be shielded from.
pub(crate) fn all_but_page_faults() -> Set {
    // SAFETY: fills a set of our own.
    unsafe {
        let mut set: Set = std::mem::zeroed();
        libc::sigfillset(&mut set);
        without_page_faults(set)
    }
}

fn without_page_faults(mut set: Set) -> Set {
    // SAFETY: changes a set of our own.
    unsafe {
        libc::sigdelset(&mut set, libc::SIGSEGV);
        libc::sigdelset(&mut set, libc::SIGBUS);
    }
    set
}

/// Delivers what came while the runtime was busy. Called when it no longer is.
#[cold]
fn deliver_pending() {
    if sections::handlers_wait() {
        return;
    }
    // Before they are taken: what comes in between is not forgotten.
    scopes::call_no_longer();
    let pending = PENDING.swap(0, Relaxed);
    for signal in (1..SIGNALS as c_int).filter(|signal| pending >> (signal - 1) & 1 != 0) {
        send_to_program(signal);
    }
}

/// Sends the program's thread a signal whose handler is installed.
fn send_to_program(signal: c_int) {
    // SAFETY: plain system calls; `errno` belongs to the interrupted code.
    unsafe {
        let errno = *libc::__errno_location();
        libc::syscall(
            libc::SYS_tgkill,
            process::own().0,
            program::thread(),
            signal,
        );
        *libc::__errno_location() = errno;
    }
}

/// Stands in for all of the program's handlers.
unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes it.
    unsafe { write_again(context) };
    // The kernel gives a signal for the process to any thread: MPI has some.
    // SAFETY: asks for the calling thread's number.
    if unsafe { libc::gettid() } != program::thread() {
        send_to_program(signal);
        return;
    }
    // A region that declares all it accesses knows nothing of a handler's accesses.
    let can_wait = !matches!(
        signal,
        libc::SIGFPE | libc::SIGILL | libc::SIGTRAP | libc::SIGSYS | libc::SIGBUS | libc::SIGSEGV
    );
    if scopes::is_in_runtime() || sections::handlers_wait() && can_wait {
        PENDING.fetch_or(1 << (signal - 1), Relaxed);
        scopes::call_soon(deliver_pending);
        return;
    }
    // A handler may touch anything.
    sections::okl_mpi_serial_code();
    let handler = HANDLERS[signal as usize].load(Relaxed);
    // SAFETY: a handler of the program; one of the old kind takes the first argument only. `errno` belongs
    // to the interrupted code.
    unsafe {
        let errno = *libc::__errno_location();
        std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
        *libc::__errno_location() = errno;
    }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: the C library's function has this signature.
    let next = unsafe { std::mem::transmute::<*mut c_void, SetAction>(SIGACTION.address()) };
    if !program::allocates_shared() || !(1..SIGNALS as c_int).contains(&signal) {
        // SAFETY: the caller's promises are the same.
        return unsafe { next(signal, new, old) };
    }
    let handler = &HANDLERS[signal as usize];
    let known = handler.load(Relaxed);
    // SAFETY: what the caller passes to `sigaction` may be read and written; the kernel gets copies.
    unsafe {
        let mut before: Action = std::mem::zeroed();
        let wanted = (!new.is_null()).then(|| *new);
        if is_page_fault(signal) {
            // Such a signal is the runtime's: what it cannot serve is an error that it reports.
            before.sa_sigaction = known;
            if let Some(wanted) = wanted {
                handler.store(wanted.sa_sigaction, Relaxed);
            }
        } else {
            let ours = wanted.map(|mut action| {
                if !matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
                    // Before the kernel may deliver one.
                    handler.store(action.sa_sigaction, Relaxed);
                    action.sa_sigaction = on_signal as *const () as usize;
                    action.sa_flags |= libc::SA_SIGINFO | libc::SA_ONSTACK;
                }
                action.sa_mask = without_page_faults(action.sa_mask);
                action
            });
            let status = next(
                signal,
                ours.as_ref().map_or(ptr::null(), ptr::from_ref),
                &mut before,
            );
            if status != 0 {
                handler.store(known, Relaxed);
                return status;
            }
            if before.sa_sigaction == on_signal as *const () as usize {
                before.sa_sigaction = known;
            }
        }
        if !old.is_null() {
            *old = before;
        }
    }
    0
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    if !program::allocates_shared() {
        // SAFETY: the C library's function has this signature, and the caller's promises are the same.
        return unsafe {
            std::mem::transmute::<*mut c_void, SetHandler>(SIGNAL.address())(signal, handler)
        };
    }
    // SAFETY: structures of our own; the signal itself is blocked in its handler, as BSD does it.
    unsafe {
        let mut new: Action = std::mem::zeroed();
        let mut old: Action = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        libc::sigaddset(&mut new.sa_mask, signal);
        if sigaction(signal, &new, &mut old) == 0 {
            old.sa_sigaction
        } else {
            libc::SIG_ERR
        }
    }
}

/// Calls `next` with a mask that lets page faults through.
///
/// # Safety
/// As for `sigprocmask`.
unsafe fn set_mask(next: &Next, how: c_int, set: *const Set, old: *mut Set) -> c_int {
    // SAFETY: the C library's functions have this signature.
    let next = unsafe { std::mem::transmute::<*mut c_void, SetMask>(next.address()) };
    if !program::allocates_shared() {
        // SAFETY: the caller's promises are the same.
        return unsafe { next(how, set, old) };
    }
    // SAFETY: what the caller passes may be read and written; the kernel gets copies.
    unsafe {
        let new = (!set.is_null()).then(|| match how {
            libc::SIG_UNBLOCK => *set,
            _ => without_page_faults(*set),
        });
        let mut before: Set = std::mem::zeroed();
        let new = new.as_ref().map_or(ptr::null(), ptr::from_ref);
        let status = next(how, new, &mut before);
        if status == 0 && !old.is_null() {
            *old = before;
        }
        status
    }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn sigprocmask(how: c_int, set: *const Set, old: *mut Set) -> c_int {
    // SAFETY: the caller's promises are the same.
    unsafe { set_mask(&SIGPROCMASK, how, set, old) }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const Set, old: *mut Set) -> c_int {
    // SAFETY: the caller's promises are the same.
    unsafe { set_mask(&PTHREAD_SIGMASK, how, set, old) }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn sigaltstack(new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
    // SAFETY: the C library's function has this signature.
    let next = unsafe { std::mem::transmute::<*mut c_void, SetStack>(SIGALTSTACK.address()) };
    if !program::allocates_shared() {
        // SAFETY: the caller's promises are the same.
        return unsafe { next(new, old) };
    }
    // All handlers have a stack of the runtime's.
    if !old.is_null() {
        // SAFETY: the caller's variable.
        unsafe {
            old.write(libc::stack_t {
                ss_sp: ptr::null_mut(),
                ss_flags: libc::SS_DISABLE,
                ss_size: 0,
            });
        }
    }
    0
}
