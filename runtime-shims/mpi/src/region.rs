//! The region that the calling thread runs, as messages name it.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use crate::report;

/// Twice the distributed regions so far; one more where this rank has run one by itself since.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Every rank, at the fork of a region: counts it.
pub(crate) fn count() {
    NUMBER.store((NUMBER.load(Relaxed) | 1) + 1, Relaxed);
}

/// On rank 0, where other ranks have no part in a region.
pub(crate) fn count_own() {
    NUMBER.fetch_or(1, Relaxed);
}

/// Stands for the region that runs: the same on all ranks that have a part in it, and more than of those before, but where
/// rank 0 runs several by itself.
pub(crate) fn number() -> u64 {
    NUMBER.load(Relaxed)
}

thread_local! {
    static LOCATION: Cell<Option<&'static str>> = const { Cell::new(None) };
    static DISTRIBUTED: Cell<bool> = const { Cell::new(false) };
}

/// Notes where the innermost team was entered, as far as that is known.
pub(crate) fn set_location(location: Option<&'static str>) {
    LOCATION.set(location);
}

/// Notes whether the thread runs a distributed region.
pub(crate) fn set_distributed(distributed: bool) {
    DISTRIBUTED.set(distributed);
}

/// Whether a distributed region is running.
#[inline]
pub(crate) fn is_distributed() -> bool {
    DISTRIBUTED.get()
}

/// Where the innermost distributed region was entered.
pub(crate) fn location() -> &'static str {
    LOCATION.get().unwrap_or("serial code")
}

/// The innermost distributed region, as a phrase for messages.
pub(crate) fn name() -> String {
    match LOCATION.get() {
        Some(location) => format!("the parallel region {}", report::at(location)),
        None => "serial code".to_owned(),
    }
}

thread_local! {
    /// What the calling thread has spent in the region's body with what is none of the program's.
    static BESIDE_BODY: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    /// What it has spent with page faults.
    static FAULTS: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Runs what the ranks do in the body of a region to share memory.
pub(crate) fn beside_body<R>(body: impl FnOnce() -> R) -> R {
    let begun = Instant::now();
    let result = body();
    BESIDE_BODY.set(BESIDE_BODY.get() + begun.elapsed());
    result
}

/// How long that took the calling thread since it last asked.
pub(crate) fn take_beside_body() -> Duration {
    BESIDE_BODY.take()
}

/// Serves a page fault, in the body of a region or in serial code.
pub(crate) fn in_fault<R>(body: impl FnOnce() -> R) -> R {
    let begun = Instant::now();
    let result = body();
    let took = begun.elapsed();
    BESIDE_BODY.set(BESIDE_BODY.get() + took);
    FAULTS.set(FAULTS.get() + took);
    result
}

/// How long faults took the calling thread since it last asked.
pub(crate) fn take_faults() -> Duration {
    FAULTS.take()
}
