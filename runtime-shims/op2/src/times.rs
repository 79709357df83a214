//! Times: of the program, and of each parallel loop.

use std::{
    ffi::{CString, c_char, c_void},
    sync::{
        Mutex,
        atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed},
    },
};

use crate::{
    layout::Kernel,
    report::{print, text, write_file},
};

/// The loops by name, in the order of their first calls.
struct Kernels {
    list: Vec<Kernel>,
    /// How each ran last; seconds of its plans.
    ways: Vec<Way>,
}

// SAFETY: the names are the library's own allocations and are never freed.
unsafe impl Send for Kernels {}

/// How a loop ran.
#[derive(Clone, Copy, Default)]
pub(crate) struct Way {
    /// Threads.
    pub(crate) threads: usize,
    /// Elements at a time.
    pub(crate) lanes: usize,
    /// Colours of its plan; 0 where it has none.
    pub(crate) colours: usize,
    /// Seconds spent on the plan.
    pub(crate) plan_seconds: f64,
}

static KERNELS: Mutex<Kernels> = Mutex::new(Kernels {
    list: Vec::new(),
    ways: Vec::new(),
});

#[unsafe(export_name = "OP_kernels")]
static KERNEL_LIST: AtomicPtr<Kernel> = AtomicPtr::new(std::ptr::null_mut());
#[unsafe(export_name = "OP_kern_max")]
static KERNEL_COUNT: AtomicI32 = AtomicI32::new(0);
/// The bits of a double: seconds spent on plans.
#[unsafe(export_name = "OP_plan_time")]
static PLAN_TIME: AtomicU64 = AtomicU64::new(0);

/// Seconds since some moment.
pub(crate) fn now() -> f64 {
    seconds_of(libc::CLOCK_MONOTONIC)
}

fn seconds_of(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A call of the loop `name`; its record.
///
/// # Safety
/// `name` is a string.
pub(crate) unsafe fn add(name: *const c_char, seconds: f64, bytes: f64, way: Way) -> *mut Kernel {
    let mut kernels = KERNELS.lock().expect("no panic while it is locked");
    let Kernels { list, ways } = &mut *kernels;
    // SAFETY: the caller's promise; names in the list stay.
    let found = list
        .iter()
        .position(|one| unsafe { text(one.name) == text(name) });
    let at = found.unwrap_or_else(|| {
        // SAFETY: the caller's promise.
        let name = CString::new(unsafe { text(name) }).expect("it was a C string");
        list.push(Kernel {
            name: name.into_raw(),
            count: 0,
            time: 0.0,
            times: std::ptr::null_mut(),
            ntimes: 0,
            plan_time: 0.0,
            transfer: 0.0,
            transfer2: 0.0,
            mpi_time: 0.0,
        });
        ways.push(Way::default());
        KERNEL_COUNT.store(list.len() as i32, Relaxed);
        list.len() - 1
    });
    KERNEL_LIST.store(list.as_mut_ptr(), Relaxed);
    let kernel = &mut list[at];
    kernel.count += 1;
    kernel.time += seconds;
    kernel.transfer += bytes as f32;
    ways[at] = Way {
        plan_seconds: ways[at].plan_seconds + way.plan_seconds,
        ..way
    };
    kernel.plan_time = ways[at].plan_seconds as f32;
    let all: f64 = ways.iter().map(|way| way.plan_seconds).sum();
    PLAN_TIME.store(all.to_bits(), Relaxed);
    kernel
}

/// What the loops of programs compiled against OP2's own header call at their end.
///
/// # Safety
/// `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_mpi_perf_time(name: *const c_char, seconds: f64) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { add(name, seconds, 0.0, Way::default()) }.cast()
}

/// Processor and wall-clock time in seconds.
///
/// # Safety
/// Both are variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_timers_core(cpu: *mut f64, wall: *mut f64) {
    // SAFETY: the caller's promise.
    unsafe {
        *cpu = seconds_of(libc::CLOCK_PROCESS_CPUTIME_ID);
        *wall = now();
    }
}

/// The same, at the same moment on all processes.
///
/// # Safety
/// Both are variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_timers(cpu: *mut f64, wall: *mut f64) {
    // SAFETY: the caller's promise.
    unsafe { op_timers_core(cpu, wall) }
}

/// The columns of the table of loops.
const HEADINGS: [&str; 8] = [
    "calls", "seconds", "GB/s", "threads", "lanes", "colours", "plan", "loop",
];

/// A loop's row. Threads, lanes and colours are those of its last call.
fn row((kernel, way): (&Kernel, &Way)) -> [String; 8] {
    let rate = match kernel.time {
        0.0 => 0.0,
        time => f64::from(kernel.transfer) / time * 1e-9,
    };
    let count = |number: usize| match number {
        0 => "-".to_owned(),
        number => number.to_string(),
    };
    let plan = match way.plan_seconds {
        0.0 => "-".to_owned(),
        seconds => format!("{seconds:.4}"),
    };
    [
        kernel.count.to_string(),
        format!("{:.4}", kernel.time),
        format!("{rate:.2}"),
        count(way.threads),
        count(way.lanes),
        count(way.colours),
        plan,
        // SAFETY: names in the list stay.
        unsafe { text(kernel.name) }.to_owned(),
    ]
}

fn rows() -> Vec<[String; 8]> {
    let kernels = KERNELS.lock().expect("no panic while it is locked");
    kernels.list.iter().zip(&kernels.ways).map(row).collect()
}

/// Prints what each loop took.
#[unsafe(no_mangle)]
pub extern "C" fn op_timing_output() {
    let headings = HEADINGS.map(str::to_owned);
    for [calls, seconds, rate, threads, lanes, colours, plan, name] in
        std::iter::once(headings).chain(rows())
    {
        print(&format!(
            "  {calls:>8} {seconds:>10} {rate:>8} {threads:>7} {lanes:>5} {colours:>7} {plan:>8}  {name}"
        ));
    }
}

fn write(function: &str, file: &str, separator: &str) {
    let rows = rows().into_iter().map(|row| row.join(separator));
    let lines: Vec<_> = std::iter::once(HEADINGS.join(separator))
        .chain(rows)
        .collect();
    write_file(function, file, (lines.join("\n") + "\n").as_bytes());
}

/// Writes the same to a file.
///
/// # Safety
/// `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_timing_output_2_file(file: *const c_char) {
    // SAFETY: the caller's promise.
    write("op_timing_output_2_file", unsafe { text(file) }, "\t");
}

/// Writes the same, values separated by commas.
///
/// # Safety
/// `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_timings_to_csv(file: *const c_char) {
    // SAFETY: the caller's promise.
    write("op_timings_to_csv", unsafe { text(file) }, ",");
}
