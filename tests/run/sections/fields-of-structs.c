// One field of each of many structs is written by one loop, another by the next, on shares of other sizes.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct particle {
  double x, v[5], mass;
};

int main(void) {
  enum { n = 600000 };
  struct particle *p = malloc(n * sizeof *p);
#pragma omp parallel for
  for (int i = 0; i < n; i++) p[i] = (struct particle){i % 7, {i % 3, 1, 2, 3, 4}, 1};
  for (int step = 0; step < 4; step++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) p[i].x += p[i].v[0];
#pragma omp parallel for
    for (int i = 0; i < n - 1; i++) p[i].mass = p[i + 1].x * 0.5;
    p[step].x = -step;
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 0.99999 + p[i].x + 3 * p[i].mass + p[i].v[4];
  printf("%.15g\n", sum);
  free(p);
  return 0;
}
