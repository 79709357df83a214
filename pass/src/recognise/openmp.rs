//! OpenMP regions as clang and flang emit them: each `__kmpc_fork_call` or `__kmpc_fork_teams` is
//! one parallel loop, whose space is the team.

use crate::analysis::memory::private_variable;
use crate::diagnostic::{Declined, Site};
use crate::ir::{
    Access, Argument, Body, Origin, ParallelLoop, Passing, Place, Schedule, Space, WorksharingLoop,
};
use crate::llvm::{Call, Function, Instruction, Module, Opcode, Value};

/// A fork with the value of an `if` clause, and all captures behind one pointer.
const CONDITIONAL_FORK: &str = "__kmpc_fork_call_if";

/// The calls that run a region on a team or a league.
pub const FORKS: [(&str, Origin); 3] = [
    ("__kmpc_fork_call", Origin::OpenMpParallel),
    (CONDITIONAL_FORK, Origin::OpenMpParallel),
    ("__kmpc_fork_teams", Origin::OpenMpTeams),
];

/// Every region of the module in the order of the functions they stand in, and the fork calls that
/// are not understood.
pub fn recognise(module: &Module) -> (Vec<ParallelLoop<'_>>, Vec<Declined<'_>>) {
    let mut loops = Vec::new();
    let mut declined = Vec::new();
    for function in module.functions() {
        for instruction in function.instructions() {
            let mentioned = FORKS.iter().find(|(name, _)| {
                let is_fork = |operand: &Value<'_>| {
                    operand
                        .as_function()
                        .is_some_and(|function| function.name() == *name)
                };
                instruction.operands().iter().any(is_fork)
            });
            let Some(&(name, origin)) = mentioned else {
                continue;
            };
            match region(instruction, name, origin) {
                Ok(region) => loops.push(region),
                Err(problem) => declined.push(Declined {
                    site: Site::Instruction(instruction),
                    reason: format!("this use of {name} is not understood: {problem}"),
                }),
            }
        }
    }
    (loops, declined)
}

fn region<'m>(
    instruction: Instruction<'m>,
    name: &str,
    origin: Origin,
) -> Result<ParallelLoop<'m>, String> {
    let call = instruction
        .as_call()
        .filter(|call| call.callee_name() == name)
        .ok_or("its address is taken")?;
    let arguments = call.arguments();
    let function = arguments
        .get(2)
        .and_then(|body| body.through_alias().as_function())
        .ok_or("the region is not a function of this module")?;
    let body = Body {
        function,
        leading: 2,
    };
    let loops = worksharing_loops(function);
    let (condition, captures) = if name == CONDITIONAL_FORK {
        // The pointer to the captures is there even if the region takes none.
        let condition = *arguments.get(3).ok_or("it has no condition")?;
        let taken = function.parameters().len().saturating_sub(body.leading);
        let rest = &arguments[4..];
        (Some(condition), &rest[..taken.min(rest.len())])
    } else {
        (None, &arguments[3..])
    };
    let args = captures
        .iter()
        .zip(function.parameters().into_iter().skip(body.leading))
        .map(|(&value, parameter)| argument(value, parameter))
        .collect::<Vec<_>>();
    if args.len() != captures.len() {
        return Err("it passes more values than the region takes".to_string());
    }
    let region = ParallelLoop {
        origin,
        site: call,
        space: match origin {
            Origin::OpenMpParallel => Space::Team { loops },
            Origin::OpenMpTeams => Space::League { loops },
        },
        body,
        args,
        condition,
    };
    region.verify().map(|()| region)
}

fn worksharing_loops(body: Function<'_>) -> Vec<WorksharingLoop> {
    if body.is_declaration() {
        return Vec::new();
    }
    body.instructions()
        .into_iter()
        .filter_map(|instruction| worksharing_loop(instruction.as_call()?))
        .collect()
}

fn worksharing_loop(call: Call<'_>) -> Option<WorksharingLoop> {
    let name = call.callee_name();
    let (kind, chunk_index) = [
        ("__kmpc_for_static_init_", 8),
        ("__kmpc_dist_for_static_init_", 9),
        ("__kmpc_dispatch_init_", 6),
    ]
    .into_iter()
    .find_map(|(prefix, chunk)| Some((name.strip_prefix(prefix)?, chunk)))?;
    let (width, signed) = match kind {
        "4" => (32, true),
        "4u" => (32, false),
        "8" => (64, true),
        "8u" => (64, false),
        _ => return None,
    };
    let code = call.argument(2)?.as_constant_int();
    let (schedule, ordered) = code.map_or((Schedule::Unknown, false), schedule);
    let chunked = matches!(
        schedule,
        Schedule::StaticChunked
            | Schedule::DistributeChunked
            | Schedule::Dynamic
            | Schedule::Guided
    );
    let chunk = call.argument(chunk_index)?.as_constant_int();
    Some(WorksharingLoop {
        schedule,
        ordered,
        width,
        signed,
        chunk: chunk.filter(|_| chunked),
    })
}

/// `enum sched_type` of LLVM's `kmp.h`; bits 29 and 30 are the monotonicity of the schedule.
fn schedule(code: i64) -> (Schedule, bool) {
    let code = code & !((1 << 29) | (1 << 30));
    let ordered = (65..=70).contains(&code);
    let plain = if ordered { code - 32 } else { code };
    let schedule = match plain {
        33 => Schedule::StaticChunked,
        34 => Schedule::Static,
        35 => Schedule::Dynamic,
        36 => Schedule::Guided,
        37 => Schedule::Runtime,
        38 => Schedule::Auto,
        91 => Schedule::DistributeChunked,
        92 => Schedule::Distribute,
        _ => Schedule::Unknown,
    };
    (schedule, ordered)
}

fn argument<'m>(value: Value<'m>, parameter: Value<'m>) -> Argument<'m> {
    if !value.ty().is_pointer() || !parameter.ty().is_pointer() {
        return Argument {
            value,
            passing: Passing::ByValue,
            access: if parameter.is_unused() {
                Access::Unused
            } else {
                Access::Read
            },
            place: Place::Scalar,
        };
    }
    let (access, place) = accesses(parameter);
    Argument {
        value,
        passing: Passing::ByReference,
        access,
        place,
    }
}

/// What a body does through a pointer parameter.
#[derive(Default)]
struct Uses {
    reads: bool,
    writes: bool,
    increments: bool,
    minimises: bool,
    maximises: bool,
    elsewhere: bool,
}

fn accesses(parameter: Value<'_>) -> (Access, Place) {
    let mut uses = Uses::default();
    let mut rest = vec![parameter];
    let mut seen = Vec::new();
    while let Some(address) = rest.pop() {
        if seen.contains(&address) {
            continue;
        }
        seen.push(address);
        for user in address.users() {
            let Some(instruction) = user.as_instruction() else {
                continue;
            };
            note(&mut uses, &mut rest, address, instruction);
        }
    }
    let access = match uses {
        Uses {
            reads: false,
            writes: false,
            increments,
            minimises,
            maximises,
            ..
        } => match (increments, minimises, maximises) {
            (false, false, false) => Access::Unused,
            (true, false, false) => Access::Increment,
            (false, true, false) => Access::Min,
            (false, false, true) => Access::Max,
            _ => Access::ReadWrite,
        },
        Uses {
            reads: true,
            writes: false,
            increments: false,
            minimises: false,
            maximises: false,
            ..
        } => Access::Read,
        Uses {
            reads: false,
            writes: true,
            increments: false,
            minimises: false,
            maximises: false,
            ..
        } => Access::Write,
        _ => Access::ReadWrite,
    };
    let place = if uses.elsewhere {
        Place::Unknown
    } else {
        Place::Scalar
    };
    (access, place)
}

fn note<'m>(
    uses: &mut Uses,
    rest: &mut Vec<Value<'m>>,
    address: Value<'m>,
    instruction: Instruction<'m>,
) {
    match instruction.opcode() {
        Opcode::LLVMLoad => {
            // A load that only feeds the store of an increment is part of the increment.
            let feeds_increment = |user: &Value<'m>| {
                user.users().iter().all(|store| {
                    store.as_op(Opcode::LLVMStore).is_some_and(|store| {
                        is_same_place(store.operand(1), address) && is_increment(store, address)
                    })
                }) && !user.is_unused()
            };
            uses.reads |= !instruction.users().iter().all(feeds_increment);
        }
        Opcode::LLVMStore if instruction.operand(0) == address => {
            // At -O0 a parameter is first kept in a variable of its own.
            match private_variable(instruction.operand(1)) {
                Some(variable) => rest.extend(
                    variable
                        .users()
                        .into_iter()
                        .filter(|user| user.as_op(Opcode::LLVMLoad).is_some()),
                ),
                None => uses.escape(),
            }
        }
        Opcode::LLVMStore if is_increment(instruction, address) => uses.increments = true,
        Opcode::LLVMStore => uses.writes = true,
        Opcode::LLVMGetElementPtr => {
            uses.elsewhere = true;
            rest.push(*instruction);
        }
        Opcode::LLVMAtomicRMW => match instruction.atomic_operation() {
            // add, sub, fadd, fsub; then the four maxima and minima.
            Some(1 | 2 | 11 | 12) => uses.increments = true,
            Some(7 | 9 | 13) => uses.maximises = true,
            Some(8 | 10 | 14) => uses.minimises = true,
            _ => uses.escape(),
        },
        Opcode::LLVMICmp => {}
        _ => uses.escape(),
    }
}

impl Uses {
    fn escape(&mut self) {
        self.reads = true;
        self.writes = true;
        self.elsewhere = true;
    }
}

/// Whether a store puts back what it loaded from the same place plus or minus something.
fn is_increment(store: Instruction<'_>, address: Value<'_>) -> bool {
    let Some(sum) = store.operand(0).as_instruction() else {
        return false;
    };
    let is_old = |value: Value<'_>| {
        value
            .as_op(Opcode::LLVMLoad)
            .is_some_and(|load| is_same_place(load.operand(0), address))
    };
    match sum.opcode() {
        Opcode::LLVMAdd | Opcode::LLVMFAdd => is_old(sum.operand(0)) || is_old(sum.operand(1)),
        Opcode::LLVMSub | Opcode::LLVMFSub => is_old(sum.operand(0)),
        _ => false,
    }
}

/// Whether two addresses are the same value, or loads of the same private variable.
fn is_same_place(a: Value<'_>, b: Value<'_>) -> bool {
    a == b || kept_in(a).is_some_and(|variable| kept_in(b) == Some(variable))
}

fn kept_in(address: Value<'_>) -> Option<Instruction<'_>> {
    private_variable(address.as_op(Opcode::LLVMLoad)?.operand(0))
}
