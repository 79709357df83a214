//! Page faults of the program: the moment at which data come back from the device, or a write is noticed.
//!
//! The handler runs on the thread that caused the fault. Drivers are called on a stack of ours, as the program's for signals
//! may be small; a thread that works with the device never faults, as it accesses memory of the program's in the library's view
//! only, or what is not watched.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

use crate::arrays;
use crate::interpose::signals;
use crate::program;

/// How often in a row an address may fault that nothing of ours protects any more: another thread was faster.
const MOST_REPETITIONS: u64 = 1000;

/// Bytes of the stack on which drivers run.
const STACK: usize = 1 << 20;

/// `siginfo_t::si_code`: the page is there, and does not allow the access.
const SEGV_ACCERR: c_int = 2;

/// The end of the stack, which one fault has at a time.
static TOP: OnceLock<usize> = OnceLock::new();
static ONE: Mutex<()> = Mutex::new(());

/// Has faults be served from now on, where memory is watched.
pub fn install() {
    if program::make_arena().is_none() {
        return;
    }
    TOP.get_or_init(|| {
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: new memory.
        let stack = unsafe { libc::mmap(ptr::null_mut(), STACK, protection, flags, -1, 0) };
        if stack == libc::MAP_FAILED {
            program::fatal("no memory for the stack on which page faults are served");
        }
        stack.expose_provenance() + STACK
    });
    arrays::find();
    signals::install(on_fault);
}

struct Fault {
    address: usize,
    writes: bool,
    served: bool,
}

unsafe extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes valid structures; `errno` is the interrupted code's.
    unsafe {
        let errno = *libc::__errno_location();
        let address = (*info).si_addr().addr();
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        // Bit 1 of the page-fault error code: the access was a write.
        let writes = registers[libc::REG_ERR as usize] & 2 != 0;
        let may_be_ours = (*info).si_code == SEGV_ACCERR
            && (program::arena_of(address).is_some() || arrays::contains(address))
            && !program::is_busy();
        if may_be_ours && is_served(address, writes) {
            *libc::__errno_location() = errno;
            return;
        }
        signals::hand_on(signal, info, context);
    }
}

fn is_served(address: usize, writes: bool) -> bool {
    let mut fault = Fault {
        address,
        writes,
        served: false,
    };
    {
        let _one = ONE.lock().unwrap_or_else(|broken| broken.into_inner());
        let top = *TOP.get().expect("the handler is there");
        // SAFETY: the stack is aligned, large enough and nobody else's meanwhile; the function does not unwind.
        unsafe { on_stack(top, serve, (&raw mut fault).cast()) };
    }
    fault.served || may_repeat(address)
}

extern "C" fn serve(fault: *mut c_void) {
    // SAFETY: what `is_served` passes.
    let fault = unsafe { &mut *fault.cast::<Fault>() };
    fault.served = program::touch(fault.address, fault.writes);
}

/// # Safety
/// `top` is the end of a stack that is aligned and large enough.
unsafe fn on_stack(top: usize, function: extern "C" fn(*mut c_void), argument: *mut c_void) {
    // SAFETY: r12 is kept by the callee, and holds our stack meanwhile.
    unsafe {
        std::arch::asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {function}",
            "mov rsp, r12",
            top = in(reg) top,
            function = in(reg) function,
            in("rdi") argument,
            out("r12") _,
            clobber_abi("C"),
        );
    }
}

/// Whether an access may be tried again whose page nothing of ours protects: another thread has changed that meanwhile. Not
/// for ever.
fn may_repeat(address: usize) -> bool {
    static LAST: AtomicU64 = AtomicU64::new(0);
    static TIMES: AtomicU64 = AtomicU64::new(0);
    let is_same = LAST.swap(address as u64, Relaxed) == address as u64;
    let times = if is_same { TIMES.load(Relaxed) + 1 } else { 1 };
    TIMES.store(times, Relaxed);
    times < MOST_REPETITIONS
}
