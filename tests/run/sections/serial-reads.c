// Between sweeps rank 0 reads and writes elements that other threads own, or have copies of.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { n = 300 };

int main(void) {
  double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
#pragma omp parallel for
  for (int i = 0; i < n * n; i++) a[i] = b[i] = i % 97;
  double seen = 0;
  for (int sweep = 0; sweep < 40; sweep++) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
    switch (sweep % 5) {
    case 0: seen += b[(n / 2) * n + sweep]; break;
    case 1: b[(n - 2) * n + 7] = sweep; break;
    case 2: b[(n / 2 - 1) * n + 3] += 0.5; b[(n / 2) * n + 3] += 0.25; break;
    case 3: for (int i = 0; i < n; i++) seen += b[i * n + i]; break;
    }
    double *swap = a;
    a = b;
    b = swap;
  }
  for (int i = 0; i < n * n; i++) seen = seen * 0.999 + a[i] - b[i];
  printf("%.15g\n", seen);
  free(a);
  free(b);
  return 0;
}
