//! The functions of isl that are called, found in the library where it is installed.
//!
//! Compilers have a copy of isl of their own, whose functions have the same names. The library is opened so that neither sees
//! the other: its names are not offered to anyone, and it finds its own first.

use std::ffi::{c_char, c_int, c_long, c_ulong, c_void};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// The library's name, by the number of its interface.
const NAME: &str = "libisl.so.23";
/// glibc's flag that has a library look for names in itself first.
const RTLD_DEEPBIND: c_int = 8;

/// Something of isl's.
pub type Pointer = *mut c_void;

macro_rules! table {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// Functions of isl, by their names without `isl_`. What they take as `__isl_take` is theirs afterwards, whatever happens.
        pub struct Table {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            _library: Library,
        }

        impl Table {
            fn open() -> Option<Self> {
                // SAFETY: the library runs nothing of its own when it is opened.
                let library = unsafe { Library::open(Some(NAME), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) }.ok()?;
                Some(Self {
                    $($name: {
                        let name = concat!("isl_", stringify!($name), "\0");
                        // SAFETY: the function has this type in the interface that the library's name stands for.
                        *unsafe { library.get(name.as_bytes()) }.ok()?
                    },)*
                    _library: library,
                })
            }
        }
    };
}

table! {
    ctx_alloc: fn() -> Pointer;
    ctx_free: fn(Pointer);
    ctx_set_max_operations: fn(Pointer, c_ulong);
    ctx_get_max_operations: fn(Pointer) -> c_ulong;
    ctx_reset_operations: fn(Pointer);
    ctx_reset_error: fn(Pointer);
    ctx_last_error: fn(Pointer) -> c_int;
    options_set_on_error: fn(Pointer, c_int) -> c_int;
    set_read_from_str: fn(Pointer, *const c_char) -> Pointer;
    set_copy: fn(Pointer) -> Pointer;
    set_free: fn(Pointer) -> Pointer;
    set_is_empty: fn(Pointer) -> c_int;
    set_intersect: fn(Pointer, Pointer) -> Pointer;
    set_union: fn(Pointer, Pointer) -> Pointer;
    set_subtract: fn(Pointer, Pointer) -> Pointer;
    set_apply: fn(Pointer, Pointer) -> Pointer;
    set_lexmin: fn(Pointer) -> Pointer;
    set_coalesce: fn(Pointer) -> Pointer;
    set_complement: fn(Pointer) -> Pointer;
    set_params: fn(Pointer) -> Pointer;
    set_project_out_all_params: fn(Pointer) -> Pointer;
    set_dim: fn(Pointer, c_int) -> c_int;
    set_dim_min: fn(Pointer, c_int) -> Pointer;
    set_dim_max: fn(Pointer, c_int) -> Pointer;
    set_dim_max_val: fn(Pointer, c_int) -> Pointer;
    set_sample_point: fn(Pointer) -> Pointer;
    point_get_coordinate_val: fn(Pointer, c_int, c_int) -> Pointer;
    point_free: fn(Pointer) -> Pointer;
    point_is_void: fn(Pointer) -> c_int;
    pw_aff_free: fn(Pointer) -> Pointer;
    map_read_from_str: fn(Pointer, *const c_char) -> Pointer;
    map_copy: fn(Pointer) -> Pointer;
    map_free: fn(Pointer) -> Pointer;
    map_is_empty: fn(Pointer) -> c_int;
    map_intersect: fn(Pointer, Pointer) -> Pointer;
    map_union: fn(Pointer, Pointer) -> Pointer;
    map_coalesce: fn(Pointer) -> Pointer;
    map_reverse: fn(Pointer) -> Pointer;
    map_apply_range: fn(Pointer, Pointer) -> Pointer;
    map_apply_domain: fn(Pointer, Pointer) -> Pointer;
    map_range: fn(Pointer) -> Pointer;
    map_deltas: fn(Pointer) -> Pointer;
    schedule_read_from_str: fn(Pointer, *const c_char) -> Pointer;
    schedule_free: fn(Pointer) -> Pointer;
    ast_build_from_context: fn(Pointer) -> Pointer;
    ast_build_free: fn(Pointer) -> Pointer;
    ast_build_node_from_schedule: fn(Pointer, Pointer) -> Pointer;
    ast_build_expr_from_pw_aff: fn(Pointer, Pointer) -> Pointer;
    ast_build_expr_from_set: fn(Pointer, Pointer) -> Pointer;
    ast_node_free: fn(Pointer) -> Pointer;
    ast_node_get_type: fn(Pointer) -> c_int;
    ast_node_for_get_iterator: fn(Pointer) -> Pointer;
    ast_node_for_get_init: fn(Pointer) -> Pointer;
    ast_node_for_get_cond: fn(Pointer) -> Pointer;
    ast_node_for_get_inc: fn(Pointer) -> Pointer;
    ast_node_for_get_body: fn(Pointer) -> Pointer;
    ast_node_for_is_degenerate: fn(Pointer) -> c_int;
    ast_node_if_get_cond: fn(Pointer) -> Pointer;
    ast_node_if_get_then_node: fn(Pointer) -> Pointer;
    ast_node_if_has_else_node: fn(Pointer) -> c_int;
    ast_node_if_get_else_node: fn(Pointer) -> Pointer;
    ast_node_block_get_children: fn(Pointer) -> Pointer;
    ast_node_list_size: fn(Pointer) -> c_int;
    ast_node_list_get_at: fn(Pointer, c_int) -> Pointer;
    ast_node_list_free: fn(Pointer) -> Pointer;
    ast_node_mark_get_id: fn(Pointer) -> Pointer;
    ast_node_mark_get_node: fn(Pointer) -> Pointer;
    ast_node_user_get_expr: fn(Pointer) -> Pointer;
    ast_expr_free: fn(Pointer) -> Pointer;
    ast_expr_get_type: fn(Pointer) -> c_int;
    ast_expr_op_get_type: fn(Pointer) -> c_int;
    ast_expr_op_get_n_arg: fn(Pointer) -> c_int;
    ast_expr_op_get_arg: fn(Pointer, c_int) -> Pointer;
    ast_expr_id_get_id: fn(Pointer) -> Pointer;
    ast_expr_int_get_val: fn(Pointer) -> Pointer;
    id_get_name: fn(Pointer) -> *const c_char;
    id_free: fn(Pointer) -> Pointer;
    val_get_num_si: fn(Pointer) -> c_long;
    val_is_int: fn(Pointer) -> c_int;
    val_is_infty: fn(Pointer) -> c_int;
    val_is_nan: fn(Pointer) -> c_int;
    val_free: fn(Pointer) -> Pointer;
}

/// The table, where the library is installed.
pub fn table() -> Option<&'static Table> {
    static TABLE: OnceLock<Option<Table>> = OnceLock::new();
    TABLE.get_or_init(Table::open).as_ref()
}
