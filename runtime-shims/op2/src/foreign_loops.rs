//! Loops of programs compiled against OP2's own header on several ranks: they run their elements themselves, and
//! call the functions below.
//!
//! Guarantee: that of `ranks`, but for what goes along with a least or greatest value: of several equal ones
//! that of the first rank wins.

use std::{
    ffi::{c_int, c_void},
    sync::Mutex,
};

use okl_abi::op2::access;

use crate::{
    backend, distribute,
    exchange::{self, Exchange},
    job,
    layout::{Arg, Set, argtype},
    local, private,
    ranks::{bring, combine, executes_others, mark, stale},
    report::fatal,
    settings, storage, sums, waiting,
};

/// The loop that runs, in a program compiled against OP2's own header.
struct Foreign {
    /// Such a loop takes the set's size for the number of elements that are owned.
    set: *mut Set,
    size: i32,
    exchange: Option<Exchange<'static>>,
}

// SAFETY: used by the program's own thread only.
unsafe impl Send for Foreign {}

static FOREIGN: Mutex<Option<Foreign>> = Mutex::new(None);

/// Ends the job if an exception has left such a loop: what others have sent is not where it belongs, and whether the same
/// has happened on other ranks nobody knows.
pub(crate) fn require_end() {
    if foreign().is_some() && job::ranks() > 1 {
        fatal(
            "op_par_loop: an exception has left the loop before on this rank: compile the program with okl's op_seq.h, with which all ranks agree about that",
        );
    }
}

fn foreign() -> std::sync::MutexGuard<'static, Option<Foreign>> {
    FOREIGN.lock().expect("no panic while it is locked")
}

/// What the loops of programs compiled against OP2's own header call: elements that they execute.
///
/// # Safety
/// The set is declared, and the arguments, `count`, are right for the loop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_mpi_halo_exchanges(
    set: *mut Set,
    count: c_int,
    arguments: *mut Arg,
) -> c_int {
    waiting::run_for("op_mpi_halo_exchanges");
    require_end();
    // SAFETY: the caller's promises.
    unsafe {
        let arguments = std::slice::from_raw_parts_mut(arguments, count as usize);
        storage::lay_for_foreign_loop(arguments);
        let Some(distribution) = distribute::for_loops() else {
            bring(arguments);
            return (*set).whole;
        };
        if settings::combines() && !private::can_be_combined(arguments, true) {
            fatal(
                "op_par_loop: ranks cannot combine one of the global arguments: compile the program with okl's op_seq.h",
            );
        }
        if backend::is_reproducible() && job::ranks() > 1 && sums::depend_on_order(arguments) {
            fatal(
                "op_par_loop: OKL_REPRODUCIBLE needs okl's op_seq.h: compile the program with it",
            );
        }
        bring(arguments);
        let part = distribution.part(set);
        for one in arguments.iter_mut() {
            if one.argtype == argtype::IDX && !local::is_local() {
                // Its numbers are data here.
                let (data, size) = match one.map.as_ref() {
                    None => (part.numbers.as_ptr(), 1),
                    Some(map) => {
                        let rows = distribution.original_rows(map);
                        (rows.add(one.idx as usize), map.dim)
                    }
                };
                one.argtype = argtype::DAT;
                (one.map, one.idx) = (std::ptr::null_mut(), -1);
                one.size = size * size_of::<i32>() as i32;
                one.data = data.cast_mut().cast();
            }
            let adds = private::is_reduction(one) && one.acc == access::INC;
            if adds && settings::combines() && job::rank() > 0 {
                one.data.write_bytes(0, one.size as usize);
            }
        }
        let dats = stale(arguments);
        let begun = (!dats.is_empty()).then(|| exchange::begin(&distribution, dats, None));
        let size = foreign().take().map_or((*set).size, |left| {
            // On one rank an exception may have left the loop before.
            (*left.set).size = left.size;
            (*set).size
        });
        *foreign() = Some(Foreign {
            set,
            size,
            exchange: begun,
        });
        (*set).size = part.owned as i32;
        match executes_others(arguments) {
            true => part.executed as c_int,
            false => part.owned as c_int,
        }
    }
}

/// The same: what others sent has arrived.
#[unsafe(no_mangle)]
pub extern "C" fn op_mpi_wait_all(_count: c_int, _arguments: *mut Arg) {
    let exchange = foreign()
        .as_mut()
        .and_then(|foreign| foreign.exchange.take());
    if let (Some(exchange), Some(distribution)) = (exchange, distribute::current()) {
        // SAFETY: no element runs.
        unsafe { exchange.complete(&distribution) };
    }
}

/// The same: lends MPI a hand.
#[unsafe(no_mangle)]
pub extern "C" fn op_mpi_test_all(_count: c_int, _arguments: *mut Arg) {
    let mut foreign = foreign();
    if let Some(exchange) = foreign.as_mut().and_then(|one| one.exchange.as_mut()) {
        exchange.progress();
    }
}

/// The same: nothing, for what is sent is counted already.
#[unsafe(no_mangle)]
pub extern "C" fn op_mpi_perf_comms(_kernel: *mut c_void, _count: c_int, _arguments: *mut Arg) {}

/// The same: what was written has changed. Global arguments are combined here, where all are known.
///
/// # Safety
/// The arguments are those of [`op_mpi_halo_exchanges`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_mpi_set_dirtybit(count: c_int, arguments: *mut Arg) {
    let Some(done) = foreign().take() else {
        return;
    };
    // SAFETY: the caller's promise.
    unsafe {
        (*done.set).size = done.size;
        let arguments = std::slice::from_raw_parts(arguments, count as usize);
        mark(arguments);
        if !settings::combines() {
            return;
        }
        let copies = private::copies(arguments, job::ranks());
        for copy in &copies {
            let one = &arguments[copy.at()];
            let mine = copy.of(job::rank());
            mine.copy_from_nonoverlapping(one.data, copy.bytes());
            if one.acc == access::INC && one.argtype == argtype::GBL {
                one.data.write_bytes(0, copy.bytes());
            }
        }
        combine(arguments, &copies, Vec::new());
    }
}

macro_rules! reduce {
    ($($name:ident $type:ty)*) => {$(
        /// The same: global arguments are combined already.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_argument: *mut Arg, _data: *mut $type) {}
    )*};
}
reduce! { op_mpi_reduce_float f32  op_mpi_reduce_double f64  op_mpi_reduce_int i32  op_mpi_reduce_bool bool }
