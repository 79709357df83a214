//! Runs one loop, now.
//!
//! Guarantee: the kernel is called once for each element of the set, with pointers to what its arguments stand
//! for; in their order, if there is one thread.

use std::ffi::{c_char, c_void};

use okl_abi::op2::access;

use crate::{
    backend,
    body::{
        Body, Original, both_add, every_meeting, is_number, may_have_lanes, run, run_reproducibly,
    },
    conflicts, device, distribute, job,
    layout::{Arg, Set, argtype},
    local,
    offload::{self, Offload},
    ranks,
    report::text,
    storage, sums, team, times,
    versions::{self, Call, Functions},
};

/// A loop.
#[derive(Clone, Copy)]
pub(crate) struct Loop<'a> {
    pub(crate) name: *const c_char,
    pub(crate) set: *mut Set,
    pub(crate) arguments: &'a [Arg],
    pub(crate) kernel: *mut c_void,
    /// What it was compiled to ahead of time.
    pub(crate) functions: Functions,
    /// Whether nobody notices in which order elements run.
    pub(crate) any_order: bool,
    /// Null, or how a device runs it.
    pub(crate) device: *mut c_void,
    /// Null, or code of which versions may run.
    pub(crate) jit: *mut c_void,
}

/// Calls the kernel for each element of the set.
///
/// # Safety
/// The arguments are right for the loop; the functions call the kernel with as many parameters of its types; the name is a
/// string.
pub(crate) unsafe fn run_now(one: &Loop<'_>) {
    let Loop {
        name,
        set,
        arguments,
        kernel,
        functions: compiled,
        any_order,
        device,
        jit,
    } = *one;
    // SAFETY: the caller's promises.
    unsafe {
        let loop_name = text(name);
        let start = times::now();
        let is_reproducible = backend::is_reproducible();
        let is_ordered = is_reproducible && sums::depend_on_order(arguments);
        if is_ordered && job::ranks() > 1 {
            sums::warn_of_updates(loop_name, arguments);
        }
        let may_have_lanes = |arguments: &[Arg]| {
            // What lanes add to an element, its own code may add in two steps.
            let adds = is_reproducible && arguments.iter().any(|one| one.acc == access::INC);
            !backend::is_sequential() && !is_ordered && !adds && may_have_lanes(arguments)
        };
        let needs_all = job::ranks() > 1 && ranks::needs_all_elements(loop_name, arguments);
        let settling = needs_all.then(|| {
            distribute::make_whole();
            Settling
        });
        let distribution = match needs_all {
            true => None,
            false => distribute::for_loops(),
        };
        if let Some(kernel) = device::Kernel::of(device) {
            let offload = Offload {
                name: loop_name,
                set,
                kernel,
                arguments,
            };
            if let Some(way) = offload.run(distribution.as_deref()) {
                let seconds = times::now() - start - way.plan_seconds;
                times::add(name, seconds, bytes((*set).whole as usize, arguments), way);
                drop(settling);
                return;
            }
        } else {
            offload::tell_of_none(loop_name);
        }
        let mut arguments = arguments.to_vec();
        ranks::bring(&mut arguments);
        let by_component = storage::lay(loop_name, &arguments, || {
            if compiled.components.is_none() {
                return Some("was not compiled for that");
            }
            let are_separate = every_meeting(&arguments, both_add);
            (!are_separate).then_some("uses them through several arguments")
        });
        ranks::refresh(&mut arguments);
        let arguments = &arguments[..];
        let version = versions::find(jit, arguments, compiled, by_component > 0);
        let (newer, turn) = version.map(Call::begin).unzip();
        let functions = newer.flatten().unwrap_or(compiled);
        let (range, lanes) = match by_component {
            0 => (functions.range, functions.lanes),
            _ => (functions.components, functions.component_lanes),
        };
        let range = range.expect("a loop has such a function");
        let lanes = lanes.filter(|_| functions.width > 1 && may_have_lanes(arguments));
        conflicts::tell(loop_name, set, arguments, distribution.as_deref());
        // Where each rank declares a part, an element's number is that of its data on the rank.
        let told = distribution.as_ref().filter(|_| !local::is_local());
        let original = told.map(|distribution| Original {
            distribution,
            numbers: &distribution.part(set).numbers,
            are_asked_for: arguments.iter().any(is_number),
        });
        let body = Body {
            name: loop_name,
            kernel,
            range: lanes.unwrap_or(range),
            any_order: any_order && !is_ordered,
            may_throw: !any_order,
            is_ordered,
            original,
        };
        let size = match &distribution {
            None => (*set).whole as usize,
            Some(distribution) => distribution.part(set).owned,
        };
        let most = match body.any_order && size >= LEAST_SIZE && !backend::is_sequential() {
            true => team::most_threads(),
            false => 1,
        };
        let mut way = match &distribution {
            None if is_ordered => run_reproducibly(&body, 0..size, arguments),
            None => run(&body, 0..size, arguments, most),
            Some(distribution) => ranks::run_distributed(&body, set, arguments, most, distribution),
        };
        if lanes.is_some() {
            way.lanes = functions.width as usize;
        }
        way.by_component = by_component;
        let seconds = times::now() - start - way.plan_seconds;
        if let Some((call, turn)) = version.zip(turn) {
            call.version().took(turn, seconds / size.max(1) as f64);
        }
        times::add(name, seconds, bytes(size, arguments), way);
        drop(settling);
    }
}

/// Distributes the mesh again after a loop for which it was whole, also where an exception leaves that.
struct Settling;

impl Drop for Settling {
    fn drop(&mut self) {
        distribute::settle();
    }
}

/// Smaller sets are not worth a second thread.
const LEAST_SIZE: usize = 512;

/// Bytes that a loop over `size` elements moves if every datum is read or written once for each element, and twice
/// where it is both.
fn bytes(size: usize, arguments: &[Arg]) -> f64 {
    use okl_abi::op2::access::{INC, RW};
    let each = arguments
        .iter()
        .filter(|one| one.argtype == argtype::DAT && one.opt != 0);
    let each = each.map(|one| {
        let times = if matches!(one.acc, RW | INC) { 2 } else { 1 };
        let columns = if one.idx < -1 { -one.idx } else { 1 };
        f64::from(one.size) * f64::from(times * columns)
    });
    each.sum::<f64>() * size as f64
}
