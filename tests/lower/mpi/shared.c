// Serial code is the same for one rank and for several: it chooses where it begins a region and where it asks the run
// time. What a region reaches and lowering leaves as it was is so, too, unless something is declared in it; what it changes
// has two versions, and who calls that often.
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: FileCheck --check-prefix=TWO %s < %t.ll
#include <omp.h>

extern double table[];
long count;

// CHECK-NOT: @{{(serial|helper|main|seldom)}}.mpi
// CHECK-LABEL: define dso_local {{.*}}@helper(
__attribute__((noinline)) double helper(double x) { return x < 3 ? x : 1 / x; }

// CHECK-LABEL: define dso_local void @serial(
// CHECK:         %[[FLAG:.*]] = load i8, ptr @okl.plain
// CHECK:         call i32 @omp_get_max_threads()
// CHECK:         call i32 @okl_mpi_omp_get_max_threads()
// CHECK-DAG:     call void @okl_mpi_fork(
// CHECK-DAG:     call void (ptr, i32, ptr, ...) @okl_mpi_plain_fork_call(ptr {{.*}}, i32 2, ptr nonnull @serial.omp_outlined.plain,
void serial(double *a, int n) {
  if (omp_get_max_threads() > 64) return;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = helper(i);
}

// TWO-DAG: define dso_local void @counts(
// TWO-DAG: define internal void @counts.mpi(
void counts(void) {
#pragma omp atomic
  count++;
}

// TWO-DAG: define dso_local void @often(
// TWO-DAG: define internal void @often.mpi(
void often(int n) {
  for (int i = 0; i < n; i++) counts();
}

// CHECK-LABEL: define dso_local void @seldom(
// CHECK-NEXT:    load i8, ptr @okl.plain
// CHECK:         atomicrmw add ptr @count
// CHECK:         call void @counts.mpi()
// CHECK:         call void @often.mpi(
void seldom(int n) {
  counts();
  often(n);
}

// CHECK-LABEL: define internal {{.*}} @okl.main(
// CHECK-NOT: @{{(serial|helper|main|seldom)}}.mpi
int main(void) {
  static double a[1000];
  serial(a, 1000);
  return a[999] > table[0];
}
