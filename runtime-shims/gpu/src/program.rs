//! This process: its heap of large blocks, its device, and who works with them.
//!
//! Guarantee: one thread at a time works with the device. It holds a lock meanwhile which no driver, and no function of the C
//! library, ever waits for on another thread: blocks of theirs are not watched.

use std::cell::{RefCell, UnsafeCell};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering::*};
use std::sync::{Mutex, MutexGuard, OnceLock};

use okl_abi::gpu::does;
use okl_job::end::{self, Speaker};
use okl_job::settings::{self as job_settings, Statistics};
use okl_job::{launcher, own_environment, report};

use crate::arena::{self, Arena};
use crate::arrays;
use crate::costs;
use crate::described::Described;
use crate::device::{Device, Driver, Loader, Problem};
use crate::job;
use crate::offload::{Offload, words};
use crate::settings::{self, Asked, FOUND, KINDS};
use crate::table::{Failure, Kind};
use crate::timeline::{self, Timeline};

/// What runs kernels.
pub enum State {
    /// Nobody has asked yet.
    Unknown,
    /// A device.
    Device(Box<Offload>),
    /// The processor, as the user wants it.
    Processor,
    /// There is no device: why.
    Nothing(String),
}

static STATE: Mutex<State> = Mutex::new(State::Unknown);

/// The thread that holds it.
static HOLDER: AtomicI32 = AtomicI32::new(0);

/// Whether there is, or was, a device: otherwise no memory is watched.
static HAS_DEVICE: AtomicBool = AtomicBool::new(false);

/// Where the user wants to be told what kernels cost, if he does.
static STATISTICS: OnceLock<Statistics> = OnceLock::new();

static ARENA: OnceLock<Option<Arena>> = OnceLock::new();

fn thread() -> i32 {
    // SAFETY: asks for the calling thread's number.
    unsafe { libc::gettid() }
}

/// Whether the calling thread is one that works with the device.
pub fn is_busy() -> bool {
    HOLDER.load(Relaxed) == thread()
}

/// Works with the device. No signal handler of the program runs meanwhile: it could not access memory that is watched.
pub fn with<R>(body: impl FnOnce(&mut State) -> R) -> R {
    // SAFETY: sets of our own. (Page faults stay as they are.)
    let before = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
        before
    };
    let mut state = lock();
    HOLDER.store(thread(), Relaxed);
    let result = body(&mut state);
    HOLDER.store(0, Relaxed);
    drop(state);
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    result
}

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|broken| broken.into_inner())
}

/// Whether there is, or was, a device.
pub fn has_device() -> bool {
    HAS_DEVICE.load(Relaxed)
}

/// Whether all large blocks are of our heap: not where the program has an allocator of its own.
pub fn has_all_large_blocks() -> bool {
    static IS_OURS: OnceLock<bool> = OnceLock::new();
    let arena = ARENA.get().and_then(Option::as_ref);
    let is_ours = || {
        // SAFETY: a look-up by name.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
        object_of(found) == object_of(has_all_large_blocks as *const c_void)
    };
    arena.is_some_and(|arena| !arena.has_been_full()) && *IS_OURS.get_or_init(is_ours)
}

/// The object, by its address, that has an address.
fn object_of(address: *const c_void) -> usize {
    // SAFETY: fills a structure of our own.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(address, &mut found);
        found.dli_fbase.addr()
    }
}

/// The device that this process works with, as far as code is made for it and loaded.
pub struct Loads {
    pub loader: Loader,
    pub processor: String,
}

/// It stays; null where there is none.
static LOADS: AtomicPtr<Loads> = AtomicPtr::new(std::ptr::null_mut());

/// The device, if it is known already.
pub fn loads() -> Option<&'static Loads> {
    // SAFETY: null, or something that stays.
    unsafe { LOADS.load(Acquire).as_ref() }
}

/// Works with the device, where there is one.
fn with_device(body: impl FnOnce(&mut Offload) -> Result<(), String>) -> Result<(), String> {
    with(|state| match state {
        State::Device(offload) => body(offload),
        _ => Ok(()),
    })
}

/// Ends the program with `message`.
pub fn fatal(message: &str) -> ! {
    if let Some(job) = okl_job::of_ranks() {
        job::fatal(job, message);
    }
    // What the program printed before comes first. Not where it may be in the middle of printing.
    if !is_busy() {
        // SAFETY: flushes all streams of the C library.
        unsafe { libc::fflush(std::ptr::null_mut()) };
    }
    end::fatal(message, Speaker::Program)
}

/// The heap of large blocks; it is made here, unless nothing is to run on a device.
pub fn make_arena() -> Option<&'static Arena> {
    let arena = ARENA.get_or_init(|| match is_wanted() {
        true => {
            let arena = Arena::new();
            if arena.is_some() {
                // SAFETY: functions of this library, which stays.
                unsafe {
                    libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child))
                };
            }
            arena
        }
        false => None,
    });
    arena.as_ref()
}

/// The heap of large blocks, if an address is in it.
#[inline]
pub fn arena_of(address: usize) -> Option<&'static Arena> {
    ARENA
        .get()?
        .as_ref()
        .filter(|arena| arena.contains(address))
}

/// Whether a kernel may come to a device: where none is asked for, and none seems to be there, memory is as it would be without
/// this library. (Should there be one, everything is copied at each launch.)
fn is_wanted() -> bool {
    if cfg!(test) {
        return true;
    }
    // The heap of ranks is shared.
    if okl_job::of_ranks().is_some() {
        return false;
    }
    // SAFETY: look-ups by names, of variables and files.
    unsafe {
        let asked = libc::getenv(c"OKL_BACKEND".as_ptr());
        let asked = (!asked.is_null()).then(|| std::ffi::CStr::from_ptr(asked).to_bytes());
        match asked {
            None | Some(b"") => {
                let devices = [
                    c"/dev/nvidiactl",
                    c"/dev/nvidia0",
                    c"/dev/dxg",
                    c"/dev/kfd",
                    c"/dev/dri/renderD128",
                ];
                devices
                    .iter()
                    .any(|file| libc::access(file.as_ptr(), libc::F_OK) == 0)
            }
            Some(asked) => asked != b"cpu",
        }
    }
}

/// Opens a device of that kind. An error says why there is none.
fn open(kind: &'static Kind) -> Result<Device, String> {
    let words = kind.words;
    let driver = Driver::open(kind)
        .map_err(|why| format!("there is no {words} ({why}): {}", kind.remedy))?;
    let told = |Problem { failure, text }| match failure {
        Failure::NoDevice => format!("there is no {words} device ({text}): {}", kind.remedy),
        Failure::Missing => {
            format!("the driver of {words} is too old, {text}: install a newer one")
        }
        _ => format!("{words} does not start ({text}): {}", kind.remedy),
    };
    let count = driver.count().map_err(told)?;
    let number =
        settings::device(own_environment, count, words).unwrap_or_else(|wrong| fatal(&wrong));
    Device::open(driver, number).map_err(told)
}

impl State {
    /// Finds out what runs kernels that have images of these forms, the first choice first; where none are named, of any. An
    /// error says why that is not what the user asks for.
    pub fn choose(&mut self, forms: &[i64]) -> Result<(), String> {
        if !matches!(self, Self::Unknown) {
            return Ok(());
        }
        let asked = settings::backend(own_environment, okl_job::of_ranks().is_some())
            .unwrap_or_else(|wrong| fatal(&wrong));
        let mut why = Vec::new();
        let kinds: Vec<&'static Kind> = match asked {
            Asked::Processor => {
                *self = Self::Processor;
                return Ok(());
            }
            Asked::Kind(kind) => vec![kind],
            Asked::Any => {
                let mut kinds = KINDS[..FOUND].to_vec();
                let choice = |kind: &&Kind| forms.iter().position(|form| *form == kind.form);
                if !forms.is_empty() {
                    kinds.retain(|kind| choice(kind).is_some());
                    kinds.sort_by_key(choice);
                }
                kinds
            }
        };
        for kind in kinds {
            match open(kind) {
                Ok(device) => {
                    *self = Self::Device(Box::new(offload(device)));
                    return Ok(());
                }
                Err(reason) if matches!(asked, Asked::Kind(_)) => return Err(reason),
                Err(reason) => why.push(reason),
            }
        }
        *self = Self::Nothing(why.join("; "));
        Ok(())
    }
}

/// Whether the user says on what kernels are to run.
fn is_asked() -> bool {
    job_settings::said(own_environment, "OKL_BACKEND").is_some()
}

fn warn_once(message: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut told = TOLD.lock().unwrap_or_else(|broken| broken.into_inner());
    if told.insert(message.to_owned()) {
        report::say(&format!("warning: {message}"));
    }
}

/// Whether a kernel runs on the device; else it is to run on the processor.
pub fn runs(state: &mut State, kernel: &Described, has_processor: bool) -> Result<bool, String> {
    let words = words(kernel.name, kernel.place);
    let forms: Vec<_> = kernel.images.iter().map(|image| image.form).collect();
    state
        .choose(&forms)
        .map_err(|why| format!("{words}: {why}"))?;
    match state {
        State::Device(offload) => {
            let kind = offload.device.driver.kind;
            match kernel.images.iter().any(|image| image.form == kind.form) {
                true => match offload.image(kernel) {
                    Err(why) if has_processor && !is_asked() => {
                        // All kernels of a program are compiled for the same devices.
                        warn_once(&format!("the processor runs kernels: {why}"));
                        Ok(false)
                    }
                    // What is wrong is said where it is launched.
                    _ => Ok(true),
                },
                false if has_processor => {
                    if is_asked() {
                        warn_once(&format!(
                            "{words}: the processor runs it: it was not compiled for {}",
                            kind.words
                        ));
                    }
                    Ok(false)
                }
                false => Err(format!("{words}: it was not compiled for {}", kind.words)),
            }
        }
        State::Processor if has_processor => Ok(false),
        State::Processor => {
            let said = okl_job::of_ranks().map_or("cpu", |_| "mpi");
            Err(format!(
                "{words}: OKL_BACKEND={said}, and it was not compiled for the processor: compile it with cpu among its targets"
            ))
        }
        State::Nothing(_) if has_processor => Ok(false),
        State::Nothing(why) if why.is_empty() => Err(format!(
            "{words}: it was compiled for no kind of device that okl runs"
        )),
        State::Nothing(why) => Err(format!("{words}: {why}")),
        State::Unknown => unreachable!("it has been chosen"),
    }
}

/// Whether a kernel that runs on the device adds there by comparing and exchanging, as that has no instructions for it.
pub fn exchanges(state: &State, kernel: &Described) -> bool {
    let State::Device(offload) = state else {
        return false;
    };
    let image = offload.image(kernel);
    image.is_ok_and(|image| kernel.does & does::ADDITIONS & !image.adds != 0)
}

/// All that is done with a device.
fn offload(mut device: Device) -> Offload {
    let statistics = wanted_statistics().unwrap_or_else(|wrong| fatal(&wrong));
    let measures = statistics.is_some();
    if let Some(statistics) = statistics {
        let _ = STATISTICS.set(statistics);
    }
    let timeline = Timeline::wanted(own_environment).unwrap_or_else(|wrong| fatal(&wrong));
    let measures = measures || timeline.is_some();
    device.timeline = timeline.map(RefCell::new);
    let loads = Box::new(Loads {
        loader: device.loader(),
        processor: device.processor.clone(),
    });
    LOADS.store(Box::into_raw(loads), Release);
    match okl_job::of_ranks() {
        Some(job) => (job.begin)(end_on_rank),
        // SAFETY: a function of this library, which stays.
        None => unsafe {
            libc::atexit(at_exit);
        },
    }
    note_device();
    Offload::new(device, make_arena(), measures)
}

/// `OKL_STATS`, with the file of this rank, where there are several: it can be written.
fn wanted_statistics() -> Result<Option<Statistics>, String> {
    let statistics = job_settings::statistics(own_environment)?;
    let Some(Statistics::Written(path)) = statistics else {
        return Ok(statistics);
    };
    let file = timeline::file_of(&path, launcher::rank(own_environment));
    let file = std::path::absolute(&file).unwrap_or(file);
    let created = std::fs::File::create(&file);
    created.map_err(|error| {
        format!(
            "OKL_STATS={}: cannot write the file: {error}",
            path.display()
        )
    })?;
    Ok(Some(Statistics::Written(file)))
}

/// Tells what kernels cost, if that is asked for: a table goes to `print`.
fn tell_costs(offload: &Offload, print: impl FnOnce(String)) {
    let device = &offload.device.name;
    match STATISTICS.get() {
        None => {}
        Some(Statistics::Printed) => print(costs::table(device, offload.costs())),
        Some(Statistics::Written(path)) => {
            let rank = launcher::rank(own_environment).unwrap_or(0);
            let text = costs::json(device, rank, offload.costs());
            if let Err(error) = std::fs::write(path, text) {
                report::say(&format!(
                    "warning: the statistics {} are not whole: {error}",
                    path.display()
                ));
            }
        }
    }
}

/// From now on memory may be watched.
pub fn note_device() {
    HAS_DEVICE.store(true, Relaxed);
}

/// The program ends, and the driver does before what the program registered earlier: there are destructors that access, and
/// free, what kernels wrote.
extern "C" fn at_exit() {
    with_device(|offload| {
        offload.wait("the end of the program")?;
        tell_costs(offload, |table| report::write_all(2, table.as_bytes()));
        offload.go_home()?;
        if let Some(timeline) = &offload.device.timeline {
            timeline.borrow().write(&offload.device.name);
        }
        Ok(())
    })
    .unwrap_or_else(|wrong| fatal(&wrong));
}

/// The job of ranks ends: what kernels cost on this one, if the user wants to know.
extern "C" fn end_on_rank(told: extern "C" fn(*const c_void, usize)) {
    with_device(|offload| {
        offload.wait("the end of the program")?;
        tell_costs(offload, |table| {
            let rank = okl_job::of_ranks().map_or(-1, |job| (job.rank)());
            let table = table.replacen('\n', &format!(", rank {rank}\n"), 1);
            told(table.as_ptr().cast(), table.len());
        });
        if let Some(timeline) = &offload.device.timeline {
            timeline.borrow().write(&offload.device.name);
        }
        Ok(())
    })
    .unwrap_or_else(|wrong| fatal(&wrong));
}

/// The host reads or writes at an address that is protected; false where nothing of ours protects it.
pub fn touch(address: usize, writes: bool) -> bool {
    let touched = with(|state| match state {
        State::Device(offload) => offload.touch(address, writes),
        _ => Ok(false),
    });
    touched.unwrap_or_else(|wrong| fatal(&wrong))
}

/// The host, or the system for it, reads or writes a range.
pub fn touch_all(range: Range<usize>, writes: bool) {
    // Threads of a driver move blocks of theirs while another thread waits for them with the lock.
    let is_watched = || {
        arena_of(range.start).is_some_and(|arena| arena.watches(range.start))
            || arrays::is_watched(range.start)
    };
    if has_device() && !is_busy() && is_watched() {
        with_device(|offload| offload.touch_all(range, writes))
            .unwrap_or_else(|wrong| fatal(&wrong));
    }
}

/// A block of the heap goes.
pub fn forget_block(start: usize) {
    with_device(|offload| offload.forget_block(start)).unwrap_or_else(|wrong| fatal(&wrong));
}

/// What is locked while the process forks.
struct Held(UnsafeCell<Option<Forking>>);

struct Forking {
    state: MutexGuard<'static, State>,
    arena: &'static Arena,
    held: arena::Held,
    pipe: [i32; 2],
}

// SAFETY: accessed by the thread that has locked the state only.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

/// A process forks: both have all of its memory, and neither is to see what the other writes.
extern "C" fn before_fork() {
    // A driver that starts a program of its own has nothing to do with ours.
    if is_busy() {
        return;
    }
    let Some(arena) = ARENA.get().and_then(Option::as_ref) else {
        return;
    };
    let mut state = lock();
    HOLDER.store(thread(), Relaxed);
    if let State::Device(offload) = &mut *state {
        offload.go_home().unwrap_or_else(|wrong| fatal(&wrong));
    }
    let mut pipe = [-1; 2];
    // SAFETY: writes two descriptors.
    unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) };
    let forking = Forking {
        state,
        arena,
        held: arena.hold(),
        pipe,
    };
    // SAFETY: this thread has locked the state.
    unsafe { *HELD.0.get() = Some(forking) };
}

/// The parent goes on when the child has copied its blocks.
extern "C" fn after_fork() {
    if let Some(Forking {
        state, held, pipe, ..
    }) = forking()
    {
        let mut byte = 0_u8;
        // SAFETY: descriptors of ours.
        unsafe {
            libc::close(pipe[1]);
            while libc::read(pipe[0], (&raw mut byte).cast(), 1) < 0 && errno() == libc::EINTR {}
            libc::close(pipe[0]);
        }
        drop(held);
        HOLDER.store(0, Relaxed);
        drop(state);
    }
}

/// The child has its own blocks, and no device.
extern "C" fn in_child() {
    if let Some(Forking {
        mut state,
        arena,
        held,
        pipe,
    }) = forking()
    {
        if !arena.separate(&held) {
            fatal("there is no memory for the blocks of a process that was forked");
        }
        // SAFETY: descriptors of ours.
        unsafe {
            libc::write(pipe[1], [1_u8].as_ptr().cast(), 1);
            libc::close(pipe[0]);
            libc::close(pipe[1]);
        }
        if let State::Device(offload) = &mut *state {
            offload.forget_all();
            let old = std::mem::replace(
                &mut *state,
                State::Nothing(
                    "a process that was forked cannot work with the device of its parent"
                        .to_owned(),
                ),
            );
            LOADS.store(std::ptr::null_mut(), Release);
            // Its driver is the parent's.
            std::mem::forget(old);
        }
        HOLDER.store(0, Relaxed);
    }
}

fn forking() -> Option<Forking> {
    if HOLDER.load(Relaxed) == 0 {
        return None;
    }
    // SAFETY: the thread that has locked the state is the one that forks, and in the child the only one.
    unsafe { (*HELD.0.get()).take() }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
