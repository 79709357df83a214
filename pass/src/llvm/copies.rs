//! Copies of functions, and uses of values one by one: the safe side of `cxx/copies.cpp`, and the C API's part.

use std::ffi::{c_uint, c_void};
use std::marker::PhantomData;

use inkwell::llvm_sys::comdat::{LLVMGetComdat, LLVMSetComdat};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{
    LLVMDIBuilderCreateDebugLocation, LLVMGetSubprogram, LLVMSetSubprogram,
};
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMMetadataRef, LLVMUseRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMTailCallKind, LLVMUnnamedAddr};

use super::{Block, Builder, Call, Function, Global, Instruction, Module, Type, Value};

unsafe extern "C" {
    fn okl_map_create() -> *mut c_void;
    fn okl_map_dispose(map: *mut c_void);
    fn okl_map_set(map: *mut c_void, from: LLVMValueRef, to: LLVMValueRef);
    fn okl_map_value(map: *mut c_void, value: LLVMValueRef) -> LLVMValueRef;
    fn okl_inline(call: LLVMValueRef) -> bool;
    fn okl_may_inline(call: LLVMValueRef) -> bool;
    fn okl_clone_function(function: LLVMValueRef, map: *mut c_void) -> LLVMValueRef;
    fn okl_clone_blocks(
        blocks: *const LLVMBasicBlockRef,
        count: usize,
        copies: *mut LLVMBasicBlockRef,
    );
    fn okl_replace_uses_if(
        old: LLVMValueRef,
        new: LLVMValueRef,
        asked: unsafe extern "C" fn(*mut c_void, LLVMUseRef) -> bool,
        of: *mut c_void,
    );
    fn okl_copy_attributes(to: LLVMValueRef, from: LLVMValueRef);
    fn okl_is_same_operation(a: LLVMValueRef, b: LLVMValueRef, intersect: bool) -> bool;
    fn okl_is_interposable(global: LLVMValueRef) -> bool;
    fn okl_copy_subprogram(subprogram: LLVMMetadataRef) -> LLVMMetadataRef;
    fn okl_scope_line(subprogram: LLVMMetadataRef) -> c_uint;
}

/// What stands for what in a copy.
pub struct ValueMap<'m> {
    raw: *mut c_void,
    lives: PhantomData<&'m ()>,
}

impl Drop for ValueMap<'_> {
    fn drop(&mut self) {
        // SAFETY: created by us, disposed of once.
        unsafe { okl_map_dispose(self.raw) }
    }
}

impl<'m> ValueMap<'m> {
    /// Of a copy beside a function, which is made here.
    pub fn of_copy(function: Function<'m>) -> (Self, Function<'m>) {
        assert!(!function.is_declaration());
        // SAFETY: a function with a body, of which the shim returns a copy.
        unsafe {
            let raw = okl_map_create();
            let map = Self {
                raw,
                lives: PhantomData,
            };
            let copy = Function::from_nullable(okl_clone_function(function.raw(), raw));
            (map, copy.expect("LLVM copies the function"))
        }
    }

    /// Has one value stand for another.
    pub fn set(&mut self, from: Value<'m>, to: Value<'m>) {
        assert!(from.ty() == to.ty());
        // SAFETY: two values of one type.
        unsafe { okl_map_set(self.raw, from.raw(), to.raw()) }
    }

    /// The constant that is made of what stands for the parts of a constant.
    pub fn constant(&mut self, constant: Value<'m>) -> Value<'m> {
        assert!(constant.is_constant());
        // SAFETY: a constant; the shim returns another one.
        unsafe { Value::new(okl_map_value(self.raw, constant.raw())) }
    }
}

/// One use of a value. It is gone when the user's operand is another value.
#[derive(Clone, Copy)]
pub struct Use<'m> {
    raw: LLVMUseRef,
    lives: PhantomData<&'m ()>,
}

impl<'m> Use<'m> {
    /// # Safety
    /// `raw` is a live use.
    unsafe fn new(raw: LLVMUseRef) -> Self {
        Self {
            raw,
            lives: PhantomData,
        }
    }

    /// What uses the value.
    pub fn user(self) -> Value<'m> {
        // SAFETY: a live use.
        unsafe { Value::new(LLVMGetUser(self.raw)) }
    }

    /// Whether the value is called here.
    pub fn is_callee(self) -> bool {
        let user = self.user();
        user.as_call().is_some() && self.operand() + 1 == user.operands().len()
    }

    /// Which of the user's operands it is.
    pub fn operand(self) -> usize {
        let user = self.user().raw();
        // SAFETY: a user, and numbers of its operands.
        let mut operands = unsafe { 0..LLVMGetNumOperands(user) as c_uint };
        // SAFETY: as above.
        let found = operands.find(|&at| unsafe { LLVMGetOperandUse(user, at) == self.raw });
        found.expect("the user has it") as usize
    }
}

impl<'m> Value<'m> {
    /// Every use.
    pub fn uses(self) -> Vec<Use<'m>> {
        let mut uses = Vec::new();
        // SAFETY: a live value; the list is read to its end before anything changes.
        unsafe {
            let mut next = LLVMGetFirstUse(self.raw());
            while !next.is_null() {
                uses.push(Use::new(next));
                next = LLVMGetNextUse(next);
            }
        }
        uses
    }

    /// Replaces it where `asked` says so. A constant is replaced as a whole: of its uses one answer counts for all.
    pub fn replace_uses_if<F: FnMut(Use<'m>) -> bool>(self, with: Value<'m>, mut asked: F) {
        unsafe extern "C" fn ask<'m, F: FnMut(Use<'m>) -> bool>(
            of: *mut c_void,
            one: LLVMUseRef,
        ) -> bool {
            // SAFETY: `of` is the closure below; the shim passes a live use.
            unsafe { (*of.cast::<F>())(Use::new(one)) }
        }
        assert!(self.ty() == with.ty());
        // SAFETY: two values of one type, and a closure that lives through the call.
        unsafe { okl_replace_uses_if(self.raw(), with.raw(), ask::<F>, (&raw mut asked).cast()) }
    }

    /// The block whose address it is, where it is one's.
    pub fn as_block_address(self) -> Option<Block<'m>> {
        // SAFETY: a live value; the block is asked of the address of one.
        unsafe {
            (!LLVMIsABlockAddress(self.raw()).is_null())
                .then(|| Block::new(LLVMGetBlockAddressBasicBlock(self.raw())))
        }
    }

    /// Whether it is what is noted, not something computed.
    pub fn is_metadata(self) -> bool {
        // SAFETY: a live value.
        let kind = unsafe { LLVMGetValueKind(self.raw()) };
        kind == inkwell::llvm_sys::LLVMValueKind::LLVMMetadataAsValueValueKind
    }

    /// Of a function, variable or alias: whether the program may have another one of the name.
    pub fn is_interposable(self) -> bool {
        // SAFETY: a global value, where it is asked.
        self.is_global_value() && unsafe { okl_is_interposable(self.raw()) }
    }
}

impl<'m> Block<'m> {
    /// Copies of blocks of one function at its end, which go to each other where the blocks do, and to the same others.
    pub fn copies(blocks: &[Self]) -> Vec<Self> {
        let raw: Vec<_> = blocks.iter().map(|block| block.raw()).collect();
        let mut copies = vec![std::ptr::null_mut(); raw.len()];
        // SAFETY: live blocks, and room for as many.
        unsafe {
            okl_clone_blocks(raw.as_ptr(), raw.len(), copies.as_mut_ptr());
            copies.into_iter().map(|copy| Self::new(copy)).collect()
        }
    }

    /// As an operand.
    pub fn label(self) -> Value<'m> {
        // SAFETY: a live block.
        unsafe { Value::new(LLVMBasicBlockAsValue(self.raw())) }
    }
}

impl<'m> Instruction<'m> {
    /// A copy of it in front of another instruction, where its operands are there.
    pub fn copy_before(self, before: Instruction<'m>) -> Instruction<'m> {
        assert!(self.function() == before.function());
        // SAFETY: an instruction, whose copy is inserted at once; the builder is disposed of.
        unsafe {
            let copy = LLVMInstructionClone(self.raw());
            let builder = LLVMCreateBuilderInContext(LLVMGetValueContext(self.raw()));
            LLVMPositionBuilderBefore(builder, before.raw());
            LLVMInsertIntoBuilder(builder, copy);
            LLVMDisposeBuilder(builder);
            Instruction::from_nullable(copy).expect("LLVM copies it")
        }
    }

    /// Whether it does to its operands what another instruction does to its own. Of calls, attributes count that are the
    /// same or that both lose where `intersect`.
    pub fn is_same_operation(self, other: Instruction<'m>, intersect: bool) -> bool {
        // SAFETY: two instructions.
        unsafe { okl_is_same_operation(self.raw(), other.raw(), intersect) }
    }
}

impl<'m> Function<'m> {
    /// A copy beside it, which has a name of its own and calls what it calls.
    pub fn copy(self) -> Function<'m> {
        ValueMap::of_copy(self).1
    }

    /// Takes over the name of another function or the like, which has none then.
    pub fn take_name(self, from: Value<'m>) {
        assert!(from.is_global_value());
        let mut size = 0;
        // SAFETY: two global values; the bytes are copied before LLVM changes them.
        unsafe {
            let data = LLVMGetValueName2(from.raw(), &mut size);
            let name = std::slice::from_raw_parts(data.cast::<u8>(), size).to_vec();
            LLVMSetValueName2(from.raw(), c"".as_ptr(), 0);
            LLVMSetValueName2(self.raw(), name.as_ptr().cast(), size);
        }
    }

    /// Takes over how another function is called, what is known of it and where it is visible, without what it handles
    /// exceptions with.
    pub fn copy_attributes(self, from: Function<'m>) {
        // SAFETY: two functions; null is no personality.
        unsafe {
            okl_copy_attributes(self.raw(), from.raw());
            LLVMSetPersonalityFn(self.raw(), std::ptr::null_mut());
        }
    }

    /// Joins the comdat of another function, if that has one.
    pub fn join_comdat_of(self, other: Function<'m>) {
        // SAFETY: two functions of a module; null is no comdat.
        unsafe { LLVMSetComdat(self.raw(), LLVMGetComdat(other.raw())) }
    }

    /// Says that nobody compares its address.
    pub fn set_unnamed_address(self) {
        // SAFETY: a function.
        unsafe { LLVMSetUnnamedAddress(self.raw(), LLVMUnnamedAddr::LLVMGlobalUnnamedAddr) }
    }

    /// Takes over what is noted of another function under one of these names.
    pub fn copy_metadata(self, module: &Module, from: Function<'m>, kinds: &[&str]) {
        // SAFETY: two functions of the module; LLVM lists metadata, which are ours to dispose of.
        unsafe {
            let number = |name: &&str| {
                let (data, size) = (name.as_ptr().cast(), name.len() as c_uint);
                LLVMGetMDKindIDInContext(module.raw_context(), data, size)
            };
            let kinds: Vec<_> = kinds.iter().map(number).collect();
            let mut count = 0;
            let noted = LLVMGlobalCopyAllMetadata(from.raw(), &mut count);
            for at in 0..count as c_uint {
                let kind = LLVMValueMetadataEntriesGetKind(noted, at);
                if kinds.contains(&kind) {
                    let node = LLVMValueMetadataEntriesGetMetadata(noted, at);
                    LLVMGlobalAddMetadata(self.raw(), kind, node);
                }
            }
            LLVMDisposeValueMetadataEntries(noted);
        }
    }

    /// Is, for a debugger, a second function of the same place in the source, without variables.
    pub fn copy_subprogram(self, from: Function<'m>) {
        // SAFETY: two functions; the debug information of a function or null.
        unsafe {
            let subprogram = LLVMGetSubprogram(from.raw());
            if !subprogram.is_null() {
                LLVMSetSubprogram(self.raw(), okl_copy_subprogram(subprogram));
            }
        }
    }

    /// Appends an empty block with a name.
    pub fn append_named_block(self, module: &Module, name: &str) -> Block<'m> {
        let block = self.append_block(module);
        block.label().set_name(name);
        block
    }
}

impl<'m> Global<'m> {
    /// A variable of the same type, alignment and name, of this module's own, without an initial value yet.
    pub fn own_copy(self, module: &'m Module) -> Global<'m> {
        let linkage = super::Linkage::LLVMInternalLinkage;
        let copy = module.add_global(&self.name(), self.value_type(), None, linkage);
        if self.is_readonly() {
            copy.set_readonly();
        }
        copy.set_alignment(self.alignment());
        copy
    }
}

impl<'m> Function<'m> {
    /// Whether its convention is C's.
    pub fn is_called_as_in_c(self) -> bool {
        /// `llvm::CallingConv::C`.
        const C: u32 = 0;
        // SAFETY: a function.
        unsafe { LLVMGetFunctionCallConv(self.raw()) == C }
    }

    /// Takes over the convention of another function.
    pub fn follow_convention(self, of: Function<'m>) {
        // SAFETY: two functions.
        unsafe { LLVMSetFunctionCallConv(self.raw(), LLVMGetFunctionCallConv(of.raw())) }
    }
}

impl<'m> Call<'m> {
    /// Whether the called function has a body that may stand in place of the call.
    pub fn may_be_inlined(self) -> bool {
        let callee = self.callee_function();
        // SAFETY: a call of a function with a body.
        callee.is_some_and(|one| !one.is_declaration()) && unsafe { okl_may_inline(self.raw()) }
    }

    /// Puts the body of the called function in place of the call, which is gone then; false where LLVM does not do that.
    pub fn inline(self) -> bool {
        assert!(
            self.callee_function()
                .is_some_and(|one| !one.is_declaration())
        );
        // SAFETY: a call of a function with a body.
        unsafe { okl_inline(self.raw()) }
    }

    /// Is a call of a function as that is declared: with its convention, and what is said of its result and parameters.
    pub fn follow(self, declared: Function<'m>) {
        let count = self.arguments().len() as c_uint;
        let (of, call) = (declared.raw(), self.raw());
        // SAFETY: a function and a call; attributes are written to as many places as there are.
        unsafe {
            LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(of));
            for place in 0..=count {
                let size = LLVMGetAttributeCountAtIndex(of, place) as usize;
                let mut attributes = vec![std::ptr::null_mut(); size];
                LLVMGetAttributesAtIndex(of, place, attributes.as_mut_ptr());
                for attribute in attributes {
                    LLVMAddCallSiteAttribute(call, place, attribute);
                }
            }
        }
    }

    /// Takes over the convention of a function.
    pub fn follow_convention(self, of: Function<'m>) {
        // SAFETY: a call and a function.
        unsafe { LLVMSetInstructionCallConv(self.raw(), LLVMGetFunctionCallConv(of.raw())) }
    }

    /// Leaves the caller's frame: a return follows.
    pub fn set_must_tail(self) {
        // SAFETY: a call.
        unsafe {
            LLVMSetTailCallKind(self.raw(), LLVMTailCallKind::LLVMTailCallKindMustTail);
        }
    }
}

impl<'m> Builder<'m> {
    /// What follows stands, in the source, where the body of a function begins, if it is known.
    pub fn stand_at_start_of(&self, function: Function<'m>) {
        // SAFETY: a positioned builder; the debug information of a function or null.
        unsafe {
            let subprogram = LLVMGetSubprogram(function.raw());
            if !subprogram.is_null() {
                let (context, line) = (self.module().raw_context(), okl_scope_line(subprogram));
                let null = std::ptr::null_mut();
                let at = LLVMDIBuilderCreateDebugLocation(context, line, 0, subprogram, null);
                LLVMSetCurrentDebugLocation2(self.raw(), at);
            }
        }
    }

    /// Calls what is of the type of a function.
    pub fn call_typed(&self, ty: Type<'m>, callee: Value<'m>, arguments: &[Value<'m>]) -> Call<'m> {
        assert!(ty.parameters().len() == arguments.len());
        let mut raw: Vec<_> = arguments.iter().map(|value| value.raw()).collect();
        let count = raw.len() as c_uint;
        let (ty, callee, name) = (ty.raw(), callee.raw(), c"".as_ptr());
        // SAFETY: a positioned builder and as many arguments as parameters.
        let call = unsafe {
            Value::new(LLVMBuildCall2(
                self.raw(),
                ty,
                callee,
                raw.as_mut_ptr(),
                count,
                name,
            ))
        };
        call.as_call().expect("a call")
    }

    /// Loads what nothing ever changes.
    pub fn load_invariant(&self, ty: Type<'m>, address: Value<'m>) -> Value<'m> {
        let load = self.load(ty, address);
        let name = "invariant.load";
        // SAFETY: the load just built, and a node without operands in its context.
        unsafe {
            let context = self.module().raw_context();
            let kind =
                LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as c_uint);
            let none = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
            LLVMSetMetadata(load.raw(), kind, LLVMMetadataAsValue(context, none));
        }
        load
    }
}
