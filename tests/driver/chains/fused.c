// Parallel loops of OpenMP that follow each other run as one where that is proved to be right, with --okl-fuse, on threads and
// on ranks; others stay as they are, and why is told at their lines.
//
// RUN: %okl-cc -O2 -fopenmp --okl-fuse --okl-target=cpu -Rpass=okl -Rpass-missed=okl %s -o %t 2>&1 | grep -v "^ " | FileCheck --check-prefix=TOLD %s
// RUN: clang-22 -O2 -fopenmp %s -o %t.plain && %t.plain >%t.expected
// RUN: env OMP_NUM_THREADS=1 %t | diff - %t.expected
// RUN: env OMP_NUM_THREADS=3 OKL_VERIFY=1 %t | diff - %t.expected
// RUN: %okl-cc -O1 -g -fopenmp --okl-fuse --okl-target=cpu -Rpass=okl -Rpass-missed=okl %s -o %t 2>&1 | grep -v "^ " | FileCheck --check-prefix=TOLD %s
// RUN: env OMP_NUM_THREADS=3 %t | diff - %t.expected
// RUN: %okl-cc -O2 -fopenmp --okl-fuse %s -o %t.ranks
// RUN: env OKL_REGIONS_ALONE=0 OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t.ranks | diff - %t.expected
// RUN: %okl-cc -O2 -fopenmp --okl-target=cpu -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck --allow-empty --check-prefix=OFF %s
// OFF-NOT: as one
//
#include <stdio.h>
#include <stdlib.h>

#define N 200
static double A[N + 2][N + 2], B[N + 2][N + 2];

// TOLD-DAG: fused.c:[[#@LINE+3]]:1: remark: the parallel loops in lines [[#@LINE+3]], [[#@LINE+6]] and [[#@LINE+9]] run as one
__attribute__((noinline)) static void triads(double *a, double *b, double *c, int n, double factor) {
  double offset = factor + 1;
#pragma omp parallel for firstprivate(offset)
  for (int i = 0; i < n; i++)
    a[i] = b[i] * factor + offset;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++)
    c[i] = a[i] + b[i];
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    b[i] = c[i] - a[i] * factor;
}

// Where `z` is a part of `x`, which is asked when the program runs, the second loop needs what comes later in the first one.
// TOLD-DAG: fused.c:[[#@LINE+2]]:1: remark: the parallel loops in lines [[#@LINE+2]] and [[#@LINE+5]] run as one
__attribute__((noinline)) static void shifted(double *x, double *y, const double *z, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    x[i] += i * 0.5;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    y[i] = z[i] + x[i];
}

// The second loop is two rows behind the first one.
// TOLD-DAG: fused.c:[[#@LINE+2]]:1: remark: the parallel loops in lines [[#@LINE+2]] and [[#@LINE+6]] run as one
__attribute__((noinline)) static void jacobi(void) {
#pragma omp parallel for
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++)
      A[i][j] = (B[i - 1][j] + B[i][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1]) * 0.25;
#pragma omp parallel for
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++)
      B[i][j] = (A[i - 1][j] + A[i][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]) * 0.25;
}

// Numbers of which sums are exact.
// TOLD-DAG: fused.c:[[#@LINE+3]]:1: remark: the parallel loops in lines [[#@LINE+3]] and [[#@LINE+6]] run as one
__attribute__((noinline)) static long sums(long *a, int n) {
  long sum = 3, all = -1;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 5 % 17;
#pragma omp parallel for reduction(+ : sum) reduction(& : all)
  for (int i = 0; i < n; i++) {
    sum += a[i];
    all &= a[i] | 64;
  }
  return sum + all;
}

// Of three loops the last one needs all of the second one.
// TOLD-DAG: fused.c:[[#@LINE+3]]:1: remark: the parallel loops in lines [[#@LINE+3]], [[#@LINE+6]] and [[#@LINE+9]] are not run as one: it is not known whether {{.*}} have memory in common
// TOLD-DAG: fused.c:[[#@LINE+2]]:1: remark: the parallel loops in lines [[#@LINE+2]] and [[#@LINE+5]] run as one
__attribute__((noinline)) static void gathers(double *a, double *b, double *c, const int *where, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = i * 0.5;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    b[i] = a[i] + 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    c[i] = b[where[i]];
}

// Inner loops that go as far as the outer one says, or as far as something does that may be nowhere if that has no iteration.
__attribute__((noinline)) static void triangles(double *a, double *b, int n, const int *width, int parts) {
  // TOLD-DAG: fused.c:[[#@LINE+1]]:1: remark: the parallel loops in lines [[#@LINE+1]], [[#@LINE+5]], [[#@LINE+8]] and [[#@LINE+12]] run as one
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i % 4; j++)
      b[i] += a[i] * j;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    b[i] += a[i];
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < *width / parts; j++)
      b[i] += a[i] * j;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    b[i] += a[i];
}

// What is told of the first loop, and of one that has company on one side only.
__attribute__((noinline)) static int others(double *a, int n) {
  int last[2] = {0, 0};
  // TOLD-DAG: fused.c:[[#@LINE+1]]:1: remark: this loop is not run as one with that behind it: its schedule is not static
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < n; i++)
    a[i] += 1;
  // TOLD-DAG: fused.c:[[#@LINE+1]]:1: remark: this loop is not run as one with that in front of it: variables have values of its last iteration behind it
#pragma omp parallel for lastprivate(last)
  for (int i = 0; i < n; i++)
    last[1] = (int)a[i];
  // TOLD-DAG: fused.c:[[#@LINE+1]]:1: remark: this loop is not run as one with that in front of it: it does more than share the iterations of one loop
#pragma omp parallel
  a[0] = n;
  return last[1];
}

// What the last iteration leaves is read behind the loops, and by the fifth one.
// TOLD-DAG: fused.c:[[#@LINE+3]]:1: remark: the parallel loops in lines [[#@LINE+3]], [[#@LINE+9]], [[#@LINE+12]] and [[#@LINE+17]] run as one
__attribute__((noinline)) static double lasts(double *a, double *b, long first, int n) {
  double last = 7, half = 0;
#pragma omp parallel for lastprivate(last, half)
  for (long i = first; i < n; i++) {
    last = b[i] + i;
    half = last / 2;
    a[i] = half * half;
  }
#pragma omp parallel for
  for (long i = first; i < n; i++)
    b[i] = a[i] + 1;
#pragma omp parallel for lastprivate(last)
  for (int i = (int)first; i < n; i++) {
    last = a[i] - b[i];
    a[i] += last;
  }
#pragma omp parallel for lastprivate(last)
  for (int i = 0; i < n; i++)
    if (a[i] > 3) last = a[i];
    else a[i] = last = 2;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    b[i] += a[i] * last;
  return last + half;
}

// Numbers with fewer bits.
// TOLD-DAG: fused.c:[[#@LINE+4]]:1: remark: the parallel loops in lines [[#@LINE+4]] and [[#@LINE+7]] run as one
__attribute__((noinline)) static int narrow(double *a, const double *b, int n) {
  short low = 9;
  unsigned char high = 4;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = b[i] * 2 - i % 3;
#pragma omp parallel for reduction(min : low) reduction(max : high)
  for (int i = 0; i < n; i++) {
    short found = (short)a[i];
    if (found < low) low = found;
    unsigned char other = (unsigned char)(200 + i % 50);
    high = other > high ? other : high;
  }
  return low * 1000 + high;
}

// The least and the largest, which begin with something between the loops, and with what is no number where no loop has an iteration.
// TOLD-DAG: fused.c:[[#@LINE+4]]:1: remark: the parallel loops in lines [[#@LINE+4]], [[#@LINE+7]] and [[#@LINE+13]] run as one
__attribute__((noinline)) static double extremes(double *a, const double *b, int n, double least) {
  int top = -5;
  double largest = 100;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = b[i] * 2 - i % 3;
#pragma omp parallel for reduction(min : least) reduction(max : top)
  for (int i = 0; i < n; i++) {
    least = a[i] < least ? a[i] : least;
    if (top < (int)a[i]) top = (int)a[i];
  }
  largest = 0;
#pragma omp parallel for reduction(max : largest)
  for (int i = 0; i < n; i++)
    largest = largest > a[i] - b[i] ? largest : a[i] - b[i];
  return least * 1000 + top + largest / 64;
}

// What has been found is needed by the next loop; others know where it is; and what is kept is not what is compared.
__attribute__((noinline)) static double found(double *a, int n, double *seen) {
  double largest = 0;
  int top = 0, place = 0;
#pragma omp parallel for reduction(max : largest)
  for (int i = 0; i < n; i++)
    if (a[i] > largest) largest = a[i];
  // TOLD-DAG: fused.c:[[#@LINE+1]]:1: remark: this loop is not run as one with that in front of it: it, or what stands between, needs the least or the largest that was found there
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] -= largest;
  double other = 0, *known = n > 3 ? &other : seen;
  // TOLD-DAG: fused.c:[[#@LINE+2]]:1: remark: the parallel loops in lines [[#@LINE+2]] and [[#@LINE+5]] are not run as one: threads combine what one of them computes in a way that is not understood
  // TOLD-DAG: fused.c:[[#@LINE+7]]:1: remark: this loop is not run as one with that in front of it: what it finds the least or the largest of others may know by its address
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] += 1;
#pragma omp parallel for reduction(max : top)
  for (int i = 0; i < n; i++)
    if (a[i] * 3 > top) top = (int)a[i] + 7;
#pragma omp parallel for reduction(max : other)
  for (int i = 0; i < n; i++)
    if (a[i] > other) other = a[i];
  return largest + place + *known;
}

// Loops that threads share as one, in two dimensions, and one of which they share the outer one.
// TOLD-DAG: fused.c:[[#@LINE+2]]:1: remark: the parallel loops in lines [[#@LINE+2]], [[#@LINE+6]] and [[#@LINE+10]] run as one
__attribute__((noinline)) static void collapsed(int first, int n) {
#pragma omp parallel for collapse(2)
  for (int i = first; i <= n; i++)
    for (int j = 1; j <= N; j++)
      A[i][j] = B[i - 1][j] * 0.5 + j;
#pragma omp parallel for collapse(2)
  for (int i = first; i <= n; i++)
    for (int j = 1; j <= N; j++)
      B[i][j] = A[i][j] + A[i - 1][j];
#pragma omp parallel for
  for (int i = first; i <= n; i++)
    for (int j = 1; j <= N; j++)
      A[i][j] -= B[i][j] * 0.25;
}

// Inner loops that begin at a variable, which may be another row's number.
// TOLD-DAG: fused.c:[[#@LINE+2]]:1: remark: the parallel loops in lines [[#@LINE+2]] and [[#@LINE+6]] are not run as one: it is not known whether elements of B with different numbers are different ones
__attribute__((noinline)) static void begun(int first, int n) {
#pragma omp parallel for collapse(2)
  for (int i = 1; i <= n; i++)
    for (int j = first; j <= N; j++)
      A[i][j] += B[i][j] + i;
#pragma omp parallel for collapse(2)
  for (int i = 1; i <= n; i++)
    for (int j = first; j <= N; j++)
      B[i][j] = A[i][j] + A[i - 1][j];
}

static double C[8][12][20], D[8][12][20];
__attribute__((noinline)) static void boxes(int n) {
  // TOLD-DAG: fused.c:[[#@LINE+1]]:1: remark: the parallel loops in lines [[#@LINE+1]] and [[#@LINE+6]] run as one
#pragma omp parallel for collapse(3)
  for (int i = 0; i < n; i++)
    for (int j = 1; j < 12; j++)
      for (int k = 0; k < 20; k++)
        C[i][j][k] = D[i][j - 1][k] + i;
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 1; j < 12; j++)
      for (int k = 0; k < 20; k++)
        D[i][j][k] = C[i][j][k] + k;
  // TOLD-DAG: fused.c:[[#@LINE+1]]:1: remark: this loop is not run as one with that in front of it: it is collapsed, and only some of its iterators have a sign
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (unsigned j = 0; j < (unsigned)n; j++)
      C[i][j][3] += 1;
  // TOLD-DAG: fused.c:[[#@LINE+1]]:1: remark: this loop is not run as one with that in front of it: its loop is not understood
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = i; j < 12; j++)
      C[i][j][4] += 1;
}

// Iterators without a sign, and first values that are variables.
__attribute__((noinline)) static void unsigned_boxes(unsigned n, long first, int last) {
  // TOLD-DAG: fused.c:[[#@LINE+1]]:1: remark: the parallel loops in lines [[#@LINE+1]], [[#@LINE+5]], [[#@LINE+9]] and [[#@LINE+13]] run as one
#pragma omp parallel for collapse(2)
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < 12; j++)
      C[i][j][3] += D[i][j][3];
#pragma omp parallel for collapse(2)
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < 12; j++)
      D[i][j][3] = C[i][j][3] + i;
#pragma omp parallel for collapse(2)
  for (long i = first; i < last; i++)
    for (int j = 0; j < 12; j++)
      C[i][j][5] += D[i][j][5];
#pragma omp parallel for collapse(2)
  for (long i = first; i < last; i++)
    for (int j = 0; j < 12; j++)
      D[i][j][5] = C[i][j][5] + i;
}

static void tell(const double *a, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i] * (i % 7 + 1);
  printf("%a\n", sum);
}

int main(int argc, char **argv) {
  int n = 1000 * argc;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
  long *numbers = malloc(n * sizeof *numbers);
  int *where = malloc(n * sizeof *where);
  (void)argv;
  for (int i = 0; i < n; i++) {
    b[i] = i % 13;
    numbers[i] = i;
    where[i] = i * 7 % n;
  }
  triads(a, b, c, n, 0.5);
  // Pointers that lead to memory in common, and loops that have no iteration.
  shifted(a, c, a + 3, n - 3);
  tell(c, n - 3);
  triads(a, b, c, 0, 2);
  triads(a, b, c, -5, 2);
  tell(a, n), tell(b, n), tell(c, n);
  for (int i = 0; i < N + 2; i++)
    for (int j = 0; j < N + 2; j++)
      A[i][j] = B[i][j] = (i * 7 + j * 3) % 11;
  for (int t = 0; t < 6; t++)
    jacobi();
  tell(A[0], N * N), tell(B[0], N * N);
  printf("%ld\n", sums(numbers, n));
  gathers(a, b, c, where, n);
  tell(c, n);
  triangles(a, b, 0, NULL, 0);
  triangles(a, b, n, where + 3, 4);
  tell(b, n);
  printf("%d\n", others(a, n));
  double no_number = 0.0 / (argc - 1);
  printf("%a %a\n", extremes(a, b, n, 50), extremes(a, b, n, -1000));
  printf("%d %d\n", extremes(a, b, 0, no_number) != no_number, extremes(a, b, n, no_number) < 1e300);
  printf("%a\n", found(a, n, a));
  begun(1, N), begun(N - 1, 7), begun(N + 1, 9), begun(3, 0), collapsed(1, N), collapsed(5, 9), collapsed(9, 5), collapsed(1, -5);
  boxes(8), boxes(0), boxes(-2), boxes(1);
  unsigned_boxes(8, 2, 7), unsigned_boxes(0, -3, -5), unsigned_boxes(1, 7, 8);
  printf("%a %a %a\n", lasts(a, b, 0, n), lasts(a + 50, b + 50, -50, 20), lasts(a, b, 5, -5));
  printf("%d %d\n", narrow(a, b, n), narrow(a, b, 0));
  tell(A[0], N * N), tell(B[0], N * N), tell(C[0][0], 8 * 12 * 20), tell(D[0][0], 8 * 12 * 20);
}
