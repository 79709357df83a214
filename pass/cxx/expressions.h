// Expressions of LLVM's ScalarEvolution as nodes. They belong to the OklCode that made them, and are equal where their
// addresses are.
#pragma once

#include "code.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScopedNoAliasAA.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <optional>

struct OklCode {
  llvm::Function &F;
  const llvm::DataLayout &DL;
  llvm::DominatorTree DT;
  llvm::LoopInfo LI;
  llvm::AssumptionCache AC;
  llvm::TargetLibraryInfoImpl LibraryImpl;
  llvm::TargetLibraryInfo Library;
  llvm::AAResults AA;
  llvm::BasicAAResult Basic;
  llvm::ScopedNoAliasAAResult Scoped;
  llvm::TypeBasedAAResult Typed;
  // From the first question about an expression on; until then loops may be changed.
  std::optional<llvm::ScalarEvolution> SE;
  std::optional<llvm::SCEVExpander> Expander;

  explicit OklCode(llvm::Function &Of);
  llvm::ScalarEvolution &evolution() {
    if (!SE) {
      SE.emplace(F, Library, AC, DT, LI);
      Expander.emplace(*SE, "okl");
    }
    return *SE;
  }
};

extern "C" {

struct OklExpression;
typedef const OklExpression *OklExpressionRef;

// As in ScalarEvolutionExpressions.h.
enum OklExpressionKind {
  OklConstant,
  OklTruncate,
  OklZeroExtend,
  OklSignExtend,
  OklAdd,
  OklMultiply,
  OklUnsignedDivide,
  OklRecurrence,
  OklUnsignedMax,
  OklSignedMax,
  OklUnsignedMin,
  OklSignedMin,
  OklSequentialMin,
  OklPointerToInteger,
  OklValue,
  OklOther,
  OklUnknown // could not be computed
};

// Nodes.
OklExpressionKind okl_expression_kind(OklExpressionRef S);
const OklExpressionRef *okl_expression_operands(OklExpressionRef S, size_t *Count);
LLVMTypeRef okl_expression_type(OklExpressionRef S);
unsigned okl_expression_bits(OklCode *C, OklExpressionRef S);
unsigned okl_expression_size(OklExpressionRef S);
// Two words, the lower one first, of a constant with a sign; false where it does not fit.
bool okl_expression_constant(OklExpressionRef S, uint64_t *Words);
LLVMValueRef okl_expression_value(OklExpressionRef S);
const OklLoop *okl_expression_loop(OklExpressionRef S);
void okl_expression_text(OklExpressionRef S, OklTextSink Sink, void *To);

// Making them.
bool okl_can_be_expression(OklCode *C, LLVMValueRef V);
OklExpressionRef okl_expression_of(OklCode *C, LLVMValueRef V);
OklExpressionRef okl_expression_number(OklCode *C, unsigned Bits, int64_t Number);
// Of the kinds that have any number of operands, and OklUnsignedDivide.
OklExpressionRef okl_expression_make(OklCode *C, OklExpressionKind Kind, const OklExpressionRef *Operands, size_t Count);
// The same as another node, also one of another OklCode, of other operands. OklUnknown of those without operands.
OklExpressionRef okl_expression_like(OklCode *C, OklExpressionRef Like, const OklExpressionRef *Operands, size_t Count);
OklExpressionRef okl_expression_minus(OklCode *C, OklExpressionRef A, OklExpressionRef B);
OklExpressionRef okl_expression_negative(OklCode *C, OklExpressionRef A);
// As an integer of so many bits.
OklExpressionRef okl_expression_resize(OklCode *C, OklExpressionRef S, unsigned Bits, bool Signed);
OklExpressionRef okl_expression_recurrence(OklCode *C, const OklExpressionRef *Operands, size_t Count, const OklLoop *L);
// The value of a recurrence in a turn.
OklExpressionRef okl_expression_at_turn(OklCode *C, OklExpressionRef Recurrence, OklExpressionRef Turn);
// How often the block that closes a loop goes back.
OklExpressionRef okl_expression_backedges(OklCode *C, const OklLoop *L);
// The same, if the loop is left from that block only.
OklExpressionRef okl_expression_backedges_until(OklCode *C, const OklLoop *L, LLVMBasicBlockRef Exiting);
// The object of an address, and an address without it.
OklExpressionRef okl_expression_object(OklCode *C, OklExpressionRef Address);
OklExpressionRef okl_expression_offset(OklCode *C, OklExpressionRef Address);

// What is known of them.
bool okl_expression_is_invariant(OklCode *C, OklExpressionRef S, const OklLoop *L);
bool okl_expression_is_not_negative(OklCode *C, OklExpressionRef S);
bool okl_expression_is_positive(OklCode *C, OklExpressionRef S);
// Whether A > B, with signs, whenever control comes to a loop.
bool okl_expression_is_greater_before(OklCode *C, const OklLoop *L, OklExpressionRef A, OklExpressionRef B);
bool okl_expression_difference(OklCode *C, OklExpressionRef A, OklExpressionRef B, int64_t *Result);

// Code for them.
bool okl_expression_can_be_computed(OklCode *C, OklExpressionRef S, LLVMValueRef At);
LLVMValueRef okl_expression_compute(OklCode *C, OklExpressionRef S, LLVMValueRef Before);
}
