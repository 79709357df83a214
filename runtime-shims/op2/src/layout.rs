//! The structs that programs see, as `include/op_lib_core.h` declares them.

use std::{
    cell::Cell,
    ffi::{c_char, c_void},
    mem::offset_of,
    ops::Range,
};

use crate::{mirror::Mirror, value::Value};

/// When data are to lie component by component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Wish {
    /// Of one component, of types of the program's own, or needed element by element.
    Never,
    /// Where the program asks for all.
    WithAll,
    /// The program says so of them.
    Always,
}

impl Wish {
    /// That of data of a type with `dim` components of that many bytes.
    pub(crate) fn of(type_name: &str, dim: i32, component: i32) -> Self {
        if dim < 2 || Value::of(type_name).map(Value::bytes) != usize::try_from(component).ok() {
            return Self::Never;
        }
        match type_name.ends_with(":soa") {
            true => Self::Always,
            false => Self::WithAll,
        }
    }
}

/// `op_set_core`, and behind it what programs do not see.
#[repr(C)]
pub struct Set {
    pub(crate) index: i32,
    pub(crate) size: i32,
    pub(crate) name: *const c_char,
    pub(crate) core_size: i32,
    pub(crate) exec_size: i32,
    pub(crate) nonexec_size: i32,
    pub(crate) stride: i32,
    /// Elements of the whole mesh.
    pub(crate) whole: i32,
    /// The number that the program's first element has there.
    pub(crate) first: i32,
    /// Elements that the program has declared on this rank.
    pub(crate) declared: i32,
}

impl Set {
    /// The elements, among those of the whole mesh, that the program has declared on this rank.
    pub(crate) fn declared(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + self.declared as usize
    }

    /// Elements that are here, with those of others.
    pub(crate) fn elements(&self) -> usize {
        self.stride as usize
    }
}

/// `op_map_core`.
#[repr(C)]
pub struct Map {
    pub(crate) index: i32,
    pub(crate) from: *mut Set,
    pub(crate) to: *mut Set,
    pub(crate) dim: i32,
    pub(crate) map: *mut i32,
    pub(crate) map_gbl: *mut i64,
    pub(crate) map_d: *mut i32,
    pub(crate) name: *const c_char,
    pub(crate) user_managed: i32,
    pub(crate) force_part: bool,
}

/// `op_dat_core`, and behind it what programs do not see.
#[repr(C)]
pub struct Dat {
    pub(crate) index: i32,
    pub(crate) set: *mut Set,
    pub(crate) dim: i32,
    pub(crate) size: i32,
    pub(crate) data: *mut c_char,
    pub(crate) data_d: *mut c_char,
    pub(crate) type_name: *const c_char,
    pub(crate) name: *const c_char,
    pub(crate) buffer_d: *mut c_char,
    pub(crate) buffer_d_r: *mut c_char,
    pub(crate) dirtybit: i32,
    pub(crate) dirty_hd: i32,
    pub(crate) user_managed: i32,
    pub(crate) mpi_buffer: *mut c_void,
    /// The data where they lie component by component; `data` is null then. Here begins what programs do not see.
    pub(crate) by_component: *mut c_char,
    /// Bytes from one component to the next there.
    pub(crate) stride: usize,
    /// When they are to lie so.
    pub(crate) wish: Wish,
    /// The data on a device.
    pub(crate) mirror: Cell<Option<Box<Mirror>>>,
    /// Whether other data lie in the same memory, or the program uses it.
    pub(crate) is_shared: bool,
}

/// `op_arg`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Arg {
    pub(crate) index: i32,
    pub(crate) dat: *mut Dat,
    pub(crate) map: *mut Map,
    pub(crate) dim: i32,
    pub(crate) idx: i32,
    pub(crate) size: i32,
    pub(crate) data: *mut c_char,
    pub(crate) data_d: *mut c_char,
    pub(crate) map_data: *mut i32,
    pub(crate) map_data_d: *mut i32,
    pub(crate) type_name: *const c_char,
    pub(crate) acc: i32,
    pub(crate) argtype: i32,
    pub(crate) sent: i32,
    pub(crate) opt: i32,
}

/// `op_kernel`.
#[repr(C)]
pub struct Kernel {
    pub(crate) name: *const c_char,
    pub(crate) count: i32,
    pub(crate) time: f64,
    pub(crate) times: *mut f64,
    pub(crate) ntimes: i32,
    pub(crate) plan_time: f32,
    pub(crate) transfer: f32,
    pub(crate) transfer2: f32,
    pub(crate) mpi_time: f64,
}

/// An entry of `OP_dat_list`, a tail queue of `sys/queue.h`.
#[repr(C)]
pub struct DatEntry {
    pub(crate) dat: *mut Dat,
    pub(crate) original: *mut c_void,
    pub(crate) next: *mut DatEntry,
    pub(crate) previous: *mut *mut DatEntry,
}

const _: () = {
    assert!(offset_of!(Set, whole) == 32);
    assert!(size_of::<Map>() == 72);
    assert!(offset_of!(Dat, by_component) == 96);
    assert!(size_of::<Arg>() == okl_abi::op2::ARGUMENT_BYTES);
    assert!(std::mem::offset_of!(Arg, acc) == okl_abi::op2::ARGUMENT_ACCESS);
    assert!(size_of::<Kernel>() == 56);
};

/// Values of `op_arg_type`.
pub(crate) mod argtype {
    pub(crate) const GBL: i32 = 0;
    pub(crate) const DAT: i32 = 1;
    pub(crate) const IDX: i32 = 2;
    pub(crate) const INFO: i32 = 3;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_have_components() {
        assert_eq!(Wish::of("double:soa", 2, 8), Wish::Always);
        assert_eq!(Wish::of("bool", 3, 1), Wish::WithAll);
        assert_eq!(Wish::of("double:soa", 1, 8), Wish::Never);
        assert_eq!(Wish::of("double", 2, 4), Wish::Never);
        assert_eq!(Wish::of("point:soa", 2, 16), Wish::Never);
    }
}
