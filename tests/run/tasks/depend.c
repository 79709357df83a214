// Dependences order tasks: in, out, inout, mutexinoutset, array sections and taskwait depend.
// threads: any
#include <stdio.h>

int main(void) {
  int x = 1, y = 2, trace[40], n = 0, shared_sum = 0;
  int a[10] = {0};
#pragma omp parallel
#pragma omp single
  {
    for (int k = 0; k < 10; k++) {
#pragma omp task depend(inout : x)
      {
        x = x * 3 + k;
        trace[n++] = x;
      }
    }
#pragma omp task depend(in : x) depend(out : y)
    y = x % 1000;
#pragma omp taskwait depend(in : y)
    trace[n++] = y;
    for (int i = 0; i < 10; i++) {
#pragma omp task depend(out : a[i : 1])
      a[i] = i + 1;
    }
    for (int i = 1; i < 10; i++) {
#pragma omp task depend(in : a[i - 1]) depend(inout : a[i])
      a[i] += a[i - 1];
    }
    for (int i = 0; i < 6; i++) {
#pragma omp task depend(mutexinoutset : shared_sum)
      shared_sum += i * 10;
    }
#pragma omp task depend(in : shared_sum)
    trace[n++] = shared_sum;
#pragma omp task if (0) depend(inout : x)
    x += 5;
    trace[n++] = x;
  }
  unsigned hash = 0;
  for (int i = 0; i < 11; i++) hash = hash * 31 + (unsigned)trace[i];
  printf("%u %d %d %d %d\n", hash, n, x, y, a[9]);
  return 0;
}
