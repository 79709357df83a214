//! What the run time for devices asks of this one, where kernels run what a rank has of a region.
//!
//! Guarantee: an object that ranks share is in the range that is said to be around its addresses. Kernels get copies of it, which
//! the other library makes by loads of the program's memory; what they changed it stores there. To the protocol both are accesses
//! of the program's code.

use std::{
    ffi::{c_int, c_void},
    sync::{
        Mutex,
        atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed},
    },
};

use okl_abi::devices::{Around, ForDevices, around};
use okl_coherence::PAGE;

use crate::{
    heap::MOST_SMALL, layout, memory, mpi_job, objects, plain, program, program_graph,
    program_stacks, report, scopes, sections, turns,
};

static TABLE: ForDevices = ForDevices {
    rank,
    around: around_address,
    bring,
    private,
    begin,
    fatal,
};

/// See [`okl_abi::devices`].
#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
extern "C" fn __okl_mpi_for_devices_v1() -> *const ForDevices {
    &TABLE
}

extern "C" fn rank() -> i64 {
    match plain::is_plain() {
        true => -1,
        false => mpi_job::rank().into(),
    }
}

/// Where rank 0's frames of serial code end while a region runs; 0: it is not known.
static SERIAL_FRAME: AtomicUsize = AtomicUsize::new(0);

/// While regions run serial code has frames from here on, on rank 0.
pub(crate) fn serial_frames_begin_at(frame: usize) {
    SERIAL_FRAME.store(frame, Relaxed);
}

extern "C" fn around_address(address: usize, frame: usize) -> Around {
    sections::leave_nest();
    scopes::private(|| turns::alone(|| find(address, frame)))
}

const OTHER: Around = Around {
    what: around::OTHER,
    start: 0,
    end: 0,
};

fn shared(start: usize, end: usize) -> Around {
    Around {
        what: around::SHARED,
        start,
        end,
    }
}

const UNKNOWN: Around = Around {
    what: around::UNKNOWN,
    ..OTHER
};

fn find(address: usize, frame: usize) -> Around {
    let Some(layout) = layout::get() else {
        return OTHER;
    };
    // The end of an object is an address of it, and may be one of the next.
    if let Some((start, end)) = variable(address) {
        return shared(start, end);
    }
    let Some(segment) = layout
        .segments()
        .find(|one| (one.address..one.end()).contains(&address))
    else {
        return OTHER;
    };
    let stack = layout.stack();
    if segment == stack {
        let begins = SERIAL_FRAME.load(Relaxed);
        return match (begins..stack.end()).contains(&address) && begins >= stack.address {
            true => shared(begins, stack.end()),
            false => UNKNOWN,
        };
    }
    if segment == layout.private_area(mpi_job::rank()) {
        let top = program_stacks::region_stack_top();
        return match (frame..top).contains(&address) {
            true => shared(frame, top),
            false => UNKNOWN,
        };
    }
    if !layout::is_arena_address(address) {
        return UNKNOWN;
    }
    if let Some((start, end)) = large_block(address) {
        return shared(start, end);
    }
    // In or behind a small block, of which all is so near.
    let start = address.saturating_sub(MOST_SMALL).max(segment.address);
    shared(start, (address + MOST_SMALL).min(segment.end()))
}

/// The variable at an address, with the one that ends there.
fn variable(address: usize) -> Option<(usize, usize)> {
    let at = |address| {
        let (start, length) = program_graph::global_extent(address)?;
        Some((start, start + length))
    };
    let before = at(address - 1).filter(|(_, end)| *end == address);
    match (before, at(address)) {
        (Some((start, _)), Some((own, end))) if own == address => Some((start, end)),
        (before, found) => found.or(before),
    }
}

/// The large block of the heap at an address, or that ends there, or in whose page in front it is.
fn large_block(address: usize) -> Option<(usize, usize)> {
    [address, address - 1, address + PAGE]
        .into_iter()
        .find_map(|one| {
            let own = program::heap(|heap| heap.large_at(one));
            own.or_else(|| objects::large_at(one))
        })
}

extern "C" fn bring(start: usize, bytes: usize) {
    sections::leave_nest();
    if bytes > 0 {
        scopes::private(|| turns::alone(|| memory::make_readable(start, bytes)));
    }
}

extern "C" fn private(begins: c_int) {
    match begins {
        0 => scopes::end_private(),
        _ => scopes::begin_private(),
    }
}

type Told = extern "C" fn(*const c_void, usize);
type End = extern "C" fn(Told);

/// What is called as the job ends; null: this rank has no device.
static END: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

extern "C" fn begin(end: End) {
    END.store(end as *mut (), Relaxed);
}

/// Whether this rank works with a device.
pub(crate) fn is_used() -> bool {
    !END.load(Relaxed).is_null()
}

extern "C" fn fatal(message: *const c_void, bytes: usize) -> ! {
    // SAFETY: so many bytes of the other library's.
    let message = unsafe { std::slice::from_raw_parts(message.cast::<u8>(), bytes) };
    report::fatal(&String::from_utf8_lossy(message))
}

/// What the other library has told.
static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

extern "C" fn told(text: *const c_void, bytes: usize) {
    // SAFETY: so many bytes of the other library's.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), bytes) };
    let mut all = TEXT.lock().expect("a panic ends the job");
    all.extend_from_slice(text);
}

/// The job ends: what kernels cost on each rank, which rank 0 prints. Collective.
pub(crate) fn end() {
    scopes::private(|| {
        let end = END.load(Relaxed);
        if !end.is_null() {
            // SAFETY: `begin` stored a function.
            let end = unsafe { std::mem::transmute::<*mut (), End>(end) };
            end(told);
        }
        let own = std::mem::take(&mut *TEXT.lock().expect("a panic ends the job"));
        if mpi_job::rank() != 0 {
            return mpi_job::send(&own, 0);
        }
        let mut all = own;
        for rank in 1..mpi_job::ranks() {
            all.extend(mpi_job::receive(rank));
        }
        if !all.is_empty() {
            okl_job::report::write_all(2, &all);
        }
    });
}
