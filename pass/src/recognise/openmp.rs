//! OpenMP regions as clang and flang emit them: each `__kmpc_fork_call` or `__kmpc_fork_teams` is one region, which is
//! cut at its barriers.

mod worksharing;

use okl_abi::Effects;

use crate::analysis::call_graph::CallGraph;
use crate::analysis::runtime::effects;
use crate::diagnostic::{Declined, Site};
use crate::ir::{Capture, MARK, Origin, Region, Team};
use crate::llvm::{Instruction, Module, Value};
use crate::recognise::Found;
use crate::recognise::steps::{self, Callees, Rules, Steps};

/// A fork with the value of an `if` clause, and all captures behind one pointer.
const CONDITIONAL_FORK: &str = "__kmpc_fork_call_if";

/// The calls that run a region on a team or a league.
const FORKS: [(&str, Origin, Team); 3] = [
    ("__kmpc_fork_call", Origin::OpenMpParallel, Team::Threads),
    (CONDITIONAL_FORK, Origin::OpenMpParallel, Team::Threads),
    ("__kmpc_fork_teams", Origin::OpenMpTeams, Team::League),
];

/// Whether a function of this name begins a region.
pub fn is_fork(name: &str) -> bool {
    FORKS.iter().any(|(fork, _, _)| *fork == name)
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

/// Adds every region of the module, in the order of the functions they stand in, and the fork calls that are not
/// understood.
pub fn recognise<'m>(module: &'m Module, found: &mut Found<'m>) {
    let graph = CallGraph::of(module);
    let rules = Rules {
        separates: &|call| effects(call).has(Effects::BARRIER),
        constructs: &worksharing::constructs,
    };
    let mut callees = Callees::new(&graph, rules);
    // What has been lowered keeps the forks of its versions for one rank.
    let functions = module.functions().into_iter();
    for function in functions.filter(|function| !function.has_mark(MARK)) {
        for instruction in function.instructions() {
            let mentioned = FORKS.iter().find(|(name, _, _)| {
                let is_fork = |operand: &Value<'_>| {
                    operand
                        .as_function()
                        .is_some_and(|function| function.name() == *name)
                };
                instruction.operands().iter().any(is_fork)
            });
            let Some(&(name, origin, team)) = mentioned else {
                continue;
            };
            match region(instruction, name, (origin, team), &mut callees) {
                Ok(region) => found.regions.push(region),
                Err(problem) => found.refused.push(Declined {
                    site: Site::Instruction(instruction),
                    reason: format!("this use of {name} is not understood: {problem}"),
                }),
            }
        }
    }
}

fn region<'m>(
    instruction: Instruction<'m>,
    name: &str,
    (origin, team): (Origin, Team),
    callees: &mut Callees<'_, 'm>,
) -> Result<Region<'m>, String> {
    let call = instruction
        .as_call()
        .filter(|call| call.callee_name() == name)
        .ok_or("its address is taken")?;
    let arguments = call.arguments();
    let function = arguments
        .get(2)
        .and_then(|body| body.through_alias().as_function())
        .ok_or("the region is not a function of this module")?;
    let (condition, captured) = if name == CONDITIONAL_FORK {
        // The pointer to the captures is there even if the region takes none.
        let condition = *arguments.get(3).ok_or("it has no condition")?;
        let taken = function.parameters().len().saturating_sub(Region::LEADING);
        let rest = &arguments[4..];
        (Some(condition), &rest[..taken.min(rest.len())])
    } else {
        (None, &arguments[3..])
    };
    let parameters = function.parameters().into_iter().skip(Region::LEADING);
    let captures = captured
        .iter()
        .zip(parameters)
        .map(|(&value, parameter)| Capture {
            value,
            by_reference: value.ty().is_pointer() && parameter.ty().is_pointer(),
        });
    let captures: Vec<_> = captures.collect();
    if captures.len() != captured.len() {
        return Err("it passes more values than the region takes".to_string());
    }
    if function.is_declaration() {
        return Err("the body is not defined in this module".to_string());
    }
    let Steps { steps, edges, .. } = steps::find(&function.blocks(), callees);
    let region = Region {
        origin,
        site: call,
        body: function,
        team,
        condition,
        captures,
        steps,
        edges,
    };
    region.verify().map(|()| region)
}
