// What lanes ask of LLVM and its C API does not answer; vectors.cpp says by which classes.
#pragma once

#include "shim.h"

extern "C" {

// Bits of the target's preferred vectors; Analyses are what the pass was run with.
unsigned okl_vector_bits(void *Analyses, LLVMValueRef Function);
// Whether a function calls one of a library's that the library also has for several numbers at once.
bool okl_calls_vectors(void *Analyses, LLVMValueRef Function);

// What a pointer is a constant number of bytes behind, and that number.
LLVMValueRef okl_constant_offset(LLVMModuleRef M, LLVMValueRef Pointer, int64_t *Offset);
LLVMValueRef okl_underlying_object(LLVMValueRef Pointer);

// Of instructions.
void okl_opcode_name(LLVMValueRef At, OklTextSink Sink, void *To);
bool okl_may_throw(LLVMValueRef At);
bool okl_is_volatile_or_atomic(LLVMValueRef At);
bool okl_may_write(LLVMValueRef At);
// Whether a call may write what its arguments point to, or memory elsewhere, errno left aside.
bool okl_call_writes(LLVMValueRef Call, bool Elsewhere);
bool okl_call_accesses(LLVMValueRef Call);
// Whether a load does no harm where control does not come to it.
bool okl_can_always_load(LLVMValueRef Load);
// Whether the callee is the function of the C library that has its name and type.
bool okl_calls_library(LLVMValueRef Call);

// Of intrinsics, by their numbers. Operand -1 is the result.
bool okl_is_elementwise(unsigned Intrinsic);
bool okl_is_scalar_operand(unsigned Intrinsic, unsigned Operand);
bool okl_is_overloaded_by(unsigned Intrinsic, int Operand);
}
