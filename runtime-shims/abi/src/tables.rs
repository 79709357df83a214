//! Structs the pass emits as constant data and the runtime reads. All fields are 8 bytes.

/// Expands a list of structs.
macro_rules! abi_structs {
    ($($(#[$doc:meta])* struct $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ident,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name { $($(#[$field_doc])* pub $field: crate::rust_type!($type),)* }

            impl $name {
                /// Field types in order, for the LLVM struct of the same layout.
                pub const FIELDS: &'static [$crate::AbiType] = &[$(crate::abi_type!($type)),*];
                /// Field names in order.
                pub const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];
            }
        )*
        #[cfg_attr(not(test), allow(dead_code, reason = "not every list is hashed at run time"))]
        pub(crate) const LAYOUT_TEXT: &str =
            concat!($(stringify!($name), "{", $(stringify!($field), ":", stringify!($type), ",",)* "}"),*);
    };
}

pub(crate) use abi_structs;

abi_structs! {
    /// Everything the runtime must know about one translated module. Each module emits one and hands
    /// it to `okl_mpi_register_v15` from a constructor of priority 0. Arrays are (pointer, count).
    struct ModuleTable {
        /// [`crate::ABI_HASH`] of the pass.
        abi_hash: i64,
        /// `&__dso_handle`: tables with the same one come from the same executable or library.
        dso_handle: ptr,
        /// Source file name, NUL-terminated.
        source_file: ptr,
        /// The [`SharedSectionBounds`] pads of this executable or library.
        sections: ptr,
        /// [`GlobalEntry`] array: the shared variables this module defines.
        globals: ptr,
        /// Length of `globals`.
        global_count: i64,
        /// [`ExternGlobalEntry`] array: writable variables it uses that other objects define.
        externs: ptr,
        /// Length of `externs`.
        extern_count: i64,
        /// [`ThreadPrivateEntry`] array.
        thread_privates: ptr,
        /// Length of `thread_privates`.
        thread_private_count: i64,
        /// [`ConstructorEntry`] array, in the order of `llvm.global_ctors`.
        constructors: ptr,
        /// Length of `constructors`.
        constructor_count: i64,
        /// [`ConstructorEntry`] array, in the order of `llvm.global_dtors`.
        destructors: ptr,
        /// Length of `destructors`.
        destructor_count: i64,
        /// [`FunctionEntry`] array: the functions this module defines, with what they call.
        functions: ptr,
        /// Length of `functions`.
        function_count: i64,
        /// Array of pointers to [`RegionDescriptor`].
        regions: ptr,
        /// Length of `regions`.
        region_count: i64,
        /// A byte of this executable or library, 1 in a process that runs its functions for one rank: the run time
        /// sets it to 0 in others.
        plain: ptr,
        /// The [`Summaries`] of the functions it defines, which are found out late.
        summaries: ptr,
    }

    /// What the functions of a module do with memory. A function without a summary may do anything.
    struct Summaries {
        /// [`FunctionSummary`] array.
        functions: ptr,
        /// Length of `functions`.
        function_count: i64,
    }

    /// What a function does with memory. It is right for the definition that has its identity in the 16 bytes in front of
    /// it: of a function with several definitions the linker takes one, perhaps another file's.
    struct FunctionSummary {
        /// The function's address.
        address: ptr,
        /// The first 8 bytes of the identity.
        identity: i64,
        /// The other 8.
        identity_rest: i64,
        /// [`summary_flags`].
        flags: i64,
        /// Bits: through which of its parameters it accesses memory; the bit [`REST`] stands for that parameter and all that
        /// follow.
        parameters: i64,
        /// [`SummaryObject`] array: variables that it may access, undeclared.
        objects: ptr,
        /// Length of `objects`.
        object_count: i64,
        /// [`SummaryCall`] array: what else it calls. Apart from these, it accesses memory of the calling thread's own.
        calls: ptr,
        /// Length of `calls`.
        call_count: i64,
        /// Array of pointers to those of its [`Stretch`]es that may turn out not to be any.
        stretches: ptr,
        /// Length of `stretches`.
        stretch_count: i64,
    }

    /// A variable.
    struct SummaryObject {
        /// Its address.
        address: ptr,
        /// Its size in bytes.
        size: i64,
    }

    /// A call of a function of which only the run time knows what it does, if that.
    struct SummaryCall {
        /// The function; null where it is not defined.
        callee: ptr,
        /// Null where the call hands what its arguments lead to to a library first: something else otherwise.
        direct: ptr,
        /// Its name as the user knows it, NUL-terminated.
        name: ptr,
        /// A byte for each argument, that of the first is the lowest: the parameter of the calling function by which it is
        /// reached, [`OWN`] or [`FOREIGN`]. The byte [`REST`] stands for all from there on.
        arguments: i64,
    }

    /// Code of which the compiler cannot tell what it accesses; writable by the runtime, private to each rank.
    struct Stretch {
        /// Where it begins, in words; NUL-terminated.
        location: ptr,
        /// [`SummaryCall`] array: all else of it is declared.
        calls: ptr,
        /// Length of `calls`; -1 where it cannot be told at all.
        call_count: i64,
        /// Whether it is a loop nest, so that nothing can be declared inside.
        is_nest: i64,
        /// The decision the runtime caches: 0 not yet made, 1 the functions that it calls are known and it need not be tracked, 2
        /// it is tracked.
        decision: i64,
    }

    /// Page-aligned pads around the two output sections that hold shared variables: initialised data
    /// (`okl_data`) and zero-initialised data (`.llvm.linkonce.b.okl`). They have hidden visibility, so
    /// there is one set for each executable or shared library.
    struct SharedSectionBounds {
        /// First page of the initialised part.
        data_pad: ptr,
        /// First page behind the initialised part.
        data_end: ptr,
        /// Some page of the zero-initialised part.
        bss_pad: ptr,
        /// First page behind the zero-initialised part.
        bss_end: ptr,
    }

    /// A variable that lives in shared memory.
    struct GlobalEntry {
        /// Its address.
        address: ptr,
        /// Its size in bytes.
        size: i64,
        /// Its name, NUL-terminated.
        name: ptr,
    }

    /// A writable variable that the module uses but does not define.
    struct ExternGlobalEntry {
        /// Its address, null where a weak one is not defined.
        address: ptr,
        /// Its name, NUL-terminated.
        name: ptr,
    }

    /// A `thread_local` variable (OpenMP `threadprivate`): each thread has a copy in its rank's private area.
    struct ThreadPrivateEntry {
        /// `ptr (*)(void)`: where the calling thread has the pointer through which translated code reaches its copy.
        place: ptr,
        /// The initial value, `size` bytes.
        image: ptr,
        /// Size in bytes.
        size: i64,
        /// Alignment in bytes, a power of two.
        align: i64,
        /// Its name, NUL-terminated.
        name: ptr,
    }

    /// A static constructor or destructor, run on rank 0 only.
    struct ConstructorEntry {
        /// Priority as in `llvm.global_ctors`; 65535 is the default.
        priority: i64,
        /// `void (*)(int, char **, char **)`.
        function: ptr,
    }

    /// A function of the module, for the whole-program call graph the runtime closes at start-up.
    struct FunctionEntry {
        /// Its address.
        address: ptr,
        /// Its name as the user knows it, NUL-terminated.
        name: ptr,
        /// Array of pointers to the functions it calls or hands to an OpenMP runtime call; null for those that are not
        /// defined.
        callees: ptr,
        /// Length of `callees`.
        callee_count: i64,
        /// Array of NUL-terminated names, one for each callee. Behind a callee without a name are those that the pass
        /// took for functions of the C library by theirs.
        callee_names: ptr,
        /// [`function_flags`].
        flags: i64,
        /// The first [`UnsafeSite`] in it, or null.
        unsafe_site: ptr,
    }

    /// A construct that is wrong in a team of more than one rank.
    struct UnsafeSite {
        /// What it is, as the end of a sentence that begins with "it": NUL-terminated.
        reason: ptr,
        /// `file:line`, or `in function f` without debug information; NUL-terminated.
        location: ptr,
    }

    /// A parallel region, the first argument of a fork. Writable by the runtime, private to each rank.
    struct RegionDescriptor {
        /// `void (*)(i32 *global_tid, i32 *bound_tid, i64 *args)`: unpacks `args` and calls the body.
        invoke: ptr,
        /// The outlined body, as it stands in [`FunctionEntry::address`].
        body: ptr,
        /// `file:line`, or `in function f` without debug information; NUL-terminated.
        location: ptr,
        /// [`region_flags`].
        flags: i64,
        /// The decision the runtime caches: 0 not yet made, 1 distribute, 2 rank 0 alone, 3 one thread of it.
        decision: i64,
        /// [`DirectAccess`] array: what a region with [`region_flags::DECLARES_ALL`] accesses without
        /// declaring it.
        direct: ptr,
        /// Length of `direct`.
        direct_count: i64,
        /// Array of pointers to those of its [`Stretch`]es that may turn out not to be any.
        stretches: ptr,
        /// Length of `stretches`.
        stretch_count: i64,
    }

    /// An access at an address that is known when the region is forked.
    struct DirectAccess {
        /// The captured value that holds the address of the object, or -1.
        argument: i64,
        /// The object, a global variable, where `argument` is -1.
        object: ptr,
        /// Bytes from the start of the object.
        offset: i64,
        /// Bytes accessed.
        size: i64,
    }

    /// The functions of flang's run-time library by which units are written: that library is linked into each program.
    struct FortranUnits {
        /// An `i64` that ranks share, 0 at first: the newest of the texts that are on their way to rank 0.
        mail: ptr,
        /// An OPEN statement of the module that changes what is written to a unit, as `WORD= (file:line)`: NUL-terminated,
        /// or null.
        special: ptr,
        /// `_FortranAioBeginFlush`.
        begin_flush: ptr,
        /// `_FortranAioBeginOpenNewUnit`.
        begin_open_new_unit: ptr,
        /// `_FortranAioSetFile`.
        set_file: ptr,
        /// `_FortranAioGetNewUnit`.
        get_new_unit: ptr,
        /// `_FortranAioBeginExternalFormattedOutput`.
        begin_formatted_output: ptr,
        /// `_FortranAioSetAdvance`.
        set_advance: ptr,
        /// `_FortranAioOutputAscii`.
        output_ascii: ptr,
        /// `_FortranAioEndIoStatement`.
        end_io_statement: ptr,
    }

    /// What a loop nest accesses; constant.
    struct SectionTable {
        /// `file:line` of the nest, or `in function f`; NUL-terminated.
        location: ptr,
        /// [`SectionEntry`] array.
        entries: ptr,
        /// Length of `entries`.
        entry_count: i64,
        /// [`SectionValue`] array: the values of the entries, one behind the other.
        values: ptr,
        /// Length of `values`.
        value_count: i64,
    }

    /// A value of a [`SectionEntry`]: the sum of these. Those of an entry with marks are computed, its own, and next to
    /// each other: the run time's answer takes their place.
    struct SectionValue {
        /// Place of the addend that is computed in front of the nest; -1: none.
        computed: i64,
        /// The variable whose address is an addend, or null.
        variable: ptr,
        /// The constant addend.
        constant: i64,
    }

    /// A section of one object: `element` bytes at `address + sum(index[d] * stride[d])` for every
    /// `0 <= index[d] < count[d]`. A count of zero or less means that nothing is accessed. Strides are
    /// bytes and may be negative. Of what is read, a section too large to be one stands for the whole object.
    struct SectionEntry {
        /// [`section_access`].
        access: i64,
        /// Bytes of an element.
        element: i64,
        /// Number of (stride, count) pairs behind its address in the values.
        dimensions: i64,
        /// The object's name where it is known, NUL-terminated.
        object: ptr,
        /// `file:line` of an access, NUL-terminated.
        location: ptr,
    }
}

/// Bytes of the largest variable that serial code accesses unannounced, where the module that does defines it: the
/// run time keeps the pages of such variables out of section mode.
pub const LARGEST_UNANNOUNCED: i64 = 8;

/// Bits of [`FunctionEntry::flags`].
pub mod function_flags {
    /// The function's address escapes, so an indirect call may reach it.
    pub const ADDRESS_TAKEN: i64 = 1;
    /// The function calls through pointers.
    pub const CALLS_INDIRECTLY: i64 = 2;
    /// The function has loops that wait for flags ([`f::okl_mpi_flag_load`](crate::f::okl_mpi_flag_load)).
    pub const WAITS_FOR_FLAGS: i64 = 4;
}

/// Bits of [`RegionDescriptor::flags`].
pub mod region_flags {
    /// The pass declined to distribute the region: it runs on rank 0 alone.
    pub const RANK_ZERO_ALONE: i64 = 1;
    /// Everything the region accesses in shared memory is declared by `okl_mpi_sections` before it is
    /// accessed, or is listed in [`RegionDescriptor::direct`](crate::RegionDescriptor::direct), or follows on
    /// `okl_mpi_undeclared`.
    pub const DECLARES_ALL: i64 = 2;
    /// The function that forks calls `okl_mpi_serial_code` or `okl_mpi_serial_access` before serial code
    /// touches what the region may have declared.
    pub const SERIAL_CODE_ANNOUNCED: i64 = 4;
    /// The region has no atomic accesses: its threads access shared memory by loads and stores alone.
    pub const NO_ATOMICS: i64 = 8;
    /// There is code that follows on `okl_mpi_undeclared`, does not end the program, and certainly has to be tracked.
    pub const STRETCHES: i64 = 16;
    /// All loop nests that it declares are in [`RegionDescriptor::stretches`](crate::RegionDescriptor::stretches), or in
    /// functions that these call.
    pub const NESTS_DEPEND: i64 = 32;
    /// As `NO_ATOMICS`, but for what functions do that are called in
    /// [`RegionDescriptor::stretches`](crate::RegionDescriptor::stretches).
    pub const NO_ATOMICS_HERE: i64 = 64;
    /// The runtime has decided on `stretches`.
    pub const DECIDED: i64 = 128;
    /// Its threads wait for flags, as the user was told.
    pub const WAITS_FOR_FLAGS: i64 = 256;
    /// Its threads may run one after the other: they meet nowhere but in one reduction, which each executes once at most.
    pub const ONE_BY_ONE: i64 = 512;
    /// Its threads load or store flags between what they declare.
    pub const FLAGS: i64 = 1024;
    /// It has atomic accesses in loops, each of which has to be carried out at once, and little else between two of them.
    pub const AT_ONCE: i64 = 2048;
    /// With `DECLARES_ALL`: it reads more than it declares, of what other threads have written before it has last
    /// synchronised with them.
    pub const READS_ELSEWHERE: i64 = 4096;
    /// What its threads share runs on devices of their ranks, where these have some.
    pub const ON_DEVICES: i64 = 8192;
}

/// Bits of [`FunctionSummary::flags`].
pub mod summary_flags {
    /// The function declares what it accesses, apart from `objects`. What it calls is known, or one of its `stretches`.
    pub const DECLARES: i64 = 1;
    /// With `DECLARES`: it has a stretch that certainly has to be tracked.
    pub const STRETCHES: i64 = 2;
    /// It accesses memory by loads and stores alone, and so do those that it calls, apart from `calls` and `stretches`.
    pub const NO_ATOMICS: i64 = 4;
}

/// The last byte of [`SummaryCall::arguments`], and the last bit of [`FunctionSummary::parameters`].
pub const REST: usize = 7;

/// In [`SummaryCall::arguments`]: no pointer, or one to memory that only the calling thread uses or that nobody writes, or
/// to a variable that the region accesses undeclared.
pub const OWN: u8 = 254;

/// In [`SummaryCall::arguments`]: a pointer to what others may access, too.
pub const FOREIGN: u8 = 255;

/// Bits of [`SectionEntry::access`].
pub mod section_access {
    /// Elements are read.
    pub const READ: i64 = 1;
    /// Elements are written: all of them, unless `MAY` says otherwise.
    pub const WRITE: i64 = 2;
    /// Some elements may not be written.
    pub const MAY: i64 = 4;
    /// Read anywhere in the object that the address points into. There are no dimensions.
    pub const ANYWHERE: i64 = 8;
    /// A bound of what is read, which may be larger than the object.
    pub const BOUND: i64 = 16;
    /// With `WRITE`: anywhere in the object that the address points into, and each such store marks what it
    /// writes: elements of 1, 2, 4 or 8 bytes, into which the object is divided, a byte for each. In place of the address and of one (stride, count) the program gets back where marks start to count, the
    /// address of the first mark, and a mask for the number of the mark.
    pub const MARKED: i64 = 32;
    /// With `MARKED`: marks are bits, the lowest of a byte first, instead of bytes.
    pub const BITS: i64 = 64;
    /// Most marks that one store sets.
    pub const MOST_MARKS: i64 = 8;
    /// Elements are pointers, which the next entry is relative to. That they are read is for another entry.
    pub const TABLE: i64 = 128;
    /// A section for each pointer of the entry before: the address is an offset from it.
    pub const RELATIVE: i64 = 256;
    /// With `TABLE`: elements are integers, for the next entry that is `BETWEEN`.
    pub const NUMBERS: i64 = 512;
    /// With `NUMBERS`: they have a sign.
    pub const SIGNED: i64 = 1024;
    /// With `ANYWHERE`: between the least and the largest of some corners. In place of dimensions there are, for
    /// each corner, an offset from the address, and for each table of numbers in front a factor for what is
    /// in it; a last value may be there in vain. An offset of 2^63 - 1 is not known. A table of `NUMBERS` may lie so, too:
    /// all of what is between the corners.
    pub const BETWEEN: i64 = 2048;
    /// With `ANYWHERE` or `MARKED`: the address is the object's own. Others may also be one behind an object, from
    /// which elements are counted backwards.
    pub const OBJECT: i64 = 4096;
    /// With `TABLE`: the next entry is read at a few places, which can be computed. The address is that of a function
    /// `i64 (*)(i64 turn, const i64 *values)`, which says where the element of a turn is; in place of dimensions there are
    /// the number of turns, and the values that it is handed; a last one may be there in vain.
    pub const PLACES: i64 = 8192;
    /// With `MARKED`: the program marks what it has written behind the nest, unless [`AT_EACH_STORE`] is in the mask that it
    /// gets back: then others may ask for the marks meanwhile.
    pub const COUNTED: i64 = 16384;
    /// All of these elements are written by the threads of the team, before they wait for each other, each its share. This
    /// thread's is in other entries; what others write of them it does not access.
    pub const BY_ALL: i64 = 32768;
    /// With `NUMBERS` and `SIGNED`: negative ones are not used.
    pub const NEGATIVE_UNUSED: i64 = 65536;
    /// With `NUMBERS`: zero is not used.
    pub const ZERO_UNUSED: i64 = 131_072;
    /// With `NUMBERS`: that of which all bits are set, -1, is not used.
    pub const MINUS_ONE_UNUSED: i64 = 262_144;
    /// In the mask of an entry that is `COUNTED`.
    pub const AT_EACH_STORE: i64 = i64::MIN;
}

macro_rules! atomic_ops {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Operation of `okl_mpi_atomic_rmw`, numbered as below whatever LLVM's own numbering.
        #[repr(i32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum AtomicOp {
            $($(#[$doc])* $name,)*
        }

        impl AtomicOp {
            /// Every operation, at the index of its number.
            pub const ALL: &[AtomicOp] = &[$(AtomicOp::$name,)*];
        }
    };
}

atomic_ops! {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    FAdd,
    FSub,
    FMax,
    FMin,
    /// The operand where it is greater than the old value.
    FGreater,
    /// The operand where it is less than the old value.
    FLess,
    /// The operand unless it is less than the old value.
    FNotLess,
    /// The operand unless it is greater than the old value.
    FNotGreater,
}
