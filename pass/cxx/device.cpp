// Here because these are C++ only: CloneModule with debug information of another kind, what a module has of the processor
// that it was made for, the linker with a choice of what is needed, what code asks while it is compiled, and whether a context
// was told of an error.
#include "shim.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm-c/Core.h"

using namespace llvm;

extern "C" {

// A copy of a module whose debug information says where instructions stand in the source, and nothing else.
LLVMModuleRef okl_clone_with_lines(LLVMModuleRef M) {
  Module &From = *unwrap(M);
  ValueToValueMapTy Map;
  for (DICompileUnit *Unit : From.debug_compile_units()) {
    auto *Lines = DICompileUnit::getDistinct(
        From.getContext(), Unit->getSourceLanguage(), Unit->getFile(), Unit->getProducer(), Unit->isOptimized(), "", 0, "",
        DICompileUnit::DebugDirectivesOnly, nullptr, nullptr, nullptr, nullptr, nullptr, 0, false, false,
        DICompileUnit::DebugNameTableKind::None, false, "", "");
    Map.MD()[Unit].reset(Lines);
  }
  auto Copy = CloneModule(From, Map);
  for (Function &F : *Copy)
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        I.dropDbgRecords();
  for (GlobalVariable &G : Copy->globals())
    G.eraseMetadata(LLVMContext::MD_dbg);
  return wrap(Copy.release());
}

// Takes from a module what it has only for the processor that it was made for. Nobody outside sees what is in it.
void okl_forget_processor(LLVMModuleRef M) {
  Module &Of = *unwrap(M);
  Of.setModuleInlineAsm("");
  SmallVector<NamedMDNode *, 8> Noted;
  for (NamedMDNode &One : Of.named_metadata())
    if (One.getName() != "llvm.dbg.cu")
      Noted.push_back(&One);
  for (NamedMDNode *One : Noted)
    Of.eraseNamedMetadata(One);
  if (!Of.debug_compile_units().empty())
    Of.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
  SmallVector<GlobalVariable *, 8> Lists;
  for (GlobalVariable &One : Of.globals())
    if (One.getName().starts_with("llvm."))
      Lists.push_back(&One);
  for (GlobalVariable *One : Lists)
    One->eraseFromParent();
  for (GlobalObject &One : Of.global_objects()) {
    One.setComdat(nullptr);
    One.setSection("");
  }
  for (GlobalValue &One : Of.global_values())
    if (!One.isDeclaration()) {
      One.setVisibility(GlobalValue::DefaultVisibility);
      One.setLinkage(GlobalValue::InternalLinkage);
    } else
      One.setDSOLocal(false);
  for (Function &F : Of)
    F.setPersonalityFn(nullptr);
}

// Adds what a module needs of another one, which is bitcode and made for the same processor; false where that cannot be read.
bool okl_link_needed(LLVMModuleRef M, OklText Bitcode) {
  Module &To = *unwrap(M);
  auto Read = getLazyBitcodeModule(MemoryBufferRef(text(Bitcode), "library"), To.getContext());
  if (!Read) {
    consumeError(Read.takeError());
    return false;
  }
  (*Read)->setTargetTriple(To.getTargetTriple());
  (*Read)->setDataLayout(To.getDataLayout());
  return !Linker::linkModules(To, std::move(*Read), Linker::LinkOnlyNeeded, [](Module &In, const StringSet<> &Names) {
    internalizeModule(In, [&](const GlobalValue &One) { return !One.hasName() || !Names.contains(One.getName()); });
  });
}

// Adds what a text has, which LLVM can read.
void okl_link_text(LLVMModuleRef M, OklText Text) {
  Module &To = *unwrap(M);
  SMDiagnostic Wrong;
  // Texts name their values.
  LLVMContext &Context = To.getContext();
  bool Discards = Context.shouldDiscardValueNames();
  Context.setDiscardValueNames(false);
  // The reader looks for a NUL behind it.
  auto Copy = MemoryBuffer::getMemBufferCopy(text(Text), "text");
  auto Read = parseAssembly(*Copy, Wrong, Context);
  Context.setDiscardValueNames(Discards);
  if (!Read)
    report_fatal_error(Twine("okl: ") + Wrong.getMessage());
  Read->setTargetTriple(To.getTargetTriple());
  Read->setDataLayout(To.getDataLayout());
  Linker::linkModules(To, std::move(Read));
}

// Answers what libdevice asks by a name while it is compiled.
void okl_answer(LLVMModuleRef M, OklText Name, int Answer) {
  Function *Asks = unwrap(M)->getFunction("__nvvm_reflect");
  if (!Asks)
    return;
  for (User *By : make_early_inc_range(Asks->users())) {
    auto *Call = dyn_cast<CallInst>(By);
    auto *Asked = Call ? dyn_cast<GlobalVariable>(Call->getArgOperand(0)->stripPointerCasts()) : nullptr;
    auto *Text = Asked && Asked->hasInitializer() ? dyn_cast<ConstantDataSequential>(Asked->getInitializer()) : nullptr;
    if (!Text || !Text->isCString() || Text->getAsCString() != text(Name))
      continue;
    Call->replaceAllUsesWith(ConstantInt::get(Call->getType(), Answer));
    Call->eraseFromParent();
  }
}

// Whether who is told of what happens in a context was told of an error.
bool okl_has_failed(LLVMContextRef C) { return unwrap(C)->getDiagHandlerPtr()->HasErrors; }
}
