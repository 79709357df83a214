//! Blocks, instructions and calls.

use std::marker::PhantomData;

use inkwell::llvm_sys::LLVMAtomicOrdering;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMMetadataRef};

pub use inkwell::llvm_sys::{
    LLVMIntPredicate as IntPredicate, LLVMOpcode as Opcode, LLVMRealPredicate as RealPredicate,
};

use super::{Call, Function, Instruction, Module, Type, Value};
use crate::marks::forwarded;

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block<'m> {
    raw: LLVMBasicBlockRef,
    lives: PhantomData<&'m ()>,
}

impl<'m> Block<'m> {
    /// # Safety
    /// `raw` is a live block.
    pub(super) unsafe fn new(raw: LLVMBasicBlockRef) -> Self {
        debug_assert!(!raw.is_null());
        Self {
            raw,
            lives: PhantomData,
        }
    }

    pub(super) fn raw(self) -> LLVMBasicBlockRef {
        self.raw
    }

    /// Its instructions in order.
    pub fn instructions(self) -> Vec<Instruction<'m>> {
        let mut instructions = Vec::new();
        // SAFETY: a live block; the list is read to its end before anything changes.
        unsafe {
            let mut next = LLVMGetFirstInstruction(self.raw);
            while !next.is_null() {
                instructions.push(Instruction(Value::new(next)));
                next = LLVMGetNextInstruction(next);
            }
        }
        instructions
    }

    /// The function it stands in.
    pub fn function(self) -> Function<'m> {
        // SAFETY: a block that has been inserted.
        unsafe { Function(Value::new(LLVMGetBasicBlockParent(self.raw))) }
    }

    /// Its last instruction, of a complete block.
    pub fn terminator(self) -> Option<Instruction<'m>> {
        // SAFETY: a live block.
        unsafe { Instruction::from_nullable(LLVMGetBasicBlockTerminator(self.raw)) }
    }

    /// Where control may go from here.
    pub fn successors(self) -> Vec<Block<'m>> {
        let Some(terminator) = self.terminator() else {
            return Vec::new();
        };
        // SAFETY: a terminator; indices below its count.
        unsafe {
            (0..LLVMGetNumSuccessors(terminator.raw()))
                .map(|i| Block::new(LLVMGetSuccessor(terminator.raw(), i)))
                .collect()
        }
    }
}

impl<'m> Instruction<'m> {
    /// What it does.
    pub fn opcode(self) -> Opcode {
        // SAFETY: an instruction.
        unsafe { LLVMGetInstructionOpcode(self.raw()) }
    }

    /// Of an `alloca`: the type of its elements. Their number is operand 0.
    pub fn allocated_type(self) -> Option<Type<'m>> {
        // SAFETY: a stack variable.
        (self.opcode() == Opcode::LLVMAlloca)
            .then(|| unsafe { Type::new(LLVMGetAllocatedType(self.raw())) })
    }

    /// The block it stands in.
    pub fn block(self) -> Block<'m> {
        // SAFETY: an instruction that has been inserted.
        unsafe { Block::new(LLVMGetInstructionParent(self.raw())) }
    }

    /// The function it stands in.
    pub fn function(self) -> Function<'m> {
        self.block().function()
    }

    pub(super) fn debug_location(self) -> LLVMMetadataRef {
        // SAFETY: an instruction.
        unsafe { LLVMInstructionGetDebugLoc(self.raw()) }
    }

    /// File and line from the debug information.
    pub fn source_location(self) -> Option<(String, u32)> {
        if self.debug_location().is_null() {
            return None;
        }
        let mut size = 0;
        // SAFETY: an instruction with a location; LLVM returns `size` bytes it owns, or null.
        unsafe {
            let data = LLVMGetDebugLocFilename(self.raw(), &mut size);
            let line = LLVMGetDebugLocLine(self.raw());
            if data.is_null() || size == 0 || line == 0 {
                return None;
            }
            let bytes = std::slice::from_raw_parts(data.cast::<u8>(), size as usize);
            Some((String::from_utf8_lossy(bytes).into_owned(), line))
        }
    }

    /// The column from the debug information, where there is one.
    pub fn source_column(self) -> Option<u32> {
        if self.debug_location().is_null() {
            return None;
        }
        // SAFETY: an instruction with a location.
        Some(unsafe { LLVMGetDebugLocColumn(self.raw()) }).filter(|column| *column > 0)
    }

    /// Replaces one operand.
    pub fn set_operand(self, index: usize, value: Value<'m>) {
        assert!(value.ty() == self.operand(index).ty());
        // SAFETY: an operand that exists, replaced by a value of the same type.
        unsafe { LLVMSetOperand(self.raw(), index as u32, value.raw()) }
    }

    /// Deletes it. Nothing may use it any more.
    pub fn erase(self) {
        assert!(self.is_unused());
        // SAFETY: nothing refers to it.
        unsafe { LLVMInstructionEraseFromParent(self.raw()) }
    }

    /// Whether it is an `atomicrmw`.
    pub fn is_atomic_update(self) -> bool {
        self.opcode() == Opcode::LLVMAtomicRMW
    }

    /// Whether it is an atomic access to memory.
    pub fn is_atomic_access(self) -> bool {
        match self.opcode() {
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
            // SAFETY: a load or store.
            Opcode::LLVMLoad | Opcode::LLVMStore => unsafe {
                LLVMGetOrdering(self.raw()) != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
            },
            _ => false,
        }
    }

    /// Whether it is a fence between threads. One within a thread concerns the compiler only.
    pub fn is_thread_fence(self) -> bool {
        // SAFETY: a fence, where it is asked.
        self.opcode() == Opcode::LLVMFence && unsafe { LLVMIsAtomicSingleThread(self.raw()) == 0 }
    }

    /// Whether an atomic access or a fence publishes earlier writes, and whether it sees those published
    /// by others.
    pub fn releases_and_acquires(self) -> (bool, bool) {
        // SAFETY: an atomic access or a fence.
        let ordering = unsafe {
            match self.opcode() {
                Opcode::LLVMAtomicCmpXchg => LLVMGetCmpXchgSuccessOrdering(self.raw()),
                _ => LLVMGetOrdering(self.raw()),
            }
        };
        let (releases, acquires) = match ordering {
            LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
            | LLVMAtomicOrdering::LLVMAtomicOrderingUnordered
            | LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic => (false, false),
            LLVMAtomicOrdering::LLVMAtomicOrderingAcquire => (false, true),
            LLVMAtomicOrdering::LLVMAtomicOrderingRelease => (true, false),
            LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease
            | LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent => (true, true),
        };
        let (is_load, is_store) = (
            self.opcode() == Opcode::LLVMLoad,
            self.opcode() == Opcode::LLVMStore,
        );
        (releases && !is_load, acquires && !is_store)
    }

    /// Whether it is a load or store that is neither volatile nor atomic.
    pub fn is_plain_access(self) -> bool {
        matches!(self.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore)
            && !self.is_volatile()
            && !self.is_atomic_access()
    }

    /// Whether it is a volatile load or store.
    pub fn is_volatile(self) -> bool {
        let accesses = matches!(self.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore);
        // SAFETY: a load or store.
        accesses && unsafe { LLVMGetVolatile(self.raw()) != 0 }
    }

    /// Alignment in bytes of the address that a memory instruction accesses.
    pub fn alignment(self) -> u32 {
        assert!(self.address().is_some());
        // SAFETY: an access to memory.
        unsafe { LLVMGetAlignment(self.raw()) }
    }

    /// Has a memory instruction access an address that is aligned to no more than so many bytes.
    pub fn limit_alignment(self, bytes: u32) {
        let bytes = bytes.min(self.alignment());
        // SAFETY: an access to memory, and a power of two.
        unsafe { LLVMSetAlignment(self.raw(), bytes) }
    }

    /// Alignment in bytes of a stack variable.
    pub fn stack_alignment(self) -> u32 {
        assert!(self.opcode() == Opcode::LLVMAlloca);
        // SAFETY: a stack variable.
        unsafe { LLVMGetAlignment(self.raw()) }
    }

    /// Aligns a stack variable to so many bytes, or to more where it is already.
    pub fn set_alignment(self, bytes: u32) {
        let bytes = bytes.max(self.stack_alignment());
        // SAFETY: a stack variable, and a power of two.
        unsafe { LLVMSetAlignment(self.raw(), bytes) }
    }

    /// Whether it is a volatile load.
    pub fn is_volatile_load(self) -> bool {
        // SAFETY: a load, where it is asked.
        self.opcode() == Opcode::LLVMLoad && unsafe { LLVMGetVolatile(self.raw()) != 0 }
    }

    /// Address a memory instruction accesses.
    pub fn address(self) -> Option<Value<'m>> {
        match self.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
                Some(self.operand(0))
            }
            Opcode::LLVMStore => Some(self.operand(1)),
            _ => None,
        }
    }

    /// Says of a load of an integer that its value, as a signed number, is `least` or more.
    pub fn set_least_value(self, module: &Module, least: i64) {
        let ty = (*self).ty();
        let Some(bits) = ty.bits().filter(|_| self.opcode() == Opcode::LLVMLoad) else {
            return;
        };
        // The range ends before the least number: it wraps around to it.
        let end = i64::MIN >> (64 - bits);
        if least != end {
            self.set_range(module, [least, end]);
        }
    }

    /// Says of a load of an integer that its value is one of the numbers from `least` to `end`, without `end`.
    pub fn set_numbers(self, module: &Module, least: i64, end: i64) {
        let is_number = (*self).ty().bits().is_some();
        if self.opcode() == Opcode::LLVMLoad && is_number && least < end {
            self.set_range(module, [least, end]);
        }
    }

    /// Says of a call that its result is one of the numbers from 0 to `end`, without `end`.
    pub fn set_result_below(self, module: &Module, end: i64) {
        let is_number = (*self).ty().bits().is_some();
        if self.opcode() == Opcode::LLVMCall && is_number && end > 0 {
            self.set_range(module, [0, end]);
        }
    }

    /// Of a load or call of an integer; the ends differ.
    fn set_range(self, module: &Module, ends: [i64; 2]) {
        let ty = (*self).ty();
        const KIND: &[u8] = b"range";
        // SAFETY: a load or call of an integer; constants of its type; the nodes live in the module's context.
        unsafe {
            let context = module.raw_context();
            let kind = LLVMGetMDKindIDInContext(context, KIND.as_ptr().cast(), KIND.len() as u32);
            let mut ends =
                ends.map(|value| LLVMValueAsMetadata(LLVMConstInt(ty.raw(), value as u64, 1)));
            let node = LLVMMDNodeInContext2(context, ends.as_mut_ptr(), ends.len());
            LLVMSetMetadata(self.raw(), kind, LLVMMetadataAsValue(context, node));
        }
    }

    /// Incoming values of a phi with their blocks.
    pub fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        assert!(self.opcode() == Opcode::LLVMPHI);
        // SAFETY: a phi; indices below its count.
        unsafe {
            (0..LLVMCountIncoming(self.raw()))
                .map(|i| {
                    (
                        Value::new(LLVMGetIncomingValue(self.raw(), i)),
                        Block::new(LLVMGetIncomingBlock(self.raw(), i)),
                    )
                })
                .collect()
        }
    }

    /// Condition of a conditional branch or `switch`.
    pub fn branch_condition(self) -> Option<Value<'m>> {
        match self.opcode() {
            // SAFETY: a branch; the condition is asked of a conditional one only.
            Opcode::LLVMBr => unsafe {
                (LLVMIsConditional(self.raw()) != 0)
                    .then(|| Value::new(LLVMGetCondition(self.raw())))
            },
            Opcode::LLVMSwitch => Some(self.operand(0)),
            _ => None,
        }
    }

    /// Has a conditional branch ask something else.
    pub fn set_branch_condition(self, condition: Value<'m>) {
        assert!(self.opcode() == Opcode::LLVMBr && self.branch_condition().is_some());
        assert!(condition.ty().bits() == Some(1));
        // SAFETY: a conditional branch and a truth value.
        unsafe { LLVMSetCondition(self.raw(), condition.raw()) }
    }

    /// Makes a conditional branch go one way.
    pub fn always_branch(self, module: &'m Module, to_first: bool) {
        assert!(self.opcode() == Opcode::LLVMBr && self.branch_condition().is_some());
        // SAFETY: a conditional branch, and a constant of one bit.
        unsafe {
            let constant = LLVMConstInt(module.int(1).raw(), u64::from(to_first), 0);
            LLVMSetCondition(self.raw(), constant);
        }
    }

    /// Of a comparison: what it asks.
    pub fn comparison(self) -> Option<Comparison> {
        // SAFETY: comparisons, of integers and of floating-point numbers.
        unsafe {
            match self.opcode() {
                Opcode::LLVMICmp => Some(Comparison::Integer(LLVMGetICmpPredicate(self.raw()))),
                Opcode::LLVMFCmp => Some(Comparison::Floating(LLVMGetFCmpPredicate(self.raw()))),
                _ => None,
            }
        }
    }

    /// Of a computation of an address: the type whose elements are counted.
    pub fn source_element_type(self) -> Option<Type<'m>> {
        (self.opcode() == Opcode::LLVMGetElementPtr)
            // SAFETY: a GEP, as just checked.
            .then(|| unsafe { Type::new(LLVMGetGEPSourceElementType(self.raw())) })
    }
}

/// What a comparison asks.
#[derive(Clone, Copy, PartialEq)]
pub enum Comparison {
    /// Of integers or pointers.
    Integer(IntPredicate),
    /// Of floating-point numbers.
    Floating(RealPredicate),
}

impl<'m> Call<'m> {
    /// As an instruction.
    pub fn instruction(self) -> Instruction<'m> {
        Instruction(self.0)
    }

    /// The called value.
    pub fn callee(self) -> Value<'m> {
        // SAFETY: a call.
        unsafe { Value::new(LLVMGetCalledValue(self.raw())) }
    }

    /// Has it call another function, or one of several, of the same type.
    pub fn set_callee(self, callee: Value<'m>) {
        let place = self.operands().len() - 1;
        self.instruction().set_operand(place, callee);
    }

    /// Whether it may go on at labels of the function.
    pub fn is_asm_goto(self) -> bool {
        self.instruction().opcode() == Opcode::LLVMCallBr
    }

    /// The called function, where it is known; through aliases and forwarders.
    pub fn callee_function(self) -> Option<Function<'m>> {
        let callee = self.callee().through_alias().as_function()?;
        match forwarded(callee) {
            Some(forwarded) => forwarded.through_alias().as_function(),
            None => Some(callee),
        }
    }

    /// Name of the called function; empty where it is not known.
    pub fn callee_name(self) -> String {
        self.callee_function()
            .map_or_else(String::new, |function| function.name())
    }

    /// Its arguments.
    pub fn arguments(self) -> Vec<Value<'m>> {
        // SAFETY: a call; its arguments are its first operands.
        unsafe {
            (0..LLVMGetNumArgOperands(self.raw()))
                .map(|i| Value::new(LLVMGetOperand(self.raw(), i)))
                .collect()
        }
    }

    /// Argument `index`, where the call has so many.
    pub fn argument(self, index: usize) -> Option<Value<'m>> {
        self.arguments().get(index).copied()
    }

    /// Where an `invoke` goes: normally, and on an exception.
    pub fn invoke_targets(self) -> Option<(Block<'m>, Block<'m>)> {
        // SAFETY: an invoke, where it is asked.
        (self.instruction().opcode() == Opcode::LLVMInvoke).then(|| unsafe {
            (
                Block::new(LLVMGetNormalDest(self.raw())),
                Block::new(LLVMGetUnwindDest(self.raw())),
            )
        })
    }
}
