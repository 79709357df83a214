//! Threads of a rank wait for each other, and help one that has much to do.

use loom::{cell::UnsafeCell, sync::Arc, thread};

use crate::{
    meanwhile,
    models::{PATIENCE, explore},
    primitives::{Acquire, AtomicBool, Release},
};

/// Who waits goes on when what he waits for has been told, and sees what was done before.
#[test]
fn nobody_sleeps_for_ever() {
    explore(3, || {
        let shared = Arc::new((AtomicBool::new(false), UnsafeCell::new(0)));
        let others = [1, 2].map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                meanwhile::wait_until(PATIENCE, || shared.0.load(Acquire));
                // SAFETY: nobody writes any more.
                shared.1.with(|value| assert_eq!(unsafe { *value }, 7));
            })
        });
        // SAFETY: nobody reads before he is told.
        shared.1.with_mut(|value| unsafe { *value = 7 });
        shared.0.store(true, Release);
        meanwhile::tell();
        for other in others {
            other.join().expect("no panic");
        }
    });
}

/// Threads that wait do some of the pieces; each is done once, and all are done when the thread goes on that shares them:
/// what they work on is its own again.
#[test]
fn what_is_shared_is_done() {
    explore(2, || {
        let end = Arc::new(AtomicBool::new(false));
        let other = {
            let end = Arc::clone(&end);
            thread::spawn(move || meanwhile::wait_until(PATIENCE, || end.load(Acquire)))
        };
        for times in 1..=2 {
            struct Pieces([UnsafeCell<u32>; 2]);
            // SAFETY: who does which is what is under test; loom looks.
            unsafe impl Sync for Pieces {}
            let pieces = Pieces([UnsafeCell::new(0), UnsafeCell::new(0)]);
            let all = &pieces;
            meanwhile::share(2, &move |piece| {
                // SAFETY: as above.
                all.0[piece].with_mut(|done| unsafe { *done += 1 });
            });
            for piece in &pieces.0 {
                // SAFETY: as above.
                piece.with_mut(|done| assert_eq!(unsafe { *done }, 1, "in turn {times}"));
            }
        }
        end.store(true, Release);
        meanwhile::tell();
        other.join().expect("no panic");
    });
}
