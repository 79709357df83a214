//! Copies of modules, and passes over single functions: the safe side of `cxx/kernels.cpp`, and the C API's part.

use std::ffi::{c_uint, c_void};
use std::marker::PhantomData;

use inkwell::llvm_sys::core::{
    LLVMEraseGlobalIFunc, LLVMGetFirstGlobalIFunc, LLVMGetNextGlobalIFunc, LLVMGlobalGetValueType,
};
use inkwell::llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMContextRef, LLVMModuleRef, LLVMValueRef};

use super::shim::Text;
use super::{Block, Function, Linkage, Module, OwnModule, Value};

type LoopSink =
    unsafe extern "C" fn(*mut c_void, LLVMBasicBlockRef, c_uint, *const LLVMBasicBlockRef, usize);

unsafe extern "C" {
    fn okl_simplify(module: LLVMModuleRef);
    fn okl_clone_module(
        module: LLVMModuleRef,
        asked: unsafe extern "C" fn(*mut c_void, LLVMValueRef) -> bool,
        of: *mut c_void,
    ) -> LLVMModuleRef;
    fn okl_strip_debug_info(function: LLVMValueRef);
    fn okl_silence(context: LLVMContextRef) -> *mut c_void;
    fn okl_end_silence(context: LLVMContextRef, handler: *mut c_void);
    fn okl_analyses_create() -> *mut c_void;
    fn okl_analyses_dispose(analyses: *mut c_void);
    fn okl_run_passes(analyses: *mut c_void, function: LLVMValueRef, names: Text) -> bool;
    fn okl_innermost_loops(
        analyses: *mut c_void,
        function: LLVMValueRef,
        sink: LoopSink,
        to: *mut c_void,
    );
    fn okl_unroll(analyses: *mut c_void, header: LLVMBasicBlockRef, turns: c_uint) -> bool;
}

impl OwnModule {
    /// A copy of a module in which what `asked` denies is only declared.
    pub fn copy_with<'m, F: FnMut(Value<'m>) -> bool>(module: &'m Module, mut asked: F) -> Self {
        unsafe extern "C" fn ask<'m, F: FnMut(Value<'m>) -> bool>(
            of: *mut c_void,
            global: LLVMValueRef,
        ) -> bool {
            // SAFETY: `of` is the closure below; the shim passes a value of the module.
            unsafe { (*of.cast::<F>())(Value::new(global)) }
        }
        // SAFETY: a live module, and a closure that lives through the call; the result is a new module.
        unsafe {
            let of = (&raw mut asked).cast();
            Self::new(okl_clone_module(module.raw(), ask::<F>, of))
        }
    }

    /// Has LLVM say nothing of what it does to it, nor end the program where something is wrong. It has a context of its own.
    pub fn tell_nobody(&mut self) {
        silence(self.raw_context());
    }

    /// Simplifies it as LLVM's pipeline does before it vectorises.
    pub fn simplify(&mut self) {
        // SAFETY: a live module, of which nobody holds values: they borrow it.
        unsafe { okl_simplify(self.raw()) }
    }
}

/// The same for all of a context of its own.
pub(super) fn silence(context: LLVMContextRef) {
    // SAFETY: a live context; whom it told before is not needed again.
    unsafe { okl_silence(context) };
}

impl Module {
    /// Forgets all debug information.
    pub fn strip_debug_info(&self) {
        // SAFETY: a live module.
        unsafe { LLVMStripModuleDebugInfo(self.raw()) };
    }

    /// Has functions that the program chooses when it is loaded be such that other modules define.
    pub fn declare_chosen_functions(&self) {
        let mut chosen = Vec::new();
        // SAFETY: a live module; the list is read to its end before anything changes.
        unsafe {
            let mut next = LLVMGetFirstGlobalIFunc(self.raw());
            while !next.is_null() {
                chosen.push(Value::new(next));
                next = LLVMGetNextGlobalIFunc(next);
            }
        }
        for one in chosen {
            // SAFETY: an ifunc, which is of a function's type, and which nothing uses in the end.
            unsafe {
                let ty = super::Type::new(LLVMGlobalGetValueType(one.raw()));
                let declared = self.add_function("", ty, Linkage::LLVMExternalLinkage);
                declared.take_name(one);
                one.replace_all_uses_with(*declared);
                LLVMEraseGlobalIFunc(one.raw());
            }
        }
    }
}

impl Function<'_> {
    /// Forgets its debug information.
    pub fn strip_debug_info(self) {
        // SAFETY: a function.
        unsafe { okl_strip_debug_info(self.raw()) }
    }
}

/// While it lives, LLVM tells nobody what it does to modules of a context.
pub struct Silence<'m> {
    module: &'m Module,
    before: *mut c_void,
}

impl<'m> Silence<'m> {
    /// In the context of a module.
    pub fn begin(module: &'m Module) -> Self {
        // SAFETY: a live context.
        let before = unsafe { okl_silence(module.raw_context()) };
        Self { module, before }
    }
}

impl Drop for Silence<'_> {
    fn drop(&mut self) {
        // SAFETY: what it was before, which nobody else has.
        unsafe { okl_end_silence(self.module.raw_context(), self.before) }
    }
}

/// Passes over a function, and what they know of it from pass to pass.
pub struct Passes<'m> {
    analyses: *mut c_void,
    function: Function<'m>,
    lives: PhantomData<&'m ()>,
}

/// A loop in which there is no other.
pub struct InnermostLoop<'m> {
    /// Where it is entered.
    pub header: Block<'m>,
    /// How often it turns at most, where LLVM knows.
    pub turns: Option<u32>,
    /// All of its blocks.
    pub blocks: Vec<Block<'m>>,
}

impl Drop for Passes<'_> {
    fn drop(&mut self) {
        // SAFETY: created by us, disposed of once.
        unsafe { okl_analyses_dispose(self.analyses) }
    }
}

impl<'m> Passes<'m> {
    /// Over a function with a body.
    pub fn over(function: Function<'m>) -> Self {
        assert!(!function.is_declaration());
        Self {
            // SAFETY: it is disposed of in the end.
            analyses: unsafe { okl_analyses_create() },
            function,
            lives: PhantomData,
        }
    }

    /// Runs passes, which are named as `opt` names them.
    pub fn run(&self, names: &str) {
        // SAFETY: a function with a body; the text lives through the call.
        let known = unsafe { okl_run_passes(self.analyses, self.function.raw(), Text::new(names)) };
        assert!(known, "LLVM has no {names}");
    }

    /// The loops in which there are no others.
    pub fn innermost_loops(&self) -> Vec<InnermostLoop<'m>> {
        unsafe extern "C" fn push(
            to: *mut c_void,
            header: LLVMBasicBlockRef,
            turns: c_uint,
            blocks: *const LLVMBasicBlockRef,
            count: usize,
        ) {
            // SAFETY: `to` is the vector below; the shim passes `count` live blocks.
            unsafe {
                let blocks = std::slice::from_raw_parts(blocks, count);
                (*to.cast::<Vec<InnermostLoop<'_>>>()).push(InnermostLoop {
                    header: Block::new(header),
                    turns: (turns > 0).then_some(turns),
                    blocks: blocks.iter().map(|&block| Block::new(block)).collect(),
                });
            }
        }
        let mut loops: Vec<InnermostLoop<'m>> = Vec::new();
        // SAFETY: a function with a body; the sink's target lives through the call.
        unsafe {
            let to = (&raw mut loops).cast();
            okl_innermost_loops(self.analyses, self.function.raw(), push, to);
        }
        loops
    }

    /// Writes out the turns of one of these loops, after which the others are to be asked for again. False where that was
    /// not done.
    pub fn unroll(&self, one: &InnermostLoop<'m>) -> bool {
        let turns = one.turns.unwrap_or_default();
        // SAFETY: the header of a loop of the function, as it has been since it was asked for.
        turns > 0 && unsafe { okl_unroll(self.analyses, one.header.raw(), turns) }
    }
}
