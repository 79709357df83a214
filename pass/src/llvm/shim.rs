//! The C++ shim (`cxx/shim.h`) and the safe functions over it.

use std::ffi::c_void;
use std::io::Write;

use inkwell::llvm_sys::core::{LLVMGetAtomicRMWBinOp, LLVMIsATerminatorInst};
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMBuilderRef, LLVMModuleRef, LLVMValueRef};

use okl_abi::AtomicOp;

use super::{Block, Builder, Function, Global, Instruction, Module, Opcode, Value};

/// A string that crosses the FFI by reference.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Text {
    data: *const u8,
    size: usize,
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        Self {
            data: text.as_ptr(),
            size: text.len(),
        }
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            data: bytes.as_ptr(),
            size: bytes.len(),
        }
    }

    /// # Safety
    /// The bytes must be alive.
    pub(super) unsafe fn to_string(self) -> String {
        // SAFETY: the caller vouches for the bytes.
        String::from_utf8_lossy(unsafe { self.bytes() }).into_owned()
    }

    /// # Safety
    /// The bytes must be alive, and stay so.
    pub(super) unsafe fn bytes<'a>(self) -> &'a [u8] {
        match self.size {
            0 => &[],
            // SAFETY: the caller vouches for the bytes.
            _ => unsafe { std::slice::from_raw_parts(self.data, self.size) },
        }
    }
}

pub(super) type TextSink = unsafe extern "C" fn(*mut c_void, Text);
type LoopSink =
    unsafe extern "C" fn(*mut c_void, LLVMBasicBlockRef, *const LLVMBasicBlockRef, usize);

unsafe extern "C" {
    pub(super) fn okl_register(pass_builder: *mut c_void);
    fn okl_diagnose(
        module: LLVMModuleRef,
        function: LLVMValueRef,
        at: LLVMValueRef,
        message: Text,
        is_error: bool,
    );
    fn okl_error_in_file(
        module: LLVMModuleRef,
        file: Text,
        contents: Text,
        byte: usize,
        message: Text,
    );
    fn okl_remark(at: LLVMValueRef, name: Text, message: Text, missed: bool);
    fn okl_demangle(name: Text, sink: TextSink, to: *mut c_void);
    fn okl_function_source_name(function: LLVMValueRef, sink: TextSink, to: *mut c_void);
    fn okl_only_reads(function: LLVMValueRef) -> bool;
    fn okl_is_library_function(function: LLVMValueRef) -> bool;
    fn okl_loops(function: LLVMValueRef, sink: LoopSink, to: *mut c_void);
    fn okl_move_before(at: LLVMValueRef, before: LLVMValueRef);
    fn okl_insert_if(condition: LLVMValueRef, before: LLVMValueRef) -> LLVMValueRef;
    fn okl_append_to_used(module: LLVMModuleRef, globals: *const LLVMValueRef, count: usize);
    fn okl_widen(global: LLVMValueRef, bytes: u64) -> LLVMValueRef;
    fn okl_append_to_compiler_used(module: LLVMModuleRef, global: LLVMValueRef);
    fn okl_call_before_main(module: LLVMModuleRef, function: LLVMValueRef);
    fn okl_move_to_end(module: LLVMModuleRef, global: LLVMValueRef);
    fn okl_expand_constant_users(global: LLVMValueRef);
    fn okl_gep_distance(module: LLVMModuleRef, gep: LLVMValueRef, bytes: *mut i64) -> bool;
    fn okl_has_side_effects(instruction: LLVMValueRef) -> bool;
    fn okl_may_read(instruction: LLVMValueRef) -> bool;
    fn okl_delete_body(function: LLVMValueRef);
    fn okl_split_before(at: LLVMValueRef) -> LLVMBasicBlockRef;
    fn okl_to_call(invoke: LLVMValueRef);
    fn okl_split_edges(
        to: LLVMBasicBlockRef,
        from: *const LLVMBasicBlockRef,
        count: usize,
    ) -> LLVMBasicBlockRef;
    fn okl_updated(
        builder: LLVMBuilderRef,
        update: LLVMValueRef,
        old: LLVMValueRef,
    ) -> LLVMValueRef;
    fn okl_hash(of: Text) -> u64;
    fn okl_types_differ(access: LLVMValueRef, other: LLVMValueRef) -> bool;
}

unsafe extern "C" fn push_text(to: *mut c_void, text: Text) {
    // SAFETY: `collect_text` passes a String, the shim a live text.
    unsafe { (*to.cast::<String>()).push_str(&text.to_string()) }
}

pub(super) fn collect_text(ask: impl FnOnce(TextSink, *mut c_void)) -> String {
    let mut text = String::new();
    ask(push_text, (&raw mut text).cast());
    text
}

/// The name a C++ or Fortran programmer wrote; other names unchanged.
pub fn demangle(name: &str) -> String {
    if let Some(shown) = crate::fortran::demangle(name) {
        return shown;
    }
    // SAFETY: both texts live through the call.
    collect_text(|sink, to| unsafe { okl_demangle(Text::new(name), sink, to) })
}

/// Prints on the compiler's error stream, as LLVM's printing passes do.
pub fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// The same of code, which may be no text.
pub fn print_bytes(text: &[u8]) {
    // Where nobody can read it, there is nobody to be told.
    let _ = std::io::stderr().write_all(text);
}

/// A number that, of texts that differ, is the same by chance only; it is the same in each run.
pub fn hash(text: &str) -> u64 {
    hash_bytes(text.as_bytes())
}

/// The same of bytes.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    // SAFETY: the bytes live through the call.
    unsafe { okl_hash(Text::of_bytes(bytes)) }
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Compilation goes on.
    Warning,
    /// Compilation fails.
    Error,
}

/// A loop with one header, found from the dominator tree.
pub struct NaturalLoop<'m> {
    /// The only block that is entered from outside.
    pub header: Block<'m>,
    /// Every block of the loop and of the loops inside it.
    pub blocks: Vec<Block<'m>>,
}

impl Module {
    /// Reports to the compiler's diagnostics, at `at` or at the function.
    pub fn diagnose(
        &self,
        function: Option<Function<'_>>,
        at: Option<Instruction<'_>>,
        message: &str,
        severity: Severity,
    ) {
        let function = function.map_or(std::ptr::null_mut(), |f| f.raw());
        let at = at.map_or(std::ptr::null_mut(), |i| i.raw());
        // SAFETY: handles of this module, or null, which the shim accepts.
        unsafe {
            okl_diagnose(
                self.raw(),
                function,
                at,
                Text::new(message),
                severity == Severity::Error,
            );
        }
    }

    /// Reports an error at a byte of a file that the compiler has not read itself, such as one that was preprocessed.
    pub fn error_in_file(&self, file: &str, contents: &str, byte: usize, message: &str) {
        assert!(byte <= contents.len());
        // SAFETY: the texts live through the call, and the byte is in the second one or at its end.
        unsafe {
            okl_error_in_file(
                self.raw(),
                Text::new(file),
                Text::new(contents),
                byte,
                Text::new(message),
            );
        }
    }

    /// Adds globals to `llvm.used`, so that neither LLVM nor the linker drops them.
    pub fn append_to_used(&self, globals: &[Global<'_>]) {
        let raw: Vec<_> = globals.iter().map(|global| global.raw()).collect();
        // SAFETY: globals of this module.
        unsafe { okl_append_to_used(self.raw(), raw.as_ptr(), raw.len()) }
    }

    /// Keeps a variable or function in its place although nothing in the module uses it. (Among those that the linker has to keep
    /// too it would get a section of its own.)
    pub fn append_to_compiler_used(&self, global: Value<'_>) {
        assert!(global.is_global_value());
        // SAFETY: a global value of this module.
        unsafe { okl_append_to_compiler_used(self.raw(), global.raw()) }
    }

    /// Has a function without parameters called before `main`.
    pub fn call_before_main(&self, function: Function<'_>) {
        assert!(function.parameters().is_empty());
        // SAFETY: a function of this module.
        unsafe { okl_call_before_main(self.raw(), function.raw()) }
    }

    /// Makes a variable the last one, in memory too.
    pub fn move_to_end(&self, global: Global<'_>) {
        // SAFETY: a global variable of this module.
        unsafe { okl_move_to_end(self.raw(), global.raw()) }
    }

    /// Leaves bodies only that end the program: what later passes may safely see of a module that is broken. They stay
    /// definitions, as aliases may stand for them.
    pub fn delete_bodies(&self) {
        let functions = self.functions().into_iter();
        for function in functions.filter(|one| !one.is_declaration()) {
            let linkage = function.linkage();
            function.delete_body();
            function.set_linkage(linkage);
            Builder::at_end(self, function.append_block(self)).unreachable();
        }
    }
}

impl Function<'_> {
    /// Leaves its declaration.
    pub fn delete_body(self) {
        // SAFETY: a function with a body, which nobody holds values of any more.
        unsafe { okl_delete_body(self.raw()) }
    }
}

impl<'m> Value<'m> {
    /// What an address is computed from by adding numbers, and their sum where they are constants.
    pub fn base_and_offset(self, module: &'m Module) -> (Value<'m>, Option<i64>) {
        let (mut base, mut sum) = (self, Some(0));
        while base.is_constant_gep() || base.as_op(Opcode::LLVMGetElementPtr).is_some() {
            let mut distance = 0;
            // SAFETY: a computation of an address in the module; the shim writes one number.
            let is_constant =
                unsafe { okl_gep_distance(module.raw(), base.raw(), &raw mut distance) };
            sum = sum
                .filter(|_| is_constant)
                .map(|sum: i64| sum.wrapping_add(distance));
            base = base.operand(0);
        }
        (base, sum)
    }
}

impl<'m> Function<'m> {
    /// The name in the debug information; empty where there is none.
    pub fn source_name(self) -> String {
        // SAFETY: a function; the sink's target lives through the call.
        collect_text(|sink, to| unsafe { okl_function_source_name(self.raw(), sink, to) })
    }

    /// Whether flang made its module.
    pub fn is_fortran(self) -> bool {
        self.producer().contains("flang")
    }

    /// Whether LLVM knows that it does not write memory.
    pub fn only_reads(self) -> bool {
        // SAFETY: a function.
        unsafe { okl_only_reads(self.raw()) }
    }

    /// Whether LLVM takes it for the function of the C library that has its name and type.
    pub fn is_library_function(self) -> bool {
        // SAFETY: a function.
        unsafe { okl_is_library_function(self.raw()) }
    }

    /// The natural loops, outer ones first.
    pub fn loops(self) -> Vec<NaturalLoop<'m>> {
        unsafe extern "C" fn push(
            to: *mut c_void,
            header: LLVMBasicBlockRef,
            blocks: *const LLVMBasicBlockRef,
            count: usize,
        ) {
            // SAFETY: `to` is the vector below; the shim passes `count` live blocks.
            unsafe {
                let blocks = std::slice::from_raw_parts(blocks, count);
                (*to.cast::<Vec<NaturalLoop<'_>>>()).push(NaturalLoop {
                    header: Block::new(header),
                    blocks: blocks.iter().map(|&block| Block::new(block)).collect(),
                });
            }
        }
        let mut loops: Vec<NaturalLoop<'m>> = Vec::new();
        if !self.is_declaration() {
            // SAFETY: a function with a body.
            unsafe { okl_loops(self.raw(), push, (&raw mut loops).cast()) }
        }
        loops
    }
}

impl<'m> Block<'m> {
    /// Puts a block between this one and some of those from which control comes to it, once each. It is no landing pad.
    pub fn split_edges(self, from: &[Self]) -> Self {
        let from: Vec<LLVMBasicBlockRef> = from.iter().map(|one| one.raw()).collect();
        // SAFETY: live blocks, of which the ones branch to the other.
        unsafe { Self::new(okl_split_edges(self.raw(), from.as_ptr(), from.len())) }
    }

    /// The first place at which an ordinary instruction may stand.
    pub fn first_insertion_point(self) -> Option<Instruction<'m>> {
        let is_pad = |one: &Instruction<'m>| {
            matches!(
                one.opcode(),
                Opcode::LLVMLandingPad
                    | Opcode::LLVMCatchPad
                    | Opcode::LLVMCleanupPad
                    | Opcode::LLVMCatchSwitch
            )
        };
        let instructions = self.instructions().into_iter();
        let is_phi = |one: &Instruction<'m>| one.opcode() == Opcode::LLVMPHI;
        let mut rest = instructions.skip_while(is_phi).peekable();
        rest.next_if(is_pad);
        rest.next()
    }
}

impl<'m> Global<'m> {
    /// Puts a variable with so many bytes more, which are 0, in place of this one, which is defined here. All that used this one
    /// uses that one.
    pub fn widen(self, bytes: u64) -> Self {
        assert!(!self.is_declaration());
        // SAFETY: a variable with an initial value; LLVM hands out a new one, and nothing of ours keeps the old one.
        unsafe { Global::from_nullable(okl_widen(self.raw(), bytes)) }.expect("a variable")
    }

    /// Turns constant expressions over this global that instructions use into instructions.
    pub fn expand_constant_users(self) {
        // SAFETY: a global variable.
        unsafe { okl_expand_constant_users(self.raw()) }
    }
}

impl<'m> Instruction<'m> {
    /// A remark for `-Rpass=okl` or, where `missed`, `-Rpass-missed=okl`.
    pub fn remark(self, name: &str, message: &str, missed: bool) {
        // SAFETY: an instruction inside a function; the texts live through the call.
        unsafe { okl_remark(self.raw(), Text::new(name), Text::new(message), missed) }
    }

    /// Whether it computes a value, or loads one by a load that is neither volatile nor atomic, and does nothing else.
    pub fn only_computes(self) -> bool {
        let has_place = matches!(
            self.opcode(),
            Opcode::LLVMPHI
                | Opcode::LLVMAlloca
                | Opcode::LLVMLandingPad
                | Opcode::LLVMCatchPad
                | Opcode::LLVMCleanupPad
        );
        // SAFETY: an instruction.
        let (changes, reads, ends) = unsafe {
            let ends = !LLVMIsATerminatorInst(self.raw()).is_null();
            (
                okl_has_side_effects(self.raw()),
                okl_may_read(self.raw()),
                ends,
            )
        };
        !changes && !ends && !has_place && (!reads || self.opcode() == Opcode::LLVMLoad)
    }

    /// Moves it in front of another one of its function, where its operands are there and above which nothing uses it.
    pub fn move_before(self, before: Instruction<'m>) {
        assert!(self.function() == before.function());
        // SAFETY: two instructions of a function; the caller has looked at operands and uses.
        unsafe { okl_move_before(self.raw(), before.raw()) }
    }

    /// Splits the block in front of this instruction and returns the end of a new block that runs
    /// only if `condition` holds.
    pub fn insert_if(self, condition: Value<'m>) -> Instruction<'m> {
        // SAFETY: a condition that is available here; the shim returns an instruction.
        unsafe { Instruction::from_nullable(okl_insert_if(condition.raw(), self.raw())) }
            .expect("the shim returns the end of the block")
    }

    /// Whether two loads or stores are of types that no object can have both of, as the source says.
    pub fn is_of_other_type(self, other: Instruction<'m>) -> bool {
        let is_access = |one: Self| matches!(one.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore);
        // SAFETY: loads and stores, as just checked.
        is_access(self) && is_access(other) && unsafe { okl_types_differ(self.raw(), other.raw()) }
    }

    /// Splits its block in front of it: the new block begins with it.
    pub fn split_before(self) -> Block<'m> {
        // SAFETY: an instruction of a complete block.
        unsafe { Block::new(okl_split_before(self.raw())) }
    }

    /// Has an `invoke` of what throws nothing be a call, and its block go on where no other one leads to.
    pub fn throws_nothing(self) {
        assert!(self.opcode() == Opcode::LLVMInvoke);
        // SAFETY: an invoke, which nobody uses any more.
        unsafe { okl_to_call(self.raw()) }
    }

    /// What an `atomicrmw` does to its object, if it is one that the run time knows.
    pub fn atomic_operation(self) -> Option<AtomicOp> {
        if !self.is_atomic_update() {
            return None;
        }
        // SAFETY: an atomicrmw, as just checked.
        let operation = unsafe { LLVMGetAtomicRMWBinOp(self.raw()) } as usize;
        // LLVM counts them as we do up to the smaller number, and has others behind that.
        (operation <= AtomicOp::FMin as usize).then(|| AtomicOp::ALL[operation])
    }
}

impl<'m> Builder<'m> {
    /// What an `atomicrmw` makes of a value.
    pub fn updated(&self, update: Instruction<'m>, old: Value<'m>) -> Value<'m> {
        assert!(update.is_atomic_update() && update.ty() == old.ty());
        // SAFETY: a positioned builder, an atomicrmw, as just checked, and a value of its type.
        unsafe { Value::new(okl_updated(self.raw(), update.raw(), old.raw())) }
    }
}
