// Here because these are C++ only: TargetTransformInfo, TargetLibraryInfo, MemoryEffects, the questions about
// intrinsics in VectorUtils, those about addresses in ValueTracking and Loads, and Instruction's own about what it may do.
#include "vectors.h"

#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm-c/Core.h"

using namespace llvm;

extern "C" {

unsigned okl_vector_bits(void *Analyses, LLVMValueRef F) {
  auto &MAM = *static_cast<ModuleAnalysisManager *>(Analyses);
  auto &Of = *unwrap<Function>(F);
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(*Of.getParent()).getManager();
  auto &Target = FAM.getResult<TargetIRAnalysis>(Of);
  return Target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
}

bool okl_calls_vectors(void *Analyses, LLVMValueRef F) {
  auto &MAM = *static_cast<ModuleAnalysisManager *>(Analyses);
  auto &Of = *unwrap<Function>(F);
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(*Of.getParent()).getManager();
  auto &Library = FAM.getResult<TargetLibraryAnalysis>(Of);
  return any_of(instructions(Of), [&](Instruction &One) {
    auto *Call = dyn_cast<CallBase>(&One);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Callee && Library.isFunctionVectorizable(Callee->getName());
  });
}

LLVMValueRef okl_constant_offset(LLVMModuleRef M, LLVMValueRef Pointer, int64_t *Offset) {
  const DataLayout &DL = unwrap(M)->getDataLayout();
  Value *P = unwrap(Pointer);
  APInt Distance(DL.getIndexTypeSizeInBits(P->getType()), 0);
  Value *Base = P->stripAndAccumulateConstantOffsets(DL, Distance, true);
  *Offset = Distance.getSExtValue();
  return wrap(Base);
}

LLVMValueRef okl_underlying_object(LLVMValueRef Pointer) {
  return wrap(getUnderlyingObject(unwrap(Pointer), 0));
}

void okl_opcode_name(LLVMValueRef At, OklTextSink Sink, void *To) {
  Sink(To, text(unwrap<Instruction>(At)->getOpcodeName()));
}

bool okl_may_throw(LLVMValueRef At) { return unwrap<Instruction>(At)->mayThrow(); }

bool okl_is_volatile_or_atomic(LLVMValueRef At) {
  auto *I = unwrap<Instruction>(At);
  return I->isVolatile() || I->isAtomic();
}

bool okl_may_write(LLVMValueRef At) { return unwrap<Instruction>(At)->mayWriteToMemory(); }

bool okl_call_writes(LLVMValueRef Call, bool Elsewhere) {
  MemoryEffects Effects = unwrap<CallBase>(Call)->getMemoryEffects();
  auto Writes = [&](IRMemLocation Where) { return isModSet(Effects.getModRef(Where)); };
  return Elsewhere ? Writes(IRMemLocation::Other) || Writes(IRMemLocation::InaccessibleMem)
                   : Writes(IRMemLocation::ArgMem);
}

bool okl_call_accesses(LLVMValueRef Call) { return !unwrap<CallBase>(Call)->doesNotAccessMemory(); }

bool okl_can_always_load(LLVMValueRef Load) {
  auto *L = unwrap<LoadInst>(Load);
  return isDereferenceableAndAlignedPointer(L->getPointerOperand(), L->getType(), L->getAlign(),
                                            L->getDataLayout());
}

bool okl_calls_library(LLVMValueRef Call) {
  auto *C = unwrap<CallBase>(Call);
  TargetLibraryInfoImpl Functions(C->getModule()->getTargetTriple());
  TargetLibraryInfo Library(Functions, C->getFunction());
  LibFunc Known;
  return Library.getLibFunc(*C, Known) && Library.has(Known);
}

bool okl_is_elementwise(unsigned Intrinsic) { return isTriviallyVectorizable(Intrinsic); }

bool okl_is_scalar_operand(unsigned Intrinsic, unsigned Operand) {
  return isVectorIntrinsicWithScalarOpAtArg(Intrinsic, Operand, nullptr);
}

bool okl_is_overloaded_by(unsigned Intrinsic, int Operand) {
  return isVectorIntrinsicWithOverloadTypeAtArg(Intrinsic, Operand, nullptr);
}
}
