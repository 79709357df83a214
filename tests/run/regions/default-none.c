// Explicit sharing with default(none) and default(private).
// threads: any
#include <stdio.h>

int main(void) {
  int n = 30, a[30], b = 5, c = 2, sum = 0;
#pragma omp parallel default(none) shared(a, n) firstprivate(b) private(c) reduction(+ : sum)
  {
    c = b * 2;
#pragma omp for
    for (int i = 0; i < n; i++) {
      a[i] = i * c;
      sum += a[i];
    }
  }
  printf("%d %d %d %d\n", a[29], b, c, sum);
  int d = 1;
#pragma omp parallel for default(private) shared(a, n)
  for (int i = 0; i < n; i++) {
    d = i;
    a[i] += d;
  }
  printf("%d %d\n", a[29], d);
  return 0;
}
