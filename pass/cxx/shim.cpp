#include "shim.h"

#include "prepare.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm-c/Core.h"

using namespace llvm;

namespace {

// The attribute of a function that only hands its parameters on.
constexpr char Forwards[] = "okl-forwards";

} // namespace

extern "C" {

LLVMModuleRef okl_optimisable_copy(LLVMModuleRef M) {
  std::unique_ptr<Module> Copy = CloneModule(*unwrap(M));
  for (Function &F : *Copy)
    if (F.hasFnAttribute(Attribute::OptimizeNone)) {
      F.removeFnAttr(Attribute::OptimizeNone);
      F.removeFnAttr(Attribute::NoInline);
    }
  return wrap(Copy.release());
}

void okl_simplify(LLVMModuleRef M) { simplifyModule(*unwrap(M)); }

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

void okl_remark(LLVMValueRef At, OklText Name, OklText Message, bool Missed) {
  auto *I = unwrap<Instruction>(At);
  OptimizationRemarkEmitter Emitter(I->getFunction());
  if (Missed)
    Emitter.emit([&] { return OptimizationRemarkMissed("okl", text(Name), I) << text(Message); });
  else
    Emitter.emit([&] { return OptimizationRemark("okl", text(Name), I) << text(Message); });
}

void okl_print(OklText Text) { errs() << text(Text); }

void okl_demangle(OklText Name, OklTextSink Sink, void *To) {
  Sink(To, text(StringRef(demangle(text(Name)))));
}

void okl_function_source_name(LLVMValueRef Function, OklTextSink Sink, void *To) {
  if (auto *Subprogram = unwrap<llvm::Function>(Function)->getSubprogram())
    Sink(To, text(Subprogram->getName()));
}

bool okl_is_fortran(LLVMValueRef Function) {
  auto *Ident = unwrap<llvm::Function>(Function)->getParent()->getNamedMetadata("llvm.ident");
  if (!Ident || Ident->getNumOperands() == 0 || Ident->getOperand(0)->getNumOperands() == 0)
    return false;
  auto *Producer = dyn_cast<MDString>(Ident->getOperand(0)->getOperand(0));
  return Producer && Producer->getString().contains("flang");
}

void okl_global_location(LLVMValueRef Global, OklTextSink Sink, void *To) {
  SmallVector<DIGlobalVariableExpression *, 1> Expressions;
  unwrap<GlobalVariable>(Global)->getDebugInfo(Expressions);
  if (Expressions.empty())
    return;
  auto *Variable = Expressions.front()->getVariable();
  Sink(To, text(StringRef((Variable->getFilename() + ":" + Twine(Variable->getLine())).str())));
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

void okl_become_own(LLVMValueRef Function, const LLVMValueRef *Callers, size_t Count) {
  auto *F = unwrap<llvm::Function>(Function);
  SmallPtrSet<llvm::Function *, 8> Own;
  for (size_t I = 0; I < Count; ++I)
    Own.insert(unwrap<llvm::Function>(Callers[I]));
  ValueToValueMapTy Map;
  llvm::Function *Shared = CloneFunction(F, Map);
  Shared->setComdat(F->getComdat());
  Shared->takeName(F);
  F->setName(Shared->getName() + ".okl");
  F->setComdat(nullptr);
  F->setVisibility(GlobalValue::DefaultVisibility);
  F->setLinkage(GlobalValue::InternalLinkage);
  F->setDSOLocal(true);
  F->replaceUsesWithIf(Shared, [&](Use &U) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    return !Call || !Call->isCallee(&U) || !Own.contains(Call->getFunction());
  });
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

LLVMValueRef okl_first_insertion_point(LLVMBasicBlockRef Block) {
  auto At = unwrap(Block)->getFirstInsertionPt();
  return At == unwrap(Block)->end() ? nullptr : wrap(&*At);
}

bool okl_only_computes(LLVMValueRef At) {
  auto *I = unwrap<Instruction>(At);
  if (I->mayHaveSideEffects() || I->isTerminator() || isa<PHINode, AllocaInst>(I))
    return false;
  return !I->mayReadFromMemory() || isa<LoadInst>(I);
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

LLVMValueRef okl_forward(OklText Name, LLVMValueRef Call) {
  auto *C = unwrap<CallBase>(Call);
  Module &M = *C->getModule();
  LLVMContext &Context = M.getContext();
  AttributeList Old = C->getAttributes(), New;
  for (auto Kind : {Attribute::ByVal, Attribute::InAlloca, Attribute::Preallocated,
                    Attribute::Nest, Attribute::SwiftSelf, Attribute::SwiftError,
                    Attribute::SwiftAsync})
    if (Old.hasAttrSomewhere(Kind))
      return nullptr;
  if (isa<CallBrInst>(C) || C->isMustTailCall() || C->hasOperandBundles() ||
      C->getFunctionType()->isVarArg() || C->hasFnAttr(Attribute::ReturnsTwice))
    return nullptr;
  // These are part of the calling convention.
  for (auto Kind : {Attribute::ZExt, Attribute::SExt, Attribute::InReg, Attribute::StructRet}) {
    if (Old.hasRetAttr(Kind))
      New = New.addRetAttribute(Context, Old.getRetAttr(Kind));
    for (unsigned I = 0; I < C->arg_size(); ++I)
      if (Old.hasParamAttr(I, Kind))
        New = New.addParamAttribute(Context, I, Old.getParamAttr(I, Kind));
  }
  std::string Type;
  raw_string_ostream(Type) << *C->getFunctionType() << ' ' << C->getCallingConv();
  for (unsigned I = 0; I < C->arg_size(); ++I)
    Type += New.getParamAttrs(I).getAsString() + ";";
  // Vectors are passed as the processor can.
  Type += New.getRetAttrs().getAsString() +
          C->getFunction()->getFnAttribute("target-features").getValueAsString().str();
  std::string Full = (text(Name) + "." + utohexstr(xxh3_64bits(Type), true)).str();
  Function *F = M.getFunction(Full);
  if (!F) {
    F = Function::Create(C->getFunctionType(), GlobalValue::LinkOnceODRLinkage,
                         M.getDataLayout().getProgramAddressSpace(), Full, &M);
    F->setVisibility(GlobalValue::HiddenVisibility);
    F->setDSOLocal(true);
    F->setComdat(M.getOrInsertComdat(Full));
    F->setCallingConv(C->getCallingConv());
    F->setAttributes(New);
    const Function &Caller = *C->getFunction();
    for (StringRef Kind : {"target-cpu", "target-features", "tune-cpu", "frame-pointer"})
      if (Caller.hasFnAttribute(Kind))
        F->addFnAttr(Caller.getFnAttribute(Kind));
    F->setUWTableKind(Caller.getUWTableKind());
    F->addFnAttr(Attribute::NoInline);
    F->addFnAttr(Forwards);
    IRBuilder<> B(BasicBlock::Create(Context, "", F));
    SmallVector<Value *, 8> Parameters;
    for (Argument &One : F->args())
      Parameters.push_back(&One);
    CallInst *On = B.CreateCall(F->getFunctionType(), C->getCalledOperand(), Parameters);
    On->setCallingConv(C->getCallingConv());
    On->setAttributes(New);
    On->setTailCallKind(CallInst::TCK_MustTail);
    F->getReturnType()->isVoidTy() ? B.CreateRetVoid() : B.CreateRet(On);
  }
  C->setCalledOperand(F);
  return wrap(F);
}

LLVMValueRef okl_forwarded(LLVMValueRef Function) {
  auto *F = unwrap<llvm::Function>(Function);
  if (!F->hasFnAttribute(Forwards))
    return nullptr;
  for (BasicBlock &Block : *F)
    if (CallInst *On = Block.getTerminatingMustTailCall())
      return wrap(On->getCalledOperand());
  return nullptr;
}

void okl_strip_call_attributes(LLVMValueRef Call) {
  auto *CB = unwrap<CallBase>(Call);
  LLVMContext &C = CB->getContext();
  AttributeList Old = CB->getAttributes(), New;
  if (Old.hasFnAttr(Attribute::NoUnwind))
    New = New.addFnAttribute(C, Attribute::NoUnwind);
  // Extension attributes are part of the calling convention.
  for (auto Kind : {Attribute::ZExt, Attribute::SExt}) {
    if (Old.hasRetAttr(Kind))
      New = New.addRetAttribute(C, Kind);
    for (unsigned I = 0; I < CB->arg_size(); ++I)
      if (Old.hasParamAttr(I, Kind))
        New = New.addParamAttribute(C, I, Kind);
  }
  CB->setAttributes(New);
}

void okl_deny_parallel_iterations(LLVMValueRef Terminator) {
  auto *End = unwrap<Instruction>(Terminator);
  MDNode *Loop = End->getMetadata(LLVMContext::MD_loop);
  if (!Loop || !findOptionMDForLoopID(Loop, "llvm.loop.parallel_accesses"))
    return;
  MDNode *Enable = findOptionMDForLoopID(Loop, "llvm.loop.vectorize.enable");
  auto *Asked = Enable && Enable->getNumOperands() == 2
                    ? mdconst::dyn_extract<ConstantInt>(Enable->getOperand(1))
                    : nullptr;
  if (Asked && Asked->isOne())
    return;
  End->setMetadata(LLVMContext::MD_loop,
                   makePostTransformationMetadata(End->getContext(), Loop,
                                                  {"llvm.loop.parallel_accesses"}, {}));
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

void okl_expand_constant_users(LLVMValueRef Global) {
  convertUsersOfConstantsToInstructions({unwrap<Constant>(Global)});
}

void okl_delete_bodies(LLVMModuleRef M) {
  for (Function &F : *unwrap(M))
    if (!F.isDeclaration())
      F.deleteBody();
}

void okl_expand_atomic_update(LLVMValueRef I) {
  auto *Update = unwrap<AtomicRMWInst>(I);
  Type *T = Update->getType();
  BasicBlock *Before = Update->getParent();
  BasicBlock *Retry = SplitBlock(Before, Update->getIterator());
  BasicBlock *After = SplitBlock(Retry, std::next(Update->getIterator()));
  After->setName("okl.updated");
  Retry->setName("okl.update");

  IRBuilder<> B(Before->getTerminator());
  B.SetCurrentDebugLocation(Update->getDebugLoc());
  Type *Bits = T->isPointerTy() ? T : B.getIntNTy(B.GetInsertBlock()->getDataLayout()
                                                       .getTypeStoreSizeInBits(T));
  auto *First = B.CreateAlignedLoad(Bits, Update->getPointerOperand(), Update->getAlign());
  First->setAtomic(AtomicOrdering::Monotonic);

  B.SetInsertPoint(Retry, Retry->begin());
  B.SetCurrentDebugLocation(Update->getDebugLoc());
  PHINode *Old = B.CreatePHI(Bits, 2);
  B.SetInsertPoint(Update);
  Value *OldValue = B.CreateBitOrPointerCast(Old, T);
  Value *New = buildAtomicRMWValue(Update->getOperation(), B, OldValue, Update->getValOperand());
  Value *Pair = B.CreateAtomicCmpXchg(
      Update->getPointerOperand(), Old, B.CreateBitOrPointerCast(New, Bits), Update->getAlign(),
      AtomicOrdering::SequentiallyConsistent, AtomicOrdering::SequentiallyConsistent);
  Value *Seen = B.CreateExtractValue(Pair, 0);
  Old->addIncoming(First, Before);
  Old->addIncoming(Seen, Retry);
  Retry->getTerminator()->eraseFromParent();
  B.SetInsertPoint(Retry);
  B.SetCurrentDebugLocation(Update->getDebugLoc());
  B.CreateCondBr(B.CreateExtractValue(Pair, 1), After, Retry);
  Update->replaceAllUsesWith(OldValue);
  Update->eraseFromParent();
}

LLVMValueRef okl_base_and_offset(LLVMModuleRef M, LLVMValueRef Address, int64_t *Offset) {
  Value *V = unwrap(Address);
  int64_t Sum = 0;
  bool IsConstant = true;
  while (auto *GEP = dyn_cast<GEPOperator>(V)) {
    APInt Distance(64, 0);
    if (GEP->accumulateConstantOffset(unwrap(M)->getDataLayout(), Distance))
      Sum += Distance.getSExtValue();
    else
      IsConstant = false;
    V = GEP->getPointerOperand();
  }
  if (IsConstant)
    *Offset = Sum;
  return wrap(V);
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

int okl_atomic_operation(LLVMValueRef I) {
  switch (unwrap<AtomicRMWInst>(I)->getOperation()) {
  case AtomicRMWInst::Xchg: return 0;
  case AtomicRMWInst::Add: return 1;
  case AtomicRMWInst::Sub: return 2;
  case AtomicRMWInst::And: return 3;
  case AtomicRMWInst::Nand: return 4;
  case AtomicRMWInst::Or: return 5;
  case AtomicRMWInst::Xor: return 6;
  case AtomicRMWInst::Max: return 7;
  case AtomicRMWInst::Min: return 8;
  case AtomicRMWInst::UMax: return 9;
  case AtomicRMWInst::UMin: return 10;
  case AtomicRMWInst::FAdd: return 11;
  case AtomicRMWInst::FSub: return 12;
  case AtomicRMWInst::FMax: return 13;
  case AtomicRMWInst::FMin: return 14;
  default: return -1;
  }
}
}
