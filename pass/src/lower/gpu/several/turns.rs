//! What threads of a region do one after the other, in critical sections and under locks.
//!
//! There each may find what the one before has left, and how many threads there are says how often it is done. Where nothing that
//! sections write is read outside of them, neither is to be seen anywhere else in the region.

use std::collections::HashSet;
use std::ops::Range;

use crate::analysis::call_graph::CallGraph;
use crate::analysis::variables::is_harmless;
use crate::llvm::{Call, Function, Instruction, Linkage, Module, Opcode, Value};
use crate::lower::gpu::flow::{self, Goes, next_of};

/// What of a region with this body, or of a function that it reaches, may find outside of sections what threads have left in
/// them, or does what nobody knows enough of. `None` where nothing does.
pub(super) fn told_outside<'m>(module: &'m Module, body: Function<'m>) -> Option<Instruction<'m>> {
    let graph = CallGraph::of(module);
    let code = |function| {
        graph
            .reachable(function)
            .into_iter()
            .flat_map(Function::instructions)
    };
    let mut sections = Vec::new();
    for at in code(body) {
        let Some(call) = at.as_call() else { continue };
        let name = call.callee_name();
        if name.starts_with("__kmpc_critical") {
            sections.push(call);
        } else if name.starts_with("omp_set_") && name.ends_with("lock")
            || name.starts_with("omp_test_")
        {
            return Some(at);
        }
    }
    let mut inside = HashSet::new();
    for section in &sections {
        inside.extend(inside_of(*section));
    }
    let mut left = Vec::new();
    for at in &inside {
        let reached = called(*at).into_iter().flat_map(code);
        for at in reached.chain([*at]) {
            match accesses(at) {
                Some(accesses) => left.extend(accesses.into_iter().filter(|one| one.writes)),
                None => return Some(at),
            }
        }
    }
    if left.is_empty() {
        return None;
    }
    // Of functions that sections call it is not known who else does.
    code(body).filter(|at| !inside.contains(at)).find(|at| {
        let found = accesses(*at);
        found.is_none_or(|found| {
            let mut reads = found.iter().filter(|one| !one.writes);
            reads.any(|one| left.iter().any(|other| may_meet(one, other)))
        })
    })
}

/// What stands in a section.
fn inside_of<'m>(section: Call<'m>) -> Vec<Instruction<'m>> {
    const LOCK: usize = 2;
    let mut inside = Vec::new();
    flow::search(next_of(section.instruction()), |at| {
        let ends = at.as_call().is_some_and(|call| {
            call.callee_name() == "__kmpc_end_critical"
                && call.argument(LOCK) == section.argument(LOCK)
        });
        if ends {
            return Goes::NoFurther;
        }
        inside.push(at);
        Goes::On
    });
    inside
}

/// A function of the module's that is called, whose code is what runs.
fn called(at: Instruction<'_>) -> Option<Function<'_>> {
    let callee = at.as_call()?.callee_function()?;
    (!callee.is_declaration() && !callee.is_interposable()).then_some(callee)
}

/// Memory that is accessed.
struct Access<'m> {
    at: Instruction<'m>,
    address: Value<'m>,
    writes: bool,
}

/// What an instruction accesses, but for what a function does that it calls and whose code there is. `None`: nobody knows.
fn accesses(at: Instruction<'_>) -> Option<Vec<Access<'_>>> {
    let access = |address, writes| Access {
        at,
        address,
        writes,
    };
    Some(match at.opcode() {
        Opcode::LLVMLoad => vec![access(at.operand(0), false)],
        Opcode::LLVMStore => vec![access(at.operand(1), true)],
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
            vec![access(at.operand(0), false), access(at.operand(0), true)]
        }
        Opcode::LLVMFence | Opcode::LLVMAlloca | Opcode::LLVMPHI => Vec::new(),
        _ if at.as_call().is_none() => match at.may_write() {
            true => return None,
            false => Vec::new(),
        },
        _ if is_harmless(at) || at.only_computes() || called(at).is_some() => Vec::new(),
        _ => {
            let call = at.as_call().expect("it is one");
            let arguments = call.arguments();
            let written = written_by(call)?.map(|which| access(arguments[which], true));
            let mut all: Vec<_> = written
                .filter(|one| one.address.ty().is_pointer())
                .collect();
            if ["llvm.memcpy", "llvm.memmove"]
                .iter()
                .any(|one| call.callee_name().starts_with(one))
            {
                all.push(access(arguments[1], false));
            }
            all
        }
    })
}

/// Which arguments of a call lead to what it may write, where that is known. (Bodies of regions, and what combines, are functions
/// of their own.)
fn written_by(call: Call<'_>) -> Option<Range<usize>> {
    const NOTHING: [&str; 17] = [
        "__kmpc_barrier",
        "__kmpc_critical",
        "__kmpc_end_critical",
        "__kmpc_end_master",
        "__kmpc_end_masked",
        "__kmpc_end_reduce",
        "__kmpc_end_single",
        "__kmpc_flush",
        "__kmpc_global_thread_num",
        "__kmpc_master",
        "__kmpc_masked",
        "__kmpc_reduce",
        "__kmpc_single",
        "llvm.assume",
        "llvm.dbg.",
        "llvm.experimental.noalias.",
        "omp_get_",
    ];
    const REST: [&str; 2] = ["__kmpc_dispatch_", "__kmpc_for_static_"];
    let name = call.callee_name();
    let is_one = |all: &[&str]| all.iter().any(|one| name.starts_with(one));
    match () {
        () if is_one(&NOTHING) => Some(0..0),
        () if name.starts_with("llvm.mem") => Some(0..1),
        // Behind the place in the source.
        () if is_one(&REST) => Some(1..call.arguments().len()),
        () => None,
    }
}

/// Whether two accesses may be to the same memory.
fn may_meet(one: &Access<'_>, other: &Access<'_>) -> bool {
    let objects = [one, other].map(|access| access.address.underlying_object());
    let is_object =
        |one: &Value<'_>| one.as_global().is_some() || one.as_op(Opcode::LLVMAlloca).is_some();
    let [first, second] = objects;
    let are_apart = objects.iter().all(is_object) || objects.iter().any(|one| is_hidden(*one));
    !(first != second && are_apart || one.at.is_of_other_type(other.at))
}

/// Whether nothing but its name leads to a variable.
fn is_hidden(one: Value<'_>) -> bool {
    let is_own = one.as_op(Opcode::LLVMAlloca).is_some()
        || one.as_global().is_some_and(|one| {
            matches!(
                one.linkage(),
                Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage
            )
        });
    let goes_nowhere = |user: Instruction<'_>| match user.opcode() {
        Opcode::LLVMLoad => true,
        Opcode::LLVMStore => user.operand(0) != one,
        _ => is_harmless(user) || user.as_call().and_then(written_by).is_some(),
    };
    is_own
        && one
            .users()
            .into_iter()
            .all(|user| user.as_instruction().is_some_and(goes_nowhere))
}
