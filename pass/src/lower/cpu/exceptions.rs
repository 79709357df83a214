//! The end of the program for an exception that would leave a block of work items.

use crate::llvm::{Block, Builder, Function, Instruction, Linkage, Module, Type, Value};

/// How the C++ run time finds out who handles an exception.
pub(super) const PERSONALITY: &str = "__gxx_personality_v0";
/// Ends the program, for an exception that nobody handles.
const TERMINATE: &str = "_ZSt9terminatev";

/// A block where exceptions come to that nothing handles, of the function of an instruction.
pub(super) fn pad<'m>(module: &'m Module, like: Instruction<'m>) -> Block<'m> {
    let kernel = like.function();
    if kernel.personality().is_none() {
        let ty = module.variadic_type(module.int(32), &[]);
        kernel.set_personality(external(module, PERSONALITY, ty));
    }
    let block = kernel.append_block(module);
    let builder = Builder::at_end_like(module, block, like);
    let thrown = builder.caught();
    end_for(&builder, thrown);
    block
}

/// Ends the program for an exception.
pub(super) fn end_for<'m>(builder: &Builder<'m>, thrown: Value<'m>) {
    let module = builder.module();
    let ty = module.function_type(module.pointer(), &[module.pointer()]);
    builder.call(external(module, "__cxa_begin_catch", ty), &[thrown]);
    end(builder);
}

/// Ends the program.
pub(super) fn end(builder: &Builder<'_>) {
    let module = builder.module();
    let ty = module.function_type(module.void(), &[]);
    builder.call(external(module, TERMINATE, ty), &[]);
    builder.unreachable();
}

/// A function of another library.
fn external<'m>(module: &'m Module, name: &str, ty: Type<'m>) -> Function<'m> {
    let add = || module.add_function(name, ty, Linkage::LLVMExternalLinkage);
    module.function(name).unwrap_or_else(add)
}
