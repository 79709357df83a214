// Here because these are C++ only: address spaces of variables and what is inferred of them, calling conventions of calls, the
// expansion of atomic updates, scopes and metadata of atomics, and an error of a back end that does not end the process.
#include "attempt.h"
#include "shim.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/AtomicExpandUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"
#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"
#include <csetjmp>

using namespace llvm;

static TargetMachine *machine(LLVMTargetMachineRef Of) { return reinterpret_cast<TargetMachine *>(Of); }

// Whether an update has to be a loop: of what is no integer, or more than SPIR-V's instructions do.
static bool isLoop(const AtomicRMWInst &One) {
  if (!One.getType()->isIntegerTy())
    return true;
  switch (One.getOperation()) {
  case AtomicRMWInst::Xchg:
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
  case AtomicRMWInst::And:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::Max:
  case AtomicRMWInst::Min:
  case AtomicRMWInst::UMax:
  case AtomicRMWInst::UMin:
    return false;
  default:
    return true;
  }
}

static bool IsInProgram = false;

// Where the attempt of this thread goes on that failed.
static thread_local jmp_buf *Failed = nullptr;

void okl_in_program() { IsInProgram = true; }

// An error that would end the process ends the attempt.
static void onFatalError(void *, const char *, bool) {
  if (Failed)
    longjmp(*Failed, 1);
  if (CrashRecoveryContext *Current = CrashRecoveryContext::GetCurrent())
    Current->HandleExit(1);
}

// LLVM's CrashRecoveryContext takes the signals of the whole process: those of a program that has its code compiled once more are the
// program's, and page faults are what run times work with.
static void attemptInProgram(function_ref<void()> Does) {
  jmp_buf Here;
  jmp_buf *volatile Before = Failed;
  remove_fatal_error_handler();
  install_fatal_error_handler(onFatalError);
  if (setjmp(Here) == 0) {
    Failed = &Here;
    Does();
  }
  Failed = Before;
  remove_fatal_error_handler();
}

void attempt(function_ref<void()> Does) {
  if (IsInProgram)
    return attemptInProgram(Does);
  bool IsWatched = CrashRecoveryContext::GetCurrent() != nullptr;
  if (!IsWatched)
    CrashRecoveryContext::Enable();
  remove_fatal_error_handler();
  install_fatal_error_handler(onFatalError);
  CrashRecoveryContext Attempt;
  Attempt.RunSafely(Does);
  remove_fatal_error_handler();
  if (!IsWatched)
    CrashRecoveryContext::Disable();
}

extern "C" {

// Has variables of the stack lie in the address space of a number; users see them as before.
void okl_move_stack(LLVMModuleRef M, unsigned Space) {
  for (Function &F : *unwrap(M)) {
    SmallVector<AllocaInst *, 16> All;
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        if (auto *One = dyn_cast<AllocaInst>(&I))
          if (One->getAddressSpace() != Space)
            All.push_back(One);
    for (AllocaInst *One : All) {
      for (User *By : make_early_inc_range(One->users()))
        if (auto *Marker = dyn_cast<IntrinsicInst>(By))
          if (Marker->isLifetimeStartOrEnd())
            Marker->eraseFromParent();
      IRBuilder<> Builder(One);
      AllocaInst *New = Builder.CreateAlloca(One->getAllocatedType(), Space, One->getArraySize());
      New->setAlignment(One->getAlign());
      One->replaceAllUsesWith(Builder.CreateAddrSpaceCast(New, One->getType()));
      One->eraseFromParent();
    }
  }
}

// The same for constants.
void okl_move_tables(LLVMModuleRef M, unsigned Space) {
  Module &In = *unwrap(M);
  SmallVector<GlobalVariable *, 16> All;
  for (GlobalVariable &One : In.globals())
    if (One.isConstant() && One.hasInitializer() && One.getAddressSpace() == 0)
      All.push_back(&One);
  for (GlobalVariable *One : All) {
    auto *New = new GlobalVariable(In, One->getValueType(), true, One->getLinkage(), One->getInitializer(), "", One,
                                   GlobalValue::NotThreadLocal, Space);
    New->takeName(One);
    New->setAlignment(One->getAlign());
    New->setUnnamedAddr(One->getUnnamedAddr());
    One->replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(New, One->getType()));
    One->eraseFromParent();
  }
}

// Has functions and their calls, but for kernels, have the convention of a number.
void okl_call_by(LLVMModuleRef M, unsigned Convention, unsigned Kernel) {
  for (Function &F : *unwrap(M)) {
    if (!F.isIntrinsic() && F.getCallingConv() != Kernel)
      F.setCallingConv(Convention);
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        if (auto *Call = dyn_cast<CallBase>(&I))
          if (Function *Callee = Call->getCalledFunction(); Callee && !Callee->isIntrinsic())
            Call->setCallingConv(Convention);
  }
}

// Finds out which address spaces pointers of no particular one lead to.
void okl_infer_spaces(LLVMModuleRef M, LLVMTargetMachineRef Machine) {
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PassBuilder Builder(machine(Machine));
  Builder.registerModuleAnalyses(MAM);
  Builder.registerCGSCCAnalyses(CGAM);
  Builder.registerFunctionAnalyses(FAM);
  Builder.registerLoopAnalyses(LAM);
  Builder.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  ModulePassManager Passes;
  Passes.addPass(createModuleToFunctionPassAdaptor(InferAddressSpacesPass(0)));
  Passes.run(*unwrap(M), MAM);
  // Numbers of addresses, and comparisons of two of one space, are asked of these themselves.
  for (Function &F : *unwrap(M))
    for (BasicBlock &Block : F)
      for (Instruction &I : Block) {
        auto Original = [](Value *Address) {
          auto *Cast = dyn_cast<AddrSpaceCastOperator>(Address);
          return Cast && Cast->getDestAddressSpace() == 0 ? Cast->getPointerOperand() : nullptr;
        };
        if (isa<PtrToIntInst>(I)) {
          if (Value *From = Original(I.getOperand(0)))
            I.setOperand(0, From);
        } else if (isa<ICmpInst>(I)) {
          Value *A = Original(I.getOperand(0)), *B = Original(I.getOperand(1));
          if (A && B && A->getType() == B->getType()) {
            I.setOperand(0, A);
            I.setOperand(1, B);
          }
        }
      }
}

// Has updates that a device has no instruction for be loops around a compare-and-exchange.
void okl_expand_atomics(LLVMModuleRef M) {
  SmallVector<AtomicRMWInst *, 16> All;
  for (Function &F : *unwrap(M))
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        if (auto *One = dyn_cast<AtomicRMWInst>(&I); One && isLoop(*One))
          All.push_back(One);
  for (AtomicRMWInst *One : All)
    expandAtomicRMWToCmpXchg(One, [](IRBuilderBase &Builder, Value *Address, Value *Loaded, Value *New, Align Alignment,
                                     AtomicOrdering Order, SyncScope::ID Scope, Value *&Success, Value *&NewLoaded,
                                     Instruction *) {
      Type *Was = New->getType();
      Type *Bits = Builder.getIntNTy(Was->getPrimitiveSizeInBits());
      Value *Pair = Builder.CreateAtomicCmpXchg(Address, Builder.CreateBitCast(Loaded, Bits),
                                                Builder.CreateBitCast(New, Bits), Alignment, Order,
                                                AtomicCmpXchgInst::getStrongestFailureOrdering(Order), Scope);
      Success = Builder.CreateExtractValue(Pair, 1);
      NewLoaded = Builder.CreateBitCast(Builder.CreateExtractValue(Pair, 0), Was);
    });
}

// Has additions, subtractions and products of unsigned numbers that tell of an overflow be what these are made of.
void okl_expand_overflow(LLVMModuleRef M) {
  SmallVector<WithOverflowInst *, 16> All;
  for (Function &F : *unwrap(M))
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        if (auto *One = dyn_cast<WithOverflowInst>(&I))
          if (One->getBinaryOp() != Instruction::Mul || !One->isSigned())
            All.push_back(One);
  for (WithOverflowInst *One : All) {
    IRBuilder<> Builder(One);
    Value *A = One->getLHS(), *B = One->getRHS();
    Value *Zero = Constant::getNullValue(A->getType());
    Value *Result = Builder.CreateBinOp(One->getBinaryOp(), A, B), *Overflows;
    if (One->getBinaryOp() == Instruction::Mul) {
      Value *IsZero = Builder.CreateICmpEQ(B, Zero);
      Value *By = Builder.CreateSelect(IsZero, ConstantInt::get(A->getType(), 1), B);
      Value *Differs = Builder.CreateICmpNE(Builder.CreateUDiv(Result, By), A);
      Overflows = Builder.CreateAnd(Differs, Builder.CreateNot(IsZero));
    } else if (!One->isSigned()) {
      Overflows = One->getBinaryOp() == Instruction::Add ? Builder.CreateICmpULT(Result, A) : Builder.CreateICmpULT(A, B);
    } else {
      // The result has another sign than both terms, or than the first where these differ.
      Value *Other = One->getBinaryOp() == Instruction::Add ? Builder.CreateXor(B, Result) : Builder.CreateXor(A, B);
      Overflows = Builder.CreateICmpSLT(Builder.CreateAnd(Builder.CreateXor(A, Result), Other), Zero);
    }
    // Users that take the pair apart have its parts.
    for (User *By : make_early_inc_range(One->users()))
      if (auto *Part = dyn_cast<ExtractValueInst>(By)) {
        Part->replaceAllUsesWith(Part->getIndices()[0] == 0 ? Result : Overflows);
        Part->eraseFromParent();
      }
    if (!One->use_empty()) {
      Value *Pair = Builder.CreateInsertValue(PoisonValue::get(One->getType()), Result, 0);
      One->replaceAllUsesWith(Builder.CreateInsertValue(Pair, Overflows, 1));
    }
    One->eraseFromParent();
  }
}

// Has memory be filled, and moved where it may overlap, by loops.
void okl_expand_fills(LLVMModuleRef M) {
  SmallVector<MemIntrinsic *, 16> All;
  for (Function &F : *unwrap(M))
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        if (isa<MemSetInst, MemMoveInst>(&I))
          All.push_back(cast<MemIntrinsic>(&I));
  TargetTransformInfo Costs(unwrap(M)->getDataLayout());
  for (MemIntrinsic *One : All) {
    if (auto *Fill = dyn_cast<MemSetInst>(One))
      expandMemSetAsLoop(Fill);
    else if (!expandMemMoveAsLoop(cast<MemMoveInst>(One), Costs))
      continue;
    One->eraseFromParent();
  }
}

// Has atomics be seen by the work items of one device, and says that the memory is the device's own.
void okl_scope_atomics(LLVMModuleRef M, OklText Scope, OklText Notes) {
  LLVMContext &Context = unwrap(M)->getContext();
  SyncScope::ID Number = Context.getOrInsertSyncScopeID(text(Scope));
  SmallVector<StringRef, 2> Names;
  text(Notes).split(Names, ' ', -1, false);
  for (Function &F : *unwrap(M))
    for (BasicBlock &Block : F)
      for (Instruction &I : Block) {
        if (!I.isAtomic() || isa<FenceInst>(I))
          continue;
        setAtomicSyncScopeID(&I, Number);
        if (isa<AtomicRMWInst>(I))
          for (StringRef Name : Names)
            I.setMetadata(Name, MDNode::get(Context, {}));
      }
}

// A fence among the work items of a scope.
void okl_fence(LLVMBuilderRef At, OklText Scope, bool Acquires) {
  IRBuilderBase &Builder = *unwrap(At);
  Builder.CreateFence(Acquires ? AtomicOrdering::Acquire : AtomicOrdering::Release,
                      Builder.getContext().getOrInsertSyncScopeID(text(Scope)));
}

// Notes a number as a flag of the module.
void okl_flag(LLVMModuleRef M, OklText Name, unsigned Number) {
  unwrap(M)->addModuleFlag(Module::Error, text(Name), Number);
}

// Writes a version down as metadata of the module.
void okl_say_version(LLVMModuleRef M, OklText Name, unsigned Major, unsigned Minor) {
  Module &Of = *unwrap(M);
  auto Number = [&](unsigned One) {
    return ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(Of.getContext()), One));
  };
  Of.getOrInsertNamedMetadata(text(Name))
      ->addOperand(MDNode::get(Of.getContext(), {Number(Major), Number(Minor)}));
}

// Compiles a module, to assembly or to an object. False where the back end fails: that ends the attempt, and not the process.
bool okl_compile(LLVMTargetMachineRef Machine, LLVMModuleRef M, bool IsText, OklTextSink Write, void *To) {
  SmallString<0> Code;
  bool IsDone = false;
  attempt([&] {
    raw_svector_ostream Out(Code);
    // What fails leaves it as it is.
    auto *Passes = new legacy::PassManager;
    CodeGenFileType Kind = IsText ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile;
    if (machine(Machine)->addPassesToEmitFile(*Passes, Out, nullptr, Kind))
      return;
    Passes->run(*unwrap(M));
    delete Passes;
    IsDone = true;
  });
  if (IsDone)
    Write(To, text(StringRef(Code)));
  return IsDone;
}
}
