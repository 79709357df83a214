// ThinLTO, which gives local functions of the same name others, and takes functions into other files.
// opt: -O2
// flags: -flto=thin -fuse-ld=lld -Wno-unused-command-line-argument
// threads: any
#include <stdio.h>

enum { N = 2000 };
double values[N];
extern double left[N], right[N];
double from_left(double x, int i), from_right(double x, int i);
double weighed(double x);

__attribute__((noinline)) static double helper(double x) { return x * 0.25; }

int main(void) {
  for (int i = 0; i < N; i++)
    values[i] = i % 5;
  for (int step = 0; step < 3; step++) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < N; i++)
        values[i] += from_left(values[i], i) + helper(i);
#pragma omp for
      for (int i = 0; i < N; i++)
        values[i] += weighed(i);
#pragma omp for
      for (int i = 0; i < N; i++)
        values[i] += from_right(values[i], i);
#pragma omp for
      for (int i = 0; i < N; i++)
        values[i] += left[N - 1 - i] - right[N - 1 - i];
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum = sum * 0.999 + values[i] + left[i] - right[i];
  printf("%.12g\n", sum);
}
