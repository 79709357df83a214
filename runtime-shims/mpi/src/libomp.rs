//! The OpenMP run time that the program is linked with, whose threads are those of a rank.
//!
//! Guarantee: what it allocates is private to the process ([`crate::interpose`] knows its code), and it is called only where a
//! rank has several threads.

use std::{
    ffi::{CStr, c_char, c_void},
    sync::{
        OnceLock,
        atomic::{AtomicI32, AtomicPtr, Ordering::Relaxed},
    },
};

use okl_job::{functions, opened::Opened};

use crate::report;

functions! {
    /// Its functions. Those that are told where they are called can be told nothing: [`place`].
    Functions {
        __kmpc_global_thread_num(*mut c_void) -> i32;
        __kmpc_push_num_threads(*mut c_void, i32, i32);
        __kmpc_barrier(*mut c_void, i32);
        __kmpc_serialized_parallel(*mut c_void, i32);
        __kmpc_end_serialized_parallel(*mut c_void, i32);
        __kmpc_omp_task_alloc(*mut c_void, i32, i32, usize, usize, *mut c_void) -> *mut c_void;
        __kmpc_omp_task(*mut c_void, i32, *mut c_void) -> i32;
        __kmpc_omp_task_with_deps(*mut c_void, i32, *mut c_void, i32, *mut c_void, i32, *mut c_void) -> i32;
        __kmpc_omp_task_begin_if0(*mut c_void, i32, *mut c_void);
        __kmpc_omp_task_complete_if0(*mut c_void, i32, *mut c_void);
        __kmpc_omp_wait_deps(*mut c_void, i32, i32, *mut c_void, i32, *mut c_void);
        __kmpc_omp_taskwait_deps_51(*mut c_void, i32, i32, *mut c_void, i32, *mut c_void, i32);
        __kmpc_omp_taskwait(*mut c_void, i32) -> i32;
        __kmpc_omp_taskyield(*mut c_void, i32, i32) -> i32;
        __kmpc_taskgroup(*mut c_void, i32);
        __kmpc_end_taskgroup(*mut c_void, i32);
        __kmpc_taskloop_5(*mut c_void, i32, *mut c_void, i32, *mut c_void, *mut c_void, i64, i32, i32, i64, i32, *mut c_void);
        __kmpc_taskred_init(i32, i32, *mut c_void) -> *mut c_void;
        __kmpc_taskred_modifier_init(*mut c_void, i32, i32, i32, *mut c_void) -> *mut c_void;
        __kmpc_task_reduction_get_th_data(i32, *mut c_void, *mut c_void) -> *mut c_void;
        __kmpc_task_reduction_modifier_fini(*mut c_void, i32, i32);
        __kmpc_task_allow_completion_event(*mut c_void, i32, *mut c_void) -> *mut c_void;
        omp_fulfill_event(i64);
        omp_in_final() -> i32;
        omp_in_explicit_task() -> i32;
        omp_get_thread_num() -> i32;
        omp_get_num_threads() -> i32;
        omp_set_dynamic(i32);
        kmp_set_blocktime(i32);
    }
}

/// Its functions. A program that has none of them ends.
pub(crate) fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        // SAFETY: LLVM's run time has functions of these names and types.
        let found = unsafe { Functions::of(Opened::PROGRAM) };
        found.unwrap_or_else(|why| is_missing(&why))
    })
}

/// Whether the program has them.
pub(crate) fn is_there() -> bool {
    // SAFETY: as in `functions`.
    unsafe { Functions::of(Opened::PROGRAM) }.is_ok()
}

fn is_missing(why: &str) -> ! {
    report::fatal(&format!(
        "OMP_NUM_THREADS asks for several threads on each rank, for which the program has to be linked with LLVM's OpenMP run \
         time (-fopenmp): {why}"
    ))
}

/// The run time's `ident_t`: where something was written in the program.
#[repr(C)]
struct Ident {
    reserved: i32,
    flags: i32,
    more: [i32; 2],
    text: *const c_char,
}

// SAFETY: a constant.
unsafe impl Sync for Ident {}

static NOWHERE: Ident = Ident {
    reserved: 0,
    // What `kmp.h` calls KMP_IDENT_KMPC.
    flags: 2,
    more: [0; 2],
    text: c";unknown;unknown;0;0;;".as_ptr(),
};

/// A place that is not known.
pub(crate) fn place() -> *mut c_void {
    (&raw const NOWHERE).cast_mut().cast()
}

/// The run time's number of the calling thread.
pub(crate) fn thread() -> i32 {
    // SAFETY: asks for a number.
    unsafe { (functions().__kmpc_global_thread_num)(place()) }
}

/// A barrier of the rank's threads, which run tasks there.
pub(crate) fn barrier() {
    // SAFETY: every thread of the rank calls it.
    unsafe { (functions().__kmpc_barrier)(place(), thread()) }
}

type ForkCall = unsafe extern "C-unwind" fn(
    *mut c_void,
    i32,
    unsafe extern "C-unwind" fn(*mut i32, *mut i32, *mut c_void),
    ...
);

const FORK_CALL: &CStr = c"__kmpc_fork_call";

/// What is being run, on how many threads.
static BODY: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
static WANTED: AtomicI32 = AtomicI32::new(0);

/// Runs `body` on `threads` threads, of which the caller is the first: `body` gets the number of each.
pub(crate) fn fork(threads: i32, body: fn(usize)) {
    unsafe extern "C-unwind" fn share(_: *mut i32, _: *mut i32, _: *mut c_void) {
        let functions = functions();
        // SAFETY: asks for numbers.
        let (index, threads) = unsafe {
            (
                (functions.omp_get_thread_num)(),
                (functions.omp_get_num_threads)(),
            )
        };
        // SAFETY: `fork` stored it.
        let (body, wanted) = unsafe {
            let body = std::mem::transmute::<*mut (), fn(usize)>(BODY.load(Relaxed));
            (body, WANTED.load(Relaxed))
        };
        if threads != wanted {
            report::fatal(&format!(
                "the OpenMP run time has {threads} threads for a rank, and not the {wanted} that were asked for"
            ));
        }
        body(index as usize);
    }
    BODY.store(body as *mut (), Relaxed);
    WANTED.store(threads, Relaxed);
    // SAFETY: LLVM's run time has a function of this name and type, which calls `share` on each thread.
    unsafe {
        let fork_call: ForkCall = Opened::PROGRAM
            .symbol(FORK_CALL)
            .unwrap_or_else(|why| is_missing(&why));
        (functions().__kmpc_push_num_threads)(place(), thread(), threads);
        fork_call(place(), 0, share);
    }
}
