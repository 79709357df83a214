//! Doacross loops: `ordered depend(source)` and `depend(sink: ...)` (OpenMP 5.2, section 15.9.6).
//!
//! One bit for each iteration, in rank 0's control area, says that the iteration has posted. All
//! threads of a team meet the same loops in the same order, so each finds a loop's bits without asking.

use std::{ffi::c_void, mem::ManuallyDrop};

use crate::{
    cell::ProgramCell,
    console, control_area,
    control_words::{Patience, exchange_word, load_word},
    memory::coherence,
    region, report, team,
};

/// Most iterations.
const MOST: u64 = control_area::MOST_DOACROSS as u64;

/// One dimension, as the compiler passes it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Dimension {
    lower: i64,
    upper: i64,
    stride: i64,
}

impl Dimension {
    fn count(&self) -> u64 {
        let span = if self.stride > 0 {
            self.upper - self.lower
        } else {
            self.lower - self.upper
        };
        if span < 0 {
            0
        } else {
            span as u64 / self.stride.unsigned_abs() + 1
        }
    }

    /// The number of the iteration with this value, `None` outside the loop.
    fn number(&self, value: i64) -> Option<u64> {
        let span = if self.stride > 0 {
            value - self.lower
        } else {
            self.lower - value
        };
        let number = u64::try_from(span).ok()? / self.stride.unsigned_abs();
        (number < self.count()).then_some(number)
    }
}

#[derive(Default)]
struct State {
    dimensions: Vec<Dimension>,
    /// The first bit of the current loop, and behind the last one of it.
    first: u64,
    next: u64,
}

thread_local! {
    static STATE: ProgramCell<ManuallyDrop<Option<State>>> =
        const { ProgramCell::new(ManuallyDrop::new(None)) };
}

fn state<R>(body: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|cell| cell.with_own(|state| body(state.get_or_insert_default())))
}

/// The program's thread of every rank, at a fork: loops count from bit 0 again.
pub(crate) fn restart() {
    let used = begin();
    if crate::mpi_job::rank() == 0 {
        for word in 0..used.div_ceil(64) {
            let offset = control_area::DOACROSS + 8 * word as usize;
            exchange_word(offset, load_word(offset), 0);
        }
    }
}

/// On the calling thread loops count from bit 0 again. How many bits they had.
pub(crate) fn begin() -> u64 {
    state(|state| std::mem::take(state).next)
}

/// `__kmpc_doacross_init`.
pub(crate) fn okl_mpi_kmpc_doacross_init(
    _ident: *mut c_void,
    _gtid: i32,
    dims: i32,
    bounds: *mut c_void,
) {
    if !team::is_parallel() {
        return;
    }
    // SAFETY: the compiler passes `dims` dimensions.
    let dimensions =
        unsafe { std::slice::from_raw_parts(bounds.cast::<Dimension>(), dims as usize) }.to_vec();
    let count: u64 = dimensions.iter().map(Dimension::count).product();
    let next = state(|state| {
        state.first = state.next;
        state.next += count;
        state.dimensions = dimensions;
        state.next
    });
    if next > MOST {
        report::fatal(&format!(
            "the doacross loops of {} have more than {MOST} iterations",
            region::name()
        ));
    }
}

/// Where the bit of an iteration is: word and mask.
fn bit_of(iteration: *mut c_void) -> Option<(usize, u64)> {
    state(|state| {
        let mut number = 0;
        for (index, dimension) in state.dimensions.iter().enumerate() {
            // SAFETY: the compiler passes one value for each dimension.
            let value = unsafe { *iteration.cast::<i64>().add(index) };
            number = number * dimension.count() + dimension.number(value)?;
        }
        let bit = state.first + number;
        Some((
            control_area::DOACROSS + 8 * (bit / 64) as usize,
            1 << (bit % 64),
        ))
    })
}

/// `__kmpc_doacross_wait`: waits for the post of an iteration; one outside the loop needs no waiting.
pub(crate) fn okl_mpi_kmpc_doacross_wait(_ident: *mut c_void, _gtid: i32, iteration: *mut c_void) {
    if !team::is_parallel() {
        return;
    }
    let Some((word, mask)) = bit_of(iteration) else {
        return;
    };
    let patience = Patience::new();
    while load_word(word) & mask == 0 {
        patience.wait();
    }
    if region::is_distributed() {
        coherence(|coherence| coherence.acquire());
    }
}

/// `__kmpc_doacross_post`.
pub(crate) fn okl_mpi_kmpc_doacross_post(_ident: *mut c_void, _gtid: i32, iteration: *mut c_void) {
    if !team::is_parallel() {
        return;
    }
    if region::is_distributed() {
        console::flush();
        coherence(|coherence| coherence.release_in_order());
    }
    let Some((word, mask)) = bit_of(iteration) else {
        return;
    };
    let mut old = load_word(word);
    loop {
        let seen = exchange_word(word, old, old | mask);
        if seen == old {
            return;
        }
        old = seen;
    }
}

/// `__kmpc_doacross_fini`.
pub(crate) fn okl_mpi_kmpc_doacross_fini(_ident: *mut c_void, _gtid: i32) {}
