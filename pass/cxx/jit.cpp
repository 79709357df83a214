// Here because these are C++ only: PassBuilder's pipelines in two parts, what says where a symbol is, what a module
// has besides functions and variables, and linking it to another one.
#include "shim.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"

using namespace llvm;

extern "C" {

// Takes from a module what concerns the file and the program that it is of: assembly, named notes, sections and comdats.
void okl_jit_detach(LLVMModuleRef M) {
  Module &Of = *unwrap(M);
  Of.setModuleInlineAsm("");
  SmallVector<NamedMDNode *, 8> Noted;
  for (NamedMDNode &One : Of.named_metadata())
    if (One.getName() != "llvm.module.flags")
      Noted.push_back(&One);
  for (NamedMDNode *One : Noted)
    Of.eraseNamedMetadata(One);
  for (GlobalObject &One : Of.global_objects()) {
    One.setComdat(nullptr);
    One.setSection("");
  }
}

// Has what a module declares be wherever it is: code that is made at run time is far from the program.
void okl_jit_place_anywhere(LLVMModuleRef M) {
  for (GlobalValue &One : unwrap(M)->global_values())
    if (One.isDeclarationForLinker()) {
      One.setVisibility(GlobalValue::DefaultVisibility);
      One.setDSOLocal(false);
    }
}

// Adds what bitcode has; false where LLVM cannot read or link it.
bool okl_jit_link(LLVMModuleRef M, OklText Bitcode) {
  Module &To = *unwrap(M);
  auto Read = parseBitcodeFile(MemoryBufferRef(text(Bitcode), "code"), To.getContext());
  if (!Read) {
    consumeError(Read.takeError());
    return false;
  }
  return !Linker::linkModules(To, std::move(*Read));
}

// Simplifies functions that were simplified before and of which more is known now, and runs the stages in front of
// vectorisation; or, where Late, what LLVM does behind these.
void okl_jit_run(LLVMModuleRef M, LLVMTargetMachineRef Machine, bool Late) {
  Analyses Own(reinterpret_cast<TargetMachine *>(Machine));
  ModulePassManager Passes;
  if (Late) {
    Passes = Own.PB.buildModuleOptimizationPipeline(OptimizationLevel::O3, ThinOrFullLTOPhase::None);
  } else {
    Passes.addPass(createModuleToFunctionPassAdaptor(
        Own.PB.buildFunctionSimplificationPipeline(OptimizationLevel::O3, ThinOrFullLTOPhase::None)));
    add(Passes, OklBeforeVectorising);
  }
  Passes.run(*unwrap(M), Own.MAM);
}
}
