// A convergence loop: each region's result decides whether there is another one.
// threads: any
#include <stdio.h>

int main(void) {
  double x[50];
  for (int i = 0; i < 50; i++) x[i] = i;
  int rounds = 0;
  while (1) {
    double largest = 0;
#pragma omp parallel for reduction(max : largest)
    for (int i = 0; i < 50; i++) {
      x[i] *= 0.5;
      if (x[i] > largest) largest = x[i];
    }
    rounds++;
    if (largest < 0.01) break;
  }
  printf("%d %.17g\n", rounds, x[49]);
  return 0;
}
