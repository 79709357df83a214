// An edge list that serial code filled and nobody writes, beside atomic operations on degrees.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000, m = 8 * n;
  int *from = malloc(m * sizeof *from), *to = malloc(m * sizeof *to);
  int *degree = calloc(n, sizeof *degree);
  unsigned long seed = 7;
  for (int e = 0; e < m; e++) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    from[e] = (seed >> 33) % n;
    to[e] = (seed >> 13) % n;
  }
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int e = 0; e < m; e++) {
    sum += __sync_fetch_and_add(&degree[from[e]], 1) >= 0;
    __sync_fetch_and_add(&degree[to[e]], 1);
  }
  long check = 0, total = 0;
  for (int v = 0; v < n; v++) {
    total += degree[v];
    check += (long)degree[v] * v;
  }
  for (int e = 0; e < m; e++)
    check -= from[e] + to[e];
  printf("%ld %ld %ld\n", sum, total, check);
}
