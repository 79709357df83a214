//! Values, functions and global variables.

use std::ffi::CString;
use std::marker::PhantomData;
use std::ops::Deref;

use inkwell::llvm_sys::LLVMValueKind as Kind;
use inkwell::llvm_sys::comdat::{
    LLVMGetComdat, LLVMGetOrInsertComdat, LLVMSetComdat, LLVMSetComdatSelectionKind,
};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMValueRef;

pub use inkwell::llvm_sys::LLVMLinkage as Linkage;

use super::{Block, Module, Opcode, Type};

/// Any value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value<'m> {
    raw: LLVMValueRef,
    lives: PhantomData<&'m ()>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name<'m>(pub(super) Value<'m>);

        impl<'m> Deref for $name<'m> {
            type Target = Value<'m>;
            fn deref(&self) -> &Value<'m> {
                &self.0
            }
        }

        impl<'m> $name<'m> {
            /// # Safety
            /// `raw` is null or a live value of this kind.
            #[allow(dead_code, reason = "not every kind is read from a nullable handle")]
            pub(super) unsafe fn from_nullable(raw: LLVMValueRef) -> Option<Self> {
                // SAFETY: not null here; the caller vouches for the rest.
                (!raw.is_null()).then(|| Self(unsafe { Value::new(raw) }))
            }
        }
    )*};
}

kinds! {
    /// A function, defined or declared.
    Function
    /// A global variable.
    Global
    /// An instruction.
    Instruction
    /// A `call`, `invoke` or `callbr`.
    Call
}

impl<'m> Value<'m> {
    /// # Safety
    /// `raw` is a live value of the module the lifetime belongs to.
    pub(super) unsafe fn new(raw: LLVMValueRef) -> Self {
        debug_assert!(!raw.is_null());
        Self {
            raw,
            lives: PhantomData,
        }
    }

    pub(super) fn raw(self) -> LLVMValueRef {
        self.raw
    }

    fn kind(self) -> Kind {
        // SAFETY: a live value.
        unsafe { LLVMGetValueKind(self.raw) }
    }

    /// Its type.
    pub fn ty(self) -> Type<'m> {
        // SAFETY: a live value.
        unsafe { Type::new(LLVMTypeOf(self.raw)) }
    }

    /// Its name; empty for most local values, as clang discards them.
    pub fn name(self) -> String {
        let mut size = 0;
        // SAFETY: a live value; LLVM returns `size` bytes it owns.
        let bytes = unsafe {
            let data = LLVMGetValueName2(self.raw, &mut size);
            std::slice::from_raw_parts(data.cast::<u8>(), size)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Renames it.
    pub fn set_name(self, name: &str) {
        // SAFETY: a live value; LLVM copies the bytes.
        unsafe { LLVMSetValueName2(self.raw, name.as_ptr().cast(), name.len()) }
    }

    /// As a function, where it is one.
    pub fn as_function(self) -> Option<Function<'m>> {
        (self.kind() == Kind::LLVMFunctionValueKind).then_some(Function(self))
    }

    /// As a global variable, where it is one.
    pub fn as_global(self) -> Option<Global<'m>> {
        (self.kind() == Kind::LLVMGlobalVariableValueKind).then_some(Global(self))
    }

    /// As an instruction, where it is one.
    pub fn as_instruction(self) -> Option<Instruction<'m>> {
        (self.kind() == Kind::LLVMInstructionValueKind).then_some(Instruction(self))
    }

    /// As a call, where it is one.
    pub fn as_call(self) -> Option<Call<'m>> {
        let instruction = self.as_instruction()?;
        matches!(
            instruction.opcode(),
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr
        )
        .then_some(Call(self))
    }

    /// The function it is a parameter of, and which one.
    pub fn as_parameter(self) -> Option<(Function<'m>, usize)> {
        if self.kind() != Kind::LLVMArgumentValueKind {
            return None;
        }
        // SAFETY: a parameter, as just checked.
        let function = Function(unsafe { Value::new(LLVMGetParamParent(self.raw)) });
        let index = function.parameters().iter().position(|one| *one == self)?;
        Some((function, index))
    }

    /// The instruction with this opcode, where it is one.
    pub fn as_op(self, opcode: Opcode) -> Option<Instruction<'m>> {
        self.as_instruction().filter(|i| i.opcode() == opcode)
    }

    /// Whether it is a constant of any kind, globals included.
    pub fn is_constant(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsConstant(self.raw) != 0 }
    }

    /// Whether it is a constant expression or aggregate, which may refer to globals.
    pub fn is_composite_constant(self) -> bool {
        matches!(
            self.kind(),
            Kind::LLVMConstantExprValueKind
                | Kind::LLVMConstantStructValueKind
                | Kind::LLVMConstantArrayValueKind
                | Kind::LLVMConstantVectorValueKind
                | Kind::LLVMBlockAddressValueKind
        )
    }

    /// Whether it is a constant expression that computes an address within a global.
    pub fn is_constant_gep(self) -> bool {
        // SAFETY: the opcode is asked of a constant expression only.
        self.kind() == Kind::LLVMConstantExprValueKind
            && unsafe { LLVMGetConstOpcode(self.raw) } == Opcode::LLVMGetElementPtr
    }

    /// Whether it is the null constant of its type.
    pub fn is_null(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsNull(self.raw) != 0 }
    }

    /// Whether it is `undef` or `poison`.
    pub fn is_undef(self) -> bool {
        matches!(
            self.kind(),
            Kind::LLVMUndefValueValueKind | Kind::LLVMPoisonValueKind
        )
    }

    /// Value of a constant integer, sign-extended.
    pub fn as_constant_int(self) -> Option<i64> {
        // SAFETY: a constant integer of at most 64 bits, as just checked.
        (self.kind() == Kind::LLVMConstantIntValueKind
            && self.ty().bits().is_some_and(|bits| bits <= 64))
        .then(|| unsafe { LLVMConstIntGetSExtValue(self.raw) })
    }

    /// The text before the first NUL, of the address of a constant string.
    pub fn as_text(self) -> Option<String> {
        let constant = self.as_global().filter(|global| global.is_readonly())?;
        let value = constant.initializer()?;
        if value.kind() == Kind::LLVMConstantAggregateZeroValueKind {
            return value.ty().is_array_of_bytes().then(String::new);
        }
        if value.kind() != Kind::LLVMConstantDataArrayValueKind {
            return None;
        }
        // SAFETY: an array of numbers, as just checked, of which alone LLVM can say whether it is a string;
        // it returns `size` bytes it owns.
        let bytes = unsafe {
            if LLVMIsConstantString(value.raw) == 0 {
                return None;
            }
            let mut size = 0;
            let data = LLVMGetAsString(value.raw, &mut size);
            std::slice::from_raw_parts(data.cast::<u8>(), size)
        };
        let end = bytes.iter().position(|&byte| byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// The target of an alias; the value itself where it is none.
    pub fn through_alias(self) -> Value<'m> {
        let mut value = self;
        while value.kind() == Kind::LLVMGlobalAliasValueKind {
            // SAFETY: an alias, as just checked.
            value = unsafe { Value::new(LLVMAliasGetAliasee(value.raw)) };
        }
        value
    }

    /// Whether it is an alias.
    pub fn is_alias(self) -> bool {
        self.kind() == Kind::LLVMGlobalAliasValueKind
    }

    /// Whether it is an alias that other modules can name.
    pub fn is_public_alias(self) -> bool {
        // SAFETY: an alias, where it is asked.
        self.is_alias()
            && !matches!(
                unsafe { LLVMGetLinkage(self.raw) },
                Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage
            )
    }

    /// Operands of an instruction or constant.
    pub fn operands(self) -> Vec<Value<'m>> {
        if self.as_instruction().is_none() && !self.is_constant() {
            return Vec::new();
        }
        // SAFETY: users only; an operand may be null in a global without initialiser.
        unsafe {
            (0..LLVMGetNumOperands(self.raw).max(0))
                .map(|i| LLVMGetOperand(self.raw, i as u32))
                .filter(|raw| !raw.is_null())
                .map(|raw| Value::new(raw))
                .collect()
        }
    }

    /// Operand `index` of an instruction or constant.
    pub fn operand(self, index: usize) -> Value<'m> {
        assert!(self.as_instruction().is_some() || self.is_constant());
        // SAFETY: a user with more than `index` operands.
        unsafe {
            assert!((index as i64) < i64::from(LLVMGetNumOperands(self.raw)));
            Value::new(LLVMGetOperand(self.raw, index as u32))
        }
    }

    /// Every user, once for each use.
    pub fn users(self) -> Vec<Value<'m>> {
        let mut users = Vec::new();
        // SAFETY: a live value; the list is read to its end before anything changes.
        unsafe {
            let mut next = LLVMGetFirstUse(self.raw);
            while !next.is_null() {
                users.push(Value::new(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        users
    }

    /// Whether nothing uses it.
    pub fn is_unused(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMGetFirstUse(self.raw).is_null() }
    }

    /// The instructions that use it, directly or inside constant expressions.
    pub fn instruction_users(self) -> Vec<Instruction<'m>> {
        let mut found = Vec::new();
        let mut rest = self.users();
        while let Some(user) = rest.pop() {
            if let Some(instruction) = user.as_instruction() {
                if !found.contains(&instruction) {
                    found.push(instruction);
                }
            } else if user.is_composite_constant() {
                rest.extend(user.users());
            }
        }
        found.reverse();
        found
    }

    /// Makes every user use `with` instead.
    pub fn replace_all_uses_with(self, with: Value<'m>) {
        assert!(self.ty() == with.ty());
        // SAFETY: both live and of one type, as just checked.
        unsafe { LLVMReplaceAllUsesWith(self.raw, with.raw) }
    }

    /// Template and constraints of an inline assembly value, and whether it has side effects.
    pub fn as_inline_assembly(self) -> Option<(String, String, bool)> {
        if self.kind() != Kind::LLVMInlineAsmValueKind {
            return None;
        }
        let text = |read: unsafe extern "C" fn(LLVMValueRef, *mut usize) -> *const i8| {
            let mut size = 0;
            // SAFETY: inline assembly, as just checked; LLVM returns `size` bytes it owns.
            let bytes = unsafe {
                let data = read(self.raw, &mut size);
                std::slice::from_raw_parts(data.cast::<u8>(), size)
            };
            String::from_utf8_lossy(bytes).into_owned()
        };
        // SAFETY: inline assembly, as just checked.
        let side_effects = unsafe { LLVMGetInlineAsmHasSideEffects(self.raw) != 0 };
        Some((
            text(LLVMGetInlineAsmAsmString),
            text(LLVMGetInlineAsmConstraintString),
            side_effects,
        ))
    }

    /// The text LLVM prints for it.
    pub fn print(self) -> String {
        // SAFETY: LLVM returns a string that is ours to dispose of.
        unsafe {
            let text = LLVMPrintValueToString(self.raw);
            let copy = std::ffi::CStr::from_ptr(text)
                .to_string_lossy()
                .into_owned();
            LLVMDisposeMessage(text);
            copy
        }
    }
}

impl<'m> Function<'m> {
    /// Puts constant data in front of its first instruction. False where something else is there.
    pub fn put_in_front(self, data: Value<'m>) -> bool {
        // SAFETY: a defined function, and a constant.
        unsafe {
            let is_free = LLVMHasPrefixData(self.raw) == 0;
            if is_free {
                LLVMSetPrefixData(self.raw, data.raw);
            }
            is_free
        }
    }

    /// Its alignment in bytes where one is stated, or 0.
    pub fn stated_alignment(self) -> u32 {
        // SAFETY: a function.
        unsafe { LLVMGetAlignment(self.raw) }
    }

    /// Without a body.
    pub fn is_declaration(self) -> bool {
        // SAFETY: a function.
        unsafe { LLVMIsDeclaration(self.raw) != 0 }
    }

    /// An LLVM intrinsic.
    pub fn is_intrinsic(self) -> bool {
        // SAFETY: a function.
        unsafe { LLVMGetIntrinsicID(self.raw) != 0 }
    }

    /// Its function type.
    pub fn function_type(self) -> Type<'m> {
        // SAFETY: a function.
        unsafe { Type::new(LLVMGlobalGetValueType(self.raw)) }
    }

    /// Its parameters.
    pub fn parameters(self) -> Vec<Value<'m>> {
        // SAFETY: a function; indices below its count.
        unsafe {
            (0..LLVMCountParams(self.raw))
                .map(|i| Value::new(LLVMGetParam(self.raw, i)))
                .collect()
        }
    }

    /// Its blocks, the entry first.
    pub fn blocks(self) -> Vec<Block<'m>> {
        let mut blocks = Vec::new();
        // SAFETY: a function; the list is read to its end before anything changes.
        unsafe {
            let mut next = LLVMGetFirstBasicBlock(self.raw);
            while !next.is_null() {
                blocks.push(Block::new(next));
                next = LLVMGetNextBasicBlock(next);
            }
        }
        blocks
    }

    /// Its instructions in order.
    pub fn instructions(self) -> Vec<Instruction<'m>> {
        self.blocks()
            .into_iter()
            .flat_map(Block::instructions)
            .collect()
    }

    /// Takes it out of its comdat.
    pub fn leave_comdat(self) {
        // SAFETY: a function; null is no comdat.
        unsafe { LLVMSetComdat(self.raw, std::ptr::null_mut()) }
    }

    /// Appends an empty block.
    pub fn append_block(self, module: &Module) -> Block<'m> {
        // SAFETY: a function of the module.
        unsafe {
            Block::new(LLVMAppendBasicBlockInContext(
                module.raw_context(),
                self.raw,
                c"".as_ptr(),
            ))
        }
    }

    /// Deletes it, with its body, which alone may still use it and its labels.
    pub fn erase(self) {
        // SAFETY: nothing else refers to it.
        unsafe { LLVMDeleteFunction(self.raw) }
    }

    /// Deletes a declaration nothing uses.
    pub fn erase_unused_declaration(self) {
        assert!(self.is_declaration() && self.is_unused());
        // SAFETY: nothing refers to it.
        unsafe { LLVMDeleteFunction(self.raw) }
    }
}

/// What functions and global variables have in common.
macro_rules! global_objects {
    ($($name:ident)*) => {$(
        impl<'m> $name<'m> {
            /// Its linkage.
            pub fn linkage(self) -> Linkage {
                // SAFETY: a global object.
                unsafe { LLVMGetLinkage(self.raw) }
            }

            /// Changes its linkage.
            pub fn set_linkage(self, linkage: Linkage) {
                // SAFETY: a global object.
                unsafe { LLVMSetLinkage(self.raw, linkage) }
            }

            /// Visible in this module only.
            pub fn is_local(self) -> bool {
                matches!(self.linkage(), Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage)
            }

            /// Whether it belongs to a comdat.
            pub fn has_comdat(self) -> bool {
                // SAFETY: a global object.
                unsafe { !LLVMGetComdat(self.raw).is_null() }
            }

        /// Puts it into a comdat of the given name, of which the linker keeps one copy.
        pub fn join_comdat(self, module: &Module, name: &str) {
            let name = CString::new(name).expect("symbol names have no NUL");
            // SAFETY: a global object of the module; LLVM copies the name.
            unsafe {
                let comdat = LLVMGetOrInsertComdat(module.raw(), name.as_ptr());
                LLVMSetComdatSelectionKind(
                    comdat,
                    inkwell::llvm_sys::comdat::LLVMComdatSelectionKind::LLVMAnyComdatSelectionKind,
                );
                LLVMSetComdat(self.raw, comdat);
            }
        }
        }
    )*};
}
global_objects! { Function Global }

impl<'m> Global<'m> {
    /// Without an initialiser: defined elsewhere.
    pub fn is_declaration(self) -> bool {
        // SAFETY: a global variable.
        unsafe { LLVMIsDeclaration(self.raw) != 0 }
    }

    /// The type of the variable itself.
    pub fn value_type(self) -> Type<'m> {
        // SAFETY: a global variable.
        unsafe { Type::new(LLVMGlobalGetValueType(self.raw)) }
    }

    /// Its initial value.
    pub fn initializer(self) -> Option<Value<'m>> {
        // SAFETY: a global variable.
        unsafe {
            let raw = LLVMGetInitializer(self.raw);
            (!raw.is_null()).then(|| Value::new(raw))
        }
    }

    /// Gives it an initial value of its value type.
    pub fn set_initializer(self, value: Value<'m>) {
        assert!(value.ty() == self.value_type());
        // SAFETY: a global variable and a constant of its type.
        unsafe { LLVMSetInitializer(self.raw, value.raw) }
    }

    /// Whether nothing may write it.
    pub fn is_readonly(self) -> bool {
        // SAFETY: a global variable.
        unsafe { LLVMIsGlobalConstant(self.raw) != 0 }
    }

    /// Promises that nothing writes it.
    pub fn set_readonly(self) {
        // SAFETY: a global variable.
        unsafe { LLVMSetGlobalConstant(self.raw, 1) }
    }

    /// One copy for each thread.
    pub fn is_thread_local(self) -> bool {
        // SAFETY: a global variable.
        unsafe { LLVMIsThreadLocal(self.raw) != 0 }
    }

    /// Makes it one of each thread.
    pub fn set_thread_local(self) {
        // SAFETY: a global variable.
        unsafe { LLVMSetThreadLocal(self.raw, 1) }
    }

    /// Its section; empty where it has none of its own.
    pub fn section(self) -> String {
        // SAFETY: a global variable; LLVM returns null or a string it owns.
        unsafe {
            let text = LLVMGetSection(self.raw);
            if text.is_null() {
                String::new()
            } else {
                std::ffi::CStr::from_ptr(text)
                    .to_string_lossy()
                    .into_owned()
            }
        }
    }

    /// Moves it to a section.
    pub fn set_section(self, name: &str) {
        let name = CString::new(name).expect("section names have no NUL");
        // SAFETY: a global variable; LLVM copies the name.
        unsafe { LLVMSetSection(self.raw, name.as_ptr()) }
    }

    /// Its alignment in bytes as stated; 0 where it is left to the type.
    pub fn alignment(self) -> u32 {
        // SAFETY: a global variable.
        unsafe { LLVMGetAlignment(self.raw) }
    }

    /// States its alignment in bytes.
    pub fn set_alignment(self, bytes: u32) {
        // SAFETY: a global variable.
        unsafe { LLVMSetAlignment(self.raw, bytes) }
    }

    /// Tells LLVM that code outside the module changes the initial value.
    pub fn set_externally_initialized(self) {
        // SAFETY: a global variable.
        unsafe { LLVMSetExternallyInitialized(self.raw, 1) }
    }

    /// Whether code outside the module changes the initial value.
    pub fn is_externally_initialized(self) -> bool {
        // SAFETY: a global variable.
        unsafe { LLVMIsExternallyInitialized(self.raw) != 0 }
    }

    /// Copies the visibility of another global.
    pub fn copy_visibility_of(self, other: Global<'m>) {
        // SAFETY: two global variables.
        unsafe { LLVMSetVisibility(self.raw, LLVMGetVisibility(other.raw)) }
    }

    /// Deletes it. Nothing may use it any more.
    pub fn erase(self) {
        assert!(self.is_unused());
        // SAFETY: nothing refers to it.
        unsafe { LLVMDeleteGlobal(self.raw) }
    }
}
