//! The safe side of `cxx/kernels.cpp`: functions as LLVM simplifies them.

use std::ops::Deref;

use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};

use super::{Function, Module, OwnModule};

unsafe extern "C" {
    fn okl_simplified_functions(
        module: LLVMModuleRef,
        functions: *const LLVMValueRef,
        count: usize,
    ) -> LLVMModuleRef;
    fn okl_unrolled_copy(function: LLVMValueRef) -> LLVMValueRef;
}

/// A copy of a function whose loops are written out, as far as their turns are constant and not too many; it is gone
/// in the end.
pub struct Unrolled<'m>(Function<'m>);

impl<'m> Unrolled<'m> {
    /// Of a function that its module defines.
    pub fn of(function: Function<'m>) -> Self {
        assert!(!function.is_declaration());
        // SAFETY: a definition of a live module; the result is one of the same module.
        let copy = unsafe { Function::from_nullable(okl_unrolled_copy(function.raw())) };
        Self(copy.expect("there is one"))
    }
}

impl<'m> Deref for Unrolled<'m> {
    type Target = Function<'m>;
    fn deref(&self) -> &Function<'m> {
        &self.0
    }
}

impl Drop for Unrolled<'_> {
    fn drop(&mut self) {
        self.0.erase_unused();
    }
}

/// A module with copies of functions that `module` defines, under their names, simplified.
pub fn simplified(module: &Module, functions: &[Function<'_>]) -> OwnModule {
    assert!(functions.iter().all(|one| !one.is_declaration()));
    let raw: Vec<_> = functions.iter().map(|one| one.raw()).collect();
    // SAFETY: definitions of a live module; the result is a new module.
    unsafe {
        let copy = okl_simplified_functions(module.raw(), raw.as_ptr(), raw.len());
        OwnModule::new(copy)
    }
}
