// Here because these are C++ only: DominatorTree, LoopInfo, AliasAnalysis, Loads, ValueTracking, MemoryEffects, and the
// debug records of values.
#include "code.h"

#include "expressions.h"

#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

OklCode::OklCode(Function &Of)
    : F(Of), DL(Of.getDataLayout()), DT(Of), LI(DT), AC(Of), LibraryImpl(Of.getParent()->getTargetTriple()),
      Library(LibraryImpl, &Of), AA(Library), Basic(DL, F, Library, AC, &DT), Typed(false) {
  for (Loop *L : LI)
    if (any_of(L->getLoopsInPreorder(), [](Loop *One) { return !One->isLoopSimplifyForm(); }))
      simplifyLoop(L, &DT, &LI, nullptr, &AC, nullptr, false);
  AA.addAAResult(Basic);
  AA.addAAResult(Scoped);
  AA.addAAResult(Typed);
}

extern "C" {

OklCode *okl_code_open(LLVMValueRef Function) { return new OklCode(*unwrap<llvm::Function>(Function)); }
void okl_code_close(OklCode *C) { delete C; }

void okl_code_loops(OklCode *C, OklCodeLoopSink Sink, void *To) {
  auto Named = [](const Loop *L) { return reinterpret_cast<const OklLoop *>(L); };
  for (Loop *L : C->LI.getLoopsInPreorder()) {
    SmallVector<LLVMBasicBlockRef, 16> Blocks;
    for (BasicBlock *Block : L->blocks())
      Blocks.push_back(wrap(Block));
    Sink(To, Named(L), Named(L->getParentLoop()), wrap(L->getHeader()), wrap(L->getLoopPreheader()),
         wrap(L->getLoopLatch()), Blocks.data(), Blocks.size());
  }
}

bool okl_block_dominates(OklCode *C, LLVMBasicBlockRef A, LLVMBasicBlockRef B) {
  return C->DT.dominates(unwrap(A), unwrap(B));
}

bool okl_dominates(OklCode *C, LLVMValueRef A, LLVMValueRef B) {
  return C->DT.dominates(unwrap<Instruction>(A), unwrap<Instruction>(B));
}

bool okl_may_change(OklCode *C, LLVMValueRef Writer, LLVMValueRef Load) {
  return isModSet(C->AA.getModRefInfo(unwrap<Instruction>(Writer), MemoryLocation::get(unwrap<LoadInst>(Load))));
}

void okl_may_change_in_turns(OklCode *C, LLVMValueRef Load, const LLVMValueRef *Writers, size_t Count, bool *May) {
  // Scopes without aliases hold for one turn only.
  AAResults AA(C->Library);
  AA.addAAResult(C->Basic);
  AA.addAAResult(C->Typed);
  BatchAAResults Turns(AA);
  Turns.enableCrossIterationMode();
  auto *L = unwrap<LoadInst>(Load);
  auto Table = MemoryLocation::getBeforeOrAfter(L->getPointerOperand(), L->getAAMetadata());
  Table.AATags.Scope = Table.AATags.NoAlias = nullptr;
  for (size_t I = 0; I < Count; ++I)
    May[I] = isModSet(Turns.getModRefInfo(unwrap<Instruction>(Writers[I]), Table));
}

bool okl_may_read_from(OklCode *C, LLVMValueRef Load, LLVMValueRef Address) {
  return !C->AA.isNoAlias(MemoryLocation::getBeforeOrAfter(unwrap(Address)),
                          MemoryLocation::get(unwrap<LoadInst>(Load)));
}

bool okl_can_load_at(OklCode *C, LLVMValueRef Load, LLVMValueRef At) {
  auto *L = unwrap<LoadInst>(Load);
  return isSafeToLoadUnconditionally(L->getPointerOperand(), L->getType(), L->getAlign(), C->DL,
                                     unwrap<Instruction>(At), &C->AC, &C->DT);
}

void okl_move_out(LLVMValueRef Instruction, LLVMValueRef Before) {
  auto *I = unwrap<llvm::Instruction>(Instruction);
  if (isa<LoadInst>(I))
    I->dropUnknownNonDebugMetadata();
  else
    I->dropPoisonGeneratingAnnotations();
  I->moveBefore(unwrap<llvm::Instruction>(Before)->getIterator());
  I->updateLocationAfterHoist();
}

bool okl_must_not_be_poison(LLVMValueRef Instruction) {
  return programUndefinedIfPoison(unwrap<llvm::Instruction>(Instruction));
}

LLVMValueRef okl_offset_in_object(LLVMModuleRef M, LLVMValueRef Address, int64_t *Bytes) {
  APInt Offset(64, 0);
  Value *Base = unwrap(Address)->stripAndAccumulateInBoundsConstantOffsets(unwrap(M)->getDataLayout(), Offset);
  *Bytes = Offset.getSExtValue();
  return wrap(Base);
}

bool okl_address_parts(LLVMModuleRef M, LLVMValueRef Address, int64_t *Bytes,
                       void (*Sink)(void *, LLVMValueRef, int64_t), void *To) {
  auto *Step = dyn_cast<GEPOperator>(unwrap(Address));
  if (!Step || Step->getType()->isVectorTy())
    return false;
  SmallMapVector<Value *, APInt, 4> Variable;
  APInt Constant(64, 0);
  const DataLayout &Layout = unwrap(M)->getDataLayout();
  if (Layout.getIndexTypeSizeInBits(Step->getType()) != 64 ||
      !Step->collectOffset(Layout, 64, Variable, Constant))
    return false;
  *Bytes = Constant.getSExtValue();
  for (auto &[Index, Times] : Variable)
    Sink(To, wrap(Index), Times.getSExtValue());
  return true;
}

int okl_memory_reach(LLVMValueRef Call) {
  auto *CB = unwrap<CallBase>(Call);
  if (CB->hasOperandBundles() || !CB->doesNotThrow())
    return 2;
  // errno belongs to the thread.
  MemoryEffects Effects = CB->getMemoryEffects().getWithoutLoc(IRMemLocation::ErrnoMem);
  if (Effects.doesNotAccessMemory())
    return 0;
  return Effects.onlyAccessesArgPointees() ? 1 : 2;
}

bool okl_only_reads_memory(LLVMValueRef Call) {
  return unwrap<CallBase>(Call)->getMemoryEffects().getWithoutLoc(IRMemLocation::ErrnoMem).onlyReadsMemory();
}

void okl_variable_name(LLVMValueRef V, int How, OklTextSink Sink, void *To) {
  auto Records = How == 1 ? findDVRDeclares(unwrap(V)) : findDVRValues(unwrap(V));
  for (DbgVariableRecord *Record : Records) {
    DIExpression *Way = Record->getExpression();
    if (How == 1 || (How == 0 ? Way->getNumElements() == 0 : Way->startsWithDeref()))
      return Sink(To, text(Record->getVariable()->getName()));
  }
}

void okl_operand_text(LLVMValueRef V, OklTextSink Sink, void *To) {
  std::string Text;
  raw_string_ostream Out(Text);
  unwrap(V)->printAsOperand(Out, false);
  Sink(To, text(StringRef(Text)));
}
}
