#include "nests.h"

#include "prepare.h"

#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

OklNests::OklNests(Function &Of)
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

namespace {

// Replaces the extension of a recurrence by the recurrence of the extensions.
class Widening : public SCEVRewriteVisitor<Widening> {
public:
  Widening(ScalarEvolution &SE, const Loop *L, const SCEV *Backedges, Type *I64,
           function_ref<bool(const SCEV *)> Known, bool IsCount, SmallVectorImpl<Check> &Checks)
      : SCEVRewriteVisitor(SE), L(L), Backedges(Backedges), I64(I64), Known(Known),
        IsCount(IsCount), Checks(Checks) {}

  const SCEV *visitSignExtendExpr(const SCEVSignExtendExpr *E) { return widen(E, true); }
  const SCEV *visitZeroExtendExpr(const SCEVZeroExtendExpr *E) { return widen(E, false); }

  // LLVM writes the extension of an index of 32 bits, times the size of an element, as an exact shift
  // to the right of the index in the upper half.
  const SCEV *visitUnknown(const SCEVUnknown *E) {
    auto *Shift = dyn_cast<BinaryOperator>(E->getValue());
    auto *By = Shift ? dyn_cast<ConstantInt>(Shift->getOperand(1)) : nullptr;
    if (!By || Shift->getOpcode() != Instruction::AShr || !Shift->isExact() || E->getType() != I64 ||
        By->getValue().ugt(Half))
      return E;
    auto *Recurrence = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Shift->getOperand(0)));
    if (!Recurrence || Recurrence->getLoop() != L || !Recurrence->isAffine())
      return E;
    const SCEV *Start = upperHalf(Recurrence->getStart());
    const SCEV *Step = upperHalf(Recurrence->getStepRecurrence(SE));
    if (!Start || !Step || !Known(Start) || !Known(Step))
      return E;
    check(Start, true);
    check(SE.getAddExpr(Start, SE.getMulExpr(Step, Backedges)), true);
    const SCEV *Size = SE.getConstant(I64, uint64_t(1) << (Half - By->getZExtValue()));
    return SE.getAddRecExpr(SE.getMulExpr(Start, Size), SE.getMulExpr(Step, Size), L,
                            SCEV::FlagAnyWrap);
  }

private:
  static constexpr unsigned Half = 32;

  const Loop *L;
  const SCEV *Backedges;
  Type *I64;
  function_ref<bool(const SCEV *)> Known;
  bool IsCount;
  SmallVectorImpl<Check> &Checks;

  const SCEV *widen(const SCEVIntegralCastExpr *E, bool Signed) {
    auto *Recurrence = dyn_cast<SCEVAddRecExpr>(E->getOperand());
    // Narrower ones are remainders, which are meant to wrap around.
    if (!Recurrence || Recurrence->getLoop() != L || !Recurrence->isAffine() ||
        !Recurrence->getType()->isIntegerTy(32) || E->getType() != I64 || !Known(Recurrence->getStart()) ||
        !Known(Recurrence->getStepRecurrence(SE)))
      return E;
    // Of an empty row the number of backedges is -1.
    bool MayBeEmpty = IsCount && !Signed;
    Signed |= MayBeEmpty;
    const SCEV *Start = Signed ? SE.getSignExtendExpr(Recurrence->getStart(), I64)
                               : SE.getZeroExtendExpr(Recurrence->getStart(), I64);
    const SCEV *Step = SE.getSignExtendExpr(Recurrence->getStepRecurrence(SE), I64);
    const SCEV *Last = SE.getAddExpr(Start, SE.getMulExpr(Step, Backedges));
    if (MayBeEmpty) {
      check(SE.getAddExpr(Start, SE.getOne(I64)), false);
      check(SE.getAddExpr(Last, SE.getOne(I64)), false);
    } else {
      check(Last, Signed);
    }
    return SE.getAddRecExpr(Start, Step, L, SCEV::FlagAnyWrap);
  }

  // Notes that a value of 64 bits must fit into 32.
  void check(const SCEV *Value, bool Signed) {
    Check C{Value, Type::getIntNTy(I64->getContext(), Half), Signed};
    if (!is_contained(Checks, C))
      Checks.push_back(C);
  }

  // What stands in the upper half of a value whose lower half is zero; null where that is not plain.
  const SCEV *upperHalf(const SCEV *S) {
    if (auto *Constant = dyn_cast<SCEVConstant>(S)) {
      const APInt &Value = Constant->getAPInt();
      if (!Value.isZero() && Value.countr_zero() < Half)
        return nullptr;
      return SE.getConstant(Value.ashr(Half));
    }
    if (auto *Product = dyn_cast<SCEVMulExpr>(S)) {
      SmallVector<const SCEV *, 4> Factors(Product->operands());
      Factors[0] = isa<SCEVConstant>(Factors[0]) ? upperHalf(Factors[0]) : nullptr;
      return Factors[0] ? SE.getMulExpr(Factors) : nullptr;
    }
    if (auto *Sum = dyn_cast<SCEVAddExpr>(S)) {
      SmallVector<const SCEV *, 4> Parts;
      for (const SCEV *Part : Sum->operands())
        Parts.push_back(upperHalf(Part));
      return is_contained(Parts, nullptr) ? nullptr : SE.getAddExpr(Parts);
    }
    return nullptr;
  }
};

} // namespace

// The same address on the condition that indices of 32 bits do not overflow while L runs. Where the
// program computes them without a sign LLVM cannot know.
const SCEV *OklNests::withoutOverflow(const SCEV *S, const Loop *L, const SCEV *Backedges, Scope In,
                                      bool IsCount, SmallVectorImpl<Check> &Checks) {
  auto *Recurrence = dyn_cast<SCEVAddRecExpr>(S);
  if (SE->isLoopInvariant(S, L) || (Recurrence && Recurrence->getLoop() == L))
    return S;
  Backedges = bound(Backedges, In, true);
  if (!Backedges)
    return S;
  auto Known = [&](const SCEV *Part) { return invariant(Part, In); };
  return Widening(*SE, L, Backedges, I64, Known, IsCount, Checks).visit(S);
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
      A.Address = withoutOverflow(A.Address, L, Times, In, false, A.When.Checks);
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
    for (Loop *L : Loops)
      if (const SCEV *Times = SE->isLoopInvariant(D.Count, L) ? nullptr : backedges(L))
        D.Count = withoutOverflow(D.Count, L, Times, In, true, A.When.Checks);
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
