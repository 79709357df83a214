//! OpenMP regions as clang and flang emit them: each `__kmpc_fork_call` or `__kmpc_fork_teams` is
//! one parallel loop, whose space is the team.

use crate::analysis::access::accesses;
use crate::diagnostic::{Declined, Site};
use crate::ir::{
    Access, Argument, Body, MARK, Origin, ParallelLoop, Passing, Place, Schedule, Space, Storage,
    WorksharingLoop,
};
use crate::llvm::{Call, Function, Instruction, Module, Value};

/// A fork with the value of an `if` clause, and all captures behind one pointer.
const CONDITIONAL_FORK: &str = "__kmpc_fork_call_if";

/// The calls that run a region on a team or a league.
pub const FORKS: [(&str, Origin); 3] = [
    ("__kmpc_fork_call", Origin::OpenMpParallel),
    (CONDITIONAL_FORK, Origin::OpenMpParallel),
    ("__kmpc_fork_teams", Origin::OpenMpTeams),
];

/// Whether a function of this name begins a region.
pub fn is_fork(name: &str) -> bool {
    FORKS.iter().any(|(fork, _)| *fork == name)
}

/// Whether a module has OpenMP: it was compiled with `-fopenmp`, or calls the run time. Programs define functions of the
/// run time themselves where they are compiled without it.
pub fn is_used(module: &Module) -> bool {
    let is_of_runtime = |name: &str| {
        ["__kmpc_", "omp_", "ompc_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    let mut functions = module.functions().into_iter();
    module.has_flag("openmp")
        || functions.any(|function| function.is_declaration() && is_of_runtime(&function.name()))
}

/// Every region of the module in the order of the functions they stand in, and the fork calls that
/// are not understood.
pub fn recognise(module: &Module) -> (Vec<ParallelLoop<'_>>, Vec<Declined<'_>>) {
    let mut loops = Vec::new();
    let mut declined = Vec::new();
    // What has been lowered keeps the forks of its versions for one rank.
    let functions = module.functions().into_iter();
    for function in functions.filter(|function| !function.has_mark(MARK)) {
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
            Origin::Op2ParLoop => unreachable!("no fork"),
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

/// The bits of a schedule that are not its kind: `monotonic` and `nonmonotonic`.
pub const MODIFIERS: i64 = 3 << 29;

/// `enum sched_type` of LLVM's `kmp.h`.
fn schedule(code: i64) -> (Schedule, bool) {
    let code = code & !MODIFIERS;
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
            element: None,
            storage: Storage::ByElement,
            map: None,
        };
    }
    let (access, place) = accesses(parameter);
    Argument {
        value,
        passing: Passing::ByReference,
        access,
        place,
        element: None,
        storage: Storage::ByElement,
        map: None,
    }
}
