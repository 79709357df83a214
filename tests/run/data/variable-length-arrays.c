// Variable-length arrays in one and two dimensions, and alloca, shared and private.
// threads: any
#include <alloca.h>
#include <stdio.h>

static long run(int n, int m) {
  int grid[n][m];
  long row_sums[n], *other = alloca((size_t)n * sizeof *other);
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int mine[m];
    row_sums[i] = 0;
    for (int j = 0; j < m; j++) grid[i][j] = mine[j] = i * j + n;
    for (int j = 0; j < m; j++) row_sums[i] += grid[i][j] + mine[m - 1 - j];
    other[i] = row_sums[i] / 2;
  }
  long sum = 0;
  int copy[m];
  for (int j = 0; j < m; j++) copy[j] = j;
#pragma omp parallel for firstprivate(copy) reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    copy[i % m] += i;
    sum += row_sums[i] + other[n - 1 - i] + grid[i][m / 2] * (copy[i % m] - i >= i % m);
  }
  return sum;
}

int main(void) {
  for (int n = 3; n < 60; n += 14) printf("%ld\n", run(n, n / 2 + 1));
  return 0;
}
