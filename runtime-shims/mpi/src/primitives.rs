//! Atomic variables, locks, and what belongs to threads, for modules whose orders of events are explored: here they are those
//! of the standard library, and where `runtime-shims/models` has such a module, loom's.

pub(crate) use std::{
    hint::spin_loop,
    sync::{
        Condvar, Mutex,
        atomic::{
            AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
            fence,
        },
    },
    thread::yield_now,
};

/// A value that is reached by pointer.
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Calls `body` with a pointer by which it may change the value.
    #[inline]
    pub(crate) fn with_mut<R>(&self, body: impl FnOnce(*mut T) -> R) -> R {
        body(self.0.get())
    }
}

/// Variables of the process. In a model each execution has its own.
macro_rules! statics {
    ($($(#[$doc:meta])* static $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$doc])* static $name: $type = $value;)*
    };
}

/// Variables that each thread has, and that are never dropped.
macro_rules! own {
    ($($(#[$doc:meta])* static $name:ident: $type:ty = $value:expr;)*) => {
        thread_local! { $($(#[$doc])* static $name: $type = const { $value };)* }
    };
}

/// A function that makes what such a variable holds.
macro_rules! const_fn {
    ($(#[$doc:meta])* $visible:vis fn $($rest:tt)*) => {
        $(#[$doc])* $visible const fn $($rest)*
    };
}

pub(crate) use {const_fn, own, statics};
