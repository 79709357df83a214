// Here because these are C++ only: CodeExtractor, EliminateUnreachableBlocks, changeToInvokeAndSplitBasicBlock, and the
// debug records of variables.
#include "shim.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm-c/Core.h"

using namespace llvm;

extern "C" {

// Blocks, of which only the first is entered from others, become a function that is called in their place; its parameters
// are what they use of other blocks, in the order in which they do. Null where LLVM does not do that.
LLVMValueRef okl_extract(const LLVMBasicBlockRef *Blocks, size_t Count, OklText Suffix) {
  SmallVector<BasicBlock *, 32> All;
  for (size_t At = 0; At < Count; At++)
    All.push_back(unwrap(Blocks[At]));
  Function &F = *All.front()->getParent();
  DominatorTree DT(F);
  CodeExtractorAnalysisCache Cache(F);
  CodeExtractor Extractor(All, &DT, false, nullptr, nullptr, nullptr, false, true, nullptr, text(Suffix).str());
  return Extractor.isEligible() ? wrap(Extractor.extractCodeRegion(Cache)) : nullptr;
}

void okl_remove_unreachable(LLVMValueRef F) { EliminateUnreachableBlocks(*unwrap<Function>(F)); }

// Returns the block that begins behind it.
LLVMBasicBlockRef okl_call_to_invoke(LLVMValueRef Call, LLVMBasicBlockRef Unwind) {
  return wrap(changeToInvokeAndSplitBasicBlock(unwrap<CallInst>(Call), unwrap(Unwind)));
}

// What is told a debugger of a variable outside of some blocks is told in front of an instruction.
void okl_move_debug_records(LLVMValueRef Variable, const LLVMBasicBlockRef *Blocks, size_t Count, LLVMValueRef Before) {
  SmallPtrSet<BasicBlock *, 32> Inside;
  for (size_t At = 0; At < Count; At++)
    Inside.insert(unwrap(Blocks[At]));
  auto *At = unwrap<Instruction>(Before);
  SmallVector<DbgVariableRecord *, 4> Records;
  findDbgUsers(unwrap(Variable), Records);
  for (DbgVariableRecord *Record : Records) {
    if (Inside.contains(Record->getParent()))
      continue;
    Record->removeFromParent();
    At->getParent()->insertDbgRecordBefore(Record, At->getIterator());
  }
}
}
