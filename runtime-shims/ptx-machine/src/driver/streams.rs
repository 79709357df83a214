//! Streams and events.

use std::ffi::{c_int, c_uint, c_void};

use super::{give, handle, number, with_machine};
use crate::machine::codes;

driver_functions! {
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
}
