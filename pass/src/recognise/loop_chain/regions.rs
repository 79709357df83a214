//! Parallel loops of OpenMP that follow each other, as chains that nobody has written: what the scheduler may run in another
//! order, where that is proved to be right.
//!
//! Guarantee: what the program runs stays there, as the other version of the chain ([`super::written`]). Nothing is declared,
//! so that nothing has to be trusted.

use std::collections::{HashMap, HashSet};

use okl_chains::pragma::{ChainPragma, Item, Position, Pragma, What, write_marker};

use super::plain::{At, Plain, plain, separate_steps};
use super::straight::{is_computation, is_copy};
use super::written::SCHEDULED;
use super::{BEGINS, ENDS, FOR};
use crate::analysis::folds::Fold;
use crate::analysis::runtime;
use crate::analysis::variables::{Does, is_harmless, uses_of_parameter};
use crate::diagnostic::{Declined, Site, place};
use crate::ir::Region;
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode,
    RealPredicate, Value,
};
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
    /// What has to be proved of its loops.
    pub chosen: Vec<Chosen<'m>>,
}

/// A variable in which a loop of a chain only leaves the larger one, or the smaller one, of what is there and of something else.
pub struct Chosen<'m> {
    /// The number of the loop.
    nest: usize,
    own: Value<'m>,
    by: Comparison,
}

impl<'m> Chosen<'m> {
    /// Whether it is so, where it is known what the loops of a chain combine in which variables.
    pub fn is_among(&self, sums: &[Vec<(Value<'m>, Fold)>]) -> bool {
        use okl_abi::AtomicOp::*;
        use {IntPredicate::*, RealPredicate::*};
        let mut its = sums.get(self.nest).into_iter().flatten();
        its.any(|(variable, fold)| {
            let Fold::Choice(operation) = fold else {
                return false;
            };
            *variable == self.own
                && match self.by {
                    Comparison::Integer(LLVMIntSGT) => *operation == Max,
                    Comparison::Integer(LLVMIntSLT) => *operation == Min,
                    Comparison::Integer(LLVMIntUGT) => *operation == UMax,
                    Comparison::Integer(LLVMIntULT) => *operation == UMin,
                    Comparison::Floating(LLVMRealOGT) => {
                        matches!(operation, FGreater | FNotLess | FMax)
                    }
                    Comparison::Floating(LLVMRealOLT) => {
                        matches!(operation, FLess | FNotGreater | FMin)
                    }
                    _ => false,
                }
        })
    }
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
    plain: Plain<'m>,
    line: u32,
}

impl<'m> One<'m> {
    /// Variables into which a loop is to put the larger one, or the smaller one, of what is there and of what it has found.
    fn chosen(&self) -> impl Iterator<Item = (Option<Instruction<'m>>, Comparison)> {
        let given: Vec<_> = self.fork.arguments();
        self.plain.chosen.iter().map(move |(number, by)| {
            let at = LEADING + number - Region::LEADING;
            (given[at].as_op(Opcode::LLVMAlloca), *by)
        })
    }

    /// Whether these are numbers that nobody knows by their addresses.
    fn may_choose(&self) -> bool {
        self.chosen().all(|(variable, _)| {
            variable.is_some_and(|variable| {
                let ty = variable.allocated_type();
                let is_number = ty.is_some_and(|ty| ty.is_integer() || ty.is_floating());
                is_number && is_kept_to_itself(variable)
            })
        })
    }

    /// Whether one of them is used between this loop and another one, or by that.
    fn is_needed_until(&self, fork: Call<'m>) -> bool {
        let all = fork.instruction().block().instructions();
        let place = |one: Instruction<'m>| all.iter().position(|other| *other == one);
        let Some((from, to)) = place(self.fork.instruction()).zip(place(fork.instruction())) else {
            return true;
        };
        let mut chosen = self.chosen();
        chosen.any(|(variable, _)| {
            let users = variable.map(|one| one.instruction_users());
            let is_between = |one: Instruction<'m>| {
                place(one).is_some_and(|at| from < at && at <= to) && !is_harmless(one)
            };
            users.into_iter().flatten().any(is_between)
        })
    }
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
        let made = made.and_then(|plain| {
            let one = One {
                fork,
                plain,
                line: at.line,
            };
            if one.may_choose() {
                return Ok(one);
            }
            one.plain.function.erase();
            Err("what it finds the least or the largest of others may know by its address")
        });
        match made {
            Ok(one) => {
                // It is there behind the chain only.
                if group.iter().any(|other| other.is_needed_until(fork)) {
                    chain(module, std::mem::take(&mut group), found);
                    found.declined.push(Declined {
                        site: Site::Instruction(fork.instruction()),
                        reason: "this loop is not run as one with that in front of it: it, or what stands between, needs the least or \
                                 the largest that was found there"
                            .to_string(),
                    });
                }
                group.push(one);
            }
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
    let erase = |group: &[One<'m>]| group.iter().for_each(|one| one.plain.function.erase());
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
    let is_for = |one: &Instruction<'m>| {
        let call = one.as_call().filter(|call| call.callee_name() == FOR);
        call.is_some_and(|call| call.instruction().block().function() == function)
    };
    let mut chosen = Vec::new();
    let mut combined = Vec::new();
    for (nest, (fork, one)) in forks.iter().zip(&group).enumerate() {
        let null = module.pointer().zero();
        let mut arguments = vec![null, null];
        let given = fork.arguments().into_iter().skip(LEADING);
        arguments.extend(given.map(|one| copies.get(&one).copied().unwrap_or(one)));
        let entry = Builder::at_entry(module, function);
        let known = combined.len();
        for (&(number, by), (variable, _)) in one.plain.chosen.iter().zip(one.chosen()) {
            let shared = variable.expect("it was looked at");
            let ty = shared.allocated_type().expect("a stack variable");
            let own = entry.alloca(ty, shared.stack_alignment());
            arguments[number] = own;
            chosen.push(Chosen { nest, own, by });
            let has_run = ty.is_floating().then(|| entry.alloca(module.int(64), 8));
            combined.push(Combined {
                shared,
                own,
                by,
                has_run,
            });
        }
        let all = || function.instructions().into_iter().filter(is_for);
        let before: HashSet<_> = all().collect();
        let call = Builder::before(module, fork.instruction()).call(one.plain.function, &arguments);
        fork.instruction().erase();
        let call = call.as_call().expect("it is a call");
        assert!(call.inline(), "a function of this module with a body");
        let mark = all().find(|one| !before.contains(one));
        for one in &combined[known..] {
            one.ask(
                module,
                mark.and_then(|mark| mark.as_call())
                    .expect("a plain loop has one"),
            );
        }
    }
    let kept: HashSet<_> = copies.values().copied().collect();
    let mut ends = Vec::new();
    let mut at = Some(marked);
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
    combined.iter().for_each(|one| one.put(&builder));
    erase(&group);
    found.chains.push(Implied {
        site,
        forks: group.iter().map(|one| one.fork).collect(),
        lines: group.iter().map(|one| one.line).collect(),
        chosen,
    });
}

/// What a loop has found the least or the largest of, in a variable of its own.
struct Combined<'m> {
    /// What it is combined with behind the chain, as OpenMP has it.
    shared: Instruction<'m>,
    own: Value<'m>,
    by: Comparison,
    /// Whether the loop has any iteration, where that makes a difference: what is no number, or infinite, stays if not.
    has_run: Option<Value<'m>>,
}

impl<'m> Combined<'m> {
    /// Asks that, in front of a loop.
    fn ask(&self, module: &'m Module, mark: Call<'m>) {
        let Some(has_run) = self.has_run else {
            return;
        };
        let builder = Builder::before(module, mark.instruction());
        let [first, last] = [1, 2].map(|at| mark.arguments()[at]);
        let is_any = builder.ask(Comparison::Integer(IntPredicate::LLVMIntSLE), first, last);
        let number = builder.cast(Opcode::LLVMZExt, is_any, module.int(64));
        builder.store(number, has_run);
    }

    fn put(&self, builder: &Builder<'m>) {
        let ty = self.shared.allocated_type().expect("a stack variable");
        let shared = builder.load(ty, *self.shared);
        let own = builder.load(ty, self.own);
        let mut all = builder.select(builder.ask(self.by, shared, own), shared, own);
        if let Some(has_run) = self.has_run {
            let number = builder.load(builder.module().int(64), has_run);
            let is_any = builder.compare(number, number.ty().zero(), true);
            all = builder.select(is_any, all, shared);
        }
        builder.store(all, *self.shared);
    }
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
pub(super) fn is_kept_to_itself(variable: Instruction<'_>) -> bool {
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
