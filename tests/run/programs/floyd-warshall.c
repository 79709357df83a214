// All shortest paths: one region over all rounds, a row read by every thread in each.
// threads: any
#include <stdio.h>

enum { n = 90 };
static int d[n][n];

int main(void) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) d[i][j] = i == j ? 0 : 1 + (i * 37 + j * 101) % 97 * ((i + j) % 3 + 1);
#pragma omp parallel
  for (int k = 0; k < n; k++) {
#pragma omp for
    for (int i = 0; i < n; i++)
      // Row and column k do not change in round k.
      if (i != k)
        for (int j = 0; j < n; j++)
          if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j];
  }
  long sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += d[i][j] * (long)(i + j);
  printf("%ld\n", sum);
  return 0;
}
