// Functions in two versions, one for a single rank and one for several, and what chooses between them.
// Which functions those are, and who calls which, is decided in src/lower/mpi/twins.rs.
#include "twins.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace {

bool has(const Function *F, OklText Name, OklText Value) {
  return F->getFnAttribute(text(Name)).getValueAsString() == text(Value);
}

// The variables whose initial values name labels of a function. False where one is used elsewhere too.
bool labelTables(Function &F, SmallVectorImpl<GlobalVariable *> &Tables) {
  SmallVector<Constant *, 8> Rest;
  for (BasicBlock &Block : F)
    if (Block.hasAddressTaken())
      Rest.push_back(BlockAddress::get(&F, &Block));
  SmallPtrSet<Constant *, 16> Seen(Rest.begin(), Rest.end());
  while (!Rest.empty())
    for (User *U : Rest.pop_back_val()->users()) {
      if (auto *I = dyn_cast<Instruction>(U)) {
        if (I->getFunction() != &F)
          return false;
      } else if (auto *Table = dyn_cast<GlobalVariable>(U)) {
        if (Seen.insert(Table).second) {
          Tables.push_back(Table);
          Rest.push_back(Table);
        }
      } else if (auto *C = dyn_cast<Constant>(U); C && !isa<GlobalValue>(C)) {
        if (Seen.insert(C).second)
          Rest.push_back(C);
      } else {
        return false;
      }
    }
  return true;
}

// Whether assembly defines a name of its own: a second copy would define it again. (Numbers may be
// defined several times, and %= stands for one that differs in each copy.)
bool definesName(StringRef Assembly) {
  SmallVector<StringRef, 8> Lines;
  SplitString(Assembly, Lines, "\n;");
  for (StringRef Line : Lines) {
    auto [Label, Rest] = Line.ltrim().split(':');
    bool IsName = Label.size() != Line.ltrim().size() && !Label.empty() && !isDigit(Label[0]) &&
                  Label.find_if([](char C) { return !isAlnum(C) && C != '_' && C != '.' && C != '$'; }) ==
                      StringRef::npos;
    if (IsName || Line.ltrim().starts_with(".globl") || Line.ltrim().starts_with(".set"))
      return true;
  }
  return false;
}

bool isOfRuntime(const CallBase &Call) {
  auto *Callee = dyn_cast<Function>(Call.getCalledOperand()->stripPointerCasts());
  return Callee && okl_is_of_runtime(text(Callee->getName()));
}

// Whether a function is called here, or handed to the OpenMP run time to be called.
bool isCallOf(const Use &U) {
  auto *Call = dyn_cast<CallBase>(U.getUser());
  return Call && (Call->isCallee(&U) || (Call->isArgOperand(&U) && isOfRuntime(*Call)));
}

CallInst *callOf(IRBuilder<> &B, Function &Caller, Function &Like, Value *Callee, bool Tail) {
  SmallVector<Value *, 8> Arguments;
  FunctionType *T = Like.getFunctionType();
  for (unsigned I = 0; I < T->getNumParams() && I < Caller.arg_size(); ++I)
    Arguments.push_back(Caller.getArg(I));
  CallInst *Call = B.CreateCall(T, Callee, Arguments);
  Call->setCallingConv(Like.getCallingConv());
  AttributeList Old = Like.getAttributes();
  SmallVector<AttributeSet, 8> Parameters;
  for (unsigned I = 0; I < Arguments.size(); ++I)
    Parameters.push_back(Old.getParamAttrs(I));
  Call->setAttributes(
      AttributeList::get(Caller.getContext(), AttributeSet(), Old.getRetAttrs(), Parameters));
  if (Tail)
    Call->setTailCallKind(CallInst::TCK_MustTail);
  return Call;
}

void finish(IRBuilder<> &B, Function &Caller, CallInst *Call) {
  Type *T = Caller.getReturnType();
  if (T->isVoidTy())
    B.CreateRetVoid();
  else if (Call && Call->getType() == T)
    B.CreateRet(Call);
  else
    B.CreateRet(Constant::getNullValue(T));
}

Value *isSet(IRBuilder<> &B, GlobalVariable &Flag) {
  auto *Byte = B.CreateLoad(B.getInt8Ty(), &Flag);
  // It has its value before anything of the program runs.
  Byte->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(B.getContext(), {}));
  return B.CreateICmpNE(Byte, B.getInt8(0));
}

// A choice between two functions by the flag; nothing is done where there is none for several ranks.
void choose(Function &E, GlobalVariable &Flag, Function &Plain, Function *Ranks, Value *RanksCallee) {
  LLVMContext &C = E.getContext();
  auto *Entry = BasicBlock::Create(C, "", &E);
  auto *OnOne = BasicBlock::Create(C, "plain", &E);
  auto *OnSeveral = BasicBlock::Create(C, "ranks", &E);
  IRBuilder<> B(Entry);
  if (auto *Subprogram = E.getSubprogram())
    B.SetCurrentDebugLocation(
        DILocation::get(C, Subprogram->getScopeLine(), 0, Subprogram));
  B.CreateCondBr(isSet(B, Flag), OnOne, OnSeveral);
  B.SetInsertPoint(OnOne);
  bool Same = Plain.getFunctionType() == E.getFunctionType();
  finish(B, E, callOf(B, E, Plain, &Plain, Same));
  B.SetInsertPoint(OnSeveral);
  CallInst *Call = nullptr;
  if (Ranks) {
    Call = callOf(B, E, *Ranks, RanksCallee, Ranks->getFunctionType() == E.getFunctionType());
    // What is added later to the version for ranks is added to the function that is marked so.
    Call->addFnAttr(Attribute::NoInline);
  }
  finish(B, E, Call);
}

} // namespace

extern "C" {

bool okl_can_be_copied(LLVMValueRef Function) {
  auto *F = unwrap<llvm::Function>(Function);
  if (F->hasFnAttribute(Attribute::Naked))
    return false;
  for (BasicBlock &Block : *F)
    for (Instruction &I : Block)
      if (auto *Call = dyn_cast<CallBase>(&I)) {
        auto *Assembly = dyn_cast<InlineAsm>(Call->getCalledOperand());
        if (Assembly && definesName(Assembly->getAsmString()))
          return false;
      }
  SmallVector<GlobalVariable *, 2> Tables;
  return labelTables(*F, Tables);
}

LLVMValueRef okl_copy_beside(LLVMValueRef Function) {
  auto *F = unwrap<llvm::Function>(Function);
  SmallVector<GlobalVariable *, 2> Tables;
  labelTables(*F, Tables);
  ValueToValueMapTy Map;
  llvm::Function *Copy = CloneFunction(F, Map);
  if (Tables.empty())
    return wrap(Copy);
  // A table of labels has those of one function: the copy gets tables of its own.
  for (GlobalVariable *Table : Tables) {
    auto *New = new GlobalVariable(*F->getParent(), Table->getValueType(), Table->isConstant(),
                                   GlobalValue::InternalLinkage, nullptr, Table->getName());
    New->setAlignment(Table->getAlign());
    Map[Table] = New;
  }
  for (GlobalVariable *Table : Tables) {
    auto *New = cast<GlobalVariable>(Map[Table]);
    New->setInitializer(MapValue(Table->getInitializer(), Map));
    Table->replaceUsesWithIf(New, [&](Use &U) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      return I && I->getFunction() == Copy;
    });
  }
  return wrap(Copy);
}

bool okl_is_copy_of(LLVMValueRef Copy, LLVMValueRef Function, OklText Added,
                    const LLVMValueRef *Old, const LLVMValueRef *New, size_t Count) {
  auto *A = unwrap<llvm::Function>(Copy), *B = unwrap<llvm::Function>(Function);
  if (A->getFunctionType() != B->getFunctionType() || A->size() != B->size())
    return false;
  // Each may call itself.
  DenseMap<const Value *, const Value *> Of = {{A, B}};
  for (size_t I = 0; I < Count; ++I)
    Of[unwrap(Old[I])] = unwrap(New[I]);
  for (unsigned I = 0; I < A->arg_size(); ++I)
    Of[A->getArg(I)] = B->getArg(I);
  auto Counts = [&](Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return !Call || !Call->getCalledFunction() ||
           Call->getCalledFunction()->getName() != text(Added);
  };
  SmallVector<std::pair<Instruction *, Instruction *>, 64> Pairs;
  for (auto BlockA = A->begin(), BlockB = B->begin(); BlockA != A->end(); ++BlockA, ++BlockB) {
    Of[&*BlockA] = &*BlockB;
    auto AllA = make_filter_range(*BlockA, Counts), AllB = make_filter_range(*BlockB, Counts);
    auto I = AllA.begin(), J = AllB.begin();
    for (; I != AllA.end() && J != AllB.end(); ++I, ++J) {
      Of[&*I] = &*J;
      Pairs.push_back({&*I, &*J});
    }
    if (I != AllA.end() || J != AllB.end())
      return false;
  }
  for (auto [I, J] : Pairs) {
    // Calls of other functions have other attributes.
    if (!I->isSameOperationAs(J, Count ? Instruction::CompareUsingIntersectedAttrs : 0))
      return false;
    for (unsigned K = 0; K < I->getNumOperands(); ++K) {
      Value *X = I->getOperand(K), *Y = J->getOperand(K);
      auto *LabelX = dyn_cast<BlockAddress>(X), *LabelY = dyn_cast<BlockAddress>(Y);
      if (LabelX && LabelY)
        X = LabelX->getBasicBlock(), Y = LabelY->getBasicBlock();
      auto Known = Of.find(X);
      if (Known != Of.end() ? Known->second != Y : X != Y && !isa<MetadataAsValue>(X))
        return false;
    }
  }
  return true;
}

void okl_replace_copy(LLVMValueRef Copy, LLVMValueRef Function) {
  auto *A = unwrap<llvm::Function>(Copy), *B = unwrap<llvm::Function>(Function);
  // What is only called may have got another one.
  for (User *U : A->users())
    if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledOperand() == A)
      Call->setCallingConv(B->getCallingConv());
  A->replaceAllUsesWith(B);
  A->eraseFromParent();
}

void okl_become_twin(LLVMValueRef Twin, LLVMValueRef Of) {
  auto *T = unwrap<llvm::Function>(Twin), *F = unwrap<llvm::Function>(Of);
  bool IsShared = F->hasLinkOnceODRLinkage() || F->hasWeakODRLinkage();
  bool HasComdat = F->hasComdat();
  T->setComdat(nullptr);
  if (IsShared) {
    // What the linker keeps under the function's own name may come from a file without twins.
    T->setLinkage(GlobalValue::LinkOnceODRLinkage);
    T->setVisibility(GlobalValue::HiddenVisibility);
    if (HasComdat)
      T->setComdat(F->getParent()->getOrInsertComdat(T->getName()));
  } else {
    T->setVisibility(GlobalValue::DefaultVisibility);
    T->setLinkage(GlobalValue::InternalLinkage);
  }
  T->setDSOLocal(true);
  T->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
}

void okl_redirect_calls(LLVMValueRef From, LLVMValueRef To, OklText Mark, OklText Value) {
  auto *F = unwrap<llvm::Function>(From), *T = unwrap<llvm::Function>(To);
  if (F->isInterposable())
    return;
  SmallVector<llvm::Value *, 4> Names = {F};
  SmallVector<Use *, 8> Uses;
  while (!Names.empty())
    for (Use &U : Names.pop_back_val()->uses()) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      auto *Alias = dyn_cast<GlobalAlias>(U.getUser());
      if (I && isCallOf(U) && has(I->getFunction(), Mark, Value))
        Uses.push_back(&U);
      else if (Alias && !Alias->isInterposable())
        Names.push_back(Alias);
    }
  for (Use *U : Uses)
    U->set(T);
}

bool okl_needs_entry(LLVMValueRef Function, OklText Mark, OklText Value) {
  auto *F = unwrap<llvm::Function>(Function);
  if (!F->hasLocalLinkage())
    return true;
  SmallVector<llvm::Value *, 8> Rest = {F};
  SmallPtrSet<llvm::Value *, 16> Seen;
  while (!Rest.empty())
    for (Use &U : Rest.pop_back_val()->uses()) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      if (I && isCallOf(U) && has(I->getFunction(), Mark, Value))
        continue;
      auto *C = dyn_cast<Constant>(U.getUser());
      bool IsList = C && isa<GlobalVariable>(C) &&
                    (C->getName().starts_with("llvm.") || C->getName().starts_with("okl."));
      if (IsList)
        continue;
      if (!C || isa<GlobalValue>(C))
        return true;
      if (Seen.insert(C).second)
        Rest.push_back(C);
    }
  return false;
}

LLVMValueRef okl_add_entry(LLVMValueRef Ranks, LLVMValueRef Plain, LLVMValueRef Flag, OklText Mark,
                           OklText Value) {
  auto *F = unwrap<llvm::Function>(Ranks), *P = unwrap<llvm::Function>(Plain);
  llvm::Function *E = llvm::Function::Create(F->getFunctionType(), F->getLinkage(),
                                             F->getAddressSpace(), "", F->getParent());
  E->copyAttributesFrom(F);
  E->setPersonalityFn(nullptr);
  E->setComdat(F->getComdat());
  for (auto Kind : {Attribute::PresplitCoroutine, Attribute::AlwaysInline, Attribute::Naked})
    E->removeFnAttr(Kind);
  SmallVector<std::pair<unsigned, MDNode *>, 4> Attached;
  F->getAllMetadata(Attached);
  for (auto [Kind, Node] : Attached)
    if (Kind == LLVMContext::MD_type || Kind == LLVMContext::MD_kcfi_type)
      E->addMetadata(Kind, *Node);
  if (auto *Subprogram = F->getSubprogram()) {
    TempDISubprogram Copy = Subprogram->clone();
    Copy->replaceRetainedNodes(MDTuple::get(F->getContext(), {}));
    E->setSubprogram(cast<DISubprogram>(MDNode::replaceWithDistinct(std::move(Copy))));
  }
  E->takeName(F);
  F->setName(E->getName() + ".mpi");
  F->replaceUsesWithIf(E, [&](Use &U) {
    auto *I = dyn_cast<Instruction>(U.getUser());
    return !(I && isCallOf(U) && has(I->getFunction(), Mark, Value) && !F->isInterposable());
  });
  choose(*E, *unwrap<GlobalVariable>(Flag), *P, F, F);
  // LLVM takes dead variable arguments from functions that are only called, and leaves calls in tail
  // position broken where they hand theirs on.
  if (F->isVarArg())
    appendToCompilerUsed(*F->getParent(), {F, P});
  return wrap(E);
}

LLVMValueRef okl_is_set(LLVMValueRef Flag, LLVMValueRef Before) {
  IRBuilder<> B(unwrap<Instruction>(Before));
  return wrap(isSet(B, *unwrap<GlobalVariable>(Flag)));
}

LLVMValueRef okl_add_choice(OklText Name, LLVMValueRef Like, LLVMValueRef Plain, LLVMValueRef Ranks,
                            LLVMValueRef Flag) {
  auto *L = unwrap<llvm::Function>(Like);
  llvm::Function *E = llvm::Function::Create(L->getFunctionType(), GlobalValue::InternalLinkage,
                                             L->getAddressSpace(), text(Name), L->getParent());
  E->setCallingConv(L->getCallingConv());
  choose(*E, *unwrap<GlobalVariable>(Flag), *unwrap<llvm::Function>(Plain), Ranks ? L : nullptr,
         Ranks ? unwrap(Ranks) : nullptr);
  return wrap(E);
}

void okl_replace_uses_in_code(LLVMValueRef Old, LLVMValueRef New, OklText Mark, OklText Value,
                              bool Marked) {
  unwrap(Old)->replaceUsesWithIf(unwrap(New), [&](Use &U) {
    auto *I = dyn_cast<Instruction>(U.getUser());
    return I && has(I->getFunction(), Mark, Value) == Marked;
  });
}

void okl_replace_uses_in_constants(LLVMValueRef Old, LLVMValueRef New) {
  unwrap(Old)->replaceUsesWithIf(unwrap(New),
                                 [](Use &U) { return !isa<Instruction>(U.getUser()); });
}

}
