// lastprivate scalars, arrays and structs, with and without firstprivate, and few iterations.
// threads: any
#include <stdio.h>

struct point {
  double x, y;
};

int main(void) {
  for (int n = 1; n < 30; n += 4) {
    int last = -1, both = 1000, array[3] = {0}, i;
    struct point p = {0, 0};
#pragma omp parallel for lastprivate(last, array, p, i) firstprivate(both) lastprivate(both)
    for (i = 0; i < n; i++) {
      last = i * i;
      both = both > 500 ? i : i + 1;
      array[i % 3] = i;
      array[(i + 1) % 3] = -i;
      array[(i + 2) % 3] = i + 7;
      p.x = i * 0.5;
      p.y = -p.x;
    }
    // both depends on how iterations are dealt out only through its sign of life.
    printf("%d %d %d %d %d %.1f %.1f %d\n", n, i, last, array[0], array[1], p.x, p.y,
           both == n - 1 || both == n);
  }
  long end = 0;
#pragma omp parallel
  {
#pragma omp for schedule(static, 2) lastprivate(end)
    for (long k = 5; k < 55; k += 5) end = k;
  }
  int sectioned = 0;
#pragma omp parallel sections lastprivate(sectioned)
  {
#pragma omp section
    sectioned = 1;
#pragma omp section
    sectioned = 2;
#pragma omp section
    sectioned = 3;
  }
  printf("%ld %d\n", end, sectioned);
  return 0;
}
