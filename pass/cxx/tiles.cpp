// Tiles: loops over a part of a larger range, which is shorter at the end of the range. Such parts are joined.
#include "nests.h"

using namespace llvm;

namespace {

// Elements of a tile along one side.
constexpr unsigned MostOfTile = 1 << 20;

// max(Least, min(Limits)), where Least is no more than 1.
struct Clipped {
  int64_t Least = 0;
  SmallVector<const SCEV *, 4> Limits;

  explicit Clipped(const SCEV *Count) {
    auto *Most = dyn_cast<SCEVSMaxExpr>(Count);
    auto *Constant = Most && Most->getNumOperands() == 2 ? dyn_cast<SCEVConstant>(Most->getOperand(0)) : nullptr;
    if (Constant && (Constant->isZero() || Constant->isOne())) {
      Least = Constant->isOne();
      Count = Most->getOperand(1);
    }
    if (isa<SCEVSMinExpr>(Count))
      Limits.append(Count->operands().begin(), Count->operands().end());
    else
      Limits.push_back(Count);
  }

  // Without Limit; null where nothing else is left.
  const SCEV *others(ScalarEvolution &SE, const SCEV *Limit) const {
    SmallVector<const SCEV *, 4> Others(Limits);
    erase(Others, Limit);
    return Others.empty() ? nullptr : SE.getSMinExpr(Others);
  }
};

// Makes sure that a number is not negative; false where that cannot be found out in the scope.
bool notNegative(OklNests &N, const SCEV *Value, Scope In, SmallVectorImpl<Check> &Checks) {
  if (auto *Constant = dyn_cast<SCEVConstant>(Value))
    return !Constant->getAPInt().isNegative();
  addCheck(Checks, ::notNegative(Value));
  return N.usable(Value, In);
}

} // namespace

// Leaves a branch that changes from turn to turn of L and asks whether there is a row of elements at all: the row may
// have no elements then.
bool OklNests::leaveGuard(Access &A, const Loop *L, Scope In) {
  BasicBlock *Before = always(A.Block, L) ? nullptr : A.Block->getSinglePredecessor();
  auto *Branch = Before && LI.getLoopFor(Before) == L ? dyn_cast<BranchInst>(Before->getTerminator()) : nullptr;
  if (!Branch || !Branch->isConditional() || Branch->getSuccessor(0) == Branch->getSuccessor(1))
    return false;
  auto *Compare = dyn_cast<ICmpInst>(Branch->getCondition());
  if (!Compare || !Compare->getOperand(0)->getType()->isIntegerTy())
    return false;
  CmpInst::Predicate Predicate =
      Branch->getSuccessor(0) == A.Block ? Compare->getPredicate() : Compare->getInversePredicate();
  const SCEV *Less = SE->getSCEV(Compare->getOperand(0)), *More = SE->getSCEV(Compare->getOperand(1));
  if (Predicate == CmpInst::ICMP_SGT || Predicate == CmpInst::ICMP_SGE) {
    std::swap(Less, More);
    Predicate = CmpInst::getSwappedPredicate(Predicate);
  }
  if (Predicate != CmpInst::ICMP_SLT && Predicate != CmpInst::ICMP_SLE)
    return false;
  SmallVector<Check, 1> Checks(A.When.Checks);
  const SCEV *Room = unbounded(More, Less, In, Checks);
  if (Room && Predicate == CmpInst::ICMP_SLE)
    Room = plus(Room, 1);
  if (!Room)
    return false;
  if (auto *Limit = dyn_cast<SCEVConstant>(More)) {
    // What is left, in LLVM's words, of a comparison of a number with one that is larger by a constant.
    const APInt &Number = Limit->getAPInt();
    bool Overflows = (APInt::getSignedMaxValue(Number.getBitWidth()) - Number).ult(MostOfTile);
    Room = Overflows ? bound(Room, In, false) : nullptr;
    if (!Room || !notNegative(*this, plus(Room, -1), In, Checks))
      return false;
    A.When.Checks = std::move(Checks);
    A.Block = Before;
    return true;
  }
  for (Dimension &Row : A.Dimensions) {
    SmallVector<Check, 1> Needed(Checks);
    const SCEV *Count = unbounded(Row.Count, nullptr, In, Needed);
    if (!Count)
      continue;
    Clipped Is(Count), Has(Room);
    bool Same = Is.Limits == Has.Limits && Has.Least == 0;
    // Rows that shrink to nothing are no tiles.
    if (Is.Limits.size() == 1 && !invariant(Count, In))
      continue;
    const SCEV *Others = Same || !is_contained(Is.Limits, Room) ? nullptr : Is.others(*SE, Room);
    if (!Same && !(Others && notNegative(*this, plus(Others, -1), In, Needed)))
      continue;
    Row.Count = SE->getSMaxExpr(SE->getZero(I64), SE->getSMinExpr(Is.Limits));
    A.When.Checks = std::move(Needed);
    A.Block = Before;
    return true;
  }
  return false;
}

// The rows that follow each other in the turns of L, each as long as L's step or shorter at the end of all, are one row.
// False where they are not such.
bool OklNests::joinTiles(Access &A, const Loop *L, const SCEV *Times, Scope In) {
  auto *Address = dyn_cast<SCEVAddRecExpr>(A.Address);
  const SCEV *Backedges = backedges(L);
  if (!Address || Address->getLoop() != L || !Backedges)
    return false;
  for (Dimension &Row : A.Dimensions) {
    SmallVector<Check, 1> Needed(A.When.Checks);
    const SCEV *Count =
        SE->isLoopInvariant(Row.Count, L) ? nullptr : unbounded(Row.Count, nullptr, In, Needed);
    if (!Count)
      continue;
    Clipped Is(Count);
    auto *Left = find_if(Is.Limits, [&](const SCEV *One) { return !SE->isLoopInvariant(One, L); });
    auto *Room = Left != Is.Limits.end() ? dyn_cast<SCEVAddRecExpr>(*Left) : nullptr;
    const SCEV *Tile = Room ? Is.others(*SE, Room) : nullptr;
    if (!Tile || !SE->isLoopInvariant(Tile, L) || Room->getLoop() != L || !Room->isAffine())
      continue;
    const SCEV *Step = SE->getNegativeSCEV(Room->getStepRecurrence(*SE));
    if (Address->getStepRecurrence(*SE) != SE->getMulExpr(Step, Row.Stride) ||
        !notNegative(*this, plus(Step, -1), In, Needed))
      continue;
    if (Tile != Step && !(areOfOneVariable(Tile, Step) &&
                          notNegative(*this, SE->getMinusSCEV(Tile, Step), In, Needed) &&
                          notNegative(*this, SE->getMinusSCEV(Step, Tile), In, Needed)))
      continue;
    const SCEV *Last = Room->evaluateAtIteration(Backedges, *SE);
    if (Is.Least == 1 && !notNegative(*this, plus(Last, -1), In, Needed))
      continue;
    const SCEV *All = unbounded(SE->getMulExpr(Step, Times), nullptr, In, Needed);
    if (!All)
      continue;
    // A turn of L is not an element of this row.
    Row = {Row.Stride, SE->getSMaxExpr(SE->getZero(I64), SE->getSMinExpr(Room->getStart(), All)), nullptr};
    A.When.Checks = std::move(Needed);
    return true;
  }
  return false;
}
