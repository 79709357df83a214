//! Functions of the program that have names of the C library, such as `read` or `connect`. A process on ranks has more
//! libraries than one of OpenMP's: those of MPI, and ours, call the C library's.
//!
//! Guarantee: of a program that is no shared library itself, they get the C library's, but for functions that a program may
//! replace, as it may `malloc`, and those of libm: a library may use a program's that has none.

use crate::analysis::library;
use crate::llvm::{Function, Linkage, Module, Visibility};

/// What a program may define in the place of the C library's function.
const REPLACEABLE: &str = " malloc calloc realloc free posix_memalign aligned_alloc memalign valloc pvalloc \
     reallocarray malloc_usable_size ";

/// Has no other library see them.
pub fn hide(module: &Module) {
    // What is for a shared library has to be seen by those that use it.
    if module.has_flag("PIC Level") && !module.has_flag("PIE Level") {
        return;
    }
    for function in module.functions() {
        if is_seen(function) && is_of_c_library(&function.name()) {
            module.set_visibility(*function, Visibility::LLVMHiddenVisibility);
        }
    }
}

fn is_seen(function: Function<'_>) -> bool {
    !function.is_declaration() && function.linkage() == Linkage::LLVMExternalLinkage
}

fn is_of_c_library(name: &str) -> bool {
    let is_mangled = name.starts_with('_');
    !is_mangled
        && library::known(name).is_some()
        && !library::is_of_libm(name)
        && !REPLACEABLE.contains(&format!(" {} ", library::plain(name)))
}
