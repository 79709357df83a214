//! Ranks of one machine tell each other words.

use loom::thread;

use crate::{
    exchange::{Exchange, Idle, WORDS},
    models::explore,
    primitives::{AtomicU64, yield_now},
};

struct Yield;

impl Idle for Yield {
    fn pause(&mut self, _: u32) {
        yield_now();
    }
}

/// Runs `body` as both ranks.
fn on_two_ranks(body: fn(u64, &mut Exchange<Yield>)) {
    explore(2, move || {
        let slots: Vec<&'static [AtomicU64]> = (0..2)
            .map(|_| {
                let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
                &*words.leak()
            })
            .collect();
        let other = {
            let slots = slots.clone();
            thread::spawn(move || body(1, &mut Exchange::new(slots, 1, Yield)))
        };
        body(0, &mut Exchange::new(slots, 0, Yield));
        other.join().expect("no panic");
    });
}

/// What a rank reads in an operation was told for that, also where places are used again.
#[test]
fn words_are_those_of_the_operation() {
    on_two_ranks(|rank, exchange| {
        for round in 1..=3 {
            let mut all = [0; 2];
            exchange.all_gather(&[10 * round + rank], &mut all);
            assert_eq!(all, [10 * round, 10 * round + 1]);
        }
    });
}

/// Operations in which a rank tells nothing, and so waits for nobody, keep its places from others no less.
#[test]
fn who_tells_nothing_runs_ahead_of_nobodys_words() {
    on_two_ranks(|rank, exchange| {
        for round in 1..=3 {
            let mut words = [if rank == 0 { round } else { 0 }];
            exchange.broadcast(&mut words);
            assert_eq!(words, [round]);
        }
    });
}
