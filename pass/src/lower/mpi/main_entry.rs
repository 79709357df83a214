//! `main`: the user's becomes `okl.main`, and the new one hands it to the runtime, or on one rank calls it.

use okl_abi::f;

use crate::llvm::{Builder, Function, Linkage, Module, Visibility};
use crate::lower::mpi::twins::{Twins, add_choice};
use crate::lower::runtime_call::declare;
use crate::marks::{ENTRY, USER_MAIN, is_lowered};

/// The parts of `main`.
#[derive(Clone, Copy)]
pub struct Main<'m> {
    /// The user's.
    pub users: Function<'m>,
    /// What starts it on ranks.
    pub start: Function<'m>,
}

/// Renames `main`, where the module defines it, and adds what starts it on ranks.
pub fn emit(module: &Module) -> Option<Main<'_>> {
    let user_main = module
        .function("main")
        .filter(|main| !main.is_declaration() && !is_lowered(*main))?;
    // Its debug information keeps the old name.
    user_main.set_name(USER_MAIN);
    user_main.set_linkage(Linkage::LLVMInternalLinkage);
    module.set_visibility(*user_main, Visibility::LLVMDefaultVisibility);
    user_main.leave_comdat();

    let (int, pointer) = (module.int(32), module.pointer());
    let ty = module.function_type(int, &[int, pointer, pointer]);
    let start = module.add_function("okl.start", ty, Linkage::LLVMInternalLinkage);
    let builder = Builder::at_end(module, start.append_block(module));
    let mut arguments = vec![*user_main];
    arguments.extend(start.parameters());
    let status = builder.call(declare(module, &f::okl_mpi_main), &arguments);
    builder.ret(Some(status));
    Some(Main {
        users: user_main,
        start,
    })
}

/// Adds the new `main`, which chooses.
pub fn emit_choice<'m>(module: &'m Module, main: Main<'m>, twins: &Twins<'m>) {
    let plain = twins.plain(main.users);
    let start = main.start;
    let new = add_choice(module, "main", start, plain, Some(start), twins.flag);
    new.set_linkage(Linkage::LLVMExternalLinkage);
    ENTRY.put_on(module, new);
}
