//! Tables: what the device can do, and the errors' names.

use std::ffi::{CStr, c_char, c_int};

use crate::machine::{Code, codes};
use crate::settings::Settings;

/// Multiprocessors.
pub const PROCESSORS: u32 = 4;

/// What the device can do.
pub fn attribute(attribute: c_int, settings: &Settings) -> Option<c_int> {
    let most_shared = crate::machine::Machine::new(Settings {
        memory: 0,
        ..settings.clone()
    })
    .most_shared();
    Some(match attribute {
        // Threads of a block, in all and by dimension, and blocks.
        1..=3 => 1024,
        4 => 64,
        5 => c_int::MAX,
        6 | 7 => 65_535,
        // Memory of a block, constants, lanes, pitch, registers.
        8 => 48 << 10,
        9 => 64 << 10,
        10 => 32,
        11 => c_int::MAX,
        12 | 82 => 64 << 10,
        // Kilohertz.
        13 | 36 => 1_000_000,
        14 => 512,
        15 | 31 | 40 | 41 => 1,
        16 => PROCESSORS as c_int,
        17 | 18 | 20 | 32 | 33 | 34 | 35 | 50 => 0,
        19 => 1,
        37 => 1024,
        38 => 4 << 20,
        39 => 2048,
        75 => (settings.capability / 10) as c_int,
        76 => (settings.capability % 10) as c_int,
        81 => (most_shared + (1 << 10)) as c_int,
        // Managed memory, and what hosts and devices do together.
        83..=96 => 0,
        97 => most_shared as c_int,
        106 => 32,
        111 => 1 << 10,
        _ => return None,
    })
}

/// The name of an error and what it means.
const ERRORS: [(Code, &CStr, &CStr); 23] = [
    (0, c"CUDA_SUCCESS", c"no error"),
    (1, c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
    (2, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    (3, c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error"),
    (
        100,
        c"CUDA_ERROR_NO_DEVICE",
        c"no CUDA-capable device is detected",
    ),
    (101, c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
    (
        200,
        c"CUDA_ERROR_INVALID_IMAGE",
        c"device kernel image is invalid",
    ),
    (
        201,
        c"CUDA_ERROR_INVALID_CONTEXT",
        c"invalid device context",
    ),
    (
        209,
        c"CUDA_ERROR_NO_BINARY_FOR_GPU",
        c"no kernel image is available for execution on the device",
    ),
    (
        218,
        c"CUDA_ERROR_INVALID_PTX",
        c"a PTX JIT compilation failed",
    ),
    (
        222,
        c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        c"the provided PTX was compiled with an unsupported toolchain.",
    ),
    (301, c"CUDA_ERROR_FILE_NOT_FOUND", c"file not found"),
    (
        400,
        c"CUDA_ERROR_INVALID_HANDLE",
        c"invalid resource handle",
    ),
    (500, c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"),
    (600, c"CUDA_ERROR_NOT_READY", c"device not ready"),
    (
        700,
        c"CUDA_ERROR_ILLEGAL_ADDRESS",
        c"an illegal memory access was encountered",
    ),
    (
        701,
        c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        c"too many resources requested for launch",
    ),
    (
        702,
        c"CUDA_ERROR_LAUNCH_TIMEOUT",
        c"the launch timed out and was terminated",
    ),
    (710, c"CUDA_ERROR_ASSERT", c"device-side assert triggered"),
    (716, c"CUDA_ERROR_MISALIGNED_ADDRESS", c"misaligned address"),
    (
        719,
        c"CUDA_ERROR_LAUNCH_FAILED",
        c"unspecified launch failure",
    ),
    (801, c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported"),
    (999, c"CUDA_ERROR_UNKNOWN", c"unknown error"),
];

/// Gives a text of an error.
///
/// # Safety
/// `to` is null or can be written.
pub unsafe fn give_error(error: Code, to: *mut *const c_char, is_name: bool) -> Result<(), Code> {
    let found = ERRORS.iter().find(|(code, ..)| *code == error);
    let text = found.map(|(_, name, meaning)| if is_name { *name } else { *meaning });
    // SAFETY: the caller's promise.
    unsafe { super::give(to, text.map_or(std::ptr::null(), CStr::as_ptr)) }?;
    text.map(|_| ()).ok_or(codes::INVALID_VALUE)
}
