//! Functions of other files that chains call, and functions that chains of other files may.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::callees::{Functions, is_called};
use super::{BEGINS, ENDS, is_marker, is_note};
use crate::llvm::{Block, Call, Function, Linkage, Module, Value};

/// What a module has to do with others.
#[derive(Default)]
pub struct Elsewhere {
    /// The functions of others that its chains may call, also by functions of its own.
    pub wanted: BTreeSet<String>,
    /// The functions that others may call, and those of others that each may call.
    pub defined: BTreeMap<String, BTreeSet<String>>,
}

/// What a module has to do with others; none where chains of others have no use for it, and its own have none for them.
pub fn elsewhere(module: &Module) -> Option<Elsewhere> {
    let mut known = Functions::default();
    let mut found = Elsewhere::default();
    let begins = module.function(BEGINS).into_iter();
    let begins = begins.flat_map(|one| one.users());
    for site in begins.filter_map(Value::as_call) {
        for called in called_in(site) {
            found.wanted.extend(names(known.elsewhere(called)));
        }
    }
    let mut has_loops = false;
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        has_loops |= !function.loops().is_empty();
        if function.linkage() == Linkage::LLVMExternalLinkage {
            let called = names(known.elsewhere(function)).collect();
            found.defined.insert(function.name(), called);
        }
    }
    // A function without loops may call others that have some.
    let mut called = found.defined.values();
    let is_of_use = !found.wanted.is_empty()
        || called.any(|called| !called.is_empty())
        || has_loops && !found.defined.is_empty();
    is_of_use.then_some(found)
}

fn names(all: Vec<Function<'_>>) -> impl Iterator<Item = String> {
    all.into_iter().map(|one| one.name())
}

/// The functions that are called by name in a chain.
pub fn called_in(site: Call<'_>) -> Vec<Function<'_>> {
    let first = site.instruction().block();
    let behind = |block: Block<'_>| {
        let all = block.instructions();
        let own = all.iter().position(|one| *one == site.instruction());
        own.map_or(0, |own| own + 1)
    };
    let mut found = Vec::new();
    let mut seen = HashSet::from([first]);
    let mut rest = vec![first];
    'blocks: while let Some(block) = rest.pop() {
        let all = block.instructions();
        for one in &all[behind(block)..] {
            let Some(call) = one.as_call() else { continue };
            if call.callee_name() == ENDS {
                continue 'blocks;
            }
            if is_called(call) && !is_marker(call) && !is_note(call) {
                found.extend(call.callee_function());
            }
        }
        let invoked = block.terminator().and_then(|one| one.as_call());
        let next = match invoked.and_then(Call::invoke_targets) {
            Some((normal, _)) => vec![normal],
            None => block.successors(),
        };
        rest.extend(next.into_iter().filter(|one| seen.insert(*one)));
    }
    found
}
