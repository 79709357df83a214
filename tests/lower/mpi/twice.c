// Loading the plugin twice, or compiling its own output again, changes nothing more.
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.once.ll
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -fpass-plugin=%plugin -S -emit-llvm %s -o %t.twice.ll
// RUN: diff %t.once.ll %t.twice.ll
// RUN: clang-22 -O0 -fpass-plugin=%plugin -S -emit-llvm %t.once.ll -o %t.again.ll
// RUN: grep -v ModuleID %t.once.ll > %t.a; grep -v ModuleID %t.again.ll > %t.b; diff %t.a %t.b
#include <stdlib.h>
int variable = 3;
_Thread_local int own;
__attribute__((constructor)) static void start(void) { own = rand(); }
int main(void) {
#pragma omp parallel
#pragma omp atomic
  variable++;
  return own;
}
