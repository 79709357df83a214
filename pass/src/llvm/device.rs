//! Modules of code for other processors, and compiling them: the safe side of `cxx/device.cpp`, and the C API's part.
//!
//! The compiler has made LLVM's targets known before it loads the plugin.

use std::collections::HashSet;
use std::ffi::CString;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::error::LLVMConsumeError;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};
use inkwell::llvm_sys::target::{LLVMDisposeTargetData, LLVMSetModuleDataLayout};
use inkwell::llvm_sys::target_machine::*;
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses,
};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMTypeKind};

use super::attributes::Place;
use super::shim::Text;
use super::{Function, Global, Instruction, Linkage, Module, Opcode, OwnModule, Type, Value};

unsafe extern "C" {
    fn okl_clone_with_lines(module: LLVMModuleRef) -> LLVMModuleRef;
    fn okl_forget_processor(module: LLVMModuleRef);
    fn okl_link_needed(module: LLVMModuleRef, bitcode: Text) -> bool;
    fn okl_link_text(module: LLVMModuleRef, text: Text);
    fn okl_answer(module: LLVMModuleRef, name: Text, answer: i32);
    fn okl_has_failed(context: LLVMContextRef) -> bool;
}

/// What code is compiled for.
pub struct Processor {
    /// LLVM's name of the kind of processor, and of the system.
    pub triple: &'static str,
    /// The processor.
    pub name: &'static str,
    /// What it has besides.
    pub features: &'static str,
    /// Whether its driver compiles the code again: then it is left simple, as more readers of it know it.
    pub is_compiled_again: bool,
}

/// A compiler for a processor.
pub struct Machine(pub(super) LLVMTargetMachineRef);

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: created by us, disposed of once.
        unsafe { LLVMDisposeTargetMachine(self.0) }
    }
}

impl Machine {
    /// For a processor, if this LLVM has it.
    pub fn of(processor: &Processor) -> Option<Self> {
        let text = |text: &str| CString::new(text).expect("names have no NUL");
        let triple = text(processor.triple);
        let (name, features) = (text(processor.name), text(processor.features));
        let (mut target, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: texts that live through the calls; LLVM gives a target or a message, which is ours to dispose of.
        unsafe {
            if LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut message) != 0 {
                LLVMDisposeMessage(message);
                return None;
            }
            let raw = LLVMCreateTargetMachine(
                target,
                triple.as_ptr(),
                name.as_ptr(),
                features.as_ptr(),
                match processor.is_compiled_again {
                    true => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
                    false => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
                },
                LLVMRelocMode::LLVMRelocDefault,
                LLVMCodeModel::LLVMCodeModelDefault,
            );
            (!raw.is_null()).then_some(Self(raw))
        }
    }

    /// Has a module be one for this processor.
    pub fn adopt(&self, module: &Module) {
        // SAFETY: a live module; the text and the layout are ours to dispose of.
        unsafe {
            let triple = LLVMGetTargetMachineTriple(self.0);
            LLVMSetTarget(module.raw(), triple);
            LLVMDisposeMessage(triple);
            let layout = LLVMCreateTargetDataLayout(self.0);
            LLVMSetModuleDataLayout(module.raw(), layout);
            LLVMDisposeTargetData(layout);
        }
    }

    /// Has atomic accesses that a processor has no instruction for be loops around a compare-and-exchange, as LLVM's back ends
    /// make them. What such a loop begins with is an atomic read here: others write that memory meanwhile.
    pub fn expand_atomics(&self, module: &mut OwnModule) {
        let reads = |module: &OwnModule| {
            let code = module.functions().into_iter();
            let code = code.flat_map(|function| function.instructions());
            let is_plain =
                |one: &Instruction<'_>| one.opcode() == Opcode::LLVMLoad && !one.is_atomic_access();
            let reads = code.filter(is_plain);
            reads.map(|one| one.raw()).collect::<Vec<_>>()
        };
        let before: HashSet<_> = reads(module).into_iter().collect();
        self.run(module, "function(atomic-expand)");
        for read in reads(module) {
            if !before.contains(&read) {
                let order = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
                // SAFETY: a load of what is compared and exchanged: of such a size, and aligned to it.
                unsafe { LLVMSetOrdering(read, order) };
            }
        }
    }

    /// Runs passes over a module of this processor's, of which nobody holds values: they borrow it.
    pub fn run(&self, module: &mut OwnModule, names: &str) {
        let names = CString::new(names).expect("names have no NUL");
        // SAFETY: a live module; the options are disposed of, an error that LLVM hands over is taken.
        let known = unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let error = LLVMRunPasses(module.raw(), names.as_ptr(), self.0, options);
            LLVMDisposePassBuilderOptions(options);
            let known = error.is_null();
            if !known {
                LLVMConsumeError(error);
            }
            known
        };
        assert!(known, "LLVM has no {names:?}");
    }
}

impl OwnModule {
    /// A copy of a module, all functions of which may be optimised, that says of the source where instructions stand.
    pub fn copy_with_lines(module: &Module) -> Self {
        // SAFETY: a live module; the result is a new one.
        let copy = unsafe { Self::new(okl_clone_with_lines(module.raw())) };
        for function in copy.functions() {
            for name in ["optnone", "noinline"] {
                function.remove_attribute(name);
            }
        }
        copy
    }

    /// Takes from it what it has only for the processor that it was made for. Nobody outside sees what is in it.
    pub fn forget_processor(&mut self) {
        // SAFETY: a live module, of which nobody holds values.
        unsafe { okl_forget_processor(self.raw()) }
        const KEPT: [&str; 9] = [
            "nounwind",
            "convergent",
            "alwaysinline",
            "inlinehint",
            "mustprogress",
            "willreturn",
            "noreturn",
            "cold",
            "memory",
        ];
        for function in self.functions() {
            if !function.is_intrinsic() {
                function.keep_attributes(&KEPT);
            }
        }
    }

    /// Adds functions that are written as LLVM prints them.
    pub fn link_text(&mut self, text: &str) {
        // SAFETY: a live module, and a text that lives through the call.
        unsafe { okl_link_text(self.raw(), Text::new(text)) }
    }

    /// Answers what libdevice asks by a name while it is compiled. Nobody holds values.
    pub fn answer(&mut self, name: &str, answer: i32) {
        // SAFETY: as above.
        unsafe { okl_answer(self.raw(), Text::new(name), answer) }
    }

    /// Adds what it needs of a library for the same processor. False where that cannot be read.
    pub fn link_needed(&mut self, bitcode: &[u8]) -> bool {
        // SAFETY: a live module, and bytes that live through the call.
        unsafe { okl_link_needed(self.raw(), Text::of_bytes(bitcode)) }
    }
}

impl Module {
    /// Adds functions that are written as LLVM prints them, of which it has none. What it has stays as it is.
    pub fn add_functions(&self, text: &str) {
        // SAFETY: a live module, and a text that lives through the call.
        unsafe { okl_link_text(self.raw(), Text::new(text)) }
    }

    /// Whether an error was told since someone else is told what happens in its context: see [`super::Silence`].
    pub fn has_failed(&self) -> bool {
        // SAFETY: a live context, which has who is told.
        unsafe { okl_has_failed(self.raw_context()) }
    }

    /// The type of pointers into an address space.
    pub fn pointer_into(&self, space: u32) -> Type<'_> {
        // SAFETY: a live context.
        unsafe { Type::new(LLVMPointerTypeInContext(self.raw_context(), space)) }
    }

    /// Adds a variable without a value in an address space; as a pointer like others.
    pub fn add_in_space(&self, name: &str, ty: Type<'_>, space: u32, align: u32) -> Value<'_> {
        let name = CString::new(name).expect("symbol names have no NUL");
        // SAFETY: a live module, a type of its context and a power of two.
        unsafe {
            let raw = LLVMAddGlobalInAddressSpace(self.raw(), ty.raw(), name.as_ptr(), space);
            LLVMSetLinkage(raw, Linkage::LLVMInternalLinkage);
            LLVMSetInitializer(raw, ty.poison().raw());
            LLVMSetAlignment(raw, align);
            Value::new(LLVMConstAddrSpaceCast(raw, self.pointer().raw()))
        }
    }

    /// An array of bytes in an address space which is as long as is said elsewhere; as a pointer like others.
    pub fn declare_in_space(&self, name: &str, space: u32, align: u32) -> Value<'_> {
        let name = CString::new(name).expect("symbol names have no NUL");
        let ty = self.array(self.int(8), 0);
        // SAFETY: a live module, a type of its context and a power of two.
        unsafe {
            let mut raw = LLVMGetNamedGlobal(self.raw(), name.as_ptr());
            if raw.is_null() {
                raw = LLVMAddGlobalInAddressSpace(self.raw(), ty.raw(), name.as_ptr(), space);
                LLVMSetAlignment(raw, align);
            }
            Value::new(LLVMConstAddrSpaceCast(raw, self.pointer().raw()))
        }
    }

    /// Whether anything in it has a second name.
    pub fn has_aliases(&self) -> bool {
        // SAFETY: a live module.
        unsafe { !LLVMGetFirstGlobalAlias(self.raw()).is_null() }
    }
}

impl<'m> Function<'m> {
    /// Is called by the convention of a number.
    pub fn set_convention(self, number: u32) {
        // SAFETY: a function.
        unsafe { LLVMSetFunctionCallConv(self.raw(), number) }
    }

    /// Takes back all attributes of the function itself but these.
    pub fn keep_attributes(self, kept: &[&str]) {
        let place = Place::Call.number();
        // SAFETY: a function; attributes are written to as many places as there are, and belong to the context.
        unsafe {
            let size = LLVMGetAttributeCountAtIndex(self.raw(), place) as usize;
            let mut attributes = vec![std::ptr::null_mut(); size];
            LLVMGetAttributesAtIndex(self.raw(), place, attributes.as_mut_ptr());
            for one in attributes {
                if LLVMIsStringAttribute(one) != 0 {
                    let mut size = 0;
                    let name = LLVMGetStringAttributeKind(one, &mut size);
                    LLVMRemoveStringAttributeAtIndex(self.raw(), place, name, size);
                    continue;
                }
                let kind = LLVMGetEnumAttributeKind(one);
                let is_kept = |name: &&str| {
                    LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) == kind
                };
                if !kept.iter().any(is_kept) {
                    LLVMRemoveEnumAttributeAtIndex(self.raw(), place, kind);
                }
            }
        }
    }

    /// What is copied where a parameter is passed as a copy of what it points to.
    pub fn copied_parameter(self, index: usize) -> Option<Type<'m>> {
        self.parameter_attribute(index, "byval")?.ty()
    }

    /// Of which alignment what a parameter points to is said to be, in bytes.
    pub fn parameter_alignment(self, index: usize) -> u32 {
        let align = self.parameter_attribute(index, "align");
        align.map_or(1, |align| align.number() as u32)
    }

    /// Passes a copy of an object of a type, of which the parameter is the address. OpenCL has copies of structs alone: what
    /// is none is the only member of one.
    pub fn copy_parameter(self, module: &'m Module, index: usize, ty: Type<'m>, align: u32) {
        // SAFETY: a type, and one type of the module's context.
        let ty = unsafe {
            match LLVMGetTypeKind(ty.raw()) {
                LLVMTypeKind::LLVMStructTypeKind => ty,
                _ => {
                    let mut only = ty.raw();
                    let context = module.raw_context();
                    Type::new(LLVMStructTypeInContext(context, &mut only, 1, 0))
                }
            }
        };
        self.type_parameter(module, "byval", index, ty, align);
    }

    /// Says of a parameter's object of which type it is, by an attribute of that name.
    pub(super) fn type_parameter(
        self,
        module: &Module,
        attribute: &str,
        index: usize,
        ty: Type<'_>,
        align: u32,
    ) {
        let kind = |name: &str| {
            // SAFETY: `name.len()` bytes.
            unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
        };
        let place = Place::Parameter(index).number();
        // SAFETY: a function with such a parameter, a sized type and a power of two.
        unsafe {
            let context = module.raw_context();
            let copied = LLVMCreateTypeAttribute(context, kind(attribute), ty.raw());
            LLVMAddAttributeAtIndex(self.raw(), place, copied);
            let align = LLVMCreateEnumAttribute(context, kind("align"), u64::from(align));
            LLVMAddAttributeAtIndex(self.raw(), place, align);
        }
    }
}

impl Global<'_> {
    /// The number of its address space.
    pub fn address_space(self) -> u32 {
        // SAFETY: a global variable, whose type is a pointer.
        unsafe { LLVMGetPointerAddressSpace(LLVMTypeOf(self.raw())) }
    }
}

impl Type<'_> {
    /// Whether there are pointers in it.
    pub fn has_pointers(self) -> bool {
        // SAFETY: a type; parts are asked of those that have some.
        unsafe {
            match LLVMGetTypeKind(self.raw()) {
                LLVMTypeKind::LLVMPointerTypeKind => true,
                LLVMTypeKind::LLVMStructTypeKind => {
                    let count = LLVMCountStructElementTypes(self.raw());
                    let part = |at| Type::new(LLVMStructGetTypeAtIndex(self.raw(), at));
                    (0..count).any(|at| part(at).has_pointers())
                }
                LLVMTypeKind::LLVMArrayTypeKind
                | LLVMTypeKind::LLVMVectorTypeKind
                | LLVMTypeKind::LLVMScalableVectorTypeKind => {
                    Type::new(LLVMGetElementType(self.raw())).has_pointers()
                }
                _ => false,
            }
        }
    }
}
