#include "sections.h"

#include "prepare.h"

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

// An i64 that has to be the extension of its low bits: otherwise an index overflowed, and what was
// concluded from it is wrong.
struct Check {
  const SCEV *Value;
  Type *Narrow;
  bool Signed;
  bool operator==(const Check &Other) const {
    return Value == Other.Value && Narrow == Other.Narrow && Signed == Other.Signed;
  }
};

struct Conditions {
  SmallVector<Guard, 1> Guards;
  SmallVector<Check, 1> Checks;
  bool empty() const { return Guards.empty() && Checks.empty(); }
  bool operator==(const Conditions &Other) const {
    return Guards == Other.Guards && Checks == Other.Checks;
  }
};

// The value of an expression; zero unless every guard holds, the largest number if a check fails.
struct OklTerm {
  const SCEV *Value;
  Conditions When;
};

namespace {

struct Dimension {
  const SCEV *Stride, *Count;
  const Loop *Over; // null: the bytes of one access
};

// Where a section is to be known: see OklScope.
struct Scope {
  const Loop *Nest;
  const Instruction *At;
};

// What is accessed in one execution of Block.
struct Access {
  const SCEV *Address;
  BasicBlock *Block;
  SmallVector<Dimension, 4> Dimensions; // inner ones first
  Conditions When;
  bool Exact = true;
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
      if (any_of(L->getLoopsInPreorder(), [](Loop *One) { return !One->isLoopSimplifyForm(); }))
        simplifyLoop(L, &DT, &LI, nullptr, &AC, nullptr, false);
    prepareLoops(F, DT, LI, AC, Library);
    SE = std::make_unique<ScalarEvolution>(F, Library, AC, DT, LI);
    Expander = std::make_unique<SCEVExpander>(*SE, "okl");
    for (Loop *L : LI.getLoopsInPreorder())
      Loops.push_back(L);
  }

  const OklTerm *term(const SCEV *S, const Conditions &When = {}) {
    for (auto &Known : Terms)
      if (Known->Value == S && Known->When == When)
        return Known.get();
    Terms.push_back(std::make_unique<OklTerm>(OklTerm{S, When}));
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

  // Whether it is the same wherever control is in the scope.
  bool invariant(const SCEV *S, Scope In) {
    if (In.Nest)
      return SE->isLoopInvariant(S, In.Nest);
    return In.At || !SCEVExprContains(S, [](const SCEV *Part) {
      auto *Unknown = dyn_cast<SCEVUnknown>(Part);
      return isa<SCEVAddRecExpr>(Part) ||
             (Unknown && !isa<Argument, Constant>(Unknown->getValue()));
    });
  }

  // Whether it can be computed in the scope.
  bool usable(const SCEV *S, Scope In) {
    if (S->getExpressionSize() > MostOperations || !invariant(S, In))
      return false;
    const Instruction *At = In.Nest ? In.Nest->getLoopPreheader()->getTerminator() : In.At;
    return Expander->isSafeToExpandAt(S, At ? At : &F.getEntryBlock().back());
  }

  bool usable(const Guard &G, Scope In) {
    if (G.Condition)
      return In.Nest ? In.Nest->isLoopInvariant(G.Condition)
                     : In.At || isa<Argument>(G.Condition);
    return usable(G.Left, In) && usable(G.Right, In);
  }

  bool guard(Value *Condition, bool Wanted, Scope In, SmallVectorImpl<Guard> &Guards) {
    while (peelNegation(Condition, Wanted)) {
    }
    Guard G{Condition, nullptr, nullptr, CmpInst::BAD_ICMP_PREDICATE, Wanted};
    auto *Compare = dyn_cast<ICmpInst>(Condition);
    if (Compare && SE->isSCEVable(Compare->getOperand(0)->getType()))
      G = {nullptr, SE->getSCEV(Compare->getOperand(0)), SE->getSCEV(Compare->getOperand(1)),
           Compare->getPredicate(), Wanted};
    if (!usable(G, In))
      return false;
    if (!is_contained(Guards, G))
      Guards.push_back(G);
    return true;
  }

  // Peels one negation off a condition.
  static bool peelNegation(Value *&Condition, bool &Wanted) {
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

  // Whether Block runs in each turn of L, or in each call of the function where L is null.
  bool always(const BasicBlock *Block, const Loop *L) {
    if (L)
      return DT.dominates(Block, L->getLoopLatch());
    return all_of(F, [&](const BasicBlock &Other) {
      return !isa<ReturnInst>(Other.getTerminator()) || DT.dominates(Block, &Other);
    });
  }

  // The block that decides whether Block runs in a turn of L: from where the path to Block depends
  // only on guards. Stops at a block that always runs, or where it cannot go on.
  BasicBlock *climb(BasicBlock *Block, const Loop *L, Scope In, SmallVectorImpl<Guard> &Guards) {
    while (!always(Block, L)) {
      BasicBlock *Before = Block->getSinglePredecessor();
      if (!Before || LI.getLoopFor(Before) != L)
        break;
      auto *Branch = dyn_cast<BranchInst>(Before->getTerminator());
      if (!Branch)
        break;
      if (Branch->isConditional() && Branch->getSuccessor(0) != Branch->getSuccessor(1) &&
          !guard(Branch->getCondition(), Branch->getSuccessor(0) == Block, In, Guards))
        break;
      Block = Before;
    }
    return Block;
  }

  // An expression that is at least (or, where Most is false, at most) S in every iteration of the
  // loops inside the scope; null where none is found. S is compared as a signed number.
  const SCEV *bound(const SCEV *S, Scope In, bool Most, unsigned Depth = 0) {
    if (invariant(S, In))
      return S;
    if (Depth > 12)
      return nullptr;
    auto Deeper = [&](const SCEV *Part, bool M) { return bound(Part, In, M, Depth + 1); };
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
      // What is subtracted from a minimum belongs with its operands: rows of a tile are as long
      // as the tile.
      for (const SCEV *Part : Sum->operands())
        if (isa<SCEVSMinExpr>(Part) && Most) {
          const SCEV *Rest = SE->getMinusSCEV(S, Part), *Least = nullptr;
          for (const SCEV *Operand : cast<SCEVSMinExpr>(Part)->operands())
            if (const SCEV *One = Deeper(SE->getAddExpr(Operand, Rest), Most))
              Least = Least ? SE->getSMinExpr(Least, One) : One;
          return Least;
        }
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

  Scope scope(OklScope In) {
    return {In.Loop < 0 ? nullptr : Loops[In.Loop], In.At ? unwrap<Instruction>(In.At) : nullptr};
  }

  OklSectionKind section(Access A, Scope In, OklSection &Out);
  bool affine(Access A, Scope In, OklSection &Out);
  bool leaveLoops(Access &A, Scope In);
  bool boxCounts(Access &A, Scope In);
  const SCEV *withoutOverflow(const SCEV *S, const Loop *L, const SCEV *Backedges, Scope In,
                              SmallVectorImpl<Check> &Checks);
  const SCEV *translate(const SCEV *S, const CallBase &Call);
};

namespace {

// Replaces the extension of a recurrence by the recurrence of the extensions.
class Widening : public SCEVRewriteVisitor<Widening> {
public:
  Widening(ScalarEvolution &SE, const Loop *L, const SCEV *Backedges, Type *I64,
           function_ref<bool(const SCEV *)> Known, SmallVectorImpl<Check> &Checks)
      : SCEVRewriteVisitor(SE), L(L), Backedges(Backedges), I64(I64), Known(Known),
        Checks(Checks) {}

  const SCEV *visitSignExtendExpr(const SCEVSignExtendExpr *E) { return widen(E, true); }
  const SCEV *visitZeroExtendExpr(const SCEVZeroExtendExpr *E) { return widen(E, false); }

private:
  const Loop *L;
  const SCEV *Backedges;
  Type *I64;
  function_ref<bool(const SCEV *)> Known;
  SmallVectorImpl<Check> &Checks;

  const SCEV *widen(const SCEVIntegralCastExpr *E, bool Signed) {
    auto *Recurrence = dyn_cast<SCEVAddRecExpr>(E->getOperand());
    // Narrower ones are remainders, which are meant to wrap around.
    if (!Recurrence || Recurrence->getLoop() != L || !Recurrence->isAffine() ||
        !Recurrence->getType()->isIntegerTy(32) || E->getType() != I64 || !Known(Recurrence->getStart()) ||
        !Known(Recurrence->getStepRecurrence(SE)))
      return E;
    const SCEV *Start = Signed ? SE.getSignExtendExpr(Recurrence->getStart(), I64)
                               : SE.getZeroExtendExpr(Recurrence->getStart(), I64);
    const SCEV *Step = SE.getSignExtendExpr(Recurrence->getStepRecurrence(SE), I64);
    Check C{SE.getAddExpr(Start, SE.getMulExpr(Step, Backedges)), Recurrence->getType(), Signed};
    if (!is_contained(Checks, C))
      Checks.push_back(C);
    return SE.getAddRecExpr(Start, Step, L, SCEV::FlagAnyWrap);
  }
};

} // namespace

// The same address on the condition that indices of 32 bits do not overflow while L runs. Where the
// program computes them without a sign LLVM cannot know.
const SCEV *OklNests::withoutOverflow(const SCEV *S, const Loop *L, const SCEV *Backedges, Scope In,
                                      SmallVectorImpl<Check> &Checks) {
  auto *Recurrence = dyn_cast<SCEVAddRecExpr>(S);
  if (SE->isLoopInvariant(S, L) || (Recurrence && Recurrence->getLoop() == L))
    return S;
  Backedges = bound(Backedges, In, true);
  if (!Backedges)
    return S;
  auto Known = [&](const SCEV *Part) { return invariant(Part, In); };
  return Widening(*SE, L, Backedges, I64, Known, Checks).visit(S);
}

// Adds a dimension for each loop of the scope that the address varies in.
bool OklNests::leaveLoops(Access &A, Scope In) {
  if (In.At)
    return true;
  for (Loop *L = LI.getLoopFor(A.Block); L; L = L->getParentLoop()) {
    if (!L->getLoopPreheader() || !L->getLoopLatch())
      return false;
    A.Block = climb(A.Block, L, In, A.When.Guards);
    SmallVector<BasicBlock *, 4> Exits;
    L->getExitingBlocks(Exits);
    bool BeforeExits = all_of(Exits, [&](BasicBlock *E) { return DT.dominates(A.Block, E); });
    // Behind the only exit: once less.
    bool Behind = Exits.size() == 1 && Exits[0] != A.Block && Exits[0] != L->getLoopLatch() &&
                  DT.dominates(Exits[0], A.Block);
    const SCEV *Times = backedges(L);
    if (Times)
      A.Address = withoutOverflow(A.Address, L, Times, In, A.When.Checks);
    if (Times && !Behind)
      Times = plus(Times, 1);
    if (SE->isLoopInvariant(A.Address, L)) {
      A.Exact &= BeforeExits;
    } else {
      auto *Recurrence = dyn_cast<SCEVAddRecExpr>(A.Address);
      if (!Times || !Recurrence || Recurrence->getLoop() != L || !Recurrence->isAffine())
        return false;
      // Behind the exit there may be no turn at all, which a merged section would not show.
      A.Exact &= always(A.Block, L) && (BeforeExits || (Behind && SE->isKnownPositive(Times)));
      A.Dimensions.push_back({Recurrence->getStepRecurrence(*SE), Times, L});
      A.Address = Recurrence->getStart();
    }
    A.Block = L->getLoopPreheader();
    if (L == In.Nest)
      return true;
  }
  A.Block = climb(A.Block, nullptr, In, A.When.Guards);
  A.Exact &= always(A.Block, nullptr);
  return true;
}

// Counts that depend on a loop of the scope become those of a box around all rows.
bool OklNests::boxCounts(Access &A, Scope In) {
  for (Dimension &D : A.Dimensions) {
    for (unsigned Round = 0; !invariant(D.Count, In); ++Round) {
      A.Exact = false;
      auto *Recurrence = dyn_cast<SCEVAddRecExpr>(D.Count);
      auto *Step = Recurrence && Recurrence->isAffine()
                       ? dyn_cast<SCEVConstant>(Recurrence->getStepRecurrence(*SE))
                       : nullptr;
      auto *Row = A.Dimensions.end();
      if (Step && Round < 4 && Step->getAPInt().isNegative())
        Row = find_if(A.Dimensions, [&](Dimension &Other) {
          return Other.Over == Recurrence->getLoop();
        });
      if (Row != A.Dimensions.end()) {
        // Rows that shrink: counted from their common end, the box stays within their hull.
        Row->Stride = SE->getAddExpr(Row->Stride, SE->getMulExpr(Step, D.Stride));
        D.Count = Recurrence->getStart();
      } else {
        D.Count = bound(D.Count, In, true);
        if (!D.Count)
          return false;
      }
    }
  }
  return true;
}

bool OklNests::affine(Access A, Scope In, OklSection &Out) {
  if (!leaveLoops(A, In) || A.Dimensions.size() + 1 > std::size(Out.Dimensions) ||
      !boxCounts(A, In) || !usable(A.Address, In))
    return false;
  for (Dimension &D : A.Dimensions)
    if (!usable(D.Stride, In) || !usable(D.Count, In))
      return false;
  for (Check &C : A.When.Checks)
    if (!usable(C.Value, In))
      return false;
  if (A.Dimensions.empty() && !A.When.empty())
    A.Dimensions.push_back({SE->getZero(I64), SE->getOne(I64), nullptr});
  Out.Address = term(A.Address);
  Out.Exact = A.Exact;
  Out.Count = 0;
  for (Dimension &D : A.Dimensions) {
    bool Outermost = &D == &A.Dimensions.back();
    Out.Dimensions[Out.Count++] = {term(D.Stride),
                                   term(D.Count, Outermost ? A.When : Conditions())};
  }
  return true;
}

OklSectionKind OklNests::section(Access A, Scope In, OklSection &Out) {
  if (In.Nest && !In.Nest->getLoopPreheader())
    return OklNoSection;
  if (A.Address->getExpressionSize() <= MostOperations && affine(A, In, Out))
    return OklAffine;
  const SCEV *Object = SE->getPointerBase(A.Address);
  if (!isa<SCEVUnknown>(Object) || !usable(Object, In))
    return OklNoSection;
  Out.Address = term(Object);
  Out.Count = 0;
  Out.Exact = false;
  return OklAnywhere;
}

// An expression in the parameters of the callee and in globals, at a call in this function.
const SCEV *OklNests::translate(const SCEV *S, const CallBase &Call) {
  auto Operands = [&](const SCEV *Of) {
    SmallVector<const SCEV *, 4> List;
    for (const SCEV *Operand : Of->operands())
      List.push_back(translate(Operand, Call));
    return List;
  };
  switch (S->getSCEVType()) {
  case scConstant:
    return SE->getConstant(cast<SCEVConstant>(S)->getValue());
  case scVScale:
    return SE->getVScale(S->getType());
  case scUnknown: {
    Value *V = cast<SCEVUnknown>(S)->getValue();
    if (auto *Parameter = dyn_cast<Argument>(V))
      V = Call.getArgOperand(Parameter->getArgNo());
    return SE->getSCEV(V);
  }
  case scTruncate:
    return SE->getTruncateExpr(Operands(S)[0], S->getType());
  case scZeroExtend:
    return SE->getZeroExtendExpr(Operands(S)[0], S->getType());
  case scSignExtend:
    return SE->getSignExtendExpr(Operands(S)[0], S->getType());
  case scPtrToInt:
    return SE->getPtrToIntExpr(Operands(S)[0], S->getType());
  case scAddExpr: {
    auto List = Operands(S);
    return SE->getAddExpr(List);
  }
  case scMulExpr: {
    auto List = Operands(S);
    return SE->getMulExpr(List);
  }
  case scUDivExpr: {
    auto List = Operands(S);
    return SE->getUDivExpr(List[0], List[1]);
  }
  case scUMaxExpr:
  case scSMaxExpr:
  case scUMinExpr:
  case scSMinExpr: {
    auto List = Operands(S);
    return SE->getMinMaxExpr(S->getSCEVType(), List);
  }
  case scSequentialUMinExpr: {
    auto List = Operands(S);
    return SE->getUMinExpr(List, true);
  }
  default:
    return SE->getCouldNotCompute();
  }
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
                                 LLVMBasicBlockRef Block, OklScope In, OklSection *Section) {
  Value *P = unwrap(Pointer);
  if (!N->SE->isSCEVable(P->getType()) ||
      N->DL.getPointerSizeInBits(P->getType()->getPointerAddressSpace()) != 64)
    return OklNoSection;
  Access A{N->SE->getSCEV(P), unwrap(Block), {}, {}, true};
  if (Length)
    A.Dimensions.push_back({N->SE->getOne(N->I64),
                            N->SE->getNoopOrZeroExtend(N->SE->getSCEV(unwrap(Length)), N->I64),
                            nullptr});
  return N->section(A, N->scope(In), *Section);
}

OklSectionKind okl_nests_call_section(OklNests *N, const OklSection *Callee, bool Anywhere,
                                      LLVMValueRef Call, OklScope In, OklSection *Section) {
  auto &CB = *unwrap<CallBase>(Call);
  Scope S = N->scope(In);
  Access A{N->translate(Callee->Address->Value, CB), CB.getParent(), {}, {}, Callee->Exact};
  if (isa<SCEVCouldNotCompute>(A.Address))
    return OklNoSection;
  for (const OklDimension &D : ArrayRef<OklDimension>(Callee->Dimensions, Callee->Count)) {
    const SCEV *Stride = N->translate(D.Stride->Value, CB);
    const SCEV *Count = N->translate(D.Count->Value, CB);
    if (isa<SCEVCouldNotCompute>(Stride) || isa<SCEVCouldNotCompute>(Count))
      return OklNoSection;
    A.Dimensions.push_back({Stride, Count, nullptr});
    for (Guard G : D.Count->When.Guards) {
      if (G.Left) {
        G.Left = N->translate(G.Left, CB);
        G.Right = N->translate(G.Right, CB);
      } else if (auto *Parameter = dyn_cast<Argument>(G.Condition)) {
        G.Condition = CB.getArgOperand(Parameter->getArgNo());
      }
      bool Known = !G.Left || (!isa<SCEVCouldNotCompute>(G.Left) &&
                               !isa<SCEVCouldNotCompute>(G.Right));
      if (Known && N->usable(G, S))
        A.When.Guards.push_back(G);
      else
        A.Exact = false;
    }
    for (Check C : D.Count->When.Checks) {
      C.Value = N->translate(C.Value, CB);
      if (isa<SCEVCouldNotCompute>(C.Value))
        return OklNoSection;
      A.When.Checks.push_back(C);
    }
  }
  if (!Anywhere)
    return N->section(A, S, *Section);
  const SCEV *Object = N->SE->getPointerBase(A.Address);
  if (!isa<SCEVUnknown>(Object) || !N->usable(Object, S))
    return OklNoSection;
  *Section = {N->term(Object), {}, 0, false};
  return OklAnywhere;
}

LLVMValueRef okl_nests_anchor(OklNests *N, const OklTerm *Address, int64_t *Offset) {
  const SCEV *Base = N->SE->getPointerBase(Address->Value);
  auto *Object = dyn_cast<SCEVUnknown>(Base);
  auto *Distance = dyn_cast<SCEVConstant>(N->SE->removePointerBase(Address->Value));
  if (!Object || !Distance)
    return nullptr;
  *Offset = Distance->getAPInt().getSExtValue();
  return wrap(Object->getValue());
}

LLVMValueRef okl_nests_base(OklNests *N, const OklTerm *Address) {
  auto *Object = dyn_cast<SCEVUnknown>(N->SE->getPointerBase(Address->Value));
  return Object ? wrap(Object->getValue()) : nullptr;
}

bool okl_nests_difference(OklNests *N, const OklTerm *A, const OklTerm *B, int64_t *Result) {
  if (!(A->When == B->When))
    return false;
  auto Difference = N->SE->computeConstantDifference(A->Value, B->Value);
  if (!Difference || !Difference->isSignedIntN(64))
    return false;
  *Result = Difference->getSExtValue();
  return true;
}

bool okl_nests_constant(OklNests *, const OklTerm *A, int64_t *Result) {
  auto *Constant = dyn_cast<SCEVConstant>(A->Value);
  if (!Constant || !A->When.empty())
    return false;
  *Result = Constant->getAPInt().getSExtValue();
  return true;
}

bool okl_nests_steps(OklNests *N, const OklTerm *A, const OklTerm *B, const OklTerm *Step,
                     int64_t *Result) {
  if (!A->When.empty() || !B->When.empty() || !Step->When.empty())
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
  return N->term(N->plus(A->Value, B), A->When);
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
  for (const Check &C : T->When.Checks) {
    Value *Whole = Expand(C.Value);
    B.SetInsertPoint(At);
    Value *Part = B.CreateTrunc(Whole, C.Narrow);
    Value *Fits = B.CreateICmpEQ(Whole, C.Signed ? B.CreateSExt(Part, N->I64)
                                                 : B.CreateZExt(Part, N->I64));
    Result = B.CreateSelect(Fits, Result, ConstantInt::get(N->I64, INT64_MAX));
  }
  for (const Guard &G : T->When.Guards) {
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
  for (const Guard &G : T->When.Guards) {
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

uint64_t okl_object_size(LLVMValueRef Object) {
  if (auto *Global = dyn_cast<GlobalVariable>(unwrap(Object)))
    return Global->getDataLayout().getTypeAllocSize(Global->getValueType());
  auto *Parameter = dyn_cast<Argument>(unwrap(Object));
  return Parameter ? Parameter->getDereferenceableBytes() : 0;
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
