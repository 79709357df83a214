//! Cancellation (OpenMP 5.2, section 11.5), where `OMP_CANCELLATION` activates it.
//!
//! A word on rank 0 names the interval between two barriers in which a loop or `sections` construct was
//! cancelled, so nothing has to be reset; another says that the region was. A cancelled region's
//! threads meet at its end, from wherever they learn of it: a cancellation point or a barrier.

use std::ffi::c_void;

use crate::{
    cell::ProgramCell,
    control_area::{CANCELLED_REGION as REGION, CANCELLED_WORKSHARING as WORKSHARING},
    control_words::{exchange_word, load_word},
    team,
};

/// `kmp_int32 cncl_kind` of the entry points.
const PARALLEL: i32 = 1;
const LOOP: i32 = 2;
const SECTIONS: i32 = 3;
const TASKGROUP: i32 = 4;

/// The number of the current interval between barriers, equal on all ranks of a team.
static INTERVAL: ProgramCell<u64> = ProgramCell::new(1);

fn interval() -> u64 {
    INTERVAL.with(|interval| *interval)
}

/// Rank 0, before a fork: nothing is cancelled.
pub(crate) fn restart() {
    for word in [REGION, WORKSHARING] {
        set(word, 0);
    }
}

/// Every rank, at a fork.
pub(crate) fn enter_region() {
    INTERVAL.with(|interval| *interval = 1);
}

/// Every rank of the team, after a barrier.
pub(crate) fn pass_barrier() {
    INTERVAL.with(|interval| *interval += 1);
}

/// Whether the user activated cancellation.
pub(crate) fn is_active() -> bool {
    team::icv(|icv| icv.cancellation != 0)
}

/// Whether the threads of the running region should go to its end.
pub(crate) fn region_is_cancelled() -> bool {
    is_active() && team::is_parallel() && load_word(REGION) != 0
}

fn set(word: usize, value: u64) {
    let mut old = load_word(word);
    loop {
        let seen = exchange_word(word, old, value);
        if seen == old {
            return;
        }
        old = seen;
    }
}

fn is_cancelled(kind: i32) -> bool {
    if !team::is_parallel() {
        return false;
    }
    match kind {
        PARALLEL => load_word(REGION) != 0,
        LOOP | SECTIONS => load_word(REGION) != 0 || load_word(WORKSHARING) == interval(),
        _ => false,
    }
}

/// `__kmpc_cancel`: 1 where the thread must leave the construct. A cancelled task ends; the tasks of
/// its group have run already.
pub(crate) fn okl_mpi_kmpc_cancel(_ident: *mut c_void, _gtid: i32, kind: i32) -> i32 {
    if !is_active() {
        return 0;
    }
    if team::is_parallel() {
        match kind {
            PARALLEL => set(REGION, 1),
            LOOP | SECTIONS => set(WORKSHARING, interval()),
            TASKGROUP => {}
            _ => unreachable!("the compiler cancels construct {kind}"),
        }
    }
    1
}

/// `__kmpc_cancellationpoint`.
pub(crate) fn okl_mpi_kmpc_cancellationpoint(_ident: *mut c_void, _gtid: i32, kind: i32) -> i32 {
    i32::from(is_active() && is_cancelled(kind))
}

/// `omp_get_cancellation`.
pub(crate) fn okl_mpi_omp_get_cancellation() -> i32 {
    i32::from(is_active())
}
