#include "sections.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <memory>

using namespace llvm;

// A condition under which something runs: a branch on a value, or on a comparison.
struct Guard {
  Value *Condition;
  const SCEV *Left, *Right;
  CmpInst::Predicate Predicate;
  bool Wanted;
  bool operator==(const Guard &Other) const {
    return Condition == Other.Condition && Left == Other.Left && Right == Other.Right &&
           Predicate == Other.Predicate && Wanted == Other.Wanted;
  }
};

// The value of an expression; zero unless every guard holds.
struct OklTerm {
  const SCEV *Value;
  SmallVector<Guard, 1> Guards;
};

namespace {

struct Dimension {
  const SCEV *Stride, *Count;
  const Loop *Over; // null: the bytes of one access
};

// Larger expressions are not worth their time.
constexpr unsigned MostOperations = 400;

std::string sourceName(Value *V, unsigned Depth = 0) {
  for (DbgVariableRecord *Record : findDVRValues(V))
    if (Record->getExpression()->getNumElements() == 0)
      return Record->getVariable()->getName().str();
  if (Depth > 3)
    return "";
  if (auto *Global = dyn_cast<GlobalVariable>(V))
    return Global->getName().str();
  if (auto *Load = dyn_cast<LoadInst>(V))
    return sourceName(Load->getPointerOperand(), Depth + 1);
  if (auto *Cast = dyn_cast<CastInst>(V))
    return sourceName(Cast->getOperand(0), Depth + 1);
  if (auto *Argument = dyn_cast<llvm::Argument>(V)) {
    for (DbgVariableRecord *Record : findDVRDeclares(V))
      return Record->getVariable()->getName().str();
    // A captured variable: its address is the value of the debug record, dereferenced.
    for (DbgVariableRecord *Record : findDVRValues(V))
      if (Record->getExpression()->startsWithDeref())
        return Record->getVariable()->getName().str();
    return Argument->getName().str();
  }
  return "";
}

} // namespace

struct OklNests {
  Function &F;
  const DataLayout &DL;
  DominatorTree DT;
  LoopInfo LI;
  AssumptionCache AC;
  TargetLibraryInfoImpl LibraryImpl;
  TargetLibraryInfo Library;
  std::unique_ptr<ScalarEvolution> SE;
  std::unique_ptr<SCEVExpander> Expander;
  SmallVector<Loop *, 16> Loops;
  std::vector<std::unique_ptr<OklTerm>> Terms;
  Type *I64;

  explicit OklNests(Function &Of)
      : F(Of), DL(Of.getDataLayout()), DT(Of), LI(DT), AC(Of),
        LibraryImpl(Of.getParent()->getTargetTriple()), Library(LibraryImpl, &Of),
        I64(Type::getInt64Ty(Of.getContext())) {
    for (Loop *L : LI)
      if (!L->isLoopSimplifyForm())
        simplifyLoop(L, &DT, &LI, nullptr, &AC, nullptr, false);
    SE = std::make_unique<ScalarEvolution>(F, Library, AC, DT, LI);
    Expander = std::make_unique<SCEVExpander>(*SE, "okl");
    for (Loop *L : LI.getLoopsInPreorder())
      Loops.push_back(L);
  }

  const OklTerm *term(const SCEV *S, ArrayRef<Guard> Guards = {}) {
    for (auto &Known : Terms)
      if (Known->Value == S && ArrayRef<Guard>(Known->Guards) == Guards)
        return Known.get();
    Terms.push_back(std::make_unique<OklTerm>(
        OklTerm{S, SmallVector<Guard, 1>(Guards.begin(), Guards.end())}));
    return Terms.back().get();
  }

  // Backedges taken, as an i64; null where unknown.
  const SCEV *backedges(const Loop *L) {
    const SCEV *Count = SE->getBackedgeTakenCount(L);
    if (isa<SCEVCouldNotCompute>(Count) || SE->getTypeSizeInBits(Count->getType()) > 64)
      return nullptr;
    return SE->getNoopOrZeroExtend(Count, I64);
  }

  const SCEV *plus(const SCEV *S, int64_t N) {
    return SE->getAddExpr(S, SE->getConstant(I64, N, true));
  }

  bool usable(const SCEV *S, const Loop *Nest) {
    return S->getExpressionSize() <= MostOperations && SE->isLoopInvariant(S, Nest) &&
           Expander->isSafeToExpandAt(S, Nest->getLoopPreheader()->getTerminator());
  }

  bool guard(Value *Condition, bool Wanted, const Loop *Nest, SmallVectorImpl<Guard> &Guards) {
    while (match(Condition, Wanted)) {
    }
    Guard G{nullptr, nullptr, nullptr, CmpInst::BAD_ICMP_PREDICATE, Wanted};
    auto *Compare = dyn_cast<ICmpInst>(Condition);
    if (Compare && SE->isSCEVable(Compare->getOperand(0)->getType())) {
      G.Left = SE->getSCEV(Compare->getOperand(0));
      G.Right = SE->getSCEV(Compare->getOperand(1));
      G.Predicate = Compare->getPredicate();
      if (!usable(G.Left, Nest) || !usable(G.Right, Nest))
        return false;
    } else if (Nest->isLoopInvariant(Condition)) {
      G.Condition = Condition;
    } else {
      return false;
    }
    if (!is_contained(Guards, G))
      Guards.push_back(G);
    return true;
  }

  // Peels one negation off a condition.
  static bool match(Value *&Condition, bool &Wanted) {
    auto *Operation = dyn_cast<BinaryOperator>(Condition);
    if (!Operation || Operation->getOpcode() != Instruction::Xor)
      return false;
    auto *One = dyn_cast<ConstantInt>(Operation->getOperand(1));
    if (!One || !One->isOne() || !Operation->getType()->isIntegerTy(1))
      return false;
    Condition = Operation->getOperand(0);
    Wanted = !Wanted;
    return true;
  }

  // The block that decides whether Block runs in an iteration of L: from where the path to Block
  // depends only on guards. Stops at a block that runs in each iteration, or where it cannot go on.
  BasicBlock *climb(BasicBlock *Block, const Loop *L, const Loop *Nest,
                    SmallVectorImpl<Guard> &Guards) {
    BasicBlock *Latch = L->getLoopLatch();
    while (Latch && !DT.dominates(Block, Latch)) {
      BasicBlock *Before = Block->getSinglePredecessor();
      if (!Before || LI.getLoopFor(Before) != L)
        break;
      auto *Branch = dyn_cast<BranchInst>(Before->getTerminator());
      if (!Branch)
        break;
      if (Branch->isConditional() && Branch->getSuccessor(0) != Branch->getSuccessor(1) &&
          !guard(Branch->getCondition(), Branch->getSuccessor(0) == Block, Nest, Guards))
        break;
      Block = Before;
    }
    return Block;
  }

  // An expression that is at least (or, where Most is false, at most) S in every iteration of the
  // loops inside Nest; null where none is found. S is compared as a signed number.
  const SCEV *bound(const SCEV *S, const Loop *Nest, bool Most, unsigned Depth = 0) {
    if (SE->isLoopInvariant(S, Nest))
      return S;
    if (Depth > 12)
      return nullptr;
    auto Deeper = [&](const SCEV *Part, bool M) { return bound(Part, Nest, M, Depth + 1); };
    if (auto *Recurrence = dyn_cast<SCEVAddRecExpr>(S)) {
      auto *Step = Recurrence->isAffine()
                       ? dyn_cast<SCEVConstant>(Recurrence->getStepRecurrence(*SE))
                       : nullptr;
      const SCEV *Start = Deeper(Recurrence->getStart(), Most);
      if (!Step || !Start || Recurrence->getType() != I64)
        return nullptr;
      if (Step->getAPInt().isNegative() == Most)
        return Start;
      const SCEV *Times = backedges(Recurrence->getLoop());
      Times = Times ? Deeper(Times, true) : nullptr;
      return Times ? SE->getAddExpr(Start, SE->getMulExpr(Step, Times)) : nullptr;
    }
    if (auto *Sum = dyn_cast<SCEVAddExpr>(S)) {
      SmallVector<const SCEV *, 4> Parts;
      for (const SCEV *Part : Sum->operands())
        Parts.push_back(Deeper(Part, Most));
      return is_contained(Parts, nullptr) ? nullptr : SE->getAddExpr(Parts);
    }
    if (auto *Product = dyn_cast<SCEVMulExpr>(S)) {
      auto *Factor = dyn_cast<SCEVConstant>(Product->getOperand(0));
      if (!Factor || Product->getNumOperands() != 2)
        return nullptr;
      const SCEV *Rest = Deeper(Product->getOperand(1), Most != Factor->getAPInt().isNegative());
      return Rest ? SE->getMulExpr(Factor, Rest) : nullptr;
    }
    bool IsMin = isa<SCEVSMinExpr>(S), IsMax = isa<SCEVSMaxExpr>(S);
    if (IsMin || IsMax) {
      SmallVector<const SCEV *, 4> Parts;
      for (const SCEV *Part : cast<SCEVNAryExpr>(S)->operands())
        Parts.push_back(Deeper(Part, Most));
      // One bound of a minimum from above will do, from below all are needed.
      if (IsMin == Most)
        erase(Parts, nullptr);
      if (Parts.empty() || is_contained(Parts, nullptr))
        return nullptr;
      return IsMin ? SE->getSMinExpr(Parts) : SE->getSMaxExpr(Parts);
    }
    return nullptr;
  }

  OklSectionKind section(Value *Pointer, Value *Length, BasicBlock *Block, Loop *Nest,
                         OklSection &Out);
  bool affine(const SCEV *S, Value *Length, BasicBlock *Block, Loop *Nest, OklSection &Out);
};

bool OklNests::affine(const SCEV *S, Value *Length, BasicBlock *Block, Loop *Nest,
                      OklSection &Out) {
  SmallVector<Dimension, 4> Dimensions; // inner ones first
  SmallVector<Guard, 2> Guards;
  bool Exact = true;
  if (Length)
    Dimensions.push_back({SE->getOne(I64), SE->getNoopOrZeroExtend(SE->getSCEV(Length), I64),
                          nullptr});
  for (Loop *L = LI.getLoopFor(Block);; L = L->getParentLoop()) {
    if (!L->getLoopPreheader() || !L->getLoopLatch())
      return false;
    Block = climb(Block, L, Nest, Guards);
    SmallVector<BasicBlock *, 4> Exits;
    L->getExitingBlocks(Exits);
    bool EveryTurn = DT.dominates(Block, L->getLoopLatch());
    bool BeforeExits = all_of(Exits, [&](BasicBlock *E) { return DT.dominates(Block, E); });
    // Behind the only exit: once less.
    bool Behind = Exits.size() == 1 && Exits[0] != Block && Exits[0] != L->getLoopLatch() &&
                  DT.dominates(Exits[0], Block);
    const SCEV *Times = backedges(L);
    if (Times && !Behind)
      Times = plus(Times, 1);
    if (SE->isLoopInvariant(S, L)) {
      Exact &= BeforeExits;
    } else {
      auto *Recurrence = dyn_cast<SCEVAddRecExpr>(S);
      if (!Times || !Recurrence || Recurrence->getLoop() != L || !Recurrence->isAffine())
        return false;
      // Behind the exit there may be no turn at all, which a merged section would not show.
      Exact &= EveryTurn && (BeforeExits || (Behind && SE->isKnownPositive(Times)));
      Dimensions.push_back({Recurrence->getStepRecurrence(*SE), Times, L});
      S = Recurrence->getStart();
    }
    if (L == Nest)
      break;
    Block = L->getLoopPreheader();
  }
  if (Dimensions.size() + 1 > std::size(Out.Dimensions))
    return false;

  // Counts that depend on an outer loop of the nest become those of a box around all rows.
  for (size_t I = 0; I < Dimensions.size(); ++I) {
    Dimension &D = Dimensions[I];
    for (unsigned Round = 0; !SE->isLoopInvariant(D.Count, Nest); ++Round) {
      Exact = false;
      auto *Recurrence = dyn_cast<SCEVAddRecExpr>(D.Count);
      auto *Step = Recurrence && Recurrence->isAffine()
                       ? dyn_cast<SCEVConstant>(Recurrence->getStepRecurrence(*SE))
                       : nullptr;
      auto *Row = Step ? find_if(Dimensions, [&](Dimension &Other) {
        return Other.Over == Recurrence->getLoop();
      }) : Dimensions.end();
      if (Round < 4 && Row != Dimensions.end() && Step->getAPInt().isNegative()) {
        // Rows that shrink: counted from their common end, the box stays within their hull.
        Row->Stride = SE->getAddExpr(Row->Stride, SE->getMulExpr(Step, D.Stride));
        D.Count = Recurrence->getStart();
      } else {
        D.Count = bound(D.Count, Nest, true);
        if (!D.Count)
          return false;
      }
    }
  }

  if (!usable(S, Nest))
    return false;
  for (Dimension &D : Dimensions)
    if (!usable(D.Stride, Nest) || !usable(D.Count, Nest))
      return false;
  if (Dimensions.empty() && !Guards.empty())
    Dimensions.push_back({SE->getZero(I64), SE->getOne(I64), nullptr});
  Out.Address = term(S);
  Out.Exact = Exact;
  Out.Count = 0;
  for (Dimension &D : Dimensions) {
    bool Outermost = &D == &Dimensions.back();
    Out.Dimensions[Out.Count++] = {
        term(D.Stride), term(D.Count, Outermost ? ArrayRef<Guard>(Guards) : ArrayRef<Guard>())};
  }
  return true;
}

OklSectionKind OklNests::section(Value *Pointer, Value *Length, BasicBlock *Block, Loop *Nest,
                                 OklSection &Out) {
  if (!Nest->getLoopPreheader() || !SE->isSCEVable(Pointer->getType()) ||
      DL.getPointerSizeInBits(Pointer->getType()->getPointerAddressSpace()) != 64)
    return OklNoSection;
  const SCEV *S = SE->getSCEV(Pointer);
  if (S->getExpressionSize() <= MostOperations && affine(S, Length, Block, Nest, Out))
    return OklAffine;
  const SCEV *Object = SE->getPointerBase(S);
  if (!isa<SCEVUnknown>(Object) || !usable(Object, Nest))
    return OklNoSection;
  Out.Address = term(Object);
  Out.Count = 0;
  Out.Exact = false;
  return OklAnywhere;
}

namespace {

void print(raw_ostream &Out, const SCEV *S);

void printList(raw_ostream &Out, ArrayRef<const SCEV *> Operands, StringRef Between) {
  ListSeparator Separator(Between);
  Out << '(';
  for (const SCEV *Operand : Operands) {
    Out << Separator;
    print(Out, Operand);
  }
  Out << ')';
}

// As in C, with the names of the source.
void print(raw_ostream &Out, const SCEV *S) {
  switch (S->getSCEVType()) {
  case scUnknown: {
    Value *V = cast<SCEVUnknown>(S)->getValue();
    std::string Name = sourceName(V);
    if (Name.empty())
      V->printAsOperand(Out, false);
    else
      Out << Name;
    return;
  }
  case scTruncate:
  case scZeroExtend:
  case scSignExtend:
  case scPtrToInt:
    return print(Out, cast<SCEVCastExpr>(S)->getOperand());
  case scAddExpr:
    return printList(Out, cast<SCEVAddExpr>(S)->operands(), " + ");
  case scMulExpr:
    return printList(Out, cast<SCEVMulExpr>(S)->operands(), " * ");
  case scUDivExpr:
    Out << '(';
    print(Out, cast<SCEVUDivExpr>(S)->getLHS());
    Out << " / ";
    print(Out, cast<SCEVUDivExpr>(S)->getRHS());
    Out << ')';
    return;
  case scUMinExpr:
  case scSMinExpr:
  case scSequentialUMinExpr:
    Out << "min";
    return printList(Out, cast<SCEVNAryExpr>(S)->operands(), ", ");
  case scUMaxExpr:
  case scSMaxExpr:
    Out << "max";
    return printList(Out, cast<SCEVNAryExpr>(S)->operands(), ", ");
  default:
    S->print(Out);
  }
}

} // namespace

extern "C" {

OklNests *okl_nests_open(LLVMValueRef Function) {
  return new OklNests(*unwrap<llvm::Function>(Function));
}

void okl_nests_close(OklNests *N) { delete N; }

void okl_nests_loops(OklNests *N, OklNestSink Sink, void *To) {
  for (Loop *L : N->Loops) {
    SmallVector<LLVMBasicBlockRef, 16> Blocks;
    for (BasicBlock *Block : L->blocks())
      Blocks.push_back(wrap(Block));
    auto *Parent = find(N->Loops, L->getParentLoop());
    Sink(To, wrap(L->getHeader()), wrap(L->getLoopPreheader()),
         Parent == N->Loops.end() ? -1 : Parent - N->Loops.begin(), Blocks.data(), Blocks.size());
  }
}

OklSectionKind okl_nests_section(OklNests *N, LLVMValueRef Pointer, LLVMValueRef Length,
                                 LLVMBasicBlockRef Block, size_t Outer, OklSection *Section) {
  return N->section(unwrap(Pointer), Length ? unwrap(Length) : nullptr, unwrap(Block),
                    N->Loops[Outer], *Section);
}

bool okl_nests_difference(OklNests *N, const OklTerm *A, const OklTerm *B, int64_t *Result) {
  if (A->Guards != B->Guards)
    return false;
  auto Difference = N->SE->computeConstantDifference(A->Value, B->Value);
  if (!Difference || !Difference->isSignedIntN(64))
    return false;
  *Result = Difference->getSExtValue();
  return true;
}

bool okl_nests_constant(OklNests *, const OklTerm *A, int64_t *Result) {
  auto *Constant = dyn_cast<SCEVConstant>(A->Value);
  if (!Constant || !A->Guards.empty())
    return false;
  *Result = Constant->getAPInt().getSExtValue();
  return true;
}

bool okl_nests_steps(OklNests *N, const OklTerm *A, const OklTerm *B, const OklTerm *Step,
                     int64_t *Result) {
  if (!A->Guards.empty() || !B->Guards.empty() || !Step->Guards.empty())
    return false;
  const SCEV *Difference = N->SE->getMinusSCEV(A->Value, B->Value);
  if (isa<SCEVCouldNotCompute>(Difference) || Step->Value->isZero())
    return false;
  for (int64_t Times = -4; Times <= 4; ++Times)
    if (Difference == N->SE->getMulExpr(Step->Value,
                                        N->SE->getConstant(N->I64, Times, true))) {
      *Result = Times;
      return true;
    }
  return false;
}

const OklTerm *okl_nests_plus(OklNests *N, const OklTerm *A, int64_t B) {
  return N->term(N->plus(A->Value, B), A->Guards);
}

LLVMValueRef okl_nests_expand(OklNests *N, const OklTerm *T, LLVMValueRef Before) {
  auto *At = unwrap<Instruction>(Before);
  auto Expand = [&](const SCEV *S) {
    return N->Expander->expandCodeFor(S, S->getType(), At);
  };
  Value *Result = Expand(T->Value);
  IRBuilder<> B(At);
  if (Result->getType()->isPointerTy())
    Result = B.CreatePtrToInt(Result, N->I64);
  for (const Guard &G : T->Guards) {
    Value *Holds = G.Condition;
    if (!Holds) {
      Value *Left = Expand(G.Left), *Right = Expand(G.Right);
      B.SetInsertPoint(At);
      Holds = B.CreateICmp(G.Predicate, Left, Right);
    }
    Value *Zero = ConstantInt::get(N->I64, 0);
    Result = G.Wanted ? B.CreateSelect(Holds, Result, Zero) : B.CreateSelect(Holds, Zero, Result);
  }
  return wrap(Result);
}

void okl_nests_text(OklNests *, const OklTerm *T, OklTextSink Sink, void *To) {
  std::string Text;
  raw_string_ostream Out(Text);
  for (const Guard &G : T->Guards) {
    Out << (G.Wanted ? "[if " : "[unless ");
    if (G.Condition) {
      G.Condition->printAsOperand(Out, false);
    } else {
      print(Out, G.Left);
      Out << ' ' << CmpInst::getPredicateName(G.Predicate) << ' ';
      print(Out, G.Right);
    }
    Out << "] ";
  }
  print(Out, T->Value);
  Sink(To, {Text.data(), Text.size()});
}

void okl_nests_object(OklNests *N, const OklTerm *Address, OklTextSink Sink, void *To) {
  auto *Object = dyn_cast<SCEVUnknown>(N->SE->getPointerBase(Address->Value));
  if (!Object)
    return;
  std::string Name = sourceName(Object->getValue());
  Sink(To, {Name.data(), Name.size()});
}

void okl_value_source_name(LLVMValueRef V, OklTextSink Sink, void *To) {
  std::string Name = sourceName(unwrap(V));
  Sink(To, {Name.data(), Name.size()});
}

LLVMValueRef okl_strip_offset(LLVMValueRef Address, int64_t *Offset) {
  Value *V = unwrap(Address);
  auto *I = dyn_cast<Instruction>(V);
  *Offset = 0;
  if (!I && !isa<ConstantExpr>(V))
    return Address;
  APInt Bytes(64, 0);
  DataLayout DL = I ? I->getDataLayout() : DataLayout();
  if (!I) {
    // A constant expression over a global, which knows the module.
    auto *Global = dyn_cast<GlobalObject>(getUnderlyingObject(V));
    if (!Global)
      return Address;
    DL = Global->getDataLayout();
  }
  V = V->stripAndAccumulateConstantOffsets(DL, Bytes, true);
  *Offset = Bytes.getSExtValue();
  return wrap(V);
}

int okl_memory_reach(LLVMValueRef Call) {
  auto *CB = unwrap<CallBase>(Call);
  if (CB->hasOperandBundles() || !CB->doesNotThrow())
    return 2;
  MemoryEffects Effects = CB->getMemoryEffects();
  // errno belongs to the thread.
  Effects = Effects.getWithoutLoc(IRMemLocation::ErrnoMem);
  if (Effects.doesNotAccessMemory())
    return 0;
  return Effects.onlyAccessesArgPointees() ? 1 : 2;
}

void okl_forget_memory_effects(LLVMValueRef Function) {
  auto *F = unwrap<llvm::Function>(Function);
  F->removeFnAttr(Attribute::Memory);
  F->removeFnAttr(Attribute::NoSync);
  for (User *U : F->users())
    if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledOperand() == F) {
      Call->removeFnAttr(Attribute::Memory);
      Call->removeFnAttr(Attribute::NoSync);
    }
}

LLVMModuleRef okl_simplified_copy(LLVMModuleRef M) {
  std::unique_ptr<Module> Copy = CloneModule(*unwrap(M));
  for (Function &F : *Copy)
    if (F.hasFnAttribute(Attribute::OptimizeNone)) {
      F.removeFnAttr(Attribute::OptimizeNone);
      F.removeFnAttr(Attribute::NoInline);
    }
  okl_run_lower(wrap(Copy.get()), {"mpi", 3}, {"", 0}, false);
  PassBuilder PB;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  PB.buildModuleSimplificationPipeline(OptimizationLevel::O2, ThinOrFullLTOPhase::None)
      .run(*Copy, MAM);
  return wrap(Copy.release());
}
}
