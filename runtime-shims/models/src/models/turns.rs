//! Threads of a rank change its state one at a time, and declare in rounds.

use loom::{sync::Arc, thread};

use crate::{
    cell::ProgramCell,
    meanwhile,
    models::{PATIENCE, explore},
    rounds::Rounds,
    turns,
};

/// The rank's state is lent to one thread at a time, who sees what those before it did, and may ask for it again.
#[test]
fn one_thread_at_a_time_has_the_state() {
    explore(3, || {
        turns::set_active(2);
        let state = Arc::new((ProgramCell::new(0), ProgramCell::new(0)));
        let change = |state: &(ProgramCell<u32>, ProgramCell<u32>)| {
            turns::alone(|| {
                let first = state.0.with(|first| {
                    *first += 1;
                    *first
                });
                state.1.with(|second| {
                    *second += 1;
                    assert_eq!(*second, first, "another thread had the state between");
                });
            });
        };
        let other = {
            let state = Arc::clone(&state);
            thread::spawn(move || {
                turns::set_index(1);
                change(&state);
                change(&state);
            })
        };
        change(&state);
        other.join().expect("no panic");
        state.0.with(|first| assert_eq!(*first, 3));
    });
}

/// Where libraries have created threads these take turns with the rank's only one.
#[test]
fn threads_of_libraries_take_turns() {
    explore(3, || {
        turns::expect_foreign_threads();
        let state = Arc::new(ProgramCell::new(0));
        let other = {
            let state = Arc::clone(&state);
            thread::spawn(move || state.with(|state| *state += 1))
        };
        state.with(|state| *state += 1);
        other.join().expect("no panic");
        state.with(|state| assert_eq!(*state, 2));
    });
}

/// Who declares when, among threads of which each declares so often. At the end they meet, or do not declare any more.
fn rounds_in_order(so_often: [u32; 2], meet: bool, expected: &'static [u32]) {
    explore(2, move || {
        turns::set_active(2);
        let rounds = Arc::new(Rounds::of(2));
        let log = Arc::new(ProgramCell::new(Vec::new()));
        let declare = move |me: u32, times: u32, rounds: &Rounds, log: &ProgramCell<Vec<u32>>| {
            turns::set_index(me);
            for _ in 0..times {
                rounds.in_turn(PATIENCE, || false, || log.with(|log| log.push(me)));
            }
            if meet {
                rounds.meet();
                meanwhile::tell();
            }
        };
        let other = {
            let (rounds, log) = (Arc::clone(&rounds), Arc::clone(&log));
            thread::spawn(move || declare(1, so_often[1], &rounds, &log))
        };
        declare(0, so_often[0], &rounds, &log);
        other.join().expect("no panic");
        log.with(|log| assert_eq!(log, expected));
    });
}

#[test]
fn threads_declare_in_rounds() {
    rounds_in_order([1, 1], true, &[0, 1]);
    rounds_in_order([1, 1], false, &[0, 1]);
}

#[test]
fn who_is_at_a_meeting_is_passed_over() {
    rounds_in_order([0, 1], true, &[1]);
    rounds_in_order([2, 0], true, &[0, 0]);
}

/// Nobody waits for his turn where another thread has begun what declares nothing.
#[test]
fn turns_end_where_nothing_is_declared() {
    use crate::primitives::{Acquire, AtomicBool, Release};
    explore(2, || {
        turns::set_active(2);
        let rounds = Arc::new(Rounds::of(2));
        let is_over = Arc::new(AtomicBool::new(false));
        let other = {
            let (rounds, is_over) = (Arc::clone(&rounds), Arc::clone(&is_over));
            thread::spawn(move || {
                turns::set_index(1);
                // Thread 0 never declares.
                rounds.in_turn(PATIENCE, || is_over.load(Acquire), || ());
            })
        };
        is_over.store(true, Release);
        meanwhile::tell();
        other.join().expect("no panic");
    });
}
