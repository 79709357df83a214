// Reductions of array sections of a fixed length: of global, stack and heap arrays, from their beginning and from the middle, of
// several types and operators, one beside the other and with variables; in a region of one loop, and of several.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { N = 5000, BINS = 8 };

struct pair {
  double sum;
  int count;
};
#pragma omp declare reduction(merge : struct pair : omp_out.sum += omp_in.sum, omp_out.count += omp_in.count) initializer(omp_priv = (struct pair){0, 0})

static int global[BINS + 2];
static double table[4][3];

static void bins(const int *keys, int *few, long *heap) {
  int least[3] = {1000, 1000, 1000};
  double all = 0;
#pragma omp parallel for reduction(+ : global[1 : BINS], few[ : 3], heap[2 : 5]) reduction(min : least) reduction(+ : all)
  for (int i = 0; i < N; i++) {
    global[1 + keys[i] % BINS]++;
    few[keys[i] % 3] += keys[i];
    heap[2 + i % 5] += keys[i] % 11;
    if (keys[i] < least[i % 3]) least[i % 3] = keys[i];
    all += 0.5 * keys[i];
  }
  printf("%d %d %d: %.1f\n", least[0], least[1], least[2], all);
}

static void several(const int *keys) {
  int largest[5] = {0}, bits[2] = {~0, ~0};
  struct pair pairs[2] = {{1, 1}, {2, 2}};
#pragma omp parallel
  {
#pragma omp for reduction(max : largest[ : 3]) reduction(& : bits)
    for (int i = 0; i < N; i++) {
      int *at = &largest[i % 3];
      if (keys[i] * (i % 17) > *at) *at = keys[i] * (i % 17);
      bits[i % 2] &= keys[i] | 1 << i % 7;
    }
#pragma omp single
    table[0][0] = largest[1];
#pragma omp for reduction(+ : table)
    for (int i = 0; i < N; i++) table[i % 4][keys[i] % 3] += 0.25;
  }
#pragma omp parallel for reduction(merge : pairs)
  for (int i = 0; i < N; i++) {
    pairs[i % 2].sum += keys[i];
    pairs[i % 2].count++;
  }
  printf("%d %d %d %d %d, %d %d, %.1f %d %.1f %d\n", largest[0], largest[1], largest[2], largest[3], largest[4], bits[0], bits[1],
         pairs[0].sum, pairs[0].count, pairs[1].sum, pairs[1].count);
}

int main(void) {
  int *keys = malloc(N * sizeof *keys), few[3] = {5, 6, 7};
  long *heap = calloc(8, sizeof *heap);
  for (int i = 0; i < N; i++) keys[i] = 3 + (i * 37 + i / 9) % 101;
  bins(keys, few, heap);
  several(keys);
  for (int i = 0; i < BINS + 2; i++) printf("%d ", global[i]);
  for (int i = 0; i < 3; i++) printf("%d ", few[i]);
  for (int i = 0; i < 8; i++) printf("%ld ", heap[i]);
  for (int i = 0; i < 12; i++) printf("%.2f ", table[i / 3][i % 3]);
  printf("\n");
  free(keys), free(heap);
}
