// Thousands of short regions, some of which change data.
#include <stdio.h>

static int a[64];

int main(void) {
  long checks = 0;
  for (int r = 0; r < 3000; r++) {
    if (r % 10 == 0) {
#pragma omp parallel for
      for (int i = 0; i < 64; i++) a[i] += i ^ r;
      checks += a[r % 64];
    } else {
#pragma omp parallel
      {
      }
    }
  }
  printf("%ld\n", checks);
  return 0;
}
