//! Threads, of the program's OpenMP run time.
//!
//! The run time that the program is linked with is used, and libomp where there is none. Both LLVM's and GNU's
//! have the functions below.

use std::{
    ffi::{CStr, c_int, c_uint, c_void},
    sync::OnceLock,
};

use okl_job::{opened::Opened, own_environment, settings};

use crate::{job, report::warn};

/// The functions of the run time.
struct OpenMp {
    parallel: unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void), *mut c_void, c_uint, c_uint),
    barrier: unsafe extern "C" fn(),
    thread_num: unsafe extern "C" fn() -> c_int,
    num_threads: unsafe extern "C" fn() -> c_int,
    max_threads: unsafe extern "C" fn() -> c_int,
    in_parallel: unsafe extern "C" fn() -> c_int,
    /// LLVM's: how many milliseconds a thread without work keeps its processor.
    set_blocktime: Option<unsafe extern "C" fn(c_int)>,
}

/// Where they may be if the program does not have them.
const LIBRARIES: [&CStr; 4] = [c"libomp.so.5", c"libomp.so", c"libomp5.so", c"libgomp.so.1"];

impl OpenMp {
    fn of(library: Opened) -> Option<Self> {
        // SAFETY: these are the signatures of these functions in both run times.
        unsafe {
            Some(Self {
                parallel: library.symbol(c"GOMP_parallel").ok()?,
                barrier: library.symbol(c"GOMP_barrier").ok()?,
                thread_num: library.symbol(c"omp_get_thread_num").ok()?,
                num_threads: library.symbol(c"omp_get_num_threads").ok()?,
                max_threads: library.symbol(c"omp_get_max_threads").ok()?,
                in_parallel: library.symbol(c"omp_in_parallel").ok()?,
                set_blocktime: library.symbol(c"kmp_set_blocktime").ok(),
            })
        }
    }

    /// Of the program, else of a library.
    fn find() -> Option<Self> {
        Self::of(Opened::PROGRAM).or_else(|| {
            let mut libraries = LIBRARIES.into_iter();
            libraries.find_map(|name| Self::of(Opened::for_all(name).ok()?))
        })
    }
}

/// The run time, where `OMP_NUM_THREADS` asks for several threads.
fn open_mp() -> Option<&'static OpenMp> {
    static OPEN_MP: OnceLock<Option<OpenMp>> = OnceLock::new();
    let found = OPEN_MP.get_or_init(|| {
        // A value that is wrong has ended the program at its start.
        let wanted = settings::threads(own_environment).ok().flatten();
        if wanted.is_none_or(|numbers| numbers[0] < 2) {
            return None;
        }
        let found = OpenMp::find();
        if found.is_none() {
            warn("OMP_NUM_THREADS asks for threads, but there is no OpenMP run time: loops run on one");
        }
        found
    });
    found.as_ref()
}

/// Threads that a loop may have now.
pub(crate) fn most_threads() -> usize {
    // SAFETY: functions of the run time, without parameters.
    open_mp().map_or(1, |open_mp| unsafe {
        match (open_mp.in_parallel)() {
            0 => (open_mp.max_threads)().max(1) as usize,
            _ => 1,
        }
    })
}

/// Has threads without work leave their processor at once where the ranks of this node together have more threads
/// than processors: the OpenMP run time knows only those of its own process, and what waits in it would turn where
/// another rank could work. What the user says of waiting holds. Collective.
pub(crate) fn share_processors() {
    if job::ranks() == 1 {
        return;
    }
    let (threads, processors) = job::on_this_node(most_threads(), own_processors());
    let is_said = ["OMP_WAIT_POLICY", "KMP_BLOCKTIME", "KMP_LIBRARY"]
        .into_iter()
        .any(|name| std::env::var_os(name).is_some());
    let set_blocktime = open_mp().and_then(|open_mp| open_mp.set_blocktime);
    if let Some(set_blocktime) = set_blocktime.filter(|_| threads > processors && !is_said) {
        // SAFETY: a function of the run time.
        unsafe { set_blocktime(0) };
    }
}

/// The processors that this process may run on, a bit for each.
fn own_processors() -> [u64; 16] {
    let mut set = [0_u64; 16];
    // SAFETY: the kernel writes into a set of this size.
    unsafe { libc::sched_getaffinity(0, size_of_val(&set), set.as_mut_ptr().cast()) };
    set
}

/// A thread of a team.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    /// Its number, from 0.
    pub(crate) number: usize,
    /// Threads of the team.
    pub(crate) of: usize,
}

impl Member {
    /// Its contiguous share of the numbers up to `count`.
    pub(crate) fn share(self, count: usize) -> std::ops::Range<usize> {
        let begin = |number: usize| (count as u128 * number as u128 / self.of as u128) as usize;
        begin(self.number)..begin(self.number + 1)
    }

    /// The same, beginning at multiples of 64: each line of memory is one thread's, and vectors are whole.
    pub(crate) fn share_of_lines(self, count: usize) -> std::ops::Range<usize> {
        let lines = self.share(count.div_ceil(64));
        lines.start * 64..(lines.end * 64).min(count)
    }

    /// Waits for the others.
    pub(crate) fn wait(self) {
        if let Some(open_mp) = open_mp().filter(|_| self.of > 1) {
            // SAFETY: all members of the team call it.
            unsafe { (open_mp.barrier)() };
        }
    }
}

/// Calls `work` on each of up to `threads` threads.
pub(crate) fn run<F: Fn(Member) + Sync>(threads: usize, work: F) {
    let Some(open_mp) = open_mp().filter(|_| threads > 1) else {
        return work(Member { number: 0, of: 1 });
    };
    unsafe extern "C" fn enter<F: Fn(Member) + Sync>(work: *mut c_void) {
        let open_mp = self::open_mp().expect("it started this thread");
        // SAFETY: `run` passes its own function, which outlives the team.
        unsafe {
            let work = &*work.cast::<F>();
            work(Member {
                number: (open_mp.thread_num)() as usize,
                of: (open_mp.num_threads)() as usize,
            });
        }
    }
    // SAFETY: `enter` gets what it expects, and is back on all threads before this returns.
    unsafe {
        (open_mp.parallel)(
            enter::<F>,
            (&raw const work).cast_mut().cast(),
            threads as c_uint,
            0,
        )
    };
}
