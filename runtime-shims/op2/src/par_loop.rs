//! Runs a parallel loop.
//!
//! Guarantee: the kernel is called once for each element of the set, in their order, with pointers to what
//! its arguments stand for. A loop whose arguments do not fit what is declared does not run.

use std::ffi::{c_char, c_int, c_void};

use okl_abi::op2::{Parameter, access, kind};

use crate::{
    argument::require_right,
    layout::{Arg, Set, argtype},
    program,
    report::{print, text},
    times,
};

/// Calls a kernel, its first argument, for the elements from the third argument up to the fourth.
type Range = unsafe extern "C" fn(*mut c_void, *mut Parameter, c_int, c_int);

/// What a loop's parameters need beside the data.
#[derive(Default)]
struct Scratch {
    /// Pointers to several elements.
    columns: Vec<*mut c_void>,
    /// The element's number.
    number: i32,
    /// An element of a map, for an argument that is not used: it leads from everywhere to element 0.
    nowhere: Vec<i32>,
}

fn strided(data: *mut c_char, size: i32) -> Parameter {
    Parameter {
        data: data.cast(),
        size: i64::from(size),
        map: std::ptr::null_mut(),
        columns_at: std::ptr::null_mut(),
        arity: 0,
        columns: 0,
        kind: kind::STRIDED,
    }
}

/// What `argument` stands for.
///
/// # Safety
/// The argument is right for the loop; `scratch` stays where it is.
unsafe fn parameter(argument: &Arg, scratch: &mut Scratch) -> Parameter {
    // SAFETY: the caller's promise: it is null or declared.
    let map = unsafe { argument.map.as_ref() };
    match (argument.argtype, map) {
        // The loop's code may look up a map; the result is null all the same.
        _ if argument.opt == 0 => {
            let columns = argument.idx.unsigned_abs() as usize + 1;
            scratch.nowhere.resize(columns, 0);
            scratch.columns.resize(columns, std::ptr::null_mut());
            Parameter {
                map: scratch.nowhere.as_mut_ptr().cast(),
                columns_at: scratch.columns.as_mut_ptr().cast(),
                ..strided(std::ptr::null_mut(), 0)
            }
        }
        (argtype::DAT, None) => strided(argument.data, argument.size),
        (argtype::DAT, Some(map)) if argument.idx < 0 => {
            let columns = &mut scratch.columns;
            columns.resize(-argument.idx as usize, std::ptr::null_mut());
            Parameter {
                map: map.map.cast(),
                arity: i64::from(map.dim),
                columns_at: columns.as_mut_ptr().cast(),
                columns: columns.len() as i64,
                kind: kind::COLUMNS,
                ..strided(argument.data, argument.size)
            }
        }
        (argtype::DAT, Some(map)) => Parameter {
            // SAFETY: a column of the map.
            map: unsafe { map.map.add(argument.idx as usize) }.cast(),
            arity: i64::from(map.dim),
            kind: kind::MAPPED,
            ..strided(argument.data, argument.size)
        },
        (argtype::IDX, None) => Parameter {
            kind: kind::NUMBER,
            ..strided((&raw mut scratch.number).cast(), 0)
        },
        (argtype::IDX, Some(map)) => strided(
            // SAFETY: a column of the map.
            unsafe { map.map.add(argument.idx as usize) }.cast(),
            map.dim * size_of::<i32>() as i32,
        ),
        _ => strided(argument.data, 0),
    }
}

/// Calls `kernel` for each element of `set`.
///
/// # Safety
/// `arguments` are `count`, made by this library; `range` calls `kernel` with as many parameters of its
/// types; `name` is a string.
pub(crate) unsafe fn okl_op2_par_loop_v2(
    name: *mut c_void,
    set: *mut c_void,
    count: c_int,
    arguments: *mut c_void,
    kernel: *mut c_void,
    range: *mut c_void,
    lanes: *mut c_void,
    width: c_int,
) {
    let (name, set) = (name.cast::<c_char>().cast_const(), set.cast::<Set>());
    // SAFETY: the caller's promises.
    unsafe {
        let range = std::mem::transmute::<*mut c_void, Range>(range);
        let loop_name = text(name);
        program::require_start("op_par_loop");
        let arguments = std::slice::from_raw_parts(arguments.cast::<Arg>(), count as usize);
        require_right(loop_name, set, arguments);
        if program::diagnostics() > 2 {
            let with = match arguments.iter().any(Arg::is_indirect) {
                true => "with indirection",
                false => "w/o indirection",
            };
            print(&format!(" kernel routine {with}: {loop_name}"));
        }
        let start = times::now();
        let mut scratch: Vec<_> = arguments.iter().map(|_| Scratch::default()).collect();
        let parameters = arguments.iter().zip(&mut scratch);
        let mut parameters: Vec<_> = parameters
            .map(|(argument, scratch)| parameter(argument, scratch))
            .collect();
        let lanes = std::mem::transmute::<*mut c_void, Option<Range>>(lanes);
        let lanes = lanes.filter(|_| width > 1 && may_have_lanes(arguments));
        let run = lanes.unwrap_or(range);
        run(kernel, parameters.as_mut_ptr(), 0, (*set).size);
        times::add(name, times::now() - start, bytes(set, arguments));
    }
}

/// Whether all arguments are there and no data that are written are those of another argument. Increments
/// through maps may meet: they are added one after the other.
///
/// # Safety
/// The arguments are right for the loop.
unsafe fn may_have_lanes(arguments: &[Arg]) -> bool {
    // SAFETY: the caller's promise.
    let all: Option<Vec<_>> = arguments.iter().map(|one| unsafe { used(one) }).collect();
    let Some(all) = all else { return false };
    all.iter().enumerate().all(|(at, (one, data))| {
        let others = all[..at].iter();
        others.into_iter().all(|(other, others_data)| {
            let is_read = |arg: &Arg| arg.acc == access::READ || arg.argtype == argtype::IDX;
            let adds = |arg: &Arg| arg.acc == access::INC && arg.is_indirect();
            let meet = data.start < others_data.end && others_data.start < data.end;
            !meet || is_read(one) && is_read(other) || adds(one) && adds(other)
        })
    })
}

/// The addresses of an argument's data; none of what is left out.
///
/// # Safety
/// The argument is right for the loop.
unsafe fn used(argument: &Arg) -> Option<(&Arg, std::ops::Range<usize>)> {
    // SAFETY: the caller's promise: it is null or declared.
    let dat = unsafe { argument.dat.as_ref() };
    let start = argument.data.addr();
    let bytes = match (argument.argtype, dat) {
        _ if argument.opt == 0 => return None,
        (argtype::IDX, _) => 0,
        // SAFETY: the same.
        (argtype::DAT, Some(dat)) => dat.size as usize * unsafe { (*dat.set).size } as usize,
        _ => argument.size as usize,
    };
    Some((argument, start..start + bytes))
}

/// Bytes that a loop moves if every datum is read or written once for each element, and twice where it is
/// both.
///
/// # Safety
/// The arguments are right for the loop.
unsafe fn bytes(set: *const Set, arguments: &[Arg]) -> f64 {
    use okl_abi::op2::access::{INC, RW};
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
