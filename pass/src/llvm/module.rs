//! Modules, and the constants and globals one builds in them.

use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::ops::Deref;

use inkwell::llvm_sys::LLVMVisibility;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};
use inkwell::llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMStoreSizeOfType,
};
use inkwell::module::Module as InkwellModule;

use okl_abi::AbiType;

use super::value::Linkage;
use super::{Function, Global, Type, Value};

pub use inkwell::llvm_sys::LLVMVisibility as Visibility;

/// The module the compiler works on. It belongs to the compiler.
pub struct Module {
    // Dropping inkwell's module would dispose of the compiler's.
    inner: ManuallyDrop<InkwellModule<'static>>,
}

/// A module that is made and disposed of here.
pub struct OwnModule(Module);

impl OwnModule {
    /// Reads a module that is written as LLVM prints it. Its context is never given back.
    #[cfg(test)]
    pub fn parse(text: &str) -> Self {
        use inkwell::llvm_sys::core::{
            LLVMContextCreate, LLVMCreateMemoryBufferWithMemoryRangeCopy,
        };
        use inkwell::llvm_sys::ir_reader::LLVMParseIRInContext2;
        let mut raw = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: LLVM copies the text and gives a module, or says what is wrong.
        unsafe {
            let (data, size) = (text.as_ptr().cast(), text.len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, size, c"test".as_ptr());
            let failed =
                LLVMParseIRInContext2(LLVMContextCreate(), buffer, &mut raw, &mut message) != 0;
            if failed {
                panic!("{}", std::ffi::CStr::from_ptr(message).to_string_lossy());
            }
            Self(Module::new(raw))
        }
    }

    /// # Safety
    /// `raw` is a module that nobody else disposes of.
    pub(super) unsafe fn new(raw: LLVMModuleRef) -> Self {
        // SAFETY: it lives until `drop`.
        Self(unsafe { Module::new(raw) })
    }

    /// The same module once more.
    pub fn clone_of(module: &Module) -> Self {
        // SAFETY: a live module; the result is a new one.
        unsafe { Self::new(LLVMCloneModule(module.raw())) }
    }

    /// A copy of a module, all functions of which may be optimised.
    pub fn copy_of(module: &Module) -> Self {
        let copy = Self::clone_of(module);
        for function in copy.functions() {
            if function.has_attribute("optnone") {
                function.remove_attribute("optnone");
                function.remove_attribute("noinline");
            }
        }
        copy
    }
}

impl Deref for OwnModule {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.0
    }
}

impl Drop for OwnModule {
    fn drop(&mut self) {
        // SAFETY: it is this value's own, and nothing of it outlives the borrow.
        unsafe { LLVMDisposeModule(self.raw()) }
    }
}

impl Module {
    /// # Safety
    /// `raw` is a live module that outlives the result.
    pub(super) unsafe fn new(raw: LLVMModuleRef) -> Self {
        // SAFETY: the caller vouches for the module.
        let inner = ManuallyDrop::new(unsafe { InkwellModule::new(raw) });
        Self { inner }
    }

    pub(super) fn raw(&self) -> LLVMModuleRef {
        self.inner.as_mut_ptr()
    }

    pub(super) fn raw_context(&self) -> LLVMContextRef {
        // SAFETY: a live module.
        unsafe { LLVMGetModuleContext(self.raw()) }
    }

    /// LLVM's own check of the module.
    pub fn verify(&self) -> Result<(), String> {
        self.inner.verify().map_err(|text| text.to_string())
    }

    /// Name of the source file.
    pub fn source_file(&self) -> String {
        crate::fortran::file_of(self).unwrap_or_else(|| self.source_name())
    }

    /// The name that the compiler gave it.
    pub fn source_name(&self) -> String {
        self.inner
            .get_source_file_name()
            .to_string_lossy()
            .into_owned()
    }

    /// Every function, in order.
    pub fn functions(&self) -> Vec<Function<'_>> {
        let mut functions = Vec::new();
        // SAFETY: a live module; the list is read to its end before anything changes.
        unsafe {
            let mut next = LLVMGetFirstFunction(self.raw());
            while let Some(function) = Function::from_nullable(next) {
                functions.push(function);
                next = LLVMGetNextFunction(next);
            }
        }
        functions
    }

    /// Every global variable, in order.
    pub fn globals(&self) -> Vec<Global<'_>> {
        let mut globals = Vec::new();
        // SAFETY: a live module; the list is read to its end before anything changes.
        unsafe {
            let mut next = LLVMGetFirstGlobal(self.raw());
            while let Some(global) = Global::from_nullable(next) {
                globals.push(global);
                next = LLVMGetNextGlobal(next);
            }
        }
        globals
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<Function<'_>> {
        let name = CString::new(name).ok()?;
        // SAFETY: a live module; the result is null or a function.
        unsafe { Function::from_nullable(LLVMGetNamedFunction(self.raw(), name.as_ptr())) }
    }

    /// The global variable of that name.
    pub fn global(&self, name: &str) -> Option<Global<'_>> {
        let name = CString::new(name).ok()?;
        // SAFETY: a live module; the result is null or a global variable.
        unsafe { Global::from_nullable(LLVMGetNamedGlobal(self.raw(), name.as_ptr())) }
    }

    /// Adds a function.
    pub fn add_function(&self, name: &str, ty: Type<'_>, linkage: Linkage) -> Function<'_> {
        let name = CString::new(name).expect("symbol names have no NUL");
        // SAFETY: a live module and a function type of its context.
        unsafe {
            let raw = LLVMAddFunction(self.raw(), name.as_ptr(), ty.raw());
            LLVMSetLinkage(raw, linkage);
            Function::from_nullable(raw).expect("LLVM adds the function")
        }
    }

    /// The function of that name of another module or of a library, declared where the module lacks it.
    pub fn declared<'m>(&'m self, name: &str, ty: Type<'m>) -> Function<'m> {
        let known = self.function(name);
        known.unwrap_or_else(|| self.add_function(name, ty, Linkage::LLVMExternalLinkage))
    }

    /// Adds a global variable, with an initial value or as a declaration.
    pub fn add_global<'m>(
        &'m self,
        name: &str,
        ty: Type<'m>,
        initializer: Option<Value<'m>>,
        linkage: Linkage,
    ) -> Global<'m> {
        let name = CString::new(name).expect("symbol names have no NUL");
        // SAFETY: a live module and a type of its context.
        let global = unsafe {
            let raw = LLVMAddGlobal(self.raw(), ty.raw(), name.as_ptr());
            LLVMSetLinkage(raw, linkage);
            Global::from_nullable(raw).expect("LLVM adds the variable")
        };
        if let Some(value) = initializer {
            global.set_initializer(value);
        }
        global
    }

    /// Whether it has an alias of this name.
    pub fn has_alias(&self, name: &str) -> bool {
        // SAFETY: a live module; the text lives through the call.
        unsafe { !LLVMGetNamedGlobalAlias(self.raw(), name.as_ptr().cast(), name.len()).is_null() }
    }

    /// Gives a function a second name, with the same linkage and visibility.
    pub fn add_alias(&self, name: &str, function: Function<'_>) {
        let name = CString::new(name).expect("symbol names have no NUL");
        // SAFETY: a defined function of this module and its own type.
        unsafe {
            let ty = function.function_type().raw();
            let alias = LLVMAddAlias2(self.raw(), ty, 0, function.raw(), name.as_ptr());
            LLVMSetLinkage(alias, function.linkage());
            LLVMSetVisibility(alias, LLVMGetVisibility(function.raw()));
        }
    }

    /// The address of a function that LLVM may replace by copies of its body, without a demand that it exist: null
    /// where no object defines it. Nothing where its name cannot be written in assembly.
    pub fn weak_reference(&self, function: Function<'_>) -> Option<Value<'_>> {
        const UNUSUAL: [char; 4] = ['"', '\\', '\n', '\u{1}'];
        let name = function.name();
        if name.is_empty() || name.contains(UNUSUAL) {
            return None;
        }
        // A declaration of IR is weak or not in all of its uses; of this one only the uses by that name are.
        let weak = format!("okl.weak.{name}");
        let declared = self.global(&weak).unwrap_or_else(|| {
            let directive = format!(".weakref \"{weak}\", \"{name}\"");
            // SAFETY: a live module and `directive.len()` bytes, which LLVM copies.
            unsafe {
                LLVMAppendModuleInlineAsm(self.raw(), directive.as_ptr().cast(), directive.len());
            }
            self.add_global(&weak, self.int(8), None, Linkage::LLVMExternalWeakLinkage)
        });
        Some(*declared)
    }

    /// Adds a private constant.
    pub fn add_constant<'m>(&'m self, name: &str, value: Value<'m>) -> Global<'m> {
        let global = self.add_global(name, value.ty(), Some(value), Linkage::LLVMPrivateLinkage);
        global.set_readonly();
        global
    }

    /// Adds a NUL-terminated text as a private constant.
    pub fn add_text(&self, name: &str, text: &str) -> Global<'_> {
        self.add_bytes(name, text.as_bytes())
    }

    /// The same of bytes.
    pub fn add_bytes(&self, name: &str, text: &[u8]) -> Global<'_> {
        // SAFETY: a live context and `text.len()` bytes.
        let value = unsafe {
            Value::new(LLVMConstStringInContext2(
                self.raw_context(),
                text.as_ptr().cast(),
                text.len(),
                0,
            ))
        };
        let global = self.add_constant(name, value);
        // SAFETY: a global variable; its address is not compared, so equal texts may be merged.
        unsafe {
            LLVMSetUnnamedAddress(
                global.raw(),
                inkwell::llvm_sys::LLVMUnnamedAddr::LLVMGlobalUnnamedAddr,
            )
        };
        global
    }

    /// Whether it has a module flag of that name.
    pub fn has_flag(&self, name: &str) -> bool {
        // SAFETY: a live module and `name.len()` bytes.
        unsafe { !LLVMGetModuleFlag(self.raw(), name.as_ptr().cast(), name.len()).is_null() }
    }

    /// Sets the visibility of a global.
    pub fn set_visibility(&self, value: Value<'_>, visibility: LLVMVisibility) {
        assert!(value.as_function().is_some() || value.as_global().is_some());
        // SAFETY: a global object.
        unsafe { LLVMSetVisibility(value.raw(), visibility) }
    }

    /// The integer type of that width.
    pub fn int(&self, bits: u32) -> Type<'_> {
        // SAFETY: a live context.
        unsafe { Type::new(LLVMIntTypeInContext(self.raw_context(), bits)) }
    }

    /// `float` or `double`.
    pub fn floating(&self, bits: u32) -> Type<'_> {
        // SAFETY: a live context.
        unsafe {
            Type::new(match bits {
                32 => LLVMFloatTypeInContext(self.raw_context()),
                _ => LLVMDoubleTypeInContext(self.raw_context()),
            })
        }
    }

    /// The pointer type.
    pub fn pointer(&self) -> Type<'_> {
        // SAFETY: a live context.
        unsafe { Type::new(LLVMPointerTypeInContext(self.raw_context(), 0)) }
    }

    /// The type of no value.
    pub fn void(&self) -> Type<'_> {
        // SAFETY: a live context.
        unsafe { Type::new(LLVMVoidTypeInContext(self.raw_context())) }
    }

    /// The IR type of a type that crosses the runtime boundary.
    pub fn abi_type(&self, ty: AbiType) -> Type<'_> {
        match ty {
            AbiType::Void => self.void(),
            AbiType::I32 => self.int(32),
            AbiType::I64 => self.int(64),
            // SAFETY: a live context.
            AbiType::F64 => unsafe { Type::new(LLVMDoubleTypeInContext(self.raw_context())) },
            AbiType::Ptr => self.pointer(),
        }
    }

    /// An array type.
    pub fn array<'m>(&'m self, element: Type<'m>, count: u64) -> Type<'m> {
        // SAFETY: a sized type.
        unsafe { Type::new(LLVMArrayType2(element.raw(), count)) }
    }

    /// A function type.
    pub fn function_type<'m>(&'m self, result: Type<'m>, parameters: &[Type<'m>]) -> Type<'m> {
        let mut raw: Vec<_> = parameters.iter().map(|ty| ty.raw()).collect();
        // SAFETY: types of this context.
        unsafe {
            Type::new(LLVMFunctionType(
                result.raw(),
                raw.as_mut_ptr(),
                raw.len() as u32,
                0,
            ))
        }
    }

    /// A constant `i8`.
    pub fn const_i8(&self, value: u8) -> Value<'_> {
        // SAFETY: an integer type.
        unsafe { Value::new(LLVMConstInt(self.int(8).raw(), u64::from(value), 0)) }
    }

    /// A constant `i32`.
    pub fn const_i32(&self, value: i32) -> Value<'_> {
        // SAFETY: an integer type.
        unsafe { Value::new(LLVMConstInt(self.int(32).raw(), i64::from(value) as u64, 1)) }
    }

    /// A constant `i64`.
    pub fn const_i64(&self, value: i64) -> Value<'_> {
        // SAFETY: an integer type.
        unsafe { Value::new(LLVMConstInt(self.int(64).raw(), value as u64, 1)) }
    }

    /// A constant struct.
    pub fn const_struct<'m>(&'m self, fields: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = fields.iter().map(|value| value.raw()).collect();
        // SAFETY: constants of this context.
        unsafe {
            Value::new(LLVMConstStructInContext(
                self.raw_context(),
                raw.as_mut_ptr(),
                raw.len() as u32,
                0,
            ))
        }
    }

    /// A constant array.
    pub fn const_array<'m>(&'m self, element: Type<'m>, values: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = values.iter().map(|value| value.raw()).collect();
        // SAFETY: constants of the element type.
        unsafe {
            Value::new(LLVMConstArray2(
                element.raw(),
                raw.as_mut_ptr(),
                raw.len() as u64,
            ))
        }
    }

    /// Bytes from one array element of the type to the next.
    pub fn size_of(&self, ty: Type<'_>) -> u64 {
        // SAFETY: a sized type.
        unsafe { LLVMABISizeOfType(LLVMGetModuleDataLayout(self.raw()), ty.raw()) }
    }

    /// Bytes a store of the type writes.
    pub fn store_size_of(&self, ty: Type<'_>) -> u64 {
        // SAFETY: a sized type.
        unsafe { LLVMStoreSizeOfType(LLVMGetModuleDataLayout(self.raw()), ty.raw()) }
    }

    /// Alignment the type needs.
    pub fn align_of(&self, ty: Type<'_>) -> u32 {
        // SAFETY: a sized type.
        unsafe { LLVMABIAlignmentOfType(LLVMGetModuleDataLayout(self.raw()), ty.raw()) }
    }
}
