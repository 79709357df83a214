// The body of a loop for several elements at once. Its control flow becomes masks, its operations those of
// vectors; lane_data moves what it reads and writes. So results of one lane are computed by the same
// operations as without lanes.
//
// The caller guarantees that no written data overlap with those of another argument, except where both
// are increments through maps.
#include "lane_data.h"

#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

using namespace llvm;

namespace {

class Lanes : LaneData {
public:
  Lanes(Function &Range, Function &Rest, Function &Kernel, ArrayRef<OklLaneArgument> Arguments,
        unsigned Width)
      : LaneData(Range, Kernel, Arguments, Width), Rest(Rest),
        LibraryInfo(Range.getParent()->getTargetTriple()), Library(LibraryInfo, &Kernel) {}

  bool run() {
    if (!check())
      return false;
    begin();
    for (BasicBlock *Block : Order)
      if (!block(*Block))
        return false;
    if (!pays())
      return no("it computes too little for what it moves");
    return end();
  }

  using LaneBody::Why;

private:
  Function &Rest;
  TargetLibraryInfoImpl LibraryInfo;
  TargetLibraryInfo Library;
  BasicBlock *Exit, *Tail;
  Value *Next;

  DenseMap<Value *, Value *> Scalars, Vectors;
  // Under which mask control goes from one block to another; null: all lanes do.
  DenseMap<std::pair<BasicBlock *, BasicBlock *>, Value *> Edges;
  PHINode *BadRoots = nullptr;
  Value *BadRootsNow = nullptr;
  FunctionCallee Root;
  unsigned Work = 0, Moves = 0;

  // What can be told without writing anything.
  bool check() {
    DenseMap<BasicBlock *, unsigned> Position;
    for (BasicBlock *Block : Order)
      Position[Block] = Position.size();
    for (BasicBlock *Block : Order)
      for (BasicBlock *Successor : successors(Block))
        if (Position[Successor] <= Position[Block])
          return no("the kernel has a loop whose turns are not constant, or too many");
    for (const OklLaneArgument &A : Arguments) {
      bool Indirect = A.Place == OklLaneMapped || A.Place == OklLaneColumns;
      if (Indirect && A.Access == OklLaneReadWrite)
        return no("it reads and writes through a map, where elements may meet");
      if (A.Place == OklLaneGlobal && (A.Access == OklLaneWrite || A.Access == OklLaneReadWrite))
        return no("it writes a global argument");
    }
    return all_of(Arguments, [&](const OklLaneArgument &A) {
      bool Shared = A.Place == OklLaneMapped || A.Place == OklLaneColumns || A.Place == OklLaneGlobal;
      return A.Access != OklLaneIncrement || !Shared || onlyIncrements(A);
    });
  }

  // What a value of the body is: the same for all lanes, or a vector.
  Value *value(Value *V) {
    if (isa<ConstantData>(V) || isa<GlobalValue>(V) || isa<ConstantExpr>(V))
      return V;
    if (Value *Found = Scalars.lookup(V))
      return Found;
    if (Value *Found = Vectors.lookup(V))
      return Found;
    return none("the kernel computes an address that is not followed");
  }
  void define(Instruction &I, Value *V) { (isVector(V) ? Vectors : Scalars)[&I] = V; }

  // A condition may be poison where the mask is off.
  Value *both(Value *Mask, Value *Condition) {
    if (!Mask)
      return Condition;
    return select(Mask, Condition, ConstantInt::getFalse(Range.getContext()));
  }
  Value *either(Value *A, Value *B2) {
    if (isVector(A) || isVector(B2)) {
      A = splat(A);
      B2 = splat(B2);
    }
    return B.CreateOr(A, B2);
  }

  void begin() {
    LLVMContext &C = Range.getContext();
    Body = BasicBlock::Create(C, "lanes", &Range);
    Exit = BasicBlock::Create(C, "lanes.end", &Range);
    Tail = BasicBlock::Create(C, "rest", &Range);
    Type *I64 = B.getInt64Ty();
    From = AtEntry.CreateSExt(Range.getArg(2), I64);
    To = AtEntry.CreateSExt(Range.getArg(3), I64);
    B.SetInsertPoint(Body);
    Number = B.CreatePHI(I64, 2);
    Number->addIncoming(From, Entry);
    Next = B.CreateNSWAdd(Number, B.getInt64(Width));
  }

  Value *mask(BasicBlock &Block) {
    Value *Mask = nullptr;
    bool First = true;
    for (BasicBlock *Before : predecessors(&Block)) {
      auto Edge = Edges.find({Before, &Block});
      if (Edge == Edges.end())
        continue; // not reached
      if (!Edge->second)
        return nullptr;
      Mask = First ? Edge->second : either(Mask, Edge->second);
      First = false;
    }
    return Mask;
  }

  bool block(BasicBlock &Block) {
    Value *Mask = nullptr;
    if (&Block != &Kernel.getEntryBlock() && !postdominates(Block))
      Mask = mask(Block);
    for (Instruction &I : Block)
      if (!I.isTerminator() && !instruction(I, Mask))
        return no("the kernel has an instruction that is not known");
    return leave(Block, Mask);
  }

  std::unique_ptr<PostDominatorTree> PostDominators;
  bool postdominates(BasicBlock &Block) {
    if (!PostDominators)
      PostDominators = std::make_unique<PostDominatorTree>(Kernel);
    return PostDominators->dominates(&Block, &Kernel.getEntryBlock());
  }

  void edge(BasicBlock &From, BasicBlock *To, Value *Mask) {
    auto [Found, New] = Edges.insert({{&From, To}, Mask});
    if (!New && Found->second)
      Found->second = Mask ? either(Found->second, Mask) : nullptr;
  }

  bool leave(BasicBlock &Block, Value *Mask) {
    Instruction *End = Block.getTerminator();
    if (isa<ReturnInst>(End) || isa<UnreachableInst>(End))
      return true;
    if (auto *Branch = dyn_cast<BranchInst>(End)) {
      if (Branch->isUnconditional()) {
        edge(Block, Branch->getSuccessor(0), Mask);
        return true;
      }
      Value *Condition = value(Branch->getCondition());
      if (!Condition)
        return false;
      edge(Block, Branch->getSuccessor(0), both(Mask, Condition));
      edge(Block, Branch->getSuccessor(1), both(Mask, B.CreateNot(Condition)));
      return true;
    }
    if (auto *Switch = dyn_cast<SwitchInst>(End)) {
      Value *Condition = value(Switch->getCondition());
      if (!Condition)
        return false;
      Value *Other = nullptr;
      for (auto &Case : Switch->cases()) {
        Value *Number = Case.getCaseValue();
        Value *Equal =
            B.CreateICmpEQ(Condition, isVector(Condition) ? splat(Number) : Number);
        edge(Block, Case.getCaseSuccessor(), both(Mask, Equal));
        Other = Other ? either(Other, Equal) : Equal;
      }
      Other = Other ? both(Mask, B.CreateNot(Other)) : Mask;
      edge(Block, Switch->getDefaultDest(), Other);
      return true;
    }
    return no("the kernel ends in a way that is not known");
  }

  // Where an address leads to: a cell of an object.
  Cell *cell(Value *Pointer, uint64_t Bytes, Object *&Of) {
    Place At = place(Pointer);
    Of = At.Of;
    if (!Of)
      return nullptr;
    uint64_t Own = DL.getTypeStoreSize(Of->T);
    if (Own != Bytes || At.Offset < 0 || At.Offset % Own != 0)
      return none("the kernel takes a value apart");
    uint64_t Index = At.Offset / Own;
    if (Index >= Of->Cells.size())
      return none("the kernel accesses more components than it says");
    return &Of->Cells[Index];
  }

  // The type and number of the cells of the body's own variables follow from their use.
  bool shape(Value *Pointer, Type *T) {
    Place At = place(Pointer);
    if (!At.Of || At.Of->T || At.Of->Argument)
      return true;
    for (auto &[Variable, Of] : OfVariable)
      if (Of == At.Of) {
        auto Size = Variable->getAllocationSize(DL);
        if (!Size || Size->isScalable())
          return no("the kernel has a variable whose size is not constant");
        Of->T = T;
        Of->Cells.resize(Size->getFixedValue() / DL.getTypeStoreSize(T));
      }
    return true;
  }

  Value *asType(Value *V, Type *T) {
    Type *Wanted = isVector(V) ? vectorOf(T) : T;
    return V->getType() == Wanted ? V : B.CreateBitCast(V, Wanted);
  }

  bool put(Object &Of, Cell &Here, Value *New, Value *Mask) {
    if (Of.Argument && Of.Argument->Access == OklLaneRead)
      return no("the kernel writes what it shall read");
    New = asType(splat(New), Of.T);
    if (Mask) {
      bool Fetches = !(Of.indirect() && Of.Argument->Access == OklLaneWrite);
      if (!Fetches && !Here.Now)
        Here.Conditional = true, Here.Now = PoisonValue::get(vectorOf(Of.T));
      if (!fetch(Of, Here))
        return false;
      New = select(Mask, New, Here.Now);
    } else {
      Here.Conditional = false;
      // A reduction needs the value before, even if only to say that it was lost.
      if (Of.global() && !fetch(Of, Here))
        return false;
    }
    Here.Now = New;
    Here.Written = true;
    if (Of.Argument) {
      erase(Written, &Of);
      Written.push_back(&Of);
    }
    return true;
  }

  bool move(MemTransferInst &I, Value *Mask) {
    auto *Length = dyn_cast<ConstantInt>(I.getLength());
    Place Source = place(I.getRawSource()), Target = place(I.getRawDest());
    Type *T = Source.Of && Source.Of->T ? Source.Of->T : Target.Of ? Target.Of->T : nullptr;
    if (!Length || !Source.Of || !Target.Of || !T)
      return no("the kernel copies memory that is not followed");
    if (!shape(I.getRawSource(), T) || !shape(I.getRawDest(), T))
      return false;
    uint64_t Bytes = DL.getTypeStoreSize(T);
    if (Length->getZExtValue() % Bytes != 0)
      return no("the kernel takes a value apart");
    SmallVector<Value *, 8> Values;
    uint64_t Count = Length->getZExtValue() / Bytes;
    auto At = [&](Place Begin, uint64_t K) -> Cell * {
      uint64_t Index = Begin.Offset / Bytes + K;
      if (DL.getTypeStoreSize(Begin.Of->T) != Bytes || Begin.Offset < 0 ||
          Begin.Offset % Bytes != 0 || Index >= Begin.Of->Cells.size())
        return none("the kernel copies more components than there are");
      return &Begin.Of->Cells[Index];
    };
    for (uint64_t K = 0; K < Count; ++K) {
      Cell *Here = At(Source, K);
      if (!Here || !fetch(*Source.Of, *Here))
        return false;
      Values.push_back(Here->Now);
    }
    for (uint64_t K = 0; K < Count; ++K) {
      Cell *Here = At(Target, K);
      if (!Here || !put(*Target.Of, *Here, Values[K], Mask))
        return false;
    }
    return true;
  }

  bool fill(MemSetInst &I, Value *Mask) {
    auto *Length = dyn_cast<ConstantInt>(I.getLength());
    auto *Byte = dyn_cast<ConstantInt>(I.getValue());
    Place Target = place(I.getRawDest());
    if (!Length || !Byte || !Byte->isZero() || !Target.Of || !Target.Of->T)
      return no("the kernel fills memory that is not followed");
    uint64_t Bytes = DL.getTypeStoreSize(Target.Of->T);
    if (Target.Offset < 0 || Target.Offset % Bytes || Length->getZExtValue() % Bytes ||
        (Target.Offset + Length->getZExtValue()) / Bytes > Target.Of->Cells.size())
      return no("the kernel takes a value apart");
    for (uint64_t At = 0; At < Length->getZExtValue(); At += Bytes) {
      Cell &Here = Target.Of->Cells[(Target.Offset + At) / Bytes];
      if (!put(*Target.Of, Here, Constant::getNullValue(vectorOf(Target.Of->T)), Mask))
        return false;
    }
    return true;
  }

  bool instruction(Instruction &I, Value *Mask) {
    if (isa<AllocaInst>(I) || I.isDebugOrPseudoInst())
      return true;
    if (I.getType()->isVectorTy() || I.getType()->isAggregateType())
      return no("the kernel computes with values of several components");
    if (auto *Phi = dyn_cast<PHINode>(&I))
      return phi(*Phi);
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return load(*Load, Mask);
    if (auto *Store = dyn_cast<StoreInst>(&I)) {
      Type *T = Store->getValueOperand()->getType();
      if (!Store->isSimple() || T->isPointerTy() || !shape(Store->getPointerOperand(), T))
        return no("the kernel stores in a way that is not followed");
      Object *Of;
      Cell *Here = cell(Store->getPointerOperand(), DL.getTypeStoreSize(T), Of);
      if (!Here)
        return no("the kernel writes memory that is not an argument");
      Value *New = value(Store->getValueOperand());
      return New && put(*Of, *Here, New, Mask);
    }
    if (auto *Move = dyn_cast<MemTransferInst>(&I))
      return move(*Move, Mask);
    if (auto *Fill = dyn_cast<MemSetInst>(&I))
      return fill(*Fill, Mask);
    if (auto *Call = dyn_cast<CallBase>(&I))
      return call(*Call, Mask);
    if (I.getType()->isPointerTy())
      return address(I);
    if (auto *Compare = dyn_cast<ICmpInst>(&I);
        Compare && Compare->getOperand(0)->getType()->isPointerTy())
      return compare(*Compare);
    return compute(I, Mask);
  }

  // Addresses within arguments are followed where they are used.
  bool address(Instruction &I) {
    if (place(&I).Of)
      return true;
    SmallVector<Value *, 4> Operands;
    for (Value *V : I.operands()) {
      bool Known = isa<Constant>(V) || Scalars.contains(V);
      if (!Known)
        return true; // its use says what is wrong
      Operands.push_back(value(V));
    }
    return clone(I, Operands);
  }

  // Every argument is there.
  bool compare(ICmpInst &I) {
    Value *Other = I.getOperand(1);
    bool Known = I.isEquality() && isa<ConstantPointerNull>(Other) &&
                 place(I.getOperand(0)).Of && place(I.getOperand(0)).Offset == 0;
    if (!Known)
      return no("the kernel compares addresses");
    define(I, B.getInt1(I.getPredicate() == ICmpInst::ICMP_NE));
    return true;
  }

  bool clone(Instruction &I, ArrayRef<Value *> Operands) {
    Instruction *Copy = I.clone();
    for (unsigned K = 0; K < Operands.size(); ++K)
      Copy->setOperand(K, Operands[K]);
    Copy->dropUnknownNonDebugMetadata();
    Copy->setDebugLoc(DebugLoc());
    B.Insert(Copy);
    Scalars[&I] = Copy;
    return true;
  }

  bool phi(PHINode &I) {
    if (I.getType()->isPointerTy())
      return true;
    Value *Result = nullptr;
    for (unsigned K = 0; K < I.getNumIncomingValues(); ++K) {
      auto Edge = Edges.find({I.getIncomingBlock(K), I.getParent()});
      if (Edge == Edges.end())
        continue;
      Value *V = value(I.getIncomingValue(K));
      if (!V)
        return false;
      Result = Result && Edge->second ? select(Edge->second, V, Result) : V;
    }
    if (!Result)
      return no("the kernel has code that is never reached");
    define(I, Result);
    return true;
  }

  bool load(LoadInst &I, Value *Mask) {
    if (!I.isSimple())
      return no("the kernel accesses memory that others see change");
    if (I.getType()->isPointerTy()) {
      Place At = place(&I);
      return At.Of ? true : no("the kernel loads an address");
    }
    if (!shape(I.getPointerOperand(), I.getType()))
      return false;
    Object *Of;
    if (Cell *Here = cell(I.getPointerOperand(), DL.getTypeStoreSize(I.getType()), Of)) {
      if (!fetch(*Of, *Here))
        return false;
      if (Here->Conditional)
        return no("it reads what only some elements write");
      if (Of->indirect() && Of->Argument->Access == OklLaneWrite && !Here->Written)
        return no("it reads what it shall write through a map");
      define(I, asType(Here->Now, I.getType()));
      return true;
    }
    if (Of)
      return false;
    // The same for all lanes.
    Value *Pointer = I.getPointerOperand();
    if (!isa<Constant>(Pointer) && !Scalars.contains(Pointer))
      return no("the kernel reads memory at a computed place");
    if (Mask && !isDereferenceableAndAlignedPointer(Pointer, I.getType(), I.getAlign(), DL))
      return no("the kernel reads memory on a condition");
    return clone(I, {value(Pointer)});
  }

  static unsigned weight(Instruction &I) {
    switch (I.getOpcode()) {
    case Instruction::FDiv:
    case Instruction::FRem:
    case Instruction::SDiv:
    case Instruction::UDiv:
      return 8;
    case Instruction::Call:
      return 4;
    default:
      return 1;
    }
  }

  bool compute(Instruction &I, Value *Mask) {
    SmallVector<Value *, 4> Operands;
    bool Uniform = true;
    for (Value *Operand : I.operands()) {
      Value *V = value(Operand);
      if (!V)
        return false;
      Uniform &= !isVector(V);
      Operands.push_back(V);
    }
    bool Divides = I.isIntDivRem();
    if (Uniform && !(Divides && Mask))
      return clone(I, Operands);
    Work += weight(I);
    for (Value *&V : Operands)
      if (!isa<SelectInst>(I) || isVector(V) || &V != &Operands[0])
        V = splat(V);
    Type *T = vectorOf(I.getType());
    Value *New;
    if (auto *Op = dyn_cast<BinaryOperator>(&I)) {
      if (Divides && Mask)
        Operands[1] = select(Mask, Operands[1], splat(ConstantInt::get(I.getType(), 1)));
      New = B.CreateBinOp(Op->getOpcode(), Operands[0], Operands[1]);
    } else if (auto *Op = dyn_cast<UnaryOperator>(&I)) {
      New = B.CreateUnOp(Op->getOpcode(), Operands[0]);
    } else if (auto *Op = dyn_cast<CmpInst>(&I)) {
      New = B.CreateCmp(Op->getPredicate(), Operands[0], Operands[1]);
    } else if (auto *Op = dyn_cast<CastInst>(&I)) {
      if (Op->getSrcTy()->isPointerTy() || Op->getDestTy()->isPointerTy())
        return no("the kernel computes with addresses");
      New = B.CreateCast(Op->getOpcode(), Operands[0], T);
    } else if (isa<SelectInst>(I)) {
      New = B.CreateSelect(Operands[0], Operands[1], Operands[2]);
    } else if (isa<FreezeInst>(I)) {
      New = B.CreateFreeze(Operands[0]);
    } else {
      return no(Twine("the kernel has an instruction '") + I.getOpcodeName() + "'");
    }
    if (auto *Made = dyn_cast<Instruction>(New))
      Made->copyIRFlags(&I);
    Vectors[&I] = New;
    return true;
  }

  bool call(CallBase &I, Value *Mask) {
    Function *Callee = I.getCalledFunction();
    if (!Callee)
      return no("the kernel calls a function that is not known");
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I)) {
      Intrinsic::ID ID = Intrinsic->getIntrinsicID();
      if (isa<AssumeInst>(I) || Intrinsic->isLifetimeStartOrEnd() ||
          ID == Intrinsic::experimental_noalias_scope_decl)
        return true;
      if (isTriviallyVectorizable(ID) && !I.getType()->isVoidTy())
        return elementwise(*Intrinsic, ID);
    }
    LibFunc Function;
    if (Library.getLibFunc(I, Function) && Library.has(Function)) {
      if (Function == LibFunc_sqrt || Function == LibFunc_sqrtf)
        return root(I, Mask);
      if (isElementaryFunction(Function))
        return laneByLane(I, Mask);
    }
    return no("the kernel calls " + Callee->getName());
  }

  bool elementwise(IntrinsicInst &I, Intrinsic::ID ID) {
    SmallVector<Value *, 4> Operands;
    bool Uniform = true;
    for (Value *Operand : I.args()) {
      Value *V = value(Operand);
      if (!V)
        return false;
      Uniform &= !isVector(V);
      Operands.push_back(V);
    }
    if (Uniform)
      return clone(I, Operands);
    Work += weight(I);
    SmallVector<Type *, 2> Overloads;
    if (isVectorIntrinsicWithOverloadTypeAtArg(ID, -1, nullptr))
      Overloads.push_back(vectorOf(I.getType()));
    for (unsigned K = 0; K < Operands.size(); ++K) {
      if (isVectorIntrinsicWithScalarOpAtArg(ID, K, nullptr)) {
        if (isVector(Operands[K]))
          return no("the kernel calls a function that is not known");
      } else {
        Operands[K] = splat(Operands[K]);
      }
      if (isVectorIntrinsicWithOverloadTypeAtArg(ID, K, nullptr))
        Overloads.push_back(Operands[K]->getType());
    }
    auto *New = B.CreateIntrinsic(ID, Overloads, Operands);
    New->copyIRFlags(&I);
    Vectors[&I] = New;
    return true;
  }

  // A square root of a negative number sets errno. Nothing in the body can see that, so it is enough
  // to set it once, in the end.
  bool root(CallBase &I, Value *Mask) {
    Value *Of = value(I.getArgOperand(0));
    if (!Of)
      return false;
    Of = splat(Of);
    Work += 8;
    auto *New = B.CreateUnaryIntrinsic(Intrinsic::sqrt, Of);
    if (auto *Made = dyn_cast<Instruction>(New))
      Made->copyIRFlags(&I);
    Vectors[&I] = New;
    if (I.doesNotAccessMemory())
      return true;
    Value *Bad = B.CreateFCmpOLT(Of, Constant::getNullValue(Of->getType()));
    Bad = splat(both(Mask, Bad));
    if (!BadRoots) {
      IRBuilder<> AtTop(Body, Body->begin());
      Type *T = Bad->getType();
      BadRoots = AtTop.CreatePHI(T, 2);
      BadRoots->addIncoming(Constant::getNullValue(T), Entry);
      BadRootsNow = BadRoots;
      Root = FunctionCallee(I.getFunctionType(), I.getCalledFunction());
    }
    BadRootsNow = B.CreateOr(BadRootsNow, Bad);
    return true;
  }

  // Of numbers, and errno is all they change; of 1 they are a number.
  static bool isElementaryFunction(LibFunc Function) {
    switch (Function) {
    case LibFunc_exp: case LibFunc_expf: case LibFunc_exp2: case LibFunc_exp2f:
    case LibFunc_log: case LibFunc_logf: case LibFunc_log2: case LibFunc_log2f:
    case LibFunc_log10: case LibFunc_log10f: case LibFunc_pow: case LibFunc_powf:
    case LibFunc_sin: case LibFunc_sinf: case LibFunc_cos: case LibFunc_cosf:
    case LibFunc_tan: case LibFunc_tanf: case LibFunc_asin: case LibFunc_asinf:
    case LibFunc_acos: case LibFunc_acosf: case LibFunc_atan: case LibFunc_atanf:
    case LibFunc_atan2: case LibFunc_atan2f: case LibFunc_sinh: case LibFunc_sinhf:
    case LibFunc_cosh: case LibFunc_coshf: case LibFunc_tanh: case LibFunc_tanhf:
    case LibFunc_cbrt: case LibFunc_cbrtf: case LibFunc_fmod: case LibFunc_fmodf:
      return true;
    default:
      return false;
    }
  }

  bool laneByLane(CallBase &I, Value *Mask) {
    SmallVector<Value *, 2> Operands;
    for (Value *Operand : I.args()) {
      Value *V = value(Operand);
      if (!V || !Operand->getType()->isFloatingPointTy())
        return no("the kernel calls a function that is not known");
      V = splat(V);
      if (Mask)
        V = select(Mask, V, splat(ConstantFP::get(Operand->getType(), 1)));
      Operands.push_back(V);
    }
    Value *All = PoisonValue::get(vectorOf(I.getType()));
    for (unsigned L = 0; L < Width; ++L) {
      SmallVector<Value *, 2> Own;
      for (Value *V : Operands)
        Own.push_back(B.CreateExtractElement(V, B.getInt64(L)));
      CallInst *One = B.CreateCall(I.getFunctionType(), I.getCalledOperand(), Own);
      One->setAttributes(I.getAttributes());
      One->setCallingConv(I.getCallingConv());
      if (isa<FPMathOperator>(One))
        One->copyFastMathFlags(&I);
      All = B.CreateInsertElement(All, One, B.getInt64(L));
    }
    Vectors[&I] = All;
    return true;
  }

  // Whether what is computed at once is worth the rearrangement.
  bool pays() {
    for (Object &Of : Objects)
      if (Of.Argument && !Of.global() && !(Of.Argument->ByComponent && contiguous(Of)))
        for (Cell &Here : Of.Cells)
          Moves += (Here.Now != nullptr) + Here.Written;
    return 2 * Work >= Moves;
  }

  bool end() {
    if (!putBack())
      return false;
    Number->addIncoming(Next, Body);
    Value *More = B.CreateICmpSLE(B.CreateNSWAdd(Next, B.getInt64(Width)), To);
    BranchInst *Back = B.CreateCondBr(More, Body, Exit);
    LLVMContext &C = Range.getContext();
    auto Flag = [&](StringRef Name) { return MDNode::get(C, MDString::get(C, Name)); };
    MDNode *Loop = MDNode::getDistinct(
        C, {nullptr, Flag("llvm.loop.unroll.disable"), Flag("llvm.loop.isvectorized")});
    Loop->replaceOperandWith(0, Loop);
    Back->setMetadata(LLVMContext::MD_loop, Loop);

    AtEntry.CreateCondBr(isAsExpected(), Body, Tail);
    B.SetInsertPoint(Exit);
    for (Object &Of : Objects)
      for (Cell &Here : Of.Cells)
        if (Here.Carried)
          reduce(Of, Here);
    if (BadRoots) {
      BadRoots->addIncoming(BadRootsNow, Body);
      setErrno();
    }
    B.CreateBr(Tail);

    B.SetInsertPoint(Tail);
    PHINode *First = B.CreatePHI(B.getInt64Ty(), 3);
    First->addIncoming(From, Entry);
    for (BasicBlock *Before : predecessors(Tail))
      if (Before != Entry)
        First->addIncoming(Next, Before);
    Value *Operands[] = {Range.getArg(0), Range.getArg(1), B.CreateTrunc(First, B.getInt32Ty()),
                         Range.getArg(3)};
    B.CreateCall(&Rest, Operands);
    B.CreateRetVoid();
    return true;
  }

  void setErrno() {
    LLVMContext &C = Range.getContext();
    BasicBlock *Set = BasicBlock::Create(C, "errno", &Range, Tail);
    BasicBlock *Done = BasicBlock::Create(C, "", &Range, Tail);
    B.CreateCondBr(B.CreateOrReduce(BadRootsNow), Set, Done);
    B.SetInsertPoint(Set);
    Type *T = Root.getFunctionType()->getParamType(0);
    B.CreateCall(Root, {ConstantFP::get(T, -1)});
    B.CreateBr(Done);
    B.SetInsertPoint(Done);
  }
};

} // namespace

extern "C" {

unsigned okl_vector_bits(void *Analyses, LLVMValueRef F) {
  auto &MAM = *static_cast<ModuleAnalysisManager *>(Analyses);
  auto &Of = *unwrap<Function>(F);
  auto &FAM =
      MAM.getResult<FunctionAnalysisManagerModuleProxy>(*Of.getParent()).getManager();
  auto &Target = FAM.getResult<TargetIRAnalysis>(Of);
  return Target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
}

void okl_compile_like(LLVMValueRef F, LLVMValueRef Other) {
  static const char *const Names[] = {"target-cpu",           "target-features",
                                      "tune-cpu",             "prefer-vector-width",
                                      "min-legal-vector-width", "frame-pointer"};
  auto &Of = *unwrap<Function>(F), &From = *unwrap<Function>(Other);
  for (const char *Name : Names)
    if (From.hasFnAttribute(Name))
      Of.addFnAttr(From.getFnAttribute(Name));
  if (From.hasFnAttribute(Attribute::UWTable))
    Of.addFnAttr(From.getFnAttribute(Attribute::UWTable));
}

bool okl_write_lanes(LLVMValueRef Range, LLVMValueRef Rest, LLVMValueRef Kernel,
                     const OklLaneArgument *Arguments, size_t Count, unsigned Width,
                     OklTextSink Why, void *To) {
  Lanes L(*unwrap<Function>(Range), *unwrap<Function>(Rest), *unwrap<Function>(Kernel),
          ArrayRef<OklLaneArgument>(Arguments, Count), Width);
  if (L.run())
    return true;
  Why(To, {L.Why.data(), L.Why.size()});
  return false;
}
}
