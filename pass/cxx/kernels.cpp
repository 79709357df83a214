// Copies of functions as LLVM simplifies them, for what shall not depend on how something is written.
// Here because these are C++ only: CloneModule with a choice of what to clone, CloneFunction, UnrollLoop with what it
// needs of ScalarEvolution and LoopInfo, and DiagnosticHandler.
#include "prepare.h"
#include "shim.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"
#include "llvm-c/Core.h"

using namespace llvm;

namespace {

// What the optimiser says of a copy is nobody's concern.
struct Silent : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &) override { return true; }
  bool isAnalysisRemarkEnabled(StringRef) const override { return false; }
  bool isMissedOptRemarkEnabled(StringRef) const override { return false; }
  bool isPassedOptRemarkEnabled(StringRef) const override { return false; }
  bool isAnyRemarkEnabled() const override { return false; }
};

// The functions that `Rest` mention, and those that these mention.
SmallPtrSet<const GlobalValue *, 16> mentioned(SmallVector<const User *, 16> Rest) {
  SmallPtrSet<const GlobalValue *, 16> Functions;
  SmallPtrSet<const User *, 32> Seen;
  while (!Rest.empty()) {
    const User *One = Rest.pop_back_val();
    if (!Seen.insert(One).second)
      continue;
    for (const Value *V : One->operand_values())
      if (auto *C = dyn_cast<Constant>(V))
        Rest.push_back(C);
    if (auto *F = dyn_cast<Function>(One)) {
      Functions.insert(F);
      for (const Instruction &I : instructions(F))
        Rest.push_back(&I);
    }
  }
  return Functions;
}

void silently(LLVMContext &C, function_ref<void()> Work) {
  auto Handler = C.getDiagnosticHandler();
  C.setDiagnosticHandler(std::make_unique<Silent>());
  Work();
  C.setDiagnosticHandler(std::move(Handler));
}

// Instructions that a function may come to when its loops are written out.
constexpr unsigned MostInstructions = 8192;

// Writes out an innermost loop, if it has one that turns no more often than LLVM knows.
bool unrollOne(Function &F, FunctionAnalysisManager &FAM) {
  LoopInfo &LI = FAM.getResult<LoopAnalysis>(F);
  ScalarEvolution &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  for (Loop *L : LI.getLoopsInPreorder()) {
    unsigned Turns = L->isInnermost() ? SE.getSmallConstantMaxTripCount(L) : 0;
    uint64_t Size = 0;
    for (BasicBlock *Block : L->blocks())
      Size += Block->size();
    if (!Turns || Turns * Size + F.getInstructionCount() > MostInstructions)
      continue;
    UnrollLoopOptions Options{};
    Options.Count = Turns;
    Options.Force = true;
    auto Result = UnrollLoop(L, Options, &LI, &SE, &FAM.getResult<DominatorTreeAnalysis>(F),
                             &FAM.getResult<AssumptionAnalysis>(F), &FAM.getResult<TargetIRAnalysis>(F),
                             &FAM.getResult<OptimizationRemarkEmitterAnalysis>(F), true);
    if (Result != LoopUnrollResult::Unmodified)
      return true;
  }
  return false;
}

// Writes out all loops that allow it: those around others when these are gone, and those whose bounds depend on
// the turns of others.
void unroll(Function &F) {
  Analyses Own;
  FunctionAnalysisManager &FAM = Own.FAM;
  FunctionPassManager Canonical, Cleanup;
  Canonical.addPass(LoopSimplifyPass());
  Canonical.addPass(LCSSAPass());
  Cleanup.addPass(SROAPass(SROAOptions::ModifyCFG));
  Cleanup.addPass(EarlyCSEPass());
  Cleanup.addPass(InstSimplifyPass());
  Cleanup.addPass(SimplifyCFGPass());
  auto Run = [&](FunctionPassManager &Passes) { FAM.invalidate(F, Passes.run(F, FAM)); };
  for (Run(Canonical); unrollOne(F, FAM); Run(Canonical)) {
    FAM.invalidate(F, PreservedAnalyses::none());
    Run(Cleanup);
  }
}

} // namespace

extern "C" {

LLVMModuleRef okl_simplified_functions(LLVMModuleRef M, const LLVMValueRef *Functions, size_t Count) {
  SmallVector<const User *, 16> Roots;
  for (size_t I = 0; I < Count; ++I)
    Roots.push_back(unwrap<Function>(Functions[I]));
  auto Kept = mentioned(Roots);
  ValueToValueMapTy Map;
  // Variables may be changed by what is left behind, and weak definitions be replaced when the program is linked.
  std::unique_ptr<Module> Copy = CloneModule(*unwrap(M), Map, [&](const GlobalValue *GV) {
    auto *Variable = dyn_cast<GlobalVariable>(GV);
    bool IsKept = Variable ? Variable->isConstant() && !Variable->hasAppendingLinkage() : Kept.contains(GV);
    return IsKept && !GV->isInterposable();
  });
  for (GlobalVariable &Variable : make_early_inc_range(Copy->globals()))
    if (Variable.getName().starts_with("llvm.") && Variable.use_empty())
      Variable.eraseFromParent();
  // Which function an ifunc is, the program finds out. What does has been left behind.
  for (GlobalIFunc &Chosen : make_early_inc_range(Copy->ifuncs())) {
    auto *T = cast<FunctionType>(Chosen.getValueType());
    auto *Declared = Function::Create(T, GlobalValue::ExternalLinkage, "", *Copy);
    Declared->takeName(&Chosen);
    Chosen.replaceAllUsesWith(Declared);
    Chosen.eraseFromParent();
  }
  SmallPtrSet<const Value *, 16> Asked;
  for (const User *Root : Roots)
    Asked.insert(Map.lookup(Root));
  for (Function &F : *Copy) {
    if (F.isDeclaration())
      continue;
    F.removeFnAttr(Attribute::OptimizeNone);
    F.removeFnAttr(Attribute::NoInline);
    F.setComdat(nullptr);
    if (Asked.contains(&F)) {
      F.setLinkage(GlobalValue::ExternalLinkage);
      F.setVisibility(GlobalValue::DefaultVisibility);
    } else {
      F.addFnAttr(Attribute::AlwaysInline);
    }
  }
  StripDebugInfo(*Copy);
  silently(Copy->getContext(), [&] {
    simplifyModule(*Copy);
    for (Function &F : *Copy)
      if (Asked.contains(&F))
        unroll(F);
  });
  return wrap(Copy.release());
}

LLVMValueRef okl_unrolled_copy(LLVMValueRef Of) {
  Function &F = *unwrap<Function>(Of);
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&F, Map);
  stripDebugInfo(*Copy);
  Copy->setName("okl.unrolled");
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Copy->setComdat(nullptr);
  silently(Copy->getContext(), [&] { unroll(*Copy); });
  return wrap(Copy);
}
}
