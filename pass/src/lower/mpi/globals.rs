//! Writable variables: they move into two output sections that every rank maps as shared memory,
//! between pads from which the runtime learns where the sections begin and end.

use std::collections::HashSet;

use okl_abi::LARGEST_UNANNOUNCED;

use crate::analysis::library::is_library_variable;
use crate::diagnostic::{Declined, Site};
use crate::llvm::{Global, Linkage, Module, Value, Visibility};
use crate::lower::mpi::twins::{replace_in_constants, replace_outside};
use crate::marks::{PLAIN, is_ours};

const DATA: &str = "okl_data";
const DATA_END: &str = "okl_data_end";
// LLVM gives sections of this prefix no bytes in the object file, and both GNU ld and lld keep the
// name as an output section of its own.
const ZERO: &str = ".llvm.linkonce.b.okl";
const ZERO_END: &str = ".llvm.linkonce.b.okl_end";
const PAGE: u32 = 4096;

/// Sections whose content is read by others than the program's threads.
const UNTOUCHED_SECTIONS: [&str; 8] = [
    ".init_array",
    ".fini_array",
    ".preinit_array",
    ".ctors",
    ".dtors",
    ".rodata",
    ".note",
    ".debug",
];

/// glibc's promise that there is one thread, in which case the C++ library counts references
/// without atomics.
const SINGLE_THREADED: &str = "__libc_single_threaded";

/// The variables of a module.
pub struct Plan<'m> {
    shared: Vec<Global<'m>>,
    externs: Vec<Global<'m>>,
}

impl Plan<'_> {
    /// Whether there is nothing to move.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }
}

/// A variable as the module table lists it.
pub struct Shared<'m> {
    /// The variable.
    pub variable: Global<'m>,
    /// Its size in bytes.
    pub size: u64,
}

/// Finds the writable variables.
pub fn check<'m>(module: &'m Module, refused: &mut Vec<Declined<'m>>) -> Plan<'m> {
    let mut plan = Plan {
        shared: Vec::new(),
        externs: Vec::new(),
    };
    for global in module.globals() {
        let name = global.name();
        if global.is_readonly()
            || global.is_thread_local()
            || name.starts_with("llvm.")
            || is_ours(global)
            // The address of such a lock identifies it, and nothing else of it is used.
            || name.starts_with(".gomp_critical_user_")
        {
            continue;
        }
        let elsewhere =
            global.is_declaration() || global.linkage() == Linkage::LLVMAvailableExternallyLinkage;
        if elsewhere {
            if !is_library_variable(&name) && !global.instruction_users().is_empty() {
                plan.externs.push(global);
            }
            continue;
        }
        let section = global.section();
        if section.is_empty() {
            plan.shared.push(global);
        } else if ![DATA, ZERO].contains(&section.as_str())
            && !UNTOUCHED_SECTIONS
                .iter()
                .any(|prefix| section.starts_with(prefix))
        {
            refused.push(Declined {
                site: Site::Global(global),
                reason: format!(
                    "variable {} is placed in section {section}, so the ranks cannot share it",
                    crate::llvm::demangle(&name)
                ),
            });
        }
    }
    plan
}

/// Makes code of the C++ library count references as if there were threads: the objects are shared
/// between ranks.
pub fn emit_many_threads(module: &Module) {
    let Some(promise) = module
        .global(SINGLE_THREADED)
        .filter(|global| global.is_declaration())
    else {
        return;
    };
    let never = module.add_constant("okl.many_threads", promise.value_type().zero());
    replace_outside(*promise, *never, PLAIN);
    replace_in_constants(*promise, *never);
    if promise.is_unused() {
        promise.erase();
    }
}

/// Moves the variables. Returns what the module table lists: the shared ones and those that other
/// objects define.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>) -> (Vec<Shared<'m>>, Vec<Global<'m>>) {
    let mut shared = Vec::new();
    for variable in plan.shared {
        let initializer = variable
            .initializer()
            .expect("a definition has an initial value");
        if initializer.is_undef() {
            variable.set_initializer(variable.value_type().zero());
        }
        if variable.linkage() == Linkage::LLVMCommonLinkage {
            // The linker, not the compiler, would choose the section of a common variable.
            variable.set_linkage(Linkage::LLVMWeakAnyLinkage);
        }
        let zero = initializer.is_null() || initializer.is_undef();
        variable.set_section(if zero { ZERO } else { DATA });
        // Variables of no size have nothing to share.
        let size = module.size_of(variable.value_type());
        let in_dropped_comdat = variable.is_local() && variable.has_comdat();
        if size > 0 && !in_dropped_comdat {
            shared.push(Shared { variable, size });
        }
    }
    (shared, plan.externs)
}

/// Gives the arrays pages of their own, apart from `direct`: pages whose accesses are not declared are
/// tracked, with all that lies in them.
pub fn set_apart<'m>(module: &'m Module, direct: &HashSet<Value<'m>>) {
    let size = |global: &Global<'m>| module.size_of(global.value_type());
    for section in [DATA, ZERO] {
        let globals = module.globals().into_iter();
        let (arrays, others): (Vec<_>, Vec<_>) = globals
            .filter(|global| !global.is_declaration() && global.section() == section)
            .filter(|global| !is_ours(*global))
            .partition(|global| {
                size(global) > LARGEST_UNANNOUNCED as u64 && !direct.contains(&**global)
            });
        // The arrays of the module in front of it may be those that regions declare.
        if arrays.is_empty() && !others.iter().any(|one| direct.contains(&**one)) {
            continue;
        }
        // Other modules have theirs in front of these. A page of its own rather than an alignment of the first
        // variable: of that one the linker may take another module's.
        let page = module.array(module.int(8), u64::from(PAGE));
        for group in [others, arrays] {
            let internal = Linkage::LLVMInternalLinkage;
            let first = module.add_global("okl.page", page, Some(page.zero()), internal);
            first.set_alignment(PAGE);
            first.set_section(section);
            module.append_to_compiler_used(*first);
            for one in group {
                module.move_to_end(one);
            }
        }
    }
}

/// Adds the pads, of which the linker keeps one set for each executable or library. Returns the
/// `SharedSectionBounds`.
pub fn emit_bounds(module: &Module) -> Value<'_> {
    let ty = module.array(module.int(8), u64::from(PAGE));
    let pad = |name: &str, section: &str| {
        if let Some(pad) = module.global(name) {
            return pad;
        }
        let pad = module.add_global(name, ty, Some(ty.zero()), Linkage::LLVMLinkOnceODRLinkage);
        module.set_visibility(*pad, Visibility::LLVMHiddenVisibility);
        pad.join_comdat(module, name);
        pad.set_alignment(PAGE);
        pad.set_section(section);
        module.append_to_used(&[pad]);
        pad
    };
    let pads = [
        pad("okl.pad.data", DATA),
        pad("okl.pad.data_end", DATA_END),
        pad("okl.pad.bss", ZERO),
        pad("okl.pad.bss_end", ZERO_END),
    ];
    *module.add_constant("okl.bounds", module.const_struct(&pads.map(|pad| *pad)))
}
