// Breadth-first search: who first exchanges the parent of a vertex puts it in its own part of the next front.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000, degree = 6;
  int *neighbours = malloc((long)n * degree * sizeof *neighbours);
  int *parent = malloc(n * sizeof *parent), *level = malloc(n * sizeof *level);
  int *front = malloc(n * sizeof *front), *next = malloc(n * sizeof *next);
  unsigned long seed = 7;
  for (long e = 0; e < (long)n * degree; e++) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    neighbours[e] = (seed >> 33) % n;
  }
  for (int v = 0; v < n; v++)
    parent[v] = level[v] = -1;
  int size = 1, depth = 0;
  front[0] = 0;
  parent[0] = 0;
  level[0] = 0;
  while (size > 0) {
    int found = 0;
    depth++;
#pragma omp parallel for
    for (int i = 0; i < size; i++) {
      int u = front[i];
      for (int k = 0; k < degree; k++) {
        int v = neighbours[(long)u * degree + k];
        if (parent[v] == -1 && __sync_bool_compare_and_swap(&parent[v], -1, u)) {
          level[v] = depth;
          next[__sync_fetch_and_add(&found, 1)] = v;
        }
      }
    }
    int *other = front;
    front = next;
    next = other;
    size = found;
  }
  long reached = 0, levels = 0;
  int wrong = 0;
  for (int v = 0; v < n; v++)
    if (parent[v] != -1) {
      reached++;
      levels += level[v];
      wrong += v != 0 && level[v] != level[parent[v]] + 1;
    }
  printf("%ld %ld %d %d\n", reached, levels, depth, wrong);
}
