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
                   OklText TargetOption, bool StrictOption, bool FuseOption, void *Analyses);

// Registers the stages with an llvm::PassBuilder.
void okl_register(void *PassBuilder);

// Whether `-okl-jit` is said.
bool okl_jit_option();

// What `-okl-libdevice` says.
void okl_libdevice_option(OklTextSink Write, void *To);

// What `-okl-keep` says.
void okl_keep_option(OklTextSink Write, void *To);

// The files of the user's plug-ins, a line each.
void okl_plugin_option(OklTextSink Write, void *To);

// Diagnostics. Function and At may be null.
void okl_diagnose(LLVMModuleRef M, LLVMValueRef Function, LLVMValueRef At, OklText Message,
                  bool IsError);
// At a byte of a file that the compiler has not read itself, whose reader is shown that line.
void okl_error_in_file(LLVMModuleRef M, OklText File, OklText Contents, size_t Byte,
                       OklText Message);
void okl_remark(LLVMValueRef At, OklText Name, OklText Message, bool Missed);

// Names and places as the user knows them.
void okl_demangle(OklText Name, OklTextSink Sink, void *To);
void okl_function_source_name(LLVMValueRef Function, OklTextSink Sink, void *To);

// Whether LLVM knows that the function does not write memory.
bool okl_only_reads(LLVMValueRef Function);
bool okl_is_library_function(LLVMValueRef Function);

// Control flow.
void okl_loops(LLVMValueRef Function, OklLoopSink Sink, void *To);

// Changes.
void okl_move_before(LLVMValueRef At, LLVMValueRef Before);
// Splits the block in front of an instruction; the result ends a new block that runs if Condition.
LLVMValueRef okl_insert_if(LLVMValueRef Condition, LLVMValueRef Before);
void okl_append_to_used(LLVMModuleRef M, const LLVMValueRef *Globals, size_t Count);
void okl_append_to_compiler_used(LLVMModuleRef M, LLVMValueRef Global);
// The function has no parameters.
void okl_call_before_main(LLVMModuleRef M, LLVMValueRef Function);
void okl_move_to_end(LLVMModuleRef M, LLVMValueRef Global);
// A variable with so many bytes more, which are 0, in place of a defined one.
LLVMValueRef okl_widen(LLVMValueRef Global, uint64_t Bytes);
void okl_expand_constant_users(LLVMValueRef Global);

// Of an address that is computed from another one: whether it is a constant number of bytes behind that, and how many.
bool okl_gep_distance(LLVMModuleRef M, LLVMValueRef GEP, int64_t *Bytes);
// Whether the types that clang noted of two loads or stores exclude that they access the same.
bool okl_types_differ(LLVMValueRef Access, LLVMValueRef Other);

// What an instruction may do: change something, throw or not return; read memory.
bool okl_has_side_effects(LLVMValueRef At);
bool okl_may_read(LLVMValueRef At);

// Of a terminator that ends a loop.
void okl_remove_loop_option(LLVMValueRef Terminator, OklText Name);
// Adds an option, with a number of 32 bits if it has one.
void okl_add_loop_option(LLVMValueRef Terminator, OklText Name, bool HasNumber, unsigned Number);
// Of the ends of several loops, one in the other: no turn depends on another one by the loads and stores of a new group.
void okl_mark_independent(const LLVMValueRef *Accesses, size_t Count, const LLVMValueRef *Ends, size_t Loops);
// Of the end of a loop of which nothing is said of the kind: it is unrolled when it has been vectorised.
void okl_unroll_late(LLVMValueRef Terminator);
void okl_delete_body(LLVMValueRef Function);
// The new block that begins with an instruction.
LLVMBasicBlockRef okl_split_before(LLVMValueRef At);
LLVMBasicBlockRef okl_split_edges(LLVMBasicBlockRef To, const LLVMBasicBlockRef *From, size_t Count);
// Has a call, which throws nothing, in place of an invoke; where it goes on becomes a part of its block.
void okl_to_call(LLVMValueRef Invoke);
// What an atomicrmw makes of a value.
LLVMValueRef okl_updated(LLVMBuilderRef B, LLVMValueRef Update, LLVMValueRef Old);
uint64_t okl_hash(OklText Of);
// What tells a value's end: an llvm::WeakVH, the value or null, and the end of it.
void *okl_watch(LLVMValueRef V);
LLVMValueRef okl_watched(void *Watch);
void okl_unwatch(void *Watch);
}
