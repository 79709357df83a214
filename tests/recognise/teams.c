// A teams region is a league; the parallel region in it is a loop of its own.
// RUN: clang-22 -O0 -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.ll 2>&1 | FileCheck %s

void work(int i);

// CHECK:      teams region in teams{{$}}
// CHECK:      league
// CHECK:      step 0: distribute i32 loop, each thread; join
// CHECK:      worksharing loop in teams{{$}}
// CHECK-NEXT:   body in teams.omp_outlined{{$}}
// CHECK-NEXT:   distribute i32 loop{{$}}
// CHECK-NEXT:   unknown: it starts a parallel region
// CHECK:      parallel region in teams{{$}}
// CHECK:      team
// CHECK:      step 0: static i32 loop of an unknown length, each thread; join
void teams(int n) {
#pragma omp teams distribute parallel for
  for (int i = 0; i < n; i++) work(i);
}
