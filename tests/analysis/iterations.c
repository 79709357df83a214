// What each iteration of a worksharing loop accesses, from the module as clang emits it: relations, not the sections of a
// share.
// RUN: clang-22 -O1 -Xclang -disable-llvm-passes -g -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

int n, idx[100], hist[10];
double a[100], b[100], c[100][50], *p;

// Captured variables, a sum, and the value of the last iteration.
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+10]]: static i32 loop{{$}}
// CHECK-NEXT: read 8 bytes in capture 2 at 0
// CHECK-NEXT: read 8 bytes in capture 3 at 0
// CHECK-NEXT: read 4 bytes in capture 4 at 0
// CHECK-NEXT: read 8 bytes in *(capture 2) at 8 * i
// CHECK-NEXT: read 8 bytes in *(capture 3) at 8 * [capture 4] + 8 * i
// CHECK-NEXT: combines into capture 1: Add
// CHECK-NEXT: the last iteration's value goes to capture 5
double sum(double *x, double *y, int m, int k) {
  double s = 0; int last = 0;
#pragma omp parallel for reduction(+:s) lastprivate(last)
  for (int i = 0; i < m; i++) { s += x[i] * y[i + k]; last = i; }
  return s + last;
}

double most(void) {
  double m = 0; int all = 1;
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+6]]: static i32 loop 0 to 99{{$}}
// CHECK:      read 8 bytes in a at 8 * i
// CHECK-NEXT: read 4 bytes in idx at 4 * i
// CHECK-NEXT: combines into capture 0: Max
// CHECK-NEXT: combines into capture 1: And
// CHECK-NEXT: each thread
#pragma omp parallel for reduction(max:m) reduction(&:all)
  for (int i = 0; i < 100; i++) { m = a[i] > m ? a[i] : m; all &= idx[i]; }
  return m + all;
}

void grid(void) {
#pragma omp parallel
  {
// Rows that grow with the iteration, of which the first one has none.
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+4]]:
// CHECK-NEXT: may read 8 bytes in a at 8 + 8 * i
// CHECK-NEXT: may read 8 bytes in c at 8 + 400 * i, 1 + i times each 8
// CHECK-NEXT: may write 8 bytes in c at 400 + 400 * i, 1 + i times each 8
#pragma omp for
    for (int i = 1; i < 50; i++)
      for (int j = 0; j < i; j++) c[i][j] = c[i - 1][j + 1] + a[i];

// Through a table, and under a condition; also where chunks are dealt out.
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+9]]: dynamic i32 loop, chunks of 4{{$}}
// CHECK-NEXT: may read 8 bytes in p at 0
// CHECK-NEXT: read 8 bytes in *(p) at 16 * i
// CHECK-NEXT: read 4 bytes in idx at 4 * i
// CHECK-NEXT: read 8 bytes in b at 8 * [idx at 4 * i]
// CHECK-NEXT: write 8 bytes in b at 8 * [idx at 4 * i]
// CHECK-NEXT: read 8 bytes in a at 8 * i
// CHECK-NEXT: may write 8 bytes in a at 8 * i
// CHECK-NOT:  unknown
#pragma omp for schedule(dynamic, 4)
    for (int i = 0; i < n; i++) { b[idx[i]] += p[2 * i]; if (a[i] > 0) a[i] = 0; }

// Atomically.
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+4]]:
// CHECK-NEXT: read 4 bytes in idx at 4 * i
// CHECK-NEXT: increment 4 bytes in hist at 4 * [idx at 4 * i]
// CHECK-NOT:  unknown
#pragma omp for
    for (int i = 0; i < n; i++) {
#pragma omp atomic
      hist[idx[i]]++;
    }
  }
}

// A table that the loop may write itself says nothing: what is written is unknown.
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+3]]:
// CHECK:      unknown: it accesses an object that is not known
void chase(long *next, long m) {
#pragma omp parallel for
  for (long i = 0; i < m; i++) { long *to = (long *)next[i]; to[0] = i; }
}

// Remainders are no iterations.
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+6]]:
// CHECK-NEXT: read 4 bytes in idx at 4 * i
// CHECK-NEXT: may read 8 bytes in a, anywhere
// CHECK-NEXT: may write 8 bytes in a, anywhere
// CHECK-NOT:  unknown
void turn(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i & 63] = a[(unsigned char)idx[i]] + 1;
}

// Powers of sums are not written out.
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+4]]:
// CHECK:      may write 8 bytes in a, anywhere
// CHECK-NOT:  unknown
void far(long m, long k, long q, long r) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    long t = m + k + q + r;
    t *= t, t *= t, t *= t, t *= t, t *= t;
    a[i + t] = 1;
  }
}

// What the programmer has declared is not the sum that it ends with.
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+5]]:
// CHECK:      combines into capture 0: Declared
#pragma omp declare reduction(twice : long : omp_out += 2 * omp_in)
long declared(void) {
  long s = 0;
#pragma omp parallel for reduction(twice : s)
  for (int i = 0; i < 100; i++) s += idx[i];
  return s;
}

// A loop of a function that regions call: what its parameters lead to.
// CHECK:      worksharing loop at {{.*}}iterations.c:[[#@LINE+6]]:
// CHECK-NEXT: read 8 bytes in parameter 0 at 8 + 8 * i
// CHECK-NEXT: write 8 bytes in parameter 0 at 8 * i
// CHECK-NEXT: write 8 bytes in a at 8 * parameter 1 + 8 * i
// CHECK-NOT:  unknown
__attribute__((noinline)) static void shift(double *x, long first, int m) {
#pragma omp for
  for (int i = 0; i < m; i++) { x[i] = x[i + 1]; a[first + i] = 0; }
}
void shift_twice(double *x, double *y, int m) {
#pragma omp parallel
  { shift(x, 1, m); shift(y, 2, m); }
}
