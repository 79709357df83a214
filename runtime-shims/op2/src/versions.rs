//! The code of loops that was compiled while the program runs: versions for the constants that kernels read, and for how data
//! and maps lie.

use std::{
    ffi::{c_int, c_void},
    mem::offset_of,
};

use okl_abi::{
    jit::{JitCode, code_flags, value},
    op2::{Parameter, access, f},
};
use okl_versions::{Asked, Receiver};

use crate::{
    body::{Range, shape, used},
    layout::Arg,
};

/// What runs a loop for a range of elements: see `okl_op2_par_loop_v8`.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    pub(crate) range: Option<Range>,
    pub(crate) lanes: Option<Range>,
    pub(crate) width: c_int,
    pub(crate) components: Option<Range>,
    pub(crate) component_lanes: Option<Range>,
}

pub(crate) type Call = okl_versions::Call<Functions>;

impl Functions {
    /// Of a loop that only ever runs as a version.
    pub(crate) const NONE: Self = Self {
        range: None,
        lanes: None,
        width: 0,
        components: None,
        component_lanes: None,
    };

    /// # Safety
    /// They are null or such functions.
    pub(crate) unsafe fn of(
        range: *mut c_void,
        lanes: *mut c_void,
        width: c_int,
        components: *mut c_void,
        component_lanes: *mut c_void,
    ) -> Self {
        // SAFETY: the caller's promise.
        let function = |one| unsafe { std::mem::transmute::<*mut c_void, Option<Range>>(one) };
        Self {
            range: function(range),
            lanes: function(lanes),
            width,
            components: function(components),
            component_lanes: function(component_lanes),
        }
    }
}

/// What a version calls in place of `okl_op2_par_loop_v8`: writes the functions to its first argument.
unsafe extern "C-unwind" fn receive(
    to: *mut c_void,
    _set: *mut c_void,
    _count: c_int,
    _arguments: *mut c_void,
    _kernel: *mut c_void,
    range: *mut c_void,
    lanes: *mut c_void,
    width: c_int,
    _any_order: c_int,
    components: *mut c_void,
    component_lanes: *mut c_void,
    _device: *mut c_void,
    _jit: *mut c_void,
) {
    // SAFETY: what was asked for has room there, and these are functions of the version.
    unsafe {
        let functions = Functions::of(range, lanes, width, components, component_lanes);
        to.cast::<Functions>().write(functions);
    }
}

/// The version of a loop for what there is now; `compiled` is what it was compiled to ahead of time.
///
/// # Safety
/// `jit` is null, or has code of the loop; the arguments are right for it.
pub(crate) unsafe fn find(
    jit: *mut c_void,
    arguments: &[Arg],
    compiled: Functions,
    by_component: bool,
) -> Option<Call> {
    let code = jit.cast::<JitCode>();
    // SAFETY: the caller's promises.
    unsafe {
        if code.is_null() || writes_values(&*code, arguments) {
            return None;
        }
        let shapes: Vec<_> = arguments.iter().map(|one| shape(one)).collect();
        let asked = Asked {
            code,
            place: &|one| {
                shapes
                    .as_ptr()
                    .cast::<u8>()
                    .wrapping_add(one.offset as usize)
            },
            receiver: Receiver {
                function: receive as *mut c_void,
                unread: bit("kernel"),
            },
            load: None,
            unwanted: match by_component {
                true => 0,
                false => bit("components"),
            },
            compiled,
            accepts: accepted,
        };
        okl_versions::find(&asked)
    }
}

/// The bit of an argument of what runs a loop.
fn bit(name: &str) -> i64 {
    let position = f::okl_op2_par_loop_v8.position(name);
    1 << position.expect("it has an argument of that name")
}

/// What of a version may be used. Where results depend on how many elements are worked on at once, these are as many as
/// before.
fn accepted(
    mut functions: Functions,
    compiled: Functions,
    flags: i64,
) -> Result<Functions, String> {
    if flags & code_flags::LOOSE != 0 || flags & code_flags::COUNTS_LANES == 0 {
        return Ok(functions);
    }
    if compiled.width <= 1 {
        (functions.lanes, functions.component_lanes) = (None, None);
    } else if functions.width != compiled.width {
        return Err("it works on another number of elements at once".to_owned());
    }
    Ok(functions)
}

/// Whether a loop writes what its versions take for known.
///
/// # Safety
/// The arguments are right for the loop.
unsafe fn writes_values(code: &JitCode, arguments: &[Arg]) -> bool {
    // SAFETY: the code is one of the program's.
    let values = unsafe { okl_versions::values(code) };
    let mut written = arguments.iter().filter(|one| one.acc != access::READ);
    written.any(|one| {
        // SAFETY: the caller's promise.
        let Some((_, bytes)) = (unsafe { used(one) }) else {
            return false;
        };
        let mut variables = values.iter().filter(|one| one.kind == value::VARIABLE);
        variables.any(|one| {
            let start = one.variable.addr();
            bytes.start < start + one.size as usize && start < bytes.end
        })
    })
}

const _: () = assert!(offset_of!(Parameter, data) == 0 && size_of::<Parameter>() == 64);
