// What may fail in LLVM without an end of the compiler: retarget.cpp says how.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

// Does something. Where it fails, in whatever way, that ends the attempt, and not the compiler: what it has made is left then as
// it is, and never used. It passes through no code but C++.
void attempt(llvm::function_ref<void()> Does);

// From now on only errors that LLVM tells of end attempts alone: this process is a program's, which has handlers of signals of
// its own, and threads that need them meanwhile.
extern "C" void okl_in_program();
