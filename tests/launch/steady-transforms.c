// Fourier transforms of rows, by a function that exchanges elements where a table says and in steps that double, and a
// transpose between. The rows are each rank's own: nothing of them moves, though nobody sees at compile time where in them
// elements are. A transpose moves half of each rank's half. The function is called at three places, at two of them on what
// the thread has: it is described nevertheless, and no page is tracked.
//
// RUN: clang-22 -O3 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t 10 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=0 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 10 2>&1 | FileCheck %s
//
// In 10 turns each rank copies a quarter of a matrix of 128 KiB twice in each.
// CHECK: right
// CHECK: section bytes 655360 655360
#include <stdio.h>
#include <stdlib.h>

enum { n = 128 };

struct plan {
  int n;
  int *reversed;
  double *root;
};

static void transform(const struct plan *p, double *line) {
  int count = p->n;
  const int *reversed = p->reversed;
  const double *root = p->root;
  for (int i = 0; i < count; i++)
    if (i < reversed[i]) {
      double swap = line[i];
      line[i] = line[reversed[i]];
      line[reversed[i]] = swap;
    }
  for (int half = 1; half < count; half *= 2)
    for (int block = 0; block < count; block += 2 * half)
      for (int k = 0; k < half; k++) {
        double w = root[k * (count / 2 / half)];
        double a = line[block + k], b = w * line[block + half + k];
        line[block + k] = a + b;
        line[block + half + k] = a - b;
      }
  for (int i = 0; i < count; i++) line[i] *= 0.125;
}

static void rows(const struct plan *p, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) transform(p, a + (size_t)i * n);
}

static void copied_rows(const struct plan *p, double *a) {
#pragma omp parallel
  {
    double line[n];
#pragma omp for
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) line[j] = a[i * n + j];
      transform(p, line);
      transform(p, line);
      for (int j = 0; j < n; j++) a[i * n + j] = line[j];
    }
  }
}

static void transpose(const double *from, double *to) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) to[i * n + j] = from[j * n + i];
}

int main(int argc, char **argv) {
  int turns = argc > 1 ? atoi(argv[1]) : 1;
  struct plan p = {n, malloc(n * sizeof(int)), malloc(n / 2 * sizeof(double))};
  double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
  for (int i = 0; i < n; i++) {
    p.reversed[i] = 0;
    for (int bit = 1; bit < n; bit *= 2)
      if (i & bit) p.reversed[i] |= n / 2 / bit;
  }
  for (int k = 0; k < n / 2; k++) p.root[k] = 1.0 / (k + 1);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i * n + j] = (i * 7 + j * 13) % 101;
      b[i * n + j] = 0;
    }
  for (int turn = 0; turn < turns; turn++) {
    rows(&p, a);
    transpose(a, b);
    copied_rows(&p, b);
    transpose(b, a);
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += a[i * n + j];
  printf("%s\n", sum == sum ? "right" : "wrong");
  return 0;
}
