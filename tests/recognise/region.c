// What is passed to a region.
// RUN: clang-22 -O0 -fopenmp -gline-tables-only -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O1 -fopenmp -gline-tables-only -S -emit-llvm %s -o %t.1.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.1.ll 2>&1 | FileCheck %s

// CHECK:      parallel region in accesses at {{.*}}region.c:[[# @LINE + 11]]
// CHECK-NEXT:    body accesses.omp_outlined
// CHECK-NEXT:    team
// CHECK-NEXT:    capture 0: by reference
// CHECK-NEXT:    capture 1: by reference
// CHECK-NEXT:    capture 2: by reference
// CHECK-NEXT:    capture 3: by reference
// CHECK-NEXT:    capture 4: by value
// CHECK-NEXT:    step 0: each thread; join
void accesses(int in, int out, double sum, int copy) {
  int array[10] = {0};
#pragma omp parallel firstprivate(copy)
  {
    out = in;
#pragma omp atomic
    sum += 1;
    array[copy] *= 2;
  }
}
