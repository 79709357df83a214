//! Critical sections that need no lock: their updates become ones that are collected.
//!
//! Guarantee: a section loses its lock only if no thread of any region can tell. That is so if
//!
//! * it does nothing but update objects by operations that commute (`analysis/critical.rs`), from values that
//!   no section of the same lock changes,
//! * sections of the same lock that keep it do not access these objects, and those that lose it update them
//!   by the same operation only,
//! * all sections of the same lock that a thread could be in at the same time are known.
//!
//! What a thread could learn under a lock of the order in which others held it, it cannot learn then, and an
//! access outside such sections is ordered by some other synchronisation, before which what was collected is
//! combined, or is a data race. Sections of an object that is also accessed without one since the last barrier
//! keep their lock all the same. A region that is nested in another one takes the lock: of the sections of
//! the outer one nothing is known.

use std::collections::{HashMap, HashSet};

use okl_abi::{AtomicOp, Effects, f};

use crate::analysis::call_graph::CallGraph;
use crate::analysis::critical::{Access, Section, Update, Updates, access, sections};
use crate::analysis::library::is_mathematics;
use crate::analysis::library::{calls_back, is_cxx_runtime, known};
use crate::analysis::objects::{Object, Objects, are_the_same};
use crate::analysis::runtime::{effects, effects_of, is_of_runtime};
use crate::diagnostic::user_name;
use crate::ir::Region;
use crate::llvm::{Builder, Call, Function, Instruction, Module, Opcode, Value};
use crate::lower::runtime_call::declare;
use crate::marks::is_lowered;

/// The sections of a module.
pub struct Plan<'m> {
    /// Those that lose their lock.
    collected: Vec<Section<'m>>,
    /// Those that keep it, and why.
    kept: Vec<(Instruction<'m>, String)>,
}

/// Finds the sections that need no lock.
pub fn check<'m>(
    module: &'m Module,
    functions: &[Function<'m>],
    regions: &[Region<'m>],
    graph: &CallGraph<'m>,
) -> Plan<'m> {
    let objects = Objects::new(module, regions);
    let found: Vec<_> = functions
        .iter()
        .flat_map(|&function| sections(module, &objects, function))
        .collect();
    // Of sections that have been lowered nothing is seen.
    let is_partly_lowered = module.functions().iter().any(|one| is_lowered(*one));
    if found.is_empty() || is_partly_lowered {
        return Plan {
            collected: Vec::new(),
            kept: Vec::new(),
        };
    }
    let mut decision = Decision {
        module,
        objects,
        regions,
        graph,
        reasons: found
            .iter()
            .map(|one| one.updates.as_ref().err().cloned())
            .collect(),
        sections: found,
        accesses: HashMap::new(),
    };
    let reached = decision.decide();
    let mut plan = Plan {
        collected: Vec::new(),
        kept: Vec::new(),
    };
    let judged = decision
        .sections
        .into_iter()
        .zip(decision.reasons)
        .enumerate();
    for (index, (section, reason)) in judged {
        match reason {
            // Serial code takes no lock.
            _ if !reached.contains(&index) => {}
            Some(reason) => plan.kept.push((section.enter.instruction(), reason)),
            None => plan.collected.push(section),
        }
    }
    plan
}

struct Decision<'a, 'm> {
    module: &'m Module,
    objects: Objects<'a, 'm>,
    regions: &'a [Region<'m>],
    graph: &'a CallGraph<'m>,
    sections: Vec<Section<'m>>,
    /// Why each of them keeps its lock.
    reasons: Vec<Option<String>>,
    /// Of functions.
    accesses: HashMap<Function<'m>, Vec<Access<'m>>>,
}

impl<'m> Decision<'_, 'm> {
    /// The sections that regions reach.
    fn decide(&mut self) -> HashSet<usize> {
        let mut reached = HashSet::new();
        for index in 0..self.sections.len() {
            if self.reasons[index].is_none() {
                self.reasons[index] = self.unknown_caller(self.function_of(index));
            }
        }
        let reached_by: Vec<_> = self
            .regions
            .iter()
            .map(|one| self.graph.reachable(one.body))
            .collect();
        for functions in &reached_by {
            for &function in functions {
                let instructions = function.instructions().into_iter();
                let accesses = instructions.filter(|one| is_access(*one));
                let accesses = accesses.map(|one| access(self.module, &self.objects, one));
                let accesses = accesses.collect();
                self.accesses.entry(function).or_insert(accesses);
            }
        }
        // A section that keeps its lock may be why another one has to.
        loop {
            let mut is_changed = false;
            for (region, functions) in self.regions.iter().zip(&reached_by) {
                let within: Vec<_> = (0..self.sections.len())
                    .filter(|&index| functions.contains(&self.function_of(index)))
                    .collect();
                reached.extend(within.iter().copied());
                for &index in &within {
                    if self.reasons[index].is_none()
                        && let Some(reason) = self.reason(index, &within, (region, functions))
                    {
                        self.reasons[index] = Some(reason);
                        is_changed = true;
                    }
                }
            }
            if !is_changed {
                return reached;
            }
        }
    }

    fn function_of(&self, index: usize) -> Function<'m> {
        self.sections[index].enter.instruction().function()
    }

    /// Who may run a function in a region that is not known here.
    fn unknown_caller(&self, function: Function<'m>) -> Option<String> {
        let mut rest = vec![function];
        let mut seen = HashSet::from([function]);
        while let Some(one) = rest.pop() {
            if self.regions.iter().any(|region| region.body == one) || one.name() == "main" {
                continue;
            }
            if !one.is_local() {
                return Some(format!(
                    "may be reached by calls of {} in another file",
                    user_name(one)
                ));
            }
            for user in one.users() {
                let caller = user
                    .as_call()
                    .filter(|call| call.callee() == *one || is_of_runtime(&call.callee_name()));
                let Some(caller) = caller else {
                    return Some(format!(
                        "may be reached through a pointer to {}",
                        user_name(one)
                    ));
                };
                let caller = caller.instruction().function();
                if seen.insert(caller) {
                    rest.push(caller);
                }
            }
        }
        None
    }

    /// Why a section keeps its lock in a region: the end of a sentence that begins with "it".
    fn reason(
        &self,
        index: usize,
        within: &[usize],
        (region, functions): (&Region<'m>, &[Function<'m>]),
    ) -> Option<String> {
        let section = &self.sections[index];
        let own = section.updates.as_ref().ok()?;
        let mut accesses = own.updates.iter().map(|one| &one.store).chain(&own.loads);
        let is_confined = |one: &Access<'m>| {
            one.places.iter().all(|place| match place.object {
                Object::Named(object) => {
                    object.as_op(Opcode::LLVMAlloca).is_some() && self.objects.is_confined(object)
                }
                _ => false,
            })
        };
        if !accesses.all(is_confined)
            && let Some(call) = functions.iter().find_map(|&one| unknown_call(one))
        {
            let name = call.callee_name();
            return Some(match name.is_empty() {
                true => "is in a region that calls through a pointer".to_string(),
                false => format!(
                    "is in a region that calls {}, which may have critical sections too",
                    crate::llvm::demangle(&name)
                ),
            });
        }
        for &other in within {
            let other_section = &self.sections[other];
            if other_section.lock != section.lock {
                continue;
            }
            match (&other_section.updates, &self.reasons[other]) {
                (Ok(others), None) => {
                    if let Some(reason) = self.mixes(own, others) {
                        return Some(reason);
                    }
                }
                _ => {
                    if self.meets_locked(own, other_section) {
                        return Some(
                            "accesses what a critical section of the same name that keeps its lock accesses"
                                .to_string(),
                        );
                    }
                }
            }
        }
        self.races(index, own, (region, functions)).then(|| {
            "updates what is accessed outside critical sections of its name too, with no barrier between"
                .to_string()
        })
    }

    fn may_meet(&self, one: &Access<'m>, other: &Access<'m>) -> bool {
        !one.at.is_of_other_type(other.at)
            && self
                .objects
                .may_meet(&one.places, one.size, &other.places, other.size)
    }

    /// Why the updates of two sections cannot come apart.
    fn mixes(&self, own: &Updates<'m>, others: &Updates<'m>) -> Option<String> {
        for load in &own.loads {
            if others
                .updates
                .iter()
                .any(|update| self.may_meet(load, &update.store))
            {
                return Some(
                    "reads what a critical section of its name may update, as far as is known"
                        .to_string(),
                );
            }
        }
        for one in &own.updates {
            for other in &others.updates {
                let is_alike = kind(one.operation) == kind(other.operation)
                    && one.store.size == other.store.size;
                if !is_alike && self.may_meet(&one.store, &other.store) {
                    return Some(
                        "may update an object in different ways, as far as is known".to_string(),
                    );
                }
            }
        }
        None
    }

    /// Whether a section that keeps its lock may access what another one updates, or write what it reads.
    fn meets_locked(&self, own: &Updates<'m>, locked: &Section<'m>) -> bool {
        let Some(body) = &locked.body else {
            return true;
        };
        let mut rest = body.instructions.clone();
        let mut called = HashSet::new();
        while let Some(at) = rest.pop() {
            if is_access(at) {
                let other = access(self.module, &self.objects, at);
                if self.objects.are_private(&other.places) {
                    continue;
                }
                let writes = at.opcode() != Opcode::LLVMLoad;
                if own
                    .updates
                    .iter()
                    .any(|update| self.may_meet(&update.store, &other))
                    || writes && own.loads.iter().any(|load| self.may_meet(load, &other))
                {
                    return true;
                }
            } else if let Some(call) = at.as_call() {
                let Some(callee) = call.callee_function() else {
                    return true;
                };
                let name = callee.name();
                let handed_over = call
                    .arguments()
                    .into_iter()
                    .filter_map(|one| one.as_function());
                for one in handed_over
                    .chain([callee])
                    .flat_map(|one| self.graph.reachable(one))
                {
                    if called.insert(one) {
                        rest.extend(one.instructions());
                    }
                }
                if callee.is_declaration() && !is_silent(&name) {
                    let accesses = own.updates.iter().map(|one| &one.store).chain(&own.loads);
                    for one in accesses {
                        if self.objects.call_may_meet(call, &one.places, one.size) {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }

    /// Whether the objects are accessed outside sections of this kind, by the same name, and no barrier
    /// comes between.
    fn races(
        &self,
        index: usize,
        own: &Updates<'m>,
        (region, functions): (&Region<'m>, &[Function<'m>]),
    ) -> bool {
        let section = &self.sections[index];
        let here = section.enter.instruction().function();
        let in_sections: HashSet<Instruction<'m>> = self
            .sections
            .iter()
            .filter(|one| one.lock == section.lock)
            .filter_map(|one| one.body.as_ref())
            .flat_map(|body| body.instructions.iter().copied())
            .collect();
        let leaves: Vec<_> = section
            .body
            .iter()
            .flat_map(|body| body.leave.iter().map(|call| call.instruction()))
            .collect();
        for function in functions {
            for other in self.accesses.get(function).into_iter().flatten() {
                let is_same = own.updates.iter().any(|one| {
                    are_the_same(&one.store.places, one.store.size, &other.places, other.size)
                });
                let enter = section.enter.instruction();
                if !is_same
                    || in_sections.contains(&other.at)
                    || !region.may_share_a_step(enter, other.at)
                {
                    continue;
                }
                if *function != here
                    || leaves.iter().any(|&leave| reaches(leave, other.at))
                    || reaches(other.at, enter)
                {
                    return true;
                }
            }
        }
        false
    }
}

fn is_access(at: Instruction<'_>) -> bool {
    matches!(
        at.opcode(),
        Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg
    )
}

/// Whether control may go from one instruction to another of the same function without a barrier.
fn reaches<'m>(from: Instruction<'m>, to: Instruction<'m>) -> bool {
    let mut seen = HashSet::new();
    let first = from.block().instructions();
    let at = first
        .iter()
        .position(|one| *one == from)
        .map_or(0, |at| at + 1);
    let mut rest = vec![(from.block(), first[at..].to_vec())];
    while let Some((block, instructions)) = rest.pop() {
        let mut ends = false;
        for one in instructions {
            if one == to {
                return true;
            }
            ends = one
                .as_call()
                .is_some_and(|call| effects(call).has(Effects::BARRIER));
            if ends {
                break;
            }
        }
        if !ends {
            for next in block.successors() {
                if seen.insert(next) {
                    rest.push((next, next.instructions()));
                }
            }
        }
    }
    false
}

/// Operations of one kind may be mixed: their order does not matter.
fn kind(operation: AtomicOp) -> AtomicOp {
    match operation {
        AtomicOp::Sub => AtomicOp::Add,
        AtomicOp::FSub => AtomicOp::FAdd,
        other => other,
    }
}

/// The first call of a function whose code is not known, and which may have critical sections.
fn unknown_call<'m>(function: Function<'m>) -> Option<Call<'m>> {
    let calls = function.instructions().into_iter();
    let mut calls = calls.filter_map(|one| one.as_call());
    calls.find(|call| match call.callee_function() {
        None => call.callee().as_inline_assembly().is_none(),
        Some(callee) => {
            let name = callee.name();
            let is_known = is_known(&name) || callee.is_intrinsic();
            callee.is_declaration() && (!is_known || calls_through_a_pointer(*call, &name))
        }
    })
}

/// Whether a call of the C library calls back a function that is not known.
fn calls_through_a_pointer(call: Call<'_>, name: &str) -> bool {
    let is_function = |one: &Value<'_>| one.as_function().is_some();
    calls_back(name) && !call.arguments().iter().any(is_function)
}

/// Whether a function outside the module accesses nothing of the program's, and has no critical section.
fn is_silent(name: &str) -> bool {
    const SILENT: Effects = Effects::APART.and(Effects::QUIET).and(Effects::HIDDEN);
    let accesses_memory = name.starts_with("llvm.mem");
    name.starts_with("llvm.") && !accesses_memory
        || is_mathematics(name)
        || effects_of(name).has_some(SILENT)
        || is_cxx_runtime(name)
}

/// Whether a function outside the module has no critical section.
fn is_known(name: &str) -> bool {
    is_silent(name) || known(name).is_some()
}

impl Plan<'_> {
    /// Tells what becomes of the sections.
    pub fn remark(&self) {
        for one in &self.collected {
            let count = one.updates.as_ref().map_or(0, |all| all.updates.len());
            let updates = if count == 1 {
                "its update is"
            } else {
                "its updates are"
            };
            one.enter.instruction().remark(
                "Collected",
                &format!("critical section takes no lock: {updates} collected until the next synchronisation"),
                false,
            );
        }
        for (at, reason) in &self.kept {
            at.remark(
                "Locked",
                &format!("critical section keeps its lock: it {reason}"),
                true,
            );
        }
    }
}

/// Replaces the sections that need no lock.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>) {
    for section in plan.collected {
        let (Some(body), Ok(updates)) = (section.body, section.updates) else {
            continue;
        };
        replace_call(
            module,
            section.enter,
            declare(module, &f::okl_mpi_critical_updates),
        );
        for leave in body.leave {
            replace_call(
                module,
                leave,
                declare(module, &f::okl_mpi_end_critical_updates),
            );
        }
        for one in updates.updates {
            update(module, one);
        }
    }
}

fn replace_call<'m>(module: &'m Module, call: Call<'m>, callee: Function<'m>) {
    let at = call.instruction();
    // A hint comes last.
    Builder::before(module, at).call(callee, &call.arguments()[..3]);
    at.erase();
}

fn update<'m>(module: &'m Module, one: Update<'m>) {
    let store = one.store.at;
    let address: Value<'m> = store.operand(1);
    let ty = store.operand(0).ty();
    let builder = Builder::before(module, store);
    let value = match ty.is_integer() {
        true => builder.int_cast(one.value, ty),
        false => one.value,
    };
    let bits = builder.bits_of(value, 64);
    let operation = module.const_i32(one.operation as i32);
    let size = module.const_i32(one.store.size as i32);
    let callee = declare(module, &f::okl_mpi_atomic_update);
    builder.call(callee, &[address, operation, bits, size]);
    store.erase();
    if let Some((branch, to_first)) = one.branch {
        branch.always_branch(module, to_first);
    }
    for unneeded in one.unneeded {
        unneeded.erase();
    }
}

#[cfg(test)]
mod tests {
    use super::{is_known, is_silent};

    #[test]
    fn what_a_program_may_define_itself_is_not_known() {
        for name in [
            // Operators /, unary -, !, != and * of a program's classes, and new and delete with an argument more.
            "_ZdvRK1AS1_",
            "_ZngRK1A",
            "_ZntRK1A",
            "_ZneRK1AS1_",
            "_ZdeR1A",
            "_ZnwmR5Arena",
            "_ZdlPvR5Arena",
            "omp_sum",
            "__kmpc_new",
            // These access what the program shares, or run any of its code.
            "__atomic_load",
            "okl_mpi_atomic_update",
            "okl_mpi_main",
            "omp_get_mapped_ptr",
        ] {
            assert!(!is_known(name), "{name}");
        }
        for name in [
            "_Znwm",
            "_ZdaPvmSt11align_val_t",
            "__cxa_begin_catch",
            "_ZSt9terminatev",
            "__kmpc_fork_call_if",
            "__kmpc_barrier",
            "__kmpc_omp_task",
            "__kmpc_threadprivate_cached",
            "__cxa_guard_acquire",
            "omp_get_thread_num",
            "okl_mpi_plain_fork_call",
            "okl_mpi_end_critical_updates",
        ] {
            assert!(is_known(name) && is_silent(name), "{name}");
        }
        // What it is given it may access.
        assert!(is_known("strcpy") && !is_silent("strcpy"));
    }
}
