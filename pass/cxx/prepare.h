#pragma once

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Passes/PassBuilder.h"

// Brings loops into a form in which their bounds and addresses are known in front of them: loads go
// out of loops that do not write what they load (LLVM leaves those behind inner loops' guards, and
// gives up in large loops), and what OpenMP guarantees of worksharing loops is stated.
void prepareLoops(llvm::Function &F, llvm::DominatorTree &DT, llvm::LoopInfo &LI,
                  llvm::AssumptionCache &AC, llvm::TargetLibraryInfo &Library);

// Whether a loop may write where it loads from, in this turn or in another one: at most by plain stores and
// copies, or by whatever.
enum class TableWrites { None, ByStores, ByOthers };
TableWrites writesToTable(llvm::Function &F, llvm::DominatorTree &DT, llvm::AssumptionCache &AC,
                          llvm::TargetLibraryInfo &Library, const llvm::LoadInst &Load,
                          const llvm::Loop &L);

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
