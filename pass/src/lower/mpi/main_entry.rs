//! `main`: the user's becomes `okl.main`, and the new one hands it to the runtime.

use okl_abi::f;

use crate::llvm::{Builder, Function, Linkage, Module, Visibility};
use crate::lower::mpi::MARK;
use crate::lower::runtime_call::declare;

/// Name of the user's `main`. Its debug information keeps the old name.
pub const USER_MAIN: &str = "okl.main";

/// Replaces `main`, where the module defines it. Returns the new one.
pub fn emit(module: &Module) -> Option<Function<'_>> {
    let user_main = module
        .function("main")
        .filter(|main| !main.is_declaration() && !main.has_mark(MARK))?;
    user_main.set_name(USER_MAIN);
    user_main.set_linkage(Linkage::LLVMInternalLinkage);
    module.set_visibility(*user_main, Visibility::LLVMDefaultVisibility);
    user_main.leave_comdat();

    let (int, pointer) = (module.int(32), module.pointer());
    let ty = module.function_type(int, &[int, pointer, pointer]);
    let main = module.add_function("main", ty, Linkage::LLVMExternalLinkage);
    let builder = Builder::at_end(module, main.append_block(module));
    let mut arguments = vec![*user_main];
    arguments.extend(main.parameters());
    let status = builder.call(declare(module, &f::okl_mpi_main), &arguments);
    builder.ret(Some(status));
    Some(main)
}
