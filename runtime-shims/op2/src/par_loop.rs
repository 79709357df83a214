//! What the code of a loop calls.
//!
//! Guarantee: a loop whose arguments do not fit what is declared does not run. Where it does not run at once
//! ([`lazy`]), it does before anybody sees that.

use std::ffi::{c_char, c_int, c_void};

use crate::{
    argument::require_right,
    distribute,
    layout::{Arg, Set},
    lazy,
    one_loop::{Loop, run_now},
    report::{self, print, text},
    settings, storage,
    versions::Functions,
};

/// Calls `kernel` for each element of `set`.
///
/// # Safety
/// `arguments` are `count`, made by this library; `range`, and of `lanes`, `components` and `component_lanes`
/// those that are not null, call `kernel` with as many parameters of its types; `device` is null, or says how a
/// device does; `jit` is null, or has code of the same functions; `name` is a string.
#[expect(clippy::too_many_arguments, reason = "the boundary with compiled code")]
pub(crate) unsafe fn okl_op2_par_loop_v8(
    name: *mut c_void,
    set: *mut c_void,
    count: c_int,
    arguments: *mut c_void,
    kernel: *mut c_void,
    range: *mut c_void,
    lanes: *mut c_void,
    width: c_int,
    any_order: c_int,
    components: *mut c_void,
    component_lanes: *mut c_void,
    device: *mut c_void,
    jit: *mut c_void,
) {
    let (name, set) = (name.cast::<c_char>().cast_const(), set.cast::<Set>());
    // SAFETY: the caller's promises.
    unsafe {
        let loop_name = text(name);
        settings::require_start("op_par_loop");
        let arguments = std::slice::from_raw_parts(arguments.cast::<Arg>(), count as usize);
        require_right(loop_name, set, arguments);
        if settings::diagnostics() > 2 {
            let with = match arguments.iter().any(Arg::is_indirect) {
                true => "with indirection",
                false => "w/o indirection",
            };
            print(&format!(" kernel routine {with}: {loop_name}"));
        }
        let one = Loop {
            name,
            set,
            arguments,
            kernel,
            functions: Functions::of(range, lanes, width, components, component_lanes),
            any_order: any_order != 0,
            device,
            jit,
        };
        if !lazy::takes(&one) {
            let _running = lazy::Running::begin();
            run_now(&one);
        }
    }
}

pub(crate) use crate::as_one::okl_op2_may_be_one_v1;
pub(crate) use distribute::okl_op2_looks_at_mesh;
pub(crate) use report::okl_op2_at;
pub(crate) use storage::okl_op2_looks_at_data;
