//! What the program does to `SIGSEGV`, by which pages are watched.
//!
//! Guarantee: a fault that is none of ours is handled as the program wants it. The signal is never blocked; what the program
//! asks of its handler is kept and told, while ours stays.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::next::Next;

type Action = libc::sigaction;
type Set = libc::sigset_t;

static SIGACTION: Next = Next::new(c"sigaction");
static SIGNAL: Next = Next::new(c"signal");
static SIGPROCMASK: Next = Next::new(c"sigprocmask");
static PTHREAD_SIGMASK: Next = Next::new(c"pthread_sigmask");

/// Whether our handler is there.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// The program's action, once ours is there.
static PROGRAMS: Mutex<Option<Action>> = Mutex::new(None);

fn programs<R>(body: impl FnOnce(&mut Option<Action>) -> R) -> R {
    body(&mut PROGRAMS.lock().unwrap_or_else(|broken| broken.into_inner()))
}

/// # Safety
/// As for `sigaction`.
unsafe fn next_sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;
    // SAFETY: the C library's function has this signature.
    let next = unsafe { std::mem::transmute::<*mut c_void, Function>(SIGACTION.address()) };
    // SAFETY: the caller's promise.
    unsafe { next(signal, new, old) }
}

/// A handler as the system calls it.
pub type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Has `handler` be called at each fault of the process, on the stack that the program has for signals.
pub fn install(handler: Handler) {
    if IS_OURS.swap(true, Relaxed) {
        return;
    }
    // SAFETY: structures of our own.
    unsafe {
        let mut action: Action = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        // The program's own handler may touch memory that is watched.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        let mut old: Action = std::mem::zeroed();
        next_sigaction(libc::SIGSEGV, &action, &mut old);
        programs(|programs| *programs = Some(old));
        let mut set: Set = std::mem::zeroed();
        libc::sigaddset(&mut set, libc::SIGSEGV);
        set_mask(&PTHREAD_SIGMASK, libc::SIG_UNBLOCK, &set, ptr::null_mut());
    }
}

/// A signal that is none of ours goes to the program.
///
/// # Safety
/// The arguments are those of our handler.
pub unsafe fn hand_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let action = programs(|programs| {
        let action = *programs;
        if let Some(kept) = programs
            && kept.sa_flags & libc::SA_RESETHAND != 0
        {
            kept.sa_sigaction = libc::SIG_DFL;
        }
        action
    });
    let handler = action.map_or(libc::SIG_DFL, |action| action.sa_sigaction);
    let flags = action.map_or(0, |action| action.sa_flags);
    // SAFETY: handlers of the program, as it has said; or the system's way, which is taken when the fault comes again.
    unsafe {
        match handler {
            libc::SIG_DFL | libc::SIG_IGN => {
                let is_sent = (*info).si_code <= 0;
                if is_sent && handler == libc::SIG_IGN {
                    return;
                }
                let mut default: Action = std::mem::zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                next_sigaction(signal, &default, ptr::null_mut());
                if is_sent {
                    libc::raise(signal);
                }
            }
            _ if flags & libc::SA_SIGINFO != 0 => {
                std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
            }
            _ => std::mem::transmute::<usize, unsafe extern "C" fn(c_int)>(handler)(signal),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: what the caller passes to `sigaction` may be read and written.
    unsafe {
        let mut wanted = (!new.is_null()).then(|| *new);
        if let Some(wanted) = &mut wanted {
            libc::sigdelset(&mut wanted.sa_mask, libc::SIGSEGV);
        }
        if signal == libc::SIGSEGV && IS_OURS.load(Relaxed) {
            programs(|programs| {
                if !old.is_null() {
                    *old = programs.unwrap_or(std::mem::zeroed());
                }
                if wanted.is_some() {
                    *programs = wanted;
                }
            });
            return 0;
        }
        next_sigaction(
            signal,
            wanted.as_ref().map_or(ptr::null(), ptr::from_ref),
            old,
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    if signal != libc::SIGSEGV || !IS_OURS.load(Relaxed) {
        type Function = unsafe extern "C" fn(c_int, usize) -> usize;
        // SAFETY: the C library's function has this signature, and the caller's promises are the same.
        return unsafe {
            std::mem::transmute::<*mut c_void, Function>(SIGNAL.address())(signal, handler)
        };
    }
    // SAFETY: structures of our own.
    unsafe {
        let mut new: Action = std::mem::zeroed();
        let mut old: Action = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        match sigaction(signal, &new, &mut old) {
            0 => old.sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}

/// Calls `next` with a mask that lets faults through.
///
/// # Safety
/// As for `sigprocmask`.
unsafe fn set_mask(next: &Next, how: c_int, set: *const Set, old: *mut Set) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *const Set, *mut Set) -> c_int;
    // SAFETY: the C library's functions have this signature; the system gets a copy of what the caller passes.
    unsafe {
        let next = std::mem::transmute::<*mut c_void, Function>(next.address());
        let mut wanted = (!set.is_null()).then(|| *set);
        if let Some(wanted) = &mut wanted
            && how != libc::SIG_UNBLOCK
        {
            libc::sigdelset(wanted, libc::SIGSEGV);
        }
        next(how, wanted.as_ref().map_or(ptr::null(), ptr::from_ref), old)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigprocmask(how: c_int, set: *const Set, old: *mut Set) -> c_int {
    // SAFETY: the caller's promises are the same.
    unsafe { set_mask(&SIGPROCMASK, how, set, old) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const Set, old: *mut Set) -> c_int {
    // SAFETY: the caller's promises are the same.
    unsafe { set_mask(&PTHREAD_SIGMASK, how, set, old) }
}
