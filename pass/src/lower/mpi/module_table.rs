//! What the runtime is told of a module: the `ModuleTable` and everything it points to.

use std::collections::HashSet;

use okl_abi::{ABI_HASH, f, function_flags};

use super::flags::Waits;
use super::unsafe_sites::UnsafeSites;
use crate::analysis::call_graph::{CallGraph, is_address_taken, is_dissolvable};
use crate::analysis::library::{Effect, known};
use crate::analysis::runtime::is_of_runtime;
use crate::diagnostic::user_name;
use crate::ir::Region;
use crate::llvm::{Builder, Function, Global, Linkage, Module, Value, Visibility, demangle};
use crate::lower::mpi::constructors;
use crate::lower::mpi::globals::Shared;
use crate::lower::mpi::thread_private::ThreadPrivate;
use crate::lower::runtime_call::declare;
use crate::marks::{REGISTER, SUMMARIES};

/// The functions the table lists.
pub struct Plan<'m> {
    entries: Vec<Entry<'m>>,
}

/// A function and what it reaches before it reaches another entry. Functions that only this module
/// can call have no entry: what they do counts as done by their callers, and taking their address
/// would keep LLVM from inlining and specialising them.
struct Entry<'m> {
    function: Function<'m>,
    name: String,
    callees: Vec<(Function<'m>, String)>,
    /// Callees that are taken for functions of the C library by their names, which the program may have defined.
    library: Vec<(Function<'m>, String)>,
    flags: i64,
    /// Index of the first unsafe construct.
    site: Option<usize>,
}

/// Summarises the functions.
pub fn check<'m>(
    functions: &[Function<'m>],
    regions: &[Region<'m>],
    graph: &CallGraph<'m>,
    sites: &UnsafeSites<'m>,
    waits: &Waits<'m>,
) -> Plan<'m> {
    let bodies: HashSet<_> = regions.iter().map(|one| one.body).collect();
    let taken: HashSet<_> = functions
        .iter()
        .copied()
        .filter(|function| is_address_taken(*function))
        .collect();
    let has_entry = |function: Function<'m>| {
        let dropped_by_linker = function.is_local() && function.has_comdat();
        let elsewhere = function.linkage() == Linkage::LLVMAvailableExternallyLinkage;
        let needed =
            bodies.contains(&function) || taken.contains(&function) || !is_dissolvable(function);
        needed && !dropped_by_linker && !elsewhere && !function.is_declaration()
    };
    let entries = functions
        .iter()
        .copied()
        .filter(|function| has_entry(*function))
        .map(|function| {
            let reach = graph.reachable_through(function, |next| !has_entry(next));
            let mut callees: Vec<(Function<'m>, String)> = Vec::new();
            let mut library: Vec<(Function<'m>, String)> = Vec::new();
            let mut listed = HashSet::new();
            let mut calls_indirectly = false;
            for inner in &reach {
                let Some(node) = graph.node(*inner) else {
                    continue;
                };
                calls_indirectly |= node.calls_indirectly;
                for &callee in &node.mentions {
                    let concerns = has_entry(callee) || is_unknown(callee);
                    if concerns && listed.insert(callee) {
                        callees.push((callee, user_name(callee)));
                    } else if is_taken_for_library(callee) && listed.insert(callee) {
                        library.push((callee, callee.name()));
                    }
                }
            }
            let mut flags = 0;
            if taken.contains(&function) {
                flags |= function_flags::ADDRESS_TAKEN;
            }
            if calls_indirectly {
                flags |= function_flags::CALLS_INDIRECTLY;
            }
            if waits.first_in(&reach).is_some() {
                flags |= function_flags::WAITS_FOR_FLAGS;
            }
            Entry {
                function,
                name: user_name(function),
                callees,
                library,
                flags,
                site: sites.first_in(&reach),
            }
        })
        .collect();
    Plan { entries }
}

/// Whether only the runtime can tell what a function does, from the tables of all modules.
fn is_unknown(function: Function<'_>) -> bool {
    let name = function.name();
    let elsewhere =
        function.is_declaration() || function.linkage() == Linkage::LLVMAvailableExternallyLinkage;
    elsewhere && known(&name).is_none() && !is_of_runtime(&name)
}

/// Whether a function is taken for one of the C library that does no harm, although the program may have defined one of
/// that name: it is none of those whose names and types LLVM relies on too, and its name is not reserved.
fn is_taken_for_library(function: Function<'_>) -> bool {
    let name = function.name();
    let is_harmless = known(&name).is_some_and(|known| known.effect == Effect::None);
    function.is_declaration()
        && is_harmless
        && !name.starts_with('_')
        && !is_of_runtime(&name)
        && !function.is_library_function()
}

/// What the other parts of the lowering contribute.
pub struct Parts<'a, 'm> {
    /// The `SharedSectionBounds`.
    pub bounds: Value<'m>,
    /// Shared variables.
    pub shared: Vec<Shared<'m>>,
    /// Variables that other objects define.
    pub externs: Vec<Global<'m>>,
    /// Variables of which each rank has a copy.
    pub thread_privates: Vec<ThreadPrivate<'m>>,
    /// The `FortranUnits` of a module that writes to units.
    pub units: Option<Global<'m>>,
    /// Static constructors and destructors.
    pub constructors: &'a constructors::Plan<'m>,
    /// A `RegionDescriptor` for each fork.
    pub regions: &'a [Global<'m>],
    /// An `UnsafeSite` for each unsafe construct.
    pub sites: &'a [Global<'m>],
    /// What says whether the process runs on one rank.
    pub flag: Global<'m>,
}

/// Emits the table and the constructor that hands it over.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>, parts: Parts<'_, 'm>) -> Function<'m> {
    let text = |text: &str| -> Value<'m> { *module.add_text("okl.text", text) };
    let globals = parts.shared.iter().map(|shared| {
        let name = demangle(&shared.variable.name());
        module.const_struct(&[
            *shared.variable,
            module.const_i64(shared.size as i64),
            text(&name),
        ])
    });
    let globals = array(module, "okl.globals", globals.collect());
    let externs = parts
        .externs
        .iter()
        .map(|variable| module.const_struct(&[**variable, text(&demangle(&variable.name()))]));
    let externs = array(module, "okl.externs", externs.collect());
    let thread_privates = parts.thread_privates.iter().map(|private| {
        module.const_struct(&[
            *private.place,
            *private.image,
            module.const_i64(private.size as i64),
            module.const_i64(i64::from(private.align)),
            text(&demangle(&private.name)),
        ])
    });
    let thread_privates = array(module, "okl.thread_privates", thread_privates.collect());
    let structors = |entries: &[constructors::Entry<'m>]| -> Vec<Value<'m>> {
        entries
            .iter()
            .map(|entry| module.const_struct(&[module.const_i64(entry.priority), entry.function]))
            .collect()
    };
    let constructors = array(
        module,
        "okl.constructors",
        structors(&parts.constructors.constructors),
    );
    let destructors = array(
        module,
        "okl.destructors",
        structors(&parts.constructors.destructors),
    );
    let functions = plan
        .entries
        .iter()
        .map(|entry| function(module, entry, parts.sites));
    let functions = array(module, "okl.functions", functions.collect());
    let regions = array(
        module,
        "okl.regions",
        parts.regions.iter().map(|one| **one).collect(),
    );

    let dso_handle = module.global("__dso_handle").unwrap_or_else(|| {
        let handle = module.add_global(
            "__dso_handle",
            module.int(8),
            None,
            Linkage::LLVMExternalLinkage,
        );
        module.set_visibility(*handle, Visibility::LLVMHiddenVisibility);
        handle
    });
    let mut fields = vec![
        module.const_i64(ABI_HASH as i64),
        *dso_handle,
        text(&module.source_file()),
        parts.bounds,
    ];
    for (array, count) in [
        globals,
        externs,
        thread_privates,
        constructors,
        destructors,
        functions,
        regions,
    ] {
        fields.push(array);
        fields.push(module.const_i64(count as i64));
    }
    fields.push(*parts.flag);
    fields.push(*summaries(module));
    assert!(fields.len() == okl_abi::ModuleTable::FIELDS.len());
    let table = module.add_constant("okl.module", module.const_struct(&fields));

    let ty = module.function_type(module.void(), &[]);
    let register = module.add_function(REGISTER, ty, Linkage::LLVMInternalLinkage);
    let builder = Builder::at_end(module, register.append_block(module));
    builder.call(declare(module, &f::okl_mpi_register_v15), &[*table]);
    if let Some(units) = parts.units {
        builder.call(declare(module, &f::okl_mpi_fortran_units), &[*units]);
    }
    builder.ret(None);
    register
}

/// Where what is found out late of the module's functions will be.
fn summaries(module: &Module) -> Global<'_> {
    let nothing = module.const_struct(&[module.pointer().zero(), module.const_i64(0)]);
    let linkage = Linkage::LLVMInternalLinkage;
    module.add_global(SUMMARIES, nothing.ty(), Some(nothing), linkage)
}

fn function<'m>(module: &'m Module, entry: &Entry<'m>, sites: &[Global<'m>]) -> Value<'m> {
    let text = |text: &str| -> Value<'m> { *module.add_text("okl.text", text) };
    let null = module.pointer().zero();
    // An inline function may be defined nowhere, where every call of it is one of a copy, and so may a function of a
    // library whose calls LLVM removes.
    let if_defined = |callee| module.weak_reference(callee).unwrap_or(null);
    let mut callees = Vec::new();
    let mut names = Vec::new();
    for (callee, name) in &entry.callees {
        callees.push(match callee.linkage() {
            Linkage::LLVMAvailableExternallyLinkage => if_defined(*callee),
            _ => **callee,
        });
        names.push(text(name));
    }
    if !entry.library.is_empty() {
        callees.push(null);
        names.push(null);
    }
    for (callee, name) in &entry.library {
        callees.push(if_defined(*callee));
        names.push(text(name));
    }
    let (callees, count) = array(module, "okl.callees", callees);
    let (names, _) = array(module, "okl.callee_names", names);
    module.const_struct(&[
        *entry.function,
        text(&entry.name),
        callees,
        module.const_i64(count as i64),
        names,
        module.const_i64(entry.flags),
        entry
            .site
            .map_or(module.pointer().zero(), |site| *sites[site]),
    ])
}

/// An array as a constant of its own; null where it is empty.
fn array<'m>(module: &'m Module, name: &str, values: Vec<Value<'m>>) -> (Value<'m>, usize) {
    let Some(first) = values.first() else {
        return (module.pointer().zero(), 0);
    };
    let value = module.const_array(first.ty(), &values);
    (*module.add_constant(name, value), values.len())
}
