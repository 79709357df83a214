//! Variables of which each thread has its own: the code that is left asks functions of the program for their addresses.
//!
//! Guarantee: such a function is to LLVM what asks for the address in the program (`llvm.threadlocal.address`): within a function
//! it always gives the same address, and nothing else is known of it.

use crate::llvm::{
    Builder, Function, Global, Instruction, Intrinsic, Linkage, Module, Opcode, Value,
};

const ADDRESS: &str = "llvm.threadlocal.address";

/// Whether code cannot do without an operand, where that is, or has, the address of such a variable.
pub(super) fn needs(code: Instruction<'_>, operand: Value<'_>) -> bool {
    let is_plain = || code.opcode() != Opcode::LLVMPHI && !operand.name().is_empty();
    match operand.as_global() {
        Some(variable) => variable.is_thread_local() && !is_plain(),
        None => is_inside(operand),
    }
}

fn is_inside(constant: Value<'_>) -> bool {
    match constant.as_global() {
        Some(variable) => variable.is_thread_local(),
        None if constant.is_global_value() => false,
        None => constant.is_constant() && constant.operands().into_iter().any(is_inside),
    }
}

fn name_of(variable: Global<'_>) -> String {
    format!("okl.jit.own.{}", variable.name())
}

/// The variables that code of a module names.
fn variables<'m>(module: &'m Module) -> Vec<Global<'m>> {
    let all = module.globals().into_iter();
    let own = all.filter(|one| one.is_thread_local() && !one.name().is_empty());
    own.filter(|one| !one.instruction_users().is_empty())
        .collect()
}

/// The functions of the program, one for each variable.
pub(super) struct Functions<'m>(Vec<Function<'m>>);

impl<'m> Functions<'m> {
    /// Adds them to a module.
    pub(super) fn add(module: &'m Module) -> Self {
        let add = |variable: Global<'m>| {
            let ty = module.function_type(module.pointer(), &[]);
            let linkage = Linkage::LLVMInternalLinkage;
            let function = module.add_function(&name_of(variable), ty, linkage);
            if let Some(like) = variable.instruction_users().first() {
                function.compile_like(like.function());
            }
            let builder = Builder::at_end(module, function.append_block(module));
            let asks = Intrinsic::named(ADDRESS);
            let address = builder.call_intrinsic(asks, &[module.pointer()], &[*variable]);
            builder.ret(Some(address));
            function
        };
        Self(variables(module).into_iter().map(add).collect())
    }

    /// Takes out those that nothing asks. True where some are left.
    pub(super) fn erase_unused(self) -> bool {
        let (unused, used): (Vec<_>, Vec<_>) = self.0.into_iter().partition(|one| one.is_unused());
        unused.into_iter().for_each(Function::erase_unused);
        !used.is_empty()
    }
}

/// Has code that is left ask them.
pub(super) fn ask(code: &Module) {
    for variable in variables(code) {
        let ty = code.function_type(code.pointer(), &[]);
        let function = code.declared(&name_of(variable), ty);
        for one in ["memory", "nounwind", "willreturn", "nosync", "speculatable"] {
            function.set_attribute(code, one);
        }
        for user in variable.instruction_users() {
            let address = || Builder::before(code, user).call(function, &[]);
            let asks = user.as_call().filter(|call| {
                let name = call.intrinsic().map(Intrinsic::name);
                name.as_deref() == Some(ADDRESS)
            });
            if let Some(call) = asks {
                call.replace_all_uses_with(address());
                user.erase();
                continue;
            }
            for (at, operand) in user.operands().into_iter().enumerate() {
                if operand == *variable {
                    user.set_operand(at, address());
                }
            }
        }
    }
}
