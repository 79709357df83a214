//! Regions whose threads share several loops, or do more than share one: the host runs them as a team of one thread, which
//! begins a region of its own for each loop.
//!
//! OpenMP leaves open how many threads a team has. So what stands between the loops, time loops and `single` among it, is
//! run once, in its order, and each loop becomes a region whose threads share it and do nothing else: the kernels of these
//! are made as those of any other region ([`super::range`]). All of that is put in front of the region, which stays what
//! it is for where no device is.
//!
//! Guarantee: a loop reads of variables that each thread has for itself what the team of one has left there, and leaves
//! nothing in them that is read behind it. All that it finds is the same whichever thread finds it out, and however many there
//! are ([`told`]). What may wait for other threads, or counts on a number of them, is declined. On ranks rank 0 runs what stands between the loops, as serial code: it
//! asks nothing that is another in a region of one thread.

mod found;
mod told;

use std::collections::HashSet;

use okl_abi::{Effects, f, openmp};

use super::compile;
use super::flow::next_of;
use super::range::{self, Why, why};
use super::target::GpuTarget;
use crate::analysis::call_graph::{CallGraph, calls_itself, reached};
use crate::analysis::runtime::{self, ASKS, effects};
use crate::analysis::waiting;
use crate::ir::{Part, Region, Step, Team};
use crate::llvm::{
    Block, Builder, Call, Function, Global, Instruction, Linkage, Machine, Module, Opcode,
    OwnModule, Passes, Silence, Value,
};
use crate::lower::runtime_call::{declare, declare_openmp};
use crate::recognise;
use found::{NOT_THE_SAME, Piece, Same, end_of, find};

/// Why regions are none of these, by the names of their bodies.
pub type Whys = Vec<(String, Why)>;

/// Puts in front of regions what a team of one does, where all of their loops can go to a device. True where the module was
/// changed; and why others cannot.
pub fn prepare<'m>(
    module: &'m Module,
    regions: &[Region<'m>],
    targets: &[&'static GpuTarget],
    on_ranks: bool,
) -> (bool, Whys) {
    let mut whys = Whys::new();
    let asked = regions.iter().filter(|one| is_one(one));
    let asked: Vec<_> = asked.map(|one| one.body.name()).collect();
    if asked.is_empty() {
        return (false, whys);
    }
    let mut good = Vec::new();
    {
        let _nobody_is_told = Silence::begin(module);
        let mut probes = Vec::new();
        let mut rehearsed = OwnModule::copy_with_lines(module);
        for body in asked {
            // In a probe nothing unwinds. One kind of device that has kernels of all loops is enough: where another one does
            // not, none of them runs there.
            let Some(tried) = on_any(module, targets, &mut probes, &body, on_ranks) else {
                return (false, whys);
            };
            let tried = tried.and_then(|()| {
                cut(&rehearsed, &body, on_ranks).map(drop).inspect_err(|_| {
                    rehearsed = OwnModule::copy_with_lines(module);
                    cut_all(&rehearsed, &good, on_ranks);
                })
            });
            match tried {
                Ok(()) => good.push(body),
                Err(told) => whys.push((body, told)),
            }
        }
    }
    cut_all(module, &good, on_ranks);
    (!good.is_empty(), whys)
}

/// Tries a region out for one kind of device after the other; why the first cannot run all of its loops where none can. `None`:
/// LLVM knows none of them. The copies that are made for that are kept.
fn on_any(
    module: &Module,
    targets: &[&'static GpuTarget],
    probes: &mut Vec<(&'static GpuTarget, OwnModule)>,
    body: &str,
    on_ranks: bool,
) -> Option<Result<(), Why>> {
    let mut told = None;
    for target in targets.iter().copied() {
        let known = probes.iter().position(|(of, _)| std::ptr::eq(*of, target));
        let at = match (known, Machine::of(&target.processor)) {
            (Some(at), _) => at,
            (None, Some(machine)) => {
                probes.push((target, compile::copy(module, &machine)));
                probes.len() - 1
            }
            (None, None) => continue,
        };
        match try_out(&probes[at].1, body, target, on_ranks) {
            Ok(()) => return Some(Ok(())),
            Err(why) => told = told.or(Some(Err(why))),
        }
    }
    told
}

/// Cuts regions in a module, as it was possible in a copy.
fn cut_all(module: &Module, bodies: &[String], on_ranks: bool) {
    for body in bodies {
        assert!(cut(module, body, on_ranks).is_ok(), "the copy could be cut");
    }
}

/// Whether a region is looked at here: its threads share several loops, or one and do more than that.
fn is_one(region: &Region<'_>) -> bool {
    let is_plain = |step: &Step<'_>| {
        let is_one = |part: &Part<'_>| matches!(part, Part::One(..));
        step.unknown.is_none() && !step.parts.iter().any(is_one)
    };
    let is_plain = region
        .straight()
        .is_some_and(|steps| steps.iter().all(is_plain));
    let count = region.loops().count();
    region.team == Team::Threads
        && !range::is_done(region)
        && (count > 1 || count == 1 && !is_plain)
}

/// Cuts a region in a copy of its module, and makes kernels of its loops.
fn try_out(
    probe: &Module,
    body: &str,
    target: &'static GpuTarget,
    on_ranks: bool,
) -> Result<(), Why> {
    let names = cut(probe, body, on_ranks)?;
    let found = recognise::recognise(probe);
    let mut candidates = Vec::new();
    for name in &names {
        let mut regions = found.regions.iter();
        match regions.find(|one| one.body.name() == *name) {
            Some(region) => candidates.push(range::Candidate::of(probe, region, on_ranks)?),
            None => return why(None, "its copy is not what it was"),
        }
    }
    for (which, one) in candidates.iter().enumerate() {
        range::outline(probe, one, which, target)?;
    }
    Ok(())
}

/// Puts in front of the region with this body what a team of one does. The bodies of the regions that are its loops are
/// returned.
fn cut(module: &Module, body: &str, on_ranks: bool) -> Result<Vec<String>, Why> {
    let found = recognise::recognise(module);
    let mut regions = found.regions.iter().filter(|one| one.body.name() == body);
    let (Some(region), None) = (regions.next(), regions.next()) else {
        return why(None, "several constructs have one body");
    };
    check(module, region, on_ranks)?;
    let team = region.body.copy();
    team.remove_unreachable_blocks();
    bring_in(team)?;
    end_apart(team);
    begin_anew(module, team);
    Passes::over(team).run("sroa<modify-cfg>,adce");
    team.remove_unreachable_blocks();
    let calls = team.instructions().into_iter();
    let sites: Vec<_> = calls
        .filter_map(|one| one.as_call())
        .filter(|one| shares(*one))
        .collect();
    let pieces = sites.iter().map(|site| {
        let (piece, _) = find(module, *site, end_of(*site)?)?;
        Ok(piece)
    });
    let pieces = pieces.collect::<Result<Vec<_>, Why>>()?;
    let told = told::told(module, region, team, &pieces)?;
    let same = Same::of(team, &pieces, told);
    let mut names = Vec::new();
    for site in &sites {
        names.push(cut_out(module, region, team, *site, &same)?);
    }
    if names.is_empty() {
        return why(None, "its threads share no loop");
    }
    put_in_front(module, region, team, &names, on_ranks)?;
    range::mark(module, region.body);
    Ok(names)
}

/// Whether a call asks for a thread's share of a loop.
fn shares(call: Call<'_>) -> bool {
    runtime::function(call).is_some_and(|one| one.begins_share())
        || effects(call).has(Effects::DEALS)
}

/// Instructions of what a team of one runs, at most.
const MOST_INSTRUCTIONS: usize = 1 << 16;

/// Puts functions in which threads share loops in place of their calls.
fn bring_in(team: Function<'_>) -> Result<(), Why> {
    let has_loop = |call: &Call<'_>| {
        let callee = call.callee_function();
        callee
            .filter(|one| !one.is_declaration())
            .is_some_and(|one| {
                let reached = reached(one).into_iter();
                let mut code = reached.flat_map(|one| one.instructions());
                code.any(|at| at.as_call().is_some_and(shares))
            })
    };
    loop {
        let code = team.instructions();
        let mut calls = code.iter().filter_map(|one| one.as_call());
        let Some(call) = calls.find(has_loop) else {
            return Ok(());
        };
        let at = call.instruction();
        let is_known = call
            .callee_function()
            .is_some_and(|one| !one.is_interposable());
        let is_too_much =
            code.len() > MOST_INSTRUCTIONS || call.callee_function().is_some_and(calls_itself);
        if is_too_much || !is_known || !call.inline() {
            return why(
                Some(at),
                "it calls a function in which threads share a loop",
            );
        }
    }
}

/// Has each call that may throw end the program at a place of its own: that of a loop's calls belongs to the loop.
fn end_apart(team: Function<'_>) {
    for block in team.blocks() {
        let code = block.instructions();
        let ends = code[0].opcode() == Opcode::LLVMLandingPad
            && code.last().map(|one| one.opcode()) == Some(Opcode::LLVMUnreachable);
        if !ends {
            continue;
        }
        for from in block.predecessors().into_iter().skip(1) {
            let throws = from.terminator().expect("a complete block");
            let operands = throws.operands().into_iter();
            let mut operands = operands.enumerate();
            let unwinds = operands.find(|(_, operand)| *operand == block.label());
            let (at, _) = unwinds.expect("it goes there");
            throws.set_operand(at, Block::copies(&[block])[0].label());
        }
    }
}

/// Bytes of variables, at most, that values stand for.
const MOST_BYTES: u64 = 64;

/// Gives small variables a value where their scope begins: what they had there before nothing reads.
fn begin_anew<'m>(module: &'m Module, team: Function<'m>) {
    for at in team.instructions() {
        let begins = at
            .as_call()
            .filter(|call| call.callee_name().starts_with("llvm.lifetime.start"));
        let variable = begins.and_then(|call| call.arguments().last()?.as_op(Opcode::LLVMAlloca));
        let Some(variable) = variable else { continue };
        let ty = variable.allocated_type();
        let is_single = variable.operand(0).as_constant_int() == Some(1);
        if let Some(ty) = ty.filter(|ty| is_single && module.size_of(*ty) <= MOST_BYTES) {
            Builder::before(module, next_of(at)).store(ty.zero(), *variable);
        }
    }
}

/// Checks that the team of a region may have one thread.
fn check<'m>(module: &'m Module, region: &Region<'m>, on_ranks: bool) -> Result<(), Why> {
    if region.site.instruction().opcode() != Opcode::LLVMCall {
        return why(None, "an exception may leave it");
    }
    let parameters = region.body.parameters();
    let captures = region.captures.iter().map(|one| one.value.ty());
    let passed = parameters.iter().skip(Region::LEADING).map(|one| one.ty());
    if !captures.eq(passed) {
        return why(None, "its values are not passed one by one");
    }
    let graph = CallGraph::of(module);
    let callees = waiting::Callees::new(&graph);
    let reached = graph.reachable(region.body);
    for function in reached.iter().filter(|one| !one.is_declaration()) {
        if let Some(waits) = waiting::find(*function, &callees).first() {
            return why(Some(waits.at), "it waits for other threads");
        }
    }
    let asks = |one: &Instruction<'m>| {
        one.as_call()
            .is_some_and(|call| tells_of_team(&call.callee_name()))
    };
    let mut code = reached.iter().flat_map(|one| one.instructions());
    if let Some(at) = code.find(asks).filter(|_| on_ranks) {
        return why(
            Some(at),
            "it may find out, or change, in which region it is",
        );
    }
    let block = region.site.instruction().block();
    let code = block.instructions().into_iter();
    let mut calls = code.filter_map(|one| one.as_call());
    if calls.any(|one| one.callee_name() == "__kmpc_push_num_threads") {
        let numbers = reached.iter().flat_map(|one| one.instructions());
        let mut numbers = numbers.filter(|one| {
            one.as_call()
                .is_some_and(|call| call.callee_name() == "omp_get_thread_num")
        });
        if let Some(at) = numbers.next() {
            let told = "it may count on threads of all numbers that it asks for";
            return why(Some(at), told);
        }
    }
    Ok(())
}

/// Whether one of OpenMP's functions may give something else in serial code than in a region of one thread, or changes what
/// ends with the region.
fn tells_of_team(name: &str) -> bool {
    const SAME: [&str; 6] = [
        "omp_get_thread_num",
        "omp_get_num_threads",
        "omp_get_num_procs",
        "omp_in_parallel",
        "omp_get_wtime",
        "omp_get_wtick",
    ];
    name.starts_with("omp_") && !name.ends_with("_lock") && !SAME.contains(&name)
}

/// Makes a loop a region of its own, in the place of which the team of one begins that. Its body's name is returned.
fn cut_out<'m>(
    module: &'m Module,
    region: &Region<'m>,
    team: Function<'m>,
    site: Call<'m>,
    same: &Same<'m>,
) -> Result<String, Why> {
    let end = end_of(site)?;
    let (piece, used) = find(module, site, end)?;
    let Piece {
        first,
        behind,
        all: ref piece_all,
    } = piece;
    let front = |value: Value<'m>| {
        let at = value.as_instruction();
        at.is_some_and(|one| !piece.has(one))
    };
    // What it leaves, and what it finds.
    let mut found = Vec::new();
    for one in &piece.all {
        let users = one.instruction_users();
        if let Some(user) = users.iter().find(|user| !piece.has(**user)) {
            let told = "a thread keeps for itself what its iterations leave";
            return why(Some(*user), told);
        }
        for operand in one.operands() {
            if front(operand)
                && operand.as_op(Opcode::LLVMAlloca).is_none()
                && !found.contains(&operand)
            {
                found.push(operand);
            }
        }
    }
    // Sorted as they stand: sets have no order.
    let order = team.instructions();
    let position = |value: &Value<'m>| order.iter().position(|one| **one == *value);
    found.sort_by_key(position);
    let mut own = Vec::new();
    let mut used: Vec<_> = used.into_iter().collect();
    used.sort_by_key(|one| position(&one.variable));
    if let Some(value) = found.iter().find(|value| !same.has(**value)) {
        return why(value.as_instruction(), NOT_THE_SAME);
    }
    for one in used {
        if let Some(at) = same.differs_in(&one, piece_all) {
            return why(Some(at), NOT_THE_SAME);
        }
        let is_inside = |all: &HashSet<Instruction<'m>>| all.iter().any(|at| piece.has(*at));
        if !is_inside(&one.writes) {
            continue;
        }
        let is_list = one.variable.instruction_users().iter().any(|user| {
            user.as_call()
                .is_some_and(|call| effects(call).has(Effects::REDUCES))
        });
        if let Some(at) = one.read_behind(behind).filter(|_| !is_list) {
            let told = "a thread keeps for itself what its iterations leave";
            return why(Some(at), told);
        }
        let all = one.reads.iter().chain(&one.writes);
        let has_value = all.clone().any(|at| !piece.has(*at));
        let ty = one.variable.allocated_type();
        let is_single = one.variable.operand(0).as_constant_int() == Some(1);
        let (Some(ty), true) = (ty, is_single) else {
            let told = "its threads have arrays of their own whose sizes are computed";
            return why(Some(first), told);
        };
        let leads = found
            .iter()
            .any(|value| value.ty().is_pointer() && value.underlying_object() == *one.variable);
        if leads {
            return why(
                Some(first),
                "what its threads have of their own is reached by pointers",
            );
        }
        own.push((one.variable, ty, has_value && !is_list));
    }

    // Its own copies, and numbers in the form in which they are passed.
    let rest = match behind.block().instructions()[0] == behind {
        true => behind.block(),
        false => behind.split_before(),
    };
    let start = first.split_before();
    let [before] = start.predecessors()[..] else {
        unreachable!("it was split");
    };
    let before = before.terminator().expect("a complete block");
    let outside = Builder::before(module, before);
    let inside = Builder::before(module, first);
    let parameters = team.parameters();
    let replace = |old: Value<'m>, new: Value<'m>| {
        for one in &piece.all {
            for (at, operand) in one.operands().into_iter().enumerate() {
                if operand == old {
                    one.set_operand(at, new);
                }
            }
        }
    };
    // So these two are its first parameters.
    let thread = inside.load(module.int(32), parameters[0]);
    inside.load(module.int(32), parameters[1]);
    for (variable, ty, has_value) in own {
        let align = variable.stack_alignment();
        let copy = inside.alloca(ty, align);
        replace(*variable, copy);
        if has_value {
            inside.copy_aligned(copy, *variable, module.size_of(ty) as i64, align);
        }
    }
    for value in found {
        let ty = value.ty();
        if value.as_instruction().is_some_and(is_thread_number) {
            replace(value, thread);
        } else if !ty.is_pointer() && ty != module.int(64) {
            let bits = match ty.is_floating() {
                true => Some(module.size_of(ty) as u32 * 8),
                false => ty.bits(),
            };
            let Some(bits) = bits.filter(|bits| *bits <= 64) else {
                return why(Some(first), "its loop gets a value that cannot be passed");
            };
            let number = match ty.is_floating() {
                true => outside.cast(Opcode::LLVMBitCast, value, module.int(bits)),
                false => value,
            };
            let passed = match bits == 64 {
                true => number,
                false => outside.cast(Opcode::LLVMZExt, number, module.int(64)),
            };
            let number = match bits == 64 {
                true => passed,
                false => inside.cast(Opcode::LLVMTrunc, passed, module.int(bits)),
            };
            let own = match ty.is_floating() {
                true => inside.cast(Opcode::LLVMBitCast, number, ty),
                false => number,
            };
            replace(value, own);
        }
    }
    let mut blocks = vec![start];
    let mut at = 0;
    while at < blocks.len() {
        for next in blocks[at].successors() {
            if next != rest && !blocks.contains(&next) {
                blocks.push(next);
            }
        }
        at += 1;
    }
    let Some(body) = Block::extract(&blocks, "loop") else {
        return why(Some(first), "LLVM cannot make a function of its loop");
    };
    let call = body.users().first().and_then(|user| user.as_call());
    let call = call.expect("it is called once");
    let arguments = call.arguments();
    let leading = &parameters[..Region::LEADING];
    let is_passed = |one: &Value<'m>| one.ty().is_pointer() || one.ty() == module.int(64);
    if arguments.get(..Region::LEADING) != Some(leading)
        || !arguments.iter().all(is_passed)
        || arguments[Region::LEADING..]
            .iter()
            .any(|one| leading.contains(one))
        || !call.instruction().ty().is_void()
    {
        return why(Some(first), "LLVM makes something else of its loop");
    }
    for (index, one) in arguments.iter().enumerate().skip(Region::LEADING) {
        let variable = one.as_op(Opcode::LLVMAlloca);
        let variable = variable.filter(|one| one.operand(0).as_constant_int() == Some(1));
        let bytes = match variable.and_then(|one| one.allocated_type()) {
            Some(ty) => module.size_of(ty),
            None => one.dereferenceable_bytes(),
        };
        if bytes > 0 {
            body.set_dereferenceable(module, index, bytes);
        }
    }
    let captures = &arguments[Region::LEADING..];
    let builder = Builder::before(module, call.instruction());
    builder.stand_at(site_line(&body, call));
    let source = region.site.arguments()[0];
    let count = module.const_i32(captures.len() as i32);
    let passed = [source, count, *body];
    let passed: Vec<_> = passed.into_iter().chain(captures.iter().copied()).collect();
    builder.call(
        declare_openmp(module, &openmp::f::__kmpc_fork_call),
        &passed,
    );
    call.instruction().erase();
    Ok(body.name())
}

/// Puts what a team of one does in front of the call that begins a region.
fn put_in_front<'m>(
    module: &'m Module,
    region: &Region<'m>,
    team: Function<'m>,
    loops: &[String],
    on_ranks: bool,
) -> Result<(), Why> {
    let site = region.site;
    let at = site.instruction();
    let function = at.function();
    let [front, threads, behind] = range::around(site);
    front.terminator().expect("a complete block").erase();
    let builder = Builder::at_end_like(module, front, at);
    let runs = loops.iter().map(|name| {
        let asks = module.add_function(
            &format!("{ASKS}{name}"),
            module.function_type(module.int(32), &[]),
            Linkage::LLVMExternalLinkage,
        );
        let runs = builder.call(asks, &[]);
        builder.compare(runs, module.const_i32(0), true)
    });
    let all = runs.reduce(|all, one| builder.and(all, one));
    let mut all = all.expect("there are some");
    if let Some(condition) = region.condition {
        all = builder.and(all, builder.compare(condition, condition.ty().zero(), true));
    }
    all = builder.and(all, range::is_alone_now(&builder));
    let alone = function.append_block(module);
    builder.go_if(all, alone, threads);
    let builder = Builder::at_end_like(module, alone, at);
    let entry = Builder::at_entry(module, function);
    let [number, bound] = [(); 2].map(|()| entry.alloca(module.int(32), 4));
    let source = site.arguments()[0];
    let thread = builder.call(
        declare_openmp(module, &f::okl_mpi_kmpc_global_thread_num),
        &[source],
    );
    let begins = declare_openmp(module, &f::okl_mpi_kmpc_serialized_parallel);
    let ends = declare_openmp(module, &f::okl_mpi_kmpc_end_serialized_parallel);
    // To the run time for ranks no region of several ranks is in another one: what stands between the loops is serial code.
    if !on_ranks {
        builder.call(begins, &[source, thread]);
    }
    builder.store(thread, number);
    builder.store(module.const_i32(0), bound);
    let captures = region.captures.iter().map(|one| one.value);
    let passed: Vec<_> = [number, bound].into_iter().chain(captures).collect();
    let runs = builder.call(team, &passed).as_call().expect("a call");
    if !on_ranks {
        builder.call(ends, &[source, thread]);
    }
    builder.go(behind);
    if !runs.inline() {
        return why(None, "LLVM cannot make a part of its function of it");
    }
    team.erase();
    Ok(())
}

/// The first line of a loop, in front of which nothing of it is.
fn site_line<'m>(body: &Function<'m>, call: Call<'m>) -> Instruction<'m> {
    let calls = body.instructions().into_iter();
    let mut calls = calls.filter(|one| one.as_call().is_some_and(|call| shares(call)));
    calls.next().unwrap_or(call.instruction())
}

/// Whether a value is the number of a thread.
fn is_thread_number(one: Instruction<'_>) -> bool {
    if one
        .as_call()
        .is_some_and(|call| call.callee_name() == "__kmpc_global_thread_num")
    {
        return true;
    }
    one.opcode() == Opcode::LLVMLoad && one.operand(0).as_parameter().is_some_and(|(_, at)| at == 0)
}

/// Has what asks whether kernels run there ask the run time: of these kernels, by the names of their regions' bodies.
pub fn finish<'m>(module: &'m Module, kernels: &[(String, Global<'m>)], has_cpu: bool) {
    for function in module.functions() {
        let name = function.name();
        let Some(name) = name.strip_prefix(ASKS) else {
            continue;
        };
        let kernel = kernels.iter().find(|(known, _)| known == name);
        for user in function.users() {
            let at = user.as_instruction().expect("a call");
            let answer = match kernel {
                Some((_, record)) => {
                    let builder = Builder::before(module, at);
                    let may = module.const_i32(i32::from(has_cpu));
                    let asks = declare(module, &okl_abi::gpu::f::okl_gpu_runs_v5);
                    builder.call(asks, &[**record, may])
                }
                None => module.const_i32(0),
            };
            user.replace_all_uses_with(answer);
            at.erase();
        }
        function.erase();
    }
}
