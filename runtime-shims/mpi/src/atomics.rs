//! Atomic accesses: carried out at the home of the page, in its memory or by a request to its rank.
//!
//! Guarantee: all ranks see one order of the operations on a location. Before the operation this
//! rank's changes to the page go home; afterwards its own copy, if it has one, holds the new value.
//! Contributions, updates whose old value nobody needs, may wait until the rank synchronises: `coherence/collected.rs`.
//! In a team of one the program's own memory is used directly. An access orders nothing else: the pass
//! puts a release in front of it and an acquisition behind it where its memory order asks for them.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst},
};

use okl_abi::AtomicOp;

use crate::{
    alone::at_once, layout, locks, memory::coherence, mpi_job, region, report, service::Atomic,
    stats, verify,
};
use okl_coherence::{Object, PAGE, atomics_values::apply, atomics_values::commuting};

/// Where an atomic operation takes place.
pub(crate) enum Place {
    /// In the program's view: nobody else can see it now.
    Direct,
    /// At the page's home: offset in the memory file.
    Home {
        page: okl_coherence::Page,
        offset: usize,
    },
}

pub(crate) fn place_of(address: usize) -> Place {
    if !region::is_distributed() {
        return Place::Direct;
    }
    let layout = layout::layout();
    match layout.page_of(address) {
        None => Place::Direct,
        Some(page) if layout.is_private(page) => {
            if layout.first_home(page) == mpi_job::rank() {
                Place::Direct
            } else if coherence(|coherence| coherence.has_guest()) {
                Place::Home {
                    page,
                    offset: page as usize * PAGE + address % PAGE,
                }
            } else {
                report::fatal(&format!(
                    "an atomic operation on {address:#x}, which is {}",
                    layout.describe(address)
                ))
            }
        }
        Some(page) => Place::Home {
            page,
            offset: page as usize * PAGE + address % PAGE,
        },
    }
}

/// The bits of a value of `size` bytes.
pub(crate) fn mask(size: i32) -> u64 {
    u64::MAX >> (64 - 8 * size)
}

fn direct_exchange(address: usize, expected: u64, desired: u64, size: i32) -> u64 {
    macro_rules! exchange {
        ($atomic:ty, $value:ty) => {{
            // SAFETY: the program's own atomic object.
            let atomic = unsafe { &*(address as *const $atomic) };
            match atomic.compare_exchange(expected as $value, desired as $value, SeqCst, SeqCst) {
                Ok(old) | Err(old) => u64::from(old),
            }
        }};
    }
    match size {
        1 => exchange!(AtomicU8, u8),
        2 => exchange!(AtomicU16, u16),
        4 => exchange!(AtomicU32, u32),
        8 => exchange!(AtomicU64, u64),
        _ => panic!("an atomic of {size} bytes"),
    }
}

/// Loads in the program's view.
pub(crate) fn direct_load(address: usize, size: i32) -> u64 {
    macro_rules! load {
        ($atomic:ty) => {
            // SAFETY: the program's own atomic object; it may be readable only.
            u64::from(unsafe { &*(address as *const $atomic) }.load(SeqCst))
        };
    }
    match size {
        1 => load!(AtomicU8),
        2 => load!(AtomicU16),
        4 => load!(AtomicU32),
        8 => load!(AtomicU64),
        _ => panic!("an atomic of {size} bytes"),
    }
}

/// Stores in the program's view.
pub(crate) fn direct_store(address: usize, value: u64, size: i32) {
    macro_rules! store {
        ($atomic:ty, $value:ty) => {
            // SAFETY: the program's own atomic object.
            unsafe { &*(address as *const $atomic) }.store(value as $value, SeqCst)
        };
    }
    match size {
        1 => store!(AtomicU8, u8),
        2 => store!(AtomicU16, u16),
        4 => store!(AtomicU32, u32),
        8 => store!(AtomicU64, u64),
        _ => panic!("an atomic of {size} bytes"),
    }
}

/// Updates in the program's view, where the processor has an instruction for that. The old value.
#[inline]
fn direct_update(address: usize, operation: AtomicOp, value: u64, size: i32) -> Option<u64> {
    macro_rules! update {
        ($atomic:ty, $value:ty) => {{
            // SAFETY: the program's own atomic object.
            let atomic = unsafe { &*(address as *const $atomic) };
            let value = value as $value;
            let old = match operation {
                AtomicOp::Add => atomic.fetch_add(value, SeqCst),
                AtomicOp::Sub => atomic.fetch_sub(value, SeqCst),
                AtomicOp::Xchg => atomic.swap(value, SeqCst),
                _ => return None,
            };
            Some(u64::from(old))
        }};
    }
    match size {
        1 => update!(AtomicU8, u8),
        2 => update!(AtomicU16, u16),
        4 => update!(AtomicU32, u32),
        8 => update!(AtomicU64, u64),
        _ => None,
    }
}

/// The value that `operation` puts in place of `old`, if it does.
fn new_value(operation: Atomic, old: u64, size: i32) -> Option<u64> {
    match operation {
        Atomic::Load => None,
        Atomic::Exchange(expected, desired) => (old == expected).then_some(desired),
        Atomic::Update(operation, value) => Some(apply(operation, old, value, size)),
    }
}

/// Carries out `operation` on the object at `address`; the old value.
fn update(address: usize, size: i32, operation: Atomic) -> u64 {
    let new = |old| new_value(operation, old, size);
    match place_of(address) {
        Place::Direct => {
            at_once::count_access();
            if let Atomic::Update(operation, value) = operation
                && let Some(old) = direct_update(address, operation, value, size)
            {
                return old;
            }
            let mut old = direct_load(address, size);
            loop {
                let Some(value) = new(old) else { return old };
                let seen = direct_exchange(address, old, value & mask(size), size);
                if seen == old {
                    return old;
                }
                old = seen;
            }
        }
        Place::Home { page, offset } => {
            stats::count(|counts| counts.atomics += 1);
            let home = coherence(|coherence| coherence.holder(page, offset % PAGE, size as usize));
            let Some(home) = home else {
                return update_in_parts(address, size, new);
            };
            coherence(|coherence| {
                coherence.before_atomic(page);
                let old = coherence
                    .machine
                    .atomic(offset, size as u32, operation, home)
                    & mask(size);
                let value = new(old).map(|value| value & mask(size));
                let bytes = value.unwrap_or(old).to_le_bytes();
                let written = value.is_some_and(|value| value != old);
                if written {
                    verify::note_atomic(Object {
                        page,
                        offset: offset % PAGE,
                        size: size as usize,
                    });
                }
                coherence.after_atomic(page, offset % PAGE, &bytes[..size as usize], written);
                old
            })
        }
    }
}

/// The same for an object whose bytes several ranks hold.
fn update_in_parts(address: usize, size: i32, new: impl Fn(u64) -> Option<u64>) -> u64 {
    let object = address as *mut c_void;
    exclusively(object, || {
        let mut bytes = [0u8; 8];
        copy(object, bytes.as_mut_ptr().cast(), size.into());
        let old = u64::from_ne_bytes(bytes);
        if let Some(value) = new(old) {
            let mut bytes = value.to_ne_bytes();
            copy(bytes.as_mut_ptr().cast(), object, size.into());
        }
        old
    })
}

/// Atomic load.
pub(crate) fn okl_mpi_atomic_load(address: *mut c_void, size: i32) -> i64 {
    update(address as usize, size, Atomic::Load) as i64
}

/// Atomic store.
pub(crate) fn okl_mpi_atomic_store(address: *mut c_void, value: i64, size: i32) {
    let store = Atomic::Update(AtomicOp::Xchg, value as u64);
    update(address as usize, size, store);
}

/// `atomicrmw`; the old value.
pub(crate) fn okl_mpi_atomic_rmw(
    address: *mut c_void,
    operation: i32,
    value: i64,
    size: i32,
) -> i64 {
    let operation = AtomicOp::ALL[operation as usize];
    update(
        address as usize,
        size,
        Atomic::Update(operation, value as u64),
    ) as i64
}

/// `atomicrmw` whose old value nobody needs, and that orders nothing.
pub(crate) fn okl_mpi_atomic_update(address: *mut c_void, operation: i32, value: i64, size: i32) {
    let asked = AtomicOp::ALL[operation as usize];
    let bytes = size as usize;
    if let Place::Home { page, offset } = place_of(address as usize)
        && offset.is_multiple_of(bytes)
        && !layout::layout().is_private(page)
        && let Some((operation, value)) = commuting(asked, value as u64, size)
    {
        let object = Object {
            page,
            offset: offset % PAGE,
            size: bytes,
        };
        verify::note_atomic(object);
        if !coherence(|coherence| coherence.collect(object, operation, value)) {
            exclusively(address, || {
                coherence(|coherence| coherence.contribute_in_parts(object, operation, value));
            });
        }
        stats::count(|counts| counts.atomics += 1);
        return;
    }
    okl_mpi_atomic_rmw(address, operation, value, size);
}

/// `cmpxchg`; the old value.
pub(crate) fn okl_mpi_atomic_cmpxchg(
    address: *mut c_void,
    expected: i64,
    desired: i64,
    size: i32,
) -> i64 {
    let expected = expected as u64 & mask(size);
    let desired = desired as u64 & mask(size);
    update(address as usize, size, Atomic::Exchange(expected, desired)) as i64
}

/// What this rank wrote is at its home before an access that releases it.
pub(crate) fn okl_mpi_atomic_release() {
    if region::is_distributed() {
        coherence(|coherence| coherence.release_in_order());
    }
}

/// What others released before an access that acquires is read anew.
pub(crate) fn okl_mpi_atomic_acquire() {
    if region::is_distributed() {
        coherence(|coherence| coherence.acquire());
    }
}

/// Runs `body` on an object of any size with nobody else in between.
fn exclusively<R>(address: *mut c_void, body: impl FnOnce() -> R) -> R {
    let key = address;
    locks::okl_mpi_kmpc_critical(std::ptr::null_mut(), 0, key);
    let result = body();
    locks::okl_mpi_kmpc_end_critical(std::ptr::null_mut(), 0, key);
    result
}

fn copy(from: *mut c_void, to: *mut c_void, size: i64) {
    // SAFETY: objects of the program of `size` bytes, as `__atomic_*` demands.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), size as usize) };
}

/// `__atomic_load`.
pub(crate) fn okl_mpi_atomic_load_n(
    size: i64,
    address: *mut c_void,
    result: *mut c_void,
    _order: i32,
) {
    exclusively(address, || copy(address, result, size));
}

/// `__atomic_store`.
pub(crate) fn okl_mpi_atomic_store_n(
    size: i64,
    address: *mut c_void,
    value: *mut c_void,
    _order: i32,
) {
    exclusively(address, || copy(value, address, size));
}

/// `__atomic_exchange`.
pub(crate) fn okl_mpi_atomic_exchange_n(
    size: i64,
    address: *mut c_void,
    value: *mut c_void,
    result: *mut c_void,
    _order: i32,
) {
    exclusively(address, || {
        let mut new = vec![0u8; size as usize];
        copy(value, new.as_mut_ptr().cast(), size);
        copy(address, result, size);
        copy(new.as_mut_ptr().cast(), address, size);
    });
}

/// `__atomic_compare_exchange`: 1 where the exchange took place.
pub(crate) fn okl_mpi_atomic_compare_exchange_n(
    size: i64,
    address: *mut c_void,
    expected: *mut c_void,
    desired: *mut c_void,
    _success: i32,
    _failure: i32,
) -> i32 {
    exclusively(address, || {
        // SAFETY: objects of `size` bytes, as `__atomic_compare_exchange` demands.
        let equal = unsafe { libc::memcmp(address, expected, size as usize) } == 0;
        if equal {
            copy(desired, address, size);
        } else {
            copy(address, expected, size);
        }
        i32::from(equal)
    })
}
