//! Memory of the device and of the host, and copies.

use std::ffi::{c_int, c_uint, c_void};

use super::{give, number, with_machine};
use crate::machine::{Code, Source, What, codes};

driver_functions! {
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

    /// The same, as programs without wishes ask for it.
    fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { cuMemHostAlloc(pointer, bytes, 0) }
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
}

/// The bytes of the host, taken now.
pub(super) fn taken(from: *const c_void, bytes: usize) -> Result<Vec<u8>, Code> {
    if bytes > 0 && from.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    if bytes == 0 {
        return Ok(Vec::new());
    }
    Ok(crate::host::read(from.expose_provenance(), bytes))
}
