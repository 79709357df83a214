#include "nests.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <optional>

using namespace llvm;

namespace {

// What is constant in a sum; without it nothing is.
int64_t constantPart(const SCEV *S) {
  if (auto *C = dyn_cast<SCEVConstant>(S))
    return C->getAPInt().getBitWidth() == 64 ? C->getAPInt().getSExtValue() : 0;
  if (auto *Recurrence = dyn_cast<SCEVAddRecExpr>(S))
    return constantPart(Recurrence->getStart());
  uint64_t Sum = 0;
  if (auto *All = dyn_cast<SCEVAddExpr>(S))
    for (const SCEV *One : All->operands())
      Sum += constantPart(One);
  return Sum;
}

std::string sourceName(Value *V, unsigned Depth = 0) {
  for (DbgVariableRecord *Record : findDVRValues(V))
    if (Record->getExpression()->getNumElements() == 0)
      return Record->getVariable()->getName().str();
  if (Depth > 3)
    return "";
  if (auto *Global = dyn_cast<GlobalVariable>(V))
    return Global->getName().str();
  if (auto *Load = dyn_cast<LoadInst>(V))
    return sourceName(Load->getPointerOperand(), Depth + 1);
  if (auto *Cast = dyn_cast<CastInst>(V))
    return sourceName(Cast->getOperand(0), Depth + 1);
  if (auto *Argument = dyn_cast<llvm::Argument>(V)) {
    for (DbgVariableRecord *Record : findDVRDeclares(V))
      return Record->getVariable()->getName().str();
    // A captured variable: its address is the value of the debug record, dereferenced.
    for (DbgVariableRecord *Record : findDVRValues(V))
      if (Record->getExpression()->startsWithDeref())
        return Record->getVariable()->getName().str();
    return Argument->getName().str();
  }
  return "";
}

void print(raw_ostream &Out, const SCEV *S);

void printList(raw_ostream &Out, ArrayRef<const SCEV *> Operands, StringRef Between) {
  ListSeparator Separator(Between);
  Out << '(';
  for (const SCEV *Operand : Operands) {
    Out << Separator;
    print(Out, Operand);
  }
  Out << ')';
}

// As in C, with the names of the source.
void print(raw_ostream &Out, const SCEV *S) {
  switch (S->getSCEVType()) {
  case scUnknown: {
    Value *V = cast<SCEVUnknown>(S)->getValue();
    std::string Name = sourceName(V);
    if (Name.empty())
      V->printAsOperand(Out, false);
    else
      Out << Name;
    return;
  }
  case scTruncate:
  case scZeroExtend:
  case scSignExtend:
  case scPtrToInt:
    return print(Out, cast<SCEVCastExpr>(S)->getOperand());
  case scAddExpr:
    return printList(Out, cast<SCEVAddExpr>(S)->operands(), " + ");
  case scMulExpr:
    return printList(Out, cast<SCEVMulExpr>(S)->operands(), " * ");
  case scUDivExpr:
    Out << '(';
    print(Out, cast<SCEVUDivExpr>(S)->getLHS());
    Out << " / ";
    print(Out, cast<SCEVUDivExpr>(S)->getRHS());
    Out << ')';
    return;
  case scUMinExpr:
  case scSMinExpr:
  case scSequentialUMinExpr:
    Out << "min";
    return printList(Out, cast<SCEVNAryExpr>(S)->operands(), ", ");
  case scUMaxExpr:
  case scSMaxExpr:
    Out << "max";
    return printList(Out, cast<SCEVNAryExpr>(S)->operands(), ", ");
  default:
    S->print(Out);
  }
}

std::optional<Access> accessOf(OklNests *N, LLVMValueRef Pointer, LLVMValueRef Length,
                               LLVMBasicBlockRef Block) {
  Value *P = unwrap(Pointer);
  if (!N->SE->isSCEVable(P->getType()) ||
      N->DL.getPointerSizeInBits(P->getType()->getPointerAddressSpace()) != 64)
    return std::nullopt;
  Access A{N->SE->getSCEV(P), unwrap(Block), {}, {}, true};
  if (Length)
    A.Dimensions.push_back({N->SE->getOne(N->I64),
                            N->SE->getNoopOrZeroExtend(N->SE->getSCEV(unwrap(Length)), N->I64),
                            nullptr});
  return A;
}

} // namespace

extern "C" {

OklNests *okl_nests_open(LLVMValueRef Function) {
  return new OklNests(*unwrap<llvm::Function>(Function));
}

void okl_nests_close(OklNests *N) { delete N; }

void okl_nests_loops(OklNests *N, OklNestSink Sink, void *To) {
  for (Loop *L : N->Loops) {
    SmallVector<LLVMBasicBlockRef, 16> Blocks;
    for (BasicBlock *Block : L->blocks())
      Blocks.push_back(wrap(Block));
    auto *Parent = find(N->Loops, L->getParentLoop());
    Sink(To, wrap(L->getHeader()), wrap(L->getLoopPreheader()),
         Parent == N->Loops.end() ? -1 : Parent - N->Loops.begin(), Blocks.data(), Blocks.size());
  }
}

OklSectionKind okl_nests_section(OklNests *N, LLVMValueRef Pointer, LLVMValueRef Length,
                                 LLVMBasicBlockRef Block, OklScope In, OklSection *Section) {
  auto A = accessOf(N, Pointer, Length, Block);
  return A ? N->section(*A, N->scope(In), *Section) : OklNoSection;
}

size_t okl_nests_rows(OklNests *N, LLVMValueRef Pointer, LLVMValueRef Length,
                      LLVMBasicBlockRef Block, OklScope In, OklSection *Sections, size_t Most) {
  auto A = accessOf(N, Pointer, Length, Block);
  SmallVector<OklSection, 3> Rows;
  if (!A || !N->rows(*A, N->scope(In), Most, Rows))
    return 0;
  // The table first; only all together are exact.
  bool Exact = all_of(Rows, [](const OklSection &One) { return One.Exact; });
  for (OklSection &One : reverse(Rows)) {
    One.Exact = Exact;
    *Sections++ = One;
  }
  return Rows.size();
}

bool okl_nests_between(OklNests *N, LLVMValueRef Pointer, LLVMBasicBlockRef Block, OklScope In,
                       OklBetween *Between) {
  auto A = accessOf(N, Pointer, nullptr, Block);
  return A && N->between(*A, N->scope(In), *Between);
}

OklSectionKind okl_nests_call_section(OklNests *N, const OklSection *Callee, bool Anywhere,
                                      LLVMValueRef Call, OklScope In, OklSection *Section) {
  auto &CB = *unwrap<CallBase>(Call);
  Scope S = N->scope(In);
  Access A{N->translate(Callee->Address->Value, CB), CB.getParent(), {}, {}, Callee->Exact};
  if (isa<SCEVCouldNotCompute>(A.Address))
    return OklNoSection;
  for (const OklDimension &D : ArrayRef<OklDimension>(Callee->Dimensions, Callee->Count)) {
    const SCEV *Stride = N->translate(D.Stride->Value, CB);
    const SCEV *Count = N->translate(D.Count->Value, CB);
    if (isa<SCEVCouldNotCompute>(Stride) || isa<SCEVCouldNotCompute>(Count))
      return OklNoSection;
    A.Dimensions.push_back({Stride, Count, nullptr});
    for (Guard G : D.Count->When.Guards) {
      if (G.Left) {
        G.Left = N->translate(G.Left, CB);
        G.Right = N->translate(G.Right, CB);
      } else if (auto *Parameter = dyn_cast<Argument>(G.Condition)) {
        G.Condition = CB.getArgOperand(Parameter->getArgNo());
      }
      bool Known = !G.Left || (!isa<SCEVCouldNotCompute>(G.Left) &&
                               !isa<SCEVCouldNotCompute>(G.Right));
      if (Known && N->usable(G, S))
        A.When.Guards.push_back(G);
      else
        A.Exact = false;
    }
    for (Check C : D.Count->When.Checks) {
      C.Value = N->translate(C.Value, CB);
      if (isa<SCEVCouldNotCompute>(C.Value))
        return OklNoSection;
      A.When.Checks.push_back(C);
    }
  }
  if (!Anywhere)
    return N->section(A, S, *Section);
  const SCEV *Object = N->SE->getPointerBase(A.Address);
  if (!isa<SCEVUnknown>(Object) || !N->usable(Object, S))
    return OklNoSection;
  *Section = {N->term(Object), {}, 0, false};
  return OklAnywhere;
}

LLVMValueRef okl_nests_anchor(OklNests *N, const OklTerm *Address, int64_t *Offset) {
  const SCEV *Base = N->SE->getPointerBase(Address->Value);
  auto *Object = dyn_cast<SCEVUnknown>(Base);
  auto *Distance = dyn_cast<SCEVConstant>(N->SE->removePointerBase(Address->Value));
  if (!Object || !Distance)
    return nullptr;
  *Offset = Distance->getAPInt().getSExtValue();
  return wrap(Object->getValue());
}

LLVMValueRef okl_nests_base(OklNests *N, const OklTerm *Address) {
  auto *Object = dyn_cast<SCEVUnknown>(N->SE->getPointerBase(Address->Value));
  return Object ? wrap(Object->getValue()) : nullptr;
}

bool okl_nests_difference(OklNests *N, const OklTerm *A, const OklTerm *B, int64_t *Result) {
  if (!(A->When == B->When))
    return false;
  auto Difference = N->SE->computeConstantDifference(A->Value, B->Value);
  if (!Difference || !Difference->isSignedIntN(64))
    return false;
  *Result = Difference->getSExtValue();
  return true;
}

bool okl_nests_constant(OklNests *, const OklTerm *A, int64_t *Result) {
  auto *Constant = dyn_cast<SCEVConstant>(A->Value);
  if (!Constant || !A->When.empty())
    return false;
  *Result = Constant->getAPInt().getSExtValue();
  return true;
}

bool okl_nests_is_checked(OklNests *, const OklTerm *A) { return !A->When.Checks.empty(); }

bool okl_nests_steps(OklNests *N, const OklTerm *A, const OklTerm *B, const OklTerm *Step,
                     int64_t *Result) {
  if (!A->When.empty() || !B->When.empty() || !Step->When.empty())
    return false;
  const SCEV *Difference = N->SE->getMinusSCEV(A->Value, B->Value);
  if (isa<SCEVCouldNotCompute>(Difference) || Step->Value->isZero())
    return false;
  for (int64_t Times = -4; Times <= 4; ++Times)
    if (Difference == N->SE->getMulExpr(Step->Value,
                                        N->SE->getConstant(N->I64, Times, true))) {
      *Result = Times;
      return true;
    }
  return false;
}

const OklTerm *okl_nests_plus(OklNests *N, const OklTerm *A, int64_t B) {
  return N->term(N->plus(A->Value, B), A->When);
}

const OklTerm *okl_nests_split(OklNests *N, const OklTerm *T, LLVMValueRef *Variable,
                               int64_t *Number) {
  *Variable = nullptr;
  *Number = 0;
  const SCEV *Rest = T->Value;
  if (!T->When.empty() || !N->SE->isSCEVable(Rest->getType()))
    return T;
  if (Rest->getType()->isPointerTy()) {
    auto *Object = dyn_cast<SCEVUnknown>(N->SE->getPointerBase(Rest));
    auto *G = Object ? dyn_cast<GlobalVariable>(Object->getValue()) : nullptr;
    if (G && !G->isThreadLocal()) {
      *Variable = wrap(G);
      Rest = N->SE->removePointerBase(Rest);
    }
  }
  *Number = constantPart(Rest);
  if (*Number)
    Rest = N->plus(Rest, -uint64_t(*Number));
  return Rest->isZero() ? nullptr : N->term(Rest);
}

LLVMValueRef okl_nests_expand(OklNests *N, const OklTerm *T, LLVMValueRef Before) {
  auto *At = unwrap<Instruction>(Before);
  auto Expand = [&](const SCEV *S) {
    return N->Expander->expandCodeFor(S, S->getType(), At);
  };
  Value *Result = Expand(T->Value);
  IRBuilder<> B(At);
  if (Result->getType()->isPointerTy())
    Result = B.CreatePtrToInt(Result, N->I64);
  for (const Check &C : T->When.Checks) {
    Value *Whole = Expand(C.Value);
    B.SetInsertPoint(At);
    Value *Part = B.CreateTrunc(Whole, C.Narrow);
    Value *Fits = B.CreateICmpEQ(Whole, C.Signed ? B.CreateSExt(Part, Whole->getType())
                                                 : B.CreateZExt(Part, Whole->getType()));
    Result = B.CreateSelect(Fits, Result, ConstantInt::get(N->I64, INT64_MAX));
  }
  for (const Guard &G : T->When.Guards) {
    Value *Holds = G.Condition;
    if (!Holds) {
      Value *Left = Expand(G.Left), *Right = Expand(G.Right);
      B.SetInsertPoint(At);
      Holds = B.CreateICmp(G.Predicate, Left, Right);
    }
    Value *Zero = ConstantInt::get(N->I64, 0);
    Result = G.Wanted ? B.CreateSelect(Holds, Result, Zero) : B.CreateSelect(Holds, Zero, Result);
  }
  return wrap(Result);
}

void okl_nests_text(OklNests *, const OklTerm *T, OklTextSink Sink, void *To) {
  std::string Text;
  raw_string_ostream Out(Text);
  for (const Guard &G : T->When.Guards) {
    Out << (G.Wanted ? "[if " : "[unless ");
    if (G.Condition) {
      G.Condition->printAsOperand(Out, false);
    } else {
      print(Out, G.Left);
      Out << ' ' << CmpInst::getPredicateName(G.Predicate) << ' ';
      print(Out, G.Right);
    }
    Out << "] ";
  }
  print(Out, T->Value);
  Sink(To, {Text.data(), Text.size()});
}

void okl_nests_object(OklNests *N, const OklTerm *Address, OklTextSink Sink, void *To) {
  auto *Object = dyn_cast<SCEVUnknown>(N->SE->getPointerBase(Address->Value));
  if (!Object)
    return;
  std::string Name = sourceName(Object->getValue());
  Sink(To, {Name.data(), Name.size()});
}

void okl_value_source_name(LLVMValueRef V, OklTextSink Sink, void *To) {
  std::string Name = sourceName(unwrap(V));
  Sink(To, {Name.data(), Name.size()});
}

LLVMValueRef okl_strip_offset(LLVMValueRef Address, int64_t *Offset) {
  Value *V = unwrap(Address);
  auto *I = dyn_cast<Instruction>(V);
  *Offset = 0;
  if (!I && !isa<ConstantExpr>(V))
    return Address;
  APInt Bytes(64, 0);
  DataLayout DL = I ? I->getDataLayout() : DataLayout();
  if (!I) {
    // A constant expression over a global, which knows the module.
    auto *Global = dyn_cast<GlobalObject>(getUnderlyingObject(V));
    if (!Global)
      return Address;
    DL = Global->getDataLayout();
  }
  V = V->stripAndAccumulateConstantOffsets(DL, Bytes, true);
  *Offset = Bytes.getSExtValue();
  return wrap(V);
}

uint64_t okl_object_size(LLVMValueRef Object) {
  if (auto *Global = dyn_cast<GlobalVariable>(unwrap(Object)))
    return Global->getDataLayout().getTypeAllocSize(Global->getValueType());
  auto *Parameter = dyn_cast<Argument>(unwrap(Object));
  return Parameter ? Parameter->getDereferenceableBytes() : 0;
}

int okl_memory_reach(LLVMValueRef Call) {
  auto *CB = unwrap<CallBase>(Call);
  if (CB->hasOperandBundles() || !CB->doesNotThrow())
    return 2;
  MemoryEffects Effects = CB->getMemoryEffects();
  // errno belongs to the thread.
  Effects = Effects.getWithoutLoc(IRMemLocation::ErrnoMem);
  if (Effects.doesNotAccessMemory())
    return 0;
  return Effects.onlyAccessesArgPointees() ? 1 : 2;
}

bool okl_keeps_no_argument(LLVMValueRef Call, unsigned Index) {
  return unwrap<CallBase>(Call)->doesNotCapture(Index);
}

void okl_forget_memory_effects(LLVMValueRef Function) {
  auto *F = unwrap<llvm::Function>(Function);
  F->removeFnAttr(Attribute::Memory);
  F->removeFnAttr(Attribute::NoSync);
  for (User *U : F->users())
    if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledOperand() == F) {
      Call->removeFnAttr(Attribute::Memory);
      Call->removeFnAttr(Attribute::NoSync);
    }
}
}
