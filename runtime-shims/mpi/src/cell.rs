//! State of the program's threads.
//!
//! Guarantee: at most one borrow of a cell is alive at a time. Only the program's threads and those of its libraries, one at
//! a time ([`crate::turns::alone`]), and the fault handler that interrupts them, reach these cells; a second borrow means
//! that runtime code touched protected memory while it held runtime state, and panics. Signal handlers of the program wait.

use std::cell::Cell;

use crate::{
    primitives::{UnsafeCell, const_fn},
    scopes, turns,
};

/// A value of the program's threads, or of one of them.
pub(crate) struct ProgramCell<T> {
    value: UnsafeCell<T>,
    borrowed: Cell<bool>,
}

// SAFETY: cells are reached by the program's threads only, one at a time; the service thread has state of its
// own.
unsafe impl<T> Sync for ProgramCell<T> {}

impl<T> ProgramCell<T> {
    const_fn! {
        pub(crate) fn new(value: T) -> Self {
            Self {
                value: UnsafeCell::new(value),
                borrowed: Cell::new(false),
            }
        }
    }

    /// Lends the value to `body`.
    ///
    /// # Panics
    /// If the value is lent already.
    #[inline]
    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        scopes::undisturbed(|| match turns::must_be_taken() {
            true => self.lend_in_turn(body),
            false => self.lend(body),
        })
    }

    #[cold]
    #[inline(never)]
    fn lend_in_turn<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        turns::alone(|| self.lend(body))
    }

    /// The same, of a cell that only the calling thread has. Its value is never dropped (`ManuallyDrop`): the program's exit
    /// handlers use it, and the C library would keep note of the destructor in the program's memory.
    pub(crate) fn with_own<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        scopes::undisturbed(|| self.lend(body))
    }

    #[inline]
    fn lend<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        struct Return<'a>(&'a Cell<bool>);
        impl Drop for Return<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        assert!(
            !self.borrowed.replace(true),
            "runtime state is in use: protected memory was touched inside the runtime"
        );
        let _return = Return(&self.borrowed);
        // SAFETY: `borrowed` was false, so no other reference exists; one thread at a time (see above).
        self.value.with_mut(|value| body(unsafe { &mut *value }))
    }
}
