//! Regions whose threads share one loop become kernels: each work item is a thread of a team that is as large as the grid.
//!
//! A kernel runs the region's body as it is, but that a work item gets the iterations of its own number, and of those that lie
//! a grid apart from it. So what each thread has for itself each work item has for itself, and what it computes in front of
//! the loop it computes here, too. Values that the region only reads come from the host, which evaluates them in front of the
//! launch: above all the addresses of arrays, which mean nothing on a device while they stand in memory.
//!
//! Guarantee: outside of its loop a work item changes nothing that others see, and in it nothing is left that depends on
//! other threads than by atomic updates. What is evaluated on the host nobody changes while the region runs.

mod checks;
mod deal;
mod divide;
mod holds;
mod host;
mod reduce;
mod rows;
mod sections;
mod share;
mod steps;
mod uniform;
mod wide;

pub use checks::{only_loop, outside_is_private, tells_only, written};
pub use deal::{is_end, is_last_barrier};
pub use host::{around, is_alone_now, launch};
pub use share::prepare;

use okl_abi::Effects;
use okl_abi::gpu::parameter;

use super::asked::number;
use super::compile::{Failed, entry_name, failed};
use super::flow::comes_to;
use super::launch::{Kernel, Parameter};
use super::target::GpuTarget;
use crate::analysis::call_graph::{CallGraph, calls_itself};
use crate::analysis::runtime::{self, effects};
use crate::analysis::variables::{self, Does};
use crate::analysis::waiting;
use crate::diagnostic::place;
use crate::ir::{Region, Space, Team};
use crate::llvm::{
    Block, Builder, Call, Function, Instruction, Linkage, Module, Opcode, Passes, Value,
};
use crate::marks::ON_DEVICE;
use crate::recognise;
use checks::check_all;
use deal::{Dealt, begins_with_0, deal};
use divide::{Divisor, Part};
use holds::Holds;
use reduce::Combined;
use rows::Shared;
use share::Share;
use uniform::{Evaluated, Uniform};

/// Work items of a block, where they combine values of so many bytes.
const fn items_of(bytes: i64) -> i64 {
    match bytes {
        0..=192 => 256,
        193..=384 => 128,
        _ => 64,
    }
}

/// A region that may go to a device.
pub struct Candidate<'a, 'm> {
    /// The region.
    pub region: &'a Region<'m>,
    /// Which captures nothing else leads to than the captures themselves.
    alone: Vec<bool>,
    /// What each thread of it has run on a device, where ranks share it.
    share: Option<Share<'m>>,
}

/// What the host has of a region that goes to a device.
pub struct Fork<'m> {
    /// The call that begins it.
    pub site: Call<'m>,
    /// Its body.
    pub body: Function<'m>,
    condition: Option<Value<'m>>,
    captures: Vec<Value<'m>>,
    does: Hosted,
    share: Option<Share<'m>>,
}

/// What the host does.
#[derive(PartialEq)]
pub struct Hosted {
    /// What is passed, for each parameter of the kernel.
    passed: Vec<Passed>,
    /// The number of the last iteration, from 0 on, where it can be evaluated there: of as many bits, perhaps with a sign.
    last: Option<(Evaluated, u32, bool)>,
    /// What else holds where the kernel runs: how two numbers compare, or that they do not.
    holds: Vec<Holds>,
    /// What is combined behind the kernel.
    combined: Option<Combined>,
    /// How many work items share loops that are in an iteration.
    rows: Option<Box<Shared>>,
}

/// A value that is passed.
#[derive(PartialEq)]
pub enum Passed {
    /// What the host evaluates.
    Value(Evaluated),
    /// The number of work items.
    Items,
    /// The number of the last iteration, from 0 on, of 32 bits.
    Last,
    /// What numbers are divided with.
    Divides(Divisor, Part),
    /// The first iteration of a share, and the last one: of 64 bits.
    From,
    To,
    /// Where each block leaves its results.
    Results,
    /// How many work items have an iteration together, of 32 bits, and as a power of two; and how many of them are next to
    /// each other along its rows, so.
    Sharing,
    Power,
    Along,
}

impl Fork<'_> {
    /// What its work items do, for a remark.
    pub fn described(&self) -> &'static str {
        match (&self.share, &self.does.rows) {
            (Some(_), Some(_)) => {
                "what a rank has of the loop of this region runs on its device, where there is one, and its work items share the rows of the loop in it"
            }
            (Some(_), None) => {
                "what a rank has of the loop of this region runs on its device, where there is one"
            }
            (None, Some(_)) => {
                "the loop of this region runs on a device, where there is one, and its work items share the rows of the loop in it"
            }
            (None, None) => "the loop of this region runs on a device, where there is one",
        }
    }
}

/// What keeps a region from going there, and at which line of which file, where that is not all of it.
#[derive(Clone)]
pub struct Why {
    /// What it is.
    pub why: String,
    /// Where it is.
    pub place: Option<(String, u32)>,
}

/// That a region does not go there.
pub fn why<T>(at: Option<Instruction<'_>>, why: &str) -> Result<T, Why> {
    Err(Why {
        why: why.to_string(),
        place: at.and_then(place),
    })
}

impl<'a, 'm> Candidate<'a, 'm> {
    /// A region, if it is one that a device may run as far as can be seen here; `on_ranks`: of which each rank's may run a
    /// share.
    pub fn of(module: &'m Module, region: &'a Region<'m>, on_ranks: bool) -> Result<Self, Why> {
        if region.team != Team::Threads {
            return why(None, "its threads are those of several teams");
        }
        if region.site.instruction().opcode() != Opcode::LLVMCall {
            return why(None, "an exception may leave it");
        }
        let alone = region.captures.iter();
        let alone = alone.map(|one| one.by_reference && is_alone(one.value));
        let share = on_ranks.then(|| Share::of(module, region));
        Ok(Self {
            region,
            alone: alone.collect(),
            share: share.transpose()?,
        })
    }

    /// For the host, which does this.
    pub fn fork(self, does: Hosted) -> Fork<'m> {
        let region = self.region;
        Fork {
            site: region.site,
            body: region.body,
            condition: region.condition,
            captures: region.captures.iter().map(|one| one.value).collect(),
            does,
            share: self.share,
        }
    }
}

/// Whether a stack variable is reached in no other way than by its name, in its function and in regions.
fn is_alone(variable: Value<'_>) -> bool {
    let Some(variable) = variable.as_op(Opcode::LLVMAlloca) else {
        return false;
    };
    variables::uses(variable).into_iter().all(|(user, does)| {
        let is_region = || {
            let call = user.as_call()?;
            let function = runtime::function(call).filter(|one| one.has(Effects::FORKS_BODY))?;
            let body = runtime::argument(call, "body")?
                .through_alias()
                .as_function()?;
            if body.is_declaration() {
                return None;
            }
            let arguments = call.arguments().into_iter().enumerate();
            let mut its = arguments
                .filter(|(_, one)| *one == *variable)
                .map(|(at, _)| {
                    let index = (at + Region::LEADING).checked_sub(function.params.len())?;
                    let parameter = *body.parameters().get(index)?;
                    let uses = variables::uses_of_parameter(parameter);
                    uses.iter()
                        .all(|(_, does)| *does != Does::Unknown)
                        .then_some(())
                });
            its.all(|one| one.is_some()).then_some(())
        };
        does != Does::Unknown || is_region().is_some()
    })
}

/// Makes kernels of these regions, each of a number, in a copy of their module, and says what the host does.
pub fn outline_all(
    device: &Module,
    candidates: &[(usize, &Candidate<'_, '_>)],
    target: &'static GpuTarget,
) -> Result<Vec<(Kernel, Hosted)>, Failed> {
    let mut all = Vec::new();
    for (which, (number, one)) in candidates.iter().enumerate() {
        match outline(device, one, *number, target) {
            Ok(made) => all.push(made),
            Err(Why { why, .. }) => return failed(Some(which), &why),
        }
    }
    Ok(all)
}

/// How much code a kernel has at most, before it is optimised.
const MOST_INSTRUCTIONS: usize = 1 << 16;

/// What brings a body into a form in which values stand for variables, and leaves its loops.
const SIMPLIFY: &str = "simplifycfg,sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,sccp,simplifycfg";

/// Makes a kernel of a region in a copy of its module.
pub fn outline(
    device: &Module,
    candidate: &Candidate<'_, '_>,
    which: usize,
    target: &'static GpuTarget,
) -> Result<(Kernel, Hosted), Why> {
    let name = candidate.region.body.name();
    let Some(body) = device.function(&name) else {
        return why(None, "its copy is not what it was");
    };
    body.remove_unreachable_blocks();
    inline_all(body)?;
    Passes::over(body).run(SIMPLIFY);
    body.remove_unreachable_blocks();
    // What is combined behind the loop the host combines.
    let combined = {
        let uniform = Uniform::of(device, body, &candidate.alone, None);
        reduce::find(device, &uniform)?
    };
    if combined.is_some() {
        Passes::over(body).run("sccp,simplifycfg");
        body.remove_unreachable_blocks();
    }

    let found = recognise::recognise(device);
    let mut regions = found.regions.iter();
    let Some(region) = regions.find(|one| one.body == body) else {
        return why(None, "its copy is not what it was");
    };
    let (one, spans) = only_loop(region)?;
    let extent = match &one.space {
        Space::Range(extents) => &extents[0],
        Space::Set { .. } => return why(None, "it is no loop over numbers"),
    };
    if one.ordered != Some(false) {
        return why(
            Some(one.site.instruction()),
            "its iterations may have an ordered part",
        );
    }
    let increment = match runtime::function(one.site).is_some_and(|one| one.begins_share()) {
        true => runtime::argument(one.site, "increment"),
        false => runtime::argument(one.site, "stride"),
    };
    if increment.and_then(Value::as_constant_int) != Some(1) {
        return why(
            Some(one.site.instruction()),
            "its iterations are not numbered one by one",
        );
    }
    let graph = CallGraph::of(device);
    if let Some(waits) = waiting::find(body, &waiting::Callees::new(&graph)).first() {
        return why(Some(waits.at), "it waits for other iterations");
    }
    let uniform = Uniform::of(device, body, &candidate.alone, Some(spans));
    let meets = calls(body).into_iter();
    let mut meets = meets.filter(|call| effects(*call).has(Effects::BARRIER));
    let site = one.site.instruction();
    if let Some(early) = meets.find(|call| comes_to(call.instruction(), site, None)) {
        let told = "its threads meet in front of the loop";
        return why(Some(early.instruction()), told);
    }
    let ends = uniform.code.function().instructions();
    let ends: Vec<_> = ends
        .into_iter()
        .filter(|at| is_end(*at, one.site))
        .collect();
    let is_behind = |at| ends.iter().any(|end| comes_to(*end, at, None));
    outside_is_private(&uniform.code, one, spans, &is_behind)?;
    reduce::check(device, body, &|at| spans.has(at), &is_behind)?;
    let last = extent.last.and_then(|last| uniform.evaluated(last));
    let last = last.map(|last| (last, extent.width, extent.signed));
    // What the host counts are numbers below 2^31, from 0 on.
    let is_counted = last.is_some() && candidate.share.is_none() && begins_with_0(one, spans);
    let one_each = is_counted && combined.is_none();
    let divided = match is_counted {
        true => divide::find(&uniform, spans, one.site),
        false => Vec::new(),
    };
    // Whether there is an iteration the host knows only where it knows their number, and whether threads come there at all;
    // a share is launched where its thread has come.
    let (asked, comes_there) = match candidate.share {
        None if last.is_some() => holds::find(&uniform, one.site),
        None => (Vec::new(), false),
        Some(_) => (Vec::new(), true),
    };
    let loads = uniform.loads(last.is_some() && comes_there);
    let (site, signed, last_value) = (one.site, extent.signed, extent.last);
    drop(uniform);
    let holds = holds::follow(device, asked);

    // In front of all values from the host.
    let first = body.blocks()[0].instructions()[0];
    let front = first.block();
    let start = first.split_before();
    let end = front.terminator().expect("a complete block");
    let builder = Builder::before(device, end);
    let slot = |ty| builder.alloca(ty, device.align_of(ty));
    let mut placeholders: Vec<(Value<'_>, Passed)> = Vec::new();
    let (short, long) = (device.int(32), device.int(64));
    let last_number = is_counted.then(|| {
        let value = builder.load(short, slot(short));
        placeholders.push((value, Passed::Last));
        // What the program compares with is the same then.
        if let Some(known) = last_value.and_then(Value::as_instruction) {
            let same = Builder::before(device, first).int_cast(value, known.ty());
            known.replace_all_uses_with(same);
        }
        value
    });
    for (loads, value) in loads {
        let ty = loads[0].ty();
        let placeholder = builder.load(ty, slot(ty));
        for load in loads {
            load.replace_all_uses_with(placeholder);
            load.erase();
        }
        placeholders.push((placeholder, Passed::Value(value)));
    }
    replace_globals(device, body, &builder, first, &mut placeholders)?;
    check_all(device, body)?;
    let sections = candidate.share.as_ref();
    let sections = sections.and_then(|_| sections::find(device, body, &placeholders));
    // What is combined each work item has a part of.
    let is_launched_so = last.is_some() || candidate.share.is_some();
    let rows = (combined.is_none() && is_launched_so)
        .then(|| rows::find(device, body, site, signed, &placeholders, last.as_ref()))
        .flatten();
    let items = builder.load(long, slot(long));
    placeholders.push((items, Passed::Items));
    for by in divide::divisors(&divided) {
        let mut part = |part| {
            let value = builder.load(short, slot(short));
            placeholders.push((value, Passed::Divides(by.clone(), part)));
            value
        };
        divide::emit(device, &divided, by, &mut part, target);
    }
    let share = candidate.share.as_ref().map(|_| {
        if let Some(one) = body.instructions().into_iter().find(is_shared_update) {
            let told = "it updates memory atomically, which ranks do together";
            return why(Some(one), told);
        }
        let [from, to] = [(); 2].map(|()| builder.load(long, slot(long)));
        placeholders.extend([(from, Passed::From), (to, Passed::To)]);
        Ok([from, to])
    });
    let share = share.transpose()?;
    let shared = rows.as_ref().map(|rows| {
        let turns = rows.turns().map(|(turns, bits)| {
            let ty = device.int(*bits);
            let value = builder.load(ty, slot(ty));
            placeholders.push((value, Passed::Value(turns.clone())));
            value
        });
        let turns: Vec<_> = turns.collect();
        let [sharing, power] = [(); 2].map(|()| builder.load(short, slot(short)));
        placeholders.extend([(sharing, Passed::Sharing), (power, Passed::Power)]);
        let along = rows.is_planes().then(|| {
            let along = builder.load(short, slot(short));
            placeholders.push((along, Passed::Along));
            along
        });
        (turns, sharing, power, along)
    });
    let in_block = items_of(combined.as_ref().map_or(0, |combined| combined.bytes));
    let results = combined
        .as_ref()
        .map(|_| builder.load(device.pointer(), slot(device.pointer())));
    placeholders.extend(results.map(|one| (one, Passed::Results)));
    let builder = Builder::before(device, first);
    let counted = if is_counted { short } else { long };
    let index = builder.alloca(counted, 8);
    let block = number(&builder, &target.block, 0, None);
    let item = number(&builder, &target.item, 0, Some(in_block));
    let [block_counted, item_counted, items, in_block] =
        [block, item, items, device.const_i64(in_block)].map(|one| builder.int_cast(one, counted));
    let before = builder.multiply(block_counted, in_block);
    let own = builder.sum(before, item_counted);
    if is_counted {
        for one in [before, own].into_iter().filter_map(Value::as_instruction) {
            one.promise_no_wrap(true);
            one.promise_no_wrap(false);
        }
    }
    // Those that share an iteration have its number.
    let (mut own, mut items) = (own, items);
    if let Some((rows, (turns, sharing, power, along))) = rows.as_ref().zip(shared) {
        let less = builder.difference(sharing, device.const_i32(1));
        let number = builder.and(builder.int_cast(own, short), less);
        let power = builder.int_cast(power, counted);
        [own, items] = [own, items].map(|one| builder.binary(Opcode::LLVMLShr, one, power));
        let directions = match along {
            None => vec![[number, sharing]],
            Some(along) => {
                let shift = |value| builder.binary(Opcode::LLVMLShr, value, along);
                let width = builder.binary(Opcode::LLVMShl, device.const_i32(1), along);
                let less = builder.difference(width, device.const_i32(1));
                let of_row = builder.and(number, less);
                vec![[of_row, width], [shift(number), shift(sharing)]]
            }
        };
        rows.emit(device, first, &turns, &directions);
    }
    if let Some((combined, results)) = combined.as_ref().zip(results) {
        let values = [block, item, results];
        reduce::emit(device, body, first, combined, values, which, target)?;
    }
    let dealt = Dealt {
        own,
        items,
        index,
        last: last_number,
        share,
        signed,
        meets: combined.is_some(),
        one_each,
    };
    deal(device, site, &dealt)?;
    for call in calls(body) {
        if effects(call).has(Effects::REDUCES) || call.callee_name() == "__kmpc_global_thread_num" {
            let zero = call.instruction().ty().zero();
            call.instruction().replace_all_uses_with(zero);
            call.instruction().erase();
        }
    }

    // All but the values becomes a function.
    let done = body.append_block(device);
    let rets: Vec<_> = body
        .instructions()
        .into_iter()
        .filter(|one| one.opcode() == Opcode::LLVMRet)
        .collect();
    for ret in rets {
        let block = ret.block();
        ret.erase();
        Builder::at_end(device, block).go(done);
    }
    Builder::at_end(device, done).ret(None);
    let blocks: Vec<_> = body.blocks();
    let code: Vec<_> = std::iter::once(start)
        .chain(
            blocks
                .into_iter()
                .filter(|one| ![front, start, done].contains(one)),
        )
        .collect();
    let Some(inner) = Block::extract(&code, "device") else {
        return why(None, "LLVM cannot make a function of it");
    };
    let call = inner.users().first().and_then(|user| user.as_call());
    let call = call.expect("it is called once");
    kernel(
        device,
        candidate,
        call,
        placeholders,
        combined.as_ref(),
        which,
        target,
    )
    .map(|(mut kernel, passed)| {
        kernel.sections = sections.map_or_else(Vec::new, |sections| sections.numbers(&passed));
        let does = Hosted {
            passed,
            last,
            holds,
            combined,
            rows: rows.map(|rows| Box::new(rows.shared())),
        };
        (kernel, does)
    })
}

/// Whether an instruction is an atomic access of memory that others may access.
fn is_shared_update(one: &Instruction<'_>) -> bool {
    let is_own = |address: Value<'_>| {
        address
            .underlying_object()
            .as_op(Opcode::LLVMAlloca)
            .is_some()
    };
    one.is_atomic_access() && !one.address().is_some_and(is_own)
}

fn calls<'d>(body: Function<'d>) -> Vec<Call<'d>> {
    let code = body.instructions().into_iter();
    code.filter_map(|one| one.as_call()).collect()
}

/// Has a function call nothing that its file has code of.
fn inline_all(body: Function<'_>) -> Result<(), Why> {
    let is_there = |call: &Call<'_>| {
        let callee = call.callee().as_function();
        callee.is_some_and(|callee| {
            !callee.is_declaration() && !callee.is_intrinsic() && !callee.is_interposable()
        })
    };
    loop {
        let code = calls(body);
        let Some(call) = code.into_iter().find(is_there) else {
            return Ok(());
        };
        let at = call.instruction();
        let callee = call.callee_function();
        let name = callee.map(crate::diagnostic::user_name);
        let told = |what: &str| format!("it calls {}, {what}", name.clone().unwrap_or_default());
        let place = place(at);
        let failed = |what: &str| {
            Err(Why {
                why: told(what),
                place: place.clone(),
            })
        };
        if callee.is_some_and(calls_itself) || body.instructions().len() > MOST_INSTRUCTIONS {
            return failed("which calls itself or too much else");
        }
        if !call.inline() {
            return failed("which LLVM cannot make a part of it");
        }
    }
}

/// Has a body, whose code begins with `first`, use what the host says is the address of a variable of the program's, for
/// variables that are no constants.
fn replace_globals<'d>(
    device: &'d Module,
    body: Function<'d>,
    builder: &Builder<'d>,
    first: Instruction<'d>,
    placeholders: &mut Vec<(Value<'d>, Passed)>,
) -> Result<(), Why> {
    for one in body.instructions() {
        for (at, operand) in one.operands().into_iter().enumerate() {
            if !operand.is_constant() || !operand.ty().is_pointer() {
                continue;
            }
            let (base, bytes) = operand.offset_in_object(device);
            let Some(global) = base.as_global() else {
                continue;
            };
            if global.is_thread_local() {
                let name = crate::llvm::demangle(&global.name());
                return why(
                    Some(one),
                    &format!("it uses {name}, of which each thread has one"),
                );
            }
            let is_table =
                global.is_readonly() && !global.is_declaration() && !base.is_interposable();
            if is_table
                || one
                    .as_call()
                    .is_some_and(|call| runtime::function(call).is_some())
            {
                continue;
            }
            let name = global.name();
            let known = placeholders.iter().find(|(_, passed)| {
                matches!(passed, Passed::Value(Evaluated::Variable(known)) if *known == name)
            });
            let address = match known {
                Some((value, _)) => *value,
                None => {
                    let slot = builder.alloca(device.pointer(), 8);
                    let value = builder.load(device.pointer(), slot);
                    placeholders.push((value, Passed::Value(Evaluated::Variable(name))));
                    value
                }
            };
            one.set_operand(at, Builder::before(device, first).offset(address, bytes));
        }
    }
    Ok(())
}

/// Makes the kernel that calls the body's code with values.
fn kernel<'d>(
    device: &'d Module,
    candidate: &Candidate<'_, '_>,
    call: Call<'d>,
    placeholders: Vec<(Value<'d>, Passed)>,
    combined: Option<&Combined>,
    which: usize,
    target: &'static GpuTarget,
) -> Result<(Kernel, Vec<Passed>), Why> {
    let inner = call.callee_function().expect("a function");
    let mut placeholders: Vec<_> = placeholders
        .into_iter()
        .map(|(value, passed)| (value, Some(passed)))
        .collect();
    let mut types = Vec::new();
    let mut parameters = Vec::new();
    let mut all = Vec::new();
    let mut is_own = Vec::new();
    for argument in call.arguments() {
        let ty = argument.ty();
        let passed = match argument.as_parameter() {
            Some((_, at)) if at < Region::LEADING => None,
            Some((_, at)) => Some(Passed::Value(Evaluated::Capture(at - Region::LEADING))),
            None => {
                let known = placeholders
                    .iter_mut()
                    .find(|(value, _)| *value == argument);
                match known.and_then(|(_, passed)| passed.take()) {
                    Some(passed) => Some(passed),
                    None => return why(None, "it uses a value from in front of it"),
                }
            }
        };
        is_own.push(passed.is_none());
        let Some(passed) = passed else {
            continue;
        };
        let is_address = ty.is_pointer();
        let is_result = matches!(passed, Passed::Results);
        types.push(match is_address {
            true => device.pointer_into(target.global_space),
            false => ty,
        });
        parameters.push(Parameter {
            kind: match (is_address, is_result) {
                (_, true) => parameter::RESULTS,
                (true, _) => parameter::ADDRESS,
                _ => 0,
            },
            size: match (is_result, combined) {
                (true, Some(combined)) => combined.bytes,
                _ => device.size_of(ty) as i64,
            },
            is_alone: false,
            stays: None,
        });
        all.push(passed);
    }
    let bytes = parameters.iter().map(|one| one.size.saturating_add(8));
    if bytes.fold(0_i64, i64::saturating_add) > target.most_passed {
        return why(None, "it gets more values than the device has room for");
    }
    let entry = format!("{}_region", entry_name(candidate.region.body, which));
    let ty = device.function_type(device.void(), &types);
    let kernel = device.add_function(&entry, ty, Linkage::LLVMExternalLinkage);
    kernel.copy_subprogram(inner);
    let block = kernel.append_block(device);
    let builder = Builder::at_end(device, block);
    builder.stand_at_start_of(kernel);
    let mut passed = kernel.parameters().into_iter();
    let arguments: Vec<_> = call
        .arguments()
        .iter()
        .zip(is_own)
        .map(|(argument, is_own)| {
            if is_own {
                let number = builder.alloca(device.int(32), 4);
                builder.store(device.const_i32(0), number);
                return number;
            }
            let value = passed.next().expect("one for each");
            match argument.ty().is_pointer() {
                true => builder.cast(Opcode::LLVMAddrSpaceCast, value, argument.ty()),
                false => value,
            }
        })
        .collect();
    let runs = builder.call(inner, &arguments).as_call().expect("a call");
    runs.inline_always(device);
    builder.ret(None);
    inner.set_linkage(Linkage::LLVMInternalLinkage);
    let kernel = Kernel {
        entry,
        parameters,
        items: Some([
            items_of(combined.map_or(0, |combined| combined.bytes)),
            1,
            1,
        ]),
        ..Kernel::default()
    };
    Ok((kernel, all))
}

/// Whether a region went to a device before: what was lowered once is left alone.
pub fn is_done(region: &Region<'_>) -> bool {
    ON_DEVICE.is_on(region.body)
}

/// Says that the region with this body did.
pub fn mark(module: &Module, body: Function<'_>) {
    ON_DEVICE.put_on(module, body);
}
