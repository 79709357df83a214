//! Who uses a function or a variable, and has to use another one.

use std::collections::HashSet;

use crate::analysis::runtime;
use crate::llvm::{Call, Function, Use, Value};
use crate::marks::{Mark, is_list};

/// Whether a function is called here, or handed to the OpenMP run time to be called, by one with this mark.
fn is_call_in(one: Use<'_>, mark: Mark) -> bool {
    let user = one.user();
    let Some(call) = user.as_call() else {
        return false;
    };
    let is_argument = one.operand() < call.arguments().len();
    (one.is_callee() || is_argument && is_of_runtime(call))
        && mark.is_on(call.instruction().function())
}

fn is_of_runtime(call: Call<'_>) -> bool {
    let callee = call.callee().as_function();
    callee.is_some_and(|callee| runtime::is_of_runtime(&callee.name()))
}

/// Has what functions with this mark call, or hand to the OpenMP run time, be `to` instead of `from`, by whatever name.
/// Does nothing where the program may have another function of the name.
pub fn redirect_calls<'m>(from: Function<'m>, to: Function<'m>, mark: Mark) {
    if from.is_interposable() {
        return;
    }
    let mut names = vec![*from];
    let mut found = Vec::new();
    while let Some(name) = names.pop() {
        for one in name.uses() {
            let user = one.user();
            if is_call_in(one, mark) {
                found.extend(user.as_instruction().map(|user| (user, one.operand())));
            } else if user.is_alias() && !user.is_interposable() {
                names.push(user);
            }
        }
    }
    for (user, operand) in found {
        user.set_operand(operand, *to);
    }
}

/// Whether a function is used otherwise than by calls in functions with this mark, or may be in other modules.
pub fn needs_entry(function: Function<'_>, mark: Mark) -> bool {
    if !function.is_local() {
        return true;
    }
    let mut rest = vec![*function];
    let mut seen = HashSet::new();
    while let Some(value) = rest.pop() {
        for one in value.uses() {
            let user = one.user();
            if is_call_in(one, mark) || is_list(user) {
                continue;
            }
            if !user.is_constant() || user.is_global_value() {
                return true;
            }
            if seen.insert(user) {
                rest.push(user);
            }
        }
    }
    false
}

/// Has `entry` be used instead of a function, but for calls in functions with this mark.
pub fn put_in_front<'m>(entry: Function<'m>, of: Function<'m>, mark: Mark) {
    let may_differ = of.is_interposable();
    of.replace_uses_if(*entry, |one| may_differ || !is_call_in(one, mark));
}

/// Replaces a value in the code of functions with this mark.
pub fn replace_in<'m>(value: Value<'m>, with: Value<'m>, mark: Mark) {
    replace_in_code(value, with, |function| mark.is_on(function));
}

/// Replaces a value in the code of functions without this mark.
pub fn replace_outside<'m>(value: Value<'m>, with: Value<'m>, mark: Mark) {
    replace_in_code(value, with, |function| !mark.is_on(function));
}

fn replace_in_code<'m>(value: Value<'m>, with: Value<'m>, is_meant: impl Fn(Function<'m>) -> bool) {
    value.replace_uses_if(with, |one| {
        let user = one.user().as_instruction();
        user.is_some_and(|user| is_meant(user.function()))
    });
}

/// Replaces a value in constants: initial values, lists, other names.
pub fn replace_in_constants<'m>(value: Value<'m>, with: Value<'m>) {
    value.replace_uses_if(with, |one| one.user().as_instruction().is_none());
}
