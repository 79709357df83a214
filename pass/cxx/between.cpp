// Reads at addresses that a nest computes from numbers it loads, such as the bounds of the rows of a sparse
// matrix: numbers in tables, between whose least and largest everything lies.
#include "nests.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace {

// Replaces the extension of a difference, in the number of turns of a loop, by the difference of the extensions: the
// number of a bucket's elements is where the next one begins less where it begins itself.
class WideDifferences : public SCEVRewriteVisitor<WideDifferences> {
public:
  WideDifferences(ScalarEvolution &SE, const DominatorTree &DT, const Loop *L)
      : SCEVRewriteVisitor(SE), DT(DT), L(L) {}

  const SCEV *visitZeroExtendExpr(const SCEVZeroExtendExpr *E) {
    auto *Sum = dyn_cast<SCEVAddExpr>(E->getOperand());
    if (!Sum || Sum->getNumOperands() != 2)
      return E;
    for (auto [More, Minus] : {std::pair(Sum->getOperand(0), Sum->getOperand(1)),
                               std::pair(Sum->getOperand(1), Sum->getOperand(0))}) {
      const SCEV *Less = SE.getNegativeSCEV(Minus);
      if (isa<SCEVUnknown>(Less) && isPositive(Sum, More, Less))
        return SE.getMinusSCEV(SE.getSignExtendExpr(More, E->getType()),
                               SE.getSignExtendExpr(Less, E->getType()));
    }
    return E;
  }

private:
  const DominatorTree &DT;
  const Loop *L;

  // Whether More - Less, of numbers with a sign, is positive where L begins. As a number without a sign the difference
  // does not overflow then.
  bool isPositive(const SCEV *Difference, const SCEV *More, const SCEV *Less) {
    if (SE.isLoopEntryGuardedByCond(L, CmpInst::ICMP_SGT, More, Less))
      return true;
    // A difference that is known to be positive has to be without overflow itself.
    return SE.isLoopEntryGuardedByCond(L, CmpInst::ICMP_SGT, Difference,
                                       SE.getZero(Difference->getType())) &&
           any_of(cast<SCEVUnknown>(Less)->getValue()->users(), [&](User *Of) {
             auto *Computed = dyn_cast<BinaryOperator>(Of);
             return Computed && Computed->getOpcode() == Instruction::Sub &&
                    Computed->hasNoSignedWrap() && SE.getSCEV(Computed) == Difference &&
                    DT.dominates(Computed->getParent(), L->getHeader()) &&
                    programUndefinedIfPoison(Computed);
           });
  }
};

class Corners {
public:
  Corners(OklNests &N, Scope In, OklBetween &Out) : N(N), SE(*N.SE), In(In), Out(Out) {}

  // Follows an offset out of the loops around Block; false where it is not made of what is loaded.
  bool find(const SCEV *Offset, const BasicBlock *Block) {
    SmallVector<const SCEV *, 8> Ends{Offset};
    for (const Loop *L = N.LI.getLoopFor(Block);; L = L->getParentLoop()) {
      SmallVector<const SCEV *, 8> Next;
      for (const SCEV *End : Ends)
        if (!operands(End, [&](const SCEV *One) { return ends(One, L, Next); }))
          return false;
      Ends = std::move(Next);
      if (L == In.Nest)
        break;
    }
    return all_of(Ends, [&](const SCEV *End) {
      return operands(End, [&](const SCEV *One) { return corner(One); });
    });
  }

private:
  OklNests &N;
  ScalarEvolution &SE;
  Scope In;
  OklBetween &Out;
  // The casted value that each table holds.
  SmallVector<const SCEV *, 4> Held;
  // Conditions of the corners.
  SmallVector<Check, 1> Checks;

  static ArrayRef<const SCEV *> summands(const SCEV *const &S) {
    return isa<SCEVAddExpr>(S) ? S->operands() : ArrayRef(S);
  }

  // A minimum or maximum is one of its operands: goes through the expressions with each.
  bool operands(const SCEV *S, function_ref<bool(const SCEV *)> Each, unsigned Depth = 0) {
    if (Depth > 4 || S->getExpressionSize() > MostOperations)
      return false;
    for (const SCEV *Part : summands(S)) {
      const SCEV *Factor = SE.getOne(N.I64), *Choice = Part;
      if (auto *Product = dyn_cast<SCEVMulExpr>(Part); Product && Product->getNumOperands() == 2)
        std::tie(Factor, Choice) = std::tuple(Product->getOperand(0), Product->getOperand(1));
      if (N.invariant(Part, In) || !isa<SCEVMinMaxExpr, SCEVSequentialMinMaxExpr>(Choice))
        continue;
      const SCEV *Rest = SE.getMinusSCEV(S, Part);
      return all_of(Choice->operands(), [&](const SCEV *One) {
        return operands(SE.getAddExpr(Rest, SE.getMulExpr(Factor, One)), Each, Depth + 1);
      });
    }
    return Each(S);
  }

  // Its values in the first and the last turn of L, if it has others.
  bool ends(const SCEV *S, const Loop *L, SmallVectorImpl<const SCEV *> &Ends) {
    const SCEVAddRecExpr *Changes = nullptr;
    for (const SCEV *Part : summands(S)) {
      auto *Recurrence = dyn_cast<SCEVAddRecExpr>(Part);
      if (Recurrence && Recurrence->getLoop() == L)
        Changes = Recurrence;
    }
    const SCEV *Rest = Changes ? SE.getMinusSCEV(S, Changes) : S;
    if (SCEVExprContains(Rest, [&](const SCEV *Part) {
          auto *Recurrence = dyn_cast<SCEVAddRecExpr>(Part);
          return Recurrence && Recurrence->getLoop() == L;
        }))
      return false;
    if (!Changes) {
      Ends.push_back(S);
    } else {
      const SCEV *Step = Changes->getStepRecurrence(SE), *Backedges = N.backedges(L);
      if (!Backedges || !Changes->isAffine() || !narrow(Step))
        return false;
      Backedges = WideDifferences(SE, N.DT, L).visit(Backedges);
      const SCEV *First = SE.getAddExpr(Rest, Changes->getStart());
      Ends.push_back(First);
      Ends.push_back(SE.getAddExpr(First, SE.getMulExpr(Step, Backedges)));
    }
    return Ends.size() <= std::size(Out.Corners);
  }

  // Makes sure that a number is one of 32 bits: what it is multiplied with then does not overflow.
  bool narrow(const SCEV *Number) {
    if (auto *Constant = dyn_cast<SCEVConstant>(Number))
      return Constant->getAPInt().isSignedIntN(32);
    addCheck(Checks, {Number, Type::getInt32Ty(N.I64->getContext()), true});
    return N.usable(Number, In);
  }

  // Adds a sum of what is known in front of the nest and of factors times what is loaded.
  bool corner(const SCEV *S) {
    if (Out.CornerCount == std::size(Out.Corners))
      return false;
    const SCEV *Offset = SE.getZero(N.I64);
    SmallVector<const SCEV *, 4> Factors(std::size(Out.Tables), SE.getZero(N.I64));
    for (const SCEV *Part : summands(S)) {
      if (N.invariant(Part, In)) {
        Offset = SE.getAddExpr(Offset, Part);
        continue;
      }
      const SCEV *Factor = SE.getOne(N.I64), *Number = Part;
      if (auto *Product = dyn_cast<SCEVMulExpr>(Part)) {
        Number = nullptr;
        for (const SCEV *One : Product->operands())
          if (N.invariant(One, In))
            Factor = SE.getMulExpr(Factor, One);
          else if (std::exchange(Number, One))
            return false;
      }
      auto Table = Number ? table(Number) : std::nullopt;
      if (!Table || !narrow(Factor))
        return false;
      Factors[*Table] = SE.getAddExpr(Factors[*Table], Factor);
    }
    if (!N.usable(Offset, In))
      return false;
    OklCorner &Corner = Out.Corners[Out.CornerCount++];
    Corner.Offset = N.term(Offset, {{}, Checks});
    for (auto [Of, Factor] : zip(Corner.Factors, Factors))
      Of = N.term(Factor);
    return true;
  }

  // The table that a number is loaded from.
  std::optional<size_t> table(const SCEV *Number) {
    if (auto *Known = find_if(Held, [&](const SCEV *One) { return One == Number; }); Known != Held.end())
      return Known - Held.begin();
    bool Zero = isa<SCEVZeroExtendExpr>(Number);
    const SCEV *Whole = isa<SCEVSignExtendExpr>(Number) || Zero ? Number->operands()[0] : Number;
    auto *Unknown = dyn_cast<SCEVUnknown>(Whole);
    auto *At = Unknown ? dyn_cast<Instruction>(Unknown->getValue()) : nullptr;
    Loaded From;
    if (!At || !In.Nest->contains(At) || Out.TableCount == std::size(Out.Tables) ||
        !N.loadedFrom(At, In.Nest, TableWrites::ByStores, From) || !From.As->isIntegerTy() ||
        !N.DL.typeSizeEqualsStoreSize(From.As) || From.As->getIntegerBitWidth() > 64)
      return std::nullopt;
    // A number without a sign stays one; with one it may not lose it.
    if (From.Extension == Instruction::SExt && Zero)
      return std::nullopt;
    OklTable &Table = Out.Tables[Out.TableCount];
    Table.Bytes = From.As->getIntegerBitWidth() / 8;
    Table.Signed = From.Extension ? From.Extension == Instruction::SExt : !Zero;
    Access A{From.Address, At->getParent(), {}, {}, true};
    if (!isPowerOf2_32(Table.Bytes) || !N.affine(std::move(A), In, Table.Section))
      return std::nullopt;
    Held.push_back(Number);
    return Out.TableCount++;
  }
};

} // namespace

bool OklNests::between(const Access &A, Scope In, OklBetween &Out) {
  Out.TableCount = Out.CornerCount = 0;
  const SCEV *Object = SE->getPointerBase(A.Address);
  if (!In.Nest || !In.Nest->getLoopPreheader() || In.Turns != OklAllTurns || !A.Dimensions.empty() ||
      !In.Nest->contains(A.Block) || !isa<SCEVUnknown>(Object) || !usable(Object, In))
    return false;
  Out.Object = term(Object);
  return Corners(*this, In, Out).find(SE->removePointerBase(A.Address), A.Block) && Out.TableCount > 0;
}
