//! Variables by which threads only wait for each other, and set to be waited for: flags.
//!
//! Guarantee: a flag is a whole object (a variable, an array) of which every access in the program is known and is a
//! load or a store of one of its integers. So all of them can be made atomic, which changes no program that was right
//! before, and the loop that waits ends where another thread's store is to end it. What anything else may be done
//! with, or what another file may have access to, is no flag.

use std::collections::HashSet;

use crate::analysis::call_graph::CallGraph;
use crate::analysis::loops::LoopView;
use crate::analysis::memory::private_variable;
use crate::analysis::runtime::effects;
use crate::analysis::waiting::{self, Callees, is_flush};
use crate::llvm::{Function, Instruction, Module, Opcode, Value};
use okl_abi::Effects;

/// Where the body of a region and the values that it captures stand among the arguments of the function that forks, and
/// the parameters of the body in front of these values.
const BODY: usize = 2;
const CAPTURED: usize = 3;
const OWN_PARAMETERS: usize = 2;

/// The flags of a module.
#[derive(Default)]
pub struct Flags<'m> {
    /// All accesses to them.
    pub accesses: Vec<Instruction<'m>>,
    /// Those that loops wait with.
    pub waits: Vec<Instruction<'m>>,
    /// Loads that loops compare them with, of variables that no region changes.
    pub constants: Vec<Instruction<'m>>,
    /// Flushes in loops that wait for them. Each time that such a loop is entered it may end without one.
    pub flushes: Vec<Instruction<'m>>,
}

/// Finds the flags that these functions wait for by what is no synchronisation point.
pub fn find<'m>(
    module: &'m Module,
    functions: &[Function<'m>],
    graph: &CallGraph<'m>,
) -> Flags<'m> {
    let callees = Callees::new(graph);
    let waits = functions.iter();
    let waits: HashSet<_> = waits
        .flat_map(|&function| waited_for(function, &callees))
        .collect();
    let mut found = Flags::default();
    if waits.is_empty() {
        return found;
    }
    let known: HashSet<_> = functions.iter().copied().collect();
    for object in objects(module, functions) {
        let Some(accesses) = accesses(module, object, &known) else {
            continue;
        };
        let waiting = accesses.iter().filter(|access| waits.contains(access));
        // What only serial code sets ends no wait: it is what flags are compared with.
        if !accesses.iter().any(|&access| is_set(object, access)) {
            found.constants.extend(waiting);
            continue;
        }
        let before = found.waits.len();
        found.waits.extend(waiting);
        if found.waits.len() > before {
            found.accesses.extend(accesses);
        }
    }
    if found.accesses.is_empty() {
        return Flags::default();
    }
    let all: HashSet<_> = found.accesses.iter().copied().collect();
    for &function in functions {
        for view in function.loops().iter().map(LoopView::of) {
            found.flushes.extend(flushes(&view, &all));
        }
    }
    found
}

/// The loads of shared memory whose values end the loops of a function that wait by what is no synchronisation point.
fn waited_for<'m>(function: Function<'m>, callees: &Callees<'_, 'm>) -> Vec<Instruction<'m>> {
    let waits = waiting::find(function, callees);
    if waits.is_empty() {
        return Vec::new();
    }
    let views = function
        .loops()
        .iter()
        .map(LoopView::of)
        .collect::<Vec<_>>();
    let views = views.iter();
    let views = views.filter(|view| waits.iter().any(|wait| wait.header == view.header));
    // Not what tells where they are.
    let parts = views.flat_map(|view| view.decides_exit_through(|part| !is_shared_load(part)));
    parts.filter(|&part| is_shared_load(part)).collect()
}

fn is_shared_load(at: Instruction<'_>) -> bool {
    at.opcode() == Opcode::LLVMLoad && private_variable(at.operand(0)).is_none()
}

/// Whether an access is a store that a region may come to, as far as that is plain.
fn is_set(object: Value<'_>, access: Instruction<'_>) -> bool {
    let function = access.function();
    let variable = object.as_op(Opcode::LLVMAlloca);
    let is_around = variable.is_some_and(|variable| variable.function() == function);
    access.opcode() == Opcode::LLVMStore && !is_around && function.name() != "main"
}

/// What may be a flag: the module's own variables, and variables of functions that regions capture.
fn objects<'m>(module: &'m Module, functions: &[Function<'m>]) -> Vec<Value<'m>> {
    let globals = module.globals().into_iter().filter(|global| {
        global.is_local()
            && !global.is_declaration()
            && !global.is_readonly()
            && !global.is_thread_local()
            && global.section().is_empty()
    });
    let captured = captured_variables(functions);
    globals.map(|one| *one).chain(captured).collect()
}

/// The variables of functions that regions capture.
pub fn captured_variables<'m>(functions: &[Function<'m>]) -> Vec<Value<'m>> {
    let forks = functions
        .iter()
        .flat_map(|function| function.instructions());
    let captured = forks
        .filter_map(|at| forked(at).map(|_| at))
        .flat_map(|at| {
            let arguments = at.as_call().map(|call| call.arguments());
            arguments.unwrap_or_default().into_iter().skip(CAPTURED)
        });
    let mut seen = HashSet::new();
    let captured = captured.filter(|one| one.as_op(Opcode::LLVMAlloca).is_some());
    captured.filter(|&one| seen.insert(one)).collect()
}

/// The body of the region that an instruction forks as clang has it done.
fn forked(at: Instruction<'_>) -> Option<Function<'_>> {
    let call = at.as_call()?;
    let forks = effects(call);
    let is_plain = forks.has(Effects::FORKS_BODY)
        && !forks.has(Effects::LEAGUE)
        && call.callee_name() == "__kmpc_fork_call";
    is_plain.then(|| call.argument(BODY)?.as_function())?
}

/// All accesses to an object, where they are as this file's head says.
fn accesses<'m>(
    module: &'m Module,
    object: Value<'m>,
    functions: &HashSet<Function<'m>>,
) -> Option<Vec<Instruction<'m>>> {
    let mut found: Vec<Instruction<'m>> = Vec::new();
    let mut rest = vec![object];
    let mut seen = HashSet::from([object]);
    let mut lead_on = |value: Value<'m>, rest: &mut Vec<Value<'m>>| {
        if seen.insert(value) {
            rest.push(value);
        }
    };
    while let Some(address) = rest.pop() {
        for user in address.users() {
            let Some(at) = user.as_instruction() else {
                match user.is_constant_gep() {
                    true => lead_on(user, &mut rest),
                    false => return None,
                }
                continue;
            };
            if !functions.contains(&at.function()) {
                return None;
            }
            match at.opcode() {
                Opcode::LLVMGetElementPtr if at.operand(0) == address => lead_on(user, &mut rest),
                Opcode::LLVMLoad => found.push(at),
                Opcode::LLVMStore if at.operand(0) != address => found.push(at),
                Opcode::LLVMStore => {
                    for copy in loads_of(at.operand(1))? {
                        lead_on(copy, &mut rest);
                    }
                }
                // Clang sets variables to their first values so, outside of the regions that capture them.
                Opcode::LLVMCall if is_filled(at, object, address) => {}
                Opcode::LLVMCall => {
                    if let Some(parameter) = handed_to(at, address)? {
                        lead_on(parameter, &mut rest);
                    }
                }
                _ => return None,
            }
        }
    }
    let size = |at: Instruction<'m>| module.store_size_of(accessed(at));
    let first = size(*found.first()?);
    let are_alike = found.iter().all(|&at| {
        accessed(at).bits() == Some(8 * first as u32)
            && matches!(first, 1 | 2 | 4 | 8)
            && u64::from(at.alignment()) >= first
    });
    are_alike.then_some(found)
}

/// Whether an instruction fills some of a variable of its function.
fn is_filled<'m>(at: Instruction<'m>, object: Value<'m>, address: Value<'m>) -> bool {
    let call = at.as_call();
    let fills = call.is_some_and(|call| {
        let name = call.callee_name();
        let fills = ["llvm.memset.", "llvm.memcpy."].iter();
        let fills = fills.copied().any(|one| name.starts_with(one));
        let arguments = call.arguments();
        fills && arguments.first() == Some(&address) && arguments.get(1) != Some(&address)
    });
    let variable = object.as_op(Opcode::LLVMAlloca);
    fills && variable.is_some_and(|variable| variable.function() == at.function())
}

fn accessed(at: Instruction<'_>) -> crate::llvm::Type<'_> {
    match at.opcode() {
        Opcode::LLVMStore => at.operand(0).ty(),
        _ => at.ty(),
    }
}

/// The loads of a variable that holds one address, and only that.
fn loads_of(variable: Value<'_>) -> Option<Vec<Value<'_>>> {
    variable.as_op(Opcode::LLVMAlloca)?;
    private_variable(variable)?;
    let users = variable.instruction_users();
    let stores = users.iter().filter(|one| one.opcode() == Opcode::LLVMStore);
    if stores.count() != 1 {
        return None;
    }
    let others = users.into_iter();
    let others = others.filter(|one| one.opcode() != Opcode::LLVMStore && one.as_call().is_none());
    let loads = others.map(|one| {
        let is_load = one.opcode() == Opcode::LLVMLoad && one.ty().is_pointer();
        is_load.then_some(*one)
    });
    loads.collect()
}

/// The parameter that an address becomes in a call, if it does so in this one only; `Some(None)` where a call only says
/// something of it.
#[expect(
    clippy::option_option,
    reason = "the caller gives up where there is none"
)]
fn handed_to<'m>(at: Instruction<'m>, address: Value<'m>) -> Option<Option<Value<'m>>> {
    let call = at.as_call()?;
    let name = call.callee_name();
    if name.starts_with("llvm.lifetime.") || name.starts_with("llvm.dbg.") {
        return Some(None);
    }
    let arguments = call.arguments();
    let mut places = (0..arguments.len()).filter(|&place| arguments[place] == address);
    let place = places.next().filter(|_| places.next().is_none())?;
    let (callee, place) = match forked(at) {
        Some(body) => (body, place.checked_sub(CAPTURED)? + OWN_PARAMETERS),
        None => (call.callee_function()?, place),
    };
    let is_only_here = callee.is_local() && callee.users().len() == 1 && !callee.is_declaration();
    let parameter = callee.parameters().get(place).copied()?;
    is_only_here.then_some(Some(parameter))
}

/// The flushes of a loop that looks at nothing but flags, before it does anything else, and leaves where it finds what it
/// waits for.
fn flushes<'m>(view: &LoopView<'m>, accesses: &HashSet<Instruction<'m>>) -> Vec<Instruction<'m>> {
    let leaves = view.header.terminator().is_some_and(|end| {
        view.header.successors().iter().any(|&next| {
            next.terminator().is_none_or(|inner| !view.contains(inner))
                && end.branch_condition().is_some()
        })
    });
    let decides = view.decides_exit();
    let waits = decides.iter().any(|part| {
        accesses.contains(part) && part.opcode() == Opcode::LLVMLoad && part.block() == view.header
    });
    let is_idle = view.instructions.iter().all(|&at| match at.opcode() {
        Opcode::LLVMLoad => !is_shared_load(at) || accesses.contains(&at),
        Opcode::LLVMStore => private_variable(at.operand(1)).is_some(),
        Opcode::LLVMCall => at.as_call().is_some_and(is_flush),
        Opcode::LLVMInvoke
        | Opcode::LLVMCallBr
        | Opcode::LLVMAtomicRMW
        | Opcode::LLVMAtomicCmpXchg => false,
        _ => true,
    });
    if !(leaves && waits && is_idle) {
        return Vec::new();
    }
    let all = view.instructions.iter().copied();
    let flushes = all.filter(|at| at.block() != view.header && at.as_call().is_some_and(is_flush));
    flushes.collect()
}
