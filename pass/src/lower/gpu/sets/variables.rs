//! Variables of the program's in a kernel of a loop over a set: which it uses, and that it uses what it is passed instead.

use std::collections::HashMap;

use crate::llvm::{Function, Global, Value};

/// So often a function is copied into a kernel.
const MOST_COPIES: usize = 64;

/// The variables that a function, and those that it calls, use as long as they may change.
pub(super) fn variables(function: Function<'_>) -> Vec<Global<'_>> {
    let mut found = Vec::new();
    let mut functions = vec![function];
    let mut at = 0;
    while let Some(&function) = functions.get(at) {
        for one in function.instructions() {
            let callee = one.as_call().and_then(|call| call.callee_function());
            let callee = callee.filter(|callee| !callee.is_declaration());
            if let Some(callee) = callee.filter(|callee| !functions.contains(callee)) {
                functions.push(callee);
            }
            let mut rest = one.operands();
            while let Some(value) = rest.pop() {
                if value.is_composite_constant() {
                    rest.extend(value.operands());
                }
                if let Some(global) = value.as_global()
                    && !is_table(global)
                    && !found.contains(&global)
                {
                    found.push(global);
                }
            }
        }
        at += 1;
    }
    found
}

/// Whether a variable is the same in all files and at all times.
fn is_table(global: Global<'_>) -> bool {
    global.is_readonly() && !global.is_declaration() && !global.is_interposable()
}

/// Has a kernel, into which its body is copied, use what it is passed in place of variables of the program's.
pub(super) fn replace<'d>(
    kernel: Function<'d>,
    body: Function<'d>,
    globals: &[(Global<'d>, usize)],
    given: &[Value<'d>],
) {
    if globals.is_empty() {
        return;
    }
    // Functions that are called are other kernels', too. One that calls itself stays, and is refused later.
    let mut seen = HashMap::new();
    loop {
        let calls = kernel.instructions().into_iter();
        let mut calls = calls.filter_map(|one| one.as_call()).filter(|call| {
            let callee = call.callee_function();
            callee.is_some_and(|callee| {
                !callee.is_declaration()
                    && callee != body
                    && *seen.entry(callee).or_insert(0) < MOST_COPIES
                    && !variables(callee).is_empty()
            })
        });
        let Some(call) = calls.next() else { break };
        drop(calls);
        let callee = call.callee_function().expect("it was found");
        *seen.entry(callee).or_insert(0) += 1;
        if !call.inline() {
            seen.insert(callee, MOST_COPIES);
        }
    }
    for (global, at) in globals {
        global.expand_constant_users();
        for one in kernel.instructions() {
            for (operand, value) in one.operands().into_iter().enumerate() {
                if value == **global {
                    one.set_operand(operand, given[*at]);
                }
            }
        }
    }
}
