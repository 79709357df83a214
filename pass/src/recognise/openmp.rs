//! OpenMP regions as clang and flang emit them: each `__kmpc_fork_call` or `__kmpc_fork_teams` is one region, which is
//! cut at its barriers.

mod worksharing;

pub use worksharing::stored_before;

use okl_abi::openmp::is_openmp;
use okl_abi::{Effects, RuntimeFn};

use crate::analysis::call_graph::CallGraph;
use crate::analysis::runtime::{self, effects, function_of};
use crate::diagnostic::{Declined, Site};
use crate::ir::{Capture, Origin, Region, Team};
use crate::llvm::{Instruction, Module};
use crate::marks::{BLOCKS, is_lowered};
use crate::recognise::Found;
use crate::recognise::steps::{self, Callees, Rules, Steps};

/// Whether a module has OpenMP: it was compiled with `-fopenmp`, or calls the run time. Programs define functions of the
/// run time themselves where they are compiled without it.
pub fn is_used(module: &Module) -> bool {
    let mut functions = module.functions().into_iter();
    module.has_flag("openmp")
        || functions.any(|function| function.is_declaration() && is_openmp(&function.name()))
}

/// Adds every region of the module, in the order of the functions they stand in, and the fork calls that are not
/// understood.
pub fn recognise<'m>(module: &'m Module, found: &mut Found<'m>) {
    let graph = CallGraph::of(module);
    let rules = Rules {
        separates: &|one| {
            let call = one.as_call();
            call.is_some_and(|call| effects(call).has(Effects::BARRIER))
        },
        next: &|block| block.successors(),
        constructs: &worksharing::constructs,
    };
    let mut callees = Callees::new(&graph, rules);
    // What has been lowered keeps the forks of its versions for one rank.
    let functions = module.functions().into_iter();
    for function in functions.filter(|function| !is_lowered(*function)) {
        for instruction in function.instructions() {
            let operands = instruction.operands().into_iter();
            let mut mentioned = operands.filter_map(|operand| {
                let function = function_of(&operand.as_function()?.name())?;
                function.has(Effects::FORKS_BODY).then_some(function)
            });
            let Some(fork) = mentioned.next() else {
                continue;
            };
            match region(instruction, fork, &mut callees) {
                Ok(region) => found.regions.push(region),
                Err(problem) => found.refused.push(Declined {
                    site: Site::Instruction(instruction),
                    reason: format!("this use of {} is not understood: {problem}", fork.name),
                }),
            }
        }
    }
}

fn region<'m>(
    instruction: Instruction<'m>,
    fork: &RuntimeFn,
    callees: &mut Callees<'_, 'm>,
) -> Result<Region<'m>, String> {
    let call = instruction
        .as_call()
        .filter(|call| call.callee_name() == fork.name)
        .ok_or("its address is taken")?;
    let arguments = call.arguments();
    let function = runtime::argument(call, "body")
        .and_then(|body| body.through_alias().as_function())
        .ok_or("the region is not a function of this module")?;
    let condition = runtime::argument(call, "condition");
    let mut captured = arguments
        .get(fork.params.len()..)
        .ok_or("arguments are missing")?;
    if condition.is_some() {
        // The pointer to the captures is there even if the region takes none.
        let taken = function.parameters().len().saturating_sub(Region::LEADING);
        captured = &captured[..taken.min(captured.len())];
    }
    let (origin, team) = match fork.has(Effects::LEAGUE) {
        true => (Origin::OpenMpTeams, Team::League),
        false if BLOCKS.is_on(function) => (Origin::OklOuter, Team::Threads),
        false => (Origin::OpenMpParallel, Team::Threads),
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
    Ok(Region {
        origin,
        site: call,
        body: function,
        team,
        condition,
        captures,
        locals: Vec::new(),
        steps,
        edges,
    })
}
