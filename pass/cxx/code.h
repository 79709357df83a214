// What the dominators, the loops and the alias analyses of LLVM know of a function; code.cpp says by which classes.
#pragma once

#include "shim.h"

extern "C" {

struct OklCode;
struct OklLoop;

// Gives loops preheaders and one block that closes them, where they lack such.
OklCode *okl_code_open(LLVMValueRef Function);
void okl_code_close(OklCode *C);

// The loops, outer ones first. Parent, Preheader and Latch may be null.
typedef void (*OklCodeLoopSink)(void *To, const OklLoop *Loop, const OklLoop *Parent, LLVMBasicBlockRef Header,
                                LLVMBasicBlockRef Preheader, LLVMBasicBlockRef Latch,
                                const LLVMBasicBlockRef *Blocks, size_t Count);
void okl_code_loops(OklCode *C, OklCodeLoopSink Sink, void *To);

bool okl_block_dominates(OklCode *C, LLVMBasicBlockRef A, LLVMBasicBlockRef B);
bool okl_dominates(OklCode *C, LLVMValueRef A, LLVMValueRef B);

// Whether an instruction may change what a load reads.
bool okl_may_change(OklCode *C, LLVMValueRef Writer, LLVMValueRef Load);
// Whether each of them may change, in any turn of a loop, memory that the load's address is computed for in another.
void okl_may_change_in_turns(OklCode *C, LLVMValueRef Load, const LLVMValueRef *Writers, size_t Count, bool *May);
// Whether a load may read from the object that an address points into.
bool okl_may_read_from(OklCode *C, LLVMValueRef Load, LLVMValueRef Address);
// Whether loading does no harm at a place, whatever came before.
bool okl_can_load_at(OklCode *C, LLVMValueRef Load, LLVMValueRef At);
// Moves an instruction to where it may be executed although it was not before.
void okl_move_out(LLVMValueRef Instruction, LLVMValueRef Before);
// Whether the program has no meaning where the instruction's result overflows.
bool okl_must_not_be_poison(LLVMValueRef Instruction);
// The address within the same object, in LLVM's strict sense, that an address is a constant number of bytes behind.
LLVMValueRef okl_offset_in_object(LLVMModuleRef M, LLVMValueRef Address, int64_t *Bytes);

// What is added to the first operand of a computation of an address: a number, and values times numbers, handed over one by
// one. False where that is not known.
bool okl_address_parts(LLVMModuleRef M, LLVMValueRef Address, int64_t *Bytes,
                       void (*Sink)(void *, LLVMValueRef, int64_t), void *To);

// Whether calls of the function access no memory (0), that behind their arguments only (1) or more.
int okl_memory_reach(LLVMValueRef Call);
// Whether a call only reads memory, errno left aside.
bool okl_only_reads_memory(LLVMValueRef Call);

// The name of the variable that the debug records of a value are about: one that the value is (0), one at the address
// that the value is (1), or one at an address that is found through the value (2).
void okl_variable_name(LLVMValueRef V, int How, OklTextSink Sink, void *To);
// A value as an operand of an instruction is printed.
void okl_operand_text(LLVMValueRef V, OklTextSink Sink, void *To);
}
