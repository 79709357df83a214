// Jacobi iteration in one dimension, one region for each sweep, until it has converged.
// threads: any
#include <math.h>
#include <stdio.h>

int main(void) {
  enum { n = 2000 };
  static double a[n + 2], b[n + 2];
  double *from = a, *to = b, change = 1;
  int sweeps = 0;
  a[0] = b[0] = 1;
  a[n + 1] = b[n + 1] = -1;
  while (change > 2e-3 && sweeps < 500) {
    change = 0;
#pragma omp parallel for reduction(max : change)
    for (int i = 1; i <= n; i++) {
      to[i] = 0.5 * (from[i - 1] + from[i + 1]);
      change = fmax(change, fabs(to[i] - from[i]));
    }
    double *swap = from;
    from = to;
    to = swap;
    sweeps++;
  }
  double sum = 0;
  for (int i = 0; i <= n + 1; i++) sum += from[i] * i;
  printf("%d %.17g %.17g\n", sweeps, change, sum);
  return 0;
}
