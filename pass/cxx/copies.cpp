// Here because these are C++ only: CloneFunction with the ValueToValueMapTy that it fills and MapValue reads,
// CloneBasicBlock with remapInstructionsInBlocks, Value::replaceUsesWithIf, Function::copyAttributesFrom, Instruction::isSameOperationAs, GlobalValue::isInterposable, isInlineViable,
// and of DISubprogram clone and getScopeLine.
#include "shim.h"

#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm-c/Core.h"

using namespace llvm;

extern "C" {

ValueToValueMapTy *okl_map_create() { return new ValueToValueMapTy; }

void okl_map_dispose(ValueToValueMapTy *Map) { delete Map; }

void okl_map_set(ValueToValueMapTy *Map, LLVMValueRef From, LLVMValueRef To) {
  (*Map)[unwrap(From)] = unwrap(To);
}

LLVMValueRef okl_map_value(ValueToValueMapTy *Map, LLVMValueRef Value) {
  return wrap(MapValue(unwrap(Value), *Map));
}

// Whether the code of the called function may stand in place of a call: it is compiled for the same processor, with the same
// guarantees, and nothing in it depends on where it is.
bool okl_may_inline(LLVMValueRef Call) {
  CallBase *Site = cast<CallBase>(unwrap(Call));
  Function *Callee = Site->getCalledFunction();
  Function *Caller = Site->getFunction();
  if (Callee->getFnAttribute("target-cpu") != Caller->getFnAttribute("target-cpu"))
    return false;
  // Flang does not name those that a processor has anyway, as clang does.
  SmallVector<StringRef, 16> Has, Needs;
  Caller->getFnAttribute("target-features").getValueAsString().split(Has, ',', -1, false);
  Callee->getFnAttribute("target-features").getValueAsString().split(Needs, ',', -1, false);
  if (any_of(Needs, [&](StringRef One) { return !is_contained(Has, One); }) ||
      any_of(Has, [&](StringRef One) { return !One.starts_with("+") && !is_contained(Needs, One); }))
    return false;
  return isInlineViable(*Callee).isSuccess() && AttributeFuncs::areInlineCompatible(*Caller, *Callee);
}

// Whether LLVM has put the body of the called function in place of a call.
bool okl_inline(LLVMValueRef Call) {
  InlineFunctionInfo Info;
  return InlineFunction(*cast<CallBase>(unwrap(Call)), Info, true).isSuccess();
}

LLVMValueRef okl_clone_function(LLVMValueRef F, ValueToValueMapTy *Map) {
  return wrap(CloneFunction(unwrap<Function>(F), *Map));
}

void okl_clone_blocks(const LLVMBasicBlockRef *Blocks, size_t Count, LLVMBasicBlockRef *Copies) {
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 16> All;
  for (size_t At = 0; At < Count; At++) {
    BasicBlock *One = unwrap(Blocks[At]);
    BasicBlock *Copy = CloneBasicBlock(One, Map, "", One->getParent());
    Map[One] = Copy;
    All.push_back(Copy);
    Copies[At] = wrap(Copy);
  }
  remapInstructionsInBlocks(All, Map);
}

void okl_replace_uses_if(LLVMValueRef Old, LLVMValueRef New, bool (*Asked)(void *Of, LLVMUseRef), void *Of) {
  unwrap(Old)->replaceUsesWithIf(unwrap(New), [&](Use &One) { return Asked(Of, wrap(&One)); });
}

void okl_copy_attributes(LLVMValueRef To, LLVMValueRef From) {
  unwrap<Function>(To)->copyAttributesFrom(unwrap<Function>(From));
}

bool okl_is_same_operation(LLVMValueRef A, LLVMValueRef B, bool IntersectAttributes) {
  unsigned Flags = IntersectAttributes ? Instruction::CompareUsingIntersectedAttrs : 0;
  return unwrap<Instruction>(A)->isSameOperationAs(unwrap<Instruction>(B), Flags);
}

bool okl_is_interposable(LLVMValueRef Global) { return unwrap<GlobalValue>(Global)->isInterposable(); }

// A copy that no other function has, and that keeps no variables of the function.
LLVMMetadataRef okl_copy_subprogram(LLVMMetadataRef Subprogram) {
  TempDISubprogram Copy = unwrap<DISubprogram>(Subprogram)->clone();
  Copy->replaceRetainedNodes(MDTuple::get(Copy->getContext(), {}));
  return wrap(MDNode::replaceWithDistinct(std::move(Copy)));
}

unsigned okl_scope_line(LLVMMetadataRef Subprogram) { return unwrap<DISubprogram>(Subprogram)->getScopeLine(); }
}
