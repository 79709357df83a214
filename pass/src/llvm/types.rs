//! Types of values.

use std::ffi::CStr;
use std::marker::PhantomData;

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::{
    LLVMConstNull, LLVMConstReal, LLVMCountParamTypes, LLVMDisposeMessage, LLVMGetArrayLength2,
    LLVMGetElementType, LLVMGetIntTypeWidth, LLVMGetParamTypes, LLVMGetPoison, LLVMGetReturnType,
    LLVMGetStructName, LLVMGetTypeKind, LLVMIsFunctionVarArg, LLVMPrintTypeToString,
    LLVMTypeIsSized,
};
use inkwell::llvm_sys::prelude::LLVMTypeRef;

use super::Value;

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type<'m> {
    raw: LLVMTypeRef,
    lives: PhantomData<&'m ()>,
}

impl<'m> Type<'m> {
    /// # Safety
    /// `raw` is a live type of the context the lifetime belongs to.
    pub(super) unsafe fn new(raw: LLVMTypeRef) -> Self {
        debug_assert!(!raw.is_null());
        Self {
            raw,
            lives: PhantomData,
        }
    }

    pub(super) fn raw(self) -> LLVMTypeRef {
        self.raw
    }

    fn kind(self) -> LLVMTypeKind {
        // SAFETY: a live type.
        unsafe { LLVMGetTypeKind(self.raw) }
    }

    /// An address.
    pub fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// An integer of any width.
    pub fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    /// `float` or `double`.
    pub fn is_float_or_double(self) -> bool {
        matches!(
            self.kind(),
            LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind
        )
    }

    /// `double`.
    pub fn is_double(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMDoubleTypeKind
    }

    /// Any floating-point type.
    pub fn is_floating(self) -> bool {
        matches!(
            self.kind(),
            LLVMTypeKind::LLVMHalfTypeKind
                | LLVMTypeKind::LLVMBFloatTypeKind
                | LLVMTypeKind::LLVMFloatTypeKind
                | LLVMTypeKind::LLVMDoubleTypeKind
                | LLVMTypeKind::LLVMX86_FP80TypeKind
                | LLVMTypeKind::LLVMFP128TypeKind
                | LLVMTypeKind::LLVMPPC_FP128TypeKind
        )
    }

    /// No value.
    pub fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// A struct, an array or a vector.
    pub fn is_aggregate(self) -> bool {
        !(self.is_pointer() || self.is_integer() || self.is_floating() || self.is_void())
    }

    /// Width of an integer type.
    pub fn bits(self) -> Option<u32> {
        // SAFETY: an integer type, as just checked.
        self.is_integer()
            .then(|| unsafe { LLVMGetIntTypeWidth(self.raw) })
    }

    /// An array of at least one byte.
    pub fn is_array_of_bytes(self) -> bool {
        if self.kind() != LLVMTypeKind::LLVMArrayTypeKind {
            return false;
        }
        // SAFETY: an array type.
        let (element, count) = unsafe {
            (
                Type::new(LLVMGetElementType(self.raw)),
                LLVMGetArrayLength2(self.raw),
            )
        };
        count > 0 && element.bits() == Some(8)
    }

    fn is_function(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMFunctionTypeKind
    }

    /// Parameters of a function type.
    pub fn parameters(self) -> Vec<Type<'m>> {
        assert!(self.is_function());
        // SAFETY: a function type; LLVM fills as many entries as it counted.
        unsafe {
            let count = LLVMCountParamTypes(self.raw) as usize;
            let mut raw = vec![std::ptr::null_mut(); count];
            LLVMGetParamTypes(self.raw, raw.as_mut_ptr());
            raw.into_iter().map(|raw| Type::new(raw)).collect()
        }
    }

    /// What a function type returns.
    pub fn result(self) -> Type<'m> {
        assert!(self.is_function());
        // SAFETY: a function type.
        unsafe { Type::new(LLVMGetReturnType(self.raw)) }
    }

    /// The text LLVM prints for it.
    pub fn print(self) -> String {
        // SAFETY: LLVM returns a string that is ours to dispose of.
        unsafe {
            let text = LLVMPrintTypeToString(self.raw);
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            copy
        }
    }

    /// The text LLVM prints where something is of this type: of a struct with a name, that.
    pub fn reference(self) -> String {
        let text = self.print();
        match text.split_once(" = type ") {
            Some((name, _)) => name.to_string(),
            None => text,
        }
    }

    /// Whether values of it have a size.
    pub fn is_sized(self) -> bool {
        // SAFETY: a type.
        unsafe { LLVMTypeIsSized(self.raw) != 0 }
    }

    /// Whether a function type takes more arguments than it names.
    pub fn is_variadic(self) -> bool {
        assert!(self.is_function());
        // SAFETY: a function type.
        unsafe { LLVMIsFunctionVarArg(self.raw) != 0 }
    }

    /// Whether it is an array type.
    pub fn is_array(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMArrayTypeKind
    }

    /// What an array is of.
    pub fn array_element(self) -> Option<Type<'m>> {
        // SAFETY: an array type, as just checked.
        self.is_array()
            .then(|| unsafe { Type::new(LLVMGetElementType(self.raw)) })
    }

    /// How many elements an array has.
    pub fn array_length(self) -> Option<u64> {
        // SAFETY: an array type, as just checked.
        self.is_array()
            .then(|| unsafe { LLVMGetArrayLength2(self.raw) })
    }

    /// The name of a struct that has one.
    pub fn struct_name(self) -> Option<String> {
        if self.kind() != LLVMTypeKind::LLVMStructTypeKind {
            return None;
        }
        // SAFETY: a struct; its name is null or a string of the context's.
        unsafe {
            let name = LLVMGetStructName(self.raw);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        }
    }

    /// Zero of this type.
    pub fn zero(self) -> Value<'m> {
        // SAFETY: a first-class type.
        unsafe { Value::new(LLVMConstNull(self.raw)) }
    }

    /// The number that changes nothing where it is added, not even the sign of zero.
    pub fn neutral(self) -> Value<'m> {
        match self.is_floating() {
            // SAFETY: a floating-point type.
            true => unsafe { Value::new(LLVMConstReal(self.raw, -0.0)) },
            false => self.zero(),
        }
    }

    /// Poison of this type.
    pub fn poison(self) -> Value<'m> {
        // SAFETY: a first-class type.
        unsafe { Value::new(LLVMGetPoison(self.raw)) }
    }
}
