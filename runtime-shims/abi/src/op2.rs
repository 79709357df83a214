//! What the code of OP2's loops shares with OP2's run time. The rest of the boundary is OP2's own C
//! interface; `op_seq.h` states this part a second time, in C++.

use crate::{functions::function_table, tables::abi_structs};

/// Calls `$m!` with every function of OP2's run time that is not OP2's own. A change of a signature or a
/// struct changes the number in the names. The form is that of [`crate::for_each_mpi_fn`].
#[macro_export]
macro_rules! for_each_op2_fn {
    ($m:ident) => {
        $m! {
            /// Runs the loop `name` over `set`, an `op_set`, with `count` arguments of type `op_arg`.
            /// `range(kernel, parameters, from, to)` calls `kernel` for the elements `from` to `to - 1`;
            /// `parameters` are as many `Parameter`s. `lanes`, where it is not null, is another such function,
            /// for `width` elements at a time, that may be used where no data that the loop writes
            /// are those of another argument; increments through maps may meet. Where `any_order` is not 0,
            /// threads may run ranges, but for what they write through maps, and may have copies of global
            /// arguments. `components` and `component_lanes` are two more such functions, that may be used where
            /// data are stored component by component, and where `lanes` may, but for optional arguments; they
            /// may be null. `device` is null, or a `DeviceLoop`: the loop as a kernel of a device's. `jit` is null, or a
            /// `JitCode`, of which versions may run in place of these functions.
            fn okl_op2_par_loop_v8(name: ptr, set: ptr, count: i32, arguments: ptr, kernel: ptr, range: ptr, lanes: ptr, width: i32, any_order: i32, components: ptr, component_lanes: ptr, device: ptr, jit: ptr): [RUNS_LOOP, HAS_VERSIONS, MAY_UNWIND];

            /// Sets `answer`, an `int`, to whether `loops` loops that follow each other may be one, which runs their kernels for an
            /// element before the next element: `sets` are the loops', `counts`, of type `int`, the numbers of their arguments,
            /// all of which are `arguments`, of type `op_arg`; `same` are the positions there, of type `int`, of the first ones with
            /// the same data, as it seems, which the one loop has as one argument. `variables` pairs of an address and a number of
            /// bytes, of 64 bits, are `used`: what kernels read by name.
            fn okl_op2_may_be_one_v1(loops: i32, sets: ptr, counts: ptr, arguments: ptr, same: ptr, variables: i32, used: ptr, answer: ptr): [];

            /// Called where one of OP2's functions is called next, at `place`, a text; with null after that.
            fn okl_op2_at(place: ptr): [];

            /// Called before `main` by each file that looks at `op_map->map` or `op_dat->data`: a text says where, and at
            /// which of them.
            fn okl_op2_looks_at_mesh(what: ptr): [];

            /// Called before `main` by each file that may look at `op_dat->data`: they stay element by element.
            fn okl_op2_looks_at_data(): [];
        }
    };
}

for_each_op2_fn!(function_table);

abi_structs! {
    /// Where a kernel's parameter points to for element n.
    struct Parameter {
        /// Where the data begin; for a number, where it is put.
        data: ptr,
        /// Bytes from one element to the next; 0 for a global variable.
        size: i64,
        /// The first column in use of the map.
        map: ptr,
        /// Room for `columns` pointers.
        columns_at: ptr,
        /// Columns of the map.
        arity: i64,
        /// Columns in use, where they are several.
        columns: i64,
        /// One of [`kind`].
        kind: i64,
        /// Bytes from one component of an element to the next.
        stride: i64,
    }

    /// A loop over a set as a kernel of a device's: its work items run an element each.
    struct DeviceLoop {
        /// A [`DeviceKernel`](crate::gpu::DeviceKernel).
        kernel: ptr,
        /// One like it, for elements that do not add to the same at the same time; null where `kernel` is that. (So it is, too,
        /// where nothing is added to elements through maps.)
        apart: ptr,
        /// One like it, whose blocks run elements that follow each other: what these add through maps is added by the block;
        /// null where that is not possible. Blocks that add to the same do not run at the same time.
        staged: ptr,
        /// `okl_gpu_launch_v6`: so a program with such loops is linked with it, and others are not.
        launch: ptr,
        /// `okl_gpu_runs_v5`.
        runs: ptr,
        /// [`DeviceValue`] array: what is passed, in the order of the kernel's parameters; behind that, what has to hold.
        values: ptr,
        /// Length of `values`.
        value_count: i64,
        /// Work items of a block.
        block: i64,
        /// Whether the processor may run the loop.
        has_processor: i64,
        /// A [`DeviceKernel`](crate::gpu::DeviceKernel) that moves elements between data and a buffer: its work items move a
        /// piece of an element each. What it is passed [`halo`] says.
        halo: ptr,
    }

    /// What is passed to such a kernel.
    struct DeviceValue {
        /// One of [`device`].
        what: i64,
        /// The argument of the loop that it is of.
        argument: i64,
        /// Bytes of an element or of a value; of [`device::SAME_MAP`] the other argument.
        size: i64,
        /// A variable of the program's.
        variable: ptr,
    }
}

/// Values of `DeviceValue::what`. Elements lie on a device as they do elsewhere, or component by component; a map, column by
/// column.
pub mod device {
    /// The position of the first element that runs, an `int`.
    pub const FROM: i64 = 0;
    /// The one behind the last.
    pub const TO: i64 = 1;
    /// Where the elements' numbers are, by position; null where position and number are the same.
    pub const NUMBERS: i64 = 2;
    /// Where the data begin.
    pub const DATA: i64 = 3;
    /// Bytes from one element to the next.
    pub const STEP: i64 = 4;
    /// Bytes from one component to the next.
    pub const STRIDE: i64 = 5;
    /// The map.
    pub const MAP: i64 = 6;
    /// Entries from one of its columns to the next.
    pub const COLUMN: i64 = 7;
    /// The value of a global argument.
    pub const VALUE: i64 = 8;
    /// Where each block puts what its elements have made of a global argument.
    pub const PARTIALS: i64 = 9;
    /// The value that a variable of the program's has.
    pub const VARIABLE: i64 = 10;
    /// Is not passed: two arguments use the same map.
    pub const SAME_MAP: i64 = 11;
    /// Whether an argument is there that may be left out, an `int`.
    pub const IS_THERE: i64 = 12;
    /// Where the numbers are that the program knows the loop's elements by; null where they are the same.
    pub const ORIGINAL: i64 = 13;
    /// The map, with the numbers that the program knows elements by.
    pub const ORIGINAL_MAP: i64 = 14;
    /// Where each block puts, as an `int`, the number that the program knows the element by whose value of a global argument is
    /// the least or greatest one.
    pub const FIRSTS: i64 = 15;
    /// Of the kernel whose blocks add, for a group of arguments, of which this is the first: by the position of a block, an
    /// `int`, where its part of the list begins of what blocks add to. There the block's position is in place of that of an
    /// element, and `NUMBERS` are those of the elements that blocks begin with.
    pub const ROWS: i64 = 16;
    /// That list, of numbers of 64 bits: in the low 32 the element that is added to, in the next 16 where the slots begin
    /// that are added to it, among those of the block, and in the high 16 how many these are.
    pub const TARGETS: i64 = 17;
    /// The list of slots, of 16 bits each, as many for each block as it has. Each column of the group has one for each work
    /// item; columns count through the arguments that are [`BESIDE`] each other.
    pub const SLOTS: i64 = 18;
    /// Is not passed: the argument is one of the group whose first one is `size`. They have the same data.
    pub const BESIDE: i64 = 19;
}

/// What the kernel is passed that moves elements: addresses, then `int`s, then numbers of 64 bits.
pub mod halo {
    /// Of the data, of the buffer, and of the numbers of the elements: null where they follow each other.
    pub const ADDRESSES: usize = 3;
    /// Whether elements go from the buffer to the data, and the number of the first one.
    pub const INTS: usize = 2;
    /// How many elements; bytes of a piece, pieces of a component, pieces of an element; bytes from one element to the next, and
    /// from one component to the next. In the buffer elements lie side by side.
    pub const NUMBERS: usize = 6;
    /// How many bytes a piece may have.
    pub const PIECES: [i64; 3] = [8, 4, 1];
    /// Work items of a block.
    pub const BLOCK: i64 = 128;
}

/// OP2's names of accesses: position n is the value n of `op_access`.
pub const ACCESSES: [&str; 7] = [
    "OP_READ", "OP_WRITE", "OP_RW", "OP_INC", "OP_MIN", "OP_MAX", "OP_WORK",
];

/// OP2's own functions, by the names of its manual, that may end the program: what they are given may be wrong, or when they
/// are called.
pub const MAY_END: [&str; 46] = [
    "op_barrier",
    "op_compute_moment",
    "op_compute_moment_across_times",
    "op_decl_set",
    "op_decl_set_hdf5",
    "op_decl_set_hdf5_infer_size",
    "op_decl_map",
    "op_decl_map_long",
    "op_decl_map_hdf5",
    "op_decl_dat",
    "op_decl_dat_hdf5",
    "op_decl_dat_overlay",
    "op_decl_dat_overlay_ptr",
    "op_decl_dat_temp",
    "op_decl_const",
    "op_decl_const2",
    "op_dump_dat",
    "op_dump_to_hdf5",
    "op_exit",
    "op_fetch_data",
    "op_fetch_data_file",
    "op_fetch_data_hdf5_file",
    "op_fetch_data_hdf5_file_path",
    "op_fetch_data_idx",
    "op_free_dat_temp",
    "op_get_const_hdf5",
    "op_halo_create",
    "op_init",
    "op_init_soa",
    "op_mpi_barrier",
    "op_mpi_init",
    "op_mpi_init_soa",
    "op_par_loop",
    "op_partition",
    "op_partition_destroy",
    "op_partition_external",
    "op_partition_inertial",
    "op_partition_random",
    "op_print_dat_to_binfile",
    "op_print_dat_to_txtfile",
    "op_renumber",
    "op_size_of_set",
    "op_timing_output",
    "op_timing_output_2_file",
    "op_timings_to_csv",
    "op_write_const_hdf5",
];

/// Values of `op_access`.
pub mod access {
    /// Read only.
    pub const READ: i32 = 0;
    /// Written without being read.
    pub const WRITE: i32 = 1;
    /// Read and written.
    pub const RW: i32 = 2;
    /// Incremented only.
    pub const INC: i32 = 3;
    /// The least value, of a global argument.
    pub const MIN: i32 = 4;
    /// The greatest value, of a global argument.
    pub const MAX: i32 = 5;
    /// A variable of the kernel's own.
    pub const WORK: i32 = 6;
}

/// Bytes of an `op_arg`.
pub const ARGUMENT_BYTES: usize = 96;
/// Where its access is, in bytes.
pub const ARGUMENT_ACCESS: usize = 80;

/// Values of `Parameter::kind`.
pub mod kind {
    /// `data + n * size`
    pub const STRIDED: i64 = 0;
    /// `data + map[n * arity] * size`
    pub const MAPPED: i64 = 1;
    /// An array of pointers to what the `columns` columns of the map lead to.
    pub const COLUMNS: i64 = 2;
    /// The number n, an `int`.
    pub const NUMBER: i64 = 3;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_end_the_program_is_declared_by_op2() {
        let headers = [
            include_str!("../../op2/include/op_lib_c.h"),
            include_str!("../../op2/include/op_lib_cpp.h"),
            include_str!("../../op2/include/op_lib_mpi.h"),
            include_str!("../../op2/include/op_hdf5.h"),
            include_str!("../../op2/include/op_rt_support.h"),
            include_str!("../../op2/include/op_seq.h"),
        ];
        for name in MAY_END {
            let is_declared = |text: &&str| {
                let mut rest = text.split(name).skip(1);
                rest.any(|rest| rest.trim_start_matches("_char").starts_with(['(', ' ']))
            };
            assert!(headers.iter().any(is_declared), "{name}");
        }
    }

    #[test]
    fn the_list_is_the_one_of_its_version() {
        let hash = crate::hash(TEXT, LAYOUT_TEXT);
        assert_eq!((ALL.len(), hash), (5, 0xd28db8761852009d));
    }
}
