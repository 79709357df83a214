// The worksharing loops of a region.
// RUN: clang-22 -O0 -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.ll 2>&1 | FileCheck %s

void work(long i);

// CHECK:      team, static i32 loop, static chunked i64 loop with chunks of 4
// CHECK-SAME: , dynamic u32 loop with chunks of 1, guided u64 loop with chunks of 7
// CHECK-SAME: , runtime i32 loop, auto i32 loop, static i32 ordered loop
// CHECK-SAME: , static chunked i32 loop{{$}}
void schedules(int n, int chunk) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) work(i);
#pragma omp for schedule(static, 4)
    for (long i = 0; i < n; i++) work(i);
#pragma omp for schedule(dynamic)
    for (unsigned i = 0; i < n; i++) work(i);
#pragma omp for schedule(guided, 7)
    for (unsigned long i = 0; i < n; i++) work(i);
#pragma omp for schedule(runtime)
    for (int i = 0; i < n; i++) work(i);
#pragma omp for schedule(auto)
    for (int i = 0; i < n; i++) work(i);
#pragma omp for ordered
    for (int i = 0; i < n; i++) {
#pragma omp ordered
      work(i);
    }
#pragma omp for schedule(static, chunk)
    for (int i = 0; i < n; i++) work(i);
  }
}
