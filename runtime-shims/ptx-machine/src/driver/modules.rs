//! Modules, their functions and variables, and launches.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::memory::taken;
use super::{give, handle, names, number, text, with_machine};
use crate::machine::{Code, Machine, codes};
use crate::surroundings::Shape;

driver_functions! {
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

    /// Loads PTX from a file.
    fn cuModuleLoad(module: *mut *mut c_void, file: *const c_char) {
        with_machine(|machine| {
            machine.check()?;
            // SAFETY: the caller's promise.
            let file = unsafe { text(file) }?;
            let image = std::fs::read_to_string(file);
            let image = image.map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => codes::FILE_NOT_FOUND,
                _ => 200,
            })?;
            let (number, log) = load(machine, Ok(&image))?;
            if let Some(log) = log {
                eprintln!("okl-ptx-machine: {file}: {log}");
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
