// One region open over several hundred loops and their barriers.
// threads: any
#include <stdio.h>

int main(void) {
  static double x[200], y[200];
  for (int i = 0; i < 200; i++) x[i] = i % 17;
#pragma omp parallel
  {
    for (int t = 0; t < 300; t++) {
#pragma omp for
      for (int i = 0; i < 200; i++) y[i] = (x[i] + x[(i + 1) % 200]) * 0.5;
#pragma omp for
      for (int i = 0; i < 200; i++) x[i] = y[i] + (y[(i + 199) % 200] - y[i]) * 0.25;
    }
  }
  double sum = 0;
  for (int i = 0; i < 200; i++) sum += x[i] * i;
  printf("%.17g\n", sum);
  return 0;
}
