//! Statements between loops of a chain that may as well stand in front of it: variables get values that are computed from
//! others, or are copied; and what is computed there for iterations to use, such as where the object of a member function is.
//!
//! Guarantee: nothing of the chain that is run before such a statement uses the variable that it changes, nor changes what it is
//! computed from; so the program is the same, whatever becomes of the chain. Where the chain is there twice, and the other one
//! may be run behind what has been moved, that gives the same values once more.

use std::collections::HashSet;

use super::straight::{Path, Stop, is_by_value, is_computation, is_copy, variable_of};
use super::written::Choice;
use super::{BEGINS, ENDS, FOR, Here, is_marker, is_note, markers};
use crate::analysis::variables::{Does, is_harmless, uses_of_parameter};
use crate::llvm::{Call, Instruction, Module, Opcode, Value};

/// Operations that a value is computed by, at most.
const MOST: usize = 64;

/// Moves them all.
pub fn move_out(module: &Module, twice: &[Choice<'_>]) {
    for function in module.functions() {
        let markers = markers(function);
        let mut chains = markers.iter().filter(|one| one.callee_name() == BEGINS);
        let Some(first) = chains.next() else {
            continue;
        };
        for &site in [first].into_iter().chain(chains) {
            let here = Here::of(function);
            let is_twice = twice.iter().any(|one| one.is_of(site));
            let (mut changed, mut used) = (HashSet::new(), HashSet::new());
            for statement in here.statements(site) {
                let is_value = statement.opcode() != Opcode::LLVMStore && !is_copy(statement);
                let all = match is_value {
                    true => computed(site, statement),
                    false => movable(site, statement),
                };
                let Some(all) = all else {
                    continue;
                };
                let loads = all.iter().filter(|one| one.opcode() == Opcode::LLVMLoad);
                let reads = loads.filter_map(|one| memory_of(one.operand(0)));
                let reads: Vec<_> = reads.collect();
                used.extend(reads.into_iter().filter(|one| !changed.contains(one)));
                if !is_value {
                    let [from, into] = [0, 1].map(|end| {
                        let end = if is_copy(statement) { 1 - end } else { end };
                        statement.operand(end)
                    });
                    used.extend([from].into_iter().filter(|one| !changed.contains(one)));
                    let is_used = |one: Instruction<'_>| used.contains(&*one);
                    if is_twice && variable_of(into).is_some_and(is_used) {
                        continue;
                    }
                    // Of a variable that is changed in part the rest is what it was.
                    if into.as_op(Opcode::LLVMAlloca).is_some() {
                        changed.insert(into);
                    }
                }
                for one in all {
                    one.move_before(site.instruction());
                }
            }
        }
    }
}

impl<'m> Here<'m> {
    /// What gives variables values between the loops of a chain, and what is computed there for others, in their order.
    fn statements(&self, site: Call<'m>) -> Vec<Instruction<'m>> {
        let mut all = Vec::new();
        let mut path = Path::behind(site);
        loop {
            match path.follow(self) {
                Stop::Marker(call) if call.callee_name() == FOR => {
                    all.append(&mut path.results);
                    let Ok((_, behind)) = self.nest(call) else {
                        break;
                    };
                    path = behind;
                }
                Stop::Marker(call) if call.callee_name() == ENDS => {
                    all.append(&mut path.results);
                    break;
                }
                _ => break,
            }
        }
        all
    }
}

/// Whether anything in some code does something with memory, as far as that is known.
fn does<'m>(
    before: &HashSet<Instruction<'m>>,
    memory: Value<'m>,
    what: impl Fn(Does) -> bool,
) -> bool {
    let mut uses = uses_of_parameter(memory).into_iter();
    uses.any(|(one, does)| {
        does == Does::Unknown || before.contains(&one) && what(does) && !is_harmless(one)
    })
}

/// What is moved with a value, in the order in which it stands; none where that cannot be.
fn computed<'m>(site: Call<'m>, value: Instruction<'m>) -> Option<Vec<Instruction<'m>>> {
    let before = between(site.instruction(), value);
    let mut found = HashSet::new();
    let mut within = before.clone();
    within.insert(value);
    add_computed(&before, &within, vec![*value], &mut found)?;
    Some(in_order(value, &found))
}

/// What is moved with a statement, in the order in which it stands; none where that cannot be.
fn movable<'m>(site: Call<'m>, statement: Instruction<'m>) -> Option<Vec<Instruction<'m>>> {
    let before = between(site.instruction(), statement);
    let mut found = HashSet::from([statement]);
    let rest = match is_copy(statement) {
        true => {
            let from = memory_of(statement.operand(1))?;
            if does(&before, from, |does| does == Does::Write) {
                return None;
            }
            Vec::new()
        }
        false => statement.operands(),
    };
    let variable = statement.operand(usize::from(!is_copy(statement)));
    let variable = variable_of(variable)?;
    // What it is computed from is not the variable itself, unless nobody has used that yet.
    if does(&before, *variable, |_| true) {
        return None;
    }
    add_computed(&before, &before, rest, &mut found)?;
    // Its life begins there, too.
    let its = variable.instruction_users().into_iter();
    for one in its.filter(|one| before.contains(one)) {
        // What is done by its addresses is known.
        if one.opcode() == Opcode::LLVMGetElementPtr {
            continue;
        }
        let name = one.as_call().map(|call| call.callee_name());
        if !name.is_some_and(|name| name.starts_with("llvm.lifetime.start")) {
            return None;
        }
        found.insert(one);
    }
    Some(in_order(statement, &found))
}

/// Adds what values are computed by within some code, which may as well stand in front of what is run before them.
fn add_computed<'m>(
    before: &HashSet<Instruction<'m>>,
    within: &HashSet<Instruction<'m>>,
    mut rest: Vec<Value<'m>>,
    found: &mut HashSet<Instruction<'m>>,
) -> Option<()> {
    while let Some(value) = rest.pop() {
        let Some(one) = value.as_instruction().filter(|one| within.contains(one)) else {
            continue;
        };
        let is_load = one.opcode() == Opcode::LLVMLoad;
        if is_load {
            let from = memory_of(one.operand(0));
            let is_changed = match from {
                Some(from) => does(before, from, |does| does == Does::Write),
                None => !before.iter().all(|one| writes_nothing(*one)),
            };
            if !one.is_plain_access() || is_changed {
                return None;
            }
        } else if !one.only_computes() {
            return None;
        }
        if found.insert(one) {
            rest.extend(one.operands());
        }
        if found.len() > MOST {
            return None;
        }
    }
    Some(())
}

/// Instructions in the order in which the function of one of them has them.
fn in_order<'m>(one: Instruction<'m>, found: &HashSet<Instruction<'m>>) -> Vec<Instruction<'m>> {
    let mut all = one.function().instructions();
    all.retain(|one| found.contains(one));
    all
}

/// Whether memory is the same behind an instruction.
fn writes_nothing(one: Instruction<'_>) -> bool {
    let is_marker = one
        .as_call()
        .is_some_and(|call| is_marker(call) || is_note(call));
    one.opcode() == Opcode::LLVMBr || is_marker || is_computation(one)
}

/// What an address leads into: a variable of the function, or what is handed to it by value.
fn memory_of(mut address: Value<'_>) -> Option<Value<'_>> {
    if let Some(variable) = variable_of(address) {
        return Some(*variable);
    }
    while let Some(part) = address.as_op(Opcode::LLVMGetElementPtr) {
        address = part.operand(0);
    }
    is_by_value(address).then_some(address)
}

/// What is run between two instructions.
fn between<'m>(from: Instruction<'m>, to: Instruction<'m>) -> HashSet<Instruction<'m>> {
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let all = from.block().instructions();
    let behind = all
        .iter()
        .position(|one| *one == from)
        .map_or(0, |at| at + 1);
    let mut rest = vec![(from.block(), behind)];
    while let Some((block, skipped)) = rest.pop() {
        let mut is_over = false;
        for one in block.instructions().into_iter().skip(skipped) {
            is_over = one == to;
            if is_over {
                break;
            }
            found.insert(one);
        }
        if !is_over {
            let next = block.successors().into_iter();
            rest.extend(next.filter(|one| seen.insert(*one)).map(|one| (one, 0)));
        }
    }
    found
}
