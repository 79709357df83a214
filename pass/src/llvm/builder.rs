//! Inserting instructions.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMBuilderRef;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate};

use super::{Block, Call, Comparison, Function, Instruction, Module, Opcode, Type, Value};

/// Inserts instructions at one place, with the debug location of that place.
pub struct Builder<'m> {
    raw: LLVMBuilderRef,
    module: &'m Module,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: created by us, disposed of once.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}

impl<'m> Builder<'m> {
    fn create(module: &'m Module) -> Self {
        // SAFETY: a live context.
        let raw = unsafe { LLVMCreateBuilderInContext(module.raw_context()) };
        Self { raw, module }
    }

    pub(super) fn raw(&self) -> LLVMBuilderRef {
        self.raw
    }

    /// The module it adds to.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// In front of an instruction, with its debug location.
    pub fn before(module: &'m Module, at: Instruction<'m>) -> Self {
        let builder = Self::create(module);
        // SAFETY: a live instruction; a null location means none.
        unsafe {
            LLVMPositionBuilderBefore(builder.raw, at.raw());
            LLVMSetCurrentDebugLocation2(builder.raw, at.debug_location());
        }
        builder
    }

    /// At the end of a block, without a debug location.
    pub fn at_end(module: &'m Module, block: Block<'m>) -> Self {
        let builder = Self::create(module);
        // SAFETY: a live block.
        unsafe { LLVMPositionBuilderAtEnd(builder.raw, block.raw()) }
        builder
    }

    /// At the end of a block, with the debug location of an instruction.
    pub fn at_end_like(module: &'m Module, block: Block<'m>, like: Instruction<'m>) -> Self {
        let builder = Self::at_end(module, block);
        // SAFETY: a live instruction; a null location means none.
        unsafe { LLVMSetCurrentDebugLocation2(builder.raw, like.debug_location()) }
        builder
    }

    /// At the start of a function, where its `alloca`s belong.
    pub fn at_entry(module: &'m Module, function: Function<'m>) -> Self {
        let entry = function.blocks()[0];
        let builder = Self::create(module);
        let first = entry.first_insertion_point();
        let first = first.expect("a complete block has a terminator");
        // SAFETY: a live instruction.
        unsafe { LLVMPositionBuilderBefore(builder.raw, first.raw()) }
        builder
    }

    /// Reserves stack memory.
    pub fn alloca(&self, ty: Type<'m>, align: u32) -> Value<'m> {
        // SAFETY: a positioned builder and a sized type.
        unsafe {
            let raw = LLVMBuildAlloca(self.raw, ty.raw(), c"".as_ptr());
            LLVMSetAlignment(raw, align);
            Value::new(raw)
        }
    }

    /// Reserves stack memory for so many of a type, until the stack is what it was, or the function returns.
    pub fn allocas(&self, ty: Type<'m>, count: Value<'m>, align: u32) -> Value<'m> {
        assert!(count.ty().is_integer());
        // SAFETY: a positioned builder, a sized type and an integer.
        unsafe {
            let raw = LLVMBuildArrayAlloca(self.raw, ty.raw(), count.raw(), c"".as_ptr());
            LLVMSetAlignment(raw, align);
            Value::new(raw)
        }
    }

    /// Loads from memory.
    pub fn load(&self, ty: Type<'m>, address: Value<'m>) -> Value<'m> {
        assert!(address.ty().is_pointer());
        // SAFETY: a positioned builder, a first-class type and a pointer.
        unsafe {
            Value::new(LLVMBuildLoad2(
                self.raw,
                ty.raw(),
                address.raw(),
                c"".as_ptr(),
            ))
        }
    }

    /// Stores to memory.
    pub fn store(&self, value: Value<'m>, address: Value<'m>) {
        assert!(address.ty().is_pointer());
        // SAFETY: a positioned builder, a first-class value and a pointer.
        unsafe { LLVMBuildStore(self.raw, value.raw(), address.raw()) };
    }

    /// Loads from memory what LLVM does not know.
    pub fn load_volatile(&self, ty: Type<'m>, address: Value<'m>) -> Value<'m> {
        let value = self.load(ty, address);
        // SAFETY: a load.
        unsafe { LLVMSetVolatile(value.raw(), 1) };
        value
    }

    /// Stores to memory, where LLVM does not know who reads it.
    pub fn store_volatile(&self, value: Value<'m>, address: Value<'m>) {
        assert!(address.ty().is_pointer());
        // SAFETY: a positioned builder, a first-class value and a pointer.
        unsafe { LLVMSetVolatile(LLVMBuildStore(self.raw, value.raw(), address.raw()), 1) };
    }

    /// Address `bytes` behind `address`.
    pub fn offset(&self, address: Value<'m>, bytes: i64) -> Value<'m> {
        if bytes == 0 {
            return address;
        }
        let mut index = [self.module.const_i64(bytes).raw()];
        // SAFETY: a positioned builder, a pointer and one i64 index; the offsets we compute stay
        // inside the object.
        unsafe {
            Value::new(LLVMBuildInBoundsGEP2(
                self.raw,
                self.module.int(8).raw(),
                address.raw(),
                index.as_mut_ptr(),
                1,
                c"".as_ptr(),
            ))
        }
    }

    /// Address of element `index` behind `address`, of elements of `element` type; the index is signed.
    pub fn element(&self, element: Type<'m>, address: Value<'m>, index: Value<'m>) -> Value<'m> {
        assert!(address.ty().is_pointer() && index.ty().is_integer());
        let mut index = [index.raw()];
        // SAFETY: a positioned builder, a sized type, a pointer and an integer; no promise is made.
        unsafe {
            Value::new(LLVMBuildGEP2(
                self.raw,
                element.raw(),
                address.raw(),
                index.as_mut_ptr(),
                1,
                c"".as_ptr(),
            ))
        }
    }

    /// Stores `count` bytes of the same value.
    pub fn fill(&self, address: Value<'m>, byte: i64, count: Value<'m>) {
        let int = self.module.int(8);
        // SAFETY: a positioned builder, a pointer and integers.
        unsafe {
            let value = LLVMConstInt(int.raw(), byte as u64, 0);
            if count.as_constant_int() == Some(1) {
                LLVMSetAlignment(LLVMBuildStore(self.raw, value, address.raw()), 1);
            } else {
                LLVMBuildMemSet(self.raw, address.raw(), value, count.raw(), 1);
            }
        }
    }

    /// Sets a bit of a sequence of bytes, the lowest of each first.
    pub fn set_bit(&self, bytes: Value<'m>, number: Value<'m>) {
        let byte = self.module.int(8);
        let place = self.element(byte, bytes, self.shift_right(number, 3));
        // SAFETY: a positioned builder and integers of 8 bits, shifted by less than 8.
        unsafe {
            let seven = LLVMConstInt(byte.raw(), 7, 0);
            let one = LLVMConstInt(byte.raw(), 1, 0);
            let low = self.int_cast(number, byte).raw();
            let low = LLVMBuildAnd(self.raw, low, seven, c"".as_ptr());
            let bit = LLVMBuildShl(self.raw, one, low, c"".as_ptr());
            let before = self.load(byte, place).raw();
            let after = LLVMBuildOr(self.raw, before, bit, c"".as_ptr());
            self.store(Value::new(after), place);
        }
    }

    /// An integer and a constant.
    pub fn plus(&self, value: Value<'m>, more: i64) -> Value<'m> {
        self.sum(value, value.ty().integer_constant(more))
    }

    /// The sum of two numbers of one type.
    pub fn sum(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty() == b.ty());
        let build = match a.ty().is_floating() {
            true => LLVMBuildFAdd,
            false => LLVMBuildAdd,
        };
        // SAFETY: a positioned builder and numbers of one type.
        unsafe { Value::new(build(self.raw, a.raw(), b.raw(), c"".as_ptr())) }
    }

    /// `a - b`.
    pub fn difference(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty() == b.ty());
        // SAFETY: a positioned builder and integers of one type.
        unsafe { Value::new(LLVMBuildSub(self.raw, a.raw(), b.raw(), c"".as_ptr())) }
    }

    /// The smaller of two integers without a sign.
    pub fn least(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty() == b.ty());
        let predicate = LLVMIntPredicate::LLVMIntULT;
        // SAFETY: a positioned builder and integers of one type.
        unsafe {
            let is_less = LLVMBuildICmp(self.raw, predicate, a.raw(), b.raw(), c"".as_ptr());
            let raw = LLVMBuildSelect(self.raw, is_less, a.raw(), b.raw(), c"".as_ptr());
            Value::new(raw)
        }
    }

    /// The bits that two integers have in common.
    pub fn and(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty() == b.ty());
        // SAFETY: a positioned builder and integers of one type.
        unsafe { Value::new(LLVMBuildAnd(self.raw, a.raw(), b.raw(), c"".as_ptr())) }
    }

    /// An integer of 64 bits shifted right, with zeros from the left.
    pub fn shift_right(&self, value: Value<'m>, bits: u32) -> Value<'m> {
        let bits = self.module.const_i64(i64::from(bits));
        // SAFETY: a positioned builder and integers of one type.
        unsafe {
            let raw = LLVMBuildLShr(self.raw, value.raw(), bits.raw(), c"".as_ptr());
            Value::new(raw)
        }
    }

    /// Product of two integers that does not overflow.
    pub fn multiply(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty() == b.ty() && a.ty().is_integer());
        // SAFETY: a positioned builder and two values of one type.
        unsafe { Value::new(LLVMBuildNSWMul(self.raw, a.raw(), b.raw(), c"".as_ptr())) }
    }

    /// A loop at the end of `function`, which has no blocks yet: `prologue`, then `body` for each number from
    /// `from` up to `to`, and a return.
    pub fn counted_loop<P>(
        module: &'m Module,
        function: Function<'m>,
        [from, to]: [Value<'m>; 2],
        prologue: impl FnOnce(&Self) -> P,
        body: impl FnOnce(&Self, &P, Value<'m>),
    ) {
        let [before, inside, after] = [(); 3].map(|()| function.append_block(module));
        let less = |builder: &Self, a: Value<'m>, b: Value<'m>| {
            // SAFETY: a positioned builder and two values of one type.
            unsafe {
                let predicate = LLVMIntPredicate::LLVMIntSLT;
                LLVMBuildICmp(builder.raw, predicate, a.raw(), b.raw(), c"".as_ptr())
            }
        };
        assert!(from.ty() == to.ty() && from.ty().is_integer());
        let builder = Self::at_end(module, before);
        let prepared = prologue(&builder);
        let is_some = less(&builder, from, to);
        let inner = Self::at_end(module, inside);
        // SAFETY: positioned builders, blocks of the function, integers of one type.
        unsafe {
            LLVMBuildCondBr(builder.raw, is_some, inside.raw(), after.raw());
            let number = LLVMBuildPhi(inner.raw, from.ty().raw(), c"".as_ptr());
            body(&inner, &prepared, Value::new(number));
            let one = LLVMConstInt(from.ty().raw(), 1, 0);
            let next = LLVMBuildNSWAdd(inner.raw, number, one, c"".as_ptr());
            let goes_on = less(&inner, Value::new(next), to);
            LLVMBuildCondBr(inner.raw, goes_on, inside.raw(), after.raw());
            let mut values = [from.raw(), next];
            let mut blocks = [before.raw(), inside.raw()];
            LLVMAddIncoming(number, values.as_mut_ptr(), blocks.as_mut_ptr(), 2);
        }
        Self::at_end(module, after).ret(None);
    }

    /// Copies `bytes` bytes between objects that do not overlap and are aligned to 8.
    pub fn copy(&self, to: Value<'m>, from: Value<'m>, bytes: i64) {
        let bytes = self.module.const_i64(bytes);
        // SAFETY: a positioned builder, two pointers and an i64.
        unsafe { LLVMBuildMemCpy(self.raw, to.raw(), 8, from.raw(), 8, bytes.raw()) };
    }

    /// Copies `bytes` bytes between objects that do not overlap and are aligned so.
    pub fn copy_aligned(&self, to: Value<'m>, from: Value<'m>, bytes: i64, align: u32) {
        let bytes = self.module.const_i64(bytes);
        // SAFETY: a positioned builder, two pointers and an i64.
        unsafe { LLVMBuildMemCpy(self.raw, to.raw(), align, from.raw(), align, bytes.raw()) };
    }

    /// The same, of memory that the program may not have written: it is copied whatever is there.
    pub fn copy_as_it_is(&self, to: Value<'m>, from: Value<'m>, bytes: i64, align: u32) {
        const IS_VOLATILE: u32 = 3;
        let bytes = self.module.const_i64(bytes);
        let yes = self.module.int(1).integer_constant(1);
        // SAFETY: a positioned builder, two pointers and an i64; the last argument of the call says whether it is volatile.
        unsafe {
            let copy = LLVMBuildMemCpy(self.raw, to.raw(), align, from.raw(), align, bytes.raw());
            LLVMSetOperand(copy, IS_VOLATILE, yes.raw());
        }
    }

    /// Has the processor fetch the line of memory around an address, whatever is there, to read or to write it soon.
    pub fn prefetch(&self, address: Value<'m>, is_written: bool) {
        let (pointer, int) = (self.module.pointer(), self.module.int(32));
        let parameters = [pointer, int, int, int];
        let ty = self.module.function_type(self.module.void(), &parameters);
        let declared = self.module.declared("llvm.prefetch.p0", ty);
        // To all caches, and as data.
        let how = [is_written.into(), 3, 1].map(|one| self.module.const_i32(one));
        self.call(declared, &[address, how[0], how[1], how[2]]);
    }

    /// Ends the program by a signal.
    pub fn trap(&self) {
        let ty = self.module.function_type(self.module.void(), &[]);
        self.call(self.module.declared("llvm.trap", ty), &[]);
    }

    /// Calls a function.
    pub fn call(&self, callee: Function<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let ty = callee.function_type();
        assert!(ty.parameters().len() == arguments.len() || ty.is_variadic());
        let mut raw: Vec<_> = arguments.iter().map(|value| value.raw()).collect();
        // SAFETY: a positioned builder and as many arguments as parameters.
        unsafe {
            Value::new(LLVMBuildCall2(
                self.raw,
                ty.raw(),
                callee.raw(),
                raw.as_mut_ptr(),
                raw.len() as u32,
                c"".as_ptr(),
            ))
        }
    }

    /// As [`Builder::call`]; the callee keeps a frame and source lines of its own at every level of
    /// optimisation.
    pub fn call_without_inlining(&self, callee: Function<'m>, arguments: &[Value<'m>]) {
        let call = self.call(callee, arguments).as_call();
        call.expect("a call").inline_never(self.module);
    }

    /// Calls `callee` in the place of `old`: an `invoke` with the same targets where `old` is one.
    /// `old` itself stays.
    pub fn call_like(
        &self,
        old: Call<'m>,
        callee: Function<'m>,
        arguments: &[Value<'m>],
    ) -> Value<'m> {
        let Some((normal, unwind)) = old.invoke_targets() else {
            return self.call(callee, arguments);
        };
        let mut raw: Vec<_> = arguments.iter().map(|value| value.raw()).collect();
        // SAFETY: as in `call`; the targets are blocks of the same function.
        unsafe {
            Value::new(LLVMBuildInvoke2(
                self.raw,
                callee.function_type().raw(),
                callee.raw(),
                raw.as_mut_ptr(),
                raw.len() as u32,
                normal.raw(),
                unwind.raw(),
                c"".as_ptr(),
            ))
        }
    }

    /// Returns from the function.
    pub fn ret(&self, value: Option<Value<'m>>) {
        // SAFETY: a positioned builder; a value of the function's result type.
        unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.raw, value.raw()),
                None => LLVMBuildRetVoid(self.raw),
            }
        };
    }

    /// The bits of an integer, pointer or floating-point value as an integer of its own size.
    pub fn bits_of(&self, value: Value<'m>, bits: u32) -> Value<'m> {
        let ty = value.ty();
        let int = self.module.int(bits);
        // SAFETY: a positioned builder; the conversion fits the type.
        unsafe {
            let own = if ty.is_pointer() {
                LLVMBuildPtrToInt(
                    self.raw,
                    value.raw(),
                    self.module.int(64).raw(),
                    c"".as_ptr(),
                )
            } else if ty.is_integer() {
                value.raw()
            } else {
                let width = self.module.store_size_of(ty) as u32 * 8;
                LLVMBuildBitCast(
                    self.raw,
                    value.raw(),
                    self.module.int(width).raw(),
                    c"".as_ptr(),
                )
            };
            Value::new(LLVMBuildIntCast2(self.raw, own, int.raw(), 0, c"".as_ptr()))
        }
    }

    /// The value of type `ty` with these bits; wider bits are dropped.
    pub fn value_of_bits(&self, bits: Value<'m>, ty: Type<'m>) -> Value<'m> {
        // SAFETY: a positioned builder; the conversion fits the type.
        unsafe {
            let raw = if ty.is_pointer() {
                LLVMBuildIntToPtr(self.raw, bits.raw(), ty.raw(), c"".as_ptr())
            } else if ty.is_integer() {
                LLVMBuildIntCast2(self.raw, bits.raw(), ty.raw(), 0, c"".as_ptr())
            } else {
                let width = self.module.store_size_of(ty) as u32 * 8;
                let int = self.module.int(width);
                let narrow = LLVMBuildIntCast2(self.raw, bits.raw(), int.raw(), 0, c"".as_ptr());
                LLVMBuildBitCast(self.raw, narrow, ty.raw(), c"".as_ptr())
            };
            Value::new(raw)
        }
    }

    /// Zero-extends or truncates an integer.
    pub fn int_cast(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.resize(value, ty, false)
    }

    /// Whether a loop has iterations, and how many, as a number of 64 bits: one that begins with `first`, compares that with
    /// `end`, which is of the same type, and goes on by `step`, a positive number of 64 bits.
    pub fn iterations(
        &self,
        ask: Asks,
        first: Value<'m>,
        end: Value<'m>,
        step: Value<'m>,
    ) -> [Value<'m>; 2] {
        let is_some = self.ask(Comparison::Integer(ask.predicate()), first, end);
        let distance = match ask.is_up {
            true => self.difference(end, first),
            false => self.difference(first, end),
        };
        let distance = self.int_cast(distance, self.module().int(64));
        let last = match ask.is_last {
            true => distance,
            false => self.plus(distance, -1),
        };
        let last = self.binary(Opcode::LLVMUDiv, last, step);
        let count = self.plus(last, 1);
        let none = self.module().const_i64(0);
        [is_some, self.select(is_some, count, none)]
    }

    /// Sign-extends or truncates an integer.
    pub fn sign_extend(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.resize(value, ty, true)
    }

    fn resize(&self, value: Value<'m>, ty: Type<'m>, is_signed: bool) -> Value<'m> {
        assert!(value.ty().is_integer() && ty.is_integer());
        let is_signed = i32::from(is_signed);
        // SAFETY: a positioned builder and integers.
        unsafe {
            Value::new(LLVMBuildIntCast2(
                self.raw,
                value.raw(),
                ty.raw(),
                is_signed,
                c"".as_ptr(),
            ))
        }
    }

    /// One of two values of a type.
    pub fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>) -> Value<'m> {
        assert!(yes.ty() == no.ty());
        // SAFETY: a positioned builder, a truth value and two values of one type.
        unsafe {
            Value::new(LLVMBuildSelect(
                self.raw,
                condition.raw(),
                yes.raw(),
                no.raw(),
                c"".as_ptr(),
            ))
        }
    }

    /// Whether two integers or pointers are equal, or where `not`, differ.
    pub fn compare(&self, a: Value<'m>, b: Value<'m>, not: bool) -> Value<'m> {
        assert!(a.ty() == b.ty());
        let predicate = if not {
            LLVMIntPredicate::LLVMIntNE
        } else {
            LLVMIntPredicate::LLVMIntEQ
        };
        // SAFETY: a positioned builder and two values of one type.
        unsafe {
            Value::new(LLVMBuildICmp(
                self.raw,
                predicate,
                a.raw(),
                b.raw(),
                c"".as_ptr(),
            ))
        }
    }

    /// Puts a field into a struct value.
    pub fn insert(&self, aggregate: Value<'m>, field: Value<'m>, index: u32) -> Value<'m> {
        // SAFETY: a positioned builder; the struct has a field of that type there.
        unsafe {
            Value::new(LLVMBuildInsertValue(
                self.raw,
                aggregate.raw(),
                field.raw(),
                index,
                c"".as_ptr(),
            ))
        }
    }

    /// A field of a struct value.
    pub fn extract(&self, aggregate: Value<'m>, index: u32) -> Value<'m> {
        // SAFETY: a positioned builder; the struct has a field there.
        unsafe {
            let raw = LLVMBuildExtractValue(self.raw, aggregate.raw(), index, c"".as_ptr());
            Value::new(raw)
        }
    }

    /// What follows stands where an instruction stands in the source.
    pub fn stand_at(&self, at: Instruction<'m>) {
        // SAFETY: a positioned builder; a null location means none.
        unsafe { LLVMSetCurrentDebugLocation2(self.raw, at.debug_location()) }
    }

    /// Loads at once what others may write meanwhile.
    pub fn load_relaxed(&self, ty: Type<'m>, address: Value<'m>, align: u32) -> Value<'m> {
        let load = self.load(ty, address);
        // SAFETY: the load just built.
        unsafe {
            LLVMSetAlignment(load.raw(), align);
            LLVMSetOrdering(load.raw(), LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
        }
        load
    }

    /// Puts `new` where `old` is, in the order that all agree on: what was there, and whether that was `old`.
    pub fn compare_exchange(
        &self,
        address: Value<'m>,
        old: Value<'m>,
        new: Value<'m>,
        align: u32,
    ) -> Value<'m> {
        assert!(address.ty().is_pointer() && old.ty() == new.ty());
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent;
        let (address, old, new) = (address.raw(), old.raw(), new.raw());
        // SAFETY: a positioned builder, a pointer, and two values of one type.
        unsafe {
            let raw = LLVMBuildAtomicCmpXchg(self.raw, address, old, new, order, order, 0);
            LLVMSetAlignment(raw, align);
            Value::new(raw)
        }
    }
}

/// How a loop asks whether there is another iteration.
#[derive(Clone, Copy)]
pub struct Asks {
    /// Whether it counts up.
    pub is_up: bool,
    /// Whether there is an iteration of the end.
    pub is_last: bool,
    /// Whether numbers have a sign.
    pub signed: bool,
}

impl Asks {
    fn predicate(self) -> LLVMIntPredicate {
        use LLVMIntPredicate::*;
        match (self.is_up, self.is_last, self.signed) {
            (true, false, true) => LLVMIntSLT,
            (true, true, true) => LLVMIntSLE,
            (true, false, false) => LLVMIntULT,
            (true, true, false) => LLVMIntULE,
            (false, false, true) => LLVMIntSGT,
            (false, true, true) => LLVMIntSGE,
            (false, false, false) => LLVMIntUGT,
            (false, true, false) => LLVMIntUGE,
        }
    }
}
