// Here because these are C++ only: CloneModule with a choice of what to clone, stripDebugInfo of one function,
// DiagnosticHandler, PassBuilder's own pipelines, analyses that stay from pass to pass, trip counts of ScalarEvolution,
// and UnrollLoop.
#include "shim.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"
#include "llvm-c/Core.h"

using namespace llvm;

namespace {

struct Silent : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &) override { return true; }
  bool isAnalysisRemarkEnabled(StringRef) const override { return false; }
  bool isMissedOptRemarkEnabled(StringRef) const override { return false; }
  bool isPassedOptRemarkEnabled(StringRef) const override { return false; }
  bool isAnyRemarkEnabled() const override { return false; }
};

} // namespace

// What passes know of code, for passes that run apart from the compiler's pipeline.
struct Analyses {
  PassBuilder PB;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;

  explicit Analyses(TargetMachine *Machine = nullptr) : PB(Machine) {
    PB.registerModuleAnalyses(MAM);
    PB.registerCGSCCAnalyses(CGAM);
    PB.registerFunctionAnalyses(FAM);
    PB.registerLoopAnalyses(LAM);
    PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  }
};

extern "C" {

// Simplifies a module as LLVM's pipeline does before it vectorises.
void okl_simplify(LLVMModuleRef M) {
  Analyses Own;
  auto Passes = Own.PB.buildModuleSimplificationPipeline(OptimizationLevel::O2, ThinOrFullLTOPhase::None);
  Passes.run(*unwrap(M), Own.MAM);
}

// A copy of a module, with declarations for what Asked denies.
LLVMModuleRef okl_clone_module(LLVMModuleRef M, bool (*Asked)(void *Of, LLVMValueRef Global), void *Of) {
  ValueToValueMapTy Map;
  return wrap(CloneModule(*unwrap(M), Map, [&](const GlobalValue *One) { return Asked(Of, wrap(One)); }).release());
}

void okl_strip_debug_info(LLVMValueRef F) { stripDebugInfo(*unwrap<Function>(F)); }

// Has a context say nothing. The result is who said what it says before.
DiagnosticHandler *okl_silence(LLVMContextRef C) {
  auto Handler = unwrap(C)->getDiagnosticHandler();
  unwrap(C)->setDiagnosticHandler(std::make_unique<Silent>());
  return Handler.release();
}

void okl_end_silence(LLVMContextRef C, DiagnosticHandler *Handler) {
  unwrap(C)->setDiagnosticHandler(std::unique_ptr<DiagnosticHandler>(Handler));
}

Analyses *okl_analyses_create() { return new Analyses; }

void okl_analyses_dispose(Analyses *A) { delete A; }

// Runs passes over a function; false where LLVM does not know such.
bool okl_run_passes(Analyses *A, LLVMValueRef Of, OklText Names) {
  FunctionPassManager Passes;
  bool Known = !errorToBool(A->PB.parsePassPipeline(Passes, text(Names)));
  auto &F = *unwrap<Function>(Of);
  A->FAM.invalidate(F, Passes.run(F, A->FAM));
  return Known;
}

// The innermost loops, with how often each turns at most; 0 where LLVM does not know.
void okl_innermost_loops(Analyses *A, LLVMValueRef Of, void (*Sink)(void *To, LLVMBasicBlockRef Header, unsigned Turns,
                         const LLVMBasicBlockRef *Blocks, size_t Count), void *To) {
  auto &F = *unwrap<Function>(Of);
  auto &Evolution = A->FAM.getResult<ScalarEvolutionAnalysis>(F);
  for (Loop *L : A->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    if (L->isInnermost()) {
      SmallVector<LLVMBasicBlockRef, 16> Blocks;
      for (BasicBlock *Block : L->blocks())
        Blocks.push_back(wrap(Block));
      Sink(To, wrap(L->getHeader()), Evolution.getSmallConstantMaxTripCount(L), Blocks.data(), Blocks.size());
    }
}

// Writes out the turns of an innermost loop; false where that was not done.
bool okl_unroll(Analyses *A, LLVMBasicBlockRef Header, unsigned Turns) {
  Function &F = *unwrap(Header)->getParent();
  FunctionAnalysisManager &FAM = A->FAM;
  LoopInfo &Loops = FAM.getResult<LoopAnalysis>(F);
  UnrollLoopOptions Options{};
  Options.Count = Turns;
  Options.Force = true;
  auto Result = UnrollLoop(Loops.getLoopFor(unwrap(Header)), Options, &Loops, &FAM.getResult<ScalarEvolutionAnalysis>(F),
                           &FAM.getResult<DominatorTreeAnalysis>(F), &FAM.getResult<AssumptionAnalysis>(F),
                           &FAM.getResult<TargetIRAnalysis>(F), &FAM.getResult<OptimizationRemarkEmitterAnalysis>(F), true);
  if (Result == LoopUnrollResult::Unmodified)
    return false;
  FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}
}
