//! A lock that does not outlast the process whose thread holds it.
//!
//! A process that was forked while another thread of the first one held a lock has that lock, held, and nobody who gives it
//! back; what it protects may be half changed. Whoever asks there gets nothing, and does without.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering::*};

/// Something that one thread at a time may change.
pub(crate) struct Lock<T> {
    /// The process whose thread holds it, or 0.
    holder: AtomicU32,
    what: UnsafeCell<T>,
}

// SAFETY: one thread at a time has access.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(what: T) -> Self {
        Self {
            holder: AtomicU32::new(0),
            what: UnsafeCell::new(what),
        }
    }

    /// Waits for it. None where a thread of another process held it when this one was made.
    pub(crate) fn hold(&self) -> Option<Held<'_, T>> {
        let process = std::process::id();
        loop {
            match self.holder.compare_exchange(0, process, Acquire, Relaxed) {
                Ok(_) => return Some(Held(self)),
                Err(holder) if holder != process => return None,
                // It is held for a look at a few values.
                Err(_) => std::thread::yield_now(),
            }
        }
    }
}

/// Access.
pub(crate) struct Held<'a, T>(&'a Lock<T>);

impl<T> Deref for Held<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: nobody else has access.
        unsafe { &*self.0.what.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: nobody else has access.
        unsafe { &mut *self.0.what.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.0.holder.store(0, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forked;

    #[test]
    fn a_process_does_not_wait_for_threads_of_another_one() {
        static LOCK: Lock<u32> = Lock::new(1);
        let held = LOCK.hold().expect("nobody holds it");
        assert_eq!(forked(|| LOCK.hold().is_none()), Some(true));
        drop(held);
        assert_eq!(
            forked(|| LOCK.hold().is_some_and(|one| *one == 1)),
            Some(true)
        );
    }

    #[test]
    fn one_thread_at_a_time_has_access() {
        static LOCK: Lock<u32> = Lock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|_| *LOCK.hold().expect("ours") += 1));
            }
        });
        assert_eq!(*LOCK.hold().expect("ours"), 40_000);
    }
}
