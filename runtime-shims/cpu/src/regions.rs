//! Versions of regions: what the threads of a team run is compiled once more for the values that a region gets.
//!
//! Guarantee: what runs is a version whose values are those that are there when the region begins, or the code as it was
//! compiled ahead of time.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::time::Instant;

use okl_abi::cpu::RegionCall;
use okl_abi::devices::ForDevices;
use okl_abi::jit::{JitValue, value, value::Through};
use okl_job::of_ranks;
use okl_versions::{Asked, Call, Receiver, Turn};

/// What the threads of a team run.
#[derive(Clone, Copy)]
struct Body(*mut c_void);

// SAFETY: a function's address.
unsafe impl Send for Body {}
// SAFETY: as above.
unsafe impl Sync for Body {}

type Version = okl_versions::Version<Body>;

/// What a version calls in place of `okl_cpu_version_v2`: writes its function to its first argument.
unsafe extern "C" fn receive(
    to: *mut c_void,
    _code: *mut c_void,
    function: *mut c_void,
    _arguments: *mut c_void,
) -> *mut c_void {
    // SAFETY: what was asked for has room there.
    unsafe { to.cast::<Body>().write(Body(function)) };
    function
}

/// Nanoseconds since some moment.
fn now() -> i64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as i64
}

/// See [`okl_abi::cpu`].
///
/// # Safety
/// `code` is code of `function`, a region's; `arguments` are what it gets; `call` has room.
pub(crate) unsafe fn okl_cpu_version_v2(
    call: *mut c_void,
    code: *mut c_void,
    function: *mut c_void,
    arguments: *mut c_void,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    let values = unsafe { okl_versions::values(&*code.cast()) };
    let place = |one: &JitValue| {
        let argument = arguments.cast::<u64>().wrapping_add(one.place as usize);
        match one.kind {
            // SAFETY: a pointer to a variable, as the code says.
            value::BEHIND | value::MEMBER => unsafe {
                let variable = argument.cast::<*const u8>().read();
                variable.wrapping_add(one.offset as usize)
            },
            // It has no bytes.
            value::GIVEN | value::LOADED | value::NAMED => NonNull::dangling().as_ptr(),
            value::THROUGH => {
                let through = Through::from_bits(one.offset);
                // SAFETY: the code says that they are there.
                let pointer = unsafe { pointer(values, one.place, arguments) };
                match through.is_there(pointer.addr(), one.size) {
                    true => pointer.wrapping_add(through.offset as usize),
                    false => std::ptr::null(),
                }
            }
            _ => argument.cast::<u8>().cast_const(),
        }
    };
    // Mathematical functions write it, which are not asked what they write.
    // SAFETY: each thread has one.
    let errno = unsafe { libc::__errno_location() };
    let are_there = values.iter().all(|one| match one.kind {
        value::THROUGH | value::MEMBER => {
            let place = place(one);
            !place.is_null() && place != errno.cast()
        }
        _ => true,
    });
    if !are_there {
        apart(|| {
            // SAFETY: the caller's promise; all versions of the code are of this type.
            unsafe { okl_versions::pass::<Body>(code.cast()) }
        });
        // SAFETY: the caller's promise.
        unsafe {
            call.cast::<RegionCall>().write(RegionCall {
                version: std::ptr::null_mut(),
                begin: 0,
                turn: 0,
            });
        }
        return function;
    }
    let asked = Asked {
        code: code.cast(),
        place: &place,
        receiver: Receiver {
            function: receive as *mut c_void,
            unread: 0,
        },
        load: None,
        unwanted: 0,
        compiled: Body(function),
        accepts: |version, _, _| Ok(version),
    };
    let begin = || {
        // SAFETY: the caller's promises; all versions of the code are of this type.
        let found = unsafe { okl_versions::find(&asked) };
        (found, found.map(Call::begin).unzip())
    };
    if let Some(ranks) = of_ranks() {
        // SAFETY: as above.
        unsafe { bring(ranks, &asked) };
    }
    let (found, (newer, turn)) = apart(begin);
    let newer = newer.flatten();
    // A call in which nothing is compared is not timed: asking for the time takes as long as all else here.
    let is_timed = turn.is_some_and(Turn::is_compared);
    let begun = RegionCall {
        version: found.map_or(std::ptr::null_mut(), |one| {
            std::ptr::from_ref(one.version()).cast_mut().cast()
        }),
        begin: if is_timed { now() } else { 0 },
        turn: turn.map_or(0, Turn::to_bits),
    };
    // SAFETY: the caller's promise.
    unsafe { call.cast::<RegionCall>().write(begun) };
    newer.map_or(function, |one| one.0)
}

/// Does something with versions, which are this process's.
fn apart<T>(work: impl FnOnce() -> T) -> T {
    let ranks = of_ranks();
    if let Some(ranks) = ranks {
        (ranks.private)(1);
    }
    let done = work();
    if let Some(ranks) = ranks {
        (ranks.private)(0);
    }
    done
}

/// What the pointer at this position of values is.
///
/// # Safety
/// It and those that lead to it can be read, from what the region gets.
unsafe fn pointer(values: &[JitValue], at: i64, arguments: *mut c_void) -> *const u8 {
    let one = &values[at as usize];
    // SAFETY: the caller's promise.
    unsafe {
        match one.kind {
            value::LOADED => pointer(values, one.place, arguments)
                .wrapping_add(one.offset as usize)
                .cast::<*const u8>()
                .read_unaligned(),
            value::NAMED => one.variable.cast::<u8>().cast_const(),
            _ => arguments.cast::<*const u8>().add(one.place as usize).read(),
        }
    }
}

/// Has other ranks' values be here.
///
/// # Safety
/// The code is one of the program's, and its values are where it is asked for.
unsafe fn bring<E>(ranks: &ForDevices, asked: &Asked<'_, E>) {
    // SAFETY: the caller's promise.
    let values = unsafe { okl_versions::values(&*asked.code) };
    for one in values.iter().filter(|one| one.kind != value::PARAMETER) {
        let from = match one.kind {
            value::VARIABLE => one.variable.addr(),
            _ => (asked.place)(one).addr(),
        };
        (ranks.bring)(from, one.size as usize);
    }
}

/// See [`okl_abi::cpu`].
///
/// # Safety
/// `okl_cpu_version_v2` has filled it in.
pub(crate) unsafe fn okl_cpu_ran_v1(call: *mut c_void) {
    // SAFETY: the caller's promise.
    let call = unsafe { call.cast::<RegionCall>().read() };
    let turn = Turn::from_bits(call.turn);
    if !turn.is_compared() {
        return;
    }
    // SAFETY: versions stay.
    if let Some(version) = unsafe { call.version.cast::<Version>().as_ref() } {
        version.took(turn, (now() - call.begin) as f64 * 1e-9);
    }
}
