//! What the program calls where a kernel runs.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use okl_abi::gpu::{parameter, runs as by};
use okl_abi::jit::JitCode;

use crate::described::{self, Described};
use crate::fault;
use crate::offload::{Offload, words};
use crate::places::Context;
use crate::program::{self, State, exchanges, runs};
use crate::ranks;
use crate::values::Values;
use crate::versions::{self, Version};

/// How many kernels have been launched.
static LAUNCHED: AtomicU64 = AtomicU64::new(0);

/// Whether one has been launched since the program waited for all.
static UNDER_WAY: AtomicBool = AtomicBool::new(false);

/// How many kernels have been launched: `libokl_cpu.so` asks, which tells of those that the processor runs.
#[unsafe(no_mangle)]
pub extern "C" fn __okl_gpu_launched() -> u64 {
    LAUNCHED.load(Relaxed)
}

/// See [`okl_abi::gpu`].
///
/// # Safety
/// As its line there says.
pub unsafe fn okl_gpu_launch_v6(
    kernel: *mut c_void,
    blocks: *mut c_void,
    items: *mut c_void,
    arguments: *mut c_void,
    has_processor: i32,
) -> i32 {
    let here = 0_u8;
    let frame = (&raw const here).addr();
    // SAFETY: the caller's promise. All is read before anything is locked: it may lie in memory that faults.
    let (kernel, sizes, values) = unsafe {
        let kernel = Described::of(kernel);
        let values = Values::of(kernel.parameters, arguments.cast_const().cast());
        let sizes = [blocks, items].map(|three| three.cast::<[i64; 3]>().read_unaligned());
        (kernel, sizes, values)
    };
    let has_processor = has_processor != 0;
    let done = match okl_job::of_ranks() {
        // SAFETY: as above.
        Some(job) => unsafe {
            // Versions are this process's.
            (job.private)(1);
            let version = version(&kernel, sizes, &values, has_processor);
            (job.private)(0);
            ranks::launch(job, &kernel, sizes, (values, version), frame, has_processor)
        },
        // SAFETY: as above.
        None => unsafe {
            let version = version(&kernel, sizes, &values, has_processor);
            program::with(|state| {
                launch(
                    state,
                    &kernel,
                    sizes,
                    (values, version),
                    frame,
                    has_processor,
                )
            })
        },
    };
    match done {
        Ok(ran) => {
            LAUNCHED.fetch_add(u64::from(ran), Relaxed);
            UNDER_WAY.fetch_or(ran, Relaxed);
            i32::from(ran)
        }
        Err(message) => program::fatal(&message),
    }
}

/// The version of a kernel for what it is launched with, where there is one.
///
/// # Safety
/// The kernel is one of the program's, and the values are those of its parameters.
unsafe fn version(
    kernel: &Described,
    [blocks, items]: [[i64; 3]; 2],
    values: &Values,
    has_processor: bool,
) -> Option<Version> {
    if kernel.codes.is_empty() || blocks.iter().chain(&items).any(|count| *count <= 0) {
        return None;
    }
    let device = match program::loads() {
        Some(device) => device,
        None => {
            // What is wrong is told when it is launched.
            let runs = program::with(|state| runs(state, kernel, has_processor));
            program::loads().filter(|_| runs == Ok(true))?
        }
    };
    let image = described::best(kernel.images, device.loader.driver.kind, &device.processor)?;
    let code = kernel.codes[image].cast::<JitCode>();
    // SAFETY: the caller's promise.
    unsafe { versions::find(kernel, (code, device.loader), items, values) }
}

/// See [`okl_abi::gpu`].
///
/// # Safety
/// As its line there says.
pub unsafe fn okl_gpu_runs_v5(kernel: *mut c_void, has_processor: i32) -> i32 {
    // SAFETY: the caller's promise.
    let kernel = unsafe { Described::of(kernel) };
    let asks = |state: &mut State| {
        let runs = runs(state, &kernel, has_processor != 0)?;
        Ok::<_, String>(match runs {
            false => by::PROCESSOR,
            true if exchanges(state, &kernel) => by::DEVICE_EXCHANGES,
            true => by::DEVICE,
        })
    };
    let by = match okl_job::of_ranks() {
        Some(job) => ranks::apart(job, asks),
        None => program::with(asks),
    };
    by.unwrap_or_else(|message| program::fatal(&message))
}

/// See [`okl_abi::gpu`].
///
/// # Safety
/// None.
pub unsafe fn okl_gpu_finish_v1() {
    // Clocks are read often. (What other threads launch at the same time may be under way.)
    if !UNDER_WAY.swap(false, Relaxed) {
        return;
    }
    let waited = program::with(|state| match state {
        State::Device(offload) => offload.wait("reading a clock"),
        _ => Ok(()),
    });
    waited.unwrap_or_else(|message| program::fatal(&message));
}

/// Whether a kernel was launched; else it is to run on the processor.
///
/// # Safety
/// The values are those of the kernel's parameters.
unsafe fn launch(
    state: &mut State,
    kernel: &Described,
    sizes: [[i64; 3]; 2],
    (values, version): (Values, Option<Version>),
    frame: usize,
    has_processor: bool,
) -> Result<bool, String> {
    let runs = runs(state, kernel, has_processor)?;
    let State::Device(offload) = state else {
        return Ok(false);
    };
    if !runs {
        let words = words(kernel.name, kernel.place);
        no_own_memory(offload, kernel, &values, &words)?;
        return Ok(false);
    }
    fault::install();
    let context = Context {
        frame,
        has_arena: program::has_all_large_blocks(),
    };
    // SAFETY: the caller's promise.
    unsafe { offload.launch(kernel, sizes, values, version, context)? };
    Ok(true)
}

/// The processor is to run a kernel: it has no access to the device's memory.
fn no_own_memory(
    offload: &Offload,
    kernel: &Described,
    values: &Values,
    words: &str,
) -> Result<(), String> {
    for (at, parameter) in kernel.parameters.iter().enumerate() {
        let is_of_program = parameter.kind & parameter::OF_LIBRARY == 0;
        if is_of_program
            && parameter.kind & parameter::ADDRESS != 0
            && offload.is_own(values.address(at))
        {
            return Err(format!(
                "{words}: it has no code for this {} device, and argument {} is memory of okl_malloc's there",
                offload.device.driver.kind.words,
                at + 1
            ));
        }
    }
    Ok(())
}
