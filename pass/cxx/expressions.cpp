// Here because ScalarEvolution, its expressions and their expansion are C++ only.
#include "expressions.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

const SCEV *unwrap(OklExpressionRef S) { return reinterpret_cast<const SCEV *>(S); }
OklExpressionRef wrap(const SCEV *S) { return reinterpret_cast<OklExpressionRef>(S); }
const Loop *unwrap(const OklLoop *L) { return reinterpret_cast<const Loop *>(L); }

SmallVector<const SCEV *, 4> list(const OklExpressionRef *Operands, size_t Count) {
  return SmallVector<const SCEV *, 4>(map_range(ArrayRef(Operands, Count), [](OklExpressionRef S) { return unwrap(S); }));
}

} // namespace

extern "C" {

OklExpressionKind okl_expression_kind(OklExpressionRef S) {
  switch (unwrap(S)->getSCEVType()) {
  case scConstant:
    return OklConstant;
  case scTruncate:
    return OklTruncate;
  case scZeroExtend:
    return OklZeroExtend;
  case scSignExtend:
    return OklSignExtend;
  case scAddExpr:
    return OklAdd;
  case scMulExpr:
    return OklMultiply;
  case scUDivExpr:
    return OklUnsignedDivide;
  case scAddRecExpr:
    return OklRecurrence;
  case scUMaxExpr:
    return OklUnsignedMax;
  case scSMaxExpr:
    return OklSignedMax;
  case scUMinExpr:
    return OklUnsignedMin;
  case scSMinExpr:
    return OklSignedMin;
  case scSequentialUMinExpr:
    return OklSequentialMin;
  case scPtrToInt:
    return OklPointerToInteger;
  case scUnknown:
    return OklValue;
  case scVScale:
    return OklOther;
  case scCouldNotCompute:
    return OklUnknown;
  }
  llvm_unreachable("all kinds are there");
}

const OklExpressionRef *okl_expression_operands(OklExpressionRef S, size_t *Count) {
  ArrayRef<const SCEV *> Operands = unwrap(S)->operands();
  *Count = Operands.size();
  return reinterpret_cast<const OklExpressionRef *>(Operands.data());
}

LLVMTypeRef okl_expression_type(OklExpressionRef S) { return wrap(unwrap(S)->getType()); }

unsigned okl_expression_bits(OklCode *C, OklExpressionRef S) {
  return C->evolution().getTypeSizeInBits(unwrap(S)->getType());
}

unsigned okl_expression_size(OklExpressionRef S) { return unwrap(S)->getExpressionSize(); }

bool okl_expression_constant(OklExpressionRef S, uint64_t *Words) {
  const APInt &Number = cast<SCEVConstant>(unwrap(S))->getAPInt();
  if (!Number.isSignedIntN(128))
    return false;
  APInt Whole = Number.sextOrTrunc(128);
  Words[0] = Whole.getRawData()[0];
  Words[1] = Whole.getRawData()[1];
  return true;
}

LLVMValueRef okl_expression_value(OklExpressionRef S) { return wrap(cast<SCEVUnknown>(unwrap(S))->getValue()); }

const OklLoop *okl_expression_loop(OklExpressionRef S) {
  return reinterpret_cast<const OklLoop *>(cast<SCEVAddRecExpr>(unwrap(S))->getLoop());
}

void okl_expression_text(OklExpressionRef S, OklTextSink Sink, void *To) {
  std::string Text;
  raw_string_ostream Out(Text);
  unwrap(S)->print(Out);
  Sink(To, text(StringRef(Text)));
}

bool okl_can_be_expression(OklCode *C, LLVMValueRef V) { return C->evolution().isSCEVable(llvm::unwrap(V)->getType()); }

OklExpressionRef okl_expression_of(OklCode *C, LLVMValueRef V) { return wrap(C->evolution().getSCEV(llvm::unwrap(V))); }

OklExpressionRef okl_expression_number(OklCode *C, unsigned Bits, int64_t Number) {
  return wrap(C->evolution().getConstant(Type::getIntNTy(C->F.getContext(), Bits), Number, true));
}

OklExpressionRef okl_expression_make(OklCode *C, OklExpressionKind Kind, const OklExpressionRef *Operands,
                                     size_t Count) {
  ScalarEvolution &SE = C->evolution();
  auto List = list(Operands, Count);
  switch (Kind) {
  case OklAdd:
    return wrap(SE.getAddExpr(List));
  case OklMultiply:
    return wrap(SE.getMulExpr(List));
  case OklUnsignedDivide:
    return wrap(SE.getUDivExpr(List[0], List[1]));
  case OklUnsignedMax:
    return wrap(SE.getUMaxExpr(List));
  case OklSignedMax:
    return wrap(SE.getSMaxExpr(List));
  case OklUnsignedMin:
    return wrap(SE.getUMinExpr(List));
  case OklSignedMin:
    return wrap(SE.getSMinExpr(List));
  case OklSequentialMin:
    return wrap(SE.getUMinExpr(List, true));
  default:
    return wrap(SE.getCouldNotCompute());
  }
}

OklExpressionRef okl_expression_like(OklCode *C, OklExpressionRef Like, const OklExpressionRef *Operands,
                                     size_t Count) {
  ScalarEvolution &SE = C->evolution();
  const SCEV *S = unwrap(Like);
  switch (S->getSCEVType()) {
  case scConstant:
    return wrap(SE.getConstant(cast<SCEVConstant>(S)->getValue()));
  case scVScale:
    return wrap(SE.getVScale(S->getType()));
  case scTruncate:
    return wrap(SE.getTruncateExpr(unwrap(Operands[0]), S->getType()));
  case scZeroExtend:
    return wrap(SE.getZeroExtendExpr(unwrap(Operands[0]), S->getType()));
  case scSignExtend:
    return wrap(SE.getSignExtendExpr(unwrap(Operands[0]), S->getType()));
  case scPtrToInt:
    return wrap(SE.getPtrToIntExpr(unwrap(Operands[0]), S->getType()));
  case scAddRecExpr: {
    auto List = list(Operands, Count);
    auto *Recurrence = cast<SCEVAddRecExpr>(S);
    return wrap(SE.getAddRecExpr(List, Recurrence->getLoop(), Recurrence->getNoWrapFlags()));
  }
  default:
    return okl_expression_make(C, okl_expression_kind(Like), Operands, Count);
  }
}

OklExpressionRef okl_expression_minus(OklCode *C, OklExpressionRef A, OklExpressionRef B) {
  return wrap(C->evolution().getMinusSCEV(unwrap(A), unwrap(B)));
}

OklExpressionRef okl_expression_negative(OklCode *C, OklExpressionRef A) {
  return wrap(C->evolution().getNegativeSCEV(unwrap(A)));
}

OklExpressionRef okl_expression_resize(OklCode *C, OklExpressionRef S, unsigned Bits, bool Signed) {
  Type *T = Type::getIntNTy(C->F.getContext(), Bits);
  ScalarEvolution &SE = C->evolution();
  return wrap(Signed ? SE.getTruncateOrSignExtend(unwrap(S), T) : SE.getTruncateOrZeroExtend(unwrap(S), T));
}

OklExpressionRef okl_expression_recurrence(OklCode *C, const OklExpressionRef *Operands, size_t Count,
                                           const OklLoop *L) {
  auto List = list(Operands, Count);
  return wrap(C->evolution().getAddRecExpr(List, unwrap(L), SCEV::FlagAnyWrap));
}

OklExpressionRef okl_expression_at_turn(OklCode *C, OklExpressionRef Recurrence, OklExpressionRef Turn) {
  return wrap(cast<SCEVAddRecExpr>(unwrap(Recurrence))->evaluateAtIteration(unwrap(Turn), C->evolution()));
}

OklExpressionRef okl_expression_backedges(OklCode *C, const OklLoop *L) {
  return wrap(C->evolution().getBackedgeTakenCount(unwrap(L)));
}

OklExpressionRef okl_expression_backedges_until(OklCode *C, const OklLoop *L, LLVMBasicBlockRef Exiting) {
  return wrap(C->evolution().getExitCount(unwrap(L), unwrap(Exiting)));
}

OklExpressionRef okl_expression_object(OklCode *C, OklExpressionRef Address) {
  return wrap(C->evolution().getPointerBase(unwrap(Address)));
}

OklExpressionRef okl_expression_offset(OklCode *C, OklExpressionRef Address) {
  return wrap(C->evolution().removePointerBase(unwrap(Address)));
}

bool okl_expression_is_invariant(OklCode *C, OklExpressionRef S, const OklLoop *L) {
  return C->evolution().isLoopInvariant(unwrap(S), unwrap(L));
}

bool okl_expression_is_not_negative(OklCode *C, OklExpressionRef S) {
  return C->evolution().isKnownNonNegative(unwrap(S));
}

bool okl_expression_is_positive(OklCode *C, OklExpressionRef S) { return C->evolution().isKnownPositive(unwrap(S)); }

bool okl_expression_is_greater_before(OklCode *C, const OklLoop *L, OklExpressionRef A, OklExpressionRef B) {
  return C->evolution().isLoopEntryGuardedByCond(unwrap(L), CmpInst::ICMP_SGT, unwrap(A), unwrap(B));
}

bool okl_expression_difference(OklCode *C, OklExpressionRef A, OklExpressionRef B, int64_t *Result) {
  auto Difference = C->evolution().computeConstantDifference(unwrap(A), unwrap(B));
  if (!Difference || !Difference->isSignedIntN(64))
    return false;
  *Result = Difference->getSExtValue();
  return true;
}

bool okl_expression_can_be_computed(OklCode *C, OklExpressionRef S, LLVMValueRef At) {
  C->evolution();
  return C->Expander->isSafeToExpandAt(unwrap(S), llvm::unwrap<Instruction>(At));
}

LLVMValueRef okl_expression_compute(OklCode *C, OklExpressionRef S, LLVMValueRef Before) {
  C->evolution();
  return llvm::wrap(C->Expander->expandCodeFor(unwrap(S), unwrap(S)->getType(), llvm::unwrap<Instruction>(Before)));
}
}
