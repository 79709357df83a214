// Arrays of structs: single fields written by different regions, whole structs copied.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct particle {
  double x[3], v[3];
  int id;
  char kind;
  struct {
    float charge;
    short spin;
  } extra;
};

int main(void) {
  enum { n = 400 };
  struct particle *p = calloc(n, sizeof *p), best = {{0}};
  static struct particle sorted[n];
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    p[i].id = i;
    p[i].kind = (char)('a' + i % 26);
    for (int k = 0; k < 3; k++) p[i].v[k] = (i * 7 + k) % 11 - 5;
  }
  for (int step = 0; step < 4; step++) {
#pragma omp parallel for schedule(static, 3)
    for (int i = 0; i < n; i++)
      for (int k = 0; k < 3; k++) p[i].x[k] += p[i].v[k] * 0.125;
#pragma omp parallel for
    for (int i = 0; i < n; i++) p[i].extra.charge += (float)p[(i + 1) % n].x[0];
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++) p[i].extra.spin = (short)(p[i].extra.spin + i % 3);
  }
#pragma omp parallel for
  for (int i = 0; i < n; i++) sorted[(i * 173 + 5) % n] = p[i];
  best = sorted[17];
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += sorted[i].x[1] * i + sorted[i].extra.charge + sorted[i].extra.spin + sorted[i].kind;
  printf("%d %c %.4f %.4f\n", best.id, best.kind, best.x[2], sum);
  free(p);
  return 0;
}
