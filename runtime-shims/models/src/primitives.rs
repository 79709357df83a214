//! What `primitives` is in the run time, of loom's: see there.
//!
//! loom takes accesses that are `SeqCst` for `AcqRel`, but knows fences: such an access has one in front of it, or one behind
//! it. Either orders all such accesses, but other accesses as well, which nothing may depend on: each model is explored with
//! the one and with the other.

use std::cell::Cell;
pub(crate) use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

pub(crate) use loom::sync::atomic::fence;
use loom::sync::atomic::{self, Ordering};
pub(crate) use loom::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::{Condvar, Mutex},
    thread::yield_now,
};

/// Where accesses that are `SeqCst` have their fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fences {
    InFront,
    Behind,
}

std::thread_local! {
    /// In the model that runs on this thread of the operating system, as all threads of a model do.
    static FENCES: Cell<Fences> = const { Cell::new(Fences::InFront) };
}

/// Has such accesses have their fences there from now on.
pub(crate) fn set_fences(fences: Fences) {
    FENCES.set(fences);
}

/// Makes an access.
fn access<R>(order: Ordering, access: impl FnOnce() -> R) -> R {
    let has = |fences| order == SeqCst && FENCES.get() == fences;
    if has(Fences::InFront) {
        fence(SeqCst);
    }
    let result = access();
    if has(Fences::Behind) {
        fence(SeqCst);
    }
    result
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
                access(order, || self.0.load(order))
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                access(order, || self.0.store(value, order));
            }

            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                access(order, || self.0.swap(value, order))
            }

            pub(crate) fn compare_exchange(
                &self,
                expected: $value,
                desired: $value,
                order: Ordering,
                otherwise: Ordering,
            ) -> Result<$value, $value> {
                access(order, || self.0.compare_exchange(expected, desired, order, otherwise))
            }

            pub(crate) fn fetch_update(
                &self,
                order: Ordering,
                otherwise: Ordering,
                update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                access(order, || self.0.fetch_update(order, otherwise, update))
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
                access(order, || self.0.fetch_add(value, order))
            }

            pub(crate) fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                access(order, || self.0.fetch_sub(value, order))
            }

            pub(crate) fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                access(order, || self.0.fetch_and(value, order))
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
