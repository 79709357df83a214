//! What the work items of a block share lies in memory of the block's own: a variable each, or, where that is more than a
//! driver gives each block by itself, parts of what the block is given when it is launched.

use crate::ir::{Local, LocalKind, ParallelLoop};
use crate::llvm::{Builder, Module};
use crate::lower::gpu::target::GpuTarget;

/// What each variable is aligned to.
const ALIGNMENT: u32 = 16;
/// What all of a block is called.
const ALL: &str = "okl_shared";

fn shared<'a, 'm>(one: &'a ParallelLoop<'m>) -> impl Iterator<Item = &'a Local<'m>> {
    let region = one.region().expect("a loop over blocks");
    let locals = region.locals.iter();
    locals.filter(|one| one.kind == LocalKind::Shared)
}

/// Bytes that the blocks of a loop share.
pub fn bytes(module: &Module, one: &ParallelLoop<'_>) -> u64 {
    let sizes = shared(one).filter_map(|one| {
        let bytes = module.size_of(one.variable.allocated_type()?);
        bytes.checked_next_multiple_of(ALIGNMENT.into())
    });
    sizes.fold(0, u64::saturating_add)
}

/// Puts what the work items of a block share where it belongs; how many bytes a block is given for that.
pub fn share<'d>(
    device: &'d Module,
    one: &ParallelLoop<'d>,
    number: usize,
    target: &GpuTarget,
) -> u64 {
    let is_given = bytes(device, one) > target.most_static;
    let mut used = 0_u64;
    for local in shared(one) {
        let variable = local.variable;
        let ty = variable.allocated_type().expect("a stack variable");
        let align = variable.stack_alignment().max(ALIGNMENT);
        let instead = match is_given {
            true => {
                let offset = used.next_multiple_of(align.into());
                used = offset + device.size_of(ty);
                let front = Builder::at_entry(device, variable.function());
                let all = device.declare_in_space(ALL, target.shared_space, ALIGNMENT);
                front.offset(all, offset as i64)
            }
            false => {
                let name = format!("{ALL}_{number}");
                device.add_in_space(&name, ty, target.shared_space, align)
            }
        };
        for user in variable.instruction_users() {
            let call = user.as_call().map(|call| call.callee_name());
            if call.is_some_and(|name| name.starts_with("llvm.lifetime.")) {
                user.erase();
            }
        }
        variable.replace_all_uses_with(instead);
    }
    used
}
