//! What is changed in a module that becomes one for a device, and compiling it: the safe side of `cxx/retarget.cpp`.

use std::ffi::c_void;

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMModuleRef};
use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;

use super::shim::{Text, TextSink};
use super::{Builder, Function, Machine, Module, OwnModule, Type};

unsafe extern "C" {
    fn okl_move_stack(module: LLVMModuleRef, space: u32);
    fn okl_move_tables(module: LLVMModuleRef, space: u32);
    fn okl_call_by(module: LLVMModuleRef, convention: u32, kernel: u32);
    fn okl_infer_spaces(module: LLVMModuleRef, machine: LLVMTargetMachineRef);
    fn okl_expand_atomics(module: LLVMModuleRef);
    fn okl_expand_overflow(module: LLVMModuleRef);
    fn okl_expand_fills(module: LLVMModuleRef);
    fn okl_scope_atomics(module: LLVMModuleRef, scope: Text, notes: Text);
    fn okl_fence(builder: LLVMBuilderRef, scope: Text, acquires: bool);
    fn okl_say_version(module: LLVMModuleRef, name: Text, major: u32, minor: u32);
    fn okl_flag(module: LLVMModuleRef, name: Text, number: u32);
    fn okl_keep_questions(module: LLVMModuleRef);
    fn okl_optimise(
        module: LLVMModuleRef,
        machine: LLVMTargetMachineRef,
        names: Text,
        for_ptxas: bool,
    ) -> i32;
    fn okl_compile(
        machine: LLVMTargetMachineRef,
        module: LLVMModuleRef,
        is_text: bool,
        sink: TextSink,
        to: *mut c_void,
    ) -> bool;
}

unsafe extern "C" fn push_bytes(to: *mut c_void, text: Text) {
    // SAFETY: `compile` passes a vector, the shim live bytes.
    unsafe { (*to.cast::<Vec<u8>>()).extend_from_slice(text.bytes()) }
}

impl OwnModule {
    /// Has variables of the stack lie in an address space. Nobody holds them.
    pub fn move_stack(&mut self, space: u32) {
        // SAFETY: a live module, of which nobody holds values.
        unsafe { okl_move_stack(self.raw(), space) }
    }

    /// Has constants lie in an address space. Nobody holds them.
    pub fn move_tables(&mut self, space: u32) {
        // SAFETY: as above.
        unsafe { okl_move_tables(self.raw(), space) }
    }

    /// Has questions stay where they are until it is optimised for NVIDIA's assembler: branches behind each other, which are
    /// short, run as predicates.
    pub fn keep_questions(&mut self) {
        // SAFETY: as above.
        unsafe { okl_keep_questions(self.raw()) }
    }

    /// Has all functions but those of the convention of kernels be called by another one.
    pub fn call_by(&mut self, convention: u32, kernel: u32) {
        // SAFETY: as above.
        unsafe { okl_call_by(self.raw(), convention, kernel) }
    }

    /// Has atomic updates of floating-point numbers, and others that SPIR-V has no instruction for, be loops around a
    /// compare-and-exchange.
    pub fn expand_atomics(&mut self) {
        // SAFETY: as above.
        unsafe { okl_expand_atomics(self.raw()) }
    }

    /// Has operations that tell of an overflow be what these are made of, but for products of signed numbers.
    pub fn expand_overflow(&mut self) {
        // SAFETY: as above.
        unsafe { okl_expand_overflow(self.raw()) }
    }

    /// Has memory be filled, and moved where it may overlap, by loops.
    pub fn expand_fills(&mut self) {
        // SAFETY: as above.
        unsafe { okl_expand_fills(self.raw()) }
    }

    /// Has what is accessed at once be so for all of a scope, and be noted with these names.
    pub fn scope_atomics(&mut self, scope: &str, notes: &[&str]) {
        let notes = notes.join(" ");
        // SAFETY: as above; texts that live through the call.
        unsafe { okl_scope_atomics(self.raw(), Text::new(scope), Text::new(&notes)) }
    }

    /// Notes a number.
    pub fn flag(&mut self, name: &str, number: u32) {
        // SAFETY: as above.
        unsafe { okl_flag(self.raw(), Text::new(name), number) }
    }

    /// Writes down a version.
    pub fn say_version(&mut self, name: &str, [major, minor]: [u32; 2]) {
        // SAFETY: as above.
        unsafe { okl_say_version(self.raw(), Text::new(name), major, minor) }
    }
}

impl Machine {
    /// Finds out which address spaces pointers of no particular one lead to.
    pub fn infer_spaces(&self, module: &mut OwnModule) {
        // SAFETY: a live module of this machine's, of which nobody holds values.
        unsafe { okl_infer_spaces(module.raw(), self.0) }
    }

    /// Runs passes, as suits code that NVIDIA's assembler gets where that is what it is for: see `cxx/ptxas.cpp`. Gives the
    /// module back, but where one of them fails, in whatever way: it is left as it is then, and nobody may look at it.
    pub fn optimise(&self, module: OwnModule, names: &str, for_ptxas: bool) -> Option<OwnModule> {
        optimise(Some(self), module, names, for_ptxas)
    }

    /// The code of a module: assembly, or an object. None where LLVM has none, or its back end fails.
    pub fn compile(&self, module: &mut OwnModule, is_text: bool) -> Option<Vec<u8>> {
        let mut code: Vec<u8> = Vec::new();
        let to = (&raw mut code).cast();
        // SAFETY: as above; the vector lives through the call.
        let is_done = unsafe { okl_compile(self.0, module.raw(), is_text, push_bytes, to) };
        is_done.then_some(code)
    }
}

fn optimise(
    machine: Option<&Machine>,
    module: OwnModule,
    names: &str,
    for_ptxas: bool,
) -> Option<OwnModule> {
    let machine = machine.map_or(std::ptr::null_mut(), |machine| machine.0);
    // SAFETY: a live module of this machine's, of which nobody holds values, and a text that lives through the call.
    let result = unsafe { okl_optimise(module.raw(), machine, Text::new(names), for_ptxas) };
    assert!(result != 1, "LLVM has no {names:?}");
    if result == 0 {
        return Some(module);
    }
    std::mem::forget(module);
    None
}

impl Builder<'_> {
    /// A fence that makes what was written visible in a scope, or visible what others wrote.
    pub fn fence(&self, scope: &str, acquires: bool) {
        // SAFETY: a positioned builder.
        unsafe { okl_fence(self.raw(), Text::new(scope), acquires) }
    }
}

impl<'m> Type<'m> {
    /// The type of the elements of a vector, and how many there are; another type is one.
    pub fn lanes(self) -> (Type<'m>, u32) {
        // SAFETY: a type; parts are asked of those that have some.
        unsafe {
            match LLVMGetTypeKind(self.raw()) {
                LLVMTypeKind::LLVMVectorTypeKind => (
                    Type::new(LLVMGetElementType(self.raw())),
                    LLVMGetVectorSize(self.raw()),
                ),
                _ => (self, 1),
            }
        }
    }

    /// The address space that pointers of this type lead to; none where it is no pointer.
    pub fn space(self) -> Option<u32> {
        // SAFETY: a type, which is a pointer where that is asked.
        unsafe {
            let is_pointer = LLVMGetTypeKind(self.raw()) == LLVMTypeKind::LLVMPointerTypeKind;
            is_pointer.then(|| LLVMGetPointerAddressSpace(self.raw()))
        }
    }
}

impl Function<'_> {
    /// The address of a parameter is that of an object which the caller has, of a type and alignment.
    pub fn refer_to_parameter(self, module: &Module, index: usize, ty: Type<'_>, align: u32) {
        self.type_parameter(module, "byref", index, ty, align);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_that_fail_end_nothing_but_the_attempt() {
        const TEXT: &str = "define i32 @f(i32 %a) { ret i32 %a }";
        for for_ptxas in [false, true] {
            for crashes in ["trigger-crash-module", "function(trigger-crash-function)"] {
                let module = OwnModule::parse(TEXT);
                assert!(optimise(None, module, crashes, for_ptxas).is_none());
            }
            let module = OwnModule::parse(TEXT);
            let module = optimise(None, module, "function(simplifycfg)", for_ptxas);
            assert!(module.expect("it works").function("f").is_some());
        }
    }
}
