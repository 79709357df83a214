// The team grows and shrinks from region to region while the same data moves between its threads.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 5000 };
  long *a = malloc(n * sizeof *a);
  for (int i = 0; i < n; i++) a[i] = i;
  for (int step = 0; step < 24; step++) {
#pragma omp parallel for num_threads(1 + step * 7 % 4)
    for (int i = 0; i < n; i++) a[i] = a[i] * 3 + step;
    if (step % 5 == 0) a[step] = -step;
  }
  unsigned long sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 31 + (unsigned long)a[i];
  printf("%lx\n", sum);
  free(a);
  return 0;
}
