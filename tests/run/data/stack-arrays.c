// Arrays on the stack of main and of the function that opens the region, one of them large.
// threads: any
#include <stdio.h>

static double smooth(double *out, int n) {
  double local[2000], sum = 0;
  for (int i = 0; i < n; i++) local[i] = out[i];
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    out[i] = (local[i] + local[(i + 1) % n]) / 2;
    sum += out[i];
  }
  return sum + local[n - 1];
}

int main(void) {
  double values[2000];
  int big[100000];
  for (int i = 0; i < 2000; i++) values[i] = i % 32;
  for (int k = 0; k < 3; k++) printf("%.6f\n", smooth(values, 2000));
#pragma omp parallel for
  for (int i = 0; i < 100000; i++) big[i] = i ^ 5;
  long sum = 0;
  for (int i = 0; i < 100000; i += 7) sum += big[i];
  printf("%ld\n", sum);
  return 0;
}
