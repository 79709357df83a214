// A loop that is dealt out piece by piece asks for its last one only where something depends on that: then the runtime
// lets a thread run that piece behind all others.
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
void body(int);

// CHECK-LABEL: define internal void @plain.omp_outlined(
// CHECK: call i32 @okl_mpi_kmpc_dispatch_next_4(ptr {{[^,]*}}, i32 {{[^,]*}}, ptr null, ptr
void plain(int n) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < n; i++) body(i);
}

// CHECK-LABEL: define internal void @with_last.omp_outlined(
// CHECK: call i32 @okl_mpi_kmpc_dispatch_next_8(ptr {{[^,]*}}, i32 {{[^,]*}}, ptr {{(nonnull )?%[^,]*}}, ptr
int with_last(long n) {
  int last = 0;
#pragma omp parallel for schedule(guided) lastprivate(last)
  for (long i = 0; i < n; i++) {
    body((int)i);
    last = (int)i;
  }
  return last;
}
