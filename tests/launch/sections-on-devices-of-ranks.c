// What a rank brings to its device of an array is what its iterations access: loops of many forms give there what they give on
// threads, where arrays change on all ranks between them, and what is brought in a time loop is a part of the arrays that
// shrinks with the number of ranks. The emulated device tells of memory that was never written.
//
// RUN: for level in "-O0 -g" "-O3"; do %okl-cc $level -w -fopenmp --okl-target=mpi+cuda,cpu %s -o %t -lm && \
// RUN:   OMP_NUM_THREADS=2 OKL_BACKEND=cpu %t > %t.threads && for ranks in 2 3 4; do \
// RUN:   OKL_STATS=1 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n $ranks %t > %t.ranks 2> %t.table.$ranks && \
// RUN:   cmp %t.threads %t.ranks || exit 1; done || exit 1; done
// RUN: FileCheck --check-prefix=TWO %s < %t.table.2
// RUN: FileCheck --check-prefix=FOUR %s < %t.table.4
//
// Two arrays of 80,000 bytes each, fifty sweeps: whole arrays would be 8 megabytes each way.
// TWO: heat 50 {{[0-9.]+}} 0.1{{[0-9]+}} 1.960
// TWO: heat 50 {{[0-9.]+}} 0.1{{[0-9]+}} 1.960
// FOUR: heat 50 {{[0-9.]+}} {{0.09|0.1|0.20}}{{[0-9]*}} 1.000
// FOUR: heat 50 {{[0-9.]+}} {{0.09|0.1|0.20}}{{[0-9]*}} 1.000
// FOUR: heat 50 {{[0-9.]+}} {{0.09|0.1|0.20}}{{[0-9]*}} 0.960
// FOUR: heat 50 {{[0-9.]+}} {{0.09|0.1|0.20}}{{[0-9]*}} 0.960
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 100, STEPS = 50, N = 4000 };
static int a[N], b[N], c[N + 8];
static double line[N];
static int wide[70000];

static void heat(int n) {
  double *now = malloc(n * n * sizeof *now), *next = malloc(n * n * sizeof *next), sum = 0;
  for (int i = 0; i < n * n; i++) now[i] = next[i] = i % 7;
  for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for
    for (int y = 1; y < n - 1; y++)
      for (int x = 1; x < n - 1; x++)
        next[y * n + x] = 0.25 * (now[y * n + x - 1] + now[y * n + x + 1] + now[(y - 1) * n + x] + now[(y + 1) * n + x]);
    double *other = now;
    now = next;
    next = other;
  }
  for (int i = 0; i < n * n; i++) sum += now[i] * (i % 5);
  printf("heat: %.17g\n", sum);
  free(now);
  free(next);
}

static unsigned long sum_of(const int *all, int count) {
  unsigned long sum = 0;
  for (int i = 0; i < count; i++) sum = sum * 31 + (unsigned)all[i];
  return sum;
}

// Each changes what the one before has left elsewhere.
static void forms(int n, unsigned m, int shift, long far) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = i * 3 + shift;
#pragma omp parallel for schedule(static, 5)
  for (int i = 0; i < n; i++) b[n - 1 - i] = a[i] + 1;
#pragma omp parallel for
  for (int i = 0; i < n / 2; i++) {
    a[2 * i] = b[2 * i + 1];
    if (i > 0) a[2 * i + 1] = b[2 * i - 1];
  }
#pragma omp parallel for
  for (int i = 0; i < 60; i++)
    for (int j = 0; j <= i; j++) b[i * 60 + j] += a[j * 60 + i];
#pragma omp parallel for
  for (int i = 60; i > 0; i--)
    for (int j = i; j < 60; j += 7) a[(60 - i) * 60 + j] += b[i + j];
  // Numbers that wrap around.
#pragma omp parallel for
  for (unsigned i = 0; i < m; i++) c[i] = a[(i * 2654435761u) % m] + (i > 0 ? b[i - 1u] : 0);
#pragma omp parallel for
  for (unsigned i = 0; i < m; i++) a[i] = c[(i + 4294967295u - (m - 1)) + m] + b[i < 100u ? i : 100u];
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = c[i + shift + 1] + a[i * 100000u < (unsigned)n ? i * 100000u : (unsigned)n - 1];
#pragma omp parallel for
  for (long i = far; i < far + n; i++) a[i - far] += b[i - far] + i % 1000;
#pragma omp parallel for
  for (short i = 0; i < 300; i++) c[(short)(i + 4)] += a[(unsigned char)i];
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 9; j++) {
      if (b[i] % 9 == j) break;
      a[i] += j;
    }
#pragma omp parallel for
  for (int i = 0; i < 50; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 6; k++) b[(i * 8 + j) * 6 + k] = a[(i * 8 + 7 - j) * 6 + 5 - k] - c[i * 8 + k];
#pragma omp parallel for
  for (int i = 0; i < 40; i++)
    for (int j = i < 20 ? 0 : i - 20; j < (i < 30 ? i + 10 : 40); j++) a[i * 90 + j] = b[j] * i;
  printf("forms: %lu %lu %lu\n", sum_of(a, N), sum_of(b, N), sum_of(c, N));
}

// In place, every other one, and what the serial code changes between.
static void in_place(int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) line[i] = i % 13;
  for (int step = 0; step < 10; step++) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i += 2) line[i] = 0.5 * (line[i - 1] + line[i + 1]);
#pragma omp parallel for
    for (int i = 2; i < n - 1; i += 2) line[i] = 0.5 * (line[i - 1] + line[i + 1]);
    line[n / 3] += 1;
    line[0] = step;
  }
  for (int i = 0; i < n; i++) sum += line[i] * (i % 3);
  printf("in place: %.17g\n", sum);
}

// Numbers without a sign whose bits are those of a number below 0.
static void narrow(unsigned short behind, unsigned char step) {
  for (int i = 0; i < 70000; i++) wide[i] = i;
#pragma omp parallel for
  for (int i = 0; i < N; i++) b[i] = wide[i + behind];
#pragma omp parallel for
  for (int i = 0; i < N; i++) wide[i + behind] = b[i] * 2;
#pragma omp parallel for
  for (int i = 0; i < 300; i++) wide[i * step] += b[i];
  printf("narrow: %lu %lu\n", sum_of(wide, 70000), sum_of(b, N));
}

int main(int count, char **arguments) {
  heat(SIDE - 1 + count);
  forms(N - 1 + count, N - 1 + count, -1 - (count > 1), 5000000000L * count);
  in_place(N - 1 + count);
  narrow(39999 + count, 199 + count);
}
