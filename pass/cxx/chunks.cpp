// Loops with schedule(static, chunk), as clang writes them before anything is simplified: their chunks and
// the iterations of a chunk are counted from zero. LLVM then knows how often both loops run, where it cannot
// see through bounds that are carried from chunk to chunk.
#include "shim.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

bool isLoadOf(Value *V, AllocaInst *Variable) {
  auto *Load = dyn_cast<LoadInst>(V);
  return Load && !Load->isVolatile() && Load->getPointerOperand() == Variable;
}

// Whether a value is the sum of the two variables.
bool isSum(Value *V, AllocaInst *A, AllocaInst *B) {
  auto *Sum = dyn_cast<BinaryOperator>(V);
  return Sum && Sum->getOpcode() == Instruction::Add && isLoadOf(Sum->getOperand(0), A) &&
         isLoadOf(Sum->getOperand(1), B);
}

// The stores to a variable that nothing uses but loads, stores and the call; false where more does.
bool storesTo(AllocaInst *Variable, CallBase &Call, SmallVectorImpl<StoreInst *> &Stores) {
  for (User *U : Variable->users()) {
    if (auto *Store = dyn_cast<StoreInst>(U)) {
      if (Store->getPointerOperand() != Variable || Store->getValueOperand() == Variable ||
          Store->isVolatile())
        return false;
      Stores.push_back(Store);
    } else if (U != &Call && !isLoadOf(U, Variable) &&
               !(isa<CallBase>(U) && cast<CallBase>(U)->isLifetimeStartOrEnd())) {
      return false;
    }
  }
  return true;
}

// The branch of a block that asks whether the counter is not beyond the upper bound; null where it does
// something else.
BranchInst *bounded(BasicBlock *Block, AllocaInst *Counter, AllocaInst *Upper, bool Signed) {
  auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
  if (!Branch || !Branch->isConditional())
    return nullptr;
  auto *Compare = dyn_cast<ICmpInst>(Branch->getCondition());
  if (!Compare || Compare->getParent() != Block || !isLoadOf(Compare->getOperand(0), Counter))
    return nullptr;
  Value *Bound = Compare->getOperand(1);
  CmpInst::Predicate Predicate = Compare->getPredicate();
  // clang asks whether an unsigned counter is less than the bound plus one.
  auto *Beyond = dyn_cast<BinaryOperator>(Bound);
  auto *One = Beyond ? dyn_cast<ConstantInt>(Beyond->getOperand(1)) : nullptr;
  bool Asks = Signed ? Predicate == CmpInst::ICMP_SLE && isLoadOf(Bound, Upper)
                     : Predicate == CmpInst::ICMP_ULT && One && One->isOne() &&
                           Beyond->getOpcode() == Instruction::Add &&
                           isLoadOf(Beyond->getOperand(0), Upper);
  return Asks ? Branch : nullptr;
}

// The parts of such a loop.
struct Chunks {
  AllocaInst *Lower, *Upper, *Stride;
  BranchInst *Outer, *Inner; // that ask whether there is one more chunk, and iteration
  StoreInst *NextChunk, *NextIteration;
};

bool find(CallBase &Call, bool Signed, Chunks &Found) {
  auto Variable = [&](unsigned Index) { return dyn_cast<AllocaInst>(Call.getArgOperand(Index)); };
  AllocaInst *Lower = Variable(4), *Upper = Variable(5), *Stride = Variable(6);
  auto *Increment = dyn_cast<ConstantInt>(Call.getArgOperand(7));
  SmallVector<StoreInst *, 4> Lowers, Uppers, Strides, Counts;
  if (!Lower || !Upper || !Stride || !Increment || !Increment->isOne() ||
      !storesTo(Lower, Call, Lowers) || !storesTo(Upper, Call, Uppers) ||
      !storesTo(Stride, Call, Strides))
    return false;
  auto IsBefore = [&](StoreInst *Store) {
    return Store->getParent() == Call.getParent() && Store->comesBefore(&Call);
  };
  erase_if(Lowers, IsBefore);
  erase_if(Uppers, IsBefore);
  erase_if(Strides, IsBefore);
  // Both bounds are advanced by the stride; the upper one is clipped.
  if (Lowers.size() != 1 || Uppers.size() != 2 || !Strides.empty() ||
      !isSum(Lowers[0]->getValueOperand(), Lower, Stride))
    return false;
  if (Uppers[0]->getParent() != Lowers[0]->getParent())
    std::swap(Uppers[0], Uppers[1]);
  if (Uppers[0]->getParent() != Lowers[0]->getParent() ||
      !isSum(Uppers[0]->getValueOperand(), Upper, Stride) ||
      !isa<PHINode>(Uppers[1]->getValueOperand()))
    return false;
  // A chunk begins where the counter becomes the lower bound.
  BasicBlock *Begin = Uppers[1]->getParent();
  AllocaInst *Counter = nullptr;
  for (Instruction &I : *Begin)
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && isLoadOf(Store->getValueOperand(), Lower))
      Counter = dyn_cast<AllocaInst>(Store->getPointerOperand());
  if (!Counter || !storesTo(Counter, Call, Counts) || Counts.size() != 2)
    return false;
  if (Counts[0]->getParent() != Begin)
    std::swap(Counts[0], Counts[1]);
  auto *Next = dyn_cast<BinaryOperator>(Counts[1]->getValueOperand());
  auto *One = Next ? dyn_cast<ConstantInt>(Next->getOperand(1)) : nullptr;
  if (Counts[0]->getParent() != Begin || Counts[1]->getParent() == Begin || !One || !One->isOne() ||
      Next->getOpcode() != Instruction::Add || !isLoadOf(Next->getOperand(0), Counter))
    return false;
  BranchInst *Outer = bounded(Begin, Counter, Upper, Signed);
  BasicBlock *Body = Outer ? Outer->getSuccessor(0) : nullptr;
  BasicBlock *Head = Body && Body->getSinglePredecessor() ? Body->getSingleSuccessor() : nullptr;
  BranchInst *Inner = Head ? bounded(Head, Counter, Upper, Signed) : nullptr;
  if (!Inner)
    return false;
  // Into the inner loop there is one way, and one around it.
  BasicBlock *Around = Counts[1]->getParent();
  for (BasicBlock *Before : predecessors(Head))
    if (Before != Body && Before != Around)
      return false;
  if (Around->getSingleSuccessor() != Head ||
      Lowers[0]->getParent()->getSingleSuccessor() == nullptr)
    return false;
  Found = {Lower, Upper, Stride, Outer, Inner, Lowers[0], Counts[1]};
  return true;
}

} // namespace

extern "C" void okl_count_chunks(LLVMValueRef Of, bool Signed) {
  auto &Call = *unwrap<CallBase>(Of);
  Chunks Loop;
  if (!find(Call, Signed, Loop))
    return;
  Function &F = *Call.getFunction();
  IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().getFirstInsertionPt());
  Type *I64 = B.getInt64Ty();
  AllocaInst *Chunk = B.CreateAlloca(I64, nullptr, "okl.chunk");
  AllocaInst *Iteration = B.CreateAlloca(I64, nullptr, "okl.iteration");
  auto Load = [&](AllocaInst *Variable) {
    return B.CreateIntCast(B.CreateLoad(Variable->getAllocatedType(), Variable), I64, Signed);
  };
  auto Count = [&](AllocaInst *Counter, StoreInst *After) {
    B.SetInsertPoint(After->getNextNode());
    B.CreateStore(B.CreateNSWAdd(B.CreateLoad(I64, Counter), B.getInt64(1)), Counter);
  };
  Value *Zero = B.getInt64(0), *One = B.getInt64(1);
  B.SetInsertPoint(&Call);
  Value *Last = Load(Loop.Upper);
  B.SetInsertPoint(Call.getNextNode());
  Value *First = Load(Loop.Lower), *Stride = Load(Loop.Stride);
  Value *Length = B.CreateAdd(B.CreateSub(Load(Loop.Upper), First), One);
  // The runtime says that a thread has no chunk by a lower bound beyond the last iteration.
  Value *None = B.CreateICmp(Signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT, First, Last);
  Value *More = B.CreateUDiv(B.CreateSub(Last, First),
                             B.CreateBinaryIntrinsic(Intrinsic::umax, Stride, One));
  Value *Chunks = B.CreateSelect(None, Zero, B.CreateAdd(More, One));
  B.CreateStore(Zero, Chunk);

  B.SetInsertPoint(Loop.Outer);
  Value *Number = B.CreateLoad(I64, Chunk);
  Loop.Outer->setCondition(B.CreateICmpULT(Number, Chunks));

  B.SetInsertPoint(Loop.Outer->getSuccessor(0)->getTerminator());
  Value *Left = B.CreateSub(Last, B.CreateAdd(First, B.CreateMul(Number, Stride)));
  Value *Iterations = B.CreateBinaryIntrinsic(Intrinsic::smin, Length, B.CreateAdd(Left, One));
  B.CreateAssumption(B.CreateICmpSGT(Iterations, Zero));
  B.CreateStore(Zero, Iteration);

  B.SetInsertPoint(Loop.Inner);
  Loop.Inner->setCondition(B.CreateICmpSLT(B.CreateLoad(I64, Iteration), Iterations));
  Count(Iteration, Loop.NextIteration);
  Count(Chunk, Loop.NextChunk);
}
