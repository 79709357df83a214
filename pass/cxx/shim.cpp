// Here because these are C++ only: diagnostics and remarks, names of DISubprogram, demangle, TargetLibraryInfo,
// type-based aliases, LoopInfo, GEPOperator's distances, what instructions may do, the rewrites of Transforms/Utils
// (blocks, constants, variables, lists of globals, metadata of loops and of groups of accesses, atomic updates), deleteBody, the order of globals, and xxh3.
#include "shim.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm-c/Core.h"

using namespace llvm;

extern "C" {

void okl_diagnose(LLVMModuleRef M, LLVMValueRef Function, LLVMValueRef At, OklText Message,
                  bool IsError) {
  auto Severity = IsError ? DS_Error : DS_Warning;
  if (!Function) {
    unwrap(M)->getContext().diagnose(
        DiagnosticInfoGeneric(Twine(text(Message)), Severity));
    return;
  }
  auto &F = *unwrap<llvm::Function>(Function);
  DiagnosticLocation Location;
  if (At && unwrap<Instruction>(At)->getDebugLoc())
    Location = DiagnosticLocation(unwrap<Instruction>(At)->getDebugLoc());
  else if (auto *Subprogram = F.getSubprogram())
    Location = DiagnosticLocation(Subprogram);
  F.getContext().diagnose(
      DiagnosticInfoUnsupported(F, Twine(text(Message)), Location, Severity));
}

void okl_error_in_file(LLVMModuleRef M, OklText File, OklText Contents, size_t Byte,
                       OklText Message) {
  auto Buffer = MemoryBuffer::getMemBufferCopy(text(Contents), text(File));
  auto At = SMLoc::getFromPointer(Buffer->getBufferStart() + Byte);
  SourceMgr Sources;
  Sources.AddNewSourceBuffer(std::move(Buffer), SMLoc());
  auto Error = Sources.GetMessage(At, SourceMgr::DK_Error, text(Message));
  auto &Module = *unwrap(M);
  Module.getContext().diagnose(
      DiagnosticInfoSrcMgr(Error, Module.getName(), /*InlineAsmDiag=*/false));
}

void okl_remark(LLVMValueRef At, OklText Name, OklText Message, bool Missed) {
  auto *I = unwrap<Instruction>(At);
  OptimizationRemarkEmitter Emitter(I->getFunction());
  if (Missed)
    Emitter.emit([&] { return OptimizationRemarkMissed("okl", text(Name), I) << text(Message); });
  else
    Emitter.emit([&] { return OptimizationRemark("okl", text(Name), I) << text(Message); });
}

void okl_demangle(OklText Name, OklTextSink Sink, void *To) {
  Sink(To, text(StringRef(demangle(text(Name)))));
}

void okl_function_source_name(LLVMValueRef Function, OklTextSink Sink, void *To) {
  if (auto *Subprogram = unwrap<llvm::Function>(Function)->getSubprogram())
    Sink(To, text(Subprogram->getName()));
}

bool okl_only_reads(LLVMValueRef Function) {
  return unwrap<llvm::Function>(Function)->onlyReadsMemory();
}

bool okl_is_library_function(LLVMValueRef Function) {
  auto *F = unwrap<llvm::Function>(Function);
  TargetLibraryInfoImpl Functions(F->getParent()->getTargetTriple());
  LibFunc Known;
  return TargetLibraryInfo(Functions).getLibFunc(*F, Known);
}

void okl_loops(LLVMValueRef Function, OklLoopSink Sink, void *To) {
  DominatorTree Dominators(*unwrap<llvm::Function>(Function));
  LoopInfo Loops(Dominators);
  for (Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<LLVMBasicBlockRef, 16> Blocks;
    for (BasicBlock *Block : L->blocks())
      Blocks.push_back(wrap(Block));
    Sink(To, wrap(L->getHeader()), Blocks.data(), Blocks.size());
  }
}

void okl_move_before(LLVMValueRef At, LLVMValueRef Before) {
  unwrap<Instruction>(At)->moveBefore(unwrap<Instruction>(Before)->getIterator());
}

LLVMValueRef okl_insert_if(LLVMValueRef Condition, LLVMValueRef Before) {
  auto *At = unwrap<Instruction>(Before);
  Instruction *End = SplitBlockAndInsertIfThen(unwrap(Condition), At->getIterator(), false);
  End->setDebugLoc(At->getDebugLoc());
  return wrap(End);
}

void okl_append_to_used(LLVMModuleRef M, const LLVMValueRef *Globals, size_t Count) {
  SmallVector<GlobalValue *, 4> Values;
  for (size_t I = 0; I < Count; ++I)
    Values.push_back(unwrap<GlobalValue>(Globals[I]));
  appendToUsed(*unwrap(M), Values);
}

void okl_append_to_compiler_used(LLVMModuleRef M, LLVMValueRef Global) {
  appendToCompilerUsed(*unwrap(M), unwrap<GlobalValue>(Global));
}

void okl_call_before_main(LLVMModuleRef M, LLVMValueRef F) {
  appendToGlobalCtors(*unwrap(M), unwrap<Function>(F), 65535);
}

void okl_move_to_end(LLVMModuleRef M, LLVMValueRef Global) {
  auto *GV = unwrap<GlobalVariable>(Global);
  unwrap(M)->removeGlobalVariable(GV);
  unwrap(M)->insertGlobalVariable(GV);
}

LLVMValueRef okl_widen(LLVMValueRef Global, uint64_t Bytes) {
  auto *Old = unwrap<GlobalVariable>(Global);
  LLVMContext &C = Old->getContext();
  auto *Rest = ArrayType::get(Type::getInt8Ty(C), Bytes);
  auto *Type = StructType::get(C, {Old->getValueType(), Rest});
  Constant *Was = Old->getInitializer();
  Constant *Value = Was->isNullValue() ? Constant::getNullValue(Type)
                                       : ConstantStruct::get(Type, {Was, Constant::getNullValue(Rest)});
  auto *New = new GlobalVariable(*Old->getParent(), Type, Old->isConstant(), Old->getLinkage(), Value, "", Old,
                                 Old->getThreadLocalMode(), Old->getAddressSpace());
  New->copyAttributesFrom(Old);
  New->copyMetadata(Old, 0);
  New->setComdat(Old->getComdat());
  New->takeName(Old);
  Old->replaceAllUsesWith(New);
  Old->eraseFromParent();
  return wrap(New);
}

void okl_expand_constant_users(LLVMValueRef Global) {
  convertUsersOfConstantsToInstructions({unwrap<Constant>(Global)});
}

bool okl_types_differ(LLVMValueRef Access, LLVMValueRef Other) {
  auto *A = unwrap<Instruction>(Access), *B = unwrap<Instruction>(Other);
  TargetLibraryInfoImpl Functions(A->getModule()->getTargetTriple());
  TargetLibraryInfo Library(Functions);
  TypeBasedAAResult Types(false);
  AAResults Aliases(Library);
  Aliases.addAAResult(Types);
  return Aliases.isNoAlias(MemoryLocation::get(A), MemoryLocation::get(B));
}

bool okl_gep_distance(LLVMModuleRef M, LLVMValueRef GEP, int64_t *Bytes) {
  APInt Distance(64, 0);
  bool IsConstant = cast<GEPOperator>(unwrap(GEP))->accumulateConstantOffset(unwrap(M)->getDataLayout(), Distance);
  *Bytes = Distance.getSExtValue();
  return IsConstant;
}

bool okl_has_side_effects(LLVMValueRef At) { return unwrap<Instruction>(At)->mayHaveSideEffects(); }

bool okl_may_read(LLVMValueRef At) { return unwrap<Instruction>(At)->mayReadFromMemory(); }

void okl_remove_loop_option(LLVMValueRef Terminator, OklText Name) {
  auto *End = unwrap<Instruction>(Terminator);
  MDNode *Loop = End->getMetadata(LLVMContext::MD_loop);
  End->setMetadata(LLVMContext::MD_loop,
                   makePostTransformationMetadata(End->getContext(), Loop, {text(Name)}, {}));
}

void okl_add_loop_option(LLVMValueRef Terminator, OklText Name, bool HasNumber, unsigned Number) {
  auto *End = unwrap<Instruction>(Terminator);
  LLVMContext &C = End->getContext();
  SmallVector<Metadata *, 2> Option = {MDString::get(C, text(Name))};
  if (HasNumber)
    Option.push_back(ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(C), Number)));
  MDNode *Loop = End->getMetadata(LLVMContext::MD_loop);
  End->setMetadata(LLVMContext::MD_loop, makePostTransformationMetadata(C, Loop, {}, {MDNode::get(C, Option)}));
}

void okl_mark_independent(const LLVMValueRef *Accesses, size_t Count, const LLVMValueRef *Ends, size_t Loops) {
  LLVMContext &C = unwrap<Instruction>(Ends[0])->getContext();
  MDNode *Group = MDNode::getDistinct(C, {});
  for (size_t At = 0; At < Count; ++At) {
    auto *Access = unwrap<Instruction>(Accesses[At]);
    MDNode *Others = Access->getMetadata(LLVMContext::MD_access_group);
    Access->setMetadata(LLVMContext::MD_access_group, uniteAccessGroups(Others, Group));
  }
  MDNode *Option = MDNode::get(C, {MDString::get(C, "llvm.loop.parallel_accesses"), Group});
  for (size_t At = 0; At < Loops; ++At) {
    auto *End = unwrap<Instruction>(Ends[At]);
    MDNode *Loop = End->getMetadata(LLVMContext::MD_loop);
    End->setMetadata(LLVMContext::MD_loop, makePostTransformationMetadata(C, Loop, {}, {Option}));
  }
}

void okl_unroll_late(LLVMValueRef Terminator) {
  auto *End = unwrap<Instruction>(Terminator);
  LLVMContext &C = End->getContext();
  MDNode *Loop = End->getMetadata(LLVMContext::MD_loop);
  auto Is = [&](StringRef Name) { return MDNode::get(C, {MDString::get(C, Name)}); };
  Metadata *One = ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(C), 1));
  MDNode *Vectorised = MDNode::get(C, {MDString::get(C, "llvm.loop.isvectorized"), One});
  MDNode *Then = MDNode::get(C, {MDString::get(C, "llvm.loop.vectorize.followup_all"), Is("llvm.loop.mustprogress"), Vectorised});
  MDNode *New = makePostTransformationMetadata(C, Loop, {}, {Is("llvm.loop.unroll.disable"), Then});
  End->setMetadata(LLVMContext::MD_loop, New);
}

void okl_delete_body(LLVMValueRef F) { unwrap<Function>(F)->deleteBody(); }

LLVMBasicBlockRef okl_split_edges(LLVMBasicBlockRef To, const LLVMBasicBlockRef *From, size_t Count) {
  SmallVector<BasicBlock *, 4> Blocks;
  for (size_t I = 0; I < Count; ++I)
    Blocks.push_back(unwrap(From[I]));
  return wrap(SplitBlockPredecessors(unwrap(To), Blocks, ".okl"));
}

LLVMBasicBlockRef okl_split_before(LLVMValueRef At) {
  auto *I = unwrap<Instruction>(At);
  return wrap(SplitBlock(I->getParent(), I->getIterator()));
}

void okl_to_call(LLVMValueRef Invoke) {
  auto *I = unwrap<InvokeInst>(Invoke);
  BasicBlock *Next = I->getNormalDest();
  changeToCall(I);
  MergeBlockIntoPredecessor(Next);
}

LLVMValueRef okl_updated(LLVMBuilderRef B, LLVMValueRef Update, LLVMValueRef Old) {
  auto *U = unwrap<AtomicRMWInst>(Update);
  return wrap(buildAtomicRMWValue(U->getOperation(), *unwrap(B), unwrap(Old), U->getValOperand()));
}

uint64_t okl_hash(OklText Of) { return xxh3_64bits(text(Of)); }

void *okl_watch(LLVMValueRef V) { return new WeakVH(unwrap(V)); }
LLVMValueRef okl_watched(void *Watch) { return wrap(*static_cast<WeakVH *>(Watch)); }
void okl_unwatch(void *Watch) { delete static_cast<WeakVH *>(Watch); }
}
