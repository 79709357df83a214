// Declarations stand in front of the loops and leave them as they are: the same lines are vectorised,
// in the same way, as in the OpenMP build.
// RUN: clang-22 -O2 -fopenmp -Rpass=loop-vectorize -c %s -o %t.o 2>&1 | grep -o ':[0-9]*:.*vectorized loop.*interleaved' | sort | sed p > %t.openmp
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -Rpass=loop-vectorize -c %s -o %t.o 2>&1 | grep -o ':[0-9]*:.*vectorized loop.*interleaved' | sort > %t.okl
// RUN: test $(wc -l < %t.openmp) -ge 6 && diff %t.openmp %t.okl
enum { N = 512 };
double u[N][N], v[N][N];

void sweep(void) {
#pragma omp parallel for
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

void triad(double *restrict a, double *restrict b, double *restrict c, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = b[i] + 3 * c[i];
}

void flat(double *a, double *b, int n) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
}
