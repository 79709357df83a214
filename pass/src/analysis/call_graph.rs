//! Which functions a function can reach.
//!
//! A function reaches what its instructions mention: the functions it calls, and those whose
//! address it hands on, to an OpenMP runtime call or to a library function such as `qsort`. Calls
//! through pointers are not followed; they are noted.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::analysis::runtime::is_of_runtime;
use crate::llvm::{Function, Linkage, Module, Value};

/// What one function mentions.
pub struct Node<'m> {
    /// The functions, each once, in the order of their first mention. Intrinsics are left out.
    pub mentions: Vec<Function<'m>>,
    /// Whether it calls through a pointer.
    pub calls_indirectly: bool,
}

/// The call graph of the functions a module defines.
pub struct CallGraph<'m> {
    nodes: HashMap<Function<'m>, Node<'m>>,
}

impl<'m> CallGraph<'m> {
    /// Reads every function of the module.
    pub fn of(module: &'m Module) -> Self {
        let nodes = module
            .functions()
            .into_iter()
            .filter(|function| !function.is_declaration())
            .map(|function| (function, node(function)))
            .collect();
        Self { nodes }
    }

    /// What a defined function mentions.
    pub fn node(&self, function: Function<'m>) -> Option<&Node<'m>> {
        self.nodes.get(&function)
    }

    /// Every defined function that can be reached from `start`, itself first, nearest first.
    pub fn reachable(&self, start: Function<'m>) -> Vec<Function<'m>> {
        self.reachable_through(start, |_| true)
    }

    /// As [`Self::reachable`], but does not go beyond functions for which `through` is false.
    pub fn reachable_through(
        &self,
        start: Function<'m>,
        through: impl Fn(Function<'m>) -> bool,
    ) -> Vec<Function<'m>> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([start]);
        let mut rest = VecDeque::from([start]);
        while let Some(function) = rest.pop_front() {
            let Some(node) = self.nodes.get(&function) else {
                continue;
            };
            found.push(function);
            for &next in &node.mentions {
                if through(next) && seen.insert(next) {
                    rest.push_back(next);
                }
            }
        }
        found
    }
}

fn node(function: Function<'_>) -> Node<'_> {
    let mut mentions = Vec::new();
    let mut seen = HashSet::new();
    let mut calls_indirectly = false;
    for instruction in function.instructions() {
        if let Some(call) = instruction.as_call() {
            let callee = call.callee();
            calls_indirectly |=
                call.callee_function().is_none() && callee.as_inline_assembly().is_none();
        }
        let mut rest = instruction.operands();
        while let Some(operand) = rest.pop() {
            let operand = operand.through_alias();
            if let Some(mentioned) = operand.as_function() {
                if !mentioned.is_intrinsic() && seen.insert(mentioned) {
                    mentions.push(mentioned);
                }
            } else if operand.is_composite_constant() {
                rest.extend(operand.operands());
            }
        }
    }
    Node {
        mentions,
        calls_indirectly,
    }
}

/// The functions of the module that a function reaches by calls, or hands to others to call, in the order in
/// which they are found, itself first. Calls through pointers are not followed.
pub fn reached(body: Function<'_>) -> Vec<Function<'_>> {
    let mut reached = vec![body];
    let mut known = HashSet::from([body]);
    let mut next = 0;
    while let Some(&function) = reached.get(next) {
        next += 1;
        let instructions = function.instructions().into_iter();
        for call in instructions.filter_map(|one| (*one).as_call()) {
            let handed_over = call.arguments().into_iter();
            let handed_over = handed_over.filter_map(|one| one.as_function());
            for callee in handed_over.chain(call.callee_function()) {
                if !callee.is_declaration() && known.insert(callee) {
                    reached.push(callee);
                }
            }
        }
    }
    reached
}

/// Whether a function comes to itself by calls.
pub fn calls_itself(function: Function<'_>) -> bool {
    let all = reached(function).into_iter();
    let mut code = all.flat_map(|one| one.instructions());
    code.any(|one| {
        one.as_call()
            .is_some_and(|call| call.callee_function() == Some(function))
    })
}

/// Whether a call through a pointer may reach the function: its address is used for something other
/// than calling it or handing it to the OpenMP runtime.
pub fn is_address_taken(function: Function<'_>) -> bool {
    let mut rest: Vec<(Value<'_>, Value<'_>)> = function
        .users()
        .into_iter()
        .map(|user| (user, *function))
        .collect();
    while let Some((user, used)) = rest.pop() {
        if let Some(call) = user.as_call() {
            let as_callee_only = call.callee() == used && !call.arguments().contains(&used);
            if !as_callee_only && !is_of_runtime(&call.callee_name()) {
                return true;
            }
        } else if user.is_composite_constant() || user.is_alias() {
            rest.extend(user.users().into_iter().map(|next| (next, user)));
        } else if user
            .as_global()
            .is_some_and(|global| global.name().starts_with("llvm."))
        {
            // llvm.used and the lists of constructors.
        } else {
            return true;
        }
    }
    false
}

/// Whether the program's function of that name is this one or one of the same text.
pub fn is_final(function: Function<'_>) -> bool {
    matches!(
        function.linkage(),
        Linkage::LLVMInternalLinkage
            | Linkage::LLVMPrivateLinkage
            | Linkage::LLVMExternalLinkage
            | Linkage::LLVMLinkOnceODRLinkage
            | Linkage::LLVMWeakODRLinkage
    )
}

/// Whether every module that calls the function has a definition of its own, so that other modules
/// need not know this one.
pub fn is_dissolvable(function: Function<'_>) -> bool {
    // C++ gives a module's initialiser of thread_local variables a public name in this way.
    let has_public_name = function
        .users()
        .into_iter()
        .any(|user| user.is_public_alias());
    function.is_local() && !has_public_name
        || matches!(
            function.linkage(),
            Linkage::LLVMLinkOnceODRLinkage | Linkage::LLVMLinkOnceAnyLinkage
        )
}
