//! What code for vectors needs of LLVM: the safe side of `cxx/vectors.h`, and the C API's part.

use std::ffi::{c_int, c_uint, c_void};
use std::marker::PhantomData;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMTypeKind, LLVMValueKind as Kind};

use super::attributes::FUNCTION;
use super::shim::{TextSink, collect_text};
use super::{Block, Builder, Call, Comparison, Function, Instruction, Module, Opcode, Type, Value};

unsafe extern "C" {
    fn okl_vector_bits(analyses: *mut c_void, function: LLVMValueRef) -> c_uint;
    fn okl_calls_vectors(analyses: *mut c_void, function: LLVMValueRef) -> bool;
    fn okl_constant_offset(
        module: LLVMModuleRef,
        pointer: LLVMValueRef,
        offset: *mut i64,
    ) -> LLVMValueRef;
    fn okl_underlying_object(pointer: LLVMValueRef) -> LLVMValueRef;
    fn okl_opcode_name(at: LLVMValueRef, sink: TextSink, to: *mut c_void);
    fn okl_may_throw(instruction: LLVMValueRef) -> bool;
    fn okl_is_volatile_or_atomic(instruction: LLVMValueRef) -> bool;
    fn okl_may_write(instruction: LLVMValueRef) -> bool;
    fn okl_call_writes(call: LLVMValueRef, elsewhere: bool) -> bool;
    fn okl_call_accesses(call: LLVMValueRef) -> bool;
    fn okl_can_always_load(load: LLVMValueRef) -> bool;
    fn okl_calls_library(call: LLVMValueRef) -> bool;
    fn okl_is_elementwise(intrinsic: c_uint) -> bool;
    fn okl_is_scalar_operand(intrinsic: c_uint, operand: c_uint) -> bool;
    fn okl_is_overloaded_by(intrinsic: c_uint, operand: c_int) -> bool;
}

/// What the target has for vectors.
pub struct VectorUnit<'m> {
    analyses: *mut c_void,
    lives: PhantomData<&'m ()>,
}

impl VectorUnit<'_> {
    /// # Safety
    /// `analyses` are the module analyses that a pass over the module was handed, and outlive the result.
    pub(super) unsafe fn new(analyses: *mut c_void) -> Self {
        Self {
            analyses,
            lives: PhantomData,
        }
    }

    /// Bits of a vector in a function, which may be compiled for a target of its own.
    pub fn bits(&self, function: Function<'_>) -> u32 {
        // SAFETY: the analyses that belong to the function's module.
        unsafe { okl_vector_bits(self.analyses, function.raw()) }
    }

    /// Whether a function calls one of a library's that the library also has for several numbers at once (`-fveclib`).
    pub fn is_called_by(&self, function: Function<'_>) -> bool {
        // SAFETY: as above.
        unsafe { okl_calls_vectors(self.analyses, function.raw()) }
    }
}

/// An LLVM intrinsic, whatever the types it is declared for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Intrinsic(c_uint);

impl Intrinsic {
    /// By its name without types; there has to be one.
    pub fn named(name: &str) -> Self {
        // SAFETY: `name.len()` bytes.
        let id = unsafe { LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len()) };
        assert!(id != 0, "LLVM has no {name}");
        Self(id)
    }

    /// Its name without types.
    pub fn name(self) -> String {
        let mut size = 0;
        // SAFETY: an intrinsic of LLVM's, which returns `size` bytes it owns.
        let bytes = unsafe {
            let data = LLVMIntrinsicGetName(self.0, &mut size);
            std::slice::from_raw_parts(data.cast::<u8>(), size)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Whether it does to each element of vectors what it does to a single value.
    pub fn is_elementwise(self) -> bool {
        // SAFETY: an intrinsic of LLVM's; likewise below.
        unsafe { okl_is_elementwise(self.0) }
    }

    /// Whether an operand stays a single value where the others are vectors.
    pub fn keeps_scalar(self, operand: usize) -> bool {
        // SAFETY: as above.
        unsafe { okl_is_scalar_operand(self.0, operand as c_uint) }
    }

    /// Whether the type of its result, or of an operand, is among those it is declared for.
    pub fn is_declared_for(self, operand: Option<usize>) -> bool {
        let operand = operand.map_or(-1, |operand| operand as c_int);
        // SAFETY: as above.
        unsafe { okl_is_overloaded_by(self.0, operand) }
    }
}

impl<'m> Value<'m> {
    /// Whether it is a constant that stands for itself: a number, null, poison, a global, or an expression of these.
    pub fn is_plain_constant(self) -> bool {
        // SAFETY: a live value.
        let kind = unsafe { LLVMGetValueKind(self.raw()) };
        matches!(
            kind,
            Kind::LLVMFunctionValueKind
                | Kind::LLVMGlobalAliasValueKind
                | Kind::LLVMGlobalIFuncValueKind
                | Kind::LLVMGlobalVariableValueKind
                | Kind::LLVMConstantExprValueKind
                | Kind::LLVMUndefValueValueKind
                | Kind::LLVMPoisonValueKind
                | Kind::LLVMConstantAggregateZeroValueKind
                | Kind::LLVMConstantDataArrayValueKind
                | Kind::LLVMConstantDataVectorValueKind
                | Kind::LLVMConstantIntValueKind
                | Kind::LLVMConstantFPValueKind
                | Kind::LLVMConstantPointerNullValueKind
                | Kind::LLVMConstantTokenNoneValueKind
        )
    }

    /// Whether it is a function, a variable or an alias.
    pub fn is_global_value(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAGlobalValue(self.raw()).is_null() }
    }

    /// What an address is a constant number of bytes behind, and that number.
    pub fn constant_offset(self, module: &'m Module) -> (Value<'m>, i64) {
        assert!(self.ty().is_pointer());
        let mut offset = 0;
        // SAFETY: a pointer of the module; the shim returns another one, and writes one number.
        let base = unsafe {
            Value::new(okl_constant_offset(
                module.raw(),
                self.raw(),
                &raw mut offset,
            ))
        };
        (base, offset)
    }

    /// The object that an address points into, as far as LLVM follows it.
    pub fn underlying_object(self) -> Value<'m> {
        assert!(self.ty().is_pointer());
        // SAFETY: a pointer; the result is a value.
        unsafe { Value::new(okl_underlying_object(self.raw())) }
    }

    /// Adds to a phi what it is where control comes from `block`.
    pub fn add_incoming(self, value: Value<'m>, block: Block<'m>) {
        assert!(self.as_op(Opcode::LLVMPHI).is_some() && value.ty() == self.ty());
        let (mut value, mut block) = (value.raw(), block.raw());
        // SAFETY: a phi and a value of its type.
        unsafe { LLVMAddIncoming(self.raw(), &raw mut value, &raw mut block, 1) }
    }
}

impl<'m> Type<'m> {
    /// A vector whose length is known.
    pub fn is_vector(self) -> bool {
        // SAFETY: a live type.
        unsafe { LLVMGetTypeKind(self.raw()) == LLVMTypeKind::LLVMVectorTypeKind }
    }

    /// Vectors of this number or truth value.
    pub fn vector(self, width: usize) -> Type<'m> {
        assert!(self.is_integer() || self.is_floating());
        // SAFETY: a type that vectors may have.
        unsafe { Type::new(LLVMVectorType(self.raw(), width as c_uint)) }
    }

    /// Whether it is a vector whose length the program finds out.
    pub fn is_scalable(self) -> bool {
        // SAFETY: a live type.
        unsafe { LLVMGetTypeKind(self.raw()) == LLVMTypeKind::LLVMScalableVectorTypeKind }
    }

    fn length(self) -> usize {
        assert!(self.is_vector());
        // SAFETY: a vector type.
        unsafe { LLVMGetVectorSize(self.raw()) as usize }
    }

    /// The constant of this floating-point type.
    pub fn floating_constant(self, value: f64) -> Value<'m> {
        assert!(self.is_floating());
        // SAFETY: a floating-point type.
        unsafe { Value::new(LLVMConstReal(self.raw(), value)) }
    }

    /// The constant of this integer type.
    pub fn integer_constant(self, value: i64) -> Value<'m> {
        assert!(self.is_integer());
        // SAFETY: an integer type.
        unsafe { Value::new(LLVMConstInt(self.raw(), value as u64, 1)) }
    }
}

impl<'m> Function<'m> {
    /// Is compiled for the same target as another function, so that either may be inlined into the other.
    pub fn compile_like(self, other: Function<'m>) {
        let names = [
            "target-cpu",
            "target-features",
            "tune-cpu",
            "prefer-vector-width",
            "min-legal-vector-width",
            "frame-pointer",
            "uwtable",
        ];
        for name in names {
            self.copy_attribute(other, name);
        }
    }

    /// Deletes a function nothing uses.
    pub fn erase_unused(self) {
        assert!(self.is_unused());
        self.erase();
    }
}

impl<'m> Block<'m> {
    /// From where control may come, once for each way.
    pub fn predecessors(self) -> Vec<Block<'m>> {
        // Its users end their blocks with it or are no instructions.
        let users = self.label().users().into_iter();
        let users = users.filter_map(Value::as_instruction);
        users
            // SAFETY: an instruction.
            .filter(|one| unsafe { !LLVMIsATerminatorInst(one.raw()).is_null() })
            .map(Instruction::block)
            .collect()
    }

    /// Its phis.
    pub fn phis(self) -> impl Iterator<Item = Instruction<'m>> {
        let instructions = self.instructions().into_iter();
        instructions.take_while(|one| one.opcode() == Opcode::LLVMPHI)
    }

    /// A new block in front of this one.
    pub fn insert_before(self, module: &'m Module) -> Block<'m> {
        // SAFETY: a block of a function of the module.
        unsafe {
            let context = module.raw_context();
            let raw = LLVMInsertBasicBlockInContext(context, self.raw(), c"".as_ptr());
            Block::new(raw)
        }
    }
}

impl<'m> Instruction<'m> {
    /// LLVM's word for what it does.
    pub fn opcode_name(self) -> String {
        // SAFETY: an instruction; the sink's target lives through the call.
        collect_text(|sink, to| unsafe { okl_opcode_name(self.raw(), sink, to) })
    }

    /// Whether it may leave the function by an exception.
    pub fn may_throw(self) -> bool {
        // SAFETY: an instruction; likewise below.
        unsafe { okl_may_throw(self.raw()) }
    }

    /// Whether it accesses memory that others may change meanwhile, or that may be a device's.
    pub fn is_volatile_or_atomic(self) -> bool {
        // SAFETY: as above.
        unsafe { okl_is_volatile_or_atomic(self.raw()) }
    }

    /// Whether it may write memory.
    pub fn may_write(self) -> bool {
        // SAFETY: as above.
        unsafe { okl_may_write(self.raw()) }
    }

    /// Of a load: whether it does no harm where control does not come to it.
    pub fn can_always_load(self) -> bool {
        // SAFETY: a load, as just checked.
        self.opcode() == Opcode::LLVMLoad && unsafe { okl_can_always_load(self.raw()) }
    }

    /// The cases of a `switch` and where they lead, and where all others do.
    pub fn cases(self) -> (Vec<(Value<'m>, Block<'m>)>, Block<'m>) {
        assert!(self.opcode() == Opcode::LLVMSwitch);
        // SAFETY: a `switch`, whose successor 0 is that of all others; cases have its number.
        unsafe {
            let cases = (1..LLVMGetNumSuccessors(self.raw())).map(|case| {
                (
                    Value::new(LLVMGetSwitchCaseValue(self.raw(), case)),
                    Block::new(LLVMGetSuccessor(self.raw(), case)),
                )
            });
            let others = LLVMGetSwitchDefaultDest(self.raw());
            (cases.collect(), Block::new(others))
        }
    }

    /// Takes over what another instruction of its kind promises or allows: no overflow, exactness, rules of
    /// floating-point numbers.
    pub fn copy_flags(self, of: Instruction<'m>) {
        use Opcode::*;
        let (to, from) = (self.raw(), of.raw());
        let same = self.opcode() == of.opcode();
        // SAFETY: each flag is asked of, and set at, instructions of a kind that has it.
        unsafe {
            match self.opcode() {
                LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMTrunc if same => {
                    LLVMSetNSW(to, LLVMGetNSW(from));
                    LLVMSetNUW(to, LLVMGetNUW(from));
                }
                LLVMUDiv | LLVMSDiv | LLVMLShr | LLVMAShr if same => {
                    LLVMSetExact(to, LLVMGetExact(from));
                }
                LLVMOr if same => LLVMSetIsDisjoint(to, LLVMGetIsDisjoint(from)),
                LLVMZExt | LLVMUIToFP if same => LLVMSetNNeg(to, LLVMGetNNeg(from)),
                LLVMICmp if same => LLVMSetICmpSameSign(to, LLVMGetICmpSameSign(from)),
                _ => {}
            }
            if LLVMCanValueUseFastMathFlags(to) != 0 && LLVMCanValueUseFastMathFlags(from) != 0 {
                LLVMSetFastMathFlags(to, LLVMGetFastMathFlags(from));
            }
        }
    }

    /// Of the branch that closes a loop: it is neither unrolled nor made vectors of.
    pub fn keep_loop(self, module: &Module) {
        assert!(self.opcode() == Opcode::LLVMBr);
        // SAFETY: a branch of the module; texts of these lengths; the nodes live in the module's context. A node
        // that contains itself, as the first part says, is like no other.
        unsafe {
            let context = module.raw_context();
            let flag = |name: &str| {
                let mut text = LLVMMDStringInContext2(context, name.as_ptr().cast(), name.len());
                LLVMMDNodeInContext2(context, &raw mut text, 1)
            };
            let mut parts = [
                std::ptr::null_mut(),
                flag("llvm.loop.unroll.disable"),
                flag("llvm.loop.isvectorized"),
            ];
            let node = LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
            let value = LLVMMetadataAsValue(context, node);
            LLVMReplaceMDNodeOperandWith(value, 0, node);
            let kind = b"llvm.loop";
            let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
            LLVMSetMetadata(self.raw(), kind, value);
        }
    }
}

impl<'m> Call<'m> {
    /// The intrinsic that it calls.
    pub fn intrinsic(self) -> Option<Intrinsic> {
        if self.instruction().opcode() != Opcode::LLVMCall {
            return None;
        }
        let callee = self.callee().as_function()?;
        // SAFETY: a function.
        let id = unsafe { LLVMGetIntrinsicID(callee.raw()) };
        (id != 0).then_some(Intrinsic(id))
    }

    /// Whether it may write what its arguments point to.
    pub fn writes_arguments(self) -> bool {
        // SAFETY: a call; likewise below.
        unsafe { okl_call_writes(self.raw(), false) }
    }

    /// Whether it may write other memory, but for `errno`.
    pub fn writes_elsewhere(self) -> bool {
        // SAFETY: as above.
        unsafe { okl_call_writes(self.raw(), true) }
    }

    /// Whether it may access memory of any kind.
    pub fn accesses_memory(self) -> bool {
        // SAFETY: as above.
        unsafe { okl_call_accesses(self.raw()) }
    }

    /// Whether it calls the function of the C library that has the callee's name.
    pub fn is_of_library(self) -> bool {
        // SAFETY: a call.
        unsafe { okl_calls_library(self.raw()) }
    }
}

/// The number of an element of a vector.
fn lane(module: &Module, lane: usize) -> LLVMValueRef {
    module.const_i64(lane as i64).raw()
}

impl<'m> Builder<'m> {
    /// In front of all that stands in a block.
    pub fn at_top(module: &'m Module, block: Block<'m>) -> Self {
        // SAFETY: a live block; its first instruction or null.
        match unsafe { Instruction::from_nullable(LLVMGetFirstInstruction(block.raw())) } {
            Some(first) => Self::before(module, first),
            None => Self::at_end(module, block),
        }
    }

    /// A value that all lanes have, as a vector.
    pub fn splat(&self, value: Value<'m>, width: usize) -> Value<'m> {
        if value.is_constant() {
            return self.constant_vector(&vec![value; width]);
        }
        let one = self.insert_lane(value.ty().vector(width).poison(), value, 0);
        self.shuffle(one, None, &vec![0; width])
    }

    /// A vector of constants, which are of one type.
    pub fn constant_vector(&self, lanes: &[Value<'m>]) -> Value<'m> {
        let ty = lanes[0].ty();
        assert!(lanes.iter().all(|one| one.is_constant() && one.ty() == ty));
        let mut raw: Vec<_> = lanes.iter().map(|one| one.raw()).collect();
        // SAFETY: constants of one type.
        unsafe { Value::new(LLVMConstVector(raw.as_mut_ptr(), raw.len() as c_uint)) }
    }

    /// One element of a vector.
    pub fn extract_lane(&self, vector: Value<'m>, at: usize) -> Value<'m> {
        assert!(at < vector.ty().length());
        let at = lane(self.module(), at);
        // SAFETY: a positioned builder, a vector and a number of an element.
        unsafe {
            let raw = LLVMBuildExtractElement(self.raw(), vector.raw(), at, c"".as_ptr());
            Value::new(raw)
        }
    }

    /// A vector with one element replaced.
    pub fn insert_lane(&self, vector: Value<'m>, element: Value<'m>, at: usize) -> Value<'m> {
        let length = vector.ty().length();
        assert!(at < length && element.ty().vector(length) == vector.ty());
        let at = lane(self.module(), at);
        let (vector, element) = (vector.raw(), element.raw());
        // SAFETY: a positioned builder, a vector, one of its elements, and where that goes.
        unsafe {
            let raw = LLVMBuildInsertElement(self.raw(), vector, element, at, c"".as_ptr());
            Value::new(raw)
        }
    }

    /// A vector of elements of two vectors, whose elements are counted through.
    pub fn shuffle(&self, a: Value<'m>, b: Option<Value<'m>>, from: &[usize]) -> Value<'m> {
        let b = b.unwrap_or_else(|| a.ty().poison());
        assert!(a.ty() == b.ty() && from.iter().all(|one| *one < 2 * a.ty().length()));
        let mask = from
            .iter()
            .map(|one| self.module().const_i32(*one as i32))
            .collect::<Vec<_>>();
        let mask = self.constant_vector(&mask).raw();
        // SAFETY: a positioned builder, two vectors of one type, and constant numbers of their elements.
        unsafe {
            let raw = LLVMBuildShuffleVector(self.raw(), a.raw(), b.raw(), mask, c"".as_ptr());
            Value::new(raw)
        }
    }

    /// The sum of two integers, which does not overflow.
    pub fn add_without_wrap(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty() == b.ty());
        // SAFETY: a positioned builder and integers of one type.
        unsafe {
            let raw = LLVMBuildNSWAdd(self.raw(), a.raw(), b.raw(), c"".as_ptr());
            Value::new(raw)
        }
    }

    /// An operation on two values of one type that allows it.
    pub fn binary(&self, opcode: Opcode, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty() == b.ty());
        // SAFETY: a positioned builder, and operands the caller knows the operation takes.
        unsafe {
            let raw = LLVMBuildBinOp(self.raw(), opcode, a.raw(), b.raw(), c"".as_ptr());
            Value::new(raw)
        }
    }

    /// A floating-point number with the other sign.
    pub fn negate(&self, value: Value<'m>) -> Value<'m> {
        // SAFETY: a positioned builder and a floating-point number.
        unsafe { Value::new(LLVMBuildFNeg(self.raw(), value.raw(), c"".as_ptr())) }
    }

    /// The opposite of a truth value.
    pub fn not(&self, value: Value<'m>) -> Value<'m> {
        // SAFETY: a positioned builder and an integer.
        unsafe { Value::new(LLVMBuildNot(self.raw(), value.raw(), c"".as_ptr())) }
    }

    /// Poison replaced by some value.
    pub fn freeze(&self, value: Value<'m>) -> Value<'m> {
        // SAFETY: a positioned builder and a value.
        unsafe { Value::new(LLVMBuildFreeze(self.raw(), value.raw(), c"".as_ptr())) }
    }

    /// Compares two numbers of one type, of the kind that the comparison is for.
    pub fn ask(&self, what: Comparison, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty() == b.ty());
        let (a, b, name) = (a.raw(), b.raw(), c"".as_ptr());
        // SAFETY: a positioned builder and two values of one type.
        unsafe {
            Value::new(match what {
                Comparison::Integer(is) => LLVMBuildICmp(self.raw(), is, a, b, name),
                Comparison::Floating(is) => LLVMBuildFCmp(self.raw(), is, a, b, name),
            })
        }
    }

    /// A value in another type, by an operation that is for both.
    pub fn cast(&self, opcode: Opcode, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        // SAFETY: a positioned builder, and types the caller knows the operation is for.
        unsafe {
            let raw = LLVMBuildCast(self.raw(), opcode, value.raw(), ty.raw(), c"".as_ptr());
            Value::new(raw)
        }
    }

    /// Calls an intrinsic as it is declared for `types`.
    pub fn call_intrinsic(
        &self,
        intrinsic: Intrinsic,
        types: &[Type<'m>],
        arguments: &[Value<'m>],
    ) -> Value<'m> {
        let mut types: Vec<_> = types.iter().map(|one| one.raw()).collect();
        // SAFETY: an intrinsic, and as many types as it is declared for; the result is a function.
        let callee = unsafe {
            Function::from_nullable(LLVMGetIntrinsicDeclaration(
                self.module().raw(),
                intrinsic.0,
                types.as_mut_ptr(),
                types.len(),
            ))
        };
        self.call(callee.expect("LLVM declares it"), arguments)
    }

    /// Calls what another call calls, in its way, with arguments of the same types.
    pub fn call_alike(&self, like: Call<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = arguments.iter().map(|one| one.raw()).collect();
        assert!(raw.len() == like.arguments().len());
        let of = like.raw();
        // SAFETY: a positioned builder and as many arguments as the other call has; attributes are written to as
        // many places as there are.
        unsafe {
            let ty = LLVMGetCalledFunctionType(of);
            let callee = like.callee().raw();
            let count = raw.len() as c_uint;
            let call = LLVMBuildCall2(
                self.raw(),
                ty,
                callee,
                raw.as_mut_ptr(),
                count,
                c"".as_ptr(),
            );
            for place in (0..=count).chain([FUNCTION]) {
                let size = LLVMGetCallSiteAttributeCount(of, place) as usize;
                let mut attributes = vec![std::ptr::null_mut(); size];
                LLVMGetCallSiteAttributes(of, place, attributes.as_mut_ptr());
                for attribute in attributes {
                    LLVMAddCallSiteAttribute(call, place, attribute);
                }
            }
            LLVMSetInstructionCallConv(call, LLVMGetInstructionCallConv(of));
            if LLVMCanValueUseFastMathFlags(call) != 0 {
                LLVMSetFastMathFlags(call, LLVMGetFastMathFlags(of));
            }
            Value::new(call)
        }
    }

    /// A copy of an instruction with other operands of the same types, and without what is noted of it.
    pub fn copy_of(&self, instruction: Instruction<'m>, operands: &[Value<'m>]) -> Value<'m> {
        // SAFETY: an instruction, whose copy is inserted nowhere yet; LLVM lists metadata, which are ours to dispose of.
        let copy = unsafe {
            let copy = LLVMInstructionClone(instruction.raw());
            let mut count = 0;
            let noted = LLVMInstructionGetAllMetadataOtherThanDebugLoc(copy, &mut count);
            for at in 0..count as c_uint {
                let kind = LLVMValueMetadataEntriesGetKind(noted, at);
                LLVMSetMetadata(copy, kind, std::ptr::null_mut());
            }
            LLVMDisposeValueMetadataEntries(noted);
            Instruction(Value::new(copy))
        };
        for (at, operand) in operands.iter().enumerate() {
            copy.set_operand(at, *operand);
        }
        // SAFETY: a positioned builder and an instruction without a place.
        unsafe { LLVMInsertIntoBuilder(self.raw(), copy.raw()) }
        *copy
    }

    /// A value that depends on where control comes from.
    pub fn phi(&self, ty: Type<'m>) -> Value<'m> {
        // SAFETY: a positioned builder and a type that values have.
        unsafe { Value::new(LLVMBuildPhi(self.raw(), ty.raw(), c"".as_ptr())) }
    }

    /// Loads from an address that is a multiple of `align`.
    pub fn load_aligned(&self, ty: Type<'m>, address: Value<'m>, align: i64) -> Value<'m> {
        let load = self.load(ty, address);
        // SAFETY: the load just built.
        unsafe { LLVMSetAlignment(load.raw(), align as c_uint) };
        load
    }

    /// Stores to an address that is a multiple of `align`.
    pub fn store_aligned(&self, value: Value<'m>, address: Value<'m>, align: i64) {
        assert!(address.ty().is_pointer());
        // SAFETY: a positioned builder, a value and a pointer.
        unsafe {
            let store = LLVMBuildStore(self.raw(), value.raw(), address.raw());
            LLVMSetAlignment(store, align as c_uint);
        }
    }

    /// Address of element `index` of an object at `address`.
    pub fn element_of(&self, ty: Type<'m>, address: Value<'m>, index: usize) -> Value<'m> {
        assert!(address.ty().is_pointer());
        let mut index = lane(self.module(), index);
        let (ty, address) = (ty.raw(), address.raw());
        // SAFETY: a positioned builder, a sized type, a pointer and one index, inside the object as the caller says.
        unsafe {
            let index = &raw mut index;
            let raw = LLVMBuildInBoundsGEP2(self.raw(), ty, address, index, 1, c"".as_ptr());
            Value::new(raw)
        }
    }

    /// Goes to a block.
    pub fn go(&self, to: Block<'m>) {
        // SAFETY: a positioned builder and a block of its function.
        unsafe { LLVMBuildBr(self.raw(), to.raw()) };
    }

    /// Goes to one of two blocks.
    pub fn go_if(&self, condition: Value<'m>, yes: Block<'m>, no: Block<'m>) -> Instruction<'m> {
        assert!(condition.ty().bits() == Some(1));
        // SAFETY: a positioned builder, a truth value, and blocks of its function.
        unsafe {
            let raw = LLVMBuildCondBr(self.raw(), condition.raw(), yes.raw(), no.raw());
            Instruction(Value::new(raw))
        }
    }

    /// Goes to blocks by a number, which are told for constants, and to another one for all others.
    pub fn go_by(&self, number: Value<'m>, cases: &[(Value<'m>, Block<'m>)], others: Block<'m>) {
        let is_case = |one: &Value<'m>| one.ty() == number.ty() && one.as_constant_int().is_some();
        assert!(cases.iter().all(|(case, _)| is_case(case)));
        // SAFETY: a positioned builder, a number and constants of its type, and blocks of its function.
        unsafe {
            let count = cases.len() as u32;
            let raw = LLVMBuildSwitch(self.raw(), number.raw(), others.raw(), count);
            for (case, block) in cases {
                LLVMAddCase(raw, case.raw(), block.raw());
            }
        }
    }
}
