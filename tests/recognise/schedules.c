// The worksharing loops of a region.
// RUN: clang-22 -O0 -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.ll 2>&1 | FileCheck %s

void work(long i);

// CHECK:      step 0: static i32 loop, each thread; barrier, step 1
// CHECK:      step 1: static chunked i64 loop, chunks of 4, each thread; barrier, step 2
// CHECK:      step 2: dynamic u32 loop, chunks of 1, each thread; barrier, step 3
// CHECK:      step 3: guided u64 loop, chunks of 7, each thread; barrier, step 4
// CHECK:      step 4: runtime i32 loop, each thread; barrier, step 5
// CHECK:      step 5: auto i32 loop, each thread; barrier, step 6
// CHECK:      step 6: static i32 loop, ordered, each thread; barrier, step 7
// CHECK:      step 7: static chunked i32 loop, chunks of a computed length, each thread; barrier, step 8
// CHECK:      step 8: each thread; join
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
