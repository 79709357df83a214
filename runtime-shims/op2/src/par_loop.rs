//! Runs a parallel loop.
//!
//! Guarantee: the kernel is called once for each element of the set, in their order, with pointers to what
//! its arguments stand for. A loop whose arguments do not fit what is declared does not run.

use std::ffi::{c_char, c_int, c_longlong};

use crate::{
    argument::require_right,
    layout::{Arg, Set, argtype},
    program,
    report::{print, text},
    times,
};

/// Where a kernel's parameter points to, as `op_seq.h` declares it.
#[repr(C)]
pub struct Parameter {
    data: *mut c_char,
    size: c_longlong,
    map: *const i32,
    columns_at: *mut *mut c_char,
    arity: c_int,
    columns: c_int,
    number: c_int,
    kind: c_int,
}

/// Values of [`Parameter::kind`].
mod kind {
    use std::ffi::c_int;
    /// `data + n * size`
    pub(super) const STRIDED: c_int = 0;
    /// `data + map[n * arity] * size`
    pub(super) const MAPPED: c_int = 1;
    /// An array of pointers to what the first `columns` columns point to.
    pub(super) const COLUMNS: c_int = 2;
    /// The number n.
    pub(super) const NUMBER: c_int = 3;
}

/// A kernel of any parameters.
pub type KernelFunction = unsafe extern "C" fn();
/// Calls a kernel for the elements from the third argument up to the fourth.
pub type Range = unsafe extern "C" fn(KernelFunction, *mut Parameter, c_int, c_int);

impl Parameter {
    fn strided(data: *mut c_char, size: i32) -> Self {
        Self {
            data,
            size: c_longlong::from(size),
            map: std::ptr::null(),
            columns_at: std::ptr::null_mut(),
            arity: 0,
            columns: 0,
            number: 0,
            kind: kind::STRIDED,
        }
    }

    /// What `argument` stands for; `columns` has room for the pointers of a vector argument.
    ///
    /// # Safety
    /// The argument is right for the loop.
    unsafe fn of(argument: &Arg, columns: &mut Vec<*mut c_char>) -> Self {
        // SAFETY: the caller's promise: it is null or declared.
        let map = unsafe { argument.map.as_ref() };
        match (argument.argtype, map) {
            _ if argument.opt == 0 => Self::strided(std::ptr::null_mut(), 0),
            (argtype::DAT, None) => Self::strided(argument.data, argument.size),
            (argtype::DAT, Some(map)) => {
                let is_vector = argument.idx < 0;
                let (kind, first) = match is_vector {
                    true => (kind::COLUMNS, 0),
                    false => (kind::MAPPED, argument.idx as usize),
                };
                if is_vector {
                    columns.resize(-argument.idx as usize, std::ptr::null_mut());
                }
                Self {
                    // SAFETY: a column of the map.
                    map: unsafe { map.map.add(first) },
                    arity: map.dim,
                    columns_at: columns.as_mut_ptr(),
                    columns: columns.len() as c_int,
                    kind,
                    ..Self::strided(argument.data, argument.size)
                }
            }
            (argtype::IDX, None) => Self {
                kind: kind::NUMBER,
                ..Self::strided(std::ptr::null_mut(), 0)
            },
            (argtype::IDX, Some(map)) => Self::strided(
                // SAFETY: a column of the map.
                unsafe { map.map.add(argument.idx as usize) }.cast(),
                map.dim * size_of::<i32>() as i32,
            ),
            _ => Self::strided(argument.data, 0),
        }
    }
}

/// Calls `kernel` for each element of `set`.
///
/// # Safety
/// `arguments` are `count`, made by this library; `range` calls `kernel` with as many parameters of its
/// types; `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn okl_op2_par_loop(
    name: *const c_char,
    set: *const Set,
    count: c_int,
    arguments: *const Arg,
    kernel: KernelFunction,
    range: Range,
) {
    // SAFETY: the caller's promises.
    unsafe {
        let loop_name = text(name);
        program::require_start("op_par_loop");
        let arguments = std::slice::from_raw_parts(arguments, count as usize);
        require_right(loop_name, set, arguments);
        if program::diagnostics() > 2 {
            let with = match arguments.iter().any(Arg::is_indirect) {
                true => "with indirection",
                false => "w/o indirection",
            };
            print(&format!(" kernel routine {with}: {loop_name}"));
        }
        let start = times::now();
        let mut columns = vec![Vec::new(); arguments.len()];
        let parameters = arguments.iter().zip(&mut columns);
        let mut parameters: Vec<_> = parameters
            .map(|(argument, columns)| Parameter::of(argument, columns))
            .collect();
        range(kernel, parameters.as_mut_ptr(), 0, (*set).size);
        times::add(name, times::now() - start, bytes(set, arguments));
    }
}

/// Bytes that a loop moves if every datum is read or written once for each element, and twice where it is
/// both.
///
/// # Safety
/// The arguments are right for the loop.
unsafe fn bytes(set: *const Set, arguments: &[Arg]) -> f64 {
    use crate::layout::access::{INC, RW};
    let each = arguments
        .iter()
        .filter(|one| one.argtype == argtype::DAT && one.opt != 0);
    let each = each.map(|one| {
        let times = if matches!(one.acc, RW | INC) { 2 } else { 1 };
        let columns = if one.idx < -1 { -one.idx } else { 1 };
        f64::from(one.size) * f64::from(times * columns)
    });
    // SAFETY: the caller's promise.
    each.sum::<f64>() * f64::from(unsafe { (*set).size })
}

/// What the loops of programs compiled against OP2's own header call: elements that they execute.
///
/// # Safety
/// The set is declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_mpi_halo_exchanges(
    set: *const Set,
    _count: c_int,
    _arguments: *mut Arg,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { (*set).size }
}

/// The same: what others sent has arrived.
#[unsafe(no_mangle)]
pub extern "C" fn op_mpi_wait_all(_count: c_int, _arguments: *mut Arg) {}

/// The same: what was written has changed.
#[unsafe(no_mangle)]
pub extern "C" fn op_mpi_set_dirtybit(_count: c_int, _arguments: *mut Arg) {}

macro_rules! reduce {
    ($($name:ident $type:ty)*) => {$(
        /// The same: combines a global argument.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_argument: *mut Arg, _data: *mut $type) {}
    )*};
}
reduce! { op_mpi_reduce_float f32  op_mpi_reduce_double f64  op_mpi_reduce_int i32  op_mpi_reduce_bool bool }
