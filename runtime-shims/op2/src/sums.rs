//! Global sums that do not depend on who adds which element.
//!
//! Guarantee: what an element adds to a global argument is the same wherever it runs, and the sum is exact until it
//! is rounded.

use std::{ffi::c_char, ops::Range};

use okl_abi::op2::access;

use crate::{
    exact::{BYTES, Exact},
    job,
    layout::Arg,
    private,
    report::warn_once,
    value::Value,
};

/// The sums of floating-point numbers of a loop.
#[derive(Default)]
pub(crate) struct Sums(Vec<Sum>);

struct Sum {
    /// Position of its argument.
    at: usize,
    kind: Value,
    /// What one element adds.
    added: Box<[u64]>,
    totals: Vec<Exact>,
}

/// Whether it is a sum that depends on the order of its terms.
///
/// # Safety
/// The argument was made by this library.
unsafe fn kind(argument: &Arg) -> Option<Value> {
    // SAFETY: the caller's promise.
    let kind = unsafe { private::number(argument) };
    let is_sum = private::is_reduction(argument) && argument.acc == access::INC;
    kind.filter(|kind| is_sum && matches!(kind, Value::Double | Value::Float))
}

/// Whether the order in which elements run makes a difference.
///
/// # Safety
/// The arguments are right for a loop.
pub(crate) unsafe fn depend_on_order(arguments: &[Arg]) -> bool {
    let mut all = arguments.iter();
    // SAFETY: the caller's promise.
    all.any(|one| one.is_indirect() && one.acc != access::READ || unsafe { kind(one) }.is_some())
        // SAFETY: the same.
        || !unsafe { private::can_be_combined(arguments, true) }
}

/// Tells once of a loop what is not the same on any number of ranks: an element that others update, too, may depend on
/// one that they update elsewhere.
pub(crate) fn warn_of_updates(loop_name: &str, arguments: &[Arg]) {
    let updates = arguments.iter();
    let updates = updates.filter(|one| one.is_indirect() && one.acc == access::RW);
    let columns = updates.map(|one| if one.idx < 0 { -one.idx } else { 1 });
    if columns.sum::<i32>() > 1 {
        warn_once(&format!(
            "op_par_loop {loop_name}: OKL_REPRODUCIBLE: with OP_RW of several elements through maps results may depend on the number of ranks"
        ));
    }
}

impl Sums {
    /// Nothing has been added.
    ///
    /// # Safety
    /// The arguments are right for a loop and can be combined.
    pub(crate) unsafe fn new(arguments: &[Arg]) -> Self {
        let all = arguments.iter().enumerate();
        let sums = all.filter_map(|(at, one)| {
            // SAFETY: the caller's promise.
            let kind = unsafe { kind(one) }?;
            let bytes = one.size as usize;
            Some(Sum {
                at,
                kind,
                added: vec![0; bytes.div_ceil(size_of::<u64>())].into(),
                totals: vec![Exact::default(); bytes / kind.bytes()],
            })
        });
        Self(sums.collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes elements add to places of their own.
    pub(crate) fn redirect(&mut self, arguments: &mut [Arg]) {
        for sum in &mut self.0 {
            arguments[sum.at].data = sum.added.as_mut_ptr().cast::<c_char>();
        }
    }

    /// Calls `run` for the elements, so that what they add is taken.
    pub(crate) fn each(&mut self, elements: Range<usize>, run: &mut dyn FnMut(Range<usize>)) {
        if self.is_empty() {
            return run(elements);
        }
        for element in elements {
            run(element..element + 1);
            self.take();
        }
    }

    /// Takes what one element has added.
    fn take(&mut self) {
        for sum in &mut self.0 {
            let added = sum.added.as_mut_ptr();
            for (at, total) in sum.totals.iter_mut().enumerate() {
                // SAFETY: there are as many values.
                total.add(unsafe { read(sum.kind, added.cast(), at) });
            }
            sum.added.fill(0);
        }
    }

    /// Adds up what all ranks have, if `of_all`, and puts it into the arguments.
    ///
    /// # Safety
    /// The sums were made for these arguments.
    pub(crate) unsafe fn finish(mut self, arguments: &[Arg], of_all: bool) {
        if of_all && !self.is_empty() {
            let mut totals: Vec<_> = self.0.iter_mut().flat_map(|sum| &mut sum.totals).collect();
            let mine = totals.iter_mut().flat_map(|total| total.bytes());
            let mine: Vec<u8> = mine.collect();
            let all = job::all_gather(&mine);
            for (at, total) in totals.into_iter().enumerate() {
                *total = Exact::default();
                for rank in all.chunks_exact(mine.len()) {
                    total.add_bytes(&rank[at * BYTES..][..BYTES]);
                }
            }
        }
        for sum in self.0 {
            for (at, mut total) in sum.totals.into_iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe {
                    let to = arguments[sum.at].data;
                    total.add(read(sum.kind, to, at));
                    write(sum.kind, to, at, total.value());
                }
            }
        }
    }
}

/// # Safety
/// There are more than `at` numbers of that kind, which is one of floating-point numbers.
unsafe fn read(kind: Value, from: *const c_char, at: usize) -> f64 {
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            Value::Float => f64::from(from.cast::<f32>().add(at).read_unaligned()),
            _ => from.cast::<f64>().add(at).read_unaligned(),
        }
    }
}

/// # Safety
/// See [`read`].
unsafe fn write(kind: Value, to: *mut c_char, at: usize, value: f64) {
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            Value::Float => to.cast::<f32>().add(at).write_unaligned(value as f32),
            _ => to.cast::<f64>().add(at).write_unaligned(value),
        }
    }
}
