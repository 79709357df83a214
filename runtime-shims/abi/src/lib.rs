//! The boundary between code the pass generates and the runtime libraries.
//!
//! Every function and every struct that crosses it is stated once, here. The pass expands the list
//! into declarations ([`f`]) and struct layouts (`FIELDS`); each runtime expands it into exported
//! symbols ([`for_each_mpi_fn`]), so a function that one side lacks does not compile.
//!
//! Only `i32`, `i64`, `f64` and `ptr` cross. Booleans are `i32`, sizes `i64`, and no MPI handle
//! appears. A C enum of pointer size (`omp_allocator_handle_t`) is `i64`.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod cpu;
pub mod devices;
mod effects;
mod functions;
pub mod gpu;
pub mod jit;
pub mod op2;
pub mod openmp;
mod schedule;
mod tables;

use xxhash_rust::const_xxh3;

pub use effects::Effects;
pub use functions::{ALL, f};
pub use schedule::{LoopSchedule, ScheduleKind};
pub use tables::{
    AtomicOp, ConstructorEntry, DirectAccess, ExternGlobalEntry, FOREIGN, FortranUnits,
    FunctionEntry, FunctionSummary, GlobalEntry, LARGEST_UNANNOUNCED, ModuleTable, OWN, REST,
    RegionDescriptor, SectionEntry, SectionTable, SectionValue, SharedSectionBounds, Stretch,
    Summaries, SummaryCall, SummaryObject, ThreadPrivateEntry, UnsafeSite, function_flags,
    region_flags, section_access, summary_flags,
};

/// Version of the list. It is part of the name of [`f::okl_mpi_register_v15`], so that a program
/// and a runtime of different versions fail at link time. A change of any name, signature or
/// struct changes [`ABI_HASH`], which a test compares with the hash recorded for this version.
pub const ABI_VERSION: i64 = 15;

/// The OpenMP run time's functions that start regions, and by which names of ours the versions of functions for one
/// rank call them: so it shows which parts of a program were not compiled with okl.
pub const PLAIN_FORKS: [(&str, &str); 2] = [
    ("__kmpc_fork_call", "okl_mpi_plain_fork_call"),
    ("__kmpc_fork_teams", "okl_mpi_plain_fork_teams"),
];

/// The section of an object that names source files, each with a NUL at its end, that were compiled with the plugin and
/// left as they were, as they have no OpenMP.
pub const LEFT_ALONE_SECTION: &str = "okl_left_alone";

/// XXH3 hash of every name, signature and struct layout on this page.
pub const ABI_HASH: u64 = hash(functions::TEXT, tables::LAYOUT_TEXT);

/// A scalar that may cross the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbiType {
    /// No result.
    Void,
    /// 32-bit integer; also every boolean.
    I32,
    /// 64-bit integer; also every size and enum of pointer size.
    I64,
    /// IEEE double.
    F64,
    /// Data or function pointer.
    Ptr,
}

/// Name, signature and effects of one runtime function.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeFn {
    /// The exported symbol.
    pub name: &'static str,
    /// Parameter types in order.
    pub params: &'static [AbiType],
    /// Parameter names in order.
    pub param_names: &'static [&'static str],
    /// Result type.
    pub ret: AbiType,
    /// What calling it means to an analysis.
    pub effects: Effects,
    /// What it is to the user, as the end of a sentence that begins with "it".
    pub words: Option<&'static str>,
}

impl RuntimeFn {
    /// Which parameter has that name.
    pub fn position(&self, param: &str) -> Option<usize> {
        self.param_names.iter().position(|&name| name == param)
    }

    /// The name without what all of its runtime's begin with.
    pub fn short_name(&self) -> &'static str {
        let rest = self.name.strip_prefix("okl_mpi_");
        rest.or_else(|| self.name.strip_prefix("okl_op2_"))
            .or_else(|| self.name.strip_prefix("okl_cpu_"))
            .or_else(|| self.name.strip_prefix("okl_gpu_"))
            .unwrap_or(self.name)
    }

    /// The type of the parameter of that name.
    pub fn type_of(&self, param: &str) -> Option<AbiType> {
        self.position(param).map(|at| self.params[at])
    }

    /// Whether it has all of these effects.
    pub const fn has(&self, effects: Effects) -> bool {
        self.effects.has(effects)
    }

    /// Whether it hands out a thread's share of a loop, once: the first part of it, where it has several.
    pub const fn begins_share(&self) -> bool {
        self.has(Effects::SHARES.and(Effects::QUIET))
    }

    /// Whether it ends the construct that `other` begins.
    pub fn ends(&self, other: &Self) -> bool {
        let pairs = [
            (Effects::SHARES.and(Effects::QUIET), Effects::ENDS_SHARE),
            (Effects::DEALS, Effects::ENDS_DEAL),
            (Effects::CHOOSES, Effects::ENDS_CHOICE),
        ];
        let of_the_same = [Effects::FIRST, Effects::FILTERED];
        pairs
            .iter()
            .any(|(begins, ends)| other.has(*begins) && self.has(*ends))
            && of_the_same
                .iter()
                .all(|which| self.has(*which) == other.has(*which))
    }
}

/// Functions of other runtimes, and those of ours that replace them under another name.
pub static COUNTERPARTS: [(&str, &RuntimeFn); 9] = [
    ("__kmpc_reduce", &f::okl_mpi_reduce),
    ("__kmpc_reduce_nowait", &f::okl_mpi_reduce_nowait),
    ("__cxa_guard_acquire", &f::okl_mpi_guard_acquire),
    ("__cxa_guard_release", &f::okl_mpi_guard_release),
    ("__cxa_guard_abort", &f::okl_mpi_guard_abort),
    ("__atomic_load", &f::okl_mpi_atomic_load_n),
    ("__atomic_store", &f::okl_mpi_atomic_store_n),
    ("__atomic_exchange", &f::okl_mpi_atomic_exchange_n),
    (
        "__atomic_compare_exchange",
        &f::okl_mpi_atomic_compare_exchange_n,
    ),
];

/// The ABI function that replaces the function `name` of another runtime (`__kmpc_*`, `omp_*`, `__cxa_guard_*`,
/// `__atomic_*`). Those of reductions and `__atomic_compare_exchange` have a signature of their own.
pub fn replacement_of(name: &str) -> Option<&'static RuntimeFn> {
    if let Some((_, function)) = COUNTERPARTS.iter().find(|(old, _)| *old == name) {
        return Some(function);
    }
    let (prefix, rest) = if let Some(rest) = name.strip_prefix("__kmpc_") {
        ("okl_mpi_kmpc_", rest)
    } else if let Some(rest) = name.strip_prefix("ompc_") {
        // What `omp.h` calls the functions that have a text argument.
        ("okl_mpi_omp_", rest)
    } else if name.starts_with("omp_") {
        ("okl_mpi_", name)
    } else {
        return None;
    };
    ALL.iter()
        .copied()
        .find(|function| function.name.strip_prefix(prefix) == Some(rest))
}

/// The line that says what the runtime function of that name does: its own, or that of ours that replaces it. Of a name
/// without a line nothing is known, whatever it begins with: other names that begin with `omp_` are the program's own.
pub fn runtime_function(name: &str) -> Option<&'static RuntimeFn> {
    if let Some(function) = replacement_of(name) {
        return Some(function);
    }
    let lists = [ALL, op2::ALL, cpu::ALL, gpu::ALL, openmp::ALL];
    let mut all = lists.into_iter().flatten();
    all.find(|function| function.name == name).copied()
}

/// Takes apart what flang calls a thing of a program's: `part` gets the names of the modules and procedures it is in, and
/// its own, as the programmer wrote them. False: `name` is not flang's.
pub fn fortran_name<'a>(name: &'a str, mut part: impl FnMut(&'a str)) -> bool {
    // Parts begin with a capital; what the programmer wrote is in small letters.
    let Some(mut rest) = name.strip_prefix("_Q") else {
        return false;
    };
    while let Some((kind, after)) = rest.split_at_checked(1) {
        let end = after
            .find(|letter: char| letter.is_ascii_uppercase() || letter == '.')
            .unwrap_or(after.len());
        let (word, next) = after.split_at(end);
        match kind {
            // Modules, submodules, procedures around it; then a procedure, a variable, a common block, a type.
            "M" | "S" | "F" | "P" | "E" | "C" | "T" if !word.is_empty() => part(word),
            // The main program has no name; a block construct has a number.
            "F" | "B" => {}
            _ => return false,
        }
        rest = if next.starts_with('.') { "" } else { next };
    }
    rest.is_empty()
}

/// Of two texts.
const fn hash(functions: &str, layouts: &str) -> u64 {
    const_xxh3::xxh3_64_with_seed(
        layouts.as_bytes(),
        const_xxh3::xxh3_64(functions.as_bytes()),
    )
}

/// The [`AbiType`] of a type keyword of the list.
#[doc(hidden)]
#[macro_export]
macro_rules! abi_type {
    () => {
        $crate::AbiType::Void
    };
    (i32) => {
        $crate::AbiType::I32
    };
    (i64) => {
        $crate::AbiType::I64
    };
    (f64) => {
        $crate::AbiType::F64
    };
    (ptr) => {
        $crate::AbiType::Ptr
    };
}

/// What a line of the list says of a function in words.
macro_rules! words {
    () => {
        None
    };
    ($words:literal) => {
        Some($words)
    };
}
pub(crate) use words;

/// The Rust type of a type keyword of the list.
#[macro_export]
macro_rules! rust_type {
    (i32) => {
        i32
    };
    (i64) => {
        i64
    };
    (f64) => {
        f64
    };
    (ptr) => {
        *mut core::ffi::c_void
    };
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    /// The hash of every version that was released. A change of the list changes the hash: then raise
    /// [`ABI_VERSION`], rename the register function, and record the new hash here.
    #[test]
    fn the_list_is_the_one_of_its_version() {
        assert_eq!((ABI_VERSION, ABI_HASH), (15, 0x9e2f6df6d79a1dd9));
    }

    #[test]
    fn replacements_are_found_by_the_name_in_openmp() {
        assert_eq!(
            replacement_of("__kmpc_barrier").map(|f| f.name),
            Some("okl_mpi_kmpc_barrier")
        );
        assert_eq!(
            replacement_of("omp_get_wtime").map(|f| f.name),
            Some("okl_mpi_omp_get_wtime")
        );
        for other in ["__kmpc_target_init", "omp_target_alloc", "barrier"] {
            assert!(replacement_of(other).is_none(), "{other}");
        }
    }

    #[test]
    fn effects_are_found_by_either_name() {
        for (name, ours) in [
            ("__kmpc_barrier", f::okl_mpi_kmpc_barrier),
            ("__kmpc_reduce", f::okl_mpi_reduce),
            ("ompc_display_affinity", f::okl_mpi_omp_display_affinity),
            ("__atomic_load", f::okl_mpi_atomic_load_n),
            ("okl_op2_par_loop_v8", op2::f::okl_op2_par_loop_v8),
            ("okl_cpu_begin_kernel_v1", cpu::f::okl_cpu_begin_kernel_v1),
            ("okl_gpu_launch_v6", gpu::f::okl_gpu_launch_v6),
        ] {
            for name in [name, ours.name] {
                let found = runtime_function(name).map(|f| (f.name, f.effects));
                assert_eq!(found, Some((ours.name, ours.effects)), "{name}");
            }
        }
    }

    #[test]
    fn of_names_without_a_line_nothing_is_known() {
        for other in [
            "__kmpc_barrier_2",
            "__kmpc_",
            "okl_mpi_kmpc_barrier_2",
            "okl_op2_par_loop",
            "okl_",
            "omp_sum",
            "ompc_sum",
            "ompi",
            "__atomic_load_3",
            "__cxa_guard_wait",
            "printf",
        ] {
            assert!(runtime_function(other).is_none(), "{other}");
        }
        for (_, plain) in PLAIN_FORKS {
            assert!(runtime_function(plain).is_some(), "{plain}");
        }
        assert!(runtime_function("__kmpc_threadprivate_cached").is_some());
        assert!(replacement_of("__kmpc_threadprivate_cached").is_none());
    }

    #[test]
    fn what_begins_a_construct_has_an_end_of_its_own() {
        let one_share = Effects::SHARES.and(Effects::QUIET);
        let begins = [one_share, Effects::DEALS, Effects::CHOOSES];
        for one in ALL {
            let ends: Vec<_> = ALL.iter().filter(|other| other.ends(one)).collect();
            let is_beginning = begins.iter().any(|effect| one.has(*effect));
            assert_eq!(ends.len(), usize::from(is_beginning), "{}", one.name);
        }
        assert!(f::okl_mpi_kmpc_end_master.ends(&f::okl_mpi_kmpc_master));
        assert!(!f::okl_mpi_kmpc_end_master.ends(&f::okl_mpi_kmpc_single));
        assert!(!f::okl_mpi_kmpc_end_single.ends(&f::okl_mpi_kmpc_masked));
        assert!(f::okl_mpi_kmpc_for_static_fini.ends(&f::okl_mpi_kmpc_for_static_init_8u));
    }

    #[test]
    fn effects_agree_with_each_other_and_with_the_parameters() {
        let contradictions = [
            (Effects::QUIET, Effects::SEPARATES),
            (Effects::QUIET, Effects::ACQUIRES),
            (Effects::QUIET, Effects::UNPLAIN),
            (Effects::QUIET, Effects::MAY_UNWIND),
            (Effects::ENTERS, Effects::LEAVES),
            (Effects::FIRST, Effects::FILTERED),
            (Effects::CHOOSES, Effects::ENDS_CHOICE),
            (Effects::APART, Effects::ATOMIC),
            (Effects::FORKS, Effects::FORKS_BODY),
        ];
        let needs = [
            (Effects::ANSWERS, Effects::ASKS.and(Effects::QUIET)),
            (Effects::UPDATES, Effects::ATOMIC),
            (Effects::FORKS, Effects::MAY_UNWIND),
            (Effects::FORKS_BODY, Effects::MAY_UNWIND),
            (Effects::REDUCES, Effects::SEPARATES.and(Effects::ACQUIRES)),
            (Effects::BARRIER, Effects::ACQUIRES),
        ];
        let params = [
            (Effects::FORKS, "region"),
            (Effects::FORKS, "args"),
            (Effects::FORKS_BODY, "body"),
            (Effects::RUNS_LOOP, "range"),
            (Effects::DEALS, "schedule"),
            (Effects::DEALS, "chunk"),
            (Effects::SHARES, "lower"),
            (Effects::ENTERS, "name"),
            (Effects::LEAVES, "name"),
            (Effects::REDUCES, "items"),
            (Effects::REDUCES, "list"),
            (Effects::REDUCES, "combine"),
            (Effects::REDUCES, "reach"),
        ];
        let lists = [ALL, op2::ALL, cpu::ALL, gpu::ALL, openmp::ALL];
        for one in lists.into_iter().flatten() {
            let name = one.name;
            for (a, b) in contradictions {
                assert!(!(one.has(a) && one.has(b)), "{name}: {a:?}, {b:?}");
            }
            for (a, b) in needs {
                assert!(!one.has(a) || one.has(b), "{name}: {a:?}, {b:?}");
            }
            let which = Effects::FIRST.and(Effects::FILTERED);
            assert!(
                !one.effects.has_some(which)
                    || (one.effects).has_some(Effects::CHOOSES.and(Effects::ENDS_CHOICE)),
                "{name}"
            );
            assert!(
                !one.has(Effects::UNSIGNED)
                    || one.effects.has_some(Effects::SHARES.and(Effects::DEALS)),
                "{name}"
            );
            for (effect, param) in params {
                assert!(
                    !one.has(effect) || one.position(param).is_some(),
                    "{name}: {effect:?}, {param}"
                );
            }
        }
    }

    #[test]
    fn names_of_fortran_are_taken_apart() {
        let parts = |name| {
            let mut parts = [""; 4];
            let mut count = 0;
            let known = fortran_name(name, |part| {
                parts[count] = part;
                count += 1;
            });
            known.then_some(parts)
        };
        for (name, shown) in [
            ("_QMmodelPstep", ["model", "step", "", ""]),
            ("_QMmodelFstepPinner", ["model", "step", "inner", ""]),
            ("_QMmodelSpartPstep", ["model", "part", "step", ""]),
            ("_QMmodelEcounter_2", ["model", "counter_2", "", ""]),
            ("_QFEa", ["a", "", "", ""]),
            ("_QFPinner", ["inner", "", "", ""]),
            ("_QFcomB1Ex", ["com", "x", "", ""]),
            ("_QMmodelPstep..omp_par.3", ["model", "step", "", ""]),
        ] {
            assert_eq!(parts(name), Some(shown));
        }
        for other in ["_QQmain", "_QQclX2F00", "com_", "_ZN1aC1Ev", "_QM"] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn names_are_unique_and_atomic_operations_are_at_their_numbers() {
        for (index, function) in ALL.iter().enumerate() {
            assert!(
                ALL[..index].iter().all(|other| other.name != function.name),
                "{}",
                function.name
            );
        }
        for (number, operation) in AtomicOp::ALL.iter().enumerate() {
            assert_eq!(*operation as usize, number);
        }
    }
}
