// qsort and bsearch with callbacks, on whole arrays serially and on pieces in a region.
// threads: any
#include <stdio.h>
#include <stdlib.h>

static int comparisons_allowed = 1;

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return comparisons_allowed ? (x > y) - (x < y) : 0;
}

int main(void) {
  enum { n = 3000, pieces = 12 };
  static int data[n];
  int found = 0;
  for (int i = 0; i < n; i++) data[i] = (int)(i * 2654435761u % 100000);
#pragma omp parallel for
  for (int p = 0; p < pieces; p++) qsort(data + p * (n / pieces), n / pieces, sizeof(int), compare);
  int sorted = 1;
  for (int i = 1; i < n; i++) sorted += i % (n / pieces) != 0 && data[i - 1] > data[i];
  qsort(data, n, sizeof(int), compare);
#pragma omp parallel for reduction(+ : found)
  for (int key = 0; key < 2000; key++) found += bsearch(&key, data, n, sizeof(int), compare) != NULL;
  printf("%d %d %d %d\n", sorted, data[0], data[n - 1], found);
  return 0;
}
