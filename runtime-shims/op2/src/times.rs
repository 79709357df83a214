//! Times: of the program, and of each parallel loop.

use std::{
    ffi::{CString, c_char, c_int, c_void},
    sync::{
        Mutex,
        atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed},
    },
};

use crate::{
    job,
    layout::Kernel,
    report::{print, text, warn, write_file},
    settings, waiting,
};

/// The loops by name, in the order of their first calls.
struct Kernels {
    list: Vec<Kernel>,
    /// How each ran last; seconds of its plans.
    ways: Vec<Way>,
}

// SAFETY: the names are the library's own allocations and are never freed.
unsafe impl Send for Kernels {}

/// What one rank sent for a loop, and how long it waited for what others sent.
#[derive(Clone, Copy, Default)]
pub(crate) struct Traffic {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) waiting: f64,
}

/// How a loop ran.
#[derive(Clone, Copy, Default)]
pub(crate) struct Way {
    /// Threads.
    pub(crate) threads: usize,
    /// Elements at a time.
    pub(crate) lanes: usize,
    /// Arguments whose data lie component by component.
    pub(crate) by_component: usize,
    /// Colours of its plan; 0 where it has none.
    pub(crate) colours: usize,
    /// Seconds spent on the plan.
    pub(crate) plan_seconds: f64,
    /// What was exchanged.
    pub(crate) traffic: Traffic,
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

/// Forgets all loops.
pub(crate) fn clear() {
    let mut kernels = KERNELS.lock().expect("no panic while it is locked");
    *kernels = Kernels {
        list: Vec::new(),
        ways: Vec::new(),
    };
    KERNEL_LIST.store(std::ptr::null_mut(), Relaxed);
    KERNEL_COUNT.store(0, Relaxed);
    PLAN_TIME.store(0, Relaxed);
}

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
    let before = ways[at];
    ways[at] = Way {
        plan_seconds: before.plan_seconds + way.plan_seconds,
        traffic: Traffic {
            messages: before.traffic.messages + way.traffic.messages,
            bytes: before.traffic.bytes + way.traffic.bytes,
            waiting: before.traffic.waiting + way.traffic.waiting,
        },
        ..way
    };
    kernel.mpi_time += way.traffic.waiting;
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
    waiting::run_for("op_timers");
    job::barrier();
    // SAFETY: the caller's promise.
    unsafe { op_timers_core(cpu, wall) }
}

/// The mean of what the ranks give, and of its square, on all of them. Collective.
///
/// # Safety
/// `first` and `second` are variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_compute_moment(value: f64, first: *mut f64, second: *mut f64) {
    waiting::run_for("op_compute_moment");
    settings::require_start_with_others("op_compute_moment");
    // SAFETY: the caller's promise.
    unsafe { op_compute_moment_across_times(&value, 1, false, first, second) };
}

/// The same of `count` values on each rank, perhaps but for zeros. Where there are none, the variables are 0.
///
/// # Safety
/// `values` are as many, which may differ between ranks; `first` and `second` are variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_compute_moment_across_times(
    values: *const f64,
    count: c_int,
    ignore_zeros: bool,
    first: *mut f64,
    second: *mut f64,
) {
    waiting::run_for("op_compute_moment_across_times");
    settings::require_start_with_others("op_compute_moment_across_times");
    let mut mine = [0.0; 3];
    for at in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the caller's promise.
        let value = unsafe { *values.add(at) };
        if value != 0.0 || !ignore_zeros {
            mine = [mine[0] + value, mine[1] + value * value, mine[2] + 1.0];
        }
    }
    let all = job::all_gather(&mine.map(f64::to_ne_bytes).concat());
    let all: Vec<f64> = all
        .as_chunks()
        .0
        .iter()
        .map(|&one| f64::from_ne_bytes(one))
        .collect();
    let sum = |at: usize| all.iter().skip(at).step_by(mine.len()).sum::<f64>();
    let values = sum(2).max(1.0);
    // SAFETY: the caller's promise.
    unsafe { (*first, *second) = (sum(0) / values, sum(1) / values) };
}

/// A column of the table of loops: its heading and its width.
type Column = (&'static str, usize);

/// On one rank.
const COLUMNS: [Column; 8] = [
    ("calls", 8),
    ("seconds", 10),
    ("GB/s", 8),
    ("threads", 7),
    ("lanes", 5),
    ("colours", 7),
    ("plan", 8),
    ("loop", 0),
];

/// What several ranks have besides, before the last column.
const COLUMNS_OF_RANKS: [Column; 4] = [
    ("mean", 10),
    ("waiting", 10),
    ("messages", 8),
    ("bytes", 12),
];

/// What there is besides, before the colours, where data lie component by component: for how many arguments.
const COLUMN_OF_COMPONENTS: Column = ("soa", 4);
/// Where it comes.
const LANES_AND_BEFORE: usize = 5;

fn columns(have_components: bool) -> Vec<Column> {
    let mut columns = COLUMNS.to_vec();
    if have_components {
        columns.insert(LANES_AND_BEFORE, COLUMN_OF_COMPONENTS);
    }
    if job::ranks() > 1 {
        let last = columns.len() - 1;
        columns.splice(last..last, COLUMNS_OF_RANKS);
    }
    columns
}

/// What a loop took: on one rank, or as far as all ranks are concerned.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// The most of any rank.
    seconds: f64,
    plan_seconds: f64,
    waiting: f64,
    /// Of all ranks.
    all_seconds: f64,
    transfer: f64,
    messages: f64,
    bytes: f64,
}

impl Cost {
    const NUMBERS: usize = 7;

    fn of(kernel: &Kernel, way: &Way) -> Self {
        Self {
            seconds: kernel.time,
            plan_seconds: way.plan_seconds,
            waiting: way.traffic.waiting,
            all_seconds: kernel.time,
            transfer: f64::from(kernel.transfer),
            messages: way.traffic.messages as f64,
            bytes: way.traffic.bytes as f64,
        }
    }

    fn numbers(&self) -> [f64; Self::NUMBERS] {
        [
            self.seconds,
            self.plan_seconds,
            self.waiting,
            self.all_seconds,
            self.transfer,
            self.messages,
            self.bytes,
        ]
    }

    fn add(&mut self, other: [f64; Self::NUMBERS]) {
        let [
            seconds,
            plan_seconds,
            waiting,
            all_seconds,
            transfer,
            messages,
            bytes,
        ] = other;
        self.seconds = self.seconds.max(seconds);
        self.plan_seconds = self.plan_seconds.max(plan_seconds);
        self.waiting = self.waiting.max(waiting);
        self.all_seconds += all_seconds;
        self.transfer += transfer;
        self.messages += messages;
        self.bytes += bytes;
    }
}

/// The costs of all loops, which all ranks have run in the same order. Collective.
fn costs(kernels: &Kernels) -> Vec<Cost> {
    let mine = kernels.list.iter().zip(&kernels.ways);
    let mine = mine.flat_map(|(kernel, way)| Cost::of(kernel, way).numbers());
    let mine: Vec<u8> = mine.flat_map(f64::to_ne_bytes).collect();
    let all = match job::ranks() {
        1 => mine,
        _ => job::all_gather(&mine),
    };
    let numbers = all.chunks_exact(size_of::<f64>());
    let numbers = numbers.map(|one| f64::from_ne_bytes(one.try_into().expect("eight")));
    let numbers: Vec<f64> = numbers.collect();
    let mut costs = vec![Cost::default(); kernels.list.len()];
    for (at, cost) in numbers.chunks_exact(Cost::NUMBERS).enumerate() {
        let loops = costs.len();
        costs[at % loops].add(cost.try_into().expect("all of them"));
    }
    costs
}

/// A loop's row. Threads, lanes and colours are those of its last call, on this rank.
fn row(kernel: &Kernel, way: &Way, cost: &Cost, have_components: bool) -> Vec<String> {
    let rate = match cost.seconds {
        0.0 => 0.0,
        time => cost.transfer / time * 1e-9,
    };
    let count = |number: usize| match number {
        0 => "-".to_owned(),
        number => number.to_string(),
    };
    let plan = match cost.plan_seconds {
        0.0 => "-".to_owned(),
        seconds => format!("{seconds:.4}"),
    };
    let mut row = vec![
        kernel.count.to_string(),
        format!("{:.4}", cost.seconds),
        format!("{rate:.2}"),
        count(way.threads),
        count(way.lanes),
        count(way.colours),
        plan,
    ];
    if have_components {
        row.insert(LANES_AND_BEFORE, count(way.by_component));
    }
    if job::ranks() > 1 {
        row.extend([
            format!("{:.4}", cost.all_seconds / job::ranks() as f64),
            format!("{:.4}", cost.waiting),
            cost.messages.to_string(),
            cost.bytes.to_string(),
        ]);
    }
    // SAFETY: names in the list stay.
    row.push(unsafe { text(kernel.name) }.to_owned());
    row
}

/// The columns, and the headings and all rows. Collective.
fn table(function: &str) -> (Vec<Column>, Vec<Vec<String>>) {
    if job::has_left_others() {
        warn(&format!(
            "{function} is called after op_exit: the times are those of rank 0"
        ));
    }
    let kernels = KERNELS.lock().expect("no panic while it is locked");
    let costs = costs(&kernels);
    let have_components = kernels.ways.iter().any(|way| way.by_component > 0);
    let columns = columns(have_components);
    let headings = columns.iter().map(|(name, _)| (*name).to_owned());
    let rows = kernels.list.iter().zip(&kernels.ways).zip(&costs);
    let rows = rows.map(|((kernel, way), cost)| row(kernel, way, cost, have_components));
    let rows = std::iter::once(headings.collect()).chain(rows).collect();
    (columns, rows)
}

/// Prints what each loop took: on several ranks, seconds are those of the slowest and the mean, and messages and bytes
/// those that all have sent.
#[unsafe(no_mangle)]
pub extern "C" fn op_timing_output() {
    waiting::run_for("op_timing_output");
    let (columns, rows) = table("op_timing_output");
    for row in rows {
        let cells = row
            .iter()
            .zip(&columns)
            .map(|(cell, (name, width))| match *name {
                "loop" => format!(" {cell}"),
                _ => format!("{cell:>width$}"),
            });
        print(&format!("  {}", cells.collect::<Vec<_>>().join(" ")));
    }
}

fn write(function: &str, file: &str, separator: &str) {
    let (_, rows) = table(function);
    let lines: Vec<_> = rows.iter().map(|row| row.join(separator)).collect();
    write_file(function, file, (lines.join("\n") + "\n").as_bytes());
}

/// Writes the same to a file.
///
/// # Safety
/// `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_timing_output_2_file(file: *const c_char) {
    waiting::run_for("op_timing_output_2_file");
    // SAFETY: the caller's promise.
    write("op_timing_output_2_file", unsafe { text(file) }, "\t");
}

/// Writes the same, values separated by commas.
///
/// # Safety
/// `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_timings_to_csv(file: *const c_char) {
    waiting::run_for("op_timings_to_csv");
    // SAFETY: the caller's promise.
    write("op_timings_to_csv", unsafe { text(file) }, ",");
}
