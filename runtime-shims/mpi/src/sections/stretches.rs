//! Code that declares nothing in a region that declares all else, and nests that mark what they write.
//!
//! Guarantee: where a rank has several threads, no thread begins such code while another one is in a nest that marks, nor
//! copies what that may write: what it has written and not marked yet nobody would know of.

use std::{
    cell::Cell,
    ffi::c_void,
    sync::atomic::{
        AtomicU32,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use okl_abi::{SectionTable, Stretch, section_access};
use okl_coherence::geometry::declaration::entry_list;

use super::{DECLARING, HAD_STRETCH, IN_STRETCH, REGIONS, has_stretches};
use crate::{meanwhile, memory::coherence, program_stacks, settings::settings, summaries, turns};

/// So many threads of the rank are in code that declares nothing.
static INSIDE: AtomicU32 = AtomicU32::new(0);

/// So many threads of the rank may be in nests that mark what they write: what one of them has written and not marked yet
/// nobody knows of, so that such code, and what would be copied there, waits for their ends.
static MARKING: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The region in which the calling thread is in such code.
    static INSIDE_IN: Cell<u64> = const { Cell::new(0) };
    /// The region in which it may be in such a nest.
    static MARKING_IN: Cell<u64> = const { Cell::new(0) };
}

/// Where the rank enters a region: nobody is in any.
pub(super) fn begin_region() {
    INSIDE.store(0, Relaxed);
    MARKING.store(0, Relaxed);
}

/// The calling thread goes into a nest that marks what it writes.
pub(super) fn enter_nest() {
    MARKING_IN.set(REGIONS.load(Relaxed));
    MARKING.fetch_add(1, Relaxed);
}

/// [`crate::threads::okl_mpi_undeclared`], but that nobody is told who waits to declare. `wait_until` waits for what
/// [`leave_nest`] tells.
pub(crate) fn change_stretch(
    now: i32,
    stretch: *mut c_void,
    wait_until: impl Fn(&dyn Fn() -> bool),
) -> i32 {
    if !DECLARING.load(Relaxed) {
        return 0;
    }
    const ASKS: i32 = 2;
    let begins = now != 0;
    let region = REGIONS.load(Relaxed);
    let before = INSIDE_IN.get() == region;
    if now == ASKS || before == begins {
        return before.into();
    }
    // SAFETY: null, or a descriptor that the pass emitted, which is decided on when its region is entered.
    if begins && unsafe { stretch.cast::<Stretch>().as_ref() }.is_some_and(summaries::is_known) {
        return before.into();
    }
    INSIDE_IN.set(if begins { region } else { 0 });
    if begins {
        when_nobody_marks(wait_until, || {
            INSIDE.fetch_add(1, Relaxed);
            begin_stretch(stretch as u64);
        });
        return before.into();
    }
    turns::alone(|| {
        // The protocol runs on this rank's stack.
        program_stacks::make_next_frames_writable();
        INSIDE.fetch_sub(1, Relaxed);
        if !turns::are_several() {
            end_stretch();
        }
    });
    before.into()
}

/// Runs `body`, which begins a stretch, [`turns::alone`] and when no other thread of the rank is in a nest that marks what it
/// writes. Such nests end whatever other threads do, and the caller is in none.
fn when_nobody_marks(wait_until: impl Fn(&dyn Fn() -> bool), body: impl Fn()) {
    let run = || {
        let may_begin = nobody_marks();
        if may_begin {
            // The protocol runs on this rank's stack.
            program_stacks::make_next_frames_writable();
            body();
        }
        may_begin
    };
    while !turns::alone(run) {
        wait_until(&nobody_marks);
    }
}

/// The calling thread has entered the run time, or is at a meeting: it is in no nest that marks what it writes, since these
/// call nothing.
#[inline]
pub(crate) fn leave_nest() {
    if MARKING.load(Relaxed) != 0 {
        note_end_of_nest();
    }
}

#[cold]
fn note_end_of_nest() {
    let region = REGIONS.load(Relaxed);
    if MARKING_IN.get() == region {
        MARKING_IN.set(0);
        // Who finds none also finds what this one has marked.
        MARKING.fetch_sub(1, Release);
        meanwhile::tell();
    }
}

/// Whether no thread of the rank may be in a nest that marks what it writes; the caller is in none.
pub(crate) fn nobody_marks() -> bool {
    MARKING.load(Acquire) == 0
}

/// Whether a declaration is taken for code that declares nothing: its nest marks what it writes, and may not do so before it
/// calls something. While it ran, stretches of other threads could not begin.
pub(crate) fn needs_stretch(table: *mut c_void) -> bool {
    // SAFETY: the pass emits the table.
    let table = unsafe { &*table.cast::<SectionTable>() };
    turns::are_several()
        && has_stretches()
        && entry_list(table).iter().any(|entry| {
            let marks = section_access::MARKED | section_access::COUNTED;
            entry.access & marks == section_access::MARKED
        })
}

/// Begins a stretch in place of the declaration.
pub(crate) fn begin_stretch_for(table: *mut c_void, wait_until: impl Fn(&dyn Fn() -> bool)) {
    when_nobody_marks(wait_until, || begin_stretch(table as u64));
}

/// From here on the rank runs code that declares nothing. `place` stands for it.
fn begin_stretch(place: u64) {
    if IN_STRETCH.load(Relaxed) {
        return;
    }
    match settings().verify {
        true => HAD_STRETCH.store(true, Relaxed),
        false => coherence(|coherence| coherence.begin_stretch(place)),
    }
    // Pages are closed before another thread goes on without a declaration.
    IN_STRETCH.store(true, Release);
}

fn end_stretch() {
    if IN_STRETCH.swap(false, Relaxed) && !settings().verify {
        coherence(|coherence| coherence.end_stretch());
    }
}

/// On the rank's first thread, where all its threads have met: the rank declares again, unless one of them has come here
/// from code that declares nothing.
pub(crate) fn threads_have_met() {
    if INSIDE.load(Relaxed) == 0 {
        end_stretch();
    }
}
