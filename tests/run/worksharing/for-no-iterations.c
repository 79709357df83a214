// Loops without iterations, with one, and with fewer than there are threads.
// threads: any
#include <stdio.h>

int main(void) {
  int a[8] = {0}, last = -1;
  for (int n = -2; n < 6; n++) {
#pragma omp parallel
    {
#pragma omp for lastprivate(last)
      for (int i = 0; i < n; i++) a[i]++, last = i;
#pragma omp for schedule(static, 2)
      for (int i = 0; i < n; i++) a[i]++;
#pragma omp for schedule(dynamic)
      for (int i = n; i < 0; i++) a[-i]++;
#pragma omp for collapse(2)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < 0; j++) a[i] += 100;
#pragma omp for schedule(guided)
      for (unsigned i = 5; i < 5; i++) a[i] += 100;
    }
    printf("%d:", last);
    for (int i = 0; i < 8; i++) printf(" %d", a[i]);
    printf("\n");
  }
  return 0;
}
