//! Functions in two versions (`cxx/twins.h`).

use inkwell::llvm_sys::prelude::LLVMValueRef;

use super::shim::Text;
use super::{Function, Global, Instruction, Value};

unsafe extern "C" {
    fn okl_can_be_copied(function: LLVMValueRef) -> bool;
    fn okl_copy_beside(function: LLVMValueRef) -> LLVMValueRef;
    fn okl_is_copy_of(
        copy: LLVMValueRef,
        function: LLVMValueRef,
        added: Text,
        old: *const LLVMValueRef,
        new: *const LLVMValueRef,
        count: usize,
    ) -> bool;
    fn okl_replace_copy(copy: LLVMValueRef, function: LLVMValueRef);
    fn okl_is_set(flag: LLVMValueRef, before: LLVMValueRef) -> LLVMValueRef;
    fn okl_become_twin(twin: LLVMValueRef, of: LLVMValueRef);
    fn okl_redirect_calls(from: LLVMValueRef, to: LLVMValueRef, mark: Text, value: Text);
    fn okl_needs_entry(function: LLVMValueRef, mark: Text, value: Text) -> bool;
    fn okl_add_entry(
        ranks: LLVMValueRef,
        plain: LLVMValueRef,
        flag: LLVMValueRef,
        mark: Text,
        value: Text,
    ) -> LLVMValueRef;
    fn okl_add_choice(
        name: Text,
        like: LLVMValueRef,
        plain: LLVMValueRef,
        ranks: LLVMValueRef,
        flag: LLVMValueRef,
    ) -> LLVMValueRef;
    fn okl_replace_uses_in_code(
        old: LLVMValueRef,
        new: LLVMValueRef,
        mark: Text,
        value: Text,
        marked: bool,
    );
    fn okl_replace_uses_in_constants(old: LLVMValueRef, new: LLVMValueRef);
}

/// A string attribute of functions, and one of its values.
#[derive(Clone, Copy)]
pub struct Mark {
    /// The attribute.
    pub name: &'static str,
    /// Its value.
    pub value: &'static str,
}

impl<'m> Function<'m> {
    /// Whether a second copy can stand in the same object file: no assembly names a symbol in it, and only it uses
    /// the addresses of its labels.
    pub fn can_be_copied(self) -> bool {
        // SAFETY: a function.
        unsafe { okl_can_be_copied(self.raw()) }
    }

    /// A copy beside a function that can be copied.
    pub fn copy_beside(self) -> Function<'m> {
        // SAFETY: a function with a body; the shim returns another one.
        unsafe { Function::from_nullable(okl_copy_beside(self.raw())) }
            .expect("the shim returns the copy")
    }

    /// Whether this copy of `function` still does what `function` does.
    pub fn is_copy_of(self, function: Function<'m>) -> bool {
        self.is_copy_but_for(function, "", &[])
    }

    /// As [`Self::is_copy_of`], but `function` may call a function named `added` besides, and the second of `renamed`
    /// for the first.
    pub fn is_copy_but_for(
        self,
        function: Function<'m>,
        added: &str,
        renamed: &[(Function<'m>, Function<'m>)],
    ) -> bool {
        let old: Vec<_> = renamed.iter().map(|(old, _)| old.raw()).collect();
        let new: Vec<_> = renamed.iter().map(|(_, new)| new.raw()).collect();
        // SAFETY: functions of a module; the texts and lists live through the call.
        unsafe {
            let (old, new) = (old.as_ptr(), new.as_ptr());
            okl_is_copy_of(
                self.raw(),
                function.raw(),
                Text::new(added),
                old,
                new,
                renamed.len(),
            )
        }
    }

    /// Has `by` be used instead of this copy, which does the same, and deletes it.
    pub fn replace_copy(self, by: Function<'m>) {
        // SAFETY: two functions of a module and of one type.
        unsafe { okl_replace_copy(self.raw(), by.raw()) }
    }

    /// Gives a version of `of` its linkage: the object file's own, or one that the linker keeps once.
    pub fn become_twin(self, of: Function<'m>) {
        // SAFETY: two functions of one module.
        unsafe { okl_become_twin(self.raw(), of.raw()) }
    }

    /// Has what functions with this mark call, or hand to the OpenMP run time, be `to` instead. Does nothing where
    /// the program may have another function of the name.
    pub fn redirect_calls(self, to: Function<'m>, mark: Mark) {
        let (name, value) = (Text::new(mark.name), Text::new(mark.value));
        // SAFETY: two functions of the same type; the texts live through the call.
        unsafe { okl_redirect_calls(self.raw(), to.raw(), name, value) }
    }

    /// Whether it is used otherwise than by calls in functions with this mark, or may be in other modules.
    pub fn needs_entry(self, mark: Mark) -> bool {
        // SAFETY: a function; the texts live through the call.
        unsafe { okl_needs_entry(self.raw(), Text::new(mark.name), Text::new(mark.value)) }
    }

    /// A function that takes over its name and its uses, but for calls in functions with this mark, and chooses by
    /// `flag`: this one where it is 0, `plain` elsewhere.
    pub fn add_entry(self, plain: Function<'m>, flag: Global<'m>, mark: Mark) -> Function<'m> {
        let (name, value) = (Text::new(mark.name), Text::new(mark.value));
        // SAFETY: two functions of the same type and a variable of one byte; the texts live through the call.
        unsafe {
            let raw = okl_add_entry(self.raw(), plain.raw(), flag.raw(), name, value);
            Function::from_nullable(raw).expect("the shim returns the entry")
        }
    }

    /// A function of this one's type that chooses by `flag`: `ranks`, if there is one, where it is 0, `plain`, which
    /// may have fewer parameters, elsewhere.
    pub fn add_choice(
        self,
        name: &str,
        plain: Function<'m>,
        ranks: Option<Function<'m>>,
        flag: Global<'m>,
    ) -> Function<'m> {
        let ranks = ranks.map_or(std::ptr::null_mut(), |ranks| ranks.raw());
        // SAFETY: functions of one module and a variable of one byte; the text lives through the call.
        unsafe {
            let raw = okl_add_choice(Text::new(name), self.raw(), plain.raw(), ranks, flag.raw());
            Function::from_nullable(raw).expect("the shim returns the function")
        }
    }
}

impl<'m> Global<'m> {
    /// Whether this flag, a byte that stays as it is, is not 0: asked in front of an instruction.
    pub fn is_set(self, before: Instruction<'m>) -> Value<'m> {
        // SAFETY: a variable of one byte and an instruction of its module; the shim returns a value.
        unsafe { Value::new(okl_is_set(self.raw(), before.raw())) }
    }
}

impl<'m> Value<'m> {
    /// Replaces it in the code of functions without this mark.
    pub fn replace_uses_in_code(self, with: Value<'m>, but: Mark) {
        self.replace_in_code(with, but, false);
    }

    /// Replaces it in the code of functions with this mark.
    pub fn replace_uses_in(self, with: Value<'m>, mark: Mark) {
        self.replace_in_code(with, mark, true);
    }

    fn replace_in_code(self, with: Value<'m>, mark: Mark, marked: bool) {
        let (name, value) = (Text::new(mark.name), Text::new(mark.value));
        // SAFETY: two values of the same type; the texts live through the call.
        unsafe { okl_replace_uses_in_code(self.raw(), with.raw(), name, value, marked) }
    }

    /// Replaces it in constants: initial values, lists, other names.
    pub fn replace_uses_in_constants(self, with: Value<'m>) {
        // SAFETY: two values of the same type.
        unsafe { okl_replace_uses_in_constants(self.raw(), with.raw()) }
    }
}
