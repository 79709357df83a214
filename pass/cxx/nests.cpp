#include "nests.h"

#include "llvm/IR/IntrinsicInst.h"
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

const Value *variableOf(const SCEV *Number) {
  if (isa<SCEVSignExtendExpr, SCEVZeroExtendExpr>(Number))
    Number = Number->operands()[0];
  auto *Unknown = dyn_cast<SCEVUnknown>(Number);
  auto *Load = Unknown ? dyn_cast<LoadInst>(Unknown->getValue()) : nullptr;
  return Load ? Load->getPointerOperand() : nullptr;
}

bool areOfOneVariable(const SCEV *A, const SCEV *B) {
  return variableOf(A) && variableOf(A) == variableOf(B);
}

namespace {

// Makes divisions such as can be computed in front of a loop: a loop with a step of zero has no number of turns.
class SafeDivisions : public SCEVRewriteVisitor<SafeDivisions> {
public:
  explicit SafeDivisions(ScalarEvolution &SE) : SCEVRewriteVisitor(SE) {}

  const SCEV *visitUDivExpr(const SCEVUDivExpr *E) {
    const SCEV *Divisor = visit(E->getRHS());
    return SE.getUDivExpr(visit(E->getLHS()), SE.getUMaxExpr(Divisor, SE.getOne(Divisor->getType())));
  }
};

// Replaces the extension of a recurrence, in the length of a row, by the recurrence of the extensions. Rows
// may be empty: then what is extended, though without a sign, is -1.
class RowLength : public SCEVRewriteVisitor<RowLength> {
public:
  RowLength(ScalarEvolution &SE, const Loop *L, const SCEV *Backedges, Type *I64,
            function_ref<bool(const SCEV *)> Known, SmallVectorImpl<Check> &Checks)
      : SCEVRewriteVisitor(SE), L(L), Backedges(Backedges), I64(I64), Known(Known), Checks(Checks) {}

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
    const SCEV *Start = SE.getSignExtendExpr(Recurrence->getStart(), I64);
    const SCEV *Step = SE.getSignExtendExpr(Recurrence->getStepRecurrence(SE), I64);
    const SCEV *Last = SE.getAddExpr(Start, SE.getMulExpr(Step, Backedges));
    if (Signed) {
      check(Last, true);
    } else {
      check(SE.getAddExpr(Start, SE.getOne(I64)), false);
      check(SE.getAddExpr(Last, SE.getOne(I64)), false);
    }
    return SE.getAddRecExpr(Start, Step, L, SCEV::FlagAnyWrap);
  }

  // Notes that a value of 64 bits must fit into 32.
  void check(const SCEV *Value, bool Signed) {
    addCheck(Checks, {Value, Type::getInt32Ty(I64->getContext()), Signed});
  }
};

// Replaces recurrences of a loop by their values in its last turn.
class LastTurn : public SCEVRewriteVisitor<LastTurn> {
public:
  LastTurn(ScalarEvolution &SE, const Loop *L, const SCEV *Backedges)
      : SCEVRewriteVisitor(SE), L(L), Backedges(Backedges) {}

  const SCEV *visitAddRecExpr(const SCEVAddRecExpr *E) {
    if (E->getLoop() != L)
      return SCEVRewriteVisitor::visitAddRecExpr(E);
    const SCEV *Times = SE.getTruncateOrZeroExtend(Backedges, E->getType());
    return visit(E->evaluateAtIteration(Times, SE));
  }

private:
  const Loop *L;
  const SCEV *Backedges;
};

// Replaces min(c, a recurrence of a loop that falls by s in each turn) by c, on the condition that s is c at
// least and that the recurrence is not negative in the last turn: before, it is then no less than c.
class EarlierTurns : public SCEVRewriteVisitor<EarlierTurns> {
public:
  EarlierTurns(ScalarEvolution &SE, const Loop *L, const SCEV *Backedges, Type *I64,
               SmallVectorImpl<Check> &Checks)
      : SCEVRewriteVisitor(SE), L(L), Backedges(Backedges), I64(I64), Checks(Checks) {}

  const SCEV *visitSMinExpr(const SCEVSMinExpr *E) {
    SmallVector<const SCEV *, 2> Fixed;
    const SCEVAddRecExpr *Falling = nullptr;
    for (const SCEV *Operand : E->operands()) {
      auto *Recurrence = dyn_cast<SCEVAddRecExpr>(Operand);
      if (SE.isLoopInvariant(Operand, L))
        Fixed.push_back(Operand);
      else if (Recurrence && Recurrence->getLoop() == L && Recurrence->isAffine() && !Falling)
        Falling = Recurrence;
      else
        return E;
    }
    if (!Falling || Fixed.empty() || E->getType() != I64)
      return E;
    const SCEV *Least = SE.getSMinExpr(Fixed);
    const SCEV *Step = SE.getNegativeSCEV(Falling->getStepRecurrence(SE));
    const SCEV *Beyond = SE.getMinusSCEV(Step, Least);
    if (!SE.isKnownNonNegative(Beyond) && !isStride(Step) && !areOfOneVariable(Step, Least))
      return E;
    addCheck(Checks, notNegative(Beyond));
    addCheck(Checks, notNegative(Falling->evaluateAtIteration(Backedges, SE)));
    return Least;
  }

private:
  const Loop *L;
  const SCEV *Backedges;
  Type *I64;
  SmallVectorImpl<Check> &Checks;

  // Whether it is what OpenMP says is between a thread's chunks.
  bool isStride(const SCEV *Step) {
    return isa_and_nonnull<AllocaInst>(variableOf(Step));
  }
};

} // namespace

// Backedges taken, as an i64; null where unknown.
const SCEV *OklNests::backedges(const Loop *L) {
  const SCEV *Count = SE->getBackedgeTakenCount(L);
  if (isa<SCEVCouldNotCompute>(Count) || SE->getTypeSizeInBits(Count->getType()) > 64)
    return nullptr;
  return SafeDivisions(*SE).visit(SE->getNoopOrZeroExtend(Count, I64));
}

// Reduces what is accessed in a turn of L to some of its turns; false where that is not known.
bool OklNests::pickTurns(Access &A, const Loop *L, OklTurns Turns) {
  const SCEV *Backedges = backedges(L);
  if (!Backedges || L->getExitingBlock() != L->getLoopLatch() ||
      A.Address->getExpressionSize() > MostOperations)
    return false;
  auto Rewrite = [&](const SCEV *S) {
    if (Turns == OklLastTurn)
      return LastTurn(*SE, L, Backedges).visit(S);
    return EarlierTurns(*SE, L, Backedges, I64, A.When.Checks).visit(S);
  };
  for (Dimension &D : A.Dimensions)
    D = {Rewrite(D.Stride), Rewrite(D.Count), D.Over};
  A.Address = Rewrite(A.Address);
  return true;
}

// The length of a row as it changes in L, on the condition that it does not overflow.
const SCEV *OklNests::rowLength(const SCEV *Count, const Loop *L, Scope In,
                                SmallVectorImpl<Check> &Checks) {
  auto *Recurrence = dyn_cast<SCEVAddRecExpr>(Count);
  const SCEV *Backedges = backedges(L);
  if (SE->isLoopInvariant(Count, L) || (Recurrence && Recurrence->getLoop() == L) || !Backedges)
    return Count;
  Backedges = bound(Backedges, In, true);
  if (!Backedges)
    return Count;
  auto Known = [&](const SCEV *Part) { return invariant(Part, In); };
  return RowLength(*SE, L, Backedges, I64, Known, Checks).visit(Count);
}

// Adds a dimension for each loop of the scope, inside Until, that the address varies in.
bool OklNests::leaveLoops(Access &A, Scope In, const Loop *Until) {
  if (In.At)
    return true;
  for (Loop *L = LI.getLoopFor(A.Block); L; L = L->getParentLoop()) {
    if (L == Until)
      return true;
    if (!L->getLoopPreheader() || !L->getLoopLatch())
      return false;
    do
      A.Block = climb(A.Block, L, In, A.When.Guards);
    while (leaveGuard(A, L, In));
    SmallVector<BasicBlock *, 4> Exits;
    L->getExitingBlocks(Exits);
    bool BeforeExits = all_of(Exits, [&](BasicBlock *E) { return DT.dominates(A.Block, E); });
    // Behind the only exit: once less.
    bool Behind = Exits.size() == 1 && Exits[0] != A.Block && Exits[0] != L->getLoopLatch() &&
                  DT.dominates(Exits[0], A.Block);
    const SCEV *Times = backedges(L);
    if (Times && !Behind)
      Times = plus(Times, 1);
    if (L == In.Nest && In.Turns != OklAllTurns) {
      if (!pickTurns(A, L, In.Turns))
        return false;
      Times = backedges(L);
    }
    if (L == In.Nest && In.Turns == OklLastTurn) {
      // The last turn is not reached where the loop is left before its end.
      A.Exact &= always(A.Block, L);
    } else if (SE->isLoopInvariant(A.Address, L) &&
               (L != In.Nest || In.Turns == OklAllTurns)) {
      A.Exact &= BeforeExits;
    } else {
      auto *Recurrence = dyn_cast<SCEVAddRecExpr>(A.Address);
      bool Stays = SE->isLoopInvariant(A.Address, L);
      if (!Times ||
          (!Stays && (!Recurrence || Recurrence->getLoop() != L || !Recurrence->isAffine())))
        return false;
      // Behind the exit there may be no turn at all, which a merged section would not show.
      A.Exact &= always(A.Block, L) && (BeforeExits || (Behind && SE->isKnownPositive(Times)));
      if (!joinTiles(A, L, Times, In))
        A.Dimensions.push_back(
            {Stays ? SE->getZero(I64) : Recurrence->getStepRecurrence(*SE), Times, L});
      A.Address = Stays ? A.Address : Recurrence->getStart();
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
    SmallVector<Check, 1> Checks(A.When.Checks);
    const SCEV *Same = invariant(D.Count, In) ? nullptr : unbounded(D.Count, nullptr, In, Checks);
    if (Same && invariant(Same, In)) {
      D.Count = Same;
      A.When.Checks = std::move(Checks);
    }
    for (Loop *L : Loops)
      D.Count = rowLength(D.Count, L, In, A.When.Checks);
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
  return leaveLoops(A, In) && describe(A, In, Out);
}

// Describes an access that is outside of all loops of the scope.
bool OklNests::describe(Access &A, Scope In, OklSection &Out) {
  if (A.Dimensions.size() + 1 > std::size(Out.Dimensions) || !boxCounts(A, In) ||
      !usable(A.Address, In))
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

// Where in a table a value is loaded from that the nest writes in no worse way; false where that is not known.
// LLVM keeps what it loaded for other branches and for the next turn of a loop.
bool OklNests::loadedFrom(Value *V, const Loop *Nest, TableWrites Most, Loaded &Out, unsigned Depth) {
  if (auto *Cast = dyn_cast<CastInst>(V)) {
    if (!isa<SExtInst, ZExtInst>(Cast) || Depth > 4)
      return false;
    bool Known = loadedFrom(Cast->getOperand(0), Nest, Most, Out, Depth + 1) && !Out.Extension;
    Out.Extension = Cast->getOpcode();
    return Known;
  }
  if (auto *Load = dyn_cast<LoadInst>(V)) {
    auto [Known, IsNew] = Written.try_emplace({Load, Nest});
    if (IsNew)
      Known->second =
          Load->isSimple() ? writesToTable(F, DT, AC, Library, *Load, *Nest) : TableWrites::ByOthers;
    if (Known->second > Most || (!Nest->contains(Load) && !isUnchanged(*Load, *Nest)))
      return false;
    Out = {SE->getSCEV(Load->getPointerOperand()), Load->getType(), 0};
    return true;
  }
  auto *Phi = dyn_cast<PHINode>(V);
  if (!Phi || !Nest->contains(Phi) || Depth > 4)
    return false;
  auto Incoming = [&](Value *In, Loaded &From) {
    return loadedFrom(In, Nest, Most, From, Depth + 1) && (!Out.As || Out.As == From.As) &&
           Out.Extension == From.Extension;
  };
  auto *First = Phi->getIncomingValue(0);
  const Loop *L = LI.getLoopFor(Phi->getParent());
  bool IsHeader = L->getHeader() == Phi->getParent();
  if (IsHeader && (!L->getLoopPreheader() || !L->getLoopLatch()))
    return false;
  if (IsHeader)
    First = Phi->getIncomingValueForBlock(L->getLoopPreheader());
  if (!loadedFrom(First, Nest, Most, Out, Depth + 1))
    return false;
  if (!IsHeader)
    return all_of(Phi->incoming_values(), [&](Value *In) {
      Loaded From;
      return Incoming(In, From) && From.Address == Out.Address;
    });
  Loaded From;
  if (!Incoming(Phi->getIncomingValueForBlock(L->getLoopLatch()), From))
    return false;
  auto *Next = dyn_cast<SCEVAddRecExpr>(From.Address);
  if (!Next || Next->getLoop() != L || !Next->isAffine())
    return false;
  const SCEV *Step = Next->getStepRecurrence(*SE);
  if (SE->getAddExpr(Out.Address, Step) != Next->getStart())
    return false;
  Out.Address = SE->getAddRecExpr(Out.Address, Step, L, SCEV::FlagAnyWrap);
  return true;
}

// Whether nothing is written from a load to the loop behind it.
bool OklNests::isUnchanged(const LoadInst &Load, const Loop &L) {
  const Instruction *At = L.getLoopPreheader()->getTerminator();
  for (unsigned Steps = 0; Steps < 400 && At != &Load; ++Steps) {
    if (At->mayWriteToMemory() && !isa<AssumeInst>(At))
      return false;
    if (At == &At->getParent()->front()) {
      const BasicBlock *Before = At->getParent()->getSinglePredecessor();
      if (!Before)
        return false;
      At = Before->getTerminator();
    } else {
      At = At->getPrevNode();
    }
  }
  return At == &Load;
}

// Through a pointer that is loaded in the nest: the access in each turn of the loops around the load, as
// offsets from the pointer, and then the access to the table.
bool OklNests::rows(Access A, Scope In, size_t Most, SmallVectorImpl<OklSection> &Out) {
  if (!In.Nest || !In.Nest->getLoopPreheader() || Out.size() == Most)
    return false;
  auto *Base = dyn_cast<SCEVUnknown>(SE->getPointerBase(A.Address));
  auto *Pointer = Base ? dyn_cast<Instruction>(Base->getValue()) : nullptr;
  if (!Pointer || !In.Nest->contains(Pointer)) {
    if (Out.empty())
      return false;
    Out.emplace_back();
    return affine(std::move(A), In, Out.back());
  }
  Loaded From;
  const Loop *Around = LI.getLoopFor(Pointer->getParent());
  if (!loadedFrom(Pointer, In.Nest, TableWrites::None, From) ||
      A.Address->getExpressionSize() > MostOperations)
    return false;
  const SCEV *Address = From.Address;
  // What is loaded from the same place in each turn could be loaded in front of the loop.
  while (Around != In.Nest && SE->isLoopInvariant(Address, Around))
    Around = Around->getParentLoop();
  A.Address = SE->removePointerBase(A.Address);
  if (!Around->contains(A.Block) || !leaveLoops(A, In, Around))
    return false;
  Access Table{Address, A.Block, {}, std::move(A.When), A.Exact};
  A.When = {};
  Out.emplace_back();
  if (!describe(A, In, Out.back()))
    return false;
  Table.Exact &= A.Exact;
  return rows(std::move(Table), In, Most, Out);
}

OklSectionKind OklNests::section(Access A, Scope In, OklSection &Out) {
  if (In.Nest && !In.Nest->getLoopPreheader())
    return OklNoSection;
  if (A.Address->getExpressionSize() <= MostOperations && affine(A, In, Out))
    return OklAffine;
  if (A.Address->getExpressionSize() <= MostOperations && widened(A, In, Out))
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
