// The integral of 4 / (1 + x^2), by a reduction and by partial sums of each thread.
// compare: tolerance 1e-13
#include <omp.h>
#include <stdio.h>

int main(void) {
  const int n = 100000;
  double sum = 0, parts[64] = {0}, step = 1.0 / n, total = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    double x = (i + 0.5) * step;
    sum += 4 / (1 + x * x);
  }
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    for (int i = me; i < n; i += team) {
      double x = (i + 0.5) * step;
      parts[me] += 4 / (1 + x * x);
    }
  }
  for (int t = 0; t < 64; t++) total += parts[t];
  printf("%.14f %.14f\n", sum * step, total * step);
  return 0;
}
