// Here because these are C++ only: PassBuilder's pipelines in two parts, what says where a symbol is, what a module
// has besides functions and variables, linking it to another one, and compression.
#include "shim.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Compression.h"
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

// Lets no product and sum become one operation. (LLVM's C API adds flags, and takes none away.)
void okl_jit_keep_apart(LLVMValueRef V) {
  if (isa<FPMathOperator>(unwrap(V)))
    cast<Instruction>(unwrap(V))->setHasAllowContract(false);
}

// Compresses bytes: to how many, or 0 where there is no room for them, or this LLVM cannot.
size_t okl_jit_pack(const uint8_t *From, size_t Size, uint8_t *To, size_t Room) {
  if (!compression::zlib::isAvailable())
    return 0;
  SmallVector<uint8_t, 0> Packed;
  compression::zlib::compress(ArrayRef(From, Size), Packed, compression::zlib::BestSizeCompression);
  if (Packed.size() > Room)
    return 0;
  llvm::copy(Packed, To);
  return Packed.size();
}

// The reverse, of bytes that become Length.
bool okl_jit_unpack(const uint8_t *From, size_t Size, uint8_t *To, size_t Length) {
  if (!compression::zlib::isAvailable())
    return false;
  size_t Found = Length;
  Error Why = compression::zlib::decompress(ArrayRef(From, Size), To, Found);
  bool Fails = bool(Why);
  consumeError(std::move(Why));
  return !Fails && Found == Length;
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
