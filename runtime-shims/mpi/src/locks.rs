//! Critical sections, locks and function-local statics.
//!
//! A lock is a word in rank 0's control area (`lock_table`), found by the address the program knows it by:
//! the ranks agree on addresses, and a named critical section's variable has one address for all source
//! files. Releasing a lock sends what its holder wrote to the pages' homes, acquiring it drops the copies of
//! what others have sent so: what it protects travels with it.
//!
//! The word is the rank's, whose threads take the lock in turn: one that gives it back leaves it to another one that waits
//! for it, so that it stays in the rank, but not for ever. What it protects is there then.

use std::{
    collections::{HashMap, HashSet},
    ffi::c_void,
};

use crate::{
    alone::at_once,
    cell::ProgramCell,
    console,
    control_area::LOCK_BYTES,
    control_area::LOCKS,
    control_area::LOCKS_IN_CHANGE,
    control_area::MOST_LOCKS,
    control_words::{Patience, exchange_word, load_word},
    lock_table::LockTable,
    lock_table::Words,
    lock_table::free,
    lock_table::held,
    lock_table::is_of,
    memory::coherence,
    mpi_job, observe,
    observe::Event,
    observe::Place,
    region, report, stats, team, turns,
};

/// Known slots, where each lock that this rank uses is in it, and the guards of the function-local statics that it knows
/// to be initialised.
#[derive(Default)]
struct Known {
    slots: HashMap<u64, usize>,
    here: HashMap<u64, Here>,
    statics: HashSet<u64>,
}

/// A lock in this rank.
#[derive(Default)]
struct Here {
    /// The thread that has it, or asks other ranks for it.
    thread: Option<usize>,
    /// Others that wait for it.
    waiting: u32,
    /// The rank has it.
    is_held: bool,
    /// How often threads have left it to each other since.
    passed: u32,
    /// How often the thread holds a nest lock.
    depth: i32,
}

/// A rank that others may wait for does not keep a lock for longer.
const MOST_PASSED: u32 = 64;

static KNOWN: ProgramCell<Option<Known>> = ProgramCell::new(None);

fn known<R>(body: impl FnOnce(&mut Known) -> R) -> R {
    KNOWN.with(|known| body(known.get_or_insert_default()))
}

/// The table in rank 0's control area.
struct OnRankZero;

impl Words for OnRankZero {
    fn exchange(&self, slot: usize, expected: u64, desired: u64) -> u64 {
        exchange_word(LOCKS + slot * LOCK_BYTES, expected, desired)
    }

    fn load(&self, slot: usize) -> u64 {
        load_word(LOCKS + slot * LOCK_BYTES)
    }

    fn exclusively<R>(&self, body: impl FnOnce() -> R) -> R {
        let patience = Patience::new();
        while exchange_word(LOCKS_IN_CHANGE, 0, 1) != 0 {
            patience.wait();
        }
        let result = body();
        exchange_word(LOCKS_IN_CHANGE, 1, 0);
        result
    }
}

fn table() -> LockTable<OnRankZero> {
    LockTable::new(OnRankZero, MOST_LOCKS)
}

/// The slot of the lock `key`, as far as this rank knows.
fn slot_of(key: u64) -> usize {
    if let Some(slot) = known(|known| known.slots.get(&key).copied()) {
        return slot;
    }
    let slot = table().slot_of(key).unwrap_or_else(|| {
        report::fatal(&format!(
            "more than {MOST_LOCKS} locks exist at the same time: destroy those that are no longer needed"
        ))
    });
    known(|known| {
        // Those of locks that another rank has destroyed would stay for ever.
        if known.slots.len() >= MOST_LOCKS {
            known.slots.clear();
        }
        known.slots.insert(key, slot)
    });
    slot
}

/// Exchanges what the slot of the lock `key` holds; what it was.
fn exchange(key: u64, expected: u64, desired: u64) -> u64 {
    loop {
        let old = OnRankZero.exchange(slot_of(key), expected, desired);
        if is_of(old, key) {
            return old;
        }
        // Another rank has destroyed the lock and made a new one.
        known(|known| known.slots.remove(&key));
    }
}

/// What the calling thread tried.
#[derive(PartialEq)]
enum Tried {
    Taken,
    Held,
    /// By the thread itself.
    HeldHere,
}

/// Looks at a lock in this rank.
fn here<R>(key: u64, body: impl FnOnce(&mut Here) -> R) -> R {
    known(|known| body(known.here.entry(key).or_default()))
}

/// Takes the lock from the other threads of this rank, if none has it; then [`try_lock_of_ranks`] is to follow.
fn try_lock_here(key: u64) -> Tried {
    let me = turns::index();
    here(key, |here| match here.thread {
        None => {
            here.thread = Some(me);
            Tried::Taken
        }
        Some(thread) if thread == me => Tried::HeldHere,
        Some(_) => Tried::Held,
    })
}

fn give_back_here(key: u64) {
    known(|known| {
        let waiting = known.here.get_mut(&key).map(|here| {
            here.thread = None;
            here.waiting
        });
        if waiting == Some(0) {
            known.here.remove(&key);
        }
    });
}

/// Takes the lock for this rank, if it is free or the rank has kept it.
fn try_lock_of_ranks(key: u64) -> Tried {
    if here(key, |here| here.is_held) {
        return Tried::Taken;
    }
    let own = held(key, mpi_job::rank());
    match exchange(key, free(key), own) {
        old if old == own => Tried::HeldHere,
        old if old != free(key) => Tried::Held,
        _ => {
            here(key, |here| (here.is_held, here.passed) = (true, 0));
            if region::is_distributed() {
                coherence(|coherence| coherence.acquire());
                stats::count(|counts| counts.locks += 1);
            }
            Tried::Taken
        }
    }
}

/// Whether the lock was free and is now the calling thread's.
fn try_lock(key: u64) -> bool {
    if try_lock_here(key) != Tried::Taken {
        return false;
    }
    let is_taken = try_lock_of_ranks(key) == Tried::Taken;
    if !is_taken {
        give_back_here(key);
    }
    is_taken
}

/// Tries again and again.
fn insist(mut attempt: impl FnMut() -> Tried) {
    let patience = Patience::new();
    let mut waiting = None;
    loop {
        match attempt() {
            Tried::Taken => return,
            Tried::Held => {}
            Tried::HeldHere => report::fatal(
                "a thread waits for a lock that it holds itself: a deadlock in the program",
            ),
        }
        waiting.get_or_insert_with(|| observe::span(|| Event::Waiting));
        patience.wait();
    }
}

/// Acquires a lock for the construct that `ident` describes, if one does.
fn lock(key: u64, ident: *mut c_void) {
    let _span = observe::span(|| Event::lock(key, Place::of_construct(ident)));
    // Whoever holds it may wait for what this rank has collected.
    coherence(|coherence| coherence.combine());
    if !region::is_distributed() {
        at_once::count_access();
    }
    here(key, |here| here.waiting += 1);
    region::beside_body(|| insist(|| try_lock_here(key)));
    here(key, |here| here.waiting -= 1);
    region::beside_body(|| insist(|| try_lock_of_ranks(key)));
}

fn unlock(key: u64) {
    let stays = here(key, |here| {
        let stays = here.waiting > 0 && here.passed < MOST_PASSED;
        here.passed += 1;
        here.is_held = stays;
        if stays {
            here.thread = None;
        }
        stays
    });
    if stays {
        return;
    }
    if region::is_distributed() {
        console::flush();
        coherence(|coherence| coherence.release_in_order());
    }
    exchange(key, held(key, mpi_job::rank()), free(key));
    give_back_here(key);
}

/// Whether the caller is not alone: code that is runs without exclusion.
fn has_company() -> bool {
    region::is_distributed() || turns::are_several()
}

/// `__kmpc_critical`.
pub(crate) fn okl_mpi_kmpc_critical(ident: *mut c_void, _gtid: i32, name: *mut c_void) {
    if has_company() {
        lock(name as u64, ident);
    }
}

/// `__kmpc_critical_with_hint`.
pub(crate) fn okl_mpi_kmpc_critical_with_hint(
    ident: *mut c_void,
    gtid: i32,
    name: *mut c_void,
    _hint: i32,
) {
    okl_mpi_kmpc_critical(ident, gtid, name);
}

/// `__kmpc_end_critical`.
pub(crate) fn okl_mpi_kmpc_end_critical(_ident: *mut c_void, _gtid: i32, name: *mut c_void) {
    if has_company() {
        unlock(name as u64);
    }
}

/// `__kmpc_critical` of a section that only updates objects, so that the updates may come apart: nobody else
/// in its region could tell. Where its region is nested in another one, that one could.
pub(crate) fn okl_mpi_critical_updates(ident: *mut c_void, gtid: i32, name: *mut c_void) {
    if team::level() > 1 {
        okl_mpi_kmpc_critical(ident, gtid, name);
    }
}

/// The end of such a section.
pub(crate) fn okl_mpi_end_critical_updates(ident: *mut c_void, gtid: i32, name: *mut c_void) {
    if team::level() > 1 {
        okl_mpi_kmpc_end_critical(ident, gtid, name);
    }
}

/// `omp_init_lock`.
pub(crate) fn okl_mpi_omp_init_lock(lock: *mut c_void) {
    let key = lock as u64;
    let mut old = free(key);
    loop {
        let was = exchange(key, old, free(key));
        if was == old {
            break;
        }
        old = was;
    }
    known(|known| known.here.remove(&key));
}

/// `omp_init_lock_with_hint`.
pub(crate) fn okl_mpi_omp_init_lock_with_hint(lock: *mut c_void, _hint: i32) {
    okl_mpi_omp_init_lock(lock);
}

/// `omp_destroy_lock`.
pub(crate) fn okl_mpi_omp_destroy_lock(lock: *mut c_void) {
    let key = lock as u64;
    table().give_back(key);
    known(|known| {
        known.slots.remove(&key);
        known.here.remove(&key);
    });
}

/// `omp_set_lock`.
pub(crate) fn okl_mpi_omp_set_lock(key: *mut c_void) {
    lock(key as u64, std::ptr::null_mut());
}

/// `omp_unset_lock`.
pub(crate) fn okl_mpi_omp_unset_lock(key: *mut c_void) {
    unlock(key as u64);
}

/// `omp_test_lock`.
pub(crate) fn okl_mpi_omp_test_lock(key: *mut c_void) -> i32 {
    i32::from(try_lock(key as u64))
}

/// `omp_init_nest_lock`.
pub(crate) fn okl_mpi_omp_init_nest_lock(lock: *mut c_void) {
    okl_mpi_omp_init_lock(lock);
}

/// `omp_init_nest_lock_with_hint`.
pub(crate) fn okl_mpi_omp_init_nest_lock_with_hint(lock: *mut c_void, _hint: i32) {
    okl_mpi_omp_init_nest_lock(lock);
}

/// `omp_destroy_nest_lock`.
pub(crate) fn okl_mpi_omp_destroy_nest_lock(lock: *mut c_void) {
    okl_mpi_omp_destroy_lock(lock);
}

/// How often the calling thread holds the nest lock `key`.
fn depth(key: u64) -> i32 {
    let me = turns::index();
    here(key, |here| match here.thread {
        Some(thread) if thread == me => here.depth,
        _ => 0,
    })
}

fn set_depth(key: u64, depth: i32) {
    here(key, |here| here.depth = depth);
}

/// `omp_set_nest_lock`.
pub(crate) fn okl_mpi_omp_set_nest_lock(key: *mut c_void) {
    let key = key as u64;
    let held = depth(key);
    if held == 0 {
        lock(key, std::ptr::null_mut());
    }
    set_depth(key, held + 1);
}

/// `omp_unset_nest_lock`.
pub(crate) fn okl_mpi_omp_unset_nest_lock(key: *mut c_void) {
    let key = key as u64;
    let held = depth(key);
    set_depth(key, held - 1);
    if held == 1 {
        unlock(key);
    }
}

/// `omp_test_nest_lock`: the new nesting count, 0 where the lock is another thread's.
pub(crate) fn okl_mpi_omp_test_nest_lock(key: *mut c_void) -> i32 {
    let key = key as u64;
    let held = depth(key);
    if held == 0 && !try_lock(key) {
        return 0;
    }
    set_depth(key, held + 1);
    held + 1
}

/// The byte of a guard that the program looks at before it calls: not 0 once the static is initialised
/// and every rank sees that (Itanium C++ ABI, section 3.3.3).
const GUARD_SEEN_BY_ALL: usize = 0;
/// The byte of a guard that says, under its lock, that the static is initialised. The C++ library leaves
/// it alone.
const GUARD_INITIALISED: usize = 4;

fn guard_byte(guard: *mut c_void, index: usize) -> *mut u8 {
    // SAFETY: a guard has 8 bytes.
    unsafe { guard.cast::<u8>().add(index) }
}

/// `__cxa_guard_acquire`: 1 where the caller must initialise the function-local static.
///
/// The program's own look at the guard takes no lock, so it must not see a static that another rank has
/// initialised since the last barrier: that rank's other writes are not here yet. Within a region each
/// rank asks once under the lock.
pub(crate) fn okl_mpi_guard_acquire(guard: *mut c_void) -> i32 {
    let has_company = has_company();
    if has_company {
        if known(|known| known.statics.contains(&(guard as u64))) {
            return 0;
        }
        lock(guard as u64, std::ptr::null_mut());
    }
    // SAFETY: the guard variable of the caller's static.
    let done = unsafe {
        guard_byte(guard, GUARD_SEEN_BY_ALL).read_volatile() != 0
            || guard_byte(guard, GUARD_INITIALISED).read_volatile() != 0
    };
    if done {
        note_initialised(guard);
        if has_company {
            unlock(guard as u64);
        }
    }
    i32::from(!done)
}

/// `__cxa_guard_release`: the static is initialised.
pub(crate) fn okl_mpi_guard_release(guard: *mut c_void) {
    // SAFETY: as above.
    unsafe { guard_byte(guard, GUARD_INITIALISED).write_volatile(1) };
    note_initialised(guard);
    if has_company() {
        unlock(guard as u64);
    }
}

/// Remembers an initialised static. What serial code writes all ranks see before they go on.
fn note_initialised(guard: *mut c_void) {
    if region::is_distributed() {
        known(|known| known.statics.insert(guard as u64));
    } else {
        // SAFETY: as above.
        unsafe { guard_byte(guard, GUARD_SEEN_BY_ALL).write_volatile(1) };
    }
}

/// `__cxa_guard_abort`: initialising it threw.
pub(crate) fn okl_mpi_guard_abort(guard: *mut c_void) {
    if has_company() {
        unlock(guard as u64);
    }
}
