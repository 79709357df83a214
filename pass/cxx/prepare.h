#pragma once

#include "llvm/Passes/PassBuilder.h"

// What passes know of code, for passes that run apart from the compiler's pipeline.
struct Analyses {
  Analyses();

  llvm::PassBuilder PB;
  llvm::LoopAnalysisManager LAM;
  llvm::FunctionAnalysisManager FAM;
  llvm::CGSCCAnalysisManager CGAM;
  llvm::ModuleAnalysisManager MAM;
};

// Simplifies a module as the pipeline does before loops are vectorised.
void simplifyModule(llvm::Module &M);
