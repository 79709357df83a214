// Modules merged by link-time optimisation: same names, one region inlined into the other file.
// opt: -O2
// flags: -flto -fuse-ld=lld -Wno-unused-command-line-argument
// threads: any
#include <stdio.h>

static int scale = 3;
int counter;
long other(int *values, int n);

static void fill(int *values, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) values[i] = i * scale;
}

int main(void) {
  int values[500];
  fill(values, 500);
  long sum = other(values, 500);
  scale++;
  fill(values, 500);
  sum += other(values, 500);
  printf("%ld %d\n", sum, counter);
  return 0;
}
