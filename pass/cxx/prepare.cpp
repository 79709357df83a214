// Here because PassBuilder's own pipelines and analyses are C++ only.
#include "prepare.h"

using namespace llvm;

Analyses::Analyses() {
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
}

void simplifyModule(Module &M) {
  Analyses Own;
  Own.PB.buildModuleSimplificationPipeline(OptimizationLevel::O2, ThinOrFullLTOPhase::None)
      .run(M, Own.MAM);
}
