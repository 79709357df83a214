//! Regions whose threads wait for each other's flags, on several nodes: whether rank 0 runs them by itself, or the ranks do.
//!
//! Guarantee: what is decided here is about time alone; a region is right wherever it runs. The first time rank 0 runs it. How
//! long that took, and how often each flag was stored, says about what it would take on the ranks: each computes a part, if it
//! has a processor, and a flag between two of them costs a message. If that is clearly less the ranks run it from then on,
//! until the same number of stores takes longer there a few times. Executions may differ in length: a solver may warm up with
//! one step.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use super::is_to_run_here;
use crate::{cell::ProgramCell, scopes};

/// About what it costs two ranks to hand a flag over. They need not wait for each other meanwhile.
const HAND_OVER: Duration = Duration::from_micros(20);
/// The ranks are to be so many times as fast, in quarters.
const GAIN: u32 = 5;
/// What takes less time, and may have been bringing memory here, is looked at again.
const SHORT: Duration = Duration::from_millis(1);
/// Of what two threads wait for there are as many flags again, which say that there is room.
const WAYS: u64 = 2;
/// So often in a row the ranks may be slower.
const SLOW: u32 = 3;

/// What rank 0 remembers of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Known {
    /// It runs here.
    #[default]
    Here,
    /// The ranks run it, of which a store took so many seconds here.
    OnRanks {
        store: f64,
        executions: u32,
        slow: u32,
    },
    /// It runs here for good.
    Settled,
}

impl Known {
    fn is_here(self) -> bool {
        !matches!(self, Self::OnRanks { .. })
    }

    /// It took so long here, and stored `flags` flags so often. There are so many ranks that have a processor each.
    fn learn_here(&mut self, took: Duration, stores: u64, flags: u64, ranks: u32) {
        if *self != Self::Here || stores == 0 || took < SHORT {
            return;
        }
        let each = WAYS * stores / flags.max(1);
        let waiting = HAND_OVER.saturating_mul(each.min(u32::MAX.into()) as u32);
        if GAIN * (took / ranks + waiting) < 4 * took {
            *self = Self::OnRanks {
                store: took.as_secs_f64() / stores as f64,
                executions: 0,
                slow: 0,
            };
        }
    }

    /// It took so long on the ranks, one of which stored flags so often.
    fn learn_on_ranks(&mut self, took: Duration, stores: u64, ranks: u32) {
        let Self::OnRanks {
            store,
            executions,
            slow,
        } = self
        else {
            return;
        };
        *executions += 1;
        // The first one brings memory to the ranks.
        if *executions == 1 || stores == 0 {
            return;
        }
        let there = took.as_secs_f64() / (stores as f64 * f64::from(ranks));
        *slow = if there > *store { *slow + 1 } else { 0 };
        if *slow > SLOW {
            *self = Self::Settled;
        }
    }
}

/// By the address of the region's descriptor; and how many regions have been decided on.
static KNOWN: ProgramCell<Option<HashMap<usize, Known>>> = ProgramCell::new(None);
static DECIDED: AtomicU64 = AtomicU64::new(0);

/// How often this rank has stored flags, and which, as bits that their addresses lead to.
static STORES: AtomicU64 = AtomicU64::new(0);
const WORDS: usize = 16;
static FLAGS: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

fn with<R>(region: usize, body: impl FnOnce(&mut Known) -> R) -> R {
    scopes::private(|| {
        KNOWN.with(|known| body(known.get_or_insert_default().entry(region).or_default()))
    })
}

/// The flag at `address` is stored.
#[inline]
pub(crate) fn count_store(address: usize) {
    STORES.fetch_add(1, Relaxed);
    let hash = (address >> 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let (word, bit) = (hash / 64 % WORDS, 1 << (hash % 64));
    if FLAGS[word].load(Relaxed) & bit == 0 {
        FLAGS[word].fetch_or(bit, Relaxed);
    }
}

/// Whether rank 0 is to run this region by itself. What is stored is counted anew.
pub(crate) fn is_to_run(region: usize) -> bool {
    STORES.store(0, Relaxed);
    FLAGS.iter().for_each(|word| word.store(0, Relaxed));
    is_to_run_here(&DECIDED, || with(region, |known| known.is_here()))
}

/// It took so long there.
pub(crate) fn learn_here(region: usize, took: Duration, ranks: u32) {
    let flags = FLAGS.iter().map(|word| word.load(Relaxed).count_ones());
    let flags = u64::from(flags.sum::<u32>());
    let stores = STORES.load(Relaxed);
    with(region, |known| known.learn_here(took, stores, flags, ranks));
}

/// It took so long on the ranks.
pub(crate) fn learn_on_ranks(region: usize, took: Duration, ranks: u32) {
    let stores = STORES.load(Relaxed);
    with(region, |known| known.learn_on_ranks(took, stores, ranks));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sweep over so many planes of 60 rows, with a flag behind each, which is set and taken back; a row takes so many
    /// nanoseconds.
    fn after(planes: u32, row: u64, ranks: u32) -> Known {
        let mut known = Known::default();
        let rows = 60;
        let took = planes * rows * Duration::from_nanos(row);
        known.learn_here(took, u64::from(2 * planes * rows), rows.into(), ranks);
        known
    }

    #[test]
    fn ranks_run_what_computes_long_between_two_flags() {
        assert_eq!(after(1, 10_000, 2), Known::Here, "too short to tell");
        for planes in [10, 100, 10_000] {
            assert_eq!(after(planes, 100, 2), Known::Here);
            assert_eq!(after(planes, 10_000, 1), Known::Here);
            assert!(!after(planes, 10_000, 2).is_here());
            assert!(!after(planes, 5_000, 4).is_here());
        }
    }

    #[test]
    fn a_region_without_flags_says_nothing() {
        let mut known = Known::default();
        known.learn_here(Duration::from_secs(1), 0, 0, 2);
        assert_eq!(known, Known::Here);
    }

    #[test]
    fn it_stays_where_a_store_takes_less_time() {
        let took = |row: u64| 600 * Duration::from_nanos(row);
        let mut known = after(10, 10_000, 2);
        // Half of the stores are the other rank's. The first execution brings memory to the ranks.
        for row in [90_000, 6_000, 6_000, 12_000, 12_000, 12_000, 6_000] {
            known.learn_on_ranks(took(row), 600, 2);
            assert!(!known.is_here(), "{known:?}");
        }
        // One of another length.
        known.learn_on_ranks(100 * took(6_000), 60_000, 2);
        assert!(!known.is_here(), "{known:?}");
        for _ in 0..=SLOW {
            assert!(!known.is_here(), "{known:?}");
            known.learn_on_ranks(took(12_000), 600, 2);
        }
        assert_eq!(known, Known::Settled);
        known.learn_here(took(90_000), 1200, 60, 2);
        assert_eq!(known, Known::Settled);
    }
}
