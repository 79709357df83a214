// Here because these are C++ only: PassBuilder's pipelines in two parts, what says where a symbol is, what a module
// has besides functions and variables, linking it to another one, its bitcode without symbols, hashes and compression.
#include "shim.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"

using namespace llvm;

extern "C" {

// Takes from a module what concerns the file and the program that it is of: assembly, named notes, sections, comdats and its name.
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
  Of.setSourceFileName("");
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

// Bitcode of a module as such: nobody links it, and looks for what it defines.
void okl_jit_write(LLVMModuleRef M, OklTextSink Write, void *To) {
  SmallString<0> Bytes;
  BitcodeWriter Writer(Bytes);
  Writer.writeModule(*unwrap(M));
  Writer.writeStrtab();
  Write(To, text(Bytes));
}

// 16 bytes.
void okl_jit_hash(OklText Of, uint8_t *To) {
  XXH128_hash_t Hash = xxh3_128bits(ArrayRef(reinterpret_cast<const uint8_t *>(Of.Data), Of.Size));
  support::endian::write64le(To, Hash.low64);
  support::endian::write64le(To + 8, Hash.high64);
}

// Compresses bytes; nothing is written where this LLVM cannot.
void okl_jit_pack(OklText From, OklTextSink Write, void *To) {
  SmallVector<uint8_t, 0> Packed;
  ArrayRef Bytes(reinterpret_cast<const uint8_t *>(From.Data), From.Size);
  if (compression::zstd::isAvailable())
    compression::zstd::compress(Bytes, Packed, compression::zstd::BestSizeCompression);
  else if (compression::zlib::isAvailable())
    compression::zlib::compress(Bytes, Packed, compression::zlib::BestSizeCompression);
  if (!Packed.empty())
    Write(To, {reinterpret_cast<const char *>(Packed.data()), Packed.size()});
}

// The reverse, of bytes that become Length.
bool okl_jit_unpack(OklText From, uint8_t *To, size_t Length) {
  bool IsZstd = text(From).starts_with("\x28\xb5\x2f\xfd");
  if (!(IsZstd ? compression::zstd::isAvailable() : compression::zlib::isAvailable()))
    return false;
  size_t Found = Length;
  ArrayRef Bytes(reinterpret_cast<const uint8_t *>(From.Data), From.Size);
  Error Why = IsZstd ? compression::zstd::decompress(Bytes, To, Found) : compression::zlib::decompress(Bytes, To, Found);
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
