// Clang calls the iterations of loops with a dynamic schedule parallel, which only those of `simd` are: two that one
// thread executes may add to the same variable.
// RUN: clang-22 -O1 -fopenmp -S -emit-llvm -Xclang -disable-llvm-passes %s -o %t.ll && FileCheck-22 %s --check-prefix=CLANG --input-file=%t.ll
// RUN: opt-22 -load-pass-plugin=%plugin '-passes=okl-lower<mpi>' %t.ll -S | FileCheck-22 %s
void dealt(long *count, int *key, int n) {
#pragma omp parallel for schedule(dynamic, 64)
  for (int i = 0; i < n; i++)
    count[key[i]]++;
}
void guided(long *count, int *key, int n) {
#pragma omp parallel for schedule(nonmonotonic : guided)
  for (int i = 0; i < n; i++)
    count[key[i]]++;
}
void vectors(long *count, int n) {
#pragma omp parallel for simd schedule(dynamic, 64)
  for (int i = 0; i < n; i++)
    count[i]++;
}
// CLANG-COUNT-3: !"llvm.loop.parallel_accesses"
// CHECK: define internal void @vectors.omp_outlined(
// CHECK: br label %{{.*}}, !llvm.loop ![[SIMD:[0-9]+]]
// CHECK-NOT: llvm.loop.parallel_accesses
// CHECK: ![[SIMD]] = distinct !{![[SIMD]], ![[ACCESSES:[0-9]+]]
// CHECK: ![[ACCESSES]] = !{!"llvm.loop.parallel_accesses"
// That of the version for one rank.
// CHECK: llvm.loop.parallel_accesses
// CHECK-NOT: llvm.loop.parallel_accesses
