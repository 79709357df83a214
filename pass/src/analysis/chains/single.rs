//! A copy of a module in which each nest of a chain runs a single iteration, whose number nobody knows: what is true of it is
//! true of all of them, whatever LLVM does with loops.
//!
//! Guarantee: what is read and written between [`Iteration::enter`] and [`Iteration::leave`] is what an iteration reads and
//! writes, but for variables of the function that each iteration has for itself, and for those that no loop of the chain
//! writes. Nothing is taken from one nest to another: calls of what nobody knows stand between them.

use std::collections::HashSet;

use super::turns::{How, Turn, mark_turns};
use crate::analysis::variables::{is_destination, is_harmless};
use crate::ir::{Chain, Counter};
use crate::llvm::{
    Block, Builder, Function, Instruction, Linkage, Module, Opcode, Passes, Type, Value,
};
use crate::recognise::loop_chain::is_marker;

/// Calls that are put in place of calls in an iteration, at most.
const MOST_CALLS: usize = 400;
/// Instructions of a function that is, and of one that has got them.
const MOST_INSTRUCTIONS: [usize; 2] = [2000, 50_000];

/// What the calls begin with that mark places of the copy.
const OURS: &str = "okl.chain.";

/// An iteration of a nest.
pub struct Iteration<'c> {
    /// Where it begins.
    pub enter: Instruction<'c>,
    /// Where it ends.
    pub leave: Instruction<'c>,
    /// The values that its pragma names.
    pub values: Vec<Value<'c>>,
    /// Of each of its loops, the outermost first: its number, the first one, and what the loop compares with.
    pub loops: Vec<[Value<'c>; 3]>,
    /// The loops in it that count, those around others first.
    pub turns: Vec<Turn<'c>>,
}

/// A chain of such.
pub struct Single<'c> {
    /// The values that its schedule names.
    pub values: Vec<Value<'c>>,
    /// Where it begins.
    pub begin: Instruction<'c>,
    /// Its nests.
    pub nests: Vec<Iteration<'c>>,
    /// Variables of the function that stay in memory, and whether their addresses go nowhere else.
    pub kept: Vec<(Value<'c>, bool)>,
    /// What is in variables of the function in front of it, and their numbers among [`variables`].
    pub variables: Vec<(Value<'c>, usize)>,
}

/// The variables of a function that are numbers or addresses.
pub fn variables(function: Function<'_>) -> impl Iterator<Item = Instruction<'_>> {
    let entry = function.blocks()[0].instructions().into_iter();
    entry.filter(|one| {
        let ty = one.allocated_type();
        let is_one =
            one.opcode() == Opcode::LLVMAlloca && one.operand(0).as_constant_int() == Some(1);
        is_one && ty.is_some_and(|ty| ty.is_pointer() || ty.bits().is_some_and(|bits| bits <= 64))
    })
}

/// What marks a place of the copy, and what it is told.
pub fn mark<'c>(
    copy: &'c Module,
    name: &str,
    before: Instruction<'c>,
    told: Option<Value<'c>>,
) -> Value<'c> {
    let parameters: Vec<Type<'c>> = told.iter().map(|one| one.ty()).collect();
    let ty = copy.function_type(copy.void(), &parameters);
    let function = copy.add_function(&ours(name), ty, Linkage::LLVMExternalLinkage);
    let told: Vec<_> = told.into_iter().collect();
    Builder::before(copy, before).call(function, &told)
}

/// What a function is called whose calls mark places.
pub fn ours(name: &str) -> String {
    format!("{OURS}{name}")
}

/// Whether a call marks a place in an iteration.
pub fn is_turn(name: &str) -> bool {
    is_ours(name) && name.contains(".turn.")
}

/// Whether a call marks a place of the copy.
pub fn is_ours(name: &str) -> bool {
    name.starts_with(OURS)
}

/// Changes a copy of a module so that its chains run once; those for which that cannot be said are left out.
pub fn run_once<'c>(copy: &'c Module, chains: &[Chain<'c>]) -> Vec<Option<Single<'c>>> {
    let numbered = || chains.iter().enumerate();
    let marked: Vec<bool> = numbered()
        .map(|(number, chain)| mark_places(copy, number, chain))
        .collect();
    let known: Vec<Option<Vec<Vec<How>>>> = numbered()
        .map(|(number, chain)| marked[number].then(|| prepare(copy, number, chain))?)
        .collect();
    let functions: HashSet<_> = chains
        .iter()
        .map(|one| one.site.instruction().function())
        .collect();
    for function in functions {
        function.remove_attribute("optnone");
        let passes = Passes::over(function);
        passes.run("sroa,instsimplify,simplifycfg,sroa,instsimplify,simplifycfg");
    }
    numbered()
        .map(|(number, chain)| find(copy, number, chain, known[number].as_ref()?))
        .collect()
}

/// Marks the places of a chain, and takes its loops apart.
fn mark_places<'c>(copy: &'c Module, number: usize, chain: &Chain<'c>) -> bool {
    let can = |one: &Counter<'c>| {
        let is_phi = |one: &Instruction<'c>| one.opcode() == Opcode::LLVMPHI;
        let latch = one.steps.block().terminator();
        latch.is_some_and(|end| end.operands().len() == 1)
            && !one.exit.instructions().iter().any(is_phi)
    };
    let mut counters = chain.nests.iter().flat_map(|one| &one.loops);
    if !counters.all(|one| one.counter.as_ref().is_some_and(can)) {
        return false;
    }
    let site = chain.site.instruction();
    mark(copy, &format!("{number}.begin"), site, None);
    // Of those that the chain only reads.
    let inside: HashSet<_> = between(site, chain.end.instruction()).into_iter().collect();
    for (at, variable) in variables(site.function()).enumerate() {
        let mut users = variable.instruction_users().into_iter();
        if !users.all(|one| !inside.contains(&one) || one.opcode() == Opcode::LLVMLoad) {
            continue;
        }
        let ty = variable.allocated_type().expect("a stack variable");
        let value = Builder::before(copy, site).load(ty, *variable);
        mark(copy, &format!("{number}.variable.{at}"), site, Some(value));
    }
    for (at, &value) in chain.values.iter().enumerate() {
        mark(copy, &format!("{number}.value.{at}"), site, Some(value));
    }
    for (at, nest) in chain.nests.iter().enumerate() {
        let name = |what: &str| format!("{number}.{at}.{what}");
        for (which, &value) in nest.values.iter().enumerate() {
            let site = nest.site.instruction();
            mark(copy, &name(&format!("value.{which}")), site, Some(value));
        }
        let leaves = nest.end.instruction();
        mark(copy, &name("leave"), leaves, None);
        for (level, counter) in nest
            .loops
            .iter()
            .filter_map(|one| one.counter.as_ref())
            .enumerate()
        {
            let name = |what: &str| name(&format!("{what}.{level}"));
            let first = counter.begins.operand(0);
            mark(copy, &name("first"), counter.begins, Some(first));
            let end = counter.counting.end;
            mark(copy, &name("end"), counter.decides, Some(end));
            let ty = copy.function_type(first.ty(), &[]);
            let iteration = format!("{OURS}{}", name("iteration"));
            let iteration = copy.add_function(&iteration, ty, Linkage::LLVMExternalLinkage);
            let iteration = Builder::before(copy, counter.begins).call(iteration, &[]);
            counter.begins.set_operand(0, iteration);
            let latch = counter.steps.block().terminator().expect("it goes back");
            latch.set_operand(0, counter.exit.label());
            counter.decides.always_branch(copy, true);
        }
        let innermost = nest.loops.last().and_then(|one| one.counter.as_ref());
        let body = innermost.and_then(|one| one.body.first_insertion_point());
        let body = body.expect("a body has an end");
        mark(copy, &name("enter"), body, None);
    }
    true
}

/// The only call that marks a place.
fn marked<'c>(copy: &'c Module, name: &str) -> Option<Instruction<'c>> {
    let users = copy.function(&format!("{OURS}{name}"))?.instruction_users();
    match users[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// What is run between two places of a function, block by block.
pub fn between<'c>(enter: Instruction<'c>, leave: Instruction<'c>) -> Vec<Instruction<'c>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let all = enter.block().instructions();
    let behind = all
        .iter()
        .position(|&one| one == enter)
        .map_or(0, |at| at + 1);
    let mut rest = vec![(enter.block(), behind)];
    while let Some((block, from)) = rest.pop() {
        let here = block.instructions();
        let here = &here[from..];
        let end = here.iter().position(|&one| one == leave);
        found.extend(&here[..end.unwrap_or(here.len())]);
        if end.is_none() {
            let next = block.successors().into_iter();
            rest.extend(next.filter(|one| seen.insert(*one)).map(|one| (one, 0)));
        }
    }
    found
}

/// The calls that mark where the iterations of a chain begin and end.
fn iterations<'c>(
    copy: &'c Module,
    number: usize,
    chain: &Chain<'c>,
) -> Option<Vec<[Instruction<'c>; 2]>> {
    let place = |at: usize, what: &str| marked(copy, &format!("{number}.{at}.{what}"));
    let all = 0..chain.nests.len();
    all.map(|at| Some([place(at, "enter")?, place(at, "leave")?]))
        .collect()
}

/// Puts what iterations call in place, and keeps in memory the variables that they have in common.
///
/// Tells how the loops in iterations count.
fn prepare<'c>(copy: &'c Module, number: usize, chain: &Chain<'c>) -> Option<Vec<Vec<How>>> {
    let places = iterations(copy, number, chain)?;
    let mut calls = 0;
    for &[enter, leave] in &places {
        let mut failed = HashSet::new();
        while let Some(call) = between(enter, leave)
            .into_iter()
            .filter_map(|one| one.as_call())
            .find(|call| {
                call.callee_function().is_some_and(|callee| {
                    let is_small = || callee.instructions().len() <= MOST_INSTRUCTIONS[0];
                    !callee.is_declaration()
                        && !callee.is_interposable()
                        && callee != enter.function()
                        && is_small()
                        && !failed.contains(&call.instruction())
                        && !callee
                            .instructions()
                            .into_iter()
                            .filter_map(|one| one.as_call())
                            .any(is_marker)
                })
            })
        {
            calls += 1;
            if calls > MOST_CALLS || !call.inline() {
                failed.insert(call.instruction());
            }
            if calls > 2 * MOST_CALLS
                || enter.function().instructions().len() > MOST_INSTRUCTIONS[1]
            {
                break;
            }
        }
    }
    let iterators: HashSet<Value<'c>> = chain
        .nests
        .iter()
        .flat_map(|one| &one.loops)
        .filter_map(|one| Some(one.counter.as_ref()?.begins.operand(1)))
        .collect();
    let spans: Vec<HashSet<Instruction<'c>>> = places
        .iter()
        .map(|&[enter, leave]| between(enter, leave).into_iter().collect())
        .collect();
    let function = chain.site.instruction().function();
    let turns = spans.iter().enumerate();
    let turns = turns.map(|(at, span)| mark_turns(copy, &format!("{number}.{at}"), function, span));
    let turns = turns.collect();
    let variables = function.instructions().into_iter();
    let variables: Vec<_> = variables
        .filter(|one| one.opcode() == Opcode::LLVMAlloca)
        .collect();
    for (at, variable) in variables.into_iter().enumerate() {
        if iterators.contains(&*variable) || is_destination(variable) {
            continue;
        }
        let keep = || {
            let front = variable.block().terminator().expect("a block has an end");
            mark(copy, &format!("{number}.kept.{at}"), front, Some(*variable));
        };
        let Some(uses) = uses_of(variable, |_| false) else {
            // What begins its life in an iteration is that one's, wherever its address goes meanwhile.
            let mut begins = variable
                .instruction_users()
                .into_iter()
                .filter(|one| {
                    one.as_call()
                        .is_some_and(|call| call.callee_name().starts_with("llvm.lifetime.start"))
                })
                .peekable();
            let is_inside = begins.peek().is_some()
                && begins.all(|one| spans.iter().any(|span| span.contains(&one)));
            if !is_inside {
                keep();
            }
            continue;
        };
        let used = |span: &&HashSet<Instruction<'c>>| uses.iter().any(|one| span.contains(one));
        let changed = spans.iter().any(|span| {
            uses.iter()
                .any(|one| span.contains(one) && one.may_write() && !is_harmless(*one))
        });
        if !changed || !spans.iter().any(|span| used(&span)) {
            continue;
        }
        let is_own = places.iter().zip(&spans).all(|(&[enter, leave], span)| {
            !used(&span) || is_own(variable, &uses, enter, leave, span)
        });
        if !is_own {
            keep();
        }
    }
    Some(turns)
}

/// What accesses a variable, or may begin or end its life, where its address goes nowhere else but to what does nothing.
fn uses_of<'c>(
    variable: Instruction<'c>,
    does_nothing: impl Fn(&Instruction<'c>) -> bool,
) -> Option<Vec<Instruction<'c>>> {
    let mut found = Vec::new();
    let mut rest = vec![*variable];
    let mut seen = HashSet::new();
    while let Some(address) = rest.pop() {
        for one in address.instruction_users() {
            match one.opcode() {
                _ if does_nothing(&one) => {}
                Opcode::LLVMGetElementPtr if one.operand(0) == address => {
                    if seen.insert(one) {
                        rest.push(*one);
                    }
                }
                Opcode::LLVMLoad if one.is_plain_access() => found.push(one),
                Opcode::LLVMStore if one.operand(0) != address && one.is_plain_access() => {
                    found.push(one)
                }
                Opcode::LLVMCall if is_harmless(one) => found.push(one),
                Opcode::LLVMCall
                    if one.as_call().is_some_and(|call| {
                        let name = call.callee_name();
                        name.starts_with("llvm.memcpy.")
                            || name.starts_with("llvm.memset.")
                            || name.starts_with("llvm.memmove.")
                    }) =>
                {
                    found.push(one)
                }
                _ => return None,
            }
        }
    }
    Some(found)
}

/// Whether each iteration has a variable for itself: it gives it a value, or begins its life, before it reads it, and nothing
/// reads what it has left there.
fn is_own<'c>(
    variable: Instruction<'c>,
    uses: &[Instruction<'c>],
    enter: Instruction<'c>,
    leave: Instruction<'c>,
    span: &HashSet<Instruction<'c>>,
) -> bool {
    let uses: HashSet<_> = uses.iter().copied().collect();
    let begins = |one: Instruction<'c>| match one.opcode() {
        Opcode::LLVMStore => {
            one.operand(1) == *variable && Some(one.operand(0).ty()) == variable.allocated_type()
        }
        _ => one
            .as_call()
            .is_some_and(|call| call.callee_name().starts_with("llvm.lifetime.")),
    };
    // From a place on, what is read before it is written.
    let is_read = |from: Instruction<'c>, inside: bool| {
        let all = from.block().instructions();
        let behind = all
            .iter()
            .position(|&one| one == from)
            .map_or(0, |at| at + 1);
        let mut rest = vec![(from.block(), behind)];
        let mut seen = HashSet::new();
        while let Some((block, from)) = rest.pop() {
            let mut is_over = false;
            for one in block.instructions().into_iter().skip(from) {
                if inside && one == leave {
                    is_over = true;
                    break;
                }
                if !uses.contains(&one) {
                    continue;
                }
                if begins(one) {
                    is_over = true;
                    break;
                }
                if !inside || span.contains(&one) {
                    return true;
                }
            }
            if !is_over {
                let next = block.successors().into_iter();
                rest.extend(next.filter(|one| seen.insert(*one)).map(|one| (one, 0)));
            }
        }
        false
    };
    !is_read(enter, true) && !is_read(leave, false)
}

/// The chain in the copy, as it is in the end.
fn find<'c>(
    copy: &'c Module,
    number: usize,
    chain: &Chain<'c>,
    turns: &[Vec<How>],
) -> Option<Single<'c>> {
    let told = |name: String| Some(marked(copy, &name)?.operand(0));
    let begin = marked(copy, &format!("{number}.begin"))?;
    let values = (0..chain.values.len()).map(|at| told(format!("{number}.value.{at}")));
    let places = iterations(copy, number, chain)?;
    let nests = chain.nests.iter().zip(places).enumerate();
    let nests = nests.map(|(at, (nest, [enter, leave]))| {
        let values =
            (0..nest.values.len()).map(|which| told(format!("{number}.{at}.value.{which}")));
        let loops = (0..nest.loops.len()).map(|level| {
            let name = |what: &str| format!("{number}.{at}.{what}.{level}");
            Some([
                *marked(copy, &name("iteration"))?,
                told(name("first"))?,
                told(name("end"))?,
            ])
        });
        // Those of which something is left are known.
        let turns = turns[at].iter().enumerate().filter_map(|(which, &how)| {
            let name = |what: &str| format!("{number}.{at}.turn.{which}.{what}");
            let first = told(name("first"))?;
            let number = marked(copy, &name("number"))?;
            Some(Turn::of(how, number, first, marked(copy, &name("end"))?))
        });
        Some(Iteration {
            turns: turns.collect(),
            enter,
            leave,
            values: values.collect::<Option<_>>()?,
            loops: loops.collect::<Option<_>>()?,
        })
    });
    // Where pointers that only lead to a variable have gone, its address goes nowhere else.
    let is_ours = |one: &Instruction<'c>| {
        one.as_call()
            .is_some_and(|call| is_ours(&call.callee_name()))
    };
    let is_confined = |variable: Value<'c>| {
        let known = variable
            .as_op(Opcode::LLVMAlloca)
            .map(|one| uses_of(one, is_ours));
        known.is_some_and(|uses| uses.is_some())
    };
    let name = format!("{OURS}{number}.kept.");
    let functions = copy.functions().into_iter();
    let kept = functions.filter(|one| one.name().starts_with(&name));
    let kept = kept
        .flat_map(|one| one.instruction_users())
        .map(|one| one.operand(0));
    let kept = kept.map(|one| (one, is_confined(one)));
    let name = format!("{OURS}{number}.variable.");
    let known = copy.functions().into_iter().filter_map(|one| {
        let at = one.name().strip_prefix(&name)?.parse().ok()?;
        match one.instruction_users()[..] {
            [told] => Some((told.operand(0), at)),
            _ => None,
        }
    });
    Some(Single {
        values: values.collect::<Option<_>>()?,
        begin,
        nests: nests.collect::<Option<_>>()?,
        kept: kept.collect(),
        variables: known.filter(|one| !one.0.is_constant()).collect(),
    })
}

/// Whether control that goes from one place to another one comes through a block.
pub fn always_passes<'c>(enter: Instruction<'c>, leave: Instruction<'c>, block: Block<'c>) -> bool {
    if block == enter.block() || block == leave.block() {
        return true;
    }
    let mut seen = HashSet::from([enter.block(), block]);
    let mut rest = vec![enter.block()];
    while let Some(one) = rest.pop() {
        if one == leave.block() {
            return false;
        }
        let next = one.successors().into_iter();
        rest.extend(next.filter(|one| seen.insert(*one)));
    }
    true
}
