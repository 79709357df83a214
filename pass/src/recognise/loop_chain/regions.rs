//! Parallel loops of OpenMP that follow each other, as chains that nobody has written: what the scheduler may run in another
//! order, where that is proved to be right.
//!
//! Guarantee: what the program runs stays there, as the other version of the chain ([`super::written`]). Nothing is declared,
//! so that nothing has to be trusted.

use std::collections::{HashMap, HashSet};

use okl_chains::pragma::{ChainPragma, Item, Position, Pragma, What, write_marker};

use super::plain::{At, plain, separate_steps};
use super::straight::{is_computation, is_copy};
use super::written::SCHEDULED;
use super::{BEGINS, ENDS, FOR};
use crate::analysis::runtime;
use crate::analysis::variables::{Does, is_harmless, uses_of_parameter};
use crate::diagnostic::{Declined, Site, place};
use crate::ir::Region;
use crate::llvm::{Block, Builder, Call, Function, Instruction, Module, Opcode, Value};
use crate::marks::is_lowered;

/// Arguments of a fork in front of those of the region.
const LEADING: usize = 3;
/// Operations one behind the other by which the end of a loop is computed, at most.
const MOST: usize = 16;

/// A chain that nobody has written.
pub struct Implied<'m> {
    /// The call in front of it.
    pub site: Call<'m>,
    /// What runs its loops as the program has them.
    pub forks: Vec<Call<'m>>,
    /// The lines of its loops.
    pub lines: Vec<u32>,
}

/// Chains that nobody has written, and loops that follow another one and cannot be in a chain with it.
#[derive(Default)]
pub struct Found<'m> {
    /// The chains.
    pub chains: Vec<Implied<'m>>,
    /// Why others are in none.
    pub declined: Vec<Declined<'m>>,
}

/// A region, and the plain loop that does the same.
struct One<'m> {
    fork: Call<'m>,
    plain: Function<'m>,
    line: u32,
}

/// The regions of a module that follow each other.
pub fn runs(module: &Module) -> Vec<Vec<Call<'_>>> {
    let functions = module.functions().into_iter();
    let functions =
        functions.filter(|one| !is_lowered(*one) && !one.is_fortran() && !is_body(*one));
    let blocks = functions.flat_map(|one| one.blocks());
    blocks.flat_map(runs_of).collect()
}

/// Writes chains of such beside them.
pub fn mark<'m>(module: &'m Module, runs: &[Vec<Call<'m>>]) -> Found<'m> {
    let mut found = Found::default();
    for run in runs {
        mark_run(module, run, &mut found);
    }
    found
}

/// Whether threads run a function: what they share in it they share already.
fn is_body(function: Function<'_>) -> bool {
    let mut users = function.users().into_iter();
    users.any(|user| {
        let name = user.as_call().map(|call| call.callee_name());
        name.is_some_and(|name| name.starts_with("__kmpc_fork_"))
    })
}

fn fork_of(one: Instruction<'_>) -> Option<Call<'_>> {
    let call = one.as_call()?;
    (call.callee_name() == "__kmpc_fork_call").then_some(call)
}

/// What a fork says of its place.
fn at(fork: Call<'_>) -> At {
    let (file, line) = place(fork.instruction()).unwrap_or_default();
    At { file, line }
}

/// The forks of a block that follow each other, with nothing between that has to stay there.
fn runs_of(block: Block<'_>) -> Vec<Vec<Call<'_>>> {
    let mut all: Vec<Vec<Call<'_>>> = vec![Vec::new()];
    for one in block.instructions() {
        if let Some(fork) = fork_of(one) {
            all.last_mut().expect("there is one").push(fork);
            continue;
        }
        let is_kept = one.opcode() == Opcode::LLVMStore
            && one.is_plain_access()
            && one.operand(1).as_op(Opcode::LLVMAlloca).is_some();
        let is_load = one.opcode() == Opcode::LLVMLoad && one.is_plain_access();
        if !(is_kept || is_load || is_copy(one) || is_computation(one)) {
            all.push(Vec::new());
        }
    }
    all.retain(|one| one.len() > 1);
    all
}

fn mark_run<'m>(module: &'m Module, run: &[Call<'m>], found: &mut Found<'m>) {
    let mut group: Vec<One<'m>> = Vec::new();
    for (number, &fork) in run.iter().enumerate() {
        let at = at(fork);
        let body = runtime::argument(fork, "body").and_then(|body| body.as_function());
        let made = match body {
            Some(body) if !body.is_declaration() => plain(module, body, &at),
            _ => Err("its code is not known"),
        };
        match made {
            Ok(plain) => group.push(One {
                fork,
                plain,
                line: at.line,
            }),
            Err(why) => {
                chain(module, std::mem::take(&mut group), found);
                let other = if number > 0 {
                    "in front of it"
                } else {
                    "behind it"
                };
                found.declined.push(Declined {
                    site: Site::Instruction(fork.instruction()),
                    reason: format!("this loop is not run as one with that {other}: {why}"),
                });
            }
        }
    }
    chain(module, group, found);
}

/// Writes a chain of loops beside them.
fn chain<'m>(module: &'m Module, group: Vec<One<'m>>, found: &mut Found<'m>) {
    let erase = |group: &[One<'m>]| group.iter().for_each(|one| one.plain.erase());
    let [first, .., last] = &group[..] else {
        return erase(&group);
    };
    let (first, last) = (first.fork.instruction(), last.fork.instruction());
    // What is computed between them nobody behind them uses.
    let all = first.block().instructions();
    let place = |one: Instruction<'m>| all.iter().position(|other| *other == one);
    let (Some(from), Some(to)) = (place(first), place(last)) else {
        return erase(&group);
    };
    let inside: HashSet<_> = all[from..=to].iter().copied().collect();
    let leaves = |one: &Instruction<'m>| {
        let mut users = one.instruction_users().into_iter();
        users.any(|user| !inside.contains(&user))
    };
    if inside.iter().any(leaves) {
        return erase(&group);
    }
    let at = at(group[0].fork);
    let front = first.block();
    let function = front.function();
    let written = first.split_before();
    let after = all[to + 1];
    let behind = after.split_before();
    let marked = Block::copies(&[written])[0];
    let jump = front.terminator().expect("a complete block");
    let builder = Builder::before(module, jump);
    builder.stand_at(first);
    let scheduled = module.declared(SCHEDULED, module.function_type(module.int(1), &[]));
    let asks = builder.call(scheduled, &[]);
    builder.go_if(asks, marked, written);
    jump.erase();
    assert!(marked.successors() == [behind], "it goes on behind them");

    let begin = marked.instructions()[0];
    let place = Position::new(at.line, 1);
    let schedule = vec![Item {
        at: place,
        what: What::Auto,
    }];
    let said = ChainPragma {
        at: place,
        schedule,
        locals: Vec::new(),
    };
    let text = write_marker(&at.file, &Pragma::Chain(said));
    let text = *module.add_text("okl.fused", &text);
    let ty = module.variadic_type(module.void(), &[module.pointer()]);
    let builder = Builder::before(module, begin);
    builder.stand_at(first);
    let copies = copies_of_variables(module, &builder, function, &group);
    for load in marked.instructions() {
        let from = load.address().and_then(|from| copies.get(&from));
        if let Some(&from) = from.filter(|_| load.opcode() == Opcode::LLVMLoad) {
            let is_own = from
                .instruction_users()
                .iter()
                .any(|one| one.opcode() == Opcode::LLVMStore && one.operand(0) == *load);
            if !is_own {
                load.set_operand(0, from);
            }
        }
    }
    let begins = module.declared(BEGINS, ty);
    let site = builder.call(begins, &[text]);
    let site = site.as_call().expect("it is a call");
    let forks = marked.instructions().into_iter().filter_map(fork_of);
    let forks: Vec<_> = forks.collect();
    for (fork, one) in forks.iter().zip(&group) {
        let null = module.pointer().zero();
        let mut arguments = vec![null, null];
        let given = fork.arguments().into_iter().skip(LEADING);
        arguments.extend(given.map(|one| copies.get(&one).copied().unwrap_or(one)));
        let call = Builder::before(module, fork.instruction()).call(one.plain, &arguments);
        fork.instruction().erase();
        let call = call.as_call().expect("it is a call");
        assert!(call.inline(), "a function of this module with a body");
    }
    let kept: HashSet<_> = copies.values().copied().collect();
    let mut ends = Vec::new();
    let mut at = Some(marked);
    let is_for = |one: &Instruction<'m>| {
        let call = one.as_call().filter(|call| call.callee_name() == FOR);
        call.is_some_and(|call| call.instruction().block().function() == function)
    };
    while let Some(block) = at {
        ends.extend(block.instructions().into_iter().filter(is_for));
        // Loops end by the second way out.
        at = block.successors().last().copied();
        at = at.filter(|next| *next != behind);
    }
    same_ends(&ends, &kept);
    separate_steps(function);
    let last = behind.predecessors();
    let last = last.iter().find(|one| **one != written);
    let last = last.and_then(|one| one.terminator());
    let builder = Builder::before(module, last.expect("the copy goes on behind it"));
    builder.stand_at(first);
    let void = module.function_type(module.void(), &[]);
    builder.call(module.declared(ENDS, void), &[]);
    erase(&group);
    found.chains.push(Implied {
        site,
        forks: group.iter().map(|one| one.fork).collect(),
        lines: group.iter().map(|one| one.line).collect(),
    });
}

/// Has loops that go as far as others in front of them go as far by the same values.
fn same_ends<'m>(marks: &[Instruction<'m>], kept: &HashSet<Value<'m>>) {
    let mut known: Vec<Value<'m>> = Vec::new();
    for mark in marks.iter().filter_map(|one| one.as_call()) {
        for value in mark.arguments().into_iter().skip(1) {
            if value.as_instruction().is_none() {
                continue;
            }
            match known.iter().find(|one| is_same(**one, value, kept, MOST)) {
                Some(one) if *one != value => value.replace_all_uses_with(*one),
                Some(_) => {}
                None => known.push(value),
            }
        }
    }
}

/// Whether two values are computed alike, from what nobody changes.
fn is_same<'m>(a: Value<'m>, b: Value<'m>, kept: &HashSet<Value<'m>>, deep: usize) -> bool {
    if a == b {
        return true;
    }
    let (Some(one), Some(other)) = (a.as_instruction(), b.as_instruction()) else {
        return false;
    };
    let is_known = match one.address() {
        Some(from) => kept.contains(&from) && one.opcode() == Opcode::LLVMLoad,
        None => one.only_computes(),
    };
    let (these, those) = (one.operands(), other.operands());
    deep > 0
        && is_known
        && one.is_same_operation(other, false)
        && these.len() == those.len()
        && these
            .iter()
            .zip(&those)
            .all(|(&a, &b)| is_same(a, b, kept, deep - 1))
}

/// Copies of variables that the loops have by their addresses, and only read: whoever else has these addresses does not write
/// there.
fn copies_of_variables<'m>(
    module: &'m Module,
    builder: &Builder<'m>,
    function: Function<'m>,
    group: &[One<'m>],
) -> HashMap<Value<'m>, Value<'m>> {
    let mut copies = HashMap::new();
    for one in group {
        for value in one.fork.arguments().into_iter().skip(LEADING) {
            let variable = value.as_op(Opcode::LLVMAlloca);
            let Some(variable) = variable.filter(|_| !copies.contains_key(&value)) else {
                continue;
            };
            let Some(ty) = variable.allocated_type() else {
                continue;
            };
            let is_scalar = ty.is_pointer() || ty.is_floating() || ty.bits().is_some();
            if !is_scalar || !is_kept_to_itself(variable) || is_written(variable, group) {
                continue;
            }
            let entry = Builder::at_entry(module, function);
            let copy = entry.alloca(ty, variable.stack_alignment());
            builder.store(builder.load(ty, value), copy);
            copies.insert(value, copy);
        }
    }
    copies
}

/// Whether a variable is read and written by name only, by the function and by regions.
fn is_kept_to_itself(variable: Instruction<'_>) -> bool {
    variable.instruction_users().into_iter().all(|user| {
        let is_store = user.opcode() == Opcode::LLVMStore && user.operand(0) != *variable;
        let is_read = user.opcode() == Opcode::LLVMLoad;
        is_store || is_read || is_harmless(user) || changes_in_region(user, variable).is_some()
    })
}

/// Whether a region changes a variable that it has by its address; none where the address may go elsewhere.
fn changes_in_region<'m>(fork: Instruction<'m>, variable: Instruction<'m>) -> Option<bool> {
    let call = fork_of(fork)?;
    let parameters = runtime::argument(call, "body")?.as_function()?.parameters();
    let mut is_changed = false;
    for (number, argument) in call.arguments().into_iter().skip(LEADING).enumerate() {
        if argument != *variable {
            continue;
        }
        for (_, does) in uses_of_parameter(*parameters.get(number + Region::LEADING)?) {
            match does {
                Does::Read => {}
                Does::Write => is_changed = true,
                Does::Unknown => return None,
            }
        }
    }
    Some(is_changed)
}

/// Whether one of the loops writes a variable, or what stands between them does.
fn is_written<'m>(variable: Instruction<'m>, group: &[One<'m>]) -> bool {
    let by_loop = group.iter().any(|one| {
        changes_in_region(one.fork.instruction(), variable).is_none_or(|is_changed| is_changed)
    });
    let block = group[0].fork.instruction().block();
    by_loop
        || variable.instruction_users().iter().any(|user| {
            user.opcode() == Opcode::LLVMStore && user.block() == block && {
                let all = block.instructions();
                let place = |one: Instruction<'m>| all.iter().position(|other| *other == one);
                let from = place(group[0].fork.instruction());
                place(*user) > from
            }
        })
}
