// Breadth-first search by levels: vertices claimed by atomic capture, the next frontier by tickets.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { n = 1000, degree = 4 };
static int edges[n][degree], level[n], claimed[n];

int main(void) {
  int *frontier = malloc(n * sizeof *frontier), *next = malloc(n * sizeof *next);
  for (int i = 0; i < n; i++) {
    level[i] = -1;
    for (int k = 0; k < degree; k++) edges[i][k] = (i * (k + 2) + k * k * 31 + 1) % n;
  }
  int size = 1, depth = 0;
  frontier[0] = 0;
  level[0] = 0;
  claimed[0] = 1;
  while (size > 0) {
    int found = 0;
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < size; i++)
      for (int k = 0; k < degree; k++) {
        int to = edges[frontier[i]][k], before, slot;
#pragma omp atomic capture
        before = claimed[to]++;
        if (before == 0) {
          level[to] = depth + 1;
#pragma omp atomic capture
          slot = found++;
          next[slot] = to;
        }
      }
    int *swap = frontier;
    frontier = next;
    next = swap;
    size = found;
    depth++;
  }
  long sum = 0;
  int reached = 0;
  for (int i = 0; i < n; i++)
    if (level[i] >= 0) {
      reached++;
      sum += (long)level[i] * i;
    }
  printf("%d %d %ld\n", depth, reached, sum);
  free(frontier);
  free(next);
  return 0;
}
