//! Page faults of the program: the moment at which a copy is fetched or a write is noticed.
//!
//! The handler runs on a stack of its own, on the thread that caused the fault, the program's or a library's. It never
//! runs inside the runtime: runtime code touches shared memory in the runtime's view only.

use std::{
    cell::Cell,
    ffi::c_void,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{
    alternate_stack, interpose::mapping, interpose::signals, interpose::threads, layout,
    memory::coherence, mpi_job, observe, observe::Event, program, program_graph, program_stacks,
    region, report, symbolise, turns,
};
use okl_coherence::Violation;

/// How often in a row a thread may fault at an address although its page is open and stays as it is.
const MOST_REPETITIONS: u32 = 1000;

thread_local! {
    /// The address whose fault is being served, for the message about a fault inside that.
    static SERVING: Cell<usize> = const { Cell::new(0) };
    /// The last address whose fault another thread had served, the number of changes of protection by
    /// then, and how often in a row both were the same.
    static REPEATED: Cell<(usize, u64, u32)> = const { Cell::new((0, 0, 0)) };
}

/// Installs the handler for the calling thread, the program's.
pub(crate) fn install() {
    alternate_stack::install();
    program::note_thread();
    // SAFETY: plain system calls with structures that live long enough.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        // NODEFER: a fault inside the handler is a message, not a silent death.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        // A handler of the program's may fault itself, but not inside this one.
        action.sa_mask = signals::all_but_page_faults();
        libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

unsafe extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid structures; errno belongs to the interrupted code.
    let (address, program_counter, write, errno) = unsafe {
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let address = (*info).si_addr() as usize;
        let program_counter = registers[libc::REG_RIP as usize] as usize;
        // Bit 1 of the page-fault error code: the access was a write.
        let write = registers[libc::REG_ERR as usize] & 2 != 0;
        (address, program_counter, write, *libc::__errno_location())
    };
    let outer = SERVING.replace(address.max(1));
    // SAFETY: asks for the calling thread's number.
    let thread = unsafe { libc::gettid() };
    if outer != 0 {
        die(
            address,
            program_counter,
            "touched inside the runtime's fault handler",
        );
    }
    if let Some(overflow) = program_stacks::overflow_at(address) {
        let line = line_of(program_counter);
        report::fatal(&format!("stack overflow {line}: {overflow}"));
    }
    if signal == libc::SIGBUS {
        die(
            address,
            program_counter,
            "cannot be given memory: the node is out of memory",
        );
    }
    if thread != program::thread() && !turns::is_other() && !threads::is_foreign() {
        die(
            address,
            program_counter,
            "touched by a thread that is not the program's",
        );
    }
    let Some(page) = layout::get().and_then(|layout| layout.page_of(address)) else {
        die(
            address,
            program_counter,
            if write { "written" } else { "read" },
        );
    };
    let event = Event::Fault {
        address,
        code: program_counter,
        write,
    };
    let served = region::in_fault(|| {
        turns::alone(|| {
            observe::during(
                || event,
                || coherence(|coherence| coherence.fault(page, write)),
            )
        })
    });
    let are_several = turns::are_several() || turns::has_foreign();
    match served {
        Ok(()) => {}
        // Another thread of the rank was faster.
        Err(Violation::Unexplained) if are_several && may_repeat(address) => {}
        Err(Violation::PrivateWrite) => die(address, program_counter, "written by another rank"),
        Err(Violation::Undeclared) => die(
            address,
            program_counter,
            "written although okl took it for unwritten (an error in okl: please report it)",
        ),
        Err(Violation::Unexplained) => {
            die(address, program_counter, "touched against its protection")
        }
    }
    SERVING.set(0);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Whether an access may be tried again after a fault that its page's protection does not explain: another
/// thread has changed that meanwhile. Not for ever where nothing changes.
fn may_repeat(address: usize) -> bool {
    let changes = turns::alone(|| coherence(|coherence| coherence.counts.protections));
    let (last, last_changes, times) = REPEATED.get();
    let is_same = (address, changes) == (last, last_changes);
    let times = if is_same { times + 1 } else { 1 };
    REPEATED.set((address, changes, times));
    times < MOST_REPETITIONS
}

fn line_of(program_counter: usize) -> String {
    // Where memory is so damaged that the look-up faults, too, that one tells what it can.
    static LOOKED_UP: AtomicBool = AtomicBool::new(false);
    let place = match LOOKED_UP.swap(true, Relaxed) {
        false => symbolise::location_of(program_counter),
        true => None,
    };
    report::at(&place.unwrap_or_else(|| format!("{program_counter:#x}")))
}

/// Ends the job with the address, what was done to it, and the source line.
fn die(address: usize, program_counter: usize, what: &str) -> ! {
    let line = line_of(program_counter);
    let object = match layout::get() {
        Some(layout) if layout.page_of(address).is_some() => program_graph::object_at(address),
        _ if mpi_job::rank() != 0 || region::is_distributed() => mapping::not_shared_at(address).unwrap_or_else(|| {
            "memory that the ranks do not share: a null or stray pointer, or one into a library's own memory".into()
        }),
        _ => "no memory of the program: a null or stray pointer".into(),
    };
    report::fatal(&format!(
        "segmentation fault {line}: address {address:#x} ({object}) was {what}"
    ))
}
