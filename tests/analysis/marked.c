// Stores to computed places: the program marks what they write. Bytes where it goes to the next element or has
// loaded the old one, otherwise bits; elements as large as alignment and size allow.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK

enum { N = 600 };
struct point {
  double x;
  int n[2];
};
double x[N], y[N];
int map[N], counts[2 * N];
struct point points[N];
char text[N];

// CHECK: region at {{.*}}marked.c:[[@LINE+7]]: complete
// CHECK:      nest
// CHECK-NEXT:   read x [
// CHECK-NEXT:   read map [
// CHECK-NEXT:   write marked y by bits of 8 bytes
// REMARK: marked.c:[[@LINE+2]]:1: remark: region declares all its accesses (3 sections)
void scatter(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    y[map[i]] = x[i];
}

// CHECK: region at {{.*}}marked.c:[[@LINE+6]]: complete
// CHECK:      nest
// CHECK-NEXT:   read map [
// CHECK-NEXT:   read between counts
// CHECK-NEXT:   write marked counts by bytes of 4 bytes
void count(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    counts[map[i]]++;
}

// A structure, a member of it, and letters: the smallest element counts.
// CHECK: region at {{.*}}marked.c:[[@LINE+8]]: complete
// CHECK:      nest
// CHECK:        write marked points by bits of 4 bytes
// CHECK-NEXT:   write marked text by bits of 1 bytes
// CHECK: region at {{.*}}marked.c:[[@LINE+9]]: complete
// CHECK:      nest
// CHECK:        write marked points by bits of 8 bytes
void structures(struct point *from) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    points[map[i]].n[i % 2] = i;
    text[map[i]] = i;
  }
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    points[map[i]] = from[i];
}
