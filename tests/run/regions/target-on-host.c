// target regions run where they did before: on the host, by the initial thread.
// threads: any
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[100], sum = 0, parallel_sum = 0;
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] = i;
#pragma omp target map(tofrom : a, sum)
  for (int i = 0; i < 100; i++) {
    a[i] *= 2;
    sum += a[i];
  }
#pragma omp parallel for reduction(+ : parallel_sum)
  for (int i = 0; i < 100; i++) parallel_sum += a[i];
  printf("%d %d %d\n", sum, parallel_sum, omp_is_initial_device());
  return 0;
}
