//! Copies of functions beside them: whether there can be one, and whether it still does the same.

use std::collections::{HashMap, HashSet};

use crate::llvm::{Function, Global, Instruction, Linkage, Module, Value, ValueMap, Visibility};

/// Whether a second copy can stand in the same object file: no assembly names a symbol in it, and only it uses the
/// addresses of its labels.
pub fn can_be_copied(function: Function<'_>) -> bool {
    let names_symbol = |one: Instruction<'_>| {
        let assembly = (*one).as_call()?.callee().as_inline_assembly()?;
        Some(defines_name(&assembly.0))
    };
    let instructions = function.instructions().into_iter();
    let names_one = instructions.filter_map(names_symbol).any(|names| names);
    !function.has_attribute("naked") && !names_one && label_tables(function).is_some()
}

/// Whether assembly defines a name of its own: a second copy would define it again. (Numbers may be defined several
/// times, and %= stands for one that differs in each copy.)
fn defines_name(assembly: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let is_name = |label: &str| {
        !label.is_empty()
            && !label.starts_with(|c: char| c.is_ascii_digit())
            && label.chars().all(is_part)
    };
    assembly
        .split(['\n', ';'])
        .map(str::trim_start)
        .any(|line| {
            let label = line.split_once(':').map(|(label, _)| label);
            label.is_some_and(is_name) || line.starts_with(".globl") || line.starts_with(".set")
        })
}

/// The variables whose initial values name labels of a function. `None` where one is used elsewhere too.
fn label_tables(function: Function<'_>) -> Option<Vec<Global<'_>>> {
    let mut tables = Vec::new();
    let blocks = function.blocks().into_iter();
    let users = blocks.flat_map(|block| block.label().users());
    let mut rest: Vec<_> = users
        .filter(|one| one.as_block_address().is_some())
        .collect();
    let mut seen: HashSet<_> = rest.iter().copied().collect();
    while let Some(one) = rest.pop() {
        for user in one.users() {
            if let Some(instruction) = user.as_instruction() {
                if instruction.function() != function {
                    return None;
                }
                continue;
            }
            let table = user.as_global();
            if table.is_none() && (!user.is_constant() || user.is_global_value()) {
                return None;
            }
            if seen.insert(user) {
                tables.extend(table);
                rest.push(user);
            }
        }
    }
    Some(tables)
}

/// A copy beside a function that can be copied, or that will be erased.
pub fn copy_beside<'m>(module: &'m Module, function: Function<'m>) -> Function<'m> {
    // A table of labels has those of one function: the copy gets tables of its own.
    let tables = label_tables(function).unwrap_or_default();
    let (mut map, copy) = ValueMap::of_copy(function);
    let with_copy = tables
        .into_iter()
        .map(|table| (table, table.own_copy(module)));
    let with_copy: Vec<_> = with_copy.collect();
    for (table, own) in &with_copy {
        map.set(**table, **own);
    }
    for (table, own) in with_copy {
        if let Some(value) = table.initializer() {
            own.set_initializer(map.constant(value));
        }
        table.replace_uses_if(*own, |one| {
            let user = one.user().as_instruction();
            user.is_some_and(|user| user.function() == copy)
        });
    }
    copy
}

/// Whether a copy of `function` still does what `function` does.
pub fn is_copy_of<'m>(copy: Function<'m>, function: Function<'m>) -> bool {
    is_copy_but_for(copy, function, "", &[])
}

/// As [`is_copy_of`], but `function` may call a function named `added` besides, and the second of `renamed` for the
/// first.
pub fn is_copy_but_for<'m>(
    copy: Function<'m>,
    function: Function<'m>,
    added: &str,
    renamed: &[(Function<'m>, Function<'m>)],
) -> bool {
    let (blocks, others) = (copy.blocks(), function.blocks());
    if copy.function_type() != function.function_type() || blocks.len() != others.len() {
        return false;
    }
    let counts = |one: &Instruction<'m>| {
        let callee = (**one)
            .as_call()
            .and_then(|call| call.callee().as_function());
        callee.is_none_or(|callee| callee.name() != added)
    };
    // Each may call itself.
    let mut of: HashMap<Value<'m>, Value<'m>> = HashMap::from([(*copy, *function)]);
    of.extend(renamed.iter().map(|(old, new)| (**old, **new)));
    of.extend(copy.parameters().into_iter().zip(function.parameters()));
    let mut pairs = Vec::new();
    for (block, other) in blocks.into_iter().zip(others) {
        of.insert(block.label(), other.label());
        let [all, all_others] = [block, other].map(|block| {
            let instructions = block.instructions().into_iter();
            instructions.filter(counts).collect::<Vec<_>>()
        });
        if all.len() != all_others.len() {
            return false;
        }
        pairs.extend(all.into_iter().zip(all_others));
    }
    of.extend(pairs.iter().map(|(one, other)| (**one, **other)));
    let is_same = |one: Value<'m>, other: Value<'m>| {
        let (one, other) = match (one.as_block_address(), other.as_block_address()) {
            (Some(one), Some(other)) => (one.label(), other.label()),
            _ => (one, other),
        };
        match of.get(&one) {
            Some(known) => *known == other,
            None => one == other || one.is_metadata(),
        }
    };
    pairs.into_iter().all(|(one, other)| {
        // Calls of other functions have other attributes.
        let mut operands = one.operands().into_iter().zip(other.operands());
        one.is_same_operation(other, !renamed.is_empty())
            && operands.all(|(one, other)| is_same(one, other))
    })
}

/// Has `by` be used instead of a copy, which does the same, and deletes that.
pub fn replace_copy<'m>(copy: Function<'m>, by: Function<'m>) {
    // What is only called may have got another convention.
    let users = copy.users().into_iter();
    for call in users
        .filter_map(Value::as_call)
        .filter(|call| call.callee() == *copy)
    {
        call.follow_convention(by);
    }
    copy.replace_all_uses_with(*by);
    copy.erase();
}

/// Gives a version of `of` its linkage: the object file's own, or one that the linker keeps once.
pub fn become_twin<'m>(module: &'m Module, twin: Function<'m>, of: Function<'m>) {
    let shared = [Linkage::LLVMLinkOnceODRLinkage, Linkage::LLVMWeakODRLinkage];
    twin.leave_comdat();
    if shared.contains(&of.linkage()) {
        // What the linker keeps under the function's own name may come from a file without twins.
        twin.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
        module.set_visibility(*twin, Visibility::LLVMHiddenVisibility);
        if of.has_comdat() {
            twin.join_comdat(module, &twin.name());
        }
    } else {
        twin.set_linkage(Linkage::LLVMInternalLinkage);
    }
    twin.set_unnamed_address();
}
