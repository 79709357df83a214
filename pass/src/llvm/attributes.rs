//! What calls say of their arguments and results.

use std::ffi::c_uint;
use std::marker::PhantomData;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMAttributeRef;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMTailCallKind};

use super::{Call, Function, Opcode, Type};

/// What an attribute belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The call itself.
    Call,
    /// What is returned.
    Result,
    /// An argument, or a parameter.
    Parameter(usize),
}

impl Place {
    fn number(self) -> c_uint {
        match self {
            Place::Call => LLVMAttributeFunctionIndex,
            Place::Result => 0,
            Place::Parameter(index) => index as c_uint + 1,
        }
    }
}

/// An attribute with its value, if it has one.
#[derive(Clone, Copy)]
pub struct Attribute<'m> {
    raw: LLVMAttributeRef,
    lives: PhantomData<&'m ()>,
}

impl<'m> Attribute<'m> {
    /// The type that is its value.
    pub fn ty(self) -> Option<Type<'m>> {
        // SAFETY: an attribute, which is asked for a type where it has one.
        unsafe {
            (LLVMIsTypeAttribute(self.raw) != 0)
                .then(|| Type::new(LLVMGetTypeAttributeValue(self.raw)))
        }
    }
}

/// The number of an attribute that LLVM knows.
fn kind(name: &str) -> c_uint {
    // SAFETY: `name.len()` bytes.
    let kind = unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
    assert!(kind != 0, "LLVM has no attribute {name}");
    kind
}

impl<'m> Call<'m> {
    /// Its result and its arguments.
    pub fn places(self) -> impl Iterator<Item = Place> {
        let arguments = (0..self.arguments().len()).map(Place::Parameter);
        std::iter::once(Place::Result).chain(arguments)
    }

    /// An attribute of its own, by LLVM's name of it.
    pub fn attribute(self, place: Place, name: &str) -> Option<Attribute<'m>> {
        // SAFETY: a call; the result is null or an attribute of the context.
        let raw = unsafe { LLVMGetCallSiteEnumAttribute(self.raw(), place.number(), kind(name)) };
        let lives = PhantomData;
        (!raw.is_null()).then_some(Attribute { raw, lives })
    }

    /// Takes back all attributes but these: of the call itself, and of its result and arguments.
    pub fn keep_attributes(self, own: &[&str], others: &[&str]) {
        for place in self.places().chain([Place::Call]) {
            let kept = if place == Place::Call { own } else { others };
            let kept: Vec<_> = kept.iter().map(|name| kind(name)).collect();
            let (call, at) = (self.raw(), place.number());
            // SAFETY: a call; attributes are written to as many places as there are, and belong to the context.
            unsafe {
                let size = LLVMGetCallSiteAttributeCount(call, at) as usize;
                let mut attributes = vec![std::ptr::null_mut(); size];
                LLVMGetCallSiteAttributes(call, at, attributes.as_mut_ptr());
                for one in attributes {
                    if LLVMIsStringAttribute(one) != 0 {
                        let mut size = 0;
                        let name = LLVMGetStringAttributeKind(one, &mut size);
                        LLVMRemoveCallSiteStringAttribute(call, at, name, size);
                        continue;
                    }
                    let kind = LLVMGetEnumAttributeKind(one);
                    if !kept.contains(&kind) {
                        LLVMRemoveCallSiteEnumAttribute(call, at, kind);
                    }
                }
            }
        }
    }

    /// Whether its frame takes the place of the caller's.
    pub fn is_must_tail(self) -> bool {
        // SAFETY: a `call`, as just checked.
        self.instruction().opcode() == Opcode::LLVMCall
            && unsafe { LLVMGetTailCallKind(self.raw()) }
                == LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    /// Whether it has operands besides the callee and its arguments.
    pub fn has_bundles(self) -> bool {
        // SAFETY: a call.
        unsafe { LLVMGetNumOperandBundles(self.raw()) != 0 }
    }

    /// The type it calls the callee as.
    pub fn function_type(self) -> Type<'m> {
        // SAFETY: a call.
        unsafe { Type::new(LLVMGetCalledFunctionType(self.raw())) }
    }

    /// The number of its convention.
    pub fn convention(self) -> u32 {
        // SAFETY: a call.
        unsafe { LLVMGetInstructionCallConv(self.raw()) }
    }
}

impl<'m> Function<'m> {
    /// Gives it an attribute.
    pub fn add_attribute(self, place: Place, attribute: Attribute<'m>) {
        // SAFETY: a function and an attribute of its context.
        unsafe { LLVMAddAttributeAtIndex(self.raw(), place.number(), attribute.raw) }
    }

    /// Is called in the same way as what a call calls.
    pub fn set_convention_of(self, call: Call<'m>) {
        // SAFETY: a function, and the number of a convention.
        unsafe { LLVMSetFunctionCallConv(self.raw(), call.convention()) }
    }
}
