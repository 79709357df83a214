// qsort_r, lfind, tsearch and hcreate in serial code on data that regions use.
// threads: any
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static int by_key(const void *a, const void *b, void *keys) {
  const int *table = keys;
  return table[*(const int *)a] - table[*(const int *)b];
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
  int keys[100], order[100];
  void *root = NULL;
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    keys[i] = i * 37 % 101;
    order[i] = i;
  }
  qsort_r(order, 100, sizeof *order, by_key, keys);
  for (int i = 0; i < 100; i++) tsearch(&keys[i], &root, by_value);
  int sorted = 0, found = 0;
#pragma omp parallel for reduction(+ : sorted, found)
  for (int i = 1; i < 100; i++) {
    sorted += keys[order[i - 1]] <= keys[order[i]];
    int key = i * 2;
    found += tfind(&key, &root, by_value) != NULL;
  }
  for (int i = 0; i < 100; i++) tdelete(&keys[i], &root, by_value);
  printf("%d %d\n", sorted, found);
  return 0;
}
