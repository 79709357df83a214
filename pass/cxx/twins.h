// Functions in two versions: see twins.cpp and src/lower/mpi/twins.rs. A mark is a string attribute.
#pragma once

#include "shim.h"

extern "C" {

// Whether a second copy can stand in the same object file.
bool okl_can_be_copied(LLVMValueRef Function);
LLVMValueRef okl_copy_beside(LLVMValueRef Function);
// Whether a copy still does what its original does, but that the original calls a function of the name Added besides,
// and New[i] for Old[i].
bool okl_is_copy_of(LLVMValueRef Copy, LLVMValueRef Function, OklText Added,
                    const LLVMValueRef *Old, const LLVMValueRef *New, size_t Count);

// Has Function be used instead of a copy that does the same.
void okl_replace_copy(LLVMValueRef Copy, LLVMValueRef Function);

// Gives a version of Of the linkage that goes with that of Of.
void okl_become_twin(LLVMValueRef Twin, LLVMValueRef Of);
// Calls of From, and hand-overs to the OpenMP run time, in functions with this mark go to To.
void okl_redirect_calls(LLVMValueRef From, LLVMValueRef To, OklText Mark, OklText Value);
// Whether a function is used otherwise than by calls in functions with this mark.
bool okl_needs_entry(LLVMValueRef Function, OklText Mark, OklText Value);
// A function that takes Ranks' name and uses, but calls in functions with this mark, and chooses.
LLVMValueRef okl_add_entry(LLVMValueRef Ranks, LLVMValueRef Plain, LLVMValueRef Flag, OklText Mark,
                           OklText Value);
// Whether the flag is not 0, asked in front of an instruction.
LLVMValueRef okl_is_set(LLVMValueRef Flag, LLVMValueRef Before);
// A function with the type of Like that chooses; Ranks may be null.
LLVMValueRef okl_add_choice(OklText Name, LLVMValueRef Like, LLVMValueRef Plain, LLVMValueRef Ranks,
                            LLVMValueRef Flag);
// Replaces uses in the code of functions with this mark, or of all others.
void okl_replace_uses_in_code(LLVMValueRef Old, LLVMValueRef New, OklText Mark, OklText Value,
                              bool Marked);
void okl_replace_uses_in_constants(LLVMValueRef Old, LLVMValueRef New);
}
