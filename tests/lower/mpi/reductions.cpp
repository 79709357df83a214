// Whether a combine function reaches beyond the items is told to the runtime, and the size of the largest.
// RUN: clang++-22 -O0 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: clang++-22 -O2 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.2.ll
// RUN: FileCheck %s < %t.2.ll

// CHECK-LABEL: define internal void @_Z5plainPfi.omp_outlined(
// CHECK:         call i32 @okl_mpi_reduce_nowait(ptr {{.*}}, i32 {{.*}}, i32 3, i64 24, ptr {{.*}}, ptr {{.*}}, ptr {{.*}}, i32 -8)
double plain(float *a, int n) {
  double sum = 0;
  int biggest = 0;
  float product = 1;
#pragma omp parallel for reduction(+ : sum) reduction(max : biggest) reduction(* : product)
  for (int i = 0; i < n; i++) {
    sum += a[i];
    biggest = biggest > i ? biggest : i;
    product *= a[i];
  }
  return sum + biggest + product;
}

// CHECK-LABEL: define internal void @_Z8sectionsPfi.omp_outlined(
// CHECK:         call i32 @okl_mpi_reduce_nowait({{.*}}, i32 -40)
float sections(float *a, int n) {
  float bins[10] = {0};
#pragma omp parallel for reduction(+ : bins[ : 10])
  for (int i = 0; i < n; i++) bins[i % 10] += a[i];
  return bins[3];
}

// CHECK-LABEL: define internal void @_Z7unknownPfS_i.omp_outlined(
// CHECK:         call i32 @okl_mpi_reduce_nowait({{.*}}, i32 0)
void unknown(float *bins, float *a, int n) {
#pragma omp parallel for reduction(+ : bins[ : n])
  for (int i = 0; i < n; i++) bins[i] += a[i];
}

struct List {
  double *values;
  List &operator+=(const List &other);
};
inline List &List::operator+=(const List &other) {
  values[0] += other.values[0];
  return *this;
}
#pragma omp declare reduction(+ : List : omp_out += omp_in)

// CHECK-LABEL: define internal void @_Z4deepR4Listi.omp_outlined(
// CHECK:         call i32 @okl_mpi_reduce_nowait({{.*}}, i32 1)
void deep(List &list, int n) {
#pragma omp parallel for reduction(+ : list)
  for (int i = 0; i < n; i++) list += list;
}
