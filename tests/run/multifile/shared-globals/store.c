#include "shared.h"
#include <stdlib.h>

long *heap;
int counter;
char label[] = "label 0";
static int length;

void create(int n) {
  length = n;
  heap = calloc((size_t)n, sizeof *heap);
}

void update(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < length; i++) heap[i] += (long)table[i] % 100 + counter;
#pragma omp single
    label[6] = (char)('0' + settings.rounds);
  }
}

void destroy(void) { free(heap); }
