//! The dominators and the loops of a function, and what its instructions access: the safe side of `cxx/code.h`.

use std::collections::{HashMap, HashSet};
use std::ffi::{c_int, c_void};

use inkwell::llvm_sys::LLVMValueKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMModuleRef, LLVMValueRef};

use super::shim::{TextSink, collect_text};
use super::{Block, Builder, Call, Function, Instruction, IntPredicate, Module, Opcode, Value};

#[repr(C)]
pub(super) struct RawCode {
    private: [u8; 0],
}

#[repr(C)]
pub(super) struct RawLoop {
    private: [u8; 0],
}

type LoopSink = unsafe extern "C" fn(
    *mut c_void,
    *const RawLoop,
    *const RawLoop,
    LLVMBasicBlockRef,
    LLVMBasicBlockRef,
    LLVMBasicBlockRef,
    *const LLVMBasicBlockRef,
    usize,
);

unsafe extern "C" {
    fn okl_code_open(function: LLVMValueRef) -> *mut RawCode;
    fn okl_code_close(code: *mut RawCode);
    fn okl_code_loops(code: *mut RawCode, sink: LoopSink, to: *mut c_void);
    fn okl_block_dominates(code: *mut RawCode, a: LLVMBasicBlockRef, b: LLVMBasicBlockRef) -> bool;
    fn okl_dominates(code: *mut RawCode, a: LLVMValueRef, b: LLVMValueRef) -> bool;
    fn okl_may_change(code: *mut RawCode, writer: LLVMValueRef, load: LLVMValueRef) -> bool;
    fn okl_may_change_in_turns(
        code: *mut RawCode,
        load: LLVMValueRef,
        writers: *const LLVMValueRef,
        count: usize,
        may: *mut bool,
    );
    fn okl_may_read_from(code: *mut RawCode, load: LLVMValueRef, address: LLVMValueRef) -> bool;
    fn okl_can_load_at(code: *mut RawCode, load: LLVMValueRef, at: LLVMValueRef) -> bool;
    fn okl_move_out(instruction: LLVMValueRef, before: LLVMValueRef);
    fn okl_must_not_be_poison(instruction: LLVMValueRef) -> bool;
    fn okl_offset_in_object(
        module: LLVMModuleRef,
        address: LLVMValueRef,
        bytes: *mut i64,
    ) -> LLVMValueRef;
    fn okl_address_parts(
        module: LLVMModuleRef,
        address: LLVMValueRef,
        bytes: *mut i64,
        sink: unsafe extern "C" fn(*mut c_void, LLVMValueRef, i64),
        to: *mut c_void,
    ) -> bool;
    fn okl_memory_reach(call: LLVMValueRef) -> c_int;
    fn okl_only_reads_memory(call: LLVMValueRef) -> bool;
    fn okl_variable_name(value: LLVMValueRef, how: c_int, sink: TextSink, to: *mut c_void);
    fn okl_operand_text(value: LLVMValueRef, sink: TextSink, to: *mut c_void);
}

/// A loop of a [`Code`], which has it under a number.
pub struct CodeLoop<'m> {
    raw: *const RawLoop,
    /// The block through which alone it is entered.
    pub header: Block<'m>,
    /// The block that runs once before it.
    pub preheader: Option<Block<'m>>,
    /// The only block that goes back to its header.
    pub latch: Option<Block<'m>>,
    /// The loop around it.
    pub parent: Option<usize>,
    /// Its blocks and those of the loops inside it.
    pub blocks: Vec<Block<'m>>,
}

/// A function, whose control flow stays as it is, with its dominators, its loops and what may access the same memory.
pub struct Code<'m> {
    raw: *mut RawCode,
    function: Function<'m>,
    loops: Vec<CodeLoop<'m>>,
    numbers: HashMap<*const RawLoop, usize>,
    innermost: HashMap<Block<'m>, usize>,
    last: HashSet<Block<'m>>,
}

/// The blocks of a function that lead, without a loop, to nothing but the end of the program or of the function by an
/// exception.
fn last_blocks(function: Function<'_>) -> HashSet<Block<'_>> {
    let mut last = HashSet::new();
    let blocks = function.blocks();
    let mut grows = true;
    while grows {
        grows = false;
        for &block in blocks.iter().rev() {
            let returns = block
                .terminator()
                .is_none_or(|end| end.opcode() == Opcode::LLVMRet);
            let is_last = !returns && block.successors().iter().all(|next| last.contains(next));
            grows |= is_last && last.insert(block);
        }
    }
    last
}

impl Drop for Code<'_> {
    fn drop(&mut self) {
        // SAFETY: opened by us, closed once.
        unsafe { okl_code_close(self.raw) }
    }
}

impl<'m> Code<'m> {
    /// Looks at a function. Its loops get preheaders, and one block each that goes back, where they lack such.
    pub fn open(function: Function<'m>) -> Self {
        struct Found<'m> {
            loops: Vec<CodeLoop<'m>>,
            numbers: HashMap<*const RawLoop, usize>,
        }
        unsafe extern "C" fn push(
            to: *mut c_void,
            raw: *const RawLoop,
            parent: *const RawLoop,
            header: LLVMBasicBlockRef,
            preheader: LLVMBasicBlockRef,
            latch: LLVMBasicBlockRef,
            blocks: *const LLVMBasicBlockRef,
            count: usize,
        ) {
            // SAFETY: `to` is what is filled below; the shim passes `count` live blocks, a header, and blocks or null.
            unsafe {
                let found = &mut *to.cast::<Found<'_>>();
                let maybe =
                    |block: LLVMBasicBlockRef| (!block.is_null()).then(|| Block::new(block));
                let blocks = std::slice::from_raw_parts(blocks, count);
                found.numbers.insert(raw, found.loops.len());
                found.loops.push(CodeLoop {
                    raw,
                    header: Block::new(header),
                    preheader: maybe(preheader),
                    latch: maybe(latch),
                    parent: found.numbers.get(&parent).copied(),
                    blocks: blocks.iter().map(|&block| Block::new(block)).collect(),
                });
            }
        }
        assert!(!function.is_declaration());
        let mut found = Found {
            loops: Vec::new(),
            numbers: HashMap::new(),
        };
        // SAFETY: a function with a body; the sink's target lives through the call.
        let raw = unsafe {
            let raw = okl_code_open(function.raw());
            okl_code_loops(raw, push, (&raw mut found).cast());
            raw
        };
        // Inner loops come later.
        let blocks = found.loops.iter().enumerate();
        let innermost = blocks
            .flat_map(|(number, one)| one.blocks.iter().map(move |&block| (block, number)))
            .collect();
        Self {
            raw,
            function,
            loops: found.loops,
            numbers: found.numbers,
            innermost,
            last: last_blocks(function),
        }
    }

    pub(super) fn raw(&self) -> *mut RawCode {
        self.raw
    }

    pub(super) fn raw_loop(&self, number: usize) -> *const RawLoop {
        self.loops[number].raw
    }

    pub(super) fn number_of(&self, raw: *const RawLoop) -> usize {
        self.numbers[&raw]
    }

    /// The function.
    pub fn function(&self) -> Function<'m> {
        self.function
    }

    /// Its loops, outer ones first: their numbers are their places in this list.
    pub fn loops(&self) -> &[CodeLoop<'m>] {
        &self.loops
    }

    /// The innermost loop around a block.
    pub fn loop_of(&self, block: Block<'m>) -> Option<usize> {
        self.innermost.get(&block).copied()
    }

    /// The loops around a block, inner ones first.
    pub fn loops_around(&self, block: Block<'m>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.loop_of(block), |&one| self.loops[one].parent)
    }

    /// Whether a block is part of a loop.
    pub fn contains(&self, number: usize, block: Block<'m>) -> bool {
        self.loops_around(block).any(|one| one == number)
    }

    /// The blocks from which a loop is left for code from which control may return.
    pub fn exiting(&self, number: usize) -> Vec<Block<'m>> {
        let leaves = |block: &Block<'m>| {
            let next = block.successors();
            next.into_iter()
                .any(|next| !self.contains(number, next) && !self.is_last(next))
        };
        let blocks = &self.loops[number].blocks;
        blocks.iter().copied().filter(leaves).collect()
    }

    /// Whether control, once in a block, does not return from the function: it comes to the end of the program, or
    /// leaves by an exception.
    pub fn is_last(&self, block: Block<'m>) -> bool {
        self.last.contains(&block)
    }

    /// Whether control passes `a` on every way to `b`.
    pub fn dominates(&self, a: Block<'m>, b: Block<'m>) -> bool {
        // SAFETY: two blocks of the function.
        unsafe { okl_block_dominates(self.raw, a.raw(), b.raw()) }
    }

    /// The same of instructions.
    pub fn is_before(&self, a: Instruction<'m>, b: Instruction<'m>) -> bool {
        // SAFETY: two instructions of the function.
        unsafe { okl_dominates(self.raw, a.raw(), b.raw()) }
    }

    /// Whether an instruction may change what a load reads, as it is executed next.
    pub fn may_change(&self, writer: Instruction<'m>, load: Instruction<'m>) -> bool {
        assert!(load.opcode() == Opcode::LLVMLoad);
        // SAFETY: an instruction and a load of the function.
        unsafe { okl_may_change(self.raw, writer.raw(), load.raw()) }
    }

    /// Those of `writers` that may change, in any turn of a loop, what a load reads in any turn, or memory around that.
    pub fn changing_in_turns(
        &self,
        load: Instruction<'m>,
        writers: &[Instruction<'m>],
    ) -> Vec<Instruction<'m>> {
        assert!(load.opcode() == Opcode::LLVMLoad);
        let raw: Vec<LLVMValueRef> = writers.iter().map(|one| one.raw()).collect();
        let mut may = vec![false; raw.len()];
        // SAFETY: a load and instructions of the function; room for as many answers.
        unsafe {
            let (writers, count) = (raw.as_ptr(), raw.len());
            okl_may_change_in_turns(self.raw, load.raw(), writers, count, may.as_mut_ptr());
        }
        let all = writers.iter().zip(may);
        all.filter_map(|(&one, may)| may.then_some(one)).collect()
    }

    /// Whether a load may read from the object that an address points into.
    pub fn may_read_from(&self, load: Instruction<'m>, address: Value<'m>) -> bool {
        assert!(load.opcode() == Opcode::LLVMLoad && address.ty().is_pointer());
        // SAFETY: a load of the function, and an address.
        unsafe { okl_may_read_from(self.raw, load.raw(), address.raw()) }
    }

    /// Whether a load does no harm in front of an instruction, whatever came before.
    pub fn can_load_at(&self, load: Instruction<'m>, at: Instruction<'m>) -> bool {
        assert!(load.opcode() == Opcode::LLVMLoad);
        // SAFETY: a load and an instruction of the function.
        unsafe { okl_can_load_at(self.raw, load.raw(), at.raw()) }
    }
}

/// What memory a call may access, as far as LLVM's attributes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// None.
    Nothing,
    /// That behind its arguments.
    Arguments,
    /// Any.
    Anything,
}

impl Call<'_> {
    /// What memory it may access, and whether it returns normally if at all.
    pub fn reach(self) -> Reach {
        // SAFETY: a call.
        match unsafe { okl_memory_reach(self.raw()) } {
            0 => Reach::Nothing,
            1 => Reach::Arguments,
            _ => Reach::Anything,
        }
    }

    /// Whether it writes no memory, `errno` left aside.
    pub fn only_reads_memory(self) -> bool {
        // SAFETY: a call.
        unsafe { okl_only_reads_memory(self.raw()) }
    }
}

impl<'m> Instruction<'m> {
    /// Moves it to where it may be executed although it was not before, and takes from it what was only known of it here.
    /// Its operands have to be there.
    pub fn move_out(self, before: Instruction<'m>) {
        assert!(self.function() == before.function());
        // SAFETY: two instructions of a function; the caller has looked at the operands.
        unsafe { okl_move_out(self.raw(), before.raw()) }
    }

    /// The one before it in its block.
    pub fn previous(self) -> Option<Instruction<'m>> {
        // SAFETY: an instruction that has been inserted; the result is one of its block or null.
        unsafe { Instruction::from_nullable(LLVMGetPreviousInstruction(self.raw())) }
    }

    /// Whether it is the value of its operand as one of another type.
    pub fn is_cast(self) -> bool {
        // SAFETY: an instruction.
        unsafe { !LLVMIsACastInst(self.raw()).is_null() }
    }

    /// Whether a program has no meaning in which this computation overflows although it says that it does not.
    pub fn must_not_be_poison(self) -> bool {
        // SAFETY: an instruction.
        unsafe { okl_must_not_be_poison(self.raw()) }
    }

    /// Of an addition, subtraction, multiplication or shift to the left: whether it says that it does not overflow, with
    /// a sign.
    pub fn has_no_signed_wrap(self) -> bool {
        self.opcode() != Opcode::LLVMTrunc && self.keeps_number(true)
    }

    /// Whether it says that its result is the number that it computes, with or without a sign: it does not overflow, and
    /// what is made narrower stays the same.
    pub fn keeps_number(self, signed: bool) -> bool {
        let says = matches!(
            self.opcode(),
            Opcode::LLVMAdd
                | Opcode::LLVMSub
                | Opcode::LLVMMul
                | Opcode::LLVMShl
                | Opcode::LLVMTrunc
        );
        // SAFETY: an operation that may say so.
        says && unsafe {
            match signed {
                true => LLVMGetNSW(self.raw()) != 0,
                false => LLVMGetNUW(self.raw()) != 0,
            }
        }
    }

    /// Says of an integer that is made narrower that it stays the same number, with or without a sign, or of a sum,
    /// difference or product that it does not overflow.
    pub fn promise_no_wrap(self, signed: bool) {
        let may_say = [
            Opcode::LLVMTrunc,
            Opcode::LLVMAdd,
            Opcode::LLVMSub,
            Opcode::LLVMMul,
        ];
        assert!(may_say.contains(&self.opcode()));
        // SAFETY: an operation that may say so.
        unsafe {
            match signed {
                true => LLVMSetNSW(self.raw(), 1),
                false => LLVMSetNUW(self.raw(), 1),
            }
        }
    }

    /// Has it say nothing of that: it is some number whatever it is computed from.
    pub fn promise_nothing(self) {
        let may_say = matches!(
            self.opcode(),
            Opcode::LLVMAdd
                | Opcode::LLVMSub
                | Opcode::LLVMMul
                | Opcode::LLVMShl
                | Opcode::LLVMTrunc
        );
        if may_say {
            // SAFETY: an operation that may say so.
            unsafe {
                LLVMSetNSW(self.raw(), 0);
                LLVMSetNUW(self.raw(), 0);
            }
        }
    }

    /// Of a number with zeros in front: whether it says that the number was not negative.
    pub fn says_not_negative(self) -> bool {
        // SAFETY: an operation that may say so.
        self.opcode() == Opcode::LLVMZExt && unsafe { LLVMGetNNeg(self.raw()) != 0 }
    }

    /// Whether it says that it joins numbers that have no bits in common, which is their sum.
    pub fn is_sum(self) -> bool {
        // SAFETY: an operation that may say so.
        self.opcode() == Opcode::LLVMOr && unsafe { LLVMGetIsDisjoint(self.raw()) != 0 }
    }

    /// Of a division or shift to the right: whether it says that there is no remainder.
    pub fn is_exact(self) -> bool {
        let says = matches!(
            self.opcode(),
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMLShr | Opcode::LLVMAShr
        );
        // SAFETY: an operation that may say so.
        says && unsafe { LLVMGetExact(self.raw()) != 0 }
    }

    /// Whether it computes the same address as another one, in the same way, where neither overflows.
    pub fn is_same_address(self, other: Instruction<'m>) -> bool {
        let both = [self, other].map(|one| one.opcode()) == [Opcode::LLVMGetElementPtr; 2];
        both && self.operands() == other.operands()
            && self.source_element_type() == other.source_element_type()
    }

    /// Makes a comparison of integers one of other values.
    pub fn ask_instead(
        self,
        module: &'m Module,
        predicate: IntPredicate,
        a: Value<'m>,
        b: Value<'m>,
    ) {
        assert!(self.opcode() == Opcode::LLVMICmp && a.ty() == b.ty());
        let build = Builder::before(module, self);
        let name = self.name();
        let new = build.ask(super::Comparison::Integer(predicate), a, b);
        self.replace_all_uses_with(new);
        self.erase();
        new.set_name(&name);
    }
}

/// How a value stands for a variable of the source, in its debug information.
#[derive(Clone, Copy)]
pub enum Naming {
    /// It is the variable's value.
    Value,
    /// It is the variable's address.
    Address,
    /// The variable is found through it, as what a region captured is.
    Through,
}

impl<'m> Value<'m> {
    /// The name of the variable that it stands for in that way; empty where there is none.
    pub fn variable_name(self, how: Naming) -> String {
        let how = match how {
            Naming::Value => 0,
            Naming::Address => 1,
            Naming::Through => 2,
        };
        // SAFETY: a live value; the sink's target lives through the call.
        collect_text(|sink, to| unsafe { okl_variable_name(self.raw(), how, sink, to) })
    }

    /// As an operand of an instruction is printed.
    pub fn operand_text(self) -> String {
        // SAFETY: a live value; the sink's target lives through the call.
        collect_text(|sink, to| unsafe { okl_operand_text(self.raw(), sink, to) })
    }

    /// Whether it is a constant struct, array or vector with operands.
    pub fn is_constant_aggregate(self) -> bool {
        // SAFETY: a live value.
        let kind = unsafe { LLVMGetValueKind(self.raw()) };
        matches!(
            kind,
            LLVMValueKind::LLVMConstantStructValueKind
                | LLVMValueKind::LLVMConstantArrayValueKind
                | LLVMValueKind::LLVMConstantVectorValueKind
        )
    }

    /// What is added to operand 0 of a computation of an address: a number, and values, which have signs, times numbers.
    pub fn address_parts(self, module: &'m Module) -> Option<(i64, Vec<(Value<'m>, i64)>)> {
        unsafe extern "C" fn push(to: *mut c_void, value: LLVMValueRef, times: i64) {
            // SAFETY: `to` is the vector below; the shim passes a live value.
            unsafe { (*to.cast::<Vec<(Value<'_>, i64)>>()).push((Value::new(value), times)) }
        }
        let (mut bytes, mut parts): (i64, Vec<(Value<'m>, i64)>) = (0, Vec::new());
        // SAFETY: a value of the module; the sink's target lives through the call.
        let is_known = unsafe {
            let to = (&raw mut parts).cast();
            okl_address_parts(module.raw(), self.raw(), &raw mut bytes, push, to)
        };
        is_known.then_some((bytes, parts))
    }

    /// The address, within the same object whatever the program does, that this one is so many bytes behind.
    pub fn offset_in_object(self, module: &'m Module) -> (Value<'m>, i64) {
        assert!(self.ty().is_pointer());
        let mut bytes = 0;
        // SAFETY: an address of the module; the shim returns another one, and writes one number.
        let base = unsafe {
            Value::new(okl_offset_in_object(
                module.raw(),
                self.raw(),
                &raw mut bytes,
            ))
        };
        (base, bytes)
    }
}
