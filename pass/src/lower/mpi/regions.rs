//! Forks: the captured values go into an array of 8-byte slots, which the runtime hands to a
//! trampoline on every rank.

use std::collections::HashMap;

use okl_abi::{f, region_flags};

use crate::diagnostic::{Declined, Site};
use crate::ir::{ParallelLoop, Space};
use crate::llvm::{Builder, Function, Global, Linkage, Module, Type, Value};
use crate::lower::runtime_call::declare;

const SLOT: u64 = 8;

/// Regions of a module after lowering.
pub struct Regions<'m> {
    /// One for each fork.
    pub descriptors: Vec<Global<'m>>,
    /// One for each body.
    pub trampolines: Vec<Function<'m>>,
}

/// Refuses captured values that do not fit a slot.
pub fn refuse<'m>(module: &Module, loops: &[ParallelLoop<'m>], refused: &mut Vec<Declined<'m>>) {
    for one in loops {
        let parameters = one.body.function.parameters();
        let values = one.args.iter().map(|arg| arg.value.ty());
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

/// Replaces the forks.
pub fn emit<'m>(
    module: &'m Module,
    loops: &[ParallelLoop<'m>],
    alone: &[Option<String>],
) -> Regions<'m> {
    let mut trampolines = HashMap::new();
    let mut regions = Regions {
        descriptors: Vec::new(),
        trampolines: Vec::new(),
    };
    for (one, alone) in loops.iter().zip(alone) {
        let trampoline = *trampolines.entry(one.body.function).or_insert_with(|| {
            let trampoline = trampoline(module, one);
            regions.trampolines.push(trampoline);
            trampoline
        });
        let descriptor = descriptor(module, one, trampoline, alone.is_some());
        regions.descriptors.push(descriptor);
        fork(module, one, descriptor);
    }
    regions
}

fn trampoline<'m>(module: &'m Module, one: &ParallelLoop<'m>) -> Function<'m> {
    let body = one.body.function;
    let pointer = module.pointer();
    let trampoline = module.add_function(
        &format!("okl.invoke.{}", body.name()),
        module.function_type(module.void(), &[pointer; 3]),
        Linkage::LLVMInternalLinkage,
    );
    let own = trampoline.parameters();
    let builder = Builder::at_end(module, trampoline.append_block(module));
    let mut arguments = own[..one.body.leading].to_vec();
    for (index, parameter) in body.parameters().iter().skip(one.body.leading).enumerate() {
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
    one: &ParallelLoop<'m>,
    trampoline: Function<'m>,
    alone: bool,
) -> Global<'m> {
    let location = Site::Instruction(one.site.instruction()).to_string();
    let flags = if alone { region_flags::TEAM_OF_ONE } else { 0 };
    let value = module.const_struct(&[
        *trampoline,
        *one.body.function,
        *module.add_text("okl.region.location", &location),
        module.const_i64(flags),
        module.const_i64(0),
        // Filled in by the section analysis.
        module.pointer().zero(),
        module.const_i64(0),
    ]);
    // Not in the shared section: each rank keeps its own decision.
    let global = module.add_global(
        "okl.region",
        value.ty(),
        Some(value),
        Linkage::LLVMPrivateLinkage,
    );
    global.set_alignment(8);
    global
}

fn fork<'m>(module: &'m Module, one: &ParallelLoop<'m>, descriptor: Global<'m>) {
    let call = one.site;
    let at = call.instruction();
    let count = one.args.len() as u64;
    let slots = if count == 0 {
        module.pointer().zero()
    } else {
        let entry = Builder::at_entry(module, at.function());
        entry.alloca(module.array(module.int(64), count), SLOT as u32)
    };
    if let Some(condition) = one.condition {
        alone_unless(module, one, condition);
    }
    let builder = Builder::before(module, at);
    for (index, arg) in one.args.iter().enumerate() {
        let slot = builder.offset(slots, (index as u64 * SLOT) as i64);
        let value = match arg.value.ty().bits() {
            Some(_) => builder.int_cast(arg.value, module.int(64)),
            None => arg.value,
        };
        builder.store(value, slot);
    }
    let function = match one.space {
        Space::Team { .. } => f::okl_mpi_fork,
        Space::League { .. } => f::okl_mpi_fork_teams,
        Space::Set { .. } => unreachable!("a region has a team or a league"),
    };
    let callee = declare(module, &function);
    builder.call_like(
        call,
        callee,
        &[*descriptor, slots, module.const_i64(count as i64)],
    );
    at.erase();
}

/// Asks for a team of one where the condition is zero.
fn alone_unless<'m>(module: &'m Module, one: &ParallelLoop<'m>, condition: Value<'m>) {
    let at = one.site.instruction();
    let zero = condition.ty().zero();
    let is_zero = Builder::before(module, at).compare(condition, zero, false);
    let builder = Builder::before(module, at.insert_if(is_zero));
    let ident = one.site.arguments()[0];
    let thread = declare(module, &f::okl_mpi_kmpc_global_thread_num);
    let thread = builder.call(thread, &[ident]);
    let push = declare(module, &f::okl_mpi_kmpc_push_num_threads);
    builder.call(push, &[ident, thread, module.const_i32(1)]);
}
