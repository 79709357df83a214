// Builds a graph: degrees by __sync_fetch_and_add, then places by another one.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 300, m = 8 * n;
  int *from = malloc(m * sizeof *from), *to = malloc(m * sizeof *to);
  long *first = calloc(n + 1, sizeof *first), *next = malloc(n * sizeof *next);
  int *neighbours = malloc(m * sizeof *neighbours);
  unsigned long seed = 7;
  for (int e = 0; e < m; e++) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    from[e] = (seed >> 33) % n;
    to[e] = (seed >> 13) % n;
  }
#pragma omp parallel for
  for (int e = 0; e < m; e++)
    __sync_fetch_and_add(&first[from[e] + 1], 1);
  for (int v = 0; v < n; v++) {
    first[v + 1] += first[v];
    next[v] = first[v];
  }
#pragma omp parallel for
  for (int e = 0; e < m; e++)
    neighbours[__sync_fetch_and_add(&next[from[e]], 1)] = to[e];
  long check = 0;
  for (int v = 0; v < n; v++) {
    long sum = 0;
    for (long i = first[v]; i < first[v + 1]; i++)
      sum += neighbours[i];
    check = check * 31 + sum;
  }
  printf("%ld %ld\n", first[n], check);
}
