#include "prepare.h"

#include "shim.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/ScopedNoAliasAA.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace {

// In a function with more queries the rest stays where it is.
constexpr unsigned MostQueries = 400000;

// Whether nothing but loads, stores and our own tables use an address, so that it is in no other
// pointer. `Sites` gets the stores of the address itself into the captured values of a fork.
bool staysWithAccesses(Value *Address, SmallVectorImpl<StoreInst *> *Sites) {
  SmallVector<Value *, 8> Rest{Address};
  unsigned Seen = 0;
  while (!Rest.empty()) {
    Value *V = Rest.pop_back_val();
    for (User *U : V->users()) {
      if (++Seen > 5000)
        return false;
      if (isa<LoadInst, ICmpInst, MemIntrinsic>(U))
        continue;
      if (auto *Store = dyn_cast<StoreInst>(U)) {
        if (Store->getValueOperand() != V)
          continue;
        if (!Sites || V != Address)
          return false;
        Sites->push_back(Store);
      } else if (isa<GEPOperator>(U)) {
        Rest.push_back(U);
      } else if (auto *Call = dyn_cast<CallBase>(U)) {
        auto *Callee = Call->getCalledFunction();
        bool Quiet = Callee && (okl_keeps_no_pointer(text(Callee->getName())) ||
                                Callee->getName().starts_with("llvm.lifetime") ||
                                Callee->getName().starts_with("llvm.dbg"));
        if (!Quiet)
          return false;
      } else if (isa<ConstantAggregate>(U)) {
        // The runtime's list of shared variables.
        for (User *Table : U->users())
          if (isa<ConstantAggregate>(Table))
            Rest.push_back(U);
          else if (!isa<GlobalVariable>(Table) || !(Table->getName().starts_with("okl.") ||
                                                    Table->getName().starts_with("llvm.")))
            return false;
      } else if (auto *Global = dyn_cast<GlobalVariable>(U)) {
        if (!Global->getName().starts_with("okl.") && !Global->getName().starts_with("llvm."))
          return false;
      } else {
        return false;
      }
    }
  }
  return true;
}

// The body of the region that a call begins; null of any other call.
Function *bodyOf(CallBase &Fork) {
  return dyn_cast_or_null<Function>(unwrap(okl_region_body(wrap(&Fork))));
}

// The forks of a region's body; false where it is run in another way too.
bool forksOf(Function &Body, SmallVectorImpl<CallBase *> &Forks) {
  for (User *U : Body.users()) {
    if (auto *Call = dyn_cast<CallBase>(U)) {
      if (Call->getCalledFunction() == &Body &&
          Call->getFunction()->getName().starts_with("okl.invoke."))
        continue;
      return false;
    }
    if (!isa<ConstantAggregate>(U))
      return false;
    for (User *Descriptor : U->users()) {
      auto *Global = dyn_cast<GlobalVariable>(Descriptor);
      if (!Global) {
        // Part of a list of functions.
        if (!isa<ConstantAggregate>(Descriptor))
          return false;
        continue;
      }
      for (User *Fork : Global->users())
        if (auto *Call = dyn_cast<CallBase>(Fork); Call && bodyOf(*Call) == &Body)
          Forks.push_back(Call);
    }
  }
  return !Forks.empty();
}

// The value that a fork hands over as number Index; null where that is not plain.
Value *captured(CallBase &Fork, unsigned Index, const DataLayout &DL) {
  if (Fork.arg_size() < 2)
    return nullptr;
  auto *Slots = dyn_cast<AllocaInst>(Fork.getArgOperand(1)->stripPointerCasts());
  if (!Slots)
    return nullptr;
  Value *Found = nullptr;
  SmallVector<std::pair<Value *, int64_t>, 8> Rest{{Slots, 0}};
  while (!Rest.empty()) {
    auto [V, Offset] = Rest.pop_back_val();
    for (User *U : V->users()) {
      if (auto *Store = dyn_cast<StoreInst>(U)) {
        if (Store->getValueOperand() == V)
          return nullptr;
        int64_t Bytes = DL.getTypeStoreSize(Store->getValueOperand()->getType()).getFixedValue();
        if (Offset + Bytes <= Index * 8 || Offset >= int64_t(Index) * 8 + 8)
          continue;
        // A fork that LLVM copied stores the same value once more.
        Value *Stored = Store->getValueOperand();
        if ((Found && Found != Stored) || Offset != int64_t(Index) * 8)
          return nullptr;
        Found = Stored;
      } else if (auto *GEP = dyn_cast<GEPOperator>(U)) {
        APInt Distance(64, 0);
        if (!GEP->accumulateConstantOffset(DL, Distance))
          return nullptr;
        Rest.push_back({U, Offset + Distance.getSExtValue()});
      } else {
        auto *Call = dyn_cast<CallBase>(U);
        Function *Callee = Call ? Call->getCalledFunction() : nullptr;
        bool Harmless = Callee && (okl_forks(text(Callee->getName())) ||
                                   Callee->getName().starts_with("llvm.lifetime."));
        if (!Harmless)
          return nullptr;
      }
    }
  }
  return Found;
}

// Whether pointers to an object are computed from this value only: a local variable of the module,
// or a captured variable whose address goes nowhere else.
bool isSoleAccess(Value *Object, const DataLayout &DL) {
  if (auto *Global = dyn_cast<GlobalVariable>(Object))
    return Global->hasLocalLinkage() && staysWithAccesses(Global, nullptr);
  if (isa<AllocaInst>(Object))
    return staysWithAccesses(Object, nullptr);
  auto *Parameter = dyn_cast<Argument>(Object);
  SmallVector<CallBase *, 4> Forks;
  if (!Parameter || Parameter->getArgNo() < 2 || !forksOf(*Parameter->getParent(), Forks) ||
      !staysWithAccesses(Parameter, nullptr))
    return false;
  for (CallBase *Fork : Forks) {
    Value *V = captured(*Fork, Parameter->getArgNo() - 2, DL);
    SmallVector<StoreInst *, 8> Sites;
    if (!isa_and_nonnull<AllocaInst>(V) || !staysWithAccesses(V, &Sites))
      return false;
    // Every store of the address is into the slots of a fork, whose body keeps it to itself too.
    for (StoreInst *Site : Sites) {
      APInt Offset(64, 0);
      auto *Slots = dyn_cast<AllocaInst>(
          Site->getPointerOperand()->stripAndAccumulateConstantOffsets(DL, Offset, true));
      if (!Slots)
        return false;
      bool Handed = false;
      for (User *U : Slots->users()) {
        auto *Call = dyn_cast<CallBase>(U);
        if (!Call || Call->isLifetimeStartOrEnd())
          continue;
        Function *Body = bodyOf(*Call);
        uint64_t Index = Offset.getZExtValue() / 8 + 2;
        if (!Body || Index >= Body->arg_size() ||
            !staysWithAccesses(Body->getArg(Index), nullptr))
          return false;
        Handed = true;
      }
      if (!Handed)
        return false;
    }
  }
  return true;
}

// Whether an atomic update cannot be one of an object of the type that a load has: clang says the types
// of loads where the program may not access an object as if it were of another.
bool isOfAnotherType(CallBase &Update, LoadInst &Load, const DataLayout &DL) {
  MDNode *Tag = Load.getMetadata(LLVMContext::MD_tbaa);
  auto *Operation = dyn_cast<ConstantInt>(Update.getArgOperand(1));
  auto *Size = dyn_cast<ConstantInt>(Update.getArgOperand(3));
  if (!Tag || !Operation || !Size || Tag->getNumOperands() < 3)
    return false;
  bool IsPointer = false, IsFloating = false, IsInteger = false;
  auto *Type = dyn_cast<MDNode>(Tag->getOperand(1));
  auto *Name = Type && Type->getNumOperands() ? dyn_cast<MDString>(Type->getOperand(0)) : nullptr;
  if (!Name)
    return false;
  IsFloating = Name->getString() == "double" || Name->getString() == "float";
  IsInteger = is_contained({"short", "int", "long", "long long"}, Name->getString());
  for (; Type && Type->getNumOperands() > 1; Type = dyn_cast<MDNode>(Type->getOperand(1))) {
    auto *Parent = dyn_cast<MDString>(Type->getOperand(0));
    IsPointer |= Parent && Parent->getString() == "any pointer";
  }
  // okl_abi::AtomicOp, from FAdd on.
  if (Operation->getZExtValue() >= 11)
    return IsPointer || IsInteger;
  // A byte may be a part of anything, and C++ adds to atomic pointers as to integers.
  uint64_t Bytes = Size->getZExtValue();
  return Bytes > 1 && (IsFloating || (IsPointer && Bytes != DL.getPointerSize()));
}

class Hoister {
public:
  Hoister(Function &F, DominatorTree &DT, LoopInfo &LI, AssumptionCache &AC,
          TargetLibraryInfo &Library)
      : F(F), DT(DT), LI(LI), AC(AC), DL(F.getDataLayout()), AA(Library),
        Basic(DL, F, Library, AC, &DT), Typed(false) {
    AA.addAAResult(Basic);
    AA.addAAResult(Scoped);
    AA.addAAResult(Typed);
  }

  void run() {
    // Loads that are equal now may make addresses invariant that were not.
    for (unsigned Round = 0; Round < 3 && hoistAll(); ++Round)
      mergePhis();
  }

private:
  Function &F;
  DominatorTree &DT;
  LoopInfo &LI;
  AssumptionCache &AC;
  const DataLayout &DL;
  AAResults AA;
  BasicAAResult Basic;
  ScopedNoAliasAAResult Scoped;
  TypeBasedAAResult Typed;
  DenseMap<Loop *, SmallVector<Instruction *, 32>> Writers;
  DenseMap<Value *, bool> SoleAccesses;
  unsigned Queries = 0;

  bool hoistAll() {
    bool Changed = false;
    for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F))
      for (Instruction &I : make_early_inc_range(*Block))
        if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple())
          Changed |= hoist(*Load);
    return Changed;
  }

  // Replaces phis that are the same value on every path: LLVM carries loaded bounds around loops.
  void mergePhis() {
    // Null: nothing known to the contrary yet; the phi itself: several values.
    DenseMap<PHINode *, Value *> Same;
    SmallVector<PHINode *, 32> Phis;
    for (BasicBlock &Block : F)
      for (PHINode &Phi : Block.phis()) {
        Same[&Phi] = nullptr;
        Phis.push_back(&Phi);
      }
    bool Changed = true;
    while (Changed) {
      Changed = false;
      for (PHINode *Phi : Phis) {
        Value *Value = nullptr;
        for (llvm::Value *In : Phi->incoming_values()) {
          if (auto *Other = dyn_cast<PHINode>(In))
            In = Same[Other];
          if (!In || In == Value)
            continue;
          Value = Value ? Phi : In;
          if (Value == Phi)
            break;
        }
        if (Same[Phi] != Phi && Same[Phi] != Value) {
          Same[Phi] = Same[Phi] ? Phi : Value;
          Changed = true;
        }
      }
    }
    for (PHINode *Phi : Phis)
      if (auto *Value = Same[Phi]; Value && Value != Phi && !isa<PHINode>(Value)) {
        // Values leave their loops through phis.
        auto *I = dyn_cast<Instruction>(Value);
        Loop *L = I ? LI.getLoopFor(I->getParent()) : nullptr;
        if (L && !L->contains(Phi))
          continue;
        Phi->replaceAllUsesWith(Value);
        Phi->eraseFromParent();
      }
  }

  // Out of the outermost loop that allows it.
  bool hoist(LoadInst &Load) {
    SmallVector<Loop *, 4> Around;
    for (Loop *L = LI.getLoopFor(Load.getParent()); L; L = L->getParentLoop())
      Around.push_back(L);
    for (Loop *L : reverse(Around)) {
      BasicBlock *Preheader = L->getLoopPreheader();
      if (!Preheader || !movable(Load.getPointerOperand(), L) ||
          !loadable(Load, Preheader->getTerminator()) || written(Load, L))
        continue;
      Instruction *At = Preheader->getTerminator();
      move(Load.getPointerOperand(), L, At);
      if (Value *Equal = before(Load, At)) {
        Load.replaceAllUsesWith(Equal);
        Load.eraseFromParent();
        return true;
      }
      Load.dropUnknownNonDebugMetadata();
      Load.moveBefore(At->getIterator());
      Load.updateLocationAfterHoist();
      return true;
    }
    return false;
  }

  // What was loaded or stored there just before an instruction.
  Value *before(LoadInst &Load, Instruction *At) {
    for (unsigned Steps = 0; Steps < 400; ++Steps) {
      if (At == &At->getParent()->front()) {
        BasicBlock *Block = At->getParent()->getSinglePredecessor();
        if (!Block)
          return nullptr;
        At = Block->getTerminator();
      } else {
        At = At->getPrevNode();
      }
      auto Same = [&](auto *Access, Type *T) {
        return Access->isSimple() && T == Load.getType() &&
               samePointer(Access->getPointerOperand(), Load.getPointerOperand());
      };
      if (auto *Other = dyn_cast<LoadInst>(At); Other && Same(Other, Other->getType()))
        return Other;
      if (auto *Store = dyn_cast<StoreInst>(At);
          Store && Same(Store, Store->getValueOperand()->getType()))
        return Store->getValueOperand();
      if (At->mayWriteToMemory() && mayWrite(At, Load))
        return nullptr;
    }
    return nullptr;
  }

  static bool samePointer(Value *A, Value *B) {
    auto *I = dyn_cast<GetElementPtrInst>(A), *J = dyn_cast<GetElementPtrInst>(B);
    return A == B || (I && J && I->isIdenticalTo(J));
  }

  // Whether an address is computed from what is known in front of the loop, without danger.
  bool movable(Value *V, Loop *L, unsigned Depth = 0) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L->contains(I))
      return true;
    if (Depth > 4 || !isa<GetElementPtrInst, CastInst>(I))
      return false;
    return all_of(I->operands(), [&](Value *Operand) { return movable(Operand, L, Depth + 1); });
  }

  void move(Value *V, Loop *L, Instruction *At) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L->contains(I))
      return;
    for (Value *Operand : I->operands())
      move(Operand, L, At);
    I->dropPoisonGeneratingAnnotations();
    I->moveBefore(At->getIterator());
    I->updateLocationAfterHoist();
  }

  // Whether the load does no harm at a place, whether or not it would have been reached.
  bool loadable(LoadInst &Load, Instruction *At) {
    Value *Pointer = Load.getPointerOperand();
    if (isSafeToLoadUnconditionally(Pointer, Load.getType(), Load.getAlign(), DL, At, &AC, &DT))
      return true;
    // Inside an object that has been accessed further on before.
    if (Load.getType()->isVectorTy())
      return false;
    auto [Base, First] = place(Load);
    if (First < 0)
      return false;
    for (User *U : Base->users()) {
      SmallVector<User *, 4> Accesses{U};
      if (isa<GetElementPtrInst>(U))
        Accesses.assign(U->user_begin(), U->user_end());
      for (User *Access : Accesses) {
        auto *Earlier = dyn_cast<LoadInst>(Access);
        if (!Earlier || Earlier == &Load || Earlier->getFunction() != &F ||
            !DT.dominates(Earlier, At))
          continue;
        auto [Other, At] = place(*Earlier);
        if (Other == Base && At + size(*Earlier) >= First + size(Load) &&
            Earlier->getAlign() >= Load.getAlign() && (At - First) % Load.getAlign().value() == 0)
          return true;
      }
    }
    return false;
  }

  int64_t size(LoadInst &Load) {
    return DL.getTypeStoreSize(Load.getType()).getFixedValue();
  }

  // An address within the same object as the one loaded from, and the distance.
  std::pair<Value *, int64_t> place(LoadInst &Load) {
    APInt Offset(64, 0);
    Value *Base =
        Load.getPointerOperand()->stripAndAccumulateInBoundsConstantOffsets(DL, Offset);
    return {Base, Offset.getSExtValue()};
  }

  // Whether the loop may write what is loaded.
  bool written(LoadInst &Load, Loop *L) {
    auto [Known, IsNew] = Writers.try_emplace(L);
    if (IsNew)
      for (BasicBlock *Block : L->blocks())
        for (Instruction &I : *Block)
          if (I.mayWriteToMemory() && !isa<DbgInfoIntrinsic>(I) && !I.isLifetimeStartOrEnd())
            Known->second.push_back(&I);
    return any_of(Known->second, [&](Instruction *Writer) { return mayWrite(Writer, Load); });
  }

  bool mayWrite(Instruction *Writer, LoadInst &Load) {
    if (++Queries > MostQueries)
      return true;
    auto *Call = dyn_cast<CallBase>(Writer);
    if (Call &&
        (Call->isLifetimeStartOrEnd() ||
         Call->getMemoryEffects().getWithoutLoc(IRMemLocation::ErrnoMem).onlyReadsMemory()))
      return false;
    Value *Object = getUnderlyingObject(Load.getPointerOperand());
    auto IsSole = [&](Value *Object) {
      auto [Sole, IsNew] = SoleAccesses.try_emplace(Object);
      if (IsNew)
        Sole->second = isSoleAccess(Object, DL);
      return Sole->second;
    };
    Value *To = nullptr;
    if (auto *Store = dyn_cast<StoreInst>(Writer))
      To = Store->getPointerOperand();
    else if (auto *Copy = dyn_cast<MemIntrinsic>(Writer))
      To = Copy->getDest();
    else if (Call && Call->getCalledFunction() &&
             okl_updates(text(Call->getCalledFunction()->getName())))
      To = Call->getArgOperand(0);
    Value *Written = To ? getUnderlyingObject(To) : nullptr;
    if (Written && Written != Object && (IsSole(Object) || IsSole(Written)))
      return false;
    // It changes nothing but the object.
    if (Call && To && !isa<MemIntrinsic>(Call))
      return !isOfAnotherType(*Call, Load, DL) &&
             !AA.isNoAlias(MemoryLocation::getBeforeOrAfter(To), MemoryLocation::get(&Load));
    return isModSet(AA.getModRefInfo(Writer, MemoryLocation::get(&Load)));
  }
};

// The induction variable of a worksharing loop that counts iterations from the start of a share;
// null where the loop is no such loop.
PHINode *iterationNumber(Loop &L) {
  BasicBlock *Preheader = L.getLoopPreheader(), *Latch = L.getLoopLatch();
  if (!Preheader || !Latch)
    return nullptr;
  for (PHINode &Phi : L.getHeader()->phis()) {
    auto *Start = dyn_cast<LoadInst>(Phi.getIncomingValueForBlock(Preheader));
    auto *Lower = Start ? dyn_cast<AllocaInst>(Start->getPointerOperand()) : nullptr;
    if (!Lower)
      continue;
    for (Use &U : Lower->uses()) {
      auto *Call = dyn_cast<CallBase>(U.getUser());
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (Callee && Call->isArgOperand(&U) &&
          okl_shares_unsigned(text(Callee->getName()), Call->getArgOperandNo(&U)))
        return &Phi;
    }
  }
  return nullptr;
}

// Uses what OpenMP guarantees of a loop whose iterations are counted without a sign: their number
// can be represented.
void stateNoOverflow(Loop &L) {
  PHINode *Number = iterationNumber(L);
  BasicBlock *Latch = L.getLoopLatch();
  auto *Branch = Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
  auto *Next = Number ? dyn_cast<BinaryOperator>(Number->getIncomingValueForBlock(Latch)) : nullptr;
  if (!Next || !Branch || !Branch->isConditional() || Next->getOpcode() != Instruction::Add ||
      Next->getOperand(0) != Number || !isa<ConstantInt>(Next->getOperand(1)) ||
      !cast<ConstantInt>(Next->getOperand(1))->isOne())
    return;
  // "The next is beyond the last" becomes "this one is the last".
  auto *Exit = dyn_cast<ICmpInst>(Branch->getCondition());
  if (Exit && Exit->hasOneUse() && Exit->getOperand(0) == Next &&
      L.isLoopInvariant(Exit->getOperand(1)) &&
      (Exit->getPredicate() == CmpInst::ICMP_UGT || Exit->getPredicate() == CmpInst::ICMP_ULE)) {
    bool Above = Exit->getPredicate() == CmpInst::ICMP_UGT;
    Exit->setOperand(0, Number);
    Exit->setPredicate(Above ? CmpInst::ICMP_UGE : CmpInst::ICMP_ULT);
  }
}

} // namespace

void prepareLoops(Function &F, DominatorTree &DT, LoopInfo &LI, AssumptionCache &AC,
                  TargetLibraryInfo &Library) {
  if (LI.empty())
    return;
  Hoister(F, DT, LI, AC, Library).run();
  for (Loop *L : LI.getLoopsInPreorder())
    stateNoOverflow(*L);
}

TableWrites writesToTable(Function &F, DominatorTree &DT, AssumptionCache &AC, TargetLibraryInfo &Library,
                          const LoadInst &Load, const Loop &L) {
  // Scopes without aliases hold for one turn only.
  AAResults AA(Library);
  BasicAAResult Basic(F.getDataLayout(), F, Library, AC, &DT);
  TypeBasedAAResult Typed(false);
  AA.addAAResult(Basic);
  AA.addAAResult(Typed);
  BatchAAResults Turns(AA);
  Turns.enableCrossIterationMode();
  auto Table = MemoryLocation::getBeforeOrAfter(Load.getPointerOperand(), Load.getAAMetadata());
  Table.AATags.Scope = Table.AATags.NoAlias = nullptr;
  TableWrites Found = TableWrites::None;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (I.mayWriteToMemory() && !isa<DbgInfoIntrinsic>(I) && !I.isLifetimeStartOrEnd() &&
          isModSet(Turns.getModRefInfo(&I, Table))) {
        auto *Store = dyn_cast<StoreInst>(&I);
        if (!(Store && Store->isSimple()) && !isa<MemIntrinsic>(I))
          return TableWrites::ByOthers;
        Found = TableWrites::ByStores;
      }
  return Found;
}

Analyses::Analyses() {
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
}

void simplifyModule(Module &M) {
  Analyses Own;
  Own.PB.buildModuleSimplificationPipeline(OptimizationLevel::O2, ThinOrFullLTOPhase::None)
      .run(M, Own.MAM);
}
