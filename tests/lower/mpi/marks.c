// A store to a computed place sets a mark where the runtime says; other loops of the module stay as they are.
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -Rpass=loop-vectorize -c %s -o %t.o 2>&1 | grep -o ':[0-9]*:.*vectorized loop.*interleaved' | sort | sed p > %t.openmp
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -Rpass=loop-vectorize -c %s -o %t.o 2>&1 | grep -o ':[0-9]*:.*vectorized loop.*interleaved' | sort > %t.okl
// RUN: test $(wc -l < %t.openmp) -ge 2 && diff %t.openmp %t.okl

// CHECK-LABEL: define internal void @scatter.omp_outlined(
// CHECK:       call void @okl_mpi_sections(
// CHECK:       [[START:%.*]] = load i64
// CHECK:       [[MASK:%.*]] = load i64
// CHECK:       [[MARKS:%.*]] = load ptr
// CHECK:       br label
// CHECK:       [[PLACE:%.*]] = getelementptr inbounds double, ptr
// CHECK-NEXT:  [[ADDRESS:%.*]] = ptrtoint ptr [[PLACE]] to i64
// CHECK-NEXT:  [[DISTANCE:%.*]] = sub i64 [[ADDRESS]], [[START]]
// CHECK-NEXT:  [[NUMBER:%.*]] = lshr i64 [[DISTANCE]], 3
// CHECK-NEXT:  [[OWN:%.*]] = and i64 [[NUMBER]], [[MASK]]
// CHECK-NEXT:  [[INDEX:%.*]] = lshr i64 [[OWN]], 3
// CHECK-NEXT:  [[MARK:%.*]] = getelementptr i8, ptr [[MARKS]], i64 [[INDEX]]
// CHECK:       [[OLD:%.*]] = load i8, ptr [[MARK]]
// CHECK-NEXT:  [[NEW:%.*]] = or i8 [[OLD]],
// CHECK-NEXT:  store i8 [[NEW]], ptr [[MARK]]
// CHECK-NEXT:  store double {{.*}}, ptr [[PLACE]]
void scatter(double *restrict y, const double *x, const int *map, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    y[map[i]] = x[i];
}

// CHECK-LABEL: define internal void @count.omp_outlined(
// CHECK:       [[MARK:%.*]] = getelementptr i8, ptr
// CHECK-NEXT:  store i8 1, ptr [[MARK]], align 1
// CHECK-NOT:   store i8
void count(int *counts, const int *map, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    counts[map[i]]++;
}

// CHECK-LABEL: define internal void @scale.omp_outlined(
// CHECK-NOT:   store i8
void scale(double *y, const double *x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    y[i] = 2 * x[i];
}
