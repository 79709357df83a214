//! CUDA's driver as programs call it: the functions with their names and versions, their checks and errors. Handles are
//! numbers of the machine's; an address of the device is none of the host's. Devices and contexts are here, all else by what it
//! works with in files of its own.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::machine::{Code, DEFAULT_STREAM, Machine, codes};
use crate::settings::{NAME, Settings};

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

mod memory;
mod modules;
mod names;
mod streams;

pub use memory::*;
pub use modules::*;
pub use streams::*;

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
