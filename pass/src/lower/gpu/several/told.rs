//! What the threads of a region may find out about how many they are, or which of them they are.
//!
//! Where the host runs a region as a team of one, they are one, and a loop that counts on that would be wrong on a device: what
//! a critical section has counted is 1, and iterations that write `a[i * (count - 1)]` write the same element. So what is
//! computed of that must come to no loop, nor decide where the team goes: through registers, or memory of which it is not known
//! that it is other memory.
//!
//! It is found out where threads do something one after the other, in critical sections and atomic accesses outside of loops,
//! where they combine what each has of its own, where they ask OpenMP, and in what each thread has for itself by `threadprivate`.
//! Who uses locks, or has each thread call what is not known may find it out in ways that are not followed.

use std::collections::HashSet;

use okl_abi::Effects;

use super::found::{NOT_THE_SAME, Piece, is_end_of_reduction};
use crate::analysis::call_graph::CallGraph;
use crate::analysis::runtime::{self, effects};
use crate::analysis::variables::is_harmless;
use crate::analysis::{critical, library};
use crate::ir::Region;
use crate::llvm::{
    Block, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::lower::gpu::flow::decided;
use crate::lower::gpu::range::{self, Why, why};

const TOLD: &str = "what it does may depend on how many threads there are";

/// The instructions whose values depend on the number of threads, none of which a loop finds.
pub(super) type Told<'m> = HashSet<Instruction<'m>>;

/// Checks the copy of a region's body that a team of one is to run, of which these are the loops.
pub(super) fn told<'m>(
    module: &'m Module,
    region: &Region<'m>,
    team: Function<'m>,
    loops: &[Piece<'m>],
) -> Result<Told<'m>, Why> {
    let graph = CallGraph::of(module);
    let is_in_loop = |at: Instruction<'m>| loops.iter().any(|one| one.has(at));
    let mut code = team.instructions();
    let own = code.len();
    // Of functions that loops and others call each has its own.
    let mut outside: Vec<_> = code.iter().map(|at| !is_in_loop(*at)).collect();
    for is_outside in [true, false] {
        let calls = (0..own).filter(|at| outside[*at] == is_outside);
        for function in reached(&graph, calls.map(|at| code[at]).collect()) {
            code.extend(function.instructions());
        }
        outside.resize(code.len(), is_outside);
    }
    let all = || code.iter().copied().zip(outside.iter().copied());
    let mut search = Search {
        region,
        team,
        values: Told::new(),
        left: Vec::new(),
    };
    let mut of_one = HashSet::new();
    for (at, _) in all().filter(|(_, is_outside)| *is_outside) {
        of_one.extend(for_one(at));
        search.begin(&graph, at)?;
    }
    for (at, _) in all().filter(|(_, is_outside)| *is_outside) {
        if at.as_call().is_some_and(|call| !is_known(call)) && !of_one.contains(&at.block()) {
            return why(Some(at), "each thread calls what is not known here");
        }
    }
    if search.values.is_empty() {
        return Ok(search.values);
    }
    let in_turns = search.values.clone();
    let mut gone_through = HashSet::new();
    loop {
        let mut changes = false;
        for (at, is_outside) in all() {
            if in_turns.contains(&at) && is_outside
                || gone_through.contains(&(at, is_outside))
                || !search.depends(at)
            {
                continue;
            }
            gone_through.insert((at, is_outside));
            changes = true;
            if !is_outside {
                return match search.computed_of(at) {
                    Some(value) => why(Some(value), NOT_THE_SAME),
                    None => why(Some(at), TOLD),
                };
            }
            search.follow(at)?;
        }
        if !changes {
            return Ok(search.values);
        }
    }
}

/// The functions of the module that instructions may come to.
fn reached<'m>(graph: &CallGraph<'m>, code: Vec<Instruction<'m>>) -> HashSet<Function<'m>> {
    let calls = code.into_iter().filter_map(|at| at.as_call());
    calls
        .flat_map(|call| {
            // What combines lists in the run time's hands does what stands behind the call, too.
            let handed_over = call.arguments().into_iter();
            let handed_over = handed_over.filter(move |_| !effects(call).has(Effects::REDUCES));
            handed_over
                .filter_map(|one| one.as_function())
                .chain(call.callee_function())
        })
        .flat_map(|function| graph.reachable(function))
        .collect()
}

/// The blocks that one thread runs, as it is told by this call.
fn for_one(at: Instruction<'_>) -> HashSet<Block<'_>> {
    let chooses = at
        .as_call()
        .is_some_and(|call| effects(call).has(Effects::CHOOSES));
    let asked = at.instruction_users().into_iter().filter(|_| chooses);
    let branches = asked.flat_map(|one| one.instruction_users());
    let branches = branches.filter(|one| one.branch_condition().is_some());
    branches.flat_map(|one| decided(one).0).collect()
}

/// Memory that is read or written.
#[derive(Clone, Copy)]
struct Access<'m> {
    at: Instruction<'m>,
    address: Value<'m>,
}

struct Search<'a, 'm> {
    region: &'a Region<'m>,
    team: Function<'m>,
    values: Told<'m>,
    /// What is written that depends on the number of threads.
    left: Vec<Access<'m>>,
}

impl<'m> Search<'_, 'm> {
    /// Notes what an instruction outside of loops tells by itself.
    fn begin(&mut self, graph: &CallGraph<'m>, at: Instruction<'m>) -> Result<(), Why> {
        if at.is_atomic_access() {
            self.values.insert(at);
            return self.leave(at);
        }
        let Some(call) = at.as_call() else {
            return Ok(());
        };
        let name = call.callee_name();
        let does = effects(call);
        if does.has(Effects::ENTERS) {
            let inside = match critical::body_of(call) {
                Ok(body) if body.leave.len() == 1 => body.instructions,
                _ => return why(Some(at), "it is not clear where its critical section ends"),
            };
            self.in_turns(graph, inside)?;
        } else if does.has(Effects::REDUCES) && !is_end_of_reduction(call) {
            // What each thread has of its own is combined.
            let switches = at.instruction_users().into_iter();
            let inside = switches.flat_map(|one| decided(one).0);
            let inside = inside.flat_map(Block::instructions).collect();
            self.in_turns(graph, inside)?;
        } else if does.has(Effects::ATOMIC)
            || does.has(Effects::CHOOSES.and(Effects::FILTERED)) && !is_for_first(call)
        {
            return why(Some(at), TOLD);
        } else if name.starts_with("omp_") && name.contains("_lock") {
            return why(Some(at), "its threads have locks outside of their loops");
        } else if tells(&name) {
            self.values.insert(at);
        }
        Ok(())
    }

    /// Notes what threads do one after the other.
    fn in_turns(&mut self, graph: &CallGraph<'m>, inside: Vec<Instruction<'m>>) -> Result<(), Why> {
        let called = reached(graph, inside.clone()).into_iter();
        for one in called.flat_map(Function::instructions) {
            self.leave(one)?;
        }
        for one in inside {
            self.values.insert(one);
            self.leave(one)?;
        }
        Ok(())
    }

    /// Notes what an instruction writes that depends on the number of threads.
    fn leave(&mut self, at: Instruction<'m>) -> Result<(), Why> {
        match (range::written(at), at.as_call()) {
            (Some(address), _) => self.left.push(Access { at, address }),
            (None, Some(call)) if !writes_nothing(call) => return why(Some(at), TOLD),
            (None, None) if at.may_write() && !at.is_thread_fence() => return why(Some(at), TOLD),
            _ => {}
        }
        Ok(())
    }

    /// The value that depends on the number of threads of which an instruction is computed.
    fn computed_of(&self, at: Instruction<'m>) -> Option<Instruction<'m>> {
        let operands = at.operands().into_iter();
        let mut values = operands.filter_map(Value::as_instruction);
        values.find(|one| self.values.contains(one))
    }

    /// Whether what an instruction does depends on the number of threads.
    fn depends(&self, at: Instruction<'m>) -> bool {
        if at.is_thread_fence() || is_harmless(at) {
            return false;
        }
        if self.computed_of(at).is_some() {
            return true;
        }
        let is_found = |address: Value<'m>| {
            let one = Access { at, address };
            self.left.iter().any(|other| self.may_meet(one, *other))
        };
        match (at.opcode(), at.as_call()) {
            (Opcode::LLVMLoad, _) => is_found(at.operand(0)),
            (_, Some(call)) if is_defined(call) => false,
            (_, Some(_)) if at.only_computes() => false,
            (_, Some(call)) if effects(call).has_some(Effects::ENTERS.and(Effects::LEAVES)) => {
                false
            }
            (_, Some(call)) if is_apart(call) => {
                let mut arguments = call.arguments().into_iter();
                let written = range::written(at);
                arguments.any(|one| {
                    let is_read = one.ty().is_pointer() && one.as_function().is_none();
                    is_read && Some(one) != written && is_found(one)
                })
            }
            // Nobody knows what it reads.
            (_, Some(_)) => !self.left.is_empty(),
            _ => false,
        }
    }

    /// Goes on to what is computed of what depends on the number of threads.
    fn follow(&mut self, at: Instruction<'m>) -> Result<(), Why> {
        let is_end = Some(at) == at.block().terminator();
        if is_end && !self.is_for_the_first(at) || at.opcode() == Opcode::LLVMAlloca {
            return why(Some(at), TOLD);
        }
        if at.as_call().is_some_and(is_message) || at.opcode() == Opcode::LLVMLoad {
            self.values.insert(at);
            return Ok(());
        }
        if at.may_write() {
            self.leave(at)?;
        } else if at.as_call().is_some() && !at.only_computes() {
            return why(Some(at), TOLD);
        }
        self.values.insert(at);
        Ok(())
    }

    /// Whether a branch has the thread with number 0 do more than the others, as `master` does.
    fn is_for_the_first(&self, branch: Instruction<'m>) -> bool {
        let asked = branch.branch_condition().and_then(Value::as_instruction);
        let Some(asked) = asked.filter(|_| branch.opcode() == Opcode::LLVMBr) else {
            return false;
        };
        let is_number = |one: Value<'m>| {
            let call = one.as_instruction().and_then(|one| one.as_call());
            call.is_some_and(|call| call.callee_name() == "omp_get_thread_num")
        };
        let [yes, no] = branch.block().successors()[..] else {
            return false;
        };
        let others = match asked.comparison() {
            Some(Comparison::Integer(IntPredicate::LLVMIntEQ)) => no,
            Some(Comparison::Integer(IntPredicate::LLVMIntNE)) => yes,
            _ => return false,
        };
        is_number(asked.operand(0))
            && asked.operand(1).as_constant_int() == Some(0)
            && decided(branch).1 == Some(others)
    }

    /// What an address leads into; of what the region is given, what its function has for that.
    fn object(&self, address: Value<'m>) -> Value<'m> {
        let object = address.underlying_object();
        let given = object.as_parameter().and_then(|(function, at)| {
            let at = at.checked_sub(Region::LEADING)?;
            let captures = &self.region.captures;
            (function == self.team).then(|| captures.get(at))?
        });
        given.map_or(object, |one| one.value.underlying_object())
    }

    /// Whether two accesses may be to the same memory.
    fn may_meet(&self, one: Access<'m>, other: Access<'m>) -> bool {
        let objects = [one, other].map(|access| self.object(access.address));
        // What the run time tells a thread of itself no other one has.
        let leading = &self.team.parameters()[..Region::LEADING];
        if objects.iter().any(|one| leading.contains(one)) {
            return false;
        }
        let is_one =
            |one: &Value<'m>| one.as_global().is_some() || one.as_op(Opcode::LLVMAlloca).is_some();
        let are_apart = objects.iter().all(is_one) || objects.iter().any(|one| is_hidden(*one));
        !(objects[0] != objects[1] && are_apart || one.at.is_of_other_type(other.at))
    }
}

/// Whether nothing but its name leads to a variable, or nothing can be written there.
fn is_hidden(one: Value<'_>) -> bool {
    let is_local = one.as_global().is_some_and(|one| one.is_local());
    if one.as_global().is_some_and(|one| one.is_constant()) {
        return true;
    }
    let goes_nowhere = |user: Instruction<'_>| match user.opcode() {
        Opcode::LLVMLoad => true,
        Opcode::LLVMStore => user.operand(0) != one,
        _ => is_harmless(user) || user.as_call().is_some_and(is_of_runtime),
    };
    let mut users = one.users().into_iter();
    (is_local || one.as_op(Opcode::LLVMAlloca).is_some())
        && users.all(|user| user.as_instruction().is_some_and(goes_nowhere))
}

/// Whether code for threads with a computed number is code for that with number 0.
fn is_for_first(call: Call<'_>) -> bool {
    runtime::argument(call, "filter").and_then(Value::as_constant_int) == Some(0)
}

/// Whether OpenMP's run time is called, and runs none of the program's code.
fn is_of_runtime(call: Call<'_>) -> bool {
    const RUNS: Effects = Effects::FORKS
        .and(Effects::FORKS_BODY)
        .and(Effects::MAY_UNWIND);
    runtime::function(call).is_some_and(|one| !one.effects.has_some(RUNS))
}

/// A function of the module's, whose code is what runs.
fn is_defined(call: Call<'_>) -> bool {
    call.callee_function()
        .is_some_and(|one| !one.is_declaration() && !one.is_interposable())
}

/// Whether a call reads no memory but what its arguments lead to.
fn is_apart(call: Call<'_>) -> bool {
    let name = call.callee_name();
    let is_plain = |one: library::Known| one.effect == library::Effect::None;
    is_of_runtime(call) || name.starts_with("llvm.") || library::known(&name).is_some_and(is_plain)
}

/// Whether a call writes nothing by itself.
fn writes_nothing(call: Call<'_>) -> bool {
    const QUIET: Effects = Effects::ENTERS.and(Effects::LEAVES).and(Effects::FLUSHES);
    let at = call.instruction();
    is_harmless(at)
        || at.only_computes()
        || range::tells_only(call)
        || is_message(call)
        || is_defined(call)
        || is_end_of_reduction(call)
        || effects(call).has_some(QUIET)
}

/// Whether a call writes text, and changes nothing else.
fn is_message(call: Call<'_>) -> bool {
    library::is_message(library::plain(&call.callee_name()))
}

/// Whether it is known that threads learn nothing of each other by a call.
fn is_known(call: Call<'_>) -> bool {
    use library::Effect::{Process, Threads};
    let name = call.callee_name();
    let orders = |one: library::Known| matches!(one.effect, Process | Threads);
    is_defined(call)
        || call.instruction().only_computes()
        || name.starts_with("llvm.")
        || runtime::is_of_runtime(&name)
        || library::known(&name).is_some_and(|one| !orders(one))
}

/// Whether a function answers something that depends on the team, or on the thread.
fn tells(name: &str) -> bool {
    const SAME: [&str; 6] = [
        "omp_get_max_threads",
        "omp_get_num_procs",
        "omp_get_num_devices",
        "omp_get_thread_limit",
        "omp_get_wtick",
        "omp_get_wtime",
    ];
    let asks = name.starts_with("omp_get_") || name.starts_with("omp_in_");
    asks && !SAME.contains(&name) || name.starts_with("llvm.threadlocal.")
}
