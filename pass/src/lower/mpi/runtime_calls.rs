//! Calls of the OpenMP and C++ runtimes, which become calls of ours.

use okl_abi::openmp::{TARGET, is_unsupported};
use okl_abi::{Effects, RuntimeFn, f, replacement_of};

use crate::analysis::combine::{largest_item, touches_only_items};
use crate::analysis::runtime::{argument, effects_of};
use crate::diagnostic::{Declined, Site};
use crate::llvm::{Builder, Call, Function, Instruction, Module, Value};
use crate::lower::mpi::twins;
use crate::lower::runtime_call::declare;
use crate::marks::{ENTRY, PLAIN, SHARED, is_plain, is_shared};

/// The calls of a module.
pub struct Plan<'m> {
    renamed: Vec<(Function<'m>, &'static RuntimeFn)>,
    /// With what the combine function reaches: see the ABI.
    reductions: Vec<(Call<'m>, &'static RuntimeFn, i32)>,
    compare_exchanges: Vec<Call<'m>>,
}

/// Finds the calls; refuses those without a replacement.
pub fn check<'m>(module: &'m Module, refused: &mut Vec<Declined<'m>>) -> Plan<'m> {
    let mut plan = Plan {
        renamed: Vec::new(),
        reductions: Vec::new(),
        compare_exchanges: Vec::new(),
    };
    for function in module.functions() {
        let name = function.name();
        if !function.is_declaration() || function.is_unused() {
            continue;
        }
        let replacement = replacement_of(&name);
        if let Some(replacement) = replacement.filter(|one| one.has(Effects::REDUCES)) {
            for call in calls(&name, function, refused) {
                let combine = argument(call, "combine").and_then(Value::as_function);
                let reach = match combine.is_some_and(touches_only_items) {
                    true => largest_item(module, call)
                        .and_then(|bytes| i32::try_from(bytes).ok())
                        .map_or(0, |bytes| -bytes),
                    false => 1,
                };
                plan.reductions.push((call, replacement, reach));
            }
        } else if replacement.is_some_and(is_compare_exchange) {
            plan.compare_exchanges
                .extend(calls(&name, function, refused));
        } else if let Some(replacement) = replacement {
            plan.renamed.push((function, replacement));
        } else if is_unsupported(&name) {
            let reason = match name.starts_with(TARGET) {
                true => format!("target regions ({name}) are not supported on MPI ranks"),
                false => format!("{name} is not supported on MPI ranks"),
            };
            refused.push(Declined {
                site: first_use(module, function),
                reason,
            });
        }
    }
    plan
}

fn first_use<'m>(module: &'m Module, function: Function<'m>) -> Site<'m> {
    match function.instruction_users().first() {
        Some(&user) => Site::Instruction(user),
        // The runtime names it in a table of functions.
        None => Site::Module(module),
    }
}

/// Whether what it replaces has the same parameters, but a result of one bit.
fn is_compare_exchange(replacement: &RuntimeFn) -> bool {
    replacement.name == f::okl_mpi_atomic_compare_exchange_n.name
}

/// The direct calls of a function; any other use is refused.
fn calls<'m>(name: &str, function: Function<'m>, refused: &mut Vec<Declined<'m>>) -> Vec<Call<'m>> {
    let mut calls = Vec::new();
    for user in function.instruction_users() {
        match user.as_call().filter(|call| call.callee() == *function) {
            Some(call) if call.invoke_targets().is_none() => calls.push(call),
            _ => refused.push(Declined {
                site: Site::Instruction(user),
                reason: format!("this use of {name} is not understood"),
            }),
        }
    }
    calls
}

/// A function that serial code asks, and its replacement.
pub struct Asked<'m> {
    /// The OpenMP run time's.
    pub old: Function<'m>,
    /// Ours.
    pub new: Function<'m>,
}

impl<'m> Plan<'m> {
    /// The functions that ask the run time.
    pub fn asking(&self) -> impl Iterator<Item = Function<'m>> {
        let asked = self.renamed.iter().map(|&(old, _)| old);
        let users = asked
            .filter(|&old| is_asked(old))
            .flat_map(|old| old.instruction_users());
        users.map(|user| user.function())
    }
}

/// Whether serial code asks the run time by this function: code that only does so is the same for one rank and for
/// several, where it chooses at each call.
fn is_asked(function: Function<'_>) -> bool {
    effects_of(&function.name()).has(Effects::ASKS)
}

/// Has functions that are the same for both choose whom they ask.
pub fn choose<'m>(module: &'m Module, asked: &[Asked<'m>]) {
    for &Asked { old, new } in asked {
        let is_in_both = |user: &Instruction<'_>| is_shared(user.function());
        if new.instruction_users().iter().any(is_in_both) {
            twins::replace_in(*new, *either(module, old, new), SHARED);
        }
    }
}

/// A function that chooses between two.
fn either<'m>(module: &'m Module, old: Function<'m>, new: Function<'m>) -> Function<'m> {
    let name = format!("okl.either.{}", old.name());
    module.function(&name).unwrap_or_else(|| {
        let either = twins::add_choice(module, &name, old, old, Some(new), twins::flag(module));
        either.mark(module, ENTRY.name, ENTRY.value);
        either
    })
}

/// Replaces the calls. Returns what serial code asks.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>) -> Vec<Asked<'m>> {
    let mut asked = Vec::new();
    for (old, replacement) in plan.renamed {
        for user in old.instruction_users() {
            let call = user.as_call().filter(|call| call.callee() == *old);
            // What is known of the old function (that it reads no memory, say) is not true of ours.
            if let Some(call) = call.filter(|_| !is_plain(user.function())) {
                // Extension is part of the calling convention.
                call.keep_attributes(&["nounwind"], &["zeroext", "signext"]);
            }
        }
        let new = declare(module, replacement);
        twins::replace_outside(*old, *new, PLAIN);
        if old.users().len() > old.instruction_users().len() {
            // Its address is in static data, which one rank and several have in common.
            twins::replace_in_constants(*old, *either(module, old, new));
        }
        if old.is_unused() {
            old.erase_unused_declaration();
        } else if is_asked(old) {
            asked.push(Asked { old, new });
        }
    }
    for (call, replacement, reach) in plan.reductions {
        let mut arguments = call.arguments();
        arguments.push(module.const_i32(reach));
        let at = call.instruction();
        let status = Builder::before(module, at).call(declare(module, replacement), &arguments);
        // Never 2, which would ask for atomic updates: LLVM removes their code.
        if let Some(call) = status.as_instruction() {
            call.set_result_below(module, 2);
        }
        at.replace_all_uses_with(status);
        at.erase();
    }
    for call in plan.compare_exchanges {
        let at = call.instruction();
        let builder = Builder::before(module, at);
        let callee = declare(module, &f::okl_mpi_atomic_compare_exchange_n);
        let status = builder.call(callee, &call.arguments());
        let swapped = builder.compare(status, module.const_i32(0), true);
        at.replace_all_uses_with(builder.int_cast(swapped, at.ty()));
        at.erase();
    }
    asked
}
