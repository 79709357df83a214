// taskloop in a function, called by one thread, by all threads and serially.
// threads: any
#include <stdio.h>

static void add(int *out, int n, int value) {
#pragma omp taskloop grainsize(6) shared(out)
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    out[i] += value;
  }
}

int main(void) {
  int a[50] = {0}, team = 0;
  add(a, 50, 1);
#pragma omp parallel reduction(+ : team)
  {
    team += 1;
#pragma omp single
    add(a, 50, 10);
    add(a, 25, 100);
  }
  int good = 0;
  for (int i = 0; i < 50; i++) good += a[i] == 11 + (i < 25 ? 100 * team : 0);
  printf("%d\n", good);
  return 0;
}
