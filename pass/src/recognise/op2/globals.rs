//! Global variables that a kernel uses both as an argument and by their names.
//!
//! An argument that the loop writes is in other places while it runs: of several elements, threads or ranks each has a
//! value of its own, and what the variable itself holds meanwhile depends on how the loop runs.

use std::collections::HashSet;

use okl_abi::op2::ACCESSES;
use okl_abi::op2::access::READ;

use super::calls::Made;
use super::{Described, DescribedArgument};
use crate::analysis::memory::base_of;
use crate::llvm::{Function, Global, Value, demangle};

/// The first argument that writes a variable which the kernel also uses by its name, and what it is.
pub fn used_by_name(described: &Described<'_>) -> Option<(usize, String)> {
    let kernel = described.defined_kernel()?;
    let arguments = described.arguments.iter().enumerate();
    let mut written = arguments.filter_map(|(at, one)| Some((at, one, written(one)?)));
    let used = variables(kernel);
    let (at, one, variable) = written.find(|(.., variable)| used.contains(&**variable))?;
    let access = usize::try_from(one.access()?).ok();
    let access = access.and_then(|code| ACCESSES.get(code)).unwrap_or(&"?");
    let name = demangle(&variable.name());
    let what = format!(
        "is {access} of {name}, which the kernel also uses by its name: what it finds there depends on the order of the \
         elements"
    );
    Some((at, what))
}

/// The variable that an argument writes.
fn written<'m>(argument: &DescribedArgument<'m>) -> Option<Global<'m>> {
    match &argument.made {
        Made::Global { data, access, .. } if *access != Some(READ) => base_of(*data).as_global(),
        _ => None,
    }
}

/// The variables that a function, or one that it calls, names.
fn variables<'m>(kernel: Function<'m>) -> HashSet<Value<'m>> {
    let mut found = HashSet::new();
    let mut functions = vec![kernel];
    let mut next = 0;
    while let Some(&function) = functions.get(next) {
        next += 1;
        let instructions = function.instructions().into_iter();
        let mut rest: Vec<_> = instructions.flat_map(|one| one.operands()).collect();
        while let Some(value) = rest.pop() {
            let value = value.through_alias();
            if let Some(callee) = value.as_function() {
                if !functions.contains(&callee) {
                    functions.push(callee);
                }
            } else if value.as_global().is_some() {
                found.insert(value);
            } else if value.is_composite_constant() {
                rest.extend(value.operands());
            }
        }
    }
    found
}
