//! Regions whose atomic accesses follow on each other too fast for ranks ([`AT_ONCE`](okl_abi::region_flags::AT_ONCE)): rank 0
//! runs them by itself, on as many threads as the team has on the ranks, which share memory by hardware.
//!
//! Guarantee: the team is as large as on the ranks, and its threads run at the same time. On one machine the ranks' processors
//! are lent meanwhile, so nothing is lost. On several a region is tried on the ranks once it turned out to compute for long
//! between two accesses, and stays where it took less time.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use super::is_to_run_here;
use crate::{cell::ProgramCell, scopes};

/// About what an atomic access takes in the memory of another machine, and a lock at least.
const FAR: Duration = Duration::from_micros(50);

/// What rank 0 remembers of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    /// It runs here.
    #[default]
    Here,
    /// It is to run on the ranks, after it took so long here.
    Tried(Duration),
    Settled {
        here: bool,
    },
}

impl Known {
    fn is_here(self) -> bool {
        match self {
            Self::Here => true,
            Self::Tried(_) => false,
            Self::Settled { here } => here,
        }
    }

    /// It took so long here, with so many accesses, and has `threads` threads on so many machines.
    fn learn_here(&mut self, took: Duration, accesses: u64, threads: u32, machines: u32) {
        if *self != Self::Here || machines < 2 {
            return;
        }
        let each = accesses / u64::from(threads.max(1));
        let waiting = FAR.saturating_mul(each.min(u32::MAX.into()) as u32);
        if 2 * (took / machines + waiting) < took {
            *self = Self::Tried(took);
        }
    }

    fn learn_on_ranks(&mut self, took: Duration) {
        if let Self::Tried(here) = *self {
            *self = Self::Settled { here: here < took };
        }
    }
}

/// By the address of the region's descriptor; and how many regions have been decided on.
static KNOWN: ProgramCell<Option<HashMap<usize, Known>>> = ProgramCell::new(None);
static DECIDED: AtomicU64 = AtomicU64::new(0);

/// Atomic accesses and locks of the threads that have ended their share.
static ACCESSES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static OWN: Cell<u64> = const { Cell::new(0) };
}

fn with<R>(region: usize, body: impl FnOnce(&mut Known) -> R) -> R {
    scopes::private(|| {
        KNOWN.with(|known| body(known.get_or_insert_default().entry(region).or_default()))
    })
}

/// The calling thread carries out an atomic access in the program's view, or takes a lock, where no other rank has a part in
/// it.
#[inline]
pub(crate) fn count_access() {
    OWN.set(OWN.get() + 1);
}

/// The calling thread has ended its share of a region.
pub(crate) fn end_share() {
    ACCESSES.fetch_add(OWN.take(), Relaxed);
}

/// Whether rank 0 is to run this region by itself.
pub(crate) fn is_to_run(region: usize) -> bool {
    is_to_run_here(&DECIDED, || with(region, |known| known.is_here()))
}

/// A region begins that rank 0 runs by itself.
pub(crate) fn begin_here() {
    ACCESSES.store(0, Relaxed);
    OWN.set(0);
}

/// It took so long.
pub(crate) fn learn_here(region: usize, took: Duration, threads: u32, machines: u32) {
    let accesses = ACCESSES.load(Relaxed);
    with(region, |known| {
        known.learn_here(took, accesses, threads, machines)
    });
}

/// A region that rank 0 might have run by itself took so long on the ranks.
pub(crate) fn learn_on_ranks(region: usize, took: Duration) {
    with(region, |known| known.learn_on_ranks(took));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn after(took: Duration, accesses: u64, machines: u32) -> Known {
        let mut known = Known::default();
        known.learn_here(took, accesses, 4, machines);
        known
    }

    #[test]
    fn only_what_computes_long_is_tried_on_several_machines() {
        assert_eq!(after(SECOND, 10_000_000, 4), Known::Here);
        assert_eq!(after(SECOND, 100, 4), Known::Tried(SECOND));
        assert_eq!(after(SECOND, 100, 1), Known::Here, "nothing is lost");
    }

    #[test]
    fn it_stays_where_it_is_faster() {
        for (took, here) in [(2 * SECOND, true), (SECOND / 2, false)] {
            let mut known = after(SECOND, 100, 4);
            known.learn_on_ranks(took);
            assert_eq!(known, Known::Settled { here });
            known.learn_here(SECOND, 100, 4, 4);
            assert_eq!(known.is_here(), here);
        }
    }
}
