//! CUDA's driver as programs call it: the functions with their names and versions, their checks and errors. Handles are
//! numbers of the machine's; an address of the device is none of the host's.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::machine::{Code, DEFAULT_STREAM, Machine, Source, What, codes};
use crate::settings::{NAME, Settings};
use crate::surroundings::Shape;

mod names;

/// The process's device.
struct Driver {
    settings: Option<Settings>,
    /// How often the context is retained.
    retained: u32,
    machine: Option<Machine>,
}

static DRIVER: Mutex<Driver> = Mutex::new(Driver {
    settings: None,
    retained: 0,
    machine: None,
});

thread_local! {
    /// Whether the context is the thread's.
    static IS_CURRENT: Cell<bool> = const { Cell::new(false) };
}

/// The handle of the context.
const CONTEXT: usize = 0x0c0;

fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn code(result: Result<(), Code>) -> Code {
    result.err().unwrap_or(0)
}

/// What is called before anything is set up.
fn with_settings(f: impl FnOnce(&mut Driver, &Settings) -> Result<(), Code>) -> Code {
    let mut driver = driver();
    match driver.settings.clone() {
        None => codes::NOT_INITIALIZED,
        Some(settings) => code(f(&mut driver, &settings)),
    }
}

/// What is called with a context. A panic ends as an error that is not CUDA's own.
fn with_machine(f: impl FnOnce(&mut Machine) -> Result<(), Code>) -> Code {
    let mut driver = driver();
    if driver.settings.is_none() {
        return codes::NOT_INITIALIZED;
    }
    match &mut driver.machine {
        Some(machine) if IS_CURRENT.get() => {
            let run = std::panic::AssertUnwindSafe(|| f(machine));
            std::panic::catch_unwind(run).map_or(codes::UNKNOWN, code)
        }
        _ => codes::INVALID_CONTEXT,
    }
}

/// Writes a result if there is a place for it.
///
/// # Safety
/// `to` is null or can be written.
unsafe fn give<T>(to: *mut T, value: T) -> Result<(), Code> {
    if to.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

/// A text of the caller's.
///
/// # Safety
/// `text` is null or ends with a zero.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Code> {
    if text.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| codes::INVALID_VALUE)
}

fn handle(number: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(number as usize)
}

fn number(handle: *mut c_void) -> u64 {
    // CUDA's other names of the default stream.
    match handle.addr() as u64 {
        1 | 2 => DEFAULT_STREAM,
        other => other,
    }
}

macro_rules! driver_functions {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As CUDA's driver has it: pointers are null or lead to what the function reads or writes.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name($($param: $type),*) -> c_int $body
    )*};
}

driver_functions! {
    /// Sets up: reads the settings, where no context is there.
    fn cuInit(flags: c_uint) {
        let mut driver = driver();
        if flags != 0 {
            return codes::INVALID_VALUE;
        }
        if driver.machine.is_none() {
            match Settings::of(&std::env::var(NAME).unwrap_or_default()) {
                Ok(settings) => {
                    if settings.counts || settings.lines {
                        AT_EXIT.call_once(|| {
                            // SAFETY: a function of this library, which is not unloaded before: it is registered.
                            unsafe { libc::atexit(at_exit) };
                        });
                    }
                    driver.settings = Some(settings);
                }
                Err(wrong) => {
                    eprintln!("okl-ptx-machine: {wrong}");
                    return codes::INVALID_VALUE;
                }
            }
        }
        let devices = driver.settings.as_ref().map_or(0, |settings| settings.devices);
        if devices == 0 { codes::NO_DEVICE } else { 0 }
    }

    /// How new the driver is. It may be asked before `cuInit`.
    fn cuDriverGetVersion(version: *mut c_int) {
        let settings = driver().settings.clone();
        let settings = settings.map_or_else(|| Settings::of(&std::env::var(NAME).unwrap_or_default()), Ok);
        match settings {
            // SAFETY: the caller's promise.
            Ok(settings) => code(unsafe { give(version, settings.driver) }),
            Err(_) => codes::INVALID_VALUE,
        }
    }

    /// How many devices there are.
    fn cuDeviceGetCount(count: *mut c_int) {
        // SAFETY: the caller's promise.
        with_settings(|_, settings| unsafe { give(count, settings.devices as c_int) })
    }

    /// A device by its number.
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        with_settings(|_, settings| {
            if ordinal < 0 || ordinal as u32 >= settings.devices {
                return Err(codes::INVALID_DEVICE);
            }
            // SAFETY: the caller's promise.
            unsafe { give(device, ordinal) }
        })
    }

    /// Its name.
    fn cuDeviceGetName(name: *mut c_char, size: c_int, device: c_int) {
        with_settings(|_, settings| {
            check_device(device, settings)?;
            if name.is_null() || size <= 0 {
                return Err(codes::INVALID_VALUE);
            }
            let own = format!("okl PTX machine sm_{}", settings.capability);
            let count = own.len().min(size as usize - 1);
            // SAFETY: so many bytes can be written, the caller promises.
            unsafe {
                std::ptr::copy_nonoverlapping(own.as_ptr().cast(), name, count);
                name.add(count).write(0);
            }
            Ok(())
        })
    }

    /// How much memory it has.
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) {
        with_settings(|_, settings| {
            check_device(device, settings)?;
            // SAFETY: the caller's promise.
            unsafe { give(bytes, settings.memory as usize) }
        })
    }

    /// What it can do.
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) {
        with_settings(|_, settings| {
            check_device(device, settings)?;
            let found = names::attribute(attribute, settings).ok_or(codes::INVALID_VALUE)?;
            // SAFETY: the caller's promise.
            unsafe { give(value, found) }
        })
    }

    /// The device's context.
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) {
        with_settings(|driver, settings| {
            check_device(device, settings)?;
            // SAFETY: the caller's promise.
            unsafe { give(context, handle(CONTEXT as u64)) }?;
            driver.retained += 1;
            driver.machine.get_or_insert_with(|| Machine::new(settings.clone()));
            Ok(())
        })
    }

    /// Gives the context back; with the last one all that it has goes.
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        with_settings(|driver, settings| {
            check_device(device, settings)?;
            if driver.retained == 0 {
                return Err(codes::INVALID_CONTEXT);
            }
            driver.retained -= 1;
            if driver.retained == 0 {
                end(driver);
            }
            Ok(())
        })
    }

    /// Has all of the context go.
    fn cuDevicePrimaryCtxReset_v2(device: c_int) {
        with_settings(|driver, settings| {
            check_device(device, settings)?;
            end(driver);
            if driver.retained > 0 {
                driver.machine = Some(Machine::new(settings.clone()));
            }
            Ok(())
        })
    }

    /// The context of the thread.
    fn cuCtxSetCurrent(context: *mut c_void) {
        with_settings(|driver, _| {
            if !context.is_null() && (context.addr() != CONTEXT || driver.machine.is_none()) {
                return Err(codes::INVALID_CONTEXT);
            }
            IS_CURRENT.set(!context.is_null());
            Ok(())
        })
    }

    /// The context of the thread, or null.
    fn cuCtxGetCurrent(context: *mut *mut c_void) {
        with_settings(|driver, _| {
            let is_one = IS_CURRENT.get() && driver.machine.is_some();
            let current = if is_one { handle(CONTEXT as u64) } else { std::ptr::null_mut() };
            // SAFETY: the caller's promise.
            unsafe { give(context, current) }
        })
    }

    /// Waits for all work.
    fn cuCtxSynchronize() {
        with_machine(Machine::finish)
    }

    /// Loads PTX.
    fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) {
        with_machine(|machine| {
            // SAFETY: the caller's promise.
            let image = unsafe { text(image.cast()) };
            let (number, log) = load(machine, image)?;
            if let Some(log) = log {
                eprintln!("okl-ptx-machine: {log}");
            }
            // SAFETY: the caller's promise.
            number.and_then(|number| unsafe { give(module, handle(number)) })
        })
    }

    /// Loads PTX, and says in buffers of the caller's what is wrong with it.
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        count: c_uint,
        options: *mut c_int,
        values: *mut *mut c_void,
    ) {
        with_machine(|machine| {
            if count > 0 && (options.is_null() || values.is_null()) {
                return Err(codes::INVALID_VALUE);
            }
            // SAFETY: the caller's promise.
            let image = unsafe { text(image.cast()) };
            let (number, log) = load(machine, image)?;
            // SAFETY: the caller's promise.
            unsafe { write_logs(count, options, values, log.as_deref()) };
            // SAFETY: the caller's promise.
            number.and_then(|number| unsafe { give(module, handle(number)) })
        })
    }

    /// Gives a module back.
    fn cuModuleUnload(module: *mut c_void) {
        with_machine(|machine| machine.unload(number(module)))
    }

    /// A kernel by its name.
    fn cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        with_machine(|machine| {
            // SAFETY: the caller's promise.
            let name = unsafe { text(name) }?;
            let found = machine.kernel(number(module), name)?;
            // SAFETY: the caller's promise.
            unsafe { give(function, handle(found)) }
        })
    }

    /// A variable by its name.
    fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: *mut c_void, name: *const c_char) {
        with_machine(|machine| {
            // SAFETY: the caller's promise.
            let name = unsafe { text(name) }?;
            let (found, size) = machine.variable(number(module), name)?;
            if !address.is_null() {
                // SAFETY: the caller's promise.
                unsafe { address.write(found) };
            }
            if !bytes.is_null() {
                // SAFETY: the caller's promise.
                unsafe { bytes.write(size) };
            }
            Ok(())
        })
    }

    /// What a kernel is like.
    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: *mut c_void) {
        with_machine(|machine| {
            let capability = machine.settings.capability as c_int;
            let (kernel, function) = machine.function(number(function))?;
            let found = match attribute {
                0 => match function.most_threads.iter().product::<u32>() {
                    0 => 1024,
                    most => most.min(1024) as c_int,
                },
                1 => function.shared as c_int,
                2 | 7 | 9 => 0,
                3 => function.local as c_int,
                // What the device needs is not known here.
                4 => function.registers.clamp(16, 255) as c_int,
                5 | 6 => capability,
                8 => kernel.most_dynamic as c_int,
                _ => return Err(codes::INVALID_VALUE),
            };
            // SAFETY: the caller's promise.
            unsafe { give(value, found) }
        })
    }

    /// Changes what a kernel may: how much a launch may add to a block's memory.
    fn cuFuncSetAttribute(function: *mut c_void, attribute: c_int, value: c_int) {
        with_machine(|machine| {
            let most = machine.most_shared();
            let (kernel, function) = machine.function(number(function))?;
            match attribute {
                8 if value >= 0 && function.shared + value as u32 <= most => {
                    kernel.most_dynamic = value as u32;
                    Ok(())
                }
                9 if (-1..=100).contains(&value) => Ok(()),
                _ => Err(codes::INVALID_VALUE),
            }
        })
    }

    /// How many blocks a multiprocessor runs at the same time.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: *mut c_void,
        threads: c_int,
        dynamic: usize,
    ) {
        with_machine(|machine| {
            if threads <= 0 {
                return Err(codes::INVALID_VALUE);
            }
            let found = occupancy(machine, number(function), threads as u32, dynamic)?;
            // SAFETY: the caller's promise.
            unsafe { give(blocks, found as c_int) }
        })
    }

    /// The block with which a multiprocessor runs most threads.
    fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut c_int,
        block: *mut c_int,
        function: *mut c_void,
        shared_of: Option<unsafe extern "C" fn(c_int) -> usize>,
        dynamic: usize,
        limit: c_int,
    ) {
        with_machine(|machine| {
            let kernel = number(function);
            let (_, function) = machine.function(kernel)?;
            let most = match function.most_threads.iter().product::<u32>() {
                0 => 1024,
                most => most.min(1024),
            };
            let most = if limit > 0 { most.min(limit as u32) } else { most };
            let (mut best, mut best_blocks, mut best_threads) = (0, 0, 0);
            for threads in (1..=most.div_ceil(32)).rev().map(|warps| (warps * 32).min(most)) {
                let dynamic = match shared_of {
                    // SAFETY: the caller's function.
                    Some(shared_of) => unsafe { shared_of(threads as c_int) },
                    None => dynamic,
                };
                let blocks = occupancy(machine, kernel, threads, dynamic)?;
                if blocks * threads > best {
                    (best, best_blocks, best_threads) = (blocks * threads, blocks, threads);
                }
            }
            // SAFETY: the caller's promise.
            unsafe {
                give(grid, (best_blocks * names::PROCESSORS) as c_int)?;
                give(block, best_threads as c_int)
            }
        })
    }

    /// Memory of the device.
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        with_machine(|machine| {
            machine.check()?;
            if bytes == 0 || address.is_null() {
                return Err(codes::INVALID_VALUE);
            }
            let found = machine.memory.allocate(bytes, 256).ok_or(codes::OUT_OF_MEMORY)?;
            // SAFETY: the caller's promise.
            unsafe { give(address, found) }
        })
    }

    /// Gives it back, when all work is done.
    fn cuMemFree_v2(address: u64) {
        with_machine(|machine| {
            if address == 0 {
                return Ok(());
            }
            machine.finish()?;
            if machine.memory.free(address) { Ok(()) } else { Err(codes::INVALID_VALUE) }
        })
    }

    /// How much is free.
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        with_machine(|machine| {
            // SAFETY: the caller's promise.
            unsafe {
                give(free, machine.memory.free_bytes() as usize)?;
                give(total, machine.memory.total as usize)
            }
        })
    }

    /// Memory of the host that the device reads by itself.
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, _flags: c_uint) {
        with_machine(|machine| {
            machine.check()?;
            if bytes == 0 {
                return Err(codes::INVALID_VALUE);
            }
            // SAFETY: a size that is not zero.
            let found = unsafe { libc::malloc(bytes) };
            if found.is_null() {
                return Err(codes::OUT_OF_MEMORY);
            }
            machine.pin(found.expose_provenance(), bytes);
            // SAFETY: the caller's promise.
            unsafe { give(pointer, found) }
        })
    }

    /// Gives it back.
    fn cuMemFreeHost(pointer: *mut c_void) {
        with_machine(|machine| {
            machine.unpin(pointer.addr())?;
            // SAFETY: it was allocated by `cuMemHostAlloc`, and is known no more.
            unsafe { libc::free(pointer) };
            Ok(())
        })
    }

    /// Copies to the device.
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) {
        with_machine(|machine| {
            machine.check_range(to, bytes)?;
            let source = Source::Taken(taken(from, bytes)?);
            machine.now(What::CopyIn(to, source))
        })
    }

    /// Copies from the device.
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) {
        with_machine(|machine| {
            machine.check_range(from, bytes)?;
            machine.now(What::CopyOut(to.expose_provenance(), from, bytes))
        })
    }

    /// Copies within the device.
    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        with_machine(|machine| {
            machine.check_range(to, bytes)?;
            machine.check_range(from, bytes)?;
            machine.now(What::CopyWithin(to, from, bytes))
        })
    }

    /// Copies to the device, in a stream: what lies in memory that the device does not read by itself is taken at once.
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: *mut c_void) {
        with_machine(|machine| {
            machine.check_range(to, bytes)?;
            let source = if machine.is_pinned(from.addr(), bytes) {
                Source::Pinned(from.expose_provenance(), bytes)
            } else {
                Source::Taken(taken(from, bytes)?)
            };
            machine.queue(number(stream), What::CopyIn(to, source)).map(|_| ())
        })
    }

    /// Copies from the device, in a stream: it is done at once where the device does not write there by itself.
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: *mut c_void) {
        with_machine(|machine| {
            machine.check_range(from, bytes)?;
            let is_pinned = machine.is_pinned(to.addr(), bytes);
            let stream = number(stream);
            machine.queue(stream, What::CopyOut(to.expose_provenance(), from, bytes))?;
            if is_pinned { Ok(()) } else { machine.synchronise(stream) }
        })
    }

    /// Copies within the device, in a stream.
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) {
        with_machine(|machine| {
            machine.check_range(to, bytes)?;
            machine.check_range(from, bytes)?;
            machine.queue(number(stream), What::CopyWithin(to, from, bytes)).map(|_| ())
        })
    }

    /// Sets bytes.
    fn cuMemsetD8_v2(to: u64, value: u8, count: usize) {
        with_machine(|machine| {
            machine.check_range(to, count)?;
            machine.now(What::Set(to, vec![value], count))
        })
    }

    /// Sets words.
    fn cuMemsetD32_v2(to: u64, value: c_uint, count: usize) {
        with_machine(|machine| {
            machine.check_range(to, count.saturating_mul(4))?;
            machine.now(What::Set(to, value.to_le_bytes().to_vec(), count))
        })
    }

    /// Sets bytes, in a stream.
    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: *mut c_void) {
        with_machine(|machine| {
            machine.check_range(to, count)?;
            machine.queue(number(stream), What::Set(to, vec![value], count)).map(|_| ())
        })
    }

    /// Sets words, in a stream.
    fn cuMemsetD32Async(to: u64, value: c_uint, count: usize, stream: *mut c_void) {
        with_machine(|machine| {
            machine.check_range(to, count.saturating_mul(4))?;
            let what = What::Set(to, value.to_le_bytes().to_vec(), count);
            machine.queue(number(stream), what).map(|_| ())
        })
    }

    /// A stream.
    fn cuStreamCreate(stream: *mut *mut c_void, flags: c_uint) {
        with_machine(|machine| {
            machine.check()?;
            if flags > 1 || stream.is_null() {
                return Err(codes::INVALID_VALUE);
            }
            let number = machine.create_stream(flags == 0);
            // SAFETY: the caller's promise.
            unsafe { give(stream, handle(number)) }
        })
    }

    /// Waits for a stream.
    fn cuStreamSynchronize(stream: *mut c_void) {
        with_machine(|machine| machine.synchronise(number(stream)))
    }

    /// Whether a stream has no work.
    fn cuStreamQuery(stream: *mut c_void) {
        with_machine(|machine| {
            machine.check()?;
            machine.check_stream(number(stream))?;
            if machine.is_idle(number(stream)) {
                return Ok(());
            }
            // Who asks again and again is done some time.
            machine.synchronise(number(stream))?;
            Err(codes::NOT_READY)
        })
    }

    /// Has a stream wait for an event.
    fn cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, _flags: c_uint) {
        with_machine(|machine| machine.wait(number(stream), event.addr() as u64))
    }

    /// Destroys a stream.
    fn cuStreamDestroy_v2(stream: *mut c_void) {
        with_machine(|machine| machine.destroy_stream(number(stream)))
    }

    /// An event.
    fn cuEventCreate(event: *mut *mut c_void, _flags: c_uint) {
        with_machine(|machine| {
            machine.check()?;
            let number = machine.create_event();
            // SAFETY: the caller's promise.
            unsafe { give(event, handle(number)) }
        })
    }

    /// Records an event.
    fn cuEventRecord(event: *mut c_void, stream: *mut c_void) {
        with_machine(|machine| machine.record(event.addr() as u64, number(stream)))
    }

    /// Waits for an event.
    fn cuEventSynchronize(event: *mut c_void) {
        with_machine(|machine| machine.synchronise_event(event.addr() as u64))
    }

    /// Whether an event has happened.
    fn cuEventQuery(event: *mut c_void) {
        with_machine(|machine| {
            machine.check()?;
            if machine.is_over(event.addr() as u64)? {
                return Ok(());
            }
            machine.synchronise_event(event.addr() as u64)?;
            Err(codes::NOT_READY)
        })
    }

    /// Milliseconds between events.
    fn cuEventElapsedTime(time: *mut f32, from: *mut c_void, to: *mut c_void) {
        with_machine(|machine| {
            let found = machine.elapsed(from.addr() as u64, to.addr() as u64)?;
            // SAFETY: the caller's promise.
            unsafe { give(time, found) }
        })
    }

    /// The same.
    fn cuEventElapsedTime_v2(time: *mut f32, from: *mut c_void, to: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { cuEventElapsedTime(time, from, to) }
    }

    /// Forgets an event.
    fn cuEventDestroy_v2(event: *mut c_void) {
        with_machine(|machine| machine.destroy_event(event.addr() as u64))
    }

    /// Launches a kernel.
    fn cuLaunchKernel(
        function: *mut c_void,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: *mut c_void,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        with_machine(|machine| {
            machine.check()?;
            let kernel = number(function);
            let (_, known) = machine.function(kernel)?;
            // SAFETY: the caller's promise.
            let params = unsafe { params_of(&known.params, params, extra) }?;
            let shape = Shape {
                blocks: [grid_x, grid_y, grid_z],
                threads: [block_x, block_y, block_z],
                dynamic_shared: shared,
                total_shared: 0,
                grid: 0,
            };
            machine.launch(number(stream), kernel, shape, params)
        })
    }

    /// The name of an error.
    fn cuGetErrorName(error: c_int, name: *mut *const c_char) {
        // SAFETY: the caller's promise.
        code(unsafe { names::give_error(error, name, true) })
    }

    /// What an error means.
    fn cuGetErrorString(error: c_int, name: *mut *const c_char) {
        // SAFETY: the caller's promise.
        code(unsafe { names::give_error(error, name, false) })
    }

    /// Not CUDA's: what the launches of a kernel cost, as a text of at most `size` bytes with the zero behind it.
    fn okl_ptx_machine_counts(kernel: *const c_char, to: *mut c_char, size: usize) {
        with_machine(|machine| {
            // SAFETY: the caller's promise.
            let name = unsafe { text(kernel) }?;
            let counts = machine.counts();
            let found = counts.iter().find(|(one, _)| one == name);
            let line = found.ok_or(codes::NOT_FOUND)?.1.line();
            if to.is_null() || size <= line.len() {
                return Err(codes::INVALID_VALUE);
            }
            // SAFETY: so many bytes can be written, the caller promises.
            unsafe {
                std::ptr::copy_nonoverlapping(line.as_ptr().cast(), to, line.len());
                to.add(line.len()).write(0);
            }
            Ok(())
        })
    }
}

fn check_device(device: c_int, settings: &Settings) -> Result<(), Code> {
    if device < 0 || device as u32 >= settings.devices {
        return Err(codes::INVALID_DEVICE);
    }
    Ok(())
}

/// The context goes, with what it has.
fn end(driver: &mut Driver) {
    let Some(machine) = driver.machine.take() else {
        return;
    };
    if machine.settings.counts {
        for (name, counts) in machine.counts() {
            eprintln!("okl-ptx-machine: {name}: {}", counts.line());
        }
    }
    if machine.settings.lines {
        for (name, lines) in machine.lines() {
            eprintln!("okl-ptx-machine: lines of {name}: {lines}");
        }
    }
}

/// Programs need not give the device back.
static AT_EXIT: Once = Once::new();

extern "C" fn at_exit() {
    if let Ok(mut driver) = DRIVER.try_lock() {
        end(&mut driver);
    }
}

/// A module, or its error, and what is to be said of it.
#[allow(clippy::type_complexity)]
fn load(
    machine: &mut Machine,
    image: Result<&str, Code>,
) -> Result<(Result<u64, Code>, Option<String>), Code> {
    machine.check()?;
    let image = image.map_err(|_| 200)?;
    // Whatever is no text is another kind of image.
    if !image.contains(".version") {
        return Ok((Err(200), Some("the image is no PTX".to_owned())));
    }
    Ok(match machine.load(image) {
        Ok(number) => (Ok(number), None),
        Err((code, log)) => (Err(code), Some(log)),
    })
}

/// Writes what is to be said into the buffers that options name.
///
/// # Safety
/// `options` and `values` have `count` elements, and are as `cuModuleLoadDataEx` has them.
unsafe fn write_logs(
    count: c_uint,
    options: *const c_int,
    values: *mut *mut c_void,
    log: Option<&str>,
) {
    const INFO: (c_int, c_int) = (3, 4);
    const ERROR: (c_int, c_int) = (5, 6);
    for (which, text) in [(INFO, ""), (ERROR, log.unwrap_or_default())] {
        let (mut buffer, mut size_at) = (None, None);
        for at in 0..count as usize {
            // SAFETY: the caller's promise.
            let (option, value) = unsafe { (options.add(at).read(), values.add(at).read()) };
            if option == which.0 {
                buffer = Some(value.cast::<c_char>());
            } else if option == which.1 {
                size_at = Some((at, value.addr()));
            }
        }
        let (Some(buffer), Some((at, size))) = (buffer, size_at) else {
            continue;
        };
        let size = size & 0xffff_ffff;
        if buffer.is_null() || size == 0 {
            continue;
        }
        let written = text.len().min(size - 1);
        // SAFETY: a buffer of so many bytes, and the value of the option that says so.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, written);
            buffer.add(written).write(0);
            values.add(at).write(std::ptr::without_provenance_mut(
                written + usize::from(written > 0),
            ));
        }
    }
}

/// The bytes of the host, taken now.
fn taken(from: *const c_void, bytes: usize) -> Result<Vec<u8>, Code> {
    if bytes > 0 && from.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    if bytes == 0 {
        return Ok(Vec::new());
    }
    Ok(crate::host::read(from.expose_provenance(), bytes))
}

/// The parameters of a kernel, as they lie behind each other.
///
/// # Safety
/// As `cuLaunchKernel` has it: one pointer for each, or a buffer and its size.
unsafe fn params_of(
    slots: &[crate::program::Slot],
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Vec<u8>, Code> {
    let size = slots
        .last()
        .map_or(0, |last| (last.offset + last.bytes) as usize);
    let mut all = vec![0; size];
    if size == 0 {
        return Ok(all);
    }
    if !params.is_null() {
        for (at, slot) in slots.iter().enumerate() {
            // SAFETY: the caller's promise.
            let from = unsafe { params.add(at).read() };
            let bytes = taken(from, slot.bytes as usize)?;
            all[slot.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        return Ok(all);
    }
    if extra.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    let (mut buffer, mut count) = (None, None);
    let mut at = 0;
    loop {
        // SAFETY: the list ends with a zero.
        let name = unsafe { extra.add(at).read() }.addr();
        if name == 0 {
            break;
        }
        // SAFETY: a value is behind each name.
        let value = unsafe { extra.add(at + 1).read() };
        match name {
            1 => buffer = Some(value),
            // SAFETY: it leads to a size.
            2 => count = Some(unsafe { value.cast::<usize>().read() }),
            _ => return Err(codes::INVALID_VALUE),
        }
        at += 2;
    }
    let (Some(buffer), Some(count)) = (buffer, count) else {
        return Err(codes::INVALID_VALUE);
    };
    if count < size {
        return Err(codes::INVALID_VALUE);
    }
    taken(buffer, size)
}

fn occupancy(
    machine: &mut Machine,
    kernel: u64,
    threads: u32,
    dynamic: usize,
) -> Result<u32, Code> {
    let all = machine.most_shared() + (1 << 10);
    let (_, function) = machine.function(kernel)?;
    let shared = u64::from(function.shared) + dynamic as u64;
    let by_threads = 2048 / threads.next_multiple_of(32).max(32);
    let by_shared = u64::from(all).checked_div(shared).unwrap_or(32);
    Ok(by_threads.min(32).min(by_shared.min(32) as u32))
}
