// Reductions of whole arrays, sections of stack, heap and global arrays, and of a VLA.
// threads: any
#include <stdio.h>
#include <stdlib.h>

static long global[10];

static void add(double *out, int n, int m) {
  double vla[n];
  for (int i = 0; i < n; i++) vla[i] = 0.5;
#pragma omp parallel for reduction(+ : vla, out[1 : m])
  for (int i = 0; i < 200; i++) {
    vla[i % n] += i;
    out[1 + i % m] += 2 * i;
  }
  for (int i = 0; i < n; i++) out[0] += vla[i];
}

int main(void) {
  int stack[7] = {1, 2, 3, 4, 5, 6, 7}, grid[3][4] = {{0}};
  double *heap = calloc(12, sizeof *heap);
#pragma omp parallel for reduction(+ : stack, grid) reduction(max : global[2 : 5])
  for (int i = 0; i < 150; i++) {
    stack[i % 7] += i;
    grid[i % 3][i % 4] += 1;
    if (i * 13 % 101 > global[2 + i % 5]) global[2 + i % 5] = i * 13 % 101;
  }
  add(heap, 9, 8);
  for (int i = 0; i < 7; i++) printf("%d ", stack[i]);
  for (int i = 0; i < 12; i++) printf("%d ", grid[i / 4][i % 4]);
  for (int i = 0; i < 10; i++) printf("%ld ", global[i]);
  for (int i = 0; i < 12; i++) printf("%.1f ", heap[i]);
  printf("\n");
  free(heap);
  return 0;
}
