// Here because these are C++ only: LLVM's pipeline without one of its passes and with some of ours between them, which leave
// code as NVIDIA's assembler makes most of it: that has registers of 32 bits, multiplies and adds in one instruction, runs
// short branches as predicates, and writes out loops whose end is an order.
//
// Guarantee: a module computes the same.
#include "attempt.h"
#include "shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm-c/TargetMachine.h"

#include <map>

using namespace llvm;

namespace {

// Whether a block begins where two paths meet and asks whether a number has some value. LLVM would have the path on which it
// is known leave it out, and the branches would be no predicates any more.
bool isQuestionBehindAnother(BasicBlock &Block, const DominatorTree &Dominators) {
  auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  if (!Branch || !Branch->isConditional() || !Block.hasNPredecessorsOrMore(2))
    return false;
  auto *Asks = dyn_cast<ICmpInst>(Branch->getCondition());
  if (!Asks || !Asks->isEquality() || Asks->getParent() != &Block || !isa<ConstantInt>(Asks->getOperand(1)))
    return false;
  return none_of(predecessors(&Block), [&](BasicBlock *Before) { return Dominators.dominates(&Block, Before); });
}

void forgetQuestions(Module &M) {
  SmallVector<Instruction *, 16> Calls;
  for (Function &F : M)
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        if (auto *Call = dyn_cast<IntrinsicInst>(&I); Call && Call->getIntrinsicID() == Intrinsic::sideeffect)
          Calls.push_back(Call);
  for (Instruction *Call : Calls)
    Call->eraseFromParent();
}

// Has loops that count up by one until a number is reached go on while it is less.
struct OrderedEnds : PassInfoMixin<OrderedEnds> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &Analyses) {
    auto &Evolution = Analyses.getResult<ScalarEvolutionAnalysis>(F);
    bool Changes = false;
    for (Loop *L : Analyses.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      Changes |= order(*L, Evolution);
    if (!Changes)
      return PreservedAnalyses::all();
    PreservedAnalyses Kept;
    Kept.preserveSet<CFGAnalyses>();
    return Kept;
  }

  static bool order(Loop &L, ScalarEvolution &Evolution) {
    BasicBlock *Latch = L.getLoopLatch();
    auto *Branch = Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
    if (!Branch || !Branch->isConditional() || !L.isLoopExiting(Latch))
      return false;
    auto *Ends = dyn_cast<ICmpInst>(Branch->getCondition());
    if (!Ends || !Ends->isEquality() || !Ends->hasOneUse())
      return false;
    unsigned Counts = L.isLoopInvariant(Ends->getOperand(0)) ? 1 : 0;
    Value *End = Ends->getOperand(1 - Counts);
    if (!L.isLoopInvariant(End) || !Evolution.isSCEVable(End->getType()) || !End->getType()->isIntegerTy())
      return false;
    auto *Number = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(Ends->getOperand(Counts)));
    if (!Number || Number->getLoop() != &L || !Number->isAffine() || !Number->getStepRecurrence(Evolution)->isOne())
      return false;
    // The number is one further when it is looked at: first it was at most the end.
    const SCEV *First = Evolution.getMinusSCEV(Number->getStart(), Evolution.getOne(Number->getType()));
    bool Continues = Branch->getSuccessor(0) == L.getHeader();
    if (Continues != (Ends->getPredicate() == ICmpInst::ICMP_NE) ||
        !Evolution.isLoopEntryGuardedByCond(&L, ICmpInst::ICMP_SLT, First, Evolution.getSCEV(End)))
      return false;
    auto Order = Counts == 0 ? ICmpInst::ICMP_SLT : ICmpInst::ICMP_SGT;
    Ends->setPredicate(Continues ? Order : ICmpInst::getInversePredicate(Order));
    Evolution.forgetLoop(&L);
    return true;
  }
};

// A sum of products, each with a factor.
using Product = SmallVector<std::pair<Value *, bool>, 2>;

struct Sum {
  std::map<Product, int64_t> Terms;
  bool Fails = false;

  void add(const Product &Of, int64_t Factor) {
    auto At = Terms.try_emplace(Of, 0).first;
    At->second = int64_t(uint64_t(At->second) + uint64_t(Factor));
    if (At->second == 0)
      Terms.erase(At);
    Fails |= Terms.size() > 12;
  }

  void add(const Sum &Other, int64_t Factor) {
    Fails |= Other.Fails;
    for (auto &[Of, Number] : Other.Terms)
      add(Of, int64_t(uint64_t(Number) * uint64_t(Factor)));
  }
};

// Has addresses be computed from another one nearby: by adding a number that is known, or a multiple of one variable.
class NearAddresses {
public:
  NearAddresses(Function &F) : F(F), Layout(F.getDataLayout()), Dominators(F) {}

  void run() {
    LoopInfo Loops(Dominators);
    MapVector<Value *, SmallVector<Address, 8>> Known;
    for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F))
      for (Instruction &I : make_early_inc_range(*Block)) {
        auto *Pointer = dyn_cast_or_null<GetElementPtrInst>(getLoadStorePointerOperand(&I));
        if (!Pointer || Pointer->getParent() != Block || !Seen.insert(Pointer).second)
          continue;
        Address This{Pointer, &I, Loops.getLoopFor(Block), {}, {}};
        Value *Base = nullptr;
        for (bool Multiplies : {false, true})
          Base = place(Pointer, Multiplies ? This.Whole : This.Plain, Multiplies);
        if (!Base || This.Whole.Fails)
          continue;
        auto &Others = Known[Base];
        // The nearest are the last ones.
        unsigned Looked = 0;
        for (auto &Other : reverse(Others))
          if (++Looked > 8 || (Other.In == This.In && replace(This, Other)))
            break;
        Others.push_back(This);
      }
  }

private:
  struct Address {
    GetElementPtrInst *At;
    // The first access there.
    Instruction *By;
    Loop *In;
    // What is added to where the object is, in bytes; products of variables are variables in the first.
    Sum Plain, Whole;
    // Where it would be computed from another one.
    Instruction *Where = nullptr;
  };

  // The sum that a pointer adds to another one, which is returned.
  Value *place(GetElementPtrInst *Pointer, Sum &To, bool Multiplies) {
    Value *Base = Pointer;
    for (unsigned Depth = 0; Depth < 4; ++Depth) {
      auto *Step = dyn_cast<GetElementPtrInst>(Base);
      if (!Step || Step->getType()->isVectorTy())
        break;
      SmallMapVector<Value *, APInt, 4> Variable;
      unsigned Bits = Layout.getIndexTypeSizeInBits(Step->getType());
      APInt Constant(Bits, 0);
      if (Bits != 64 || !cast<GEPOperator>(Step)->collectOffset(Layout, Bits, Variable, Constant))
        return nullptr;
      To.add(Product(), Constant.getSExtValue());
      for (auto &[Index, Scale] : Variable) {
        if (Index->getType()->getIntegerBitWidth() != 64)
          return nullptr;
        addWide(Index, Scale.getSExtValue(), To, Multiplies, 0);
      }
      Base = Step->getPointerOperand();
    }
    return Base;
  }

  // Numbers of 64 bits: all that matters of them is what is left when they are cut to these.
  void addWide(Value *Of, int64_t Factor, Sum &To, bool Multiplies, unsigned Depth) {
    auto *Known = dyn_cast<ConstantInt>(Of);
    if (Known)
      return To.add(Product(), int64_t(uint64_t(Known->getSExtValue()) * uint64_t(Factor)));
    auto *I = dyn_cast<Instruction>(Of);
    if (I && Depth < 8) {
      if (isa<SExtInst, ZExtInst>(I)) {
        Value *Narrow = I->getOperand(0);
        bool IsSigned = isa<SExtInst>(I) || cast<PossiblyNonNegInst>(I)->hasNonNeg();
        if (Narrow->getType()->getIntegerBitWidth() <= 32)
          return addNarrow(Narrow, IsSigned, Factor, To, Multiplies, Depth + 1);
      }
      if (I->getOpcode() == Instruction::Add || isDisjoint(I)) {
        addWide(I->getOperand(0), Factor, To, Multiplies, Depth + 1);
        return addWide(I->getOperand(1), Factor, To, Multiplies, Depth + 1);
      }
      auto *By = I->getNumOperands() == 2 ? dyn_cast<ConstantInt>(I->getOperand(1)) : nullptr;
      if (By && I->getOpcode() == Instruction::Mul)
        return addWide(I->getOperand(0), int64_t(uint64_t(Factor) * uint64_t(By->getSExtValue())), To, Multiplies, Depth + 1);
      if (By && I->getOpcode() == Instruction::Shl && By->getZExtValue() < 63)
        return addWide(I->getOperand(0), int64_t(uint64_t(Factor) << By->getZExtValue()), To, Multiplies, Depth + 1);
    }
    To.add(Product{{Of, true}}, Factor);
  }

  // Numbers of 32 bits and less, as signed or as unsigned ones, where what they are computed of does not overflow as such.
  void addNarrow(Value *Of, bool IsSigned, int64_t Factor, Sum &To, bool Multiplies, unsigned Depth) {
    Sum Found = narrow(Of, IsSigned, Multiplies, Depth);
    To.add(Found, Factor);
  }

  Sum narrow(Value *Of, bool IsSigned, bool Multiplies, unsigned Depth) {
    Sum Found;
    if (auto *Known = dyn_cast<ConstantInt>(Of)) {
      Found.add(Product(), IsSigned ? Known->getSExtValue() : int64_t(Known->getZExtValue()));
      return Found;
    }
    auto *I = dyn_cast<BinaryOperator>(Of);
    if (I && Depth < 8) {
      auto *Whole = dyn_cast<OverflowingBinaryOperator>(I);
      bool IsExact = isDisjoint(I) || (Whole && (IsSigned ? Whole->hasNoSignedWrap() : Whole->hasNoUnsignedWrap()));
      auto Part = [&](unsigned Which) { return narrow(I->getOperand(Which), IsSigned, Multiplies, Depth + 1); };
      auto *By = dyn_cast<ConstantInt>(I->getOperand(1));
      if (IsExact && (I->getOpcode() == Instruction::Add || I->getOpcode() == Instruction::Or)) {
        Found.add(Part(0), 1);
        Found.add(Part(1), 1);
        return Found;
      }
      if (IsExact && I->getOpcode() == Instruction::Sub) {
        Found.add(Part(0), 1);
        Found.add(Part(1), -1);
        return Found;
      }
      if (IsExact && I->getOpcode() == Instruction::Shl && By && By->getZExtValue() < 31) {
        Found.add(Part(0), int64_t(1) << By->getZExtValue());
        return Found;
      }
      if (IsExact && I->getOpcode() == Instruction::Mul && (By || Multiplies)) {
        Sum One = Part(0), Other = Part(1);
        Found.Fails |= One.Fails || Other.Fails;
        for (auto &[A, By] : One.Terms)
          for (auto &[B, Times] : Other.Terms) {
            Product Both = A;
            Both.append(B);
            llvm::sort(Both);
            Found.Fails |= Both.size() > 3;
            Found.add(Both, int64_t(uint64_t(By) * uint64_t(Times)));
          }
        return Found;
      }
    }
    // What is not negative is the same number either way.
    if (!IsSigned && isKnownNonNegative(Of, SimplifyQuery(Layout)))
      IsSigned = true;
    Found.add(Product{{Of, IsSigned}}, 1);
    return Found;
  }

  static bool isDisjoint(Instruction *I) {
    auto *Or = dyn_cast<PossiblyDisjointInst>(I);
    return Or && Or->isDisjoint();
  }

  bool replace(Address &This, const Address &Other) {
    // Where the other one is not accessed before, it may be of numbers that have overflowed.
    This.Where = Dominators.dominates(Other.By, This.At) ? This.At
                 : This.At->hasOneUse() && Dominators.dominates(Other.By, This.By) ? This.By
                                                                                   : nullptr;
    return This.Where && ( replaceBy(This, Other, This.Plain, Other.Plain) || replaceBy(This, Other, This.Whole, Other.Whole));
  }

  bool replaceBy(Address &This, const Address &Other, const Sum &A, const Sum &B) {
    Sum Difference = A;
    Difference.add(B, -1);
    if (Difference.Fails || Difference.Terms.size() > 2)
      return false;
    int64_t Constant = 0, Factor = 0;
    std::pair<Value *, bool> Variable{};
    for (auto &[Of, Number] : Difference.Terms) {
      if (Of.empty())
        Constant = Number;
      else if (Of.size() == 1 && Factor == 0 && isInt<32>(Number) && Of[0].first->getType()->getIntegerBitWidth() == 32) {
        Variable = Of[0];
        Factor = Number;
      } else
        return false;
    }
    if (!isInt<24>(Constant))
      return false;
    // Nothing is won where what it is computed from is needed all the same.
    auto *Was = This.At;
    if (Factor != 0 && (!isAlone(Was) || !isLonger(Was)))
      return false;
    IRBuilder<> Builder(This.Where);
    GetElementPtrInst *At = Other.At;
    auto Add = [&](Value *Bytes) {
      At = GetElementPtrInst::Create(Builder.getInt8Ty(), At, {Bytes}, "", Builder.GetInsertPoint());
      Seen.insert(At);
    };
    if (Factor != 0)
      Add(multiple(Variable, Factor, This.Where));
    if (Constant != 0)
      Add(Builder.getInt64(uint64_t(Constant)));
    Was->replaceAllUsesWith(At);
    This.At = At;
    Gone.push_back(Was);
    return true;
  }

  // Whether an address takes more than one addition to its index; adding a multiple of a variable takes two instructions.
  static bool isLonger(GetElementPtrInst *Pointer) {
    auto IsPart = [](Value *One) { return isa<BinaryOperator>(One) && One->hasOneUse(); };
    for (auto *At = Pointer; At; At = dyn_cast<GetElementPtrInst>(At->getPointerOperand()))
      for (Value *Index : At->indices()) {
        while (auto *Cast = dyn_cast<CastInst>(Index))
          Index = Cast->getOperand(0);
        auto *Sum = dyn_cast<BinaryOperator>(Index);
        if (Sum && (Sum->getOpcode() == Instruction::Add || Sum->getOpcode() == Instruction::Sub) && none_of(Sum->operands(), IsPart))
          return false;
      }
    return true;
  }

  // Whether all that an address is computed of but variables is for it alone.
  static bool isAlone(GetElementPtrInst *Pointer) {
    return all_of(Pointer->indices(), [](Value *Index) {
      return isa<Constant>(Index) || !isa<Instruction>(Index) || Index->hasOneUse();
    });
  }

  // A multiple of a variable; one that is there already, if it is.
  Value *multiple(std::pair<Value *, bool> Of, int64_t Factor, Instruction *Before) {
    auto &There = Multiples[{Of.first, {Of.second, Factor}}];
    for (Instruction *One : There)
      if (Dominators.dominates(One, Before))
        return One;
    IRBuilder<> Builder(Before);
    Type *Wide = Builder.getInt64Ty();
    Value *Extended = Of.second ? Builder.CreateSExt(Of.first, Wide) : Builder.CreateZExt(Of.first, Wide);
    Value *Result = Builder.CreateNSWMul(Extended, Builder.getInt64(uint64_t(Factor)));
    if (auto *I = dyn_cast<Instruction>(Result))
      There.push_back(I);
    return Result;
  }

  Function &F;
  const DataLayout &Layout;
  DominatorTree Dominators;
  DenseSet<GetElementPtrInst *> Seen;
  std::map<std::pair<Value *, std::pair<bool, int64_t>>, SmallVector<Instruction *, 2>> Multiples;

public:
  SmallVector<WeakTrackingVH, 16> Gone;
};

// What one instruction can multiply and add is a sum, and not bits that are put together; and nothing tells the back end which
// bits are none.
void addProducts(Module &M) {
  for (Function &F : M)
    for (BasicBlock &Block : F)
      for (Instruction &I : make_early_inc_range(Block)) {
        if (auto *Call = dyn_cast<IntrinsicInst>(&I); Call && Call->getCalledFunction()->getName().starts_with("llvm.nvvm.read.")) {
          Call->setMetadata(LLVMContext::MD_range, nullptr);
          Call->removeRetAttr(Attribute::Range);
          continue;
        }
        auto *Or = dyn_cast<PossiblyDisjointInst>(&I);
        if (!Or || !Or->isDisjoint() || !Or->getType()->isIntegerTy(32))
          continue;
        auto IsProduct = [](Value *Of) {
          auto *Product = dyn_cast<BinaryOperator>(Of);
          return Product && (Product->getOpcode() == Instruction::Mul || Product->getOpcode() == Instruction::Shl);
        };
        if (!IsProduct(Or->getOperand(0)) && !IsProduct(Or->getOperand(1)))
          continue;
        IRBuilder<> Builder(Or);
        Or->replaceAllUsesWith(Builder.CreateAdd(Or->getOperand(0), Or->getOperand(1)));
        Or->eraseFromParent();
      }
}

void finish(Module &M) {
  forgetQuestions(M);
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    NearAddresses Addresses(F);
    Addresses.run();
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(Addresses.Gone);
  }
  addProducts(M);
}

} // namespace

extern "C" {

// Keeps questions behind others where they are, by calls that do nothing, until the module is optimised.
void okl_keep_questions(LLVMModuleRef M) {
  for (Function &F : *unwrap(M)) {
    if (F.isDeclaration() || !isModSet(F.getMemoryEffects().getModRef(IRMemLocation::InaccessibleMem)))
      continue;
    DominatorTree Dominators(F);
    for (BasicBlock &Block : F)
      if (Dominators.isReachableFromEntry(&Block) && isQuestionBehindAnother(Block, Dominators))
        IRBuilder<>(&Block, Block.getFirstInsertionPt()).CreateIntrinsic(Intrinsic::sideeffect, {});
  }
}

// Runs passes, as suits code that NVIDIA's assembler gets where `ForPtxas` says so; then `default<O3>` is among them. 0 where
// they have run, 1 where LLVM has none of these names, 2 where one fails, in whatever way: nothing is left of the module then.
int okl_optimise(LLVMModuleRef M, LLVMTargetMachineRef Machine, OklText Names, bool ForPtxas) {
  int Result = 2;
  attempt([&] {
    // What fails leaves all of it as it is.
    auto *Callbacks = new PassInstrumentationCallbacks;
    // Sums that it makes anew may overflow, for all that LLVM knows; addresses of 64 bits could not be added to any more.
    if (ForPtxas)
      Callbacks->registerShouldRunOptionalPassCallback([](StringRef Pass, Any) { return Pass != "ReassociatePass"; });
    struct All {
      LoopAnalysisManager LAM;
      FunctionAnalysisManager FAM;
      CGSCCAnalysisManager CGAM;
      ModuleAnalysisManager MAM;
      ModulePassManager Passes;
    };
    PassBuilder Builder(reinterpret_cast<TargetMachine *>(Machine), PipelineTuningOptions(), std::nullopt, Callbacks);
    if (ForPtxas)
      Builder.registerVectorizerStartEPCallback(
          [](FunctionPassManager &Passes, OptimizationLevel) { Passes.addPass(OrderedEnds()); });
    auto *Its = new All;
    Builder.registerModuleAnalyses(Its->MAM);
    Builder.registerCGSCCAnalyses(Its->CGAM);
    Builder.registerFunctionAnalyses(Its->FAM);
    Builder.registerLoopAnalyses(Its->LAM);
    Builder.crossRegisterProxies(Its->LAM, Its->FAM, Its->CGAM, Its->MAM);
    if (Error Wrong = Builder.parsePassPipeline(Its->Passes, text(Names))) {
      consumeError(std::move(Wrong));
      Result = 1;
    } else {
      Its->Passes.run(*unwrap(M), Its->MAM);
      if (ForPtxas)
        finish(*unwrap(M));
      Result = 0;
    }
    delete Its;
    delete Callbacks;
  });
  return Result;
}
}
