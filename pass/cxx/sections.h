// Array sections of memory accesses, by ScalarEvolution. The analyses of a function are an object
// that the caller opens and closes; terms belong to it and are equal where their addresses are.
#pragma once

#include "shim.h"

#include <cstdint>

extern "C" {

struct OklNests;
struct OklTerm;

typedef void (*OklNestSink)(void *To, LLVMBasicBlockRef Header, LLVMBasicBlockRef Preheader,
                            int64_t Parent, const LLVMBasicBlockRef *Blocks, size_t Count);

struct OklDimension {
  const OklTerm *Stride;
  const OklTerm *Count;
};

enum OklSectionKind { OklNoSection, OklAffine, OklAnywhere };

struct OklSection {
  const OklTerm *Address;
  // Inner dimensions first.
  OklDimension Dimensions[16];
  size_t Count;
  // Every element is accessed whenever control reaches the loop.
  bool Exact;
};

// Integers that a loop nest loads.
struct OklTable {
  OklSection Section;
  uint32_t Bytes; // of one
  bool Signed;
};

// Of an access at addresses that a nest computes from what it loads: all lie between the least and the largest
// of the corners, each of which is an offset from the object, and for each table a factor times a number in it.
struct OklCorner {
  const OklTerm *Offset;
  const OklTerm *Factors[4];
};
struct OklBetween {
  const OklTerm *Object;
  OklTable Tables[4];
  size_t TableCount;
  OklCorner Corners[8];
  size_t CornerCount;
};


// Makes the chunks of a worksharing loop countable, given the call that hands them out.
void okl_count_chunks(LLVMValueRef Call, bool Signed);

// Gives loops preheaders.
OklNests *okl_nests_open(LLVMValueRef Function);
void okl_nests_close(OklNests *N);

// Loops, outer ones first; a parent is named by its index, -1 is none.
void okl_nests_loops(OklNests *N, OklNestSink Sink, void *To);

// Which turns of the loop a section is about. Where rows are clipped at an end, only those of the last turn are.
enum OklTurns { OklAllTurns, OklAllButLastTurn, OklLastTurn };

// Where a section is to be known: in front of a loop, in front of an instruction, or, if both are
// absent, where the function is entered: as an expression in its parameters and in globals.
struct OklScope {
  int64_t Loop; // -1: none
  LLVMValueRef At;
  OklTurns Turns;
};

// What an instruction in Block accesses while control is in Scope: Length bytes (null: one element)
// at Pointer.
OklSectionKind okl_nests_section(OklNests *N, LLVMValueRef Pointer, LLVMValueRef Length,
                                 LLVMBasicBlockRef Block, OklScope Scope, OklSection *Section);
// The same of an access through a pointer that the loop loads itself, from a table that it does not write:
// the section of the table, which again may be one of what a table points to, then sections of offsets from
// each of the pointers. Their number; 0 where that is not known.
size_t okl_nests_rows(OklNests *N, LLVMValueRef Pointer, LLVMValueRef Length,
                      LLVMBasicBlockRef Block, OklScope Scope, OklSection *Sections, size_t Most);
// What a read of one element lies between; false where that is not known. The loop may write the tables, by
// plain stores and copies.
bool okl_nests_between(OklNests *N, LLVMValueRef Pointer, LLVMBasicBlockRef Block, OklScope Scope,
                       OklBetween *Between);
// What a call accesses while control is in Scope, given a section of the callee that is known where
// the callee is entered.
OklSectionKind okl_nests_call_section(OklNests *N, const OklSection *Callee, bool Anywhere,
                                      LLVMValueRef Call, OklScope Scope, OklSection *Section);
// The value an address is a constant number of bytes away from, or null.
LLVMValueRef okl_nests_anchor(OklNests *N, const OklTerm *Address, int64_t *Offset);
// The object an address is computed from, or null.
LLVMValueRef okl_nests_base(OklNests *N, const OklTerm *Address);

// A - B, where it is constant.
bool okl_nests_difference(OklNests *N, const OklTerm *A, const OklTerm *B, int64_t *Result);
bool okl_nests_constant(OklNests *N, const OklTerm *A, int64_t *Result);
// Whether it is the largest number where an index overflows.
bool okl_nests_is_checked(OklNests *N, const OklTerm *A);
// (A - B) / Step, where that is a small constant.
bool okl_nests_steps(OklNests *N, const OklTerm *A, const OklTerm *B, const OklTerm *Step,
                     int64_t *Result);
const OklTerm *okl_nests_plus(OklNests *N, const OklTerm *A, int64_t B);
// A term as a sum: the address of a variable (null: none), a number, and what is left (null: nothing).
const OklTerm *okl_nests_split(OklNests *N, const OklTerm *T, LLVMValueRef *Variable, int64_t *Number);
// The value of a term as an i64, computed in front of an instruction.
LLVMValueRef okl_nests_expand(OklNests *N, const OklTerm *T, LLVMValueRef Before);
void okl_nests_text(OklNests *N, const OklTerm *T, OklTextSink Sink, void *To);
// The name of the object that the address points into; empty where it is not known.
void okl_nests_object(OklNests *N, const OklTerm *Address, OklTextSink Sink, void *To);

// The name a value has in the source; empty where it is not known.
void okl_value_source_name(LLVMValueRef Value, OklTextSink Sink, void *To);
// Removes constant offsets from an address.
LLVMValueRef okl_strip_offset(LLVMValueRef Address, int64_t *Offset);
// Bytes of the object that a parameter or global points to; 0 where they are not known.
uint64_t okl_object_size(LLVMValueRef Object);
// Whether calls of the function access no memory (0), that behind their arguments only (1) or more.
int okl_memory_reach(LLVMValueRef Call);
// Whether a call keeps no copy of an argument, an address, beyond its end.
bool okl_keeps_no_argument(LLVMValueRef Call, unsigned Index);
// Removes what the function's attributes say about memory, from it and from calls of it.
void okl_forget_memory_effects(LLVMValueRef Function);

}
