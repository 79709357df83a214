//! What functions and calls say of themselves, their parameters and their results.

use std::ffi::c_uint;
use std::marker::PhantomData;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMAttributeRef;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMTailCallKind};

use super::{Call, Function, Module, Opcode, Type, Value};

/// Index of the function itself among attribute positions.
pub(super) const FUNCTION: c_uint = LLVMAttributeFunctionIndex;

/// What an attribute belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The call, or the function, itself.
    Call,
    /// What is returned.
    Result,
    /// An argument, or a parameter.
    Parameter(usize),
}

impl Place {
    pub(super) fn number(self) -> c_uint {
        match self {
            Place::Call => FUNCTION,
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
    /// # Safety
    /// `raw` is null or an attribute.
    unsafe fn from_nullable(raw: LLVMAttributeRef) -> Option<Self> {
        let lives = PhantomData;
        (!raw.is_null()).then_some(Self { raw, lives })
    }

    /// The type that is its value.
    pub fn ty(self) -> Option<Type<'m>> {
        // SAFETY: an attribute, which is asked for a type where it has one.
        unsafe {
            (LLVMIsTypeAttribute(self.raw) != 0)
                .then(|| Type::new(LLVMGetTypeAttributeValue(self.raw)))
        }
    }

    /// The number that is its value; 0 of one without.
    pub(super) fn number(self) -> u64 {
        // SAFETY: an attribute, which is asked for a number where it has a kind that LLVM knows.
        unsafe {
            match LLVMIsEnumAttribute(self.raw) {
                0 => 0,
                _ => LLVMGetEnumAttributeValue(self.raw),
            }
        }
    }

    /// The text that is the value of one whose name LLVM does not know.
    fn text(self) -> String {
        assert!(self.is_text());
        let mut size = 0;
        // SAFETY: an attribute with a text; LLVM returns `size` bytes it owns.
        let bytes = unsafe {
            let data = LLVMGetStringAttributeValue(self.raw, &mut size);
            std::slice::from_raw_parts(data.cast::<u8>(), size as usize)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn is_text(self) -> bool {
        // SAFETY: an attribute.
        unsafe { LLVMIsStringAttribute(self.raw) != 0 }
    }
}

/// An attribute that LLVM knows.
fn known(module: &Module, name: &str, value: u64) -> LLVMAttributeRef {
    // SAFETY: a live context, and a kind of attribute.
    unsafe { LLVMCreateEnumAttribute(module.raw_context(), kind(name), value) }
}

/// One of ours.
fn own(module: &Module, name: &str, value: &str) -> LLVMAttributeRef {
    let (key, size) = (name.as_ptr().cast(), name.len() as c_uint);
    let (text, length) = (value.as_ptr().cast(), value.len() as c_uint);
    // SAFETY: a live context; LLVM copies the texts.
    unsafe { LLVMCreateStringAttribute(module.raw_context(), key, size, text, length) }
}

fn number_of(name: &str) -> Option<c_uint> {
    // SAFETY: `name.len()` bytes.
    let kind = unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
    (kind != 0).then_some(kind)
}

/// The number of an attribute that LLVM knows.
fn kind(name: &str) -> c_uint {
    number_of(name).unwrap_or_else(|| panic!("LLVM has no attribute {name}"))
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
        unsafe {
            let raw = LLVMGetCallSiteEnumAttribute(self.raw(), place.number(), kind(name));
            Attribute::from_nullable(raw)
        }
    }

    /// Whether the callee keeps no copy of a pointer that it is passed, and does nothing through it but read.
    pub fn only_reads_behind(self, index: usize) -> bool {
        let has = |name: &str| {
            let place = Place::Parameter(index);
            let callee = self.callee_function();
            let of_callee = || callee.and_then(|callee| callee.attribute(place, name));
            self.attribute(place, name).or_else(of_callee)
        };
        // A number of 0 says that nothing of the pointer is kept.
        has("captures").is_some_and(|one| one.number() == 0) && has("readonly").is_some()
    }

    fn add(self, attribute: LLVMAttributeRef) {
        // SAFETY: a call and an attribute of its context.
        unsafe { LLVMAddCallSiteAttribute(self.raw(), Place::Call.number(), attribute) }
    }

    /// Has the callee inlined here wherever that is possible, however large it is.
    pub fn inline_always(self, module: &Module) {
        self.add(known(module, "alwaysinline", 0));
    }

    /// Has the callee keep a frame of its own.
    pub fn inline_never(self, module: &Module) {
        self.add(known(module, "noinline", 0));
    }

    /// Does not become one with other calls of the same function, which may be told apart by what they say.
    pub fn stays_apart(self, module: &Module) {
        self.add(known(module, "nomerge", 0));
    }

    /// Gives it a string attribute of its own.
    pub fn note(self, module: &Module, name: &str, value: &str) {
        self.add(own(module, name, value));
    }

    /// Calls what the function's name does not say.
    pub fn is_no_builtin(self, module: &Module) {
        self.add(known(module, "nobuiltin", 0));
    }

    /// The value of a string attribute of its own.
    pub fn noted(self, name: &str) -> Option<String> {
        let (key, size) = (name.as_ptr().cast(), name.len() as c_uint);
        // SAFETY: a call and `name.len()` bytes; the result is null or an attribute of the context.
        let found = unsafe {
            let raw = LLVMGetCallSiteStringAttribute(self.raw(), Place::Call.number(), key, size);
            Attribute::from_nullable(raw)
        };
        found.map(Attribute::text)
    }

    /// A number of bytes that argument `index`, an address, is said to be a multiple of.
    pub fn alignment_of(self, index: usize) -> i64 {
        let align = self.attribute(Place::Parameter(index), "align");
        align.map_or(1, |align| align.number() as i64)
    }

    /// Whether argument `index` is passed as a copy of what it points to.
    pub fn is_by_value(self, index: usize) -> bool {
        self.attribute(Place::Parameter(index), "byval").is_some()
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
    fn attribute(self, place: Place, name: &str) -> Option<Attribute<'m>> {
        // SAFETY: a function; the result is null or an attribute of the context.
        unsafe {
            let raw = LLVMGetEnumAttributeAtIndex(self.raw(), place.number(), kind(name));
            Attribute::from_nullable(raw)
        }
    }

    fn own_attribute(self, name: &str) -> Option<Attribute<'m>> {
        let (key, size) = (name.as_ptr().cast(), name.len() as c_uint);
        // SAFETY: a function and `name.len()` bytes; the result is null or an attribute of the context.
        unsafe {
            let raw = LLVMGetStringAttributeAtIndex(self.raw(), FUNCTION, key, size);
            Attribute::from_nullable(raw)
        }
    }

    fn add(self, place: Place, attribute: LLVMAttributeRef) {
        // SAFETY: a function and an attribute of its context.
        unsafe { LLVMAddAttributeAtIndex(self.raw(), place.number(), attribute) }
    }

    /// Whether it has the string attribute.
    pub fn has_mark(self, name: &str) -> bool {
        self.own_attribute(name).is_some()
    }

    /// The value of a string attribute.
    pub fn mark_value(self, name: &str) -> Option<String> {
        self.own_attribute(name).map(Attribute::text)
    }

    /// Gives it a string attribute.
    pub fn mark(self, module: &Module, name: &str, value: &str) {
        self.add(Place::Call, own(module, name, value));
    }

    /// Gives it an attribute without a value, by LLVM's name of it.
    pub fn set_attribute(self, module: &Module, name: &str) {
        self.add(Place::Call, known(module, name, 0));
    }

    /// Whether it has that attribute.
    pub fn has_attribute(self, name: &str) -> bool {
        self.attribute(Place::Call, name).is_some()
    }

    /// Takes it back.
    pub fn remove_attribute(self, name: &str) {
        // SAFETY: a function, and a kind of attribute.
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.raw(), FUNCTION, kind(name)) }
    }

    /// Takes over an attribute of another function, if it has it.
    pub fn copy_attribute(self, of: Function<'m>, name: &str) {
        let found = match number_of(name) {
            Some(_) => of.attribute(Place::Call, name),
            None => of.own_attribute(name),
        };
        if let Some(found) = found {
            self.add(Place::Call, found.raw);
        }
    }

    /// Says of a function that it reads, and maybe writes, memory which no code of the program can access, and
    /// no other.
    pub fn set_uses_hidden_memory(self, module: &Module, writes: bool) {
        // `memory(inaccessiblemem: read)` or `readwrite`: two bits for each kind of memory, the second kind.
        let uses = if writes { 3 << 2 } else { 1 << 2 };
        self.add(Place::Call, known(module, "memory", uses));
    }

    /// Makes LLVM forget what it found out about the memory that the function accesses, also at calls of it.
    pub fn forget_memory_effects(self) {
        for name in ["memory", "nosync"] {
            self.remove_attribute(name);
            let calls = self.users().into_iter().filter_map(Value::as_call);
            for call in calls.filter(|call| call.callee() == *self) {
                // SAFETY: a call, and a kind of attribute.
                unsafe { LLVMRemoveCallSiteEnumAttribute(call.raw(), FUNCTION, kind(name)) }
            }
        }
    }

    pub(super) fn parameter_attribute(self, index: usize, name: &str) -> Option<Attribute<'m>> {
        self.attribute(Place::Parameter(index), name)
    }

    /// Whether it says that of a parameter.
    pub fn has_parameter_attribute(self, index: usize, name: &str) -> bool {
        self.attribute(Place::Parameter(index), name).is_some()
    }

    /// Says something of a parameter, by LLVM's name of it.
    pub fn set_parameter_attribute(self, module: &Module, index: usize, name: &str) {
        self.add(Place::Parameter(index), known(module, name, 0));
    }

    /// Says to how many bytes a parameter points, at least.
    pub fn set_dereferenceable(self, module: &Module, index: usize, bytes: u64) {
        let attribute = known(module, "dereferenceable", bytes);
        self.add(Place::Parameter(index), attribute);
    }

    /// Gives it an attribute.
    pub fn add_attribute(self, place: Place, attribute: Attribute<'m>) {
        self.add(place, attribute.raw);
    }

    /// Is called in the same way as what a call calls.
    pub fn set_convention_of(self, call: Call<'m>) {
        // SAFETY: a function, and the number of a convention.
        unsafe { LLVMSetFunctionCallConv(self.raw(), call.convention()) }
    }
}

impl Value<'_> {
    /// Bytes that a parameter says it points to; 0 of all other values.
    pub fn dereferenceable_bytes(self) -> u64 {
        let attribute = self.as_parameter().and_then(|(function, index)| {
            function.attribute(Place::Parameter(index), "dereferenceable")
        });
        attribute.map_or(0, Attribute::number)
    }

    /// A number of bytes that what a parameter points to is said to be a multiple of; 1 of all other values.
    pub fn stated_alignment(self) -> u64 {
        let attribute = self
            .as_parameter()
            .and_then(|(function, index)| function.attribute(Place::Parameter(index), "align"));
        attribute.map_or(1, Attribute::number)
    }
}
