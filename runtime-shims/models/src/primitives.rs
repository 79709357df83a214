//! What `primitives` is in the run time, of loom's: see there.
//!
//! loom takes accesses that are `SeqCst` for `AcqRel`, but knows fences: such an access has one in front of it where it
//! reads, and one behind it where it writes.

pub(crate) use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

pub(crate) use loom::sync::atomic::fence;
use loom::sync::atomic::{self, Ordering};
pub(crate) use loom::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::{Condvar, Mutex},
    thread::yield_now,
};

fn fence_of(order: Ordering) {
    if order == SeqCst {
        fence(SeqCst);
    }
}

/// An atomic variable with what all have in common.
macro_rules! atomic {
    ($name:ident$(<$param:ident>)?, $value:ty) => {
        pub(crate) struct $name$(<$param>)?(atomic::$name$(<$param>)?);

        impl$(<$param>)? $name$(<$param>)? {
            pub(crate) fn new(value: $value) -> Self {
                Self(atomic::$name::new(value))
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                fence_of(order);
                self.0.load(order)
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
                fence_of(order);
            }

            /// Changes it in one step.
            fn change<R>(&self, order: Ordering, change: impl FnOnce(&atomic::$name$(<$param>)?) -> R) -> R {
                fence_of(order);
                let result = change(&self.0);
                fence_of(order);
                result
            }

            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |inner| inner.swap(value, order))
            }

            pub(crate) fn compare_exchange(
                &self,
                expected: $value,
                desired: $value,
                order: Ordering,
                otherwise: Ordering,
            ) -> Result<$value, $value> {
                self.change(order, |inner| inner.compare_exchange(expected, desired, order, otherwise))
            }

            pub(crate) fn fetch_update(
                &self,
                order: Ordering,
                otherwise: Ordering,
                update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.change(order, |inner| inner.fetch_update(order, otherwise, update))
            }
        }
    };
}

/// An atomic number.
macro_rules! number {
    ($name:ident, $value:ty) => {
        atomic!($name, $value);

        impl $name {
            pub(crate) fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |inner| inner.fetch_add(value, order))
            }

            pub(crate) fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |inner| inner.fetch_sub(value, order))
            }

            pub(crate) fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |inner| inner.fetch_and(value, order))
            }
        }
    };
}

atomic!(AtomicBool, bool);
atomic!(AtomicPtr<T>, *mut T);
number!(AtomicU32, u32);
number!(AtomicU64, u64);
number!(AtomicUsize, usize);

macro_rules! statics {
    ($($(#[$doc:meta])* static $name:ident: $type:ty = $value:expr;)*) => {
        loom::lazy_static! { $($(#[$doc])* static ref $name: $type = $value;)* }
    };
}

macro_rules! own {
    ($($(#[$doc:meta])* static $name:ident: $type:ty = $value:expr;)*) => {
        loom::thread_local! { $($(#[$doc])* static $name: $type = $value;)* }
    };
}

macro_rules! const_fn {
    ($(#[$doc:meta])* $visible:vis fn $($rest:tt)*) => {
        $(#[$doc])* $visible fn $($rest)*
    };
}

pub(crate) use {const_fn, own, statics};
