//! Collective operations between ranks that are all on one node, in memory that they share: a small
//! message through MPI takes several times as long.
//!
//! Every rank has a [`Slot`]: a counter, and two places for words. A rank that begins its `n`th operation
//! puts what it has to tell into its place `n % 2` and then sets its counter to `n`. Guarantee: what a
//! rank reads there in its `n`th operation is what was put there for that. Nothing is put into a place
//! before all ranks have begun operation `n - 1`, and so have ended the one that used the place before.

use std::time::Duration;

use crate::primitives::{Acquire, AtomicU64, Relaxed, Release};

/// Words of a place, in models one. Longer messages take several operations.
const PLACE: usize = if cfg!(loom) { 1 } else { 8 << 10 };
/// Words from the counter to the places: what is waited for lies in cache lines of its own.
const COUNTER: usize = if cfg!(loom) { 1 } else { 16 };
/// Words of a slot.
pub(crate) const WORDS: usize = COUNTER + 2 * PLACE;
/// Looks at a counter before the rank lets others have the processor.
const PATIENCE: u32 = 2000;
/// And before it sleeps between two, which is after some milliseconds: the processor may be lent.
const SLEEPLESS: u32 = 20_000;
const NAP: Duration = Duration::from_micros(50);

/// One rank's part of the memory, zero at the start.
#[derive(Clone, Copy)]
struct Slot(&'static [AtomicU64]);

impl Slot {
    fn counter(self) -> &'static AtomicU64 {
        &self.0[0]
    }

    fn place(self, operation: u64) -> &'static [AtomicU64] {
        let first = COUNTER + (operation % 2) as usize * PLACE;
        &self.0[first..first + PLACE]
    }
}

/// What a rank does while it waits.
pub(crate) trait Idle {
    /// Called after every look that found nothing; `looks` counts them.
    fn pause(&mut self, looks: u32);
}

/// A rank of a program that leaves the processor to others when it has waited for some time, at once where
/// there are more ranks than processors.
pub(crate) struct Patient<P> {
    pub(crate) is_crowded: bool,
    /// What else needs to be done from time to time.
    pub(crate) meanwhile: P,
}

impl<P: FnMut()> Idle for Patient<P> {
    fn pause(&mut self, looks: u32) {
        const SELDOM: u32 = 64;
        if !self.is_crowded && looks < PATIENCE {
            return std::hint::spin_loop();
        }
        if looks.is_multiple_of(SELDOM) {
            (self.meanwhile)();
        }
        match looks < SLEEPLESS {
            true => std::thread::yield_now(),
            false => std::thread::sleep(NAP),
        }
    }
}

/// One rank's side.
pub(crate) struct Exchange<I> {
    slots: Vec<Slot>,
    rank: usize,
    /// Operations begun.
    operations: u64,
    idle: I,
}

impl<I: Idle> Exchange<I> {
    /// `slots` are [`WORDS`] zeros of each rank's, in rank order.
    pub(crate) fn new(slots: Vec<&'static [AtomicU64]>, rank: u32, idle: I) -> Self {
        Self {
            slots: slots.into_iter().map(Slot).collect(),
            rank: rank as usize,
            operations: 0,
            idle,
        }
    }

    /// Gathers `mine` from every rank, in rank order, into `all`.
    pub(crate) fn all_gather(&mut self, mine: &[u64], all: &mut [u64]) {
        let length = mine.len();
        for start in (0..length).step_by(PLACE) {
            let end = length.min(start + PLACE);
            self.begin(&mine[start..end]);
            for rank in 0..self.slots.len() {
                let first = rank * length;
                self.read(rank, &mut all[first + start..first + end]);
            }
        }
    }

    /// Gathers parts of different lengths, `lengths[r]` words from rank `r`, in rank order.
    pub(crate) fn all_gather_parts(&mut self, mine: &[u64], lengths: &[usize]) -> Vec<u64> {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut all = vec![0; lengths.iter().sum()];
        for start in (0..longest).step_by(PLACE) {
            let part = |length: usize| start.min(length)..length.min(start + PLACE);
            self.begin(&mine[part(mine.len())]);
            let mut rest = &mut all[..];
            for (rank, &length) in lengths.iter().enumerate() {
                let (theirs, others) = rest.split_at_mut(length);
                rest = others;
                self.read(rank, &mut theirs[part(length)]);
            }
        }
        all
    }

    /// Hands `words` of rank 0 round.
    pub(crate) fn broadcast(&mut self, words: &mut [u64]) {
        for part in words.chunks_mut(PLACE) {
            self.broadcast_part(part);
        }
    }

    /// Hands any number of words of rank 0 round. They follow their number.
    pub(crate) fn broadcast_list(&mut self, words: &mut Vec<u64>) {
        if self.rank == 0 {
            words.insert(0, words.len() as u64);
            self.begin(&words[..words.len().min(PLACE)]);
        } else {
            let mut number = [0];
            self.begin(&[]);
            self.read(0, &mut number);
            words.resize(1 + number[0] as usize, 0);
            let first = words.len().min(PLACE);
            self.read(0, &mut words[..first]);
        }
        if words.len() > PLACE {
            self.broadcast(&mut words[PLACE..]);
        }
        words.remove(0);
    }

    /// Waits for all ranks.
    pub(crate) fn barrier(&mut self) {
        self.begin(&[]);
        for rank in 0..self.slots.len() {
            self.read(rank, &mut []);
        }
    }

    fn broadcast_part(&mut self, words: &mut [u64]) {
        if self.rank == 0 {
            self.begin(words);
        } else {
            self.begin(&[]);
            self.read(0, words);
        }
    }

    /// Begins an operation, in which this rank tells `words`.
    fn begin(&mut self, words: &[u64]) {
        if !words.is_empty() {
            for rank in 0..self.slots.len() {
                self.wait_for(rank, self.operations);
            }
        }
        self.operations += 1;
        let own = self.slots[self.rank];
        for (place, &word) in own.place(self.operations).iter().zip(words) {
            place.store(word, Relaxed);
        }
        own.counter().store(self.operations, Release);
    }

    /// Reads what `rank` tells in the operation that has begun.
    fn read(&mut self, rank: usize, words: &mut [u64]) {
        self.wait_for(rank, self.operations);
        let place = self.slots[rank].place(self.operations);
        for (word, place) in words.iter_mut().zip(place) {
            *word = place.load(Relaxed);
        }
    }

    /// Waits until `rank` has begun so many operations.
    fn wait_for(&mut self, rank: usize, operations: u64) {
        let counter = self.slots[rank].counter();
        let mut looks = 0u32;
        while counter.load(Acquire) < operations {
            looks = looks.saturating_add(1);
            self.idle.pause(looks);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Yields at once: the test machine may have fewer processors than the test has ranks.
    struct Yield;

    impl Idle for Yield {
        fn pause(&mut self, _: u32) {
            std::thread::yield_now();
        }
    }

    /// Runs `body` as every rank of a job.
    fn on_ranks(ranks: u32, body: impl Fn(u32, &mut Exchange<Yield>) + Sync) {
        let slots: Vec<&'static [AtomicU64]> = (0..ranks)
            .map(|_| {
                &*(0..WORDS)
                    .map(|_| AtomicU64::new(0))
                    .collect::<Vec<_>>()
                    .leak()
            })
            .collect();
        std::thread::scope(|scope| {
            for rank in 0..ranks {
                let mut exchange = Exchange::new(slots.clone(), rank, Yield);
                let body = &body;
                scope.spawn(move || body(rank, &mut exchange));
            }
        });
    }

    /// Words that tell who sent them when.
    fn words(rank: u32, round: u64, length: usize) -> Vec<u64> {
        let first = u64::from(rank) << 48 | round << 32;
        (first..).take(length).collect()
    }

    #[test]
    fn operations_in_any_order_carry_what_was_told_in_them() {
        const RANKS: u32 = 3;
        on_ranks(RANKS, |rank, exchange| {
            let mut state = 5u64;
            for round in 0..4000 {
                // The same numbers on every rank.
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let length = match state >> 59 & 7 {
                    0 => PLACE + (state >> 40 & 0xff) as usize,
                    1 => PLACE - 1,
                    _ => (state >> 40 & 0xf) as usize,
                };
                match state >> 33 & 7 {
                    0 => exchange.barrier(),
                    1 | 2 => {
                        let mut all = vec![0; RANKS as usize * length];
                        exchange.all_gather(&words(rank, round, length), &mut all);
                        let told: Vec<_> =
                            (0..RANKS).map(|rank| words(rank, round, length)).collect();
                        assert_eq!(all, told.concat());
                    }
                    3 => {
                        let lengths: Vec<usize> =
                            (0..RANKS as usize).map(|rank| length * rank).collect();
                        let mine = words(rank, round, lengths[rank as usize]);
                        let told = (0..RANKS)
                            .zip(&lengths)
                            .map(|(rank, &length)| words(rank, round, length));
                        assert_eq!(
                            exchange.all_gather_parts(&mine, &lengths),
                            told.collect::<Vec<_>>().concat()
                        );
                    }
                    4 => {
                        let mut list = if rank == 0 {
                            words(0, round, length)
                        } else {
                            Vec::new()
                        };
                        exchange.broadcast_list(&mut list);
                        assert_eq!(list, words(0, round, length));
                    }
                    _ => {
                        let mut told = words(rank, round, length);
                        exchange.broadcast(&mut told);
                        assert_eq!(told, words(0, round, length));
                    }
                }
            }
        });
    }
}
