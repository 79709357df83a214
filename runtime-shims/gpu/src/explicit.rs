//! What programs call that manage memory of the device themselves: `okl_device.h`.
//!
//! Where no kernel is to run on a device, the memory is the program's own, and so it is on ranks: they share it.

use std::ffi::c_void;
use std::ptr;

use crate::fault;
use crate::offload::Offload;
use crate::program::{self, State};

/// Does something with the device; without one `Ok(None)`.
fn with_device<R>(name: &str, body: impl FnOnce(&mut Offload) -> Result<R, String>) -> Option<R> {
    if okl_job::of_ranks().is_some() {
        return None;
    }
    let result = program::with(|state| {
        let chosen = state.choose(&[]);
        chosen.map_err(|why| format!("{name}: {why}"))?;
        match state {
            State::Device(offload) => {
                fault::install();
                body(offload).map(Some)
            }
            _ => Ok(None),
        }
    });
    result.unwrap_or_else(|wrong| program::fatal(&wrong))
}

/// Memory of the device that kernels are to run on.
#[unsafe(no_mangle)]
pub extern "C" fn okl_malloc(bytes: usize) -> *mut c_void {
    match with_device("okl_malloc", |offload| offload.own_memory(bytes)) {
        Some(address) => ptr::with_exposed_provenance_mut(address as usize),
        None => {
            // SAFETY: any length is fine.
            let block = unsafe { libc::malloc(bytes) };
            if block.is_null() && bytes > 0 {
                program::fatal(&format!(
                    "okl_malloc of {bytes} bytes: there is no memory left"
                ));
            }
            block
        }
    }
}

/// Gives it back.
///
/// # Safety
/// It is null, or memory of [`okl_malloc`] that is given back once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn okl_free(address: *mut c_void) {
    if address.is_null() {
        return;
    }
    if with_device("okl_free", |offload| {
        offload.free_own_memory(address.addr() as u64)
    })
    .is_none()
    {
        // SAFETY: then it is a block of `malloc`'s.
        unsafe { libc::free(address) };
    }
}

/// Copies bytes from and to memory of the device and of the program.
///
/// # Safety
/// Both have so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn okl_copy(to: *mut c_void, from: *const c_void, bytes: usize) {
    let (to_address, from_address) = (to.expose_provenance(), from.expose_provenance());
    // SAFETY: the caller's promise.
    if with_device("okl_copy", |offload| unsafe {
        offload.copy(to_address, from_address, bytes)
    })
    .is_none()
    {
        // SAFETY: the caller's promise; both are the program's.
        unsafe { ptr::copy(from.cast::<u8>(), to.cast::<u8>(), bytes) };
    }
}

/// Waits until all kernels have run that were launched.
#[unsafe(no_mangle)]
pub extern "C" fn okl_sync() {
    with_device("okl_sync", |offload| offload.wait("okl_sync"));
}
