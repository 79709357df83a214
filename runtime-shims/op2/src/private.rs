//! Global arguments that each thread has a copy of, and their combination.
//!
//! Guarantee: copies are combined in the order of the threads. The first of several equal least or greatest
//! values wins, with what goes along with it.

use std::{ffi::c_char, sync::atomic::AtomicU64};

use okl_abi::op2::access;

use crate::{
    layout::{Arg, argtype},
    report::text,
    value::Value,
};

/// A line of cache: threads write none that others write.
const LINE: usize = 64;

/// The copies of one argument.
pub(crate) struct Private {
    /// Position among the arguments.
    at: usize,
    bytes: usize,
    stride: usize,
    copies: Box<[AtomicU64]>,
}

/// The type of an argument's values, if they are numbers.
///
/// # Safety
/// The argument was made by this library.
pub(crate) unsafe fn number(argument: &Arg) -> Option<Value> {
    // SAFETY: the caller's promise.
    let value = Value::of(unsafe { text(argument.type_name) });
    value.filter(|value| *value != Value::Bool)
}

/// Whether an argument changes a global variable.
pub(crate) fn is_reduction(argument: &Arg) -> bool {
    argument.opt != 0 && argument.argtype == argtype::GBL && argument.acc != access::READ
}

/// What goes along with the winner of a reduction: its position.
fn winner_of(argument: &Arg) -> Option<usize> {
    (argument.argtype == argtype::INFO).then_some(argument.acc as usize)
}

/// Whether copies of the global arguments can be combined; `is_in_order` where the threads' elements follow
/// each other.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn can_be_combined(arguments: &[Arg], is_in_order: bool) -> bool {
    arguments.iter().all(|argument| {
        if let Some(winner) = winner_of(argument) {
            let winner = arguments.get(winner);
            return is_in_order
                && winner.is_some_and(|one| {
                    is_reduction(one)
                        && matches!(one.acc, access::MIN | access::MAX)
                        && one.dim == 1
                });
        }
        // SAFETY: the caller's promise.
        let kind = unsafe { number(argument) };
        !is_reduction(argument)
            || matches!(argument.acc, access::INC | access::MIN | access::MAX)
                && kind.is_some_and(|kind| (argument.size as usize).is_multiple_of(kind.bytes()))
    })
}

/// Copies for `threads` threads of all arguments that need them.
///
/// # Safety
/// The arguments are right for the loop and can be combined.
pub(crate) unsafe fn copies(arguments: &[Arg], threads: usize) -> Vec<Private> {
    let needed = arguments.iter().enumerate();
    let needed = needed.filter(|(_, one)| is_reduction(one) || winner_of(one).is_some());
    needed
        .map(|(at, argument)| {
            let bytes = argument.size as usize;
            let stride = bytes.next_multiple_of(LINE);
            let words = stride / size_of::<u64>() * threads;
            let copies: Box<[AtomicU64]> = (0..words).map(|_| AtomicU64::new(0)).collect();
            let private = Private {
                at,
                bytes,
                stride,
                copies,
            };
            if argument.acc != access::INC || winner_of(argument).is_some() {
                for thread in 0..threads {
                    // SAFETY: both have that many bytes.
                    unsafe {
                        private
                            .of(thread)
                            .copy_from_nonoverlapping(argument.data, bytes)
                    };
                }
            }
            private
        })
        .collect()
}

impl Private {
    /// Position of its argument.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A thread's copy.
    pub(crate) fn of(&self, thread: usize) -> *mut c_char {
        let start = self.copies.as_ptr().cast_mut().cast::<c_char>();
        start.wrapping_add(thread * self.stride)
    }
}

/// Puts what the threads have found into the arguments. What goes along with a value, at its position, is taken from the
/// threads in the order of the numbers that `order` gives for the position and the thread.
///
/// # Safety
/// The copies were made for these arguments and that many threads or more; no thread uses them any more.
pub(crate) unsafe fn combine(
    arguments: &[Arg],
    copies: &[Private],
    threads: usize,
    order: impl Fn(usize, usize) -> i64,
) {
    for private in copies {
        let argument = &arguments[private.at];
        if winner_of(argument).is_some() {
            continue;
        }
        let along = copies.iter();
        let along = along.filter(|one| winner_of(&arguments[one.at]) == Some(private.at));
        let along: Vec<_> = along.collect();
        let mut turns: Vec<_> = (0..threads).collect();
        if !along.is_empty() {
            turns.sort_by_key(|&thread| order(private.at, thread));
        }
        for thread in turns {
            // SAFETY: the caller's promises; the kind was asked before.
            unsafe {
                let kind = number(argument).expect("it can be combined");
                let (to, from) = (argument.data, private.of(thread));
                let count = argument.size as usize / kind.bytes();
                let takes = match kind {
                    Value::Double => merge::<f64>(argument.acc, to, from, count),
                    Value::Float => merge::<f32>(argument.acc, to, from, count),
                    Value::Int => merge::<i32>(argument.acc, to, from, count),
                    Value::Unsigned => merge::<u32>(argument.acc, to, from, count),
                    Value::Long => merge::<i64>(argument.acc, to, from, count),
                    Value::UnsignedLong => merge::<u64>(argument.acc, to, from, count),
                    Value::Bool => unreachable!("it is no number"),
                };
                for one in along.iter().filter(|_| takes) {
                    let to = arguments[one.at].data;
                    to.copy_from_nonoverlapping(one.of(thread), one.bytes);
                }
            }
        }
    }
}

/// A number that can be added and compared.
trait Number: Copy + PartialOrd {
    fn plus(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($type:ident: $add:expr;)*) => {$(
        impl Number for $type {
            fn plus(self, other: Self) -> Self {
                $add(self, other)
            }
        }
    )*};
}
numbers! {
    f64: |a, b| a + b;
    f32: |a, b| a + b;
    i32: i32::wrapping_add;
    u32: u32::wrapping_add;
    i64: i64::wrapping_add;
    u64: u64::wrapping_add;
}

/// Combines `count` numbers; whether one was replaced.
///
/// # Safety
/// Both are that many numbers.
unsafe fn merge<T: Number>(acc: i32, to: *mut c_char, from: *mut c_char, count: usize) -> bool {
    let (to, from) = (to.cast::<T>(), from.cast::<T>());
    let mut replaced = false;
    for at in 0..count {
        // SAFETY: the caller's promise; the program may have placed them anywhere.
        unsafe {
            let (old, new) = (to.add(at).read_unaligned(), from.add(at).read());
            let better = match acc {
                access::INC => {
                    to.add(at).write_unaligned(old.plus(new));
                    continue;
                }
                access::MIN => new < old,
                _ => new > old,
            };
            if better {
                to.add(at).write_unaligned(new);
                replaced = true;
            }
        }
    }
    replaced
}
