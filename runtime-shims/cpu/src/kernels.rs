//! The kernels of the program, what their calls took, and the table of it.
//!
//! Guarantee: without `OKL_STATS=1` a kernel pays for two calls that return at once. Calls of which nothing ran on the
//! processor are not among them: the run time for devices tells of these.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

use okl_abi::cpu::Kernel;
use okl_job::end::{Speaker, fatal};
use okl_job::{own_environment, report, settings};

use crate::bytes::{self, Bytes, Declared};

/// Whether the user asks for it; asked once.
static MEASURES: OnceLock<bool> = OnceLock::new();

/// The kernels by their numbers from 1 on.
static KERNELS: Mutex<Vec<Cost>> = Mutex::new(Vec::new());

/// What a kernel costs.
#[derive(Default)]
struct Cost {
    name: String,
    place: String,
    calls: u64,
    nanoseconds: u64,
    /// What calls that have ended read and wrote.
    bytes: [Bytes; 2],
    /// What threads have said since the last call ended.
    said: Vec<Declared>,
    /// What they said in the last call that ended, and what that comes to: calls are mostly of the same data.
    before: (Vec<Declared>, [Bytes; 2]),
}

impl Cost {
    /// A call ends.
    fn add(&mut self, nanoseconds: u64) {
        self.calls += 1;
        self.nanoseconds += nanoseconds;
        let said = std::mem::take(&mut self.said);
        if self.before.0 != said || self.calls == 1 {
            let bytes = bytes::of(&said);
            self.before = (said, bytes);
        }
        for (all, more) in self.bytes.iter_mut().zip(self.before.1) {
            all.known = all.known.saturating_add(more.known);
            all.are_more |= more.are_more;
        }
    }
}

/// How many kernels the run time for devices has launched, where it is there.
fn launched() -> u64 {
    static ASKS: OnceLock<Option<extern "C" fn() -> u64>> = OnceLock::new();
    let found = ASKS.get_or_init(|| {
        // SAFETY: a look-up by name; there it is a function of that type.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"__okl_gpu_launched".as_ptr());
            std::mem::transmute::<*mut c_void, Option<extern "C" fn() -> u64>>(found)
        }
    });
    found.map_or(0, |asks| asks())
}

thread_local! {
    /// What had been launched when the call began that the thread makes.
    static LAUNCHED: Cell<u64> = const { Cell::new(0) };
}

fn measures() -> bool {
    *MEASURES.get_or_init(|| {
        let asked = settings::statistics(own_environment);
        asked
            .unwrap_or_else(|wrong| fatal(&wrong, Speaker::Program))
            .is_some()
    })
}

/// Nanoseconds since some moment before the program.
fn now() -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// What is known of a kernel; it gets a number where it has none.
///
/// # Safety
/// `kernel` is a kernel of the program's.
unsafe fn with_cost(kernel: *mut c_void, change: impl FnOnce(&mut Cost)) {
    // SAFETY: the caller's promise; the texts are NUL-terminated.
    let (number, texts) = unsafe {
        let kernel = kernel.cast::<Kernel>();
        let text = |text: *mut c_void| CStr::from_ptr(text.cast::<c_char>());
        let number = AtomicI64::from_ptr(&raw mut (*kernel).number);
        (number, [text((*kernel).name), text((*kernel).place)])
    };
    let mut kernels = KERNELS.lock().expect("no panic while it is locked");
    if number.load(Relaxed) == 0 {
        if kernels.is_empty() {
            // SAFETY: a function of this library, which stays.
            unsafe { libc::atexit(print) };
        }
        let [name, place] = texts.map(|text| text.to_string_lossy().into_owned());
        // An object that was closed and opened again has the same ones.
        let is_same = |one: &Cost| one.name == name && one.place == place;
        let known = kernels.iter().position(is_same);
        let at = known.unwrap_or_else(|| {
            kernels.push(Cost {
                name,
                place,
                ..Cost::default()
            });
            kernels.len() - 1
        });
        number.store(at as i64 + 1, Relaxed);
    }
    change(&mut kernels[number.load(Relaxed) as usize - 1]);
}

/// See [`okl_abi::cpu`].
///
/// # Safety
/// None: it is called as the others are.
pub unsafe fn okl_cpu_begin_kernel_v1(_kernel: *mut c_void) -> i64 {
    if !measures() {
        return 0;
    }
    LAUNCHED.set(launched());
    now()
}

/// See [`okl_abi::cpu`].
///
/// # Safety
/// `kernel` is the kernel that ends.
pub unsafe fn okl_cpu_end_kernel_v1(kernel: *mut c_void, begin: i64) {
    if begin != 0 {
        let took = now() - begin;
        let on_device = launched() != LAUNCHED.get();
        let add = |cost: &mut Cost| {
            if !on_device || !cost.said.is_empty() {
                cost.add(took as u64);
            }
        };
        // SAFETY: the caller's promise.
        unsafe { with_cost(kernel, add) };
    }
}

/// See [`okl_abi::cpu`].
///
/// # Safety
/// `kernel` is the kernel that runs, `table` null or one of the pass's, and `computed` its values.
pub unsafe fn okl_cpu_accesses_v1(kernel: *mut c_void, table: *mut c_void, computed: *mut c_void) {
    if measures() {
        // SAFETY: the caller's promise.
        unsafe {
            let said = Declared::of(table, computed);
            with_cost(kernel, |cost| cost.said.push(said));
        }
    }
}

/// Prints what all kernels cost, the most expensive first.
extern "C" fn print() {
    let kernels = KERNELS.lock().expect("no panic while it is locked");
    let mut called: Vec<&Cost> = kernels.iter().filter(|one| one.calls > 0).collect();
    called.sort_by_key(|one| std::cmp::Reverse(one.nanoseconds));
    if !called.is_empty() {
        report::write_all(2, table(called).as_bytes());
    }
}

/// Columns behind the kernel's name, and their widths.
const COLUMNS: [(&str, usize); 6] = [
    ("calls", 9),
    ("seconds", 11),
    ("MB read", 12),
    ("MB written", 12),
    ("GB/s", 8),
    ("at", 0),
];

fn table<'k>(kernels: impl IntoIterator<Item = &'k Cost>) -> String {
    let rows = kernels.into_iter().map(|one| {
        let seconds = one.nanoseconds as f64 * 1e-9;
        let [read, written] = one.bytes.map(megabytes);
        let known: u64 = one.bytes.iter().map(|bytes| bytes.known).sum();
        let are_more = one.bytes.iter().any(|bytes| bytes.are_more);
        let rate = match known {
            0 if are_more => "?".to_string(),
            _ => format!("{:.2}{}", known as f64 * 1e-9 / seconds, plus(are_more)),
        };
        let cells = [
            one.calls.to_string(),
            format!("{seconds:.6}"),
            read,
            written,
            rate,
            one.place.clone(),
        ];
        (one.name.as_str(), cells)
    });
    report::table("kernels", COLUMNS, &rows.collect::<Vec<_>>())
}

/// What follows a number where there is more of it.
fn plus(are_more: bool) -> &'static str {
    if are_more { "+" } else { "" }
}

fn megabytes(bytes: Bytes) -> String {
    match bytes {
        Bytes {
            known: 0,
            are_more: true,
        } => "?".to_string(),
        Bytes { known, are_more } => format!("{:.3}{}", known as f64 * 1e-6, plus(are_more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_is_known() {
        let bytes = |known, are_more| Bytes { known, are_more };
        let one = |name: &str, calls, nanoseconds, bytes| Cost {
            name: name.to_string(),
            place: "k.okl:3".to_string(),
            calls,
            nanoseconds,
            bytes,
            ..Cost::default()
        };
        let all = [
            one(
                "add",
                10,
                2_000_000,
                [bytes(16_000_000, false), bytes(8_000_000, false)],
            ),
            one(
                "gather",
                1,
                1_000,
                [bytes(4_000, true), bytes(4_000, false)],
            ),
            one("unknown", 1, 0, [bytes(0, true); 2]),
        ];
        let expected = "okl: kernels\n  \
             kernel      calls     seconds      MB read   MB written     GB/s at\n  \
             add            10    0.002000       16.000        8.000    12.00 k.okl:3\n  \
             gather          1    0.000001       0.004+        0.004    8.00+ k.okl:3\n  \
             unknown         1    0.000000            ?            ?        ? k.okl:3\n";
        assert_eq!(table(&all), expected);
    }

    #[test]
    fn a_call_that_says_nothing_is_not_known() {
        let mut cost = Cost::default();
        cost.add(5);
        cost.add(7);
        assert_eq!((cost.calls, cost.nanoseconds), (2, 12));
        assert!(cost.bytes.iter().all(|bytes| bytes.are_more));
    }
}
