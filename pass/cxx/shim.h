// What LLVM's C API lacks, as plain C functions. Each does one thing and keeps no state; the safe
// Rust side of it is src/llvm/.
#pragma once

#include "llvm-c/Types.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>

struct OklText {
  const char *Data;
  size_t Size;
};

inline OklText text(llvm::StringRef S) { return {S.data(), S.size()}; }
inline llvm::StringRef text(OklText T) { return {T.Data, T.Size}; }

extern "C" {

typedef void (*OklTextSink)(void *To, OklText Text);
typedef void (*OklLoopSink)(void *To, LLVMBasicBlockRef Header,
                            const LLVMBasicBlockRef *Blocks, size_t Count);

// Where LLVM's pipeline runs a stage.
enum OklPoint { OklStart, OklPeephole, OklBeforeVectorising, OklEnd, OklByName };
struct OklStage {
  OklText Name;
  OklPoint Point;
};
// Defined in Rust. The stage of a number, counted from 0; false where there is none.
bool okl_stage(size_t Number, OklStage *Stage);
// Defined in Rust. The module belongs to the caller; true where it was changed. Function is null but at OklPeephole,
// Analyses is a ModuleAnalysisManager but there.
bool okl_run_stage(size_t Number, LLVMModuleRef M, LLVMValueRef Function, OklText Parameters,
                   OklText TargetOption, bool StrictOption, void *Analyses);

// Defined in Rust: whether okl_abi says that the function of this name is one of a runtime.
bool okl_is_of_runtime(OklText Name);

// Registers the stages with an llvm::PassBuilder.
void okl_register(void *PassBuilder);

// Diagnostics. Function and At may be null.
void okl_diagnose(LLVMModuleRef M, LLVMValueRef Function, LLVMValueRef At, OklText Message,
                  bool IsError);
void okl_remark(LLVMValueRef At, OklText Name, OklText Message, bool Missed);
void okl_print(OklText Text);

// Names and places as the user knows them.
void okl_demangle(OklText Name, OklTextSink Sink, void *To);
void okl_function_source_name(LLVMValueRef Function, OklTextSink Sink, void *To);
/// Whether flang made the function's module.
bool okl_is_fortran(LLVMValueRef Function);
void okl_global_location(LLVMValueRef Global, OklTextSink Sink, void *To);

// Whether LLVM knows that the function does not write memory.
bool okl_only_reads(LLVMValueRef Function);
bool okl_is_library_function(LLVMValueRef Function);
// Makes a function one of this module for calls in those functions; a copy takes its name and its other uses.
void okl_become_own(LLVMValueRef Function, const LLVMValueRef *Callers, size_t Count);

// A copy of a module, of which all functions may be optimised.
LLVMModuleRef okl_optimisable_copy(LLVMModuleRef M);
// Simplifies a module as LLVM's pipeline does before it vectorises.
void okl_simplify(LLVMModuleRef M);

// What a function of okl_forward hands its parameters to; null of any other function.
LLVMValueRef okl_forwarded(LLVMValueRef Function);

// Control flow.
void okl_loops(LLVMValueRef Function, OklLoopSink Sink, void *To);
LLVMValueRef okl_first_insertion_point(LLVMBasicBlockRef Block);

// Whether it computes a value, or loads one by a plain load, and does nothing else.
bool okl_only_computes(LLVMValueRef At);

// Changes.
void okl_move_before(LLVMValueRef At, LLVMValueRef Before);
// Splits the block in front of an instruction; the result ends a new block that runs if Condition.
LLVMValueRef okl_insert_if(LLVMValueRef Condition, LLVMValueRef Before);
void okl_strip_call_attributes(LLVMValueRef Call);
// Has a call go through a function of this name that hands its parameters on, and is shared by all modules; null where
// there cannot be one. The name is completed with the type.
LLVMValueRef okl_forward(OklText Name, LLVMValueRef Call);
// Of a terminator, which may end a loop: its iterations may depend on each other, unless it is to be vectorised.
void okl_deny_parallel_iterations(LLVMValueRef Terminator);
void okl_append_to_used(LLVMModuleRef M, const LLVMValueRef *Globals, size_t Count);
void okl_append_to_compiler_used(LLVMModuleRef M, LLVMValueRef Global);
// The function has no parameters.
void okl_call_before_main(LLVMModuleRef M, LLVMValueRef Function);
void okl_move_to_end(LLVMModuleRef M, LLVMValueRef Global);
void okl_expand_constant_users(LLVMValueRef Global);
void okl_delete_bodies(LLVMModuleRef M);

// Turns an atomicrmw into a load and a loop around cmpxchg.
// What an address is computed from; Offset stays as it is where the distance is not constant.
LLVMValueRef okl_base_and_offset(LLVMModuleRef M, LLVMValueRef Address, int64_t *Offset);
// Whether the types that clang noted of two loads or stores exclude that they access the same.
bool okl_types_differ(LLVMValueRef Access, LLVMValueRef Other);
void okl_expand_atomic_update(LLVMValueRef Instruction);

// Number of an atomicrmw operation in okl_abi::AtomicOp; -1 where it has none.
int okl_atomic_operation(LLVMValueRef Instruction);
}
