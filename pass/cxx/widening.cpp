// Addresses and counts as expressions of 64 bits. Where the program computes an index in a narrow type LLVM must
// reckon with overflow; here it is computed as if numbers were unbounded, and checks at run time make sure
// that every value of a narrow type is one. What is then still no section has a hull: the least and the
// largest address.
#include "nests.h"

using namespace llvm;

namespace {

// Computed in 128 bits, in which products of numbers of 64 bits do not overflow.
struct Interval {
  const SCEV *Low, *High;
};

// What is extended from no more bits is a remainder, which is meant to wrap around.
constexpr unsigned Narrow = 16;

class Widening {
public:
  // If Deep, what is the same everywhere in the scope is computed so, too: then more of it cancels out.
  Widening(OklNests &N, Scope In, bool Deep)
      : N(N), SE(*N.SE), In(In), Deep(Deep), I128(Type::getInt128Ty(N.I64->getContext())) {}

  // The value of S, taken as signed, in i64; null where that is not known.
  const SCEV *widen(const SCEV *S, unsigned Depth = 0) {
    if (Depth > 24 || !S->getType()->isIntegerTy() || width(S) > 64)
      return nullptr;
    if (N.invariant(S, In) && !(Deep && isa<SCEVSignExtendExpr, SCEVAddExpr, SCEVMulExpr>(S)))
      return SE.getNoopOrSignExtend(S, N.I64);
    switch (S->getSCEVType()) {
    case scSignExtend:
      return widen(S->operands()[0], Depth + 1);
    case scZeroExtend: {
      const SCEV *Operand = S->operands()[0];
      if (width(Operand) <= Narrow)
        return SE.getNoopOrZeroExtend(S, N.I64);
      return notNegative(widen(Operand, Depth + 1), width(Operand));
    }
    case scTruncate:
      return fitting(widen(S->operands()[0], Depth + 1), S);
    case scUDivExpr: {
      auto *Divisor = dyn_cast<SCEVConstant>(S->operands()[1]);
      const SCEV *Value = notNegative(widen(S->operands()[0], Depth + 1), width(S));
      if (!Value || !Divisor || !Divisor->getAPInt().isStrictlyPositive())
        return nullptr;
      return SE.getUDivExpr(Value, SE.getNoopOrSignExtend(Divisor, N.I64));
    }
    case scUMinExpr:
    case scUMaxExpr: {
      // Of numbers that are not negative the sign does not matter.
      SmallVector<const SCEV *, 4> Parts;
      for (const SCEV *Operand : S->operands())
        Parts.push_back(notNegative(widen(Operand, Depth + 1), width(S)));
      if (is_contained(Parts, nullptr))
        return nullptr;
      return SE.getMinMaxExpr(isa<SCEVUMinExpr>(S) ? scSMinExpr : scSMaxExpr, Parts);
    }
    case scAddExpr:
    case scMulExpr:
    case scSMinExpr:
    case scSMaxExpr:
    case scAddRecExpr: {
      SmallVector<const SCEV *, 4> Parts;
      for (const SCEV *Operand : S->operands())
        Parts.push_back(widen(Operand, Depth + 1));
      if (is_contained(Parts, nullptr))
        return nullptr;
      switch (S->getSCEVType()) {
      case scAddExpr:
        return fitting(SE.getAddExpr(Parts), S);
      case scMulExpr:
        return fitting(SE.getMulExpr(Parts), S);
      case scAddRecExpr:
        if (!cast<SCEVAddRecExpr>(S)->isAffine())
          return nullptr;
        return fitting(SE.getAddRecExpr(Parts, cast<SCEVAddRecExpr>(S)->getLoop(), SCEV::FlagAnyWrap), S);
      default:
        for (const SCEV *Part : Parts)
          need(Part, width(S), true);
        return SE.getMinMaxExpr(S->getSCEVType(), Parts);
      }
    }
    case scUnknown:
      return widenValue(cast<SCEVUnknown>(S), Depth);
    default:
      return nullptr;
    }
  }

  // The values that S of type i64 has while control is in the scope, computed as if numbers were unbounded.
  std::optional<Interval> interval(const SCEV *S, unsigned Depth = 0) {
    if (N.invariant(S, In))
      return Interval{wide(S), wide(S)};
    auto Value = Depth > 24 ? std::nullopt : variableInterval(S, Depth);
    // So that it can be multiplied again.
    if (Value)
      for (const SCEV *End : {Value->Low, Value->High})
        if (!check(End, 64, true))
          return std::nullopt;
    return Value;
  }

  // On the condition that it does not overflow.
  const SCEV *fits(const SCEV *Value) { return need(Value, 64, true); }

  // A sum with a minimum or a maximum, as that of the sums with its operands.
  const SCEV *spread(const SCEV *S, unsigned Depth = 0) {
    if (Depth > 4)
      return S;
    SmallVector<const SCEV *, 4> Parts;
    if (isa<SCEVAddExpr>(S))
      for (const SCEV *Choice : S->operands())
        if (isa<SCEVSMinExpr, SCEVSMaxExpr>(Choice)) {
          SmallVector<const SCEV *, 4> Rest(S->operands());
          erase(Rest, Choice);
          for (const SCEV *Operand : Choice->operands()) {
            SmallVector<const SCEV *, 4> Sum(Rest);
            Sum.push_back(Operand);
            Parts.push_back(spread(fits(SE.getAddExpr(Sum)), Depth + 1));
          }
          return SE.getMinMaxExpr(Choice->getSCEVType(), Parts);
        }
    if (!isa<SCEVSMinExpr, SCEVSMaxExpr>(S))
      return S;
    for (const SCEV *Operand : S->operands())
      Parts.push_back(spread(Operand, Depth + 1));
    return SE.getMinMaxExpr(S->getSCEVType(), Parts);
  }

  // The checks that make widened values and intervals right; false where there are none.
  bool checks(SmallVectorImpl<Check> &Into) {
    // Computing intervals may widen more.
    for (unsigned Next = 0; Next < Needs.size(); ++Next) {
      Need One = Needs[Next];
      auto Value = interval(One.Value);
      if (!Value || !check(Value->Low, One.Width, One.Signed) ||
          !check(Value->High, One.Width, One.Signed))
        return false;
    }
    for (Check &One : Checks)
      addCheck(Into, One);
    return true;
  }

  // Of an end of an interval, on the condition of the checks.
  const SCEV *narrow(const SCEV *End) { return SE.getTruncateExpr(End, N.I64); }

  // Makes sure that a value is one of a type of that width; false where it never is.
  bool check(const SCEV *Value, unsigned Width, bool Signed) {
    if (auto *Constant = dyn_cast<SCEVConstant>(Value)) {
      const APInt &Number = Constant->getAPInt();
      return Signed ? Number.isSignedIntN(Width) : Number.isIntN(Width);
    }
    // Extended from no more bits.
    if (auto *Cast = dyn_cast<SCEVSignExtendExpr>(Value))
      if (Signed && width(Cast->getOperand()) <= Width)
        return true;
    Check One{Value, Type::getIntNTy(N.I64->getContext(), Width), Signed};
    if (!N.usable(Value, In))
      return false;
    addCheck(Checks, One);
    return true;
  }

private:
  std::optional<Interval> variableInterval(const SCEV *S, unsigned Depth) {
    auto Part = [&](const SCEV *P) { return interval(P, Depth + 1); };
    switch (S->getSCEVType()) {
    case scAddExpr: {
      Interval Sum{number(0), number(0)};
      for (const SCEV *Operand : S->operands()) {
        auto Value = Part(Operand);
        if (!Value)
          return std::nullopt;
        Sum = {SE.getAddExpr(Sum.Low, Value->Low), SE.getAddExpr(Sum.High, Value->High)};
      }
      return Sum;
    }
    case scMulExpr: {
      Interval Product{number(1), number(1)};
      for (const SCEV *Operand : S->operands()) {
        auto Value = Part(Operand);
        if (!Value)
          return std::nullopt;
        Product = times(Product, *Value);
        if (!check(Product.Low, 64, true) || !check(Product.High, 64, true))
          return std::nullopt;
      }
      return Product;
    }
    case scAddRecExpr: {
      auto *Recurrence = cast<SCEVAddRecExpr>(S);
      const SCEV *Backedges = N.backedges(Recurrence->getLoop());
      Backedges = Backedges ? widen(Backedges) : nullptr;
      if (!Recurrence->isAffine() || !Backedges)
        return std::nullopt;
      auto Start = Part(Recurrence->getStart()), Step = Part(Recurrence->getStepRecurrence(SE));
      auto Turns = Part(Backedges);
      if (!Start || !Step || !Turns)
        return std::nullopt;
      // From no turn to the largest number of turns.
      Interval Way = times(*Step, {number(0), Turns->High});
      return Interval{SE.getAddExpr(Start->Low, Way.Low), SE.getAddExpr(Start->High, Way.High)};
    }
    case scUDivExpr: {
      auto Value = Part(S->operands()[0]);
      const SCEV *Divisor = wide(S->operands()[1]);
      if (!Value)
        return std::nullopt;
      return Interval{SE.getUDivExpr(Value->Low, Divisor), SE.getUDivExpr(Value->High, Divisor)};
    }
    case scSMinExpr:
    case scSMaxExpr: {
      SmallVector<const SCEV *, 4> Low, High;
      for (const SCEV *Operand : S->operands()) {
        auto Value = Part(Operand);
        if (!Value)
          return std::nullopt;
        Low.push_back(Value->Low);
        High.push_back(Value->High);
      }
      return Interval{SE.getMinMaxExpr(S->getSCEVType(), Low),
                      SE.getMinMaxExpr(S->getSCEVType(), High)};
    }
    case scZeroExtend:
      if (width(S->operands()[0]) <= Narrow)
        return Interval{number(0), number((int64_t(1) << width(S->operands()[0])) - 1)};
      return std::nullopt;
    case scSignExtend:
      if (auto *Unknown = dyn_cast<SCEVUnknown>(S->operands()[0]))
        return ofValue(Unknown->getValue(), Depth);
      return std::nullopt;
    case scUnknown:
      return ofValue(cast<SCEVUnknown>(S)->getValue(), Depth);
    default:
      return std::nullopt;
    }
  }

  // All values must be of a type of that width, if unsigned.
  struct Need {
    const SCEV *Value;
    unsigned Width;
    bool Signed;
  };

  OklNests &N;
  ScalarEvolution &SE;
  Scope In;
  bool Deep;
  Type *I128;
  SmallVector<Need, 8> Needs;
  SmallVector<Check, 8> Checks;

  unsigned width(const SCEV *S) { return SE.getTypeSizeInBits(S->getType()); }
  const SCEV *number(int64_t Value) { return SE.getConstant(I128, Value, true); }
  const SCEV *wide(const SCEV *S) { return SE.getNoopOrSignExtend(S, I128); }

  const SCEV *need(const SCEV *Value, unsigned Width, bool Signed) {
    if (Value && none_of(Needs, [&](Need &One) {
          return One.Value == Value && One.Width == Width && One.Signed == Signed;
        }))
      Needs.push_back({Value, Width, Signed});
    return Value;
  }
  const SCEV *fitting(const SCEV *Value, const SCEV *S) {
    return width(S) < 64 ? need(Value, width(S), true) : Value;
  }
  const SCEV *notNegative(const SCEV *Value, unsigned Width) {
    return need(Value && Deep ? spread(Value) : Value, Width - 1, false);
  }

  Interval times(Interval A, Interval B) {
    if (auto *Factor = A.Low == A.High ? dyn_cast<SCEVConstant>(A.Low) : nullptr) {
      Interval Scaled{SE.getMulExpr(Factor, B.Low), SE.getMulExpr(Factor, B.High)};
      return Factor->getAPInt().isNegative() ? Interval{Scaled.High, Scaled.Low} : Scaled;
    }
    SmallVector<const SCEV *, 4> Products{SE.getMulExpr(A.Low, B.Low), SE.getMulExpr(A.Low, B.High),
                                          SE.getMulExpr(A.High, B.Low),
                                          SE.getMulExpr(A.High, B.High)};
    SmallVector<const SCEV *, 4> Same(Products);
    return {SE.getSMinExpr(Products), SE.getSMaxExpr(Same)};
  }

  // What LLVM writes in another way: an index of 32 bits times the size of an element is an exact shift to
  // the right of the index in the upper half.
  const SCEV *widenValue(const SCEVUnknown *S, unsigned Depth) {
    constexpr unsigned Half = 32;
    auto *Shift = dyn_cast<BinaryOperator>(S->getValue());
    auto *By = Shift ? dyn_cast<ConstantInt>(Shift->getOperand(1)) : nullptr;
    if (By && Shift->getOpcode() == Instruction::AShr && Shift->isExact() && S->getType() == N.I64 &&
        By->getValue().ule(Half))
      if (const SCEV *Index = upperHalf(SE.getSCEV(Shift->getOperand(0)), Half, Depth))
        return SE.getMulExpr(need(Index, Half, true),
                             SE.getConstant(N.I64, uint64_t(1) << (Half - By->getZExtValue())));
    return SE.getNoopOrSignExtend(S, N.I64);
  }

  // What stands in the upper half of a value whose lower half is zero; null where that is not plain.
  const SCEV *upperHalf(const SCEV *S, unsigned Half, unsigned Depth) {
    if (auto *Constant = dyn_cast<SCEVConstant>(S)) {
      const APInt &Value = Constant->getAPInt();
      return Value.isZero() || Value.countr_zero() >= Half ? SE.getConstant(Value.ashr(Half)) : nullptr;
    }
    SmallVector<const SCEV *, 4> Parts;
    switch (S->getSCEVType()) {
    case scMulExpr: {
      const SCEV *Factor = upperHalf(S->operands()[0], Half, Depth);
      if (!Factor || !isa<SCEVConstant>(S->operands()[0]))
        return nullptr;
      Parts.push_back(Factor);
      for (const SCEV *Operand : S->operands().drop_front())
        Parts.push_back(widen(Operand, Depth + 1));
      return is_contained(Parts, nullptr) ? nullptr : SE.getMulExpr(Parts);
    }
    case scAddExpr:
    case scAddRecExpr:
      for (const SCEV *Operand : S->operands())
        Parts.push_back(upperHalf(Operand, Half, Depth));
      if (is_contained(Parts, nullptr))
        return nullptr;
      if (auto *Recurrence = dyn_cast<SCEVAddRecExpr>(S))
        return SE.getAddRecExpr(Parts, Recurrence->getLoop(), SCEV::FlagAnyWrap);
      return SE.getAddExpr(Parts);
    default:
      return nullptr;
    }
  }

  // What ScalarEvolution does not look into.
  std::optional<Interval> ofValue(Value *V, unsigned Depth) {
    auto *Operation = dyn_cast<Instruction>(V);
    if (!Operation || Operation->getNumOperands() < 2 || Operation->getType()->isVectorTy())
      return std::nullopt;
    auto Part = [&](unsigned Operand) -> std::optional<Interval> {
      const SCEV *Wide = widen(SE.getSCEV(Operation->getOperand(Operand)), Depth + 1);
      return Wide ? interval(Wide, Depth + 1) : std::nullopt;
    };
    if (isa<SelectInst>(Operation)) {
      auto A = Part(1), B = Part(2);
      if (!A || !B)
        return std::nullopt;
      return Interval{SE.getSMinExpr(A->Low, B->Low), SE.getSMaxExpr(A->High, B->High)};
    }
    auto *Constant = dyn_cast<ConstantInt>(Operation->getOperand(1));
    if (!Constant || !Constant->getValue().isStrictlyPositive() || Constant->getBitWidth() > 64)
      return std::nullopt;
    int64_t Number = Constant->getSExtValue();
    switch (Operation->getOpcode()) {
    case Instruction::SDiv: {
      auto Value = Part(0);
      if (!Value)
        return std::nullopt;
      // Rounded towards zero.
      auto Positive = [&](const SCEV *End) {
        return SE.getUDivExpr(SE.getSMaxExpr(End, number(0)), number(Number));
      };
      return Interval{SE.getAddExpr(Positive(Value->Low), SE.getSMinExpr(Value->Low, number(0))),
                      Positive(Value->High)};
    }
    case Instruction::SRem:
      return Interval{number(1 - Number), number(Number - 1)};
    case Instruction::URem:
      return Interval{number(0), number(Number - 1)};
    case Instruction::And:
      return Interval{number(0), number(Number)};
    default:
      return std::nullopt;
    }
  }
};

} // namespace

// More - Less, or More where there is nothing to subtract, of type i64 and as if numbers were unbounded, on the
// condition of the checks; null where that is not known. Minima and maxima are outermost.
const SCEV *OklNests::unbounded(const SCEV *More, const SCEV *Less, Scope In, SmallVectorImpl<Check> &Checks) {
  Widening Wide(*this, In, true);
  const SCEV *Value = Wide.widen(More);
  if (Value && Less) {
    Less = Wide.widen(Less);
    Value = Less ? Wide.fits(SE->getMinusSCEV(Value, Less)) : nullptr;
  }
  Value = Value ? Wide.spread(Value) : nullptr;
  return Value && Wide.checks(Checks) ? Value : nullptr;
}

bool OklNests::widened(const Access &A, Scope In, OklSection &Out) {
  const SCEV *Object = SE->getPointerBase(A.Address);
  if (In.At || !isa<SCEVUnknown>(Object) || !usable(Object, In))
    return false;
  Widening Wide(*this, In, false);
  const SCEV *Offset = Wide.widen(SE->removePointerBase(A.Address));
  Access Whole = A;
  if (!Offset || !Wide.checks(Whole.When.Checks))
    return false;
  Whole.Address = SE->getAddExpr(Object, Offset);
  if (affine(Whole, In, Out))
    return true;
  auto Hull = Wide.interval(Offset);
  if (!Hull || !A.Dimensions.empty())
    return false;
  const SCEV *Length = SE->getMinusSCEV(Hull->High, Hull->Low);
  if (!Wide.check(Length, 63, true) || !Wide.checks(Whole.When.Checks))
    return false;
  const SCEV *Address = SE->getAddExpr(Object, Wide.narrow(Hull->Low));
  const SCEV *Count = plus(Wide.narrow(Length), 1);
  if (!usable(Address, In) || !usable(Count, In))
    return false;
  Out.Address = term(Address);
  Out.Dimensions[0] = {term(SE->getOne(I64)), term(Count, Whole.When)};
  Out.Count = 1;
  Out.Exact = false;
  return true;
}
