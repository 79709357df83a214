// What the body of a loop over a set accesses by its parameters.
#include "lane_body.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm-c/Core.h"

using namespace llvm;

LaneBody::LaneBody(Function &Kernel, ArrayRef<OklLaneArgument> Arguments)
    : Kernel(Kernel), Arguments(Arguments), DL(Kernel.getDataLayout()) {
  ReversePostOrderTraversal<Function *> Traversal(&Kernel);
  Order.assign(Traversal.begin(), Traversal.end());
}

Place LaneBody::place(Value *Pointer) {
  APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
  Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, true);
  if (auto *A = dyn_cast<Argument>(Base)) {
    const OklLaneArgument *Of = &Arguments[A->getArgNo()];
    if (Of->Place == OklLaneColumns)
      return {};
    return {object(Of, 0), Offset.getSExtValue()};
  }
  if (auto *L = dyn_cast<LoadInst>(Base)) {
    APInt Slot(Offset.getBitWidth(), 0);
    Value *Table =
        L->getPointerOperand()->stripAndAccumulateConstantOffsets(DL, Slot, true);
    auto *A = dyn_cast<Argument>(Table);
    if (!A || Arguments[A->getArgNo()].Place != OklLaneColumns)
      return {};
    int64_t Column = Slot.getSExtValue() / 8;
    const OklLaneArgument *Of = &Arguments[A->getArgNo()];
    if (Slot.getSExtValue() % 8 != 0 || Column < 0 || Column >= Of->Columns)
      return {};
    return {object(Of, Column), Offset.getSExtValue()};
  }
  if (auto *Variable = dyn_cast<AllocaInst>(Base)) {
    Object *&Of = OfVariable[Variable];
    if (!Of)
      Of = &Objects.emplace_back();
    return {Of, Offset.getSExtValue()};
  }
  return {};
}

Object *LaneBody::object(const OklLaneArgument *Of, unsigned Column) {
  Object *&Found = OfArgument[{Of, Column}];
  if (!Found) {
    Found = &Objects.emplace_back();
    Found->Argument = Of;
    Found->Column = Column;
    LLVMContext &C = Kernel.getContext();
    Found->T = !Of->Floating    ? Type::getIntNTy(C, Of->Bytes * 8)
               : Of->Bytes == 8 ? Type::getDoubleTy(C)
                                : Type::getFloatTy(C);
    Found->Cells.resize(Of->Components);
  }
  return Found;
}

std::pair<LaneBody::RootKind, const OklLaneArgument *> LaneBody::root(Value *Pointer) {
  Value *Base = getUnderlyingObject(Pointer, 0);
  if (isa<AllocaInst>(Base))
    return {Variable, nullptr};
  if (isa<GlobalValue>(Base))
    return {Global, nullptr};
  if (auto *A = dyn_cast<Argument>(Base))
    return {Parameter, &Arguments[A->getArgNo()]};
  if (auto *L = dyn_cast<LoadInst>(Base))
    if (auto *A = dyn_cast<Argument>(getUnderlyingObject(L->getPointerOperand(), 0)))
      if (const OklLaneArgument *Of = &Arguments[A->getArgNo()]; Of->Place == OklLaneColumns)
        return {Parameter, Of};
  return {Unknown, nullptr};
}

bool LaneBody::keepsToArguments() {
  for (Instruction &I : instructions(Kernel)) {
    // Functions that other files define too, as `inline` ones, have no attribute that says so of all.
    if (I.mayThrow())
      return no("the kernel may throw an exception");
    if (I.isVolatile() || I.isAtomic())
      return no("the kernel accesses memory that others see change");
    auto Own = [&](Value *Pointer) {
      auto Kind = root(Pointer).first;
      return Kind == Variable || Kind == Parameter;
    };
    if (auto *Call = dyn_cast<CallBase>(&I)) {
      if (auto *II = dyn_cast<IntrinsicInst>(Call);
          II && II->getIntrinsicID() == Intrinsic::threadlocal_address)
        return no("the kernel has variables of its thread");
      MemoryEffects Effects = Call->getMemoryEffects();
      auto Writes = [&](IRMemLocation Where) { return isModSet(Effects.getModRef(Where)); };
      if (isa<AssumeInst>(Call) || Call->isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(Call))
        continue;
      bool Elsewhere = Writes(IRMemLocation::Other) || Writes(IRMemLocation::InaccessibleMem);
      bool ItsArguments =
          !Writes(IRMemLocation::ArgMem) || all_of(Call->args(), [&](Value *V) {
            return !V->getType()->isPointerTy() || Own(V);
          });
      if (Elsewhere || !ItsArguments) {
        Function *Callee = Call->getCalledFunction();
        return no(Twine("the kernel calls ") + (Callee ? Callee->getName() : "a pointer"));
      }
      continue;
    }
    if (auto *S = dyn_cast<StoreInst>(&I)) {
      if (!Own(S->getPointerOperand()))
        return no("the kernel writes memory that is not an argument");
      continue;
    }
    if (I.mayWriteToMemory())
      return no(Twine("the kernel has an instruction '") + I.getOpcodeName() + "'");
  }
  return true;
}

bool LaneBody::onlyIncrements(const OklLaneArgument &A) {
  DenseMap<Value *, std::pair<Object *, int64_t>> Sums; // old values and what was added to them
  for (BasicBlock *Block : Order)
    for (Instruction &I : *Block) {
      auto Found = [&](Value *V) { return Sums.find(V); };
      auto IsSum = [&](Value *V) { return Found(V) != Sums.end(); };
      // Whether an address is one of the argument's; where it may be one and its place is not known, Lost.
      bool Lost = false;
      auto Shared = [&](Value *Pointer, Place &At) {
        At = place(Pointer);
        if (At.Of)
          return At.Of->Argument == &A;
        auto [Kind, Of] = root(Pointer);
        Lost |= Kind == Unknown || Of == &A;
        return false;
      };
      const char *const Reason = "it does more than add to what it shall increment";
      Place At;
      if (auto *L = dyn_cast<LoadInst>(&I)) {
        if (Shared(L->getPointerOperand(), At))
          Sums[L] = {At.Of, At.Offset};
        if (Lost && !L->getType()->isPointerTy())
          return no(Reason);
        continue;
      }
      if (auto *S = dyn_cast<StoreInst>(&I); S && Shared(S->getPointerOperand(), At)) {
        auto Sum = Found(S->getValueOperand());
        if (Sum == Sums.end() || Sum->second != std::make_pair(At.Of, At.Offset))
          return no(Reason);
        continue;
      }
      if (auto *Memory = dyn_cast<MemIntrinsic>(&I); Memory && Shared(Memory->getRawDest(), At))
        return no(Reason);
      if (auto *Memory = dyn_cast<MemTransferInst>(&I);
          Memory && Shared(Memory->getRawSource(), At))
        return no(Reason);
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && !isa<MemIntrinsic>(Call) && !Call->isLifetimeStartOrEnd() &&
          any_of(Call->args(), [&](Value *V) { return V->getType()->isPointerTy() && Shared(V, At); }))
        return no(Reason);
      if (Lost)
        return no(Reason);
      SmallVector<Value *, 4> Used;
      for (Value *V : I.operands())
        if (IsSum(V))
          Used.push_back(V);
      if (Used.empty())
        continue;
      bool Adds = false;
      auto Same = [&](Value *V) {
        auto Sum = Found(V);
        return Sum != Sums.end() && Sum->second == Found(Used[0])->second;
      };
      switch (I.getOpcode()) {
      case Instruction::FAdd:
      case Instruction::Add:
        Adds = Used.size() == 1;
        break;
      case Instruction::FSub:
      case Instruction::Sub:
        Adds = Used.size() == 1 && IsSum(I.getOperand(0));
        break;
      case Instruction::FPExt:
      case Instruction::SExt:
      case Instruction::ZExt:
        // A sum in another type, as where a double is added to a float.
        Adds = true;
        break;
      case Instruction::FPTrunc:
      case Instruction::Trunc: {
        // Where as many bits are left as the argument has, what is lost is lost again with the next sum.
        Object *Of = Found(Used[0])->second.first;
        Adds = I.getType()->getScalarSizeInBits() >= Of->T->getScalarSizeInBits();
        break;
      }
      case Instruction::Select:
        Adds = Same(I.getOperand(1)) && Same(I.getOperand(2));
        break;
      case Instruction::PHI:
        // What comes from the end of a loop is known later.
        Adds = true;
        break;
      case Instruction::Call:
        if (auto *II = dyn_cast<IntrinsicInst>(&I))
          Adds = (II->getIntrinsicID() == Intrinsic::fmuladd ||
                  II->getIntrinsicID() == Intrinsic::fma) &&
                 Used.size() == 1 && IsSum(II->getArgOperand(2));
        break;
      default:
        break;
      }
      if (!Adds)
        return no(Reason);
      auto Of = Found(Used[0])->second;
      Sums[&I] = Of;
    }
  // What comes together is the same sum on every way, or none.
  for (BasicBlock *Block : Order)
    for (PHINode &Phi : Block->phis()) {
      auto Of = Sums.find(&Phi);
      for (Value *V : Phi.incoming_values()) {
        auto Sum = Sums.find(V);
        bool Same = Of == Sums.end() ? Sum == Sums.end()
                                     : Sum != Sums.end() && Sum->second == Of->second;
        if (!Same)
          return no("it does more than add to what it shall increment");
      }
    }
  return true;
}

extern "C" {

bool okl_keeps_to_arguments(LLVMValueRef Kernel, const OklLaneArgument *Arguments, size_t Count,
                            OklTextSink Why, void *To) {
  LaneBody Body(*unwrap<Function>(Kernel), ArrayRef<OklLaneArgument>(Arguments, Count));
  if (Body.keepsToArguments())
    return true;
  Why(To, {Body.Why.data(), Body.Why.size()});
  return false;
}

bool okl_only_increments(LLVMValueRef Kernel, const OklLaneArgument *Arguments, size_t Count,
                         size_t Which) {
  LaneBody Body(*unwrap<Function>(Kernel), ArrayRef<OklLaneArgument>(Arguments, Count));
  return Body.onlyIncrements(Arguments[Which]);
}
}
