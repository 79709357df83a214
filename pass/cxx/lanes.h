// The body of a loop for several elements at once, one in each lane of vectors.
#pragma once

#include "shim.h"

#include <cstdint>

extern "C" {

enum OklLanePlace {
  OklLaneDirect,  // Data + n * Size
  OklLaneMapped,  // Data + Map[n * Arity] * Size
  OklLaneColumns, // pointers to Data + Map[n * Arity + column] * Size
  OklLaneNumber,  // the number n
  OklLaneGlobal,  // Data
};

// In the order of okl's middle representation.
enum OklLaneAccess {
  OklLaneUnused,
  OklLaneRead,
  OklLaneWrite,
  OklLaneReadWrite,
  OklLaneIncrement,
  OklLaneMin,
  OklLaneMax,
};

struct OklLaneArgument {
  int64_t Place;
  int64_t Access;
  // Of one component.
  int64_t Bytes;
  bool Floating, Signed;
  int64_t Components;
  int64_t Columns;
  // The first argument that is expected to use the same column of the same map.
  int64_t Leader;
  // What Arity is expected to be; 0: anything.
  int64_t ExpectedArity;
  // Whether components lie Stride bytes apart, and elements side by side.
  bool ByComponent;
  // Values at the end of the entry block. Size is what is expected; where FoundSize is not null, that is what it is
  // when the program runs.
  LLVMValueRef Data, Size, Map, Arity, FoundSize, Stride;
};

// Bits of the target's preferred vectors; Analyses are what the pass was run with.
unsigned okl_vector_bits(void *Analyses, LLVMValueRef Function);

// Gives a function the attributes of another that say what it is compiled for.
void okl_compile_like(LLVMValueRef Function, LLVMValueRef Other);

// Whether a body changes nothing but its arguments and does the same on every thread, and if not, why.
bool okl_keeps_to_arguments(LLVMValueRef Kernel, const OklLaneArgument *Arguments, size_t Count,
                            OklTextSink Why, void *To);

// Whether all that a body does to an argument is to add to it.
bool okl_only_increments(LLVMValueRef Kernel, const OklLaneArgument *Arguments, size_t Count,
                         size_t Which);

// Completes Range(kernel, parameters, from, to), whose entry block has no end yet: it runs Kernel for Width
// elements at a time and calls Rest, which has the same parameters, for what is left. Where that is not
// possible it tells why; what it wrote is then of no use.
bool okl_write_lanes(LLVMValueRef Range, LLVMValueRef Rest, LLVMValueRef Kernel,
                     const OklLaneArgument *Arguments, size_t Count, unsigned Width,
                     OklTextSink Why, void *To);

}
