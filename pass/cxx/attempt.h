// What may fail in LLVM without an end of the process: retarget.cpp says how.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

// Does something. Where LLVM cannot go on, that ends the attempt, and not the process: what it has made is left then as it is, and
// never used. It passes through no code but C++.
void attempt(llvm::function_ref<void()> Does);

// From now on only errors that LLVM tells of end attempts alone: this process is a program's, which has handlers of signals of
// its own, and threads that need them meanwhile.
extern "C" void okl_in_program();
