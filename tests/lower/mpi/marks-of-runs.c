// What an inner loop writes one behind the other to a computed place is marked in front of it, once for all turns: or later,
// with what other loops have written in front of it. The loop vectorises as in the OpenMP build.
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -DWHOLE -Rpass=loop-vectorize -c %s -o %t.o 2>&1 | grep -o ':[0-9]*:.*vectorized loop.*interleaved' | sort | sed p > %t.openmp
// RUN: clang-22 -O2 -fopenmp -DWHOLE -fpass-plugin=%plugin -Rpass=loop-vectorize -c %s -o %t.o 2>&1 | grep -o ':[0-9]*:.*vectorized loop.*interleaved' | sort > %t.okl
// RUN: test $(wc -l < %t.openmp) -eq 4 && diff %t.openmp %t.okl

// As many as there are turns, and no more than there is room for. Where that goes on where the one before has ended nothing is
// marked yet, unless the run time wants it; the rest is, behind the nest.
// CHECK-LABEL: define internal void @repeat.omp_outlined(
// CHECK:       call void @okl_mpi_sections(
// CHECK-NOT:   store i8
// CHECK:       [[AT_EACH:%.*]] = icmp slt i64 {{.*}}, 0
// CHECK:       [[NUMBER:%.*]] = and i64
// CHECK:       [[LESS:%.*]] = sub nsw i64 {{.*}}, [[NUMBER]]
// CHECK:       [[ROOM:%.*]] = add i64 [[LESS]], 1
// CHECK:       [[COUNT:%.*]] = call i64 @llvm.umin.i64(i64 [[ROOM]]
// CHECK:       [[OTHER:%.*]] = icmp ne i64 {{.*}}, [[NUMBER]]
// CHECK:       [[IS_NEW:%.*]] = select i1 [[AT_EACH]], i1 true, i1 [[OTHER]]
// CHECK:       br i1 [[IS_NEW]], label
// CHECK:       call void @okl.set_bits(
// CHECK-NOT:   store i8
// CHECK:       store <
// CHECK-NOT:   store i8
// CHECK:       call void @okl.set_bits(
// CHECK:       call void @okl_mpi_kmpc_for_static_fini(
// CHECK:       }
void repeat(int *sorted, const int *found, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int next = i * 100;
    for (int value = 0; value < 40; value++)
      for (int times = found[i * 40 + value]; times > 0; times--)
        sorted[next++] = value;
  }
}

// From the lowest, each loop for itself.
// CHECK-LABEL: define internal void @downwards.omp_outlined(
// CHECK-NOT:   store i8
// CHECK:       call void @llvm.memset.p0.i64(
// CHECK-NOT:   store i8
// CHECK:       }
void downwards(int *sorted, const int *found, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int next = i * 100;
    for (int value = 0; value < 40; value++) {
      int count = found[i * 40 + value];
      for (int k = 0; k < count; k++)
        sorted[--next] = value;
    }
  }
}

#ifndef WHOLE

// Not where it is left early.
// CHECK-LABEL: define internal void @until.omp_outlined(
// CHECK:       call void @okl_mpi_sections(
// CHECK-NOT:   llvm.memset
// CHECK:       or i8
// CHECK-NOT:   llvm.memset
// CHECK:       }
void until(int *sorted, const int *found, const int *stops, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int next = i * 100;
    for (int value = 0; value < 40; value++) {
      int count = found[i * 40 + value];
      for (int k = 0; k < count; k++) {
        sorted[next++] = value;
        if (stops[next] == k) break;
      }
    }
  }
}

// Nor where a store is behind a condition of each turn.
// CHECK-LABEL: define internal void @some.omp_outlined(
// CHECK-NOT:   llvm.memset
// CHECK:       store i8 1
// CHECK-NOT:   llvm.memset
// CHECK:       }
void some(int *sorted, const int *found, const int *stops, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int next = i * 100;
    for (int value = 0; value < 40; value++) {
      int count = found[i * 40 + value];
      for (int k = 0; k < count; k++) {
        if (stops[next] == k) sorted[next] = value;
        next++;
      }
    }
  }
}

// Nor with gaps.
// CHECK-LABEL: define internal void @every_other.omp_outlined(
// CHECK-NOT:   llvm.memset
// CHECK:       store i8 1
// CHECK-NOT:   llvm.memset
// CHECK:       }
void every_other(int *sorted, const int *found, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int next = i * 100;
    for (int value = 0; value < 40; value++) {
      int count = found[i * 40 + value];
      for (int k = 0; k < count; k++) {
        sorted[next] = value;
        next += 2;
      }
    }
  }
}

// Nor where the index may wrap around.
// CHECK-LABEL: define internal void @wraps.omp_outlined(
// CHECK-NOT:   llvm.memset
// CHECK:       store i8 1
// CHECK-NOT:   llvm.memset
// CHECK:       }
void wraps(int *sorted, const int *found, const unsigned *first, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int value = 0; value < 40; value++) {
      unsigned next = first[i * 40 + value];
      int count = found[i * 40 + value];
      for (int k = 0; k < count; k++)
        sorted[next++] = value;
    }
}

// Nor where a call may not return.
static int sorted[1000], found[400], stops[40];
int puts(const char *);
// CHECK-LABEL: define internal void @calls.omp_outlined(
// CHECK-NOT:   llvm.memset
// CHECK:       store i8 1
// CHECK-NOT:   llvm.memset
// CHECK:       }
void calls(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int next = i * 100;
    for (int value = 0; value < 40; value++) {
      int count = found[i * 40 + value];
      for (int k = 0; k < count; k++) {
        sorted[next++] = k;
        if (stops[value] == k) puts("stop");
      }
    }
  }
}

#endif
