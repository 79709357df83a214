//! Constructs that are wrong in a team of more than one rank, and those that are wrong even on one.

use std::collections::HashMap;

use crate::analysis::call_graph::CallGraph;
use crate::analysis::library::{Effect, known};
use crate::analysis::{streams, waiting};
use crate::diagnostic::{Declined, Site};
use crate::ir::Region;
use crate::llvm::{Function, Instruction, Module, Opcode, Value};

/// One construct.
pub struct UnsafeSite<'m> {
    /// The construct itself.
    pub at: Instruction<'m>,
    /// Where a check has to stand to come before it.
    pub check_before: Instruction<'m>,
    /// What it is, as the end of a sentence that begins with "it".
    pub reason: String,
    /// Whether it leaves frames behind.
    jumps: bool,
}

impl UnsafeSite<'_> {
    /// `file:line`, or the function it is in.
    pub fn location(&self) -> String {
        Site::Instruction(self.at).to_string()
    }
}

/// The constructs of a module.
pub struct UnsafeSites<'m> {
    sites: Vec<UnsafeSite<'m>>,
    first: HashMap<Function<'m>, usize>,
}

impl<'m> UnsafeSites<'m> {
    /// Every site.
    pub fn all(&self) -> &[UnsafeSite<'m>] {
        &self.sites
    }

    /// Index of the first site in these functions.
    pub fn first_in(&self, functions: &[Function<'m>]) -> Option<usize> {
        functions
            .iter()
            .find_map(|function| self.first.get(function).copied())
    }

    /// Why a region with this body must have one thread: the nearest construct it reaches.
    pub fn reason_in(&self, graph: &CallGraph<'m>, body: Function<'m>) -> Option<String> {
        let reach = graph.reachable(body);
        let site = &self.sites[self.first_in(&reach)?];
        let place = Site::Instruction(in_user_code(site.at, &reach));
        Some(format!("{} ({place})", site.reason))
    }
}

/// The instruction itself, or where it stands in a system header, the call that leads there.
fn in_user_code<'m>(at: Instruction<'m>, reach: &[Function<'m>]) -> Instruction<'m> {
    const HEADERS: usize = 8;
    let is_system = |at: Instruction<'m>| {
        at.source_location()
            .is_some_and(|(file, _)| file.starts_with("/usr/"))
    };
    let mut place = at;
    for _ in 0..HEADERS {
        if !is_system(place) {
            return place;
        }
        let function = place.function();
        let mut instructions = reach.iter().flat_map(|caller| caller.instructions());
        match instructions.find(|call| functions_mentioned(*call).contains(&function)) {
            Some(call) => place = call,
            None => return at,
        }
    }
    at
}

/// Finds the constructs in these functions.
pub fn find<'m>(
    module: &'m Module,
    functions: &[Function<'m>],
    graph: &CallGraph<'m>,
) -> UnsafeSites<'m> {
    let has_file_streams = streams::has_file_streams(module);
    let mut found = UnsafeSites {
        sites: Vec::new(),
        first: HashMap::new(),
    };
    let callees = waiting::Callees::new(graph);
    for &function in functions {
        for waiting in waiting::find(function, &callees) {
            let Some(check_before) = waiting.header.first_insertion_point() else {
                continue;
            };
            found.first.entry(function).or_insert(found.sites.len());
            found.sites.push(UnsafeSite {
                at: waiting.at,
                check_before,
                reason: waiting.reason().to_string(),
                jumps: false,
            });
        }
        for at in function.instructions() {
            let Some((reason, jumps)) = construct(at, has_file_streams) else {
                continue;
            };
            let check_before = if at.opcode() == Opcode::LLVMPHI {
                at.block().first_insertion_point()
            } else {
                Some(at)
            };
            let Some(check_before) = check_before else {
                continue;
            };
            found.first.entry(function).or_insert(found.sites.len());
            found.sites.push(UnsafeSite {
                at,
                check_before,
                reason,
                jumps,
            });
        }
    }
    found
}

/// What is unsafe about an instruction, and whether it leaves frames behind.
fn construct(at: Instruction<'_>, has_file_streams: bool) -> Option<(String, bool)> {
    if let Some(call) = at.as_call() {
        if let Some((template, constraints, side_effects)) = call.callee().as_inline_assembly() {
            return is_unsafe_assembly(&template, &constraints, side_effects).then(|| {
                (
                    "executes inline assembly with effects on memory".to_string(),
                    false,
                )
            });
        }
        if let Some(reason) = streams::reason(call, has_file_streams) {
            return Some((reason.to_string(), false));
        }
    }
    for function in functions_mentioned(at) {
        let name = function.name();
        let Some(known) = known(&name).filter(|_| function.is_declaration()) else {
            continue;
        };
        let call = at
            .as_call()
            .filter(|call| call.callee_function() == Some(function));
        let safe = match known.effect {
            Effect::None | Effect::Threads => true,
            Effect::Stream(index) => call
                .and_then(|call| call.argument(index))
                .is_some_and(|stream| is_stream(stream, &["stdout", "stderr"])),
            Effect::Descriptor => {
                ["write", "writev"].contains(&name.as_str())
                    && call
                        .and_then(|call| call.argument(0)?.as_constant_int())
                        .is_some_and(|descriptor| [1, 2].contains(&descriptor))
            }
            Effect::HiddenState | Effect::Input | Effect::Process | Effect::Jump => false,
        };
        let reads_input = |index| {
            let stream = call.and_then(|call| call.argument(index));
            stream.is_some_and(|stream| is_stream(stream, &["stdin"]))
        };
        if let Effect::Stream(index) = known.effect
            && reads_input(index)
        {
            return Some((Effect::Input.reason(&name), false));
        }
        if !safe {
            return Some((known.effect.reason(&name), known.effect == Effect::Jump));
        }
    }
    None
}

fn functions_mentioned(at: Instruction<'_>) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    let mut rest = at.operands();
    rest.reverse();
    while let Some(operand) = rest.pop() {
        let operand = operand.through_alias();
        if let Some(function) = operand.as_function() {
            found.push(function);
        } else if operand.is_composite_constant() {
            rest.extend(operand.operands());
        }
    }
    found
}

/// One of these variables, named in the call itself.
fn is_stream(stream: Value<'_>, names: &[&str]) -> bool {
    stream
        .as_op(Opcode::LLVMLoad)
        .and_then(|load| load.operand(0).as_global())
        .is_some_and(|global| names.contains(&global.name().as_str()))
}

/// Instructions that a thread may execute at any time.
const HARMLESS_ASSEMBLY: [&str; 12] = [
    "nop",
    "pause",
    "rep",
    "rdtsc",
    "rdtscp",
    "cpuid",
    "lfence",
    "sfence",
    "mfence",
    "prefetcht0",
    "prefetcht1",
    "prefetchnta",
];

fn is_unsafe_assembly(template: &str, constraints: &str, side_effects: bool) -> bool {
    let harmless = template
        .split(['\n', ';'])
        .filter_map(|line| line.split_whitespace().next())
        .all(|word| HARMLESS_ASSEMBLY.contains(&word));
    let items = || constraints.split(',');
    let touches_memory = items().any(|item| {
        item == "~{memory}" || item.trim_start_matches(['=', '+', '&']).starts_with('*')
    });
    let has_result = items().any(|item| item.starts_with('='));
    !harmless && (touches_memory || side_effects && !has_result)
}

/// Refuses what is wrong even on one rank.
pub fn refuse<'m>(
    functions: &[Function<'m>],
    regions: &[Region<'m>],
    graph: &CallGraph<'m>,
    sites: &UnsafeSites<'m>,
    refused: &mut Vec<Declined<'m>>,
) {
    let mut reported: Vec<Function<'m>> = Vec::new();
    for at in functions
        .iter()
        .flat_map(|function| function.instructions())
    {
        for function in functions_mentioned(at) {
            if reported.contains(&function) {
                continue;
            }
            if let Some(reason) = forbidden(function) {
                reported.push(function);
                refused.push(Declined {
                    site: Site::Instruction(at),
                    reason,
                });
            }
        }
    }
    for one in regions {
        let reach = graph.reachable(one.body);
        let jump = sites
            .sites
            .iter()
            .find(|site| site.jumps && reach.contains(&site.at.function()));
        if let Some(jump) = jump.filter(|_| !sets_jump(&reach, graph)) {
            refused.push(Declined {
                site: Site::Instruction(one.site.instruction()),
                reason: format!(
                    "a jump leaves this {}: it {} ({})",
                    one.origin,
                    jump.reason,
                    jump.location()
                ),
            });
        }
    }
}

fn forbidden(function: Function<'_>) -> Option<String> {
    let name = function.name();
    if !function.is_declaration() {
        return None;
    }
    let in_fortran = name.starts_with("mpi_") && name.ends_with('_');
    if name.starts_with("MPI_") || name.starts_with("PMPI_") || in_fortran {
        let name = name.trim_end_matches('_');
        return Some(format!(
            "this file calls {name}: a program that uses MPI itself cannot be distributed over MPI \
             ranks"
        ));
    }
    known(&name)
        .filter(|known| known.effect == Effect::Threads)
        .map(|_| {
            format!(
                "this file calls {}: threads and processes that a program starts itself cannot be \
             distributed over MPI ranks",
                crate::llvm::demangle(&name)
            )
        })
}

fn sets_jump<'m>(reach: &[Function<'m>], graph: &CallGraph<'m>) -> bool {
    const NAMES: [&str; 4] = ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"];
    reach
        .iter()
        .filter_map(|function| graph.node(*function))
        .any(|node| {
            node.mentions
                .iter()
                .any(|mentioned| NAMES.contains(&mentioned.name().as_str()))
        })
}
