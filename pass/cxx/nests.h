// What sections are made of, for the files that work on them: see sections.h.
#pragma once

#include "prepare.h"
#include "sections.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <memory>
#include <vector>

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

// A value that has to be the extension of its low bits: otherwise an index overflowed, and what was
// concluded from it is wrong.
struct Check {
  const SCEV *Value;
  Type *Narrow;
  bool Signed;
  bool operator==(const Check &Other) const {
    return Value == Other.Value && Narrow == Other.Narrow && Signed == Other.Signed;
  }
};

// Adds a check, once.
inline void addCheck(SmallVectorImpl<Check> &Checks, const Check &One) {
  if (!is_contained(Checks, One))
    Checks.push_back(One);
}
// The check that a value of 64 bits is not negative.
inline Check notNegative(const SCEV *Value) {
  return {Value, Type::getIntNTy(Value->getType()->getContext(), 63), false};
}

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

struct Dimension {
  const SCEV *Stride, *Count;
  const Loop *Over; // null: the bytes of one access
};

// Where a section is to be known: see OklScope.
struct Scope {
  const Loop *Nest;
  const Instruction *At;
  OklTurns Turns;
};

// What is accessed in one execution of Block.
struct Access {
  const SCEV *Address;
  BasicBlock *Block;
  SmallVector<Dimension, 4> Dimensions; // inner ones first
  Conditions When;
  bool Exact = true;
};

// What is known of a value that a nest loads from a table.
struct Loaded {
  const SCEV *Address = nullptr;
  Type *As = nullptr;
  unsigned Extension = 0; // the opcode of its cast
};

// The variable that a number is loaded from; null where it is not just that.
const Value *variableOf(const SCEV *Number);
// Whether two numbers are loaded from one variable: it is no surprise then if they are the same.
bool areOfOneVariable(const SCEV *A, const SCEV *B);

// Larger expressions are not worth their time.
constexpr unsigned MostOperations = 400;

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
  // How the loop may write what is loaded.
  DenseMap<std::pair<const LoadInst *, const Loop *>, TableWrites> Written;

  explicit OklNests(Function &Of);

  const OklTerm *term(const SCEV *S, const Conditions &When = {}) {
    for (auto &Known : Terms)
      if (Known->Value == S && Known->When == When)
        return Known.get();
    Terms.push_back(std::make_unique<OklTerm>(OklTerm{S, When}));
    return Terms.back().get();
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
    return {In.Loop < 0 ? nullptr : Loops[In.Loop], In.At ? unwrap<Instruction>(In.At) : nullptr,
            In.Turns};
  }

  const SCEV *backedges(const Loop *L);
  OklSectionKind section(Access A, Scope In, OklSection &Out);
  bool affine(Access A, Scope In, OklSection &Out);
  bool widened(const Access &A, Scope In, OklSection &Out);
  const SCEV *unbounded(const SCEV *More, const SCEV *Less, Scope In, SmallVectorImpl<Check> &Checks);
  bool leaveGuard(Access &A, const Loop *L, Scope In);
  bool joinTiles(Access &A, const Loop *L, const SCEV *Times, Scope In);
  bool rows(Access A, Scope In, size_t Most, SmallVectorImpl<OklSection> &Out);
  bool between(const Access &A, Scope In, OklBetween &Out);
  bool loadedFrom(Value *V, const Loop *Nest, TableWrites Most, Loaded &Out, unsigned Depth = 0);
  bool isUnchanged(const LoadInst &Load, const Loop &L);
  bool leaveLoops(Access &A, Scope In, const Loop *Until = nullptr);
  bool describe(Access &A, Scope In, OklSection &Out);
  bool pickTurns(Access &A, const Loop *L, OklTurns Turns);
  bool boxCounts(Access &A, Scope In);
  const SCEV *rowLength(const SCEV *Count, const Loop *L, Scope In, SmallVectorImpl<Check> &Checks);
  const SCEV *translate(const SCEV *S, const CallBase &Call);
};
