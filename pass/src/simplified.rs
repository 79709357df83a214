//! Copies of functions as LLVM simplifies them, for what shall not depend on how something is written.

use std::collections::HashSet;
use std::ops::Deref;

use crate::llvm::{Function, Linkage, Module, OwnModule, Passes, Silence, Value, Visibility};

/// A module with copies of functions that `module` defines, under their names, and of what they call, simplified, and
/// without loops where [`Unrolled`] leaves none. Its variables are only declared.
pub fn simplified(module: &Module, functions: &[Function<'_>]) -> OwnModule {
    assert!(functions.iter().all(|one| !one.is_declaration()));
    let kept = mentioned(functions);
    // Variables may be changed by what is left behind, and weak definitions be replaced when the program is linked.
    let mut copy = OwnModule::copy_with(module, |global| {
        let is_kept = match global.as_global() {
            Some(one) => one.is_readonly() && one.linkage() != Linkage::LLVMAppendingLinkage,
            None => kept.contains(&global),
        };
        is_kept && !global.is_interposable()
    });
    for variable in copy.globals() {
        if variable.name().starts_with("llvm.") && variable.is_unused() {
            variable.erase();
        }
    }
    // Which function an ifunc is, the program finds out. What does has been left behind.
    copy.declare_chosen_functions();
    let names: HashSet<_> = functions.iter().map(|one| one.name()).collect();
    let defined = |one: &Function<'_>| !one.is_declaration();
    for function in copy.functions().into_iter().filter(defined) {
        function.remove_attribute("optnone");
        function.remove_attribute("noinline");
        function.leave_comdat();
        if names.contains(&function.name()) {
            function.set_linkage(Linkage::LLVMExternalLinkage);
            copy.set_visibility(*function, Visibility::LLVMDefaultVisibility);
        } else {
            function.set_attribute(&copy, "alwaysinline");
        }
    }
    copy.strip_debug_info();
    let _nobody_is_told = Silence::begin(module);
    copy.simplify();
    for function in copy.functions().into_iter().filter(defined) {
        if names.contains(&function.name()) {
            unroll(function);
        }
    }
    copy
}

/// Functions, the functions and variables that they mention, and those that these mention.
pub fn mentioned<'m>(functions: &[Function<'m>]) -> HashSet<Value<'m>> {
    mentioned_by(functions, |_| true)
}

/// As [`mentioned`], without functions that are not followed, and without what these and such variables mention.
pub fn mentioned_by<'m>(
    functions: &[Function<'m>],
    follows: impl Fn(Value<'m>) -> bool,
) -> HashSet<Value<'m>> {
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let mut rest: Vec<Value<'m>> = functions.iter().map(|one| **one).collect();
    while let Some(one) = rest.pop() {
        if !seen.insert(one) {
            continue;
        }
        if one.as_global().is_some() {
            found.insert(one);
        }
        if !follows(one) {
            continue;
        }
        rest.extend(one.operands().into_iter().filter(|one| one.is_constant()));
        if let Some(function) = one.as_function() {
            found.insert(one);
            rest.extend(function.instructions().into_iter().map(|one| *one));
        }
    }
    found
}

/// A copy of a function whose loops are written out, as far as their turns are constant and not too many; it is gone
/// in the end.
pub struct Unrolled<'m>(Function<'m>);

impl<'m> Unrolled<'m> {
    /// Of a function that its module defines.
    pub fn of(module: &'m Module, function: Function<'m>) -> Self {
        let copy = function.copy();
        copy.strip_debug_info();
        copy.set_name("okl.unrolled");
        copy.set_linkage(Linkage::LLVMInternalLinkage);
        copy.leave_comdat();
        let _nobody_is_told = Silence::begin(module);
        unroll(copy);
        Self(copy)
    }
}

impl<'m> Deref for Unrolled<'m> {
    type Target = Function<'m>;
    fn deref(&self) -> &Function<'m> {
        &self.0
    }
}

impl Drop for Unrolled<'_> {
    fn drop(&mut self) {
        self.0.erase_unused();
    }
}

/// Brings loops into the form that LLVM writes out.
const CANONICAL: &str = "loop-simplify,lcssa";

/// Finds out what a loop that has been written out leaves.
const CLEANUP: &str = "sroa<modify-cfg>,early-cse,instsimplify,simplifycfg";

/// Instructions that a function may come to when its loops are written out.
const MOST_INSTRUCTIONS: u64 = 8192;

/// Writes out all loops that allow it: those around others when these are gone, and those whose bounds depend on the
/// turns of others.
fn unroll(function: Function<'_>) {
    let passes = Passes::over(function);
    passes.run(CANONICAL);
    while unroll_one(function, &passes) {
        passes.run(CLEANUP);
        passes.run(CANONICAL);
    }
}

/// Writes out an innermost loop, if there is one that turns no more often than LLVM knows.
fn unroll_one(function: Function<'_>, passes: &Passes<'_>) -> bool {
    let instructions = function.instructions().len() as u64;
    passes.innermost_loops().iter().any(|one| {
        let sizes = one
            .blocks
            .iter()
            .map(|block| block.instructions().len() as u64);
        let all = u64::from(one.turns.unwrap_or_default()) * sizes.sum::<u64>() + instructions;
        all <= MOST_INSTRUCTIONS && passes.unroll(one)
    })
}
