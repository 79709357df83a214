//! Forks: the captured values go into an array of 8-byte slots, which the runtime hands to a
//! trampoline on every rank. A function that is otherwise the same on one rank chooses at each fork.

use std::collections::HashMap;

use okl_abi::f;

use crate::analysis::runtime;
use crate::diagnostic::{Declined, Site};
use crate::ir::{Region, Team};
use crate::llvm::{Builder, Call, Function, Global, Instruction, Linkage, Module, Type, Value};
use crate::lower::mpi::twins::{Twins, is_set};
use crate::lower::runtime_call::declare;
use crate::marks::{INVOKE, is_for_ranks};
use crate::record::RegionRecord;

const SLOT: u64 = 8;

/// Regions of a module.
pub struct Regions<'m> {
    /// One for each fork.
    pub forks: Vec<Fork<'m>>,
    /// One for each body.
    pub trampolines: Vec<Function<'m>>,
}

/// A fork that is still the OpenMP run time's.
pub struct Fork<'m> {
    /// Its call.
    pub site: Call<'m>,
    /// What becomes the first argument of ours.
    pub descriptor: Global<'m>,
    callee: Function<'m>,
    captures: usize,
}

/// Refuses captured values that do not fit a slot.
pub fn refuse<'m>(module: &Module, regions: &[Region<'m>], refused: &mut Vec<Declined<'m>>) {
    for one in regions {
        let parameters = one.body.parameters();
        let values = one.captures.iter().map(|one| one.value.ty());
        let mut types = values.chain(parameters.iter().map(|parameter| parameter.ty()));
        if let Some(bad) = types.find(|&ty| !fits_slot(module, ty)) {
            refused.push(Declined {
                site: Site::Instruction(one.site.instruction()),
                reason: format!(
                    "a value of {} bytes cannot be handed to the ranks of a {}",
                    module.size_of(bad),
                    one.origin
                ),
            });
        }
    }
}

fn fits_slot(module: &Module, ty: Type<'_>) -> bool {
    !ty.is_aggregate() && module.size_of(ty) <= SLOT
}

/// Adds what forks are about to name, with the flags of each region.
pub fn emit<'m>(module: &'m Module, regions: &[Region<'m>], flags: &[i64]) -> Regions<'m> {
    let mut trampolines = HashMap::new();
    let mut emitted = Regions {
        forks: Vec::new(),
        trampolines: Vec::new(),
    };
    for (one, &flags) in regions.iter().zip(flags) {
        let trampoline = *trampolines.entry(one.body).or_insert_with(|| {
            let trampoline = trampoline(module, one);
            emitted.trampolines.push(trampoline);
            trampoline
        });
        let function = match one.team {
            Team::Threads => f::okl_mpi_fork,
            Team::League => f::okl_mpi_fork_teams,
            Team::Items => unreachable!("work items are no region of their own"),
        };
        emitted.forks.push(Fork {
            site: one.site,
            descriptor: descriptor(module, one, trampoline, flags),
            callee: declare(module, &function),
            captures: one.captures.len(),
        });
    }
    emitted
}

/// Replaces the forks of functions for several ranks, and has those that are the same for both choose.
pub fn emit_forks<'m>(module: &'m Module, forks: &[Fork<'m>], twins: &Twins<'m>) {
    for one in forks {
        let at = one.site.instruction();
        if is_for_ranks(at.function()) {
            fork(module, one, at);
            at.erase();
            continue;
        }
        let is_plain = is_set(module, twins.flag, at);
        let no = is_plain.ty().zero();
        let is_not = Builder::before(module, at).compare(is_plain, no, false);
        fork(module, one, at.insert_if(is_not));
        at.move_before(at.insert_if(is_plain));
    }
}

fn trampoline<'m>(module: &'m Module, one: &Region<'m>) -> Function<'m> {
    let body = one.body;
    let pointer = module.pointer();
    let trampoline = module.add_function(
        &format!("{INVOKE}{}", body.name()),
        module.function_type(module.void(), &[pointer; 3]),
        Linkage::LLVMInternalLinkage,
    );
    let own = trampoline.parameters();
    let builder = Builder::at_end(module, trampoline.append_block(module));
    let mut arguments = own[..Region::LEADING].to_vec();
    for (index, parameter) in body.parameters().iter().skip(Region::LEADING).enumerate() {
        let slot = builder.offset(own[2], (index as u64 * SLOT) as i64);
        let value = match parameter.ty().bits() {
            Some(_) => {
                let wide = builder.load(module.int(64), slot);
                builder.int_cast(wide, parameter.ty())
            }
            None => builder.load(parameter.ty(), slot),
        };
        arguments.push(value);
    }
    // Inlined into a function without debug information the body would lose its lines.
    builder.call_without_inlining(body, &arguments);
    builder.ret(None);
    trampoline
}

fn descriptor<'m>(
    module: &'m Module,
    one: &Region<'m>,
    trampoline: Function<'m>,
    flags: i64,
) -> Global<'m> {
    let location = Site::Instruction(one.site.instruction()).to_string();
    RegionRecord::leave(module, [trampoline, one.body], &location, flags)
}

/// Emits our fork in front of `at`.
fn fork<'m>(module: &'m Module, one: &Fork<'m>, at: Instruction<'m>) {
    let arguments = one.site.arguments();
    let first = runtime::function(one.site).map_or(0, |fork| fork.params.len());
    let captures = &arguments[first..first + one.captures];
    let slots = if captures.is_empty() {
        module.pointer().zero()
    } else {
        let entry = Builder::at_entry(module, at.function());
        let slots = module.array(module.int(64), captures.len() as u64);
        entry.alloca(slots, SLOT as u32)
    };
    let argument = |param| runtime::argument(one.site, param);
    if let (Some(ident), Some(condition)) = (argument("ident"), argument("condition")) {
        alone_unless(module, ident, condition, at);
    }
    let builder = Builder::before(module, at);
    for (index, &value) in captures.iter().enumerate() {
        let slot = builder.offset(slots, (index as u64 * SLOT) as i64);
        let value = match value.ty().bits() {
            Some(_) => builder.int_cast(value, module.int(64)),
            None => value,
        };
        builder.store(value, slot);
    }
    let count = module.const_i64(captures.len() as i64);
    let arguments = [*one.descriptor, slots, count];
    builder.call_like(one.site, one.callee, &arguments);
}

/// Asks for a team of one where the condition is zero.
fn alone_unless<'m>(
    module: &'m Module,
    ident: Value<'m>,
    condition: Value<'m>,
    at: Instruction<'m>,
) {
    let zero = condition.ty().zero();
    let is_zero = Builder::before(module, at).compare(condition, zero, false);
    let builder = Builder::before(module, at.insert_if(is_zero));
    let thread = declare(module, &f::okl_mpi_kmpc_global_thread_num);
    let thread = builder.call(thread, &[ident]);
    let push = declare(module, &f::okl_mpi_kmpc_push_num_threads);
    builder.call(push, &[ident, thread, module.const_i32(1)]);
}
