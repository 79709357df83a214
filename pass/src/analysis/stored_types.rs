//! Types of what functions store. LLVM makes one fill of several stores, such as those of a vector's components, and forgets
//! their types; so the types of all stores of a function are noted before.
//!
//! Guarantee: a fill that has no type of its own, in a function with a note, was made of stores of the types in the note.

use crate::analysis::call_graph::{is_final, reached};
use crate::analysis::library::{changes_stream_only, is_cxx_runtime, is_mathematics};
use crate::analysis::runtime::is_of_runtime;
use crate::llvm::{Call, Function, Instruction, Module, Opcode, Value};
use crate::marks;

/// In more functions than that nothing is noted.
const MOST_REACHED: usize = 100;

/// Notes what is stored by the functions whose loops threads share, and by all that LLVM may write into them. True where
/// it noted something.
pub fn note(module: &Module) -> bool {
    let mut noted = false;
    for function in module.functions() {
        let shares = |at: Instruction<'_>| {
            (*at)
                .as_call()
                .is_some_and(|call| is_of_runtime(&call.callee_name()))
        };
        let is_known = function.is_declaration() || marks::is_lowered(function);
        if is_known || !function.instructions().into_iter().any(shares) {
            continue;
        }
        let types = stored_by(module, function).filter(|types| !types.is_empty());
        if let Some(types) = types {
            marks::note_stored_types(module, function, &types);
            noted = true;
        }
    }
    noted
}

/// The types of all that a function and those that it comes to store, but for variables of theirs; `None` where some are
/// not known, or more may be written into it than what it calls now.
fn stored_by<'m>(module: &'m Module, function: Function<'m>) -> Option<Vec<Vec<String>>> {
    let functions = reached(function);
    if functions.len() > MOST_REACHED {
        return None;
    }
    let mut types = Vec::new();
    for at in functions.iter().flat_map(|one| one.instructions()) {
        if let Some(call) = (*at).as_call() {
            if fills_or_copies(call) {
                if !is_variable(at.operand(0)) {
                    types.extend(at.noted_types_of_fields(module)?);
                }
            } else if !is_known(call) {
                return None;
            }
        } else if at.opcode() == Opcode::LLVMStore && !is_variable(at.operand(1)) {
            types.push(at.noted_type(module)?);
        }
    }
    types.sort();
    types.dedup();
    Some(types)
}

fn is_variable(address: Value<'_>) -> bool {
    address
        .underlying_object()
        .as_op(Opcode::LLVMAlloca)
        .is_some()
}

fn fills_or_copies(call: Call<'_>) -> bool {
    let name = call.callee_name();
    ["llvm.mem", "llvm.experimental.mem"]
        .iter()
        .any(|one| name.starts_with(one))
}

/// Whether a call is of a function that is looked at, or stays a call.
fn is_known(call: Call<'_>) -> bool {
    let Some(callee) = call.callee_function() else {
        return false;
    };
    if !callee.is_declaration() {
        return is_final(callee);
    }
    let name = callee.name();
    callee.is_intrinsic()
        || is_of_runtime(&name)
        || is_mathematics(&name)
        || is_cxx_runtime(&name)
        || changes_stream_only(call)
}

/// Whether a fill without a type cannot change what a load reads.
pub fn fills_others<'m>(module: &'m Module, fill: Instruction<'m>, load: Instruction<'m>) -> bool {
    let is_fill = (*fill)
        .as_call()
        .is_some_and(|call| call.callee_name().starts_with("llvm.memset."));
    is_fill
        && !is_variable(load.operand(0))
        && !is_variable(fill.operand(0))
        && marks::stored_types(fill.function())
            .zip(load.noted_type(module))
            .is_some_and(|(stored, loaded)| are_apart(&stored, &loaded))
}

/// Whether objects of these types, of what is stored, are not of the one that is loaded: in C and C++.
pub fn are_apart(stored: &[Vec<String>], loaded: &[String]) -> bool {
    are_apart_in(C, stored, loaded)
}

/// As [`are_apart`] for what is loaded in a parallel region, also in Fortran. There what flang notes as a type tells variables
/// apart, those of one function in one call of it: so the variables of the function that the region stands in, but not those of
/// functions that LLVM has put in the place of calls.
pub fn are_other_objects(stored: &[Vec<String>], loaded: &[String], region: Function<'_>) -> bool {
    let name = region.name();
    match name.split_once(FLANG_REGION) {
        Some((function, _)) => are_apart_in(&format!("{FLANG}{function}"), stored, loaded),
        None => are_apart(stored, loaded),
    }
}

/// What flang notes as the root of the types of a function, in front of its name.
const FLANG: &str = "Flang function root ";

/// What flang has behind a function's name in those of its regions.
const FLANG_REGION: &str = "..omp_par";

/// What the names of clang's languages of this family begin with.
const C: &str = "Simple C";

fn are_apart_in(root: &str, stored: &[Vec<String>], loaded: &[String]) -> bool {
    let language = loaded.last();
    // There are several of this family of clang's languages, and a function's name is part of others.
    let is_it = |one: &String| one == root || root == C && one.starts_with(root);
    let is_told = language.is_some_and(is_it);
    let is_kind_of = |one: &[String], other: &[String]| one.contains(&other[0]);
    let is_apart = |one: &Vec<String>| {
        one.last() == language && !is_kind_of(one, loaded) && !is_kind_of(loaded, one)
    };
    is_told && stored.iter().all(is_apart)
}
