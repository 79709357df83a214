//! Regions that ranks share: each thread of the team has the iterations that it is dealt run on its rank's device. The region
//! stays what it is, with all that its threads do around the loop; in front of the code of a thread's share stands a launch,
//! behind which that code is left out.
//!
//! Guarantee: what a kernel does not do is done as on threads: iterations are dealt out by the run time, values are combined
//! and barriers met by the region's own code. The kernel runs all of the region for each of its work items, of which nothing
//! is seen but the loop; so a region that comes to its loop twice stays with its threads.

use okl_abi::gpu::f;
use okl_abi::{Effects, LoopSchedule, ScheduleKind};

use super::deal::is_end;
use super::host::{MOST_ITERATIONS, Runs, blocks_of};
use super::reduce::Combined;
use super::{Fork, Why, calls, reduce, why};
use crate::analysis::runtime::{self, effects};
use crate::analysis::variables::is_harmless;
use crate::ir::Region;
use crate::llvm::{
    Builder, Call, Comparison, Global, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::lower::gpu::flow::{self, comes_to};
use crate::lower::runtime_call::declare;

/// How the threads of a region are dealt out the iterations of its loop.
pub struct Share<'m> {
    /// The call that begins the loop.
    begins: Call<'m>,
    /// The one that writes the bounds of a share: the same, or the one that asks for the next.
    bounds: Call<'m>,
    /// Where the code of a share ends; none where the next one is asked for then.
    ends: Option<Instruction<'m>>,
    /// Whether iterations are numbers with a sign.
    signed: bool,
    /// What each thread combines, as the list says that it hands to the run time.
    privates: Vec<Instruction<'m>>,
}

impl<'m> Share<'m> {
    /// Of a region.
    pub fn of(module: &'m Module, region: &Region<'m>) -> Result<Self, Why> {
        let body = region.body;
        let mut loops = region.loops();
        let (Some(one), None) = (loops.next(), loops.next()) else {
            return why(None, "its threads share no loop, or several");
        };
        let begins = one.site;
        let at = begins.instruction();
        if at.function() != body {
            return why(Some(at), "its loop is in a function that it calls");
        }
        if comes_to(at, at, None) {
            return why(Some(at), "its threads come to the loop several times");
        }
        let signed = runtime::function(begins).is_some_and(|one| !one.has(Effects::UNSIGNED));
        let all = calls(body);
        let is_next =
            |call: &Call<'m>| runtime::function(*call).is_some_and(|one| one.has(Effects::SHARES));
        let (bounds, ends) = match effects(begins).has(Effects::DEALS) {
            true => {
                let mut its = all.iter().copied().filter(is_next);
                let (Some(next), None) = (its.next(), its.next()) else {
                    return why(Some(at), "its loop is not understood");
                };
                (next, None)
            }
            false => {
                let mut its = all.iter().map(|call| call.instruction());
                let mut its = its.by_ref().filter(|one| is_end(*one, begins));
                let (Some(end), None) = (its.next(), its.next()) else {
                    return why(Some(at), "its loop ends in several places");
                };
                let end = with_operands(end);
                if !is_left_out(at, end) {
                    return why(Some(at), "what its loop computes is used behind it");
                }
                (begins, Some(end))
            }
        };
        let is_plain = |call: Call<'m>| call.instruction().opcode() == Opcode::LLVMCall;
        let has_places = ["lower", "upper", "last"]
            .iter()
            .all(|name| runtime::argument(bounds, name).is_some());
        if !is_plain(begins) || !is_plain(bounds) || !has_places {
            return why(Some(at), "its loop is not understood");
        }
        let combines = all
            .iter()
            .find(|call| effects(**call).has(Effects::REDUCES));
        let privates = combines.map(|call| reduce::privates(module, *call));
        Ok(Self {
            begins,
            bounds,
            ends,
            signed,
            privates: privates.transpose()?.unwrap_or_default(),
        })
    }

    /// Bits of its iterations' numbers.
    fn bits(&self) -> Option<u32> {
        ["chunk", "increment", "stride"]
            .iter()
            .find_map(|name| runtime::argument(self.begins, name)?.ty().bits())
    }
}

/// The first of the instructions that compute what an instruction gets, as far as they stand right in front of it.
fn with_operands(end: Instruction<'_>) -> Instruction<'_> {
    let mut first = end;
    while let Some(before) = first.previous() {
        if !before.only_computes() && !is_harmless(before) {
            break;
        }
        first = before;
    }
    first
}

/// Whether nothing that is computed from one instruction on, which control comes to once, is used from another one on.
pub(super) fn is_left_out(from: Instruction<'_>, end: Instruction<'_>) -> bool {
    let behind = flow::behind(end);
    let is_behind = |one: &Instruction<'_>| *one == end || behind.contains(one);
    let between = flow::behind(from).into_iter();
    let mut between = between.filter(|one| !is_behind(one));
    between.all(|one| !one.instruction_users().iter().any(is_behind))
}

/// Has regions whose threads run a function that nothing else runs have its code, as where they are compiled for a debugger:
/// a share is launched where it is dealt out. The module means the same. True where it was changed.
pub fn prepare(module: &Module) -> bool {
    let bodies = module.functions().into_iter().filter(|one| {
        !one.is_declaration()
            && one.instruction_users().iter().any(|user| {
                user.as_call()
                    .is_some_and(|call| effects(call).has(Effects::FORKS_BODY))
            })
    });
    let mut changed = false;
    for body in bodies.collect::<Vec<_>>() {
        let shares = |call: &Call<'_>| {
            let Some(callee) = call.callee_function() else {
                return false;
            };
            let its_own = !callee.is_declaration()
                && callee != body
                && callee.is_local()
                && callee.users().len() == 1;
            its_own
                && calls(callee).into_iter().any(|one| {
                    let does = effects(one);
                    does.has_some(Effects::SHARES.and(Effects::DEALS))
                })
        };
        while let Some(call) = calls(body).into_iter().find(shares) {
            if !call.inline() {
                break;
            }
            changed = true;
        }
    }
    changed
}

/// Puts the launch in front of the code of a share.
pub fn launch<'m>(
    module: &'m Module,
    fork: &Fork<'m>,
    share: &Share<'m>,
    record: Global<'m>,
    has_cpu: bool,
) {
    let does = &fork.does;
    let body = fork.body;
    let (long, zero) = (module.int(64), module.const_i64(0));
    let may = module.const_i32(i32::from(has_cpu));
    let begins = share.begins.instruction();
    // One share is one launch, however small the pieces are that threads would be dealt.
    let builder = Builder::before(module, begins);
    let asked = builder.call(declare(module, &f::okl_gpu_runs_v5), &[*record, may]);
    let runs = builder.compare(asked, module.const_i32(0), true);
    let schedule = runtime::argument(share.begins, "schedule");
    let position = runtime::function(share.begins).and_then(|one| one.position("schedule"));
    let is_whole = runtime::schedule(share.begins)
        .is_some_and(|schedule| schedule.kind == ScheduleKind::Static);
    if let Some((schedule, position)) = schedule.zip(position).filter(|_| !is_whole) {
        let whole = builder.int_cast(module.const_i32(LoopSchedule::STATIC), schedule.ty());
        begins.set_operand(position, builder.select(runs, whole, schedule));
    }

    let at = share.bounds.instruction();
    let [lower, upper, last] =
        ["lower", "upper", "last"].map(|name| runtime::argument(share.bounds, name));
    let (lower, upper) = (lower.expect("it has both"), upper.expect("it has both"));
    let code = at.block().instructions();
    let position = code.iter().position(|one| *one == at);
    let position = position.expect("it stands in its block");
    let rest = code[position + 1].split_before();
    let instead = match share.ends {
        Some(end) => end.split_before(),
        None => at.split_before(),
    };
    let front = at.block();
    front.terminator().expect("a complete block").erase();
    let builder = Builder::at_end_like(module, front, at);
    let ty = module.int(share.bits().unwrap_or(32));
    let wide = |value: Value<'m>| match (value.ty() == long, share.signed) {
        (true, _) => value,
        (_, true) => builder.cast(Opcode::LLVMSExt, value, long),
        (_, false) => builder.cast(Opcode::LLVMZExt, value, long),
    };
    let from = wide(builder.load(ty, lower));
    let to = wide(builder.load(ty, upper));
    let distance = builder.difference(to, from);
    let ask = |predicate, a, b| builder.ask(Comparison::Integer(predicate), a, b);
    let mut conditions = vec![
        runs,
        ask(IntPredicate::LLVMIntSLE, zero, distance),
        ask(
            IntPredicate::LLVMIntSLE,
            distance,
            module.const_i64(MOST_ITERATIONS - 2),
        ),
    ];
    if share.ends.is_none() {
        let has = *at;
        conditions.push(builder.compare(has, has.ty().zero(), true));
    }
    let all = conditions.into_iter().reduce(|a, b| builder.and(a, b));
    let launches = body.append_block(module);
    builder.go_if(all.expect("there are some"), launches, rest);

    let builder = Builder::at_end_like(module, launches, at);
    let captures: Vec<_> = body
        .parameters()
        .into_iter()
        .skip(Region::LEADING)
        .collect();
    let rows = does.rows.as_ref();
    let power = rows.map(|rows| rows.emit(&builder, &captures, [from, to]));
    let blocks = blocks_of(&builder, does, distance, power.map(|power| power.all));
    let combined = |_: &Builder<'m>, _: &Combined| {
        let privates = share.privates.iter();
        privates.map(|private| **private).collect()
    };
    let launch = Runs {
        does,
        record,
        has_cpu,
        captures: &captures,
        bounds: Some([from, to]),
        last: None,
        power,
        combined: &combined,
    };
    let done = body.append_block(module);
    launch.launch(&builder, at, blocks, [done, rest]);
    // What the last iteration leaves the kernel has left.
    let builder = Builder::at_end_like(module, done, at);
    if let Some(last) = last.filter(|last| !last.is_null()) {
        builder.store(module.const_i32(0), last);
    }
    builder.go(instead);
}
