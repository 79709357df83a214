//! Targets of the user's plug-ins: a loop that OpenMP's threads share becomes two functions, of which one says how many
//! iterations there are, and the other runs those from one number up to another one. The plug-in builds what has the iterations
//! run, in front of the call that begins the region, which is gone then.
//!
//! Loops of OKL's blocks, of loop chains, and those that plug-ins state are such regions when they come here.
//!
//! Guarantee: what is handed over runs the same on any threads and in any parts, as far as can be seen in the file; all else stays
//! with OpenMP's threads, and why is a remark at its line.

use okl_abi::Effects;

use crate::analysis::call_graph::{CallGraph, reached};
use crate::analysis::library::{self, Effect, is_mathematics};
use crate::analysis::runtime::{self, effects};
use crate::analysis::waiting;
use crate::diagnostic::{Declined, Site, report};
use crate::ir::{Origin, Region, Schedule, Team};
use crate::llvm::{
    Builder, Call, Code, Comparison, Function, Handed, Instruction, IntPredicate, Linkage, Module,
    Opcode, Severity, Type, UserTarget, Value, Watched, demangle,
};
use crate::lower::gpu::flow::{Goes, comes_to, search};
use crate::lower::gpu::range::{Why, is_end, is_last_barrier, only_loop, outside_is_private, why};
use crate::lower::gpu::stands_at;
use crate::lower::mpi::forwarder::TARGET;
use crate::lower::stated;
use crate::recognise::{Found, openmp};

/// A region that is handed over.
struct Shared<'m> {
    origin: Origin,
    site: Call<'m>,
    body: Function<'m>,
    /// How many values the body gets.
    captured: usize,
    /// The site and the body.
    there: [Watched<'m>; 2],
}

/// What a target does with a loop.
enum Answer {
    /// It runs it.
    Taken,
    /// It does not, for a reason of its own.
    Left(String),
    /// What is wrong with it.
    Wrong(&'static str),
}

/// Hands the loops of a module to a target. True where the module was changed.
pub fn run(module: &Module, target: &UserTarget, strict: bool) -> bool {
    take_in(module);
    let mut found = Found::default();
    openmp::recognise(module, &mut found);
    found.verify();
    let mut declined = found.refused;
    let mut shared = Vec::new();
    {
        let graph = CallGraph::of(module);
        for region in &found.regions {
            match check(module, region, &graph) {
                Ok(one) => shared.push(one),
                Err(Why { why, place }) => {
                    let at = place.and_then(|place| stands_at(module, region, &place));
                    let at = at.unwrap_or(region.site.instruction());
                    declined.push(stays(region.origin, at, &target.name, &why));
                }
            }
        }
    }
    // Before anything is erased that it is about.
    tell(module, &declined, strict);
    if strict && !declined.is_empty() {
        return false;
    }
    let mut changed = false;
    for one in &shared {
        let at = one.site.instruction();
        // Before it is looked at.
        let answer = match one.there.iter().all(Watched::is_there) {
            true => hand_over(module, target, one),
            false => Answer::Wrong("it has erased a part of a loop that it was not asked about"),
        };
        match answer {
            Answer::Taken => changed = true,
            Answer::Left(why) => {
                tell(module, &[stays(one.origin, at, &target.name, &why)], strict);
            }
            Answer::Wrong(why) => {
                let message = format!("target {}: {why}", target.name);
                module.diagnose(None, None, &message, Severity::Error);
                let sites = shared.iter().map(|one| &one.there[0]);
                sites.for_each(Watched::erase_if_apart);
                module.delete_bodies();
                return true;
            }
        }
    }
    if let Err(why) = stated::left(module) {
        let message = format!("target {}: {why}", target.name);
        module.diagnose(None, None, &message, Severity::Error);
        return true;
    }
    changed
}

/// What the name of a function has in it that clang, with debug information, has a body of a region call, and do nothing else.
const OWN: &str = "omp_outlined_debug__";

/// Has bodies of regions be one function each.
fn take_in(module: &Module) {
    let functions = module.functions();
    for function in &functions {
        for call in calls(*function) {
            if call.callee_name().contains(OWN) && call.may_be_inlined() {
                call.inline();
            }
        }
    }
    for function in functions {
        if function.name().contains(OWN) && function.is_unused() && function.is_local() {
            function.erase();
        }
    }
}

/// What is said of a loop that is not handed over.
pub fn stays<'m>(origin: Origin, at: Instruction<'m>, target: &str, why: &str) -> Declined<'m> {
    Declined {
        site: Site::Instruction(at),
        reason: format!("{origin} does not go to target {target}: {why}"),
    }
}

fn tell(module: &Module, declined: &[Declined<'_>], strict: bool) {
    for one in declined {
        if strict {
            report(module, one, Severity::Error);
        }
        if let Site::Instruction(at) = one.site {
            at.remark("Declined", &one.reason, true);
        }
    }
}

/// Whether any threads can run the iterations of a region, in any parts.
fn check<'m>(
    module: &'m Module,
    region: &Region<'m>,
    graph: &CallGraph<'m>,
) -> Result<Shared<'m>, Why> {
    let (site, body) = (region.site, region.body);
    if region.team != Team::Threads {
        return why(None, "its threads are those of several teams");
    }
    if site.instruction().opcode() != Opcode::LLVMCall {
        return why(None, "an exception may leave it");
    }
    if region.condition.is_some() || asks_for_threads(site) {
        return why(
            None,
            "how many threads it has, or where, is said in the program",
        );
    }
    let captures: Vec<_> = region.captures.iter().map(|one| one.value).collect();
    let parameters = body.parameters();
    let given = parameters.iter().skip(Region::LEADING);
    let fits = |(one, parameter): (&Value<'m>, &Value<'m>)| {
        one.ty() == parameter.ty() && module.size_of(one.ty()) <= WORD as u64
    };
    if !captures.iter().zip(given).all(fits) {
        return why(None, "it gets values of other types than its code has");
    }
    if calls(body)
        .iter()
        .any(|one| one.callee_name().contains(OWN))
    {
        return why(None, APART);
    }
    can_run_anywhere(body)?;
    let (one, spans) = only_loop(region)?;
    let at = one.site.instruction();
    if !runtime::function(one.site).is_some_and(|one| one.begins_share())
        || one.schedule != Schedule::Static
    {
        return why(Some(at), NO_SCHEDULE);
    }
    if one.ordered != Some(false) {
        return why(Some(at), "its iterations may have an ordered part");
    }
    let increment = runtime::argument(one.site, "increment");
    if increment.and_then(Value::as_constant_int) != Some(1) {
        return why(Some(at), "its iterations are not numbered one by one");
    }
    if comes_to(at, at, None) {
        return why(Some(at), "its threads come to the loop several times");
    }
    let all = calls(body).into_iter();
    let mut meets = all.filter(|call| effects(*call).has(Effects::BARRIER));
    if let Some(early) = meets.find(|call| comes_to(call.instruction(), at, None)) {
        let told = "its threads meet in front of the loop";
        return why(Some(early.instruction()), told);
    }
    let ends = body.instructions().into_iter();
    let ends: Vec<_> = ends.filter(|at| is_end(*at, one.site)).collect();
    let is_behind = |at| ends.iter().any(|end| comes_to(*end, at, None));
    outside_is_private(&Code::open(body), one, spans, &is_behind)?;
    if let Some(waits) = waiting::find(body, &waiting::Callees::new(graph)).first() {
        return why(Some(waits.at), WAITS);
    }
    Ok(Shared {
        origin: region.origin,
        site,
        body,
        captured: captures.len(),
        there: [*site, *body].map(|one| Watched::of(module, one)),
    })
}

/// See [`take_in`].
const APART: &str = "with debug information (-g) its code is a function apart, and LLVM does not inline that, as it calls setjmp or the like";

const WAITS: &str = "it may wait for other iterations";

/// Chunks are dealt out to threads, of which a target has its own.
const NO_SCHEDULE: &str = "its schedule is not a static one without chunks";

fn calls(function: Function<'_>) -> Vec<Call<'_>> {
    let code = function.instructions().into_iter();
    code.filter_map(|one| one.as_call()).collect()
}

/// Whether something in front of a region is for its threads.
fn asks_for_threads(site: Call<'_>) -> bool {
    let at = site.instruction();
    // The region that it is for comes next; on one thread alone where an `if` says so.
    let begins = |call: Call<'_>| {
        effects(call).has(Effects::FORKS_BODY) || call.callee_name() == "__kmpc_serialized_parallel"
    };
    calls(at.function()).into_iter().any(|one| {
        let is_asking = one.callee_name().starts_with("__kmpc_push_");
        let comes_next = || {
            search(one.instruction(), |next| match next == at {
                true => Goes::Found,
                false if next.as_call().is_some_and(begins) => Goes::NoFurther,
                false => Goes::On,
            })
        };
        is_asking && comes_next().is_some()
    })
}

/// Whether nothing that a body runs asks OpenMP for anything, or has what is its thread's own.
fn can_run_anywhere(body: Function<'_>) -> Result<(), Why> {
    for function in reached(body) {
        for at in function.instructions() {
            let mut operands = at.operands().into_iter();
            let is_own = |one: Value<'_>| one.as_global().is_some_and(|one| one.is_thread_local());
            if operands.any(is_own) {
                return why(
                    Some(at),
                    "it uses a variable of which each thread has its own",
                );
            }
            let accesses = [
                Opcode::LLVMLoad,
                Opcode::LLVMAtomicRMW,
                Opcode::LLVMAtomicCmpXchg,
                Opcode::LLVMFence,
            ];
            // One that sees what others have published may be asked until there is something.
            if accesses.contains(&at.opcode()) && at.releases_and_acquires().1 {
                return why(Some(at), WAITS);
            }
            let Some(call) = at.as_call() else { continue };
            if function == body && is_replaced(call) || call.callee().as_inline_assembly().is_some()
            {
                continue;
            }
            let Some(callee) = call.callee_function() else {
                return why(Some(at), "it calls what the compiler does not know");
            };
            let name = callee.name();
            if effects(call).has(Effects::REDUCES) {
                return why(Some(at), "its threads combine values");
            }
            if effects(call).has(Effects::DEALS) {
                return why(Some(at), NO_SCHEDULE);
            }
            if runtime::is_of_runtime(&name) {
                let told = format!("it calls {name}, which is for OpenMP's threads");
                return why(Some(at), &told);
            }
            let is_outside = callee.is_declaration() && !callee.is_intrinsic();
            if is_outside && (library::asks_for_thread(call) || !is_known(&name)) {
                let does = match library::known(&name) {
                    Some(_) => "may wait, or asks for what is its thread's or its process's",
                    None => "is not known here and may ask for its thread's number",
                };
                let told = format!("it calls {}, which {does}", demangle(&name));
                return why(Some(at), &told);
            }
        }
    }
    Ok(())
}

/// Whether a function of a library does the same on any thread.
fn is_known(name: &str) -> bool {
    let known = library::known(name).map(|one| one.effect);
    let stays = |effect| {
        matches!(
            effect,
            Effect::None | Effect::HiddenState | Effect::Stream(_)
        )
    };
    is_mathematics(name) || known.is_some_and(stays)
}

/// Whether a call in a body is one that something else takes the place of.
fn is_replaced(call: Call<'_>) -> bool {
    let does = effects(call);
    runtime::function(call).is_some_and(|one| one.begins_share())
        || does.has(Effects::ENDS_SHARE)
        || is_number(call)
        || is_last_barrier(call)
}

/// Whether a call asks what the run time calls its thread.
fn is_number(call: Call<'_>) -> bool {
    call.callee_name() == "__kmpc_global_thread_num"
}

/// Bytes of what is passed.
const WORD: i64 = 8;
/// What a body has in the place of its thread's second number: the first iteration that it runs, the one behind the last, and how
/// many there are.
const NUMBERS: [i64; 3] = [0, WORD, 2 * WORD];

/// Has a target run a region: what it needs for that is gone again if it does not.
fn hand_over<'m>(module: &'m Module, target: &UserTarget, one: &Shared<'m>) -> Answer {
    let counts = counting(module, one.body);
    let chunk = of_part(module, one.body);
    let captures = one.site.arguments();
    let captures = &captures[captures.len() - one.captured..];
    let types: Vec<_> = captures.iter().map(|one| one.ty()).collect();
    let begin = beginning(module, one.body, counts, &types);
    let part = part(module, one.body, chunk, &types);

    let site = one.site.instruction();
    let room = module.array(module.int(64), 1 + types.len() as u64);
    let data = Builder::at_entry(module, site.function()).alloca(room, WORD as u32);
    let builder = Builder::before(module, site);
    builder.stand_at(site);
    let given: Vec<_> = [data].into_iter().chain(captures.iter().copied()).collect();
    let count = builder.call(begin, &given);

    let own = [begin, part, counts, chunk].map(|one| *one);
    let handed = own.into_iter().chain([count, data]);
    let handed: Vec<_> = handed.map(|one| Watched::of(module, one)).collect();
    let answer = target.parallel_for(Handed {
        before: site,
        count,
        body: part,
        data,
    });
    let [site_is_there, body_is_there] = one.there.each_ref().map(Watched::is_there);
    if !site_is_there || body_is_there && !one.body.instruction_users().contains(&site) {
        return Answer::Wrong("it has erased the instruction in front of which it builds");
    }
    if !body_is_there || !handed.iter().all(Watched::is_there) {
        return Answer::Wrong("it has erased what it was handed of a loop");
    }
    match answer {
        Ok(()) if part.is_unused() => Answer::Wrong("it takes a loop, and does not use its body"),
        Ok(()) => {
            let told = format!("{} goes to target {}", one.origin, target.name);
            site.remark("Threads", &told, false);
            site.erase();
            if one.body.is_unused() && one.body.is_local() {
                one.body.erase();
            }
            Answer::Taken
        }
        Err(why) => {
            if !part.is_unused() || !count.is_unused() || data.users().len() != 1 {
                return Answer::Wrong("it has built something for a loop that it does not take");
            }
            for own in [count, data] {
                own.as_instruction().expect("it was built").erase();
            }
            [begin, part, counts, chunk]
                .into_iter()
                .for_each(Function::erase);
            Answer::Left(why)
        }
    }
}

/// The call in a copy of a body that asks for a thread's share.
fn deals(copy: Function<'_>) -> Call<'_> {
    let mut all = calls(copy).into_iter();
    let found = all.find(|one| runtime::function(*one).is_some_and(|one| one.begins_share()));
    found.expect("its loop has it")
}

fn argument<'m>(call: Call<'m>, name: &str) -> Value<'m> {
    runtime::argument(call, name).expect("its line has it")
}

/// Where a copy of a body has a number.
fn number<'m>(builder: &Builder<'m>, copy: Function<'m>, at: usize) -> Value<'m> {
    builder.offset(copy.parameters()[1], NUMBERS[at])
}

/// A copy of a body that says how many iterations there are, where it comes to the loop, and runs none.
fn counting<'m>(module: &'m Module, body: Function<'m>) -> Function<'m> {
    let copy = body.copy();
    let site = deals(copy);
    let at = site.instruction();
    let long = module.int(64);
    let ty = argument(site, "chunk").ty();
    let signed = !effects(site).has(Effects::UNSIGNED);
    let builder = Builder::before(module, at);
    let [lower, upper] = ["lower", "upper"].map(|name| builder.load(ty, argument(site, name)));
    let count = builder.plus(builder.difference(upper, lower), 1);
    let count = match signed {
        true => {
            let none = Comparison::Integer(IntPredicate::LLVMIntSLT);
            builder.select(builder.ask(none, upper, lower), ty.zero(), count)
        }
        false => count,
    };
    let count = match ty == long {
        true => count,
        false => builder.cast(Opcode::LLVMZExt, count, long),
    };
    builder.store(count, number(&builder, copy, 2));
    let rest = at.split_before();
    let front = rest.predecessors()[0];
    front.terminator().expect("a complete block").erase();
    Builder::at_end_like(module, front, at).ret(None);
    copy.remove_unreachable_blocks();
    copy
}

/// A copy of a body that runs a part of the iterations, as if they were a thread's.
fn of_part<'m>(module: &'m Module, body: Function<'m>) -> Function<'m> {
    let copy = body.copy();
    let site = deals(copy);
    let at = site.instruction();
    let long = module.int(64);
    let ty = argument(site, "chunk").ty();
    let builder = Builder::before(module, at);
    let [from, to, count] =
        [0, 1, 2].map(|which| builder.load(long, number(&builder, copy, which)));
    let first = builder.load(ty, argument(site, "lower"));
    let last = builder.plus(builder.sum(first, builder.int_cast(to, ty)), -1);
    let lower = builder.sum(first, builder.int_cast(from, ty));
    builder.store(lower, argument(site, "lower"));
    builder.store(last, argument(site, "upper"));
    builder.store(builder.int_cast(count, ty), argument(site, "stride"));
    let is_last = builder.compare(to, count, false);
    let is_last = builder.cast(Opcode::LLVMZExt, is_last, module.int(32));
    builder.store(is_last, argument(site, "last"));
    at.erase();
    for call in calls(copy).into_iter().filter(|one| is_replaced(*one)) {
        if is_number(call) {
            call.instruction()
                .replace_all_uses_with(module.const_i32(0));
        }
        call.instruction().erase();
    }
    copy
}

/// A function beside a body, and its blocks, with room for what a copy of the body gets first.
fn beside<'m>(
    module: &'m Module,
    body: Function<'m>,
    (name, ty): (&str, Type<'m>),
) -> (Function<'m>, Builder<'m>, [Value<'m>; 2]) {
    let name = format!("{}.{name}", body.name());
    let function = module.add_function(&name, ty, Linkage::LLVMInternalLinkage);
    for name in TARGET {
        function.copy_attribute(body, name);
    }
    function.set_attribute(module, "nounwind");
    let builder = Builder::at_end(module, function.append_block(module));
    let thread = builder.alloca(module.int(32), 4);
    let numbers = builder.alloca(module.array(module.int(64), NUMBERS.len() as u64), 8);
    builder.store(module.const_i32(0), thread);
    (function, builder, [thread, numbers])
}

/// The place of a captured value in the data.
fn place<'m>(builder: &Builder<'m>, data: Value<'m>, at: usize) -> Value<'m> {
    builder.offset(data, WORD * (1 + at as i64))
}

/// `i64 begin(ptr data, ...)`: fills the data, and says how many iterations there are.
fn beginning<'m>(
    module: &'m Module,
    body: Function<'m>,
    counts: Function<'m>,
    types: &[Type<'m>],
) -> Function<'m> {
    let (long, pointer) = (module.int(64), module.pointer());
    let parameters: Vec<_> = [pointer].into_iter().chain(types.iter().copied()).collect();
    let ty = module.function_type(long, &parameters);
    let (function, builder, first) = beside(module, body, ("begin", ty));
    let parameters = function.parameters();
    let (data, captures) = parameters.split_first().expect("it has the data");
    for (at, one) in captures.iter().enumerate() {
        builder.store(*one, place(&builder, *data, at));
    }
    let counted = builder.offset(first[1], NUMBERS[2]);
    builder.store(module.const_i64(0), counted);
    let given: Vec<_> = first.iter().chain(captures).copied().collect();
    builder.call(counts, &given);
    let count = builder.load(long, counted);
    builder.store(count, *data);
    builder.ret(Some(count));
    function
}

/// `void part(i64 from, i64 to, ptr data)`: runs the iterations from one number up to another one.
fn part<'m>(
    module: &'m Module,
    body: Function<'m>,
    chunk: Function<'m>,
    types: &[Type<'m>],
) -> Function<'m> {
    let (long, pointer) = (module.int(64), module.pointer());
    let ty = module.function_type(module.void(), &[long, long, pointer]);
    let (function, builder, first) = beside(module, body, ("part", ty));
    let [from, to, data] = function.parameters()[..] else {
        unreachable!("it has three parameters")
    };
    let [run, done] = [(); 2].map(|()| function.append_block(module));
    let some = Comparison::Integer(IntPredicate::LLVMIntSLT);
    builder.go_if(builder.ask(some, from, to), run, done);

    let builder = Builder::at_end(module, run);
    let count = builder.load(long, data);
    for (value, at) in [from, to, count].into_iter().zip(NUMBERS) {
        builder.store(value, builder.offset(first[1], at));
    }
    let captures = types.iter().enumerate();
    let captures = captures.map(|(at, ty)| builder.load(*ty, place(&builder, data, at)));
    let given: Vec<_> = first.into_iter().chain(captures).collect();
    builder.call(chunk, &given);
    builder.go(done);
    Builder::at_end(module, done).ret(None);
    function
}
