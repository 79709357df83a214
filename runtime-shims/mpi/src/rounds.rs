//! The order in which the threads of a rank declare: it does not depend on time.
//!
//! Guarantee: in a round each thread declares once, one after the other in the order of their numbers. Who waits at a meeting
//! is passed over until that ends, so somebody's turn always comes.

use std::time::Duration;

use crate::{
    meanwhile,
    primitives::{Acquire, AtomicU32, Relaxed, Release},
    turns,
};

/// Declarations that a thread of the rank has made since the last meeting, or [`MET`]: in a cache line of its own.
#[repr(align(128))]
struct Made(AtomicU32);

/// The thread waits at a meeting.
const MET: u32 = u32::MAX;

/// How far the threads of a rank are.
pub(crate) struct Rounds(Box<[Made]>);

impl Rounds {
    /// Of so many threads.
    pub(crate) fn of(threads: u32) -> Self {
        Self((0..threads).map(|_| Made(AtomicU32::new(0))).collect())
    }

    /// All threads begin anew: none declares.
    pub(crate) fn restart(&self) {
        for one in &self.0 {
            one.0.store(0, Release);
        }
    }

    /// The calling thread is at a meeting, which it [tells](meanwhile::tell).
    pub(crate) fn meet(&self) {
        if let Some(made) = self.0.get(turns::index()) {
            made.0.store(MET, Release);
        }
    }

    /// Runs `body`, a declaration, when it is the turn of the calling thread, or `is_over`, which is [told](meanwhile::tell):
    /// then there are no turns until all meet.
    ///
    /// `body` uses the rank's state [`turns::alone`]. It must not wait for what another thread of this rank, or of another,
    /// does after it.
    pub(crate) fn in_turn<R>(
        &self,
        patience: Duration,
        is_over: impl Fn() -> bool,
        body: impl FnOnce() -> R,
    ) -> R {
        let me = turns::index();
        let own = self.0.get(me).map(|own| (own, own.0.load(Relaxed)));
        // A thread at a meeting has no turn any more.
        let Some((own, mine)) = own.filter(|(_, mine)| *mine != MET) else {
            return body();
        };
        let active = &self.0[..turns::active() as usize];
        let is_turn = || {
            let mut others = active.iter().enumerate();
            others.all(|(index, other)| {
                let least = mine + u32::from(index < me);
                index == me || other.0.load(Acquire) >= least
            })
        };
        meanwhile::wait_until(patience, || is_turn() || is_over());
        let result = body();
        own.0.store(mine + 1, Release);
        meanwhile::tell();
        result
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Threads that declare different numbers of times, at different speeds, do so in one order.
    #[test]
    fn turns_do_not_depend_on_time() {
        const DECLARATIONS: [u32; 4] = [3, 0, 2, 5];
        let expected = [0, 2, 3, 0, 2, 3, 0, 3, 3, 3];
        let threads = DECLARATIONS.len() as u32;
        let rounds = Rounds::of(threads);
        turns::set_active(threads);
        for round in 0..40_u64 {
            rounds.restart();
            let order = Mutex::new(Vec::new());
            std::thread::scope(|scope| {
                for (index, declarations) in (0_u32..).zip(DECLARATIONS) {
                    let (order, rounds) = (&order, &rounds);
                    scope.spawn(move || {
                        turns::set_index(index);
                        for time in 0..declarations {
                            let pause = u64::from(index * 7 + time * 5) * (round + 3) % 11;
                            std::thread::sleep(Duration::from_micros(30 * pause));
                            let declare = || order.lock().expect("no panic").push(index);
                            rounds.in_turn(Duration::ZERO, || false, declare);
                        }
                        rounds.meet();
                        meanwhile::tell();
                    });
                }
            });
            assert_eq!(*order.lock().expect("no panic"), expected);
        }
        turns::set_active(1);
    }
}
