// Copies of functions as LLVM simplifies them, for checks that shall not depend on how something is written.
#include "prepare.h"
#include "shim.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
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

void simplify(Module &M) {
  LLVMContext &C = M.getContext();
  auto Handler = C.getDiagnosticHandler();
  C.setDiagnosticHandler(std::make_unique<Silent>());
  simplifyModule(M);
  C.setDiagnosticHandler(std::move(Handler));
}

} // namespace

extern "C" {

LLVMModuleRef okl_simplified_functions(LLVMModuleRef M, const LLVMValueRef *Functions, size_t Count) {
  SmallVector<const User *, 16> Roots;
  for (size_t I = 0; I < Count; ++I)
    Roots.push_back(unwrap<Function>(Functions[I]));
  auto Kept = mentioned(Roots);
  ValueToValueMapTy Map;
  // Variables may be changed by what is left behind.
  std::unique_ptr<Module> Copy = CloneModule(*unwrap(M), Map, [&](const GlobalValue *GV) {
    auto *Variable = dyn_cast<GlobalVariable>(GV);
    return Variable ? Variable->isConstant() && !Variable->hasAppendingLinkage() : Kept.contains(GV);
  });
  for (GlobalVariable &Variable : make_early_inc_range(Copy->globals()))
    if (Variable.getName().starts_with("llvm.") && Variable.use_empty())
      Variable.eraseFromParent();
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
  simplify(*Copy);
  return wrap(Copy.release());
}
}
