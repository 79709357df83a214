//! What kernels ask the device for: which work item and block they are, and that all of a block wait for each other.

use super::compile::declared;
use super::target::{Asked, Exchange, GpuTarget};
use crate::llvm::{Builder, Value};

/// Has all work items of the block wait for each other.
pub fn meet<'d>(builder: &Builder<'d>, target: &GpuTarget) {
    let module = builder.module();
    let barrier = &target.barrier;
    let told: Vec<_> = barrier
        .told
        .iter()
        .map(|one| module.const_i32(*one))
        .collect();
    let types: Vec<_> = told.iter().map(|one| one.ty()).collect();
    let ty = module.function_type(module.void(), &types);
    let function = declared(module, barrier.name, ty);
    // All that is known of functions that are declared nowhere else: otherwise code with them may be doubled.
    function.set_attribute(module, "convergent");
    function.set_attribute(module, "nounwind");
    if let Some(scope) = barrier.fences {
        builder.fence(scope, false);
    }
    builder.call(function, &told);
    if let Some(scope) = barrier.fences {
        builder.fence(scope, true);
    }
}

/// A number of 32 bits of the work item whose number differs in one bit, of the lower five. All of the 32 whose numbers differ in
/// these come there.
pub fn other<'d>(
    builder: &Builder<'d>,
    exchange: &Exchange,
    value: Value<'d>,
    bit: i32,
) -> Value<'d> {
    let module = builder.module();
    let short = module.int(32);
    let number = |number| module.const_i32(number);
    let (name, arguments) = match exchange {
        Exchange::Butterfly(name) => (name, vec![number(-1), value, number(bit), number(31)]),
        // Bits that are kept, set, and changed, from the lowest on.
        Exchange::Swizzle(name) => (name, vec![value, number(31 | bit << 10)]),
    };
    let types = vec![short; arguments.len()];
    let ty = module.function_type(short, &types);
    builder.call(declared(module, name, ty), &arguments)
}

/// The number of a direction that a device is asked for, as one of 64 bits; below another one, where that is known.
pub fn number<'d>(
    builder: &Builder<'d>,
    asked: &Asked,
    axis: usize,
    end: Option<i64>,
) -> Value<'d> {
    let module = builder.module();
    let (int, long) = (module.int(32), module.int(64));
    let number = match asked {
        Asked::Intrinsics(all) => {
            let ty = module.function_type(int, &[]);
            builder.call(declared(module, all[axis], ty), &[])
        }
        Asked::Function(name) => {
            let ty = module.function_type(long, &[int]);
            let function = declared(module, name, ty);
            for known in ["nounwind", "willreturn", "memory"] {
                function.set_attribute(module, known);
            }
            builder.call(function, &[module.const_i32(axis as i32)])
        }
    };
    if let Some((end, call)) = end.zip(number.as_instruction()) {
        call.set_result_below(module, end);
    }
    builder.int_cast(number, long)
}
