//! Code that becomes a function of its own, and what may not leave it: the safe side of `cxx/extract.cpp`, and the C API's
//! part.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp};

use super::shim::Text;
use super::{Block, Builder, Call, Function, Instruction, Module, Opcode, Type, Value};

pub use inkwell::llvm_sys::LLVMAtomicRMWBinOp as Update;

unsafe extern "C" {
    fn okl_extract(blocks: *const LLVMBasicBlockRef, count: usize, suffix: Text) -> LLVMValueRef;
    fn okl_remove_unreachable(function: LLVMValueRef);
    fn okl_call_to_invoke(call: LLVMValueRef, unwind: LLVMBasicBlockRef) -> LLVMBasicBlockRef;
    fn okl_move_debug_records(
        variable: LLVMValueRef,
        blocks: *const LLVMBasicBlockRef,
        count: usize,
        before: LLVMValueRef,
    );
}

impl<'m> Block<'m> {
    /// Makes a function of blocks, the first of which alone is entered from others, and calls it in their place. What they
    /// use of other blocks become its parameters, in the order in which they do.
    pub fn extract(blocks: &[Self], suffix: &str) -> Option<Function<'m>> {
        let raw: Vec<_> = blocks.iter().map(|block| block.raw()).collect();
        // SAFETY: live blocks of one function; the text lives through the call.
        unsafe { Function::from_nullable(okl_extract(raw.as_ptr(), raw.len(), Text::new(suffix))) }
    }

    /// Has it go to `new` wherever it goes to `old`.
    pub fn turn(self, old: Block<'m>, new: Block<'m>) {
        let end = self.terminator().expect("a complete block");
        for (at, operand) in end.operands().into_iter().enumerate() {
            if operand == old.label() {
                end.set_operand(at, new.label());
            }
        }
    }
}

impl<'m> Function<'m> {
    /// Deletes the blocks that control never comes to. Nobody may hold on to what is in them.
    pub fn remove_unreachable_blocks(self) {
        // SAFETY: a function with a body.
        unsafe { okl_remove_unreachable(self.raw()) }
    }

    /// The function by which it handles exceptions.
    pub fn personality(self) -> Option<Value<'m>> {
        // SAFETY: a function; its personality is asked of one that has one.
        unsafe {
            (LLVMHasPersonalityFn(self.raw()) != 0)
                .then(|| Value::new(LLVMGetPersonalityFn(self.raw())))
        }
    }

    /// Has it handle exceptions by a function.
    pub fn set_personality(self, personality: Function<'m>) {
        // SAFETY: two functions.
        unsafe { LLVMSetPersonalityFn(self.raw(), personality.raw()) }
    }
}

impl<'m> Call<'m> {
    /// Has its exceptions go to a block. Returns the new block that begins behind it.
    pub fn unwind_to(self, block: Block<'m>) -> Block<'m> {
        assert!(self.instruction().opcode() == Opcode::LLVMCall);
        // SAFETY: a call that is no terminator, and a block of its function that begins with a landing pad.
        unsafe { Block::new(okl_call_to_invoke(self.raw(), block.raw())) }
    }

    /// Deletes it, where nothing uses what it returns; what can be said of an exception in it goes with it.
    pub fn take_out(self, module: &'m Module) {
        if let Some((normal, _)) = self.invoke_targets() {
            Builder::before(module, self.instruction()).go(normal);
        }
        self.instruction().erase();
    }
}

impl<'m> Instruction<'m> {
    /// Has a landing pad end the search for who handles an exception, whatever it is.
    pub fn catch_all(self, module: &'m Module) {
        assert!(self.opcode() == Opcode::LLVMLandingPad);
        // SAFETY: a landing pad, and the null pointer, which stands for all exceptions.
        unsafe { LLVMAddClause(self.raw(), module.pointer().zero().raw()) }
    }

    /// What debuggers are told of a stack variable outside of some blocks, they are told in front of an instruction.
    pub fn move_debug_records(self, outside_of: &[Block<'m>], before: Instruction<'m>) {
        let raw: Vec<_> = outside_of.iter().map(|block| block.raw()).collect();
        // SAFETY: two instructions and blocks of a function.
        unsafe { okl_move_debug_records(self.raw(), raw.as_ptr(), raw.len(), before.raw()) }
    }

    /// Has a load read at once what others may write meanwhile.
    pub fn set_relaxed(self) {
        assert!(self.opcode() == Opcode::LLVMLoad);
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        // SAFETY: a load, of a type and an alignment that the caller knows to be right.
        unsafe { LLVMSetOrdering(self.raw(), order) }
    }

    /// Makes a load acquire, and a store release, at least.
    pub fn set_ordered(self) {
        let order = match self.opcode() {
            Opcode::LLVMLoad => LLVMAtomicOrdering::LLVMAtomicOrderingAcquire,
            Opcode::LLVMStore => LLVMAtomicOrdering::LLVMAtomicOrderingRelease,
            other => unreachable!("not a load or store: {other:?}"),
        };
        let strongest = LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent;
        // SAFETY: a load or store, of a type and an alignment that the caller knows to be right.
        unsafe {
            if LLVMGetOrdering(self.raw()) != strongest {
                LLVMSetOrdering(self.raw(), order);
            }
        }
    }
}

impl Module {
    /// The type of functions that have more parameters than are named.
    pub fn variadic_type<'m>(&'m self, result: Type<'m>, parameters: &[Type<'m>]) -> Type<'m> {
        let mut raw: Vec<_> = parameters.iter().map(|ty| ty.raw()).collect();
        let count = raw.len() as u32;
        // SAFETY: types of this context.
        unsafe { Type::new(LLVMFunctionType(result.raw(), raw.as_mut_ptr(), count, 1)) }
    }
}

impl<'m> Builder<'m> {
    /// Where exceptions of all kinds come to: the address of what was thrown.
    pub fn caught(&self) -> Value<'m> {
        let module = self.module();
        let ty = module.const_struct(&[module.pointer().zero(), module.const_i32(0)]);
        // SAFETY: a builder at the begin of a block; the clause is the null pointer, which stands for all exceptions.
        let pad = unsafe {
            let none = std::ptr::null_mut();
            let pad = LLVMBuildLandingPad(self.raw(), ty.ty().raw(), none, 1, c"".as_ptr());
            Instruction::from_nullable(pad).expect("LLVM builds it")
        };
        pad.catch_all(module);
        self.extract(*pad, 0)
    }

    /// Control never comes here.
    pub fn unreachable(&self) {
        // SAFETY: a positioned builder.
        unsafe { LLVMBuildUnreachable(self.raw()) };
    }

    /// Updates an object at once: what was there. Nothing else is ordered by it.
    pub fn update(
        &self,
        operation: LLVMAtomicRMWBinOp,
        address: Value<'m>,
        value: Value<'m>,
        align: u32,
    ) -> Value<'m> {
        assert!(address.ty().is_pointer());
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        let (address, value) = (address.raw(), value.raw());
        // SAFETY: a positioned builder, a pointer, and a value that the caller knows the operation takes.
        unsafe {
            let raw = LLVMBuildAtomicRMW(self.raw(), operation, address, value, order, 0);
            LLVMSetAlignment(raw, align);
            Value::new(raw)
        }
    }
}
