// The linker's --wrap: calls reach another function, which writes, and which calls the one that they name.
// opt: -O2
// flags: -Wl,--wrap=measure -Wl,--wrap=plain
// threads: any
#include <stdio.h>

enum { N = 2000 };
double values[N], written[N];
double measure(double x, int i);
double plain(double x);
void set(double *value, double to);

double __wrap_plain(double x) { return x * 2; }

int main(void) {
  for (int i = 0; i < N; i++)
    values[i] = i % 5;
  for (int step = 0; step < 3; step++) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < N; i++)
        values[i] += measure(values[i], i) + plain(i);
#pragma omp for
      for (int i = 0; i < N; i++)
        values[i] += written[N - 1 - i];
#pragma omp for
      for (int i = 0; i < N; i++)
        set(&written[i], values[N - 1 - i] * 0.5);
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum = sum * 0.999 + values[i] + written[i];
  printf("%.12g\n", sum);
}
