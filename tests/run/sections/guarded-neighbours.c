// Conditions keep a loop from what lies before an array, which is another array.
// threads: any
#include <stdio.h>

enum { n = 4096 };
double before[n], a[n], after[n], left[n], right[n];

int main(void) {

  for (int step = 0; step < 4; step++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[n - 1 - i] = i * step;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      if (i % 3 != 0) left[i] += a[i - 1];
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      if (i % 3 != 2) right[i] += a[(i + 1) % n];
  }
  double sum = before[7] + after[7];
  for (int i = 0; i < n; i++) sum = sum * 0.99 + left[i] + 2 * right[i];
  printf("%.15g\n", sum);
  return 0;
}
