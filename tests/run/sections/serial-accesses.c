// Between regions rank 0 reads and writes single elements and fields of structures, which lie on the same
// pages as what the regions compute: its own, other threads', and those of which others have copies.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Small arrays, which share pages of the heap with the structures that point to them.
struct level {
  int n, visits;
  double *u, *f;
  double last;
};

static void smooth(int n, const double *from, double *to) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++) to[i] = 0.5 * from[i] + 0.25 * (from[i - 1] + from[i + 1]);
}

static void cycle(struct level *level) {
  int n = level->n;
  level->visits++;
  if (n == 3) {
    level->u[1] = level->f[1] / 2 + level->u[1];
    return;
  }
  smooth(n, level->u, level->f);
  level->last = level->f[n - 2];
  // An element of the last thread, then one that others have copies of.
  level[1].u[0] = level->f[n - 2] + level->f[n / 2];
  smooth(n, level->f, level->u);
  if (level->visits % 3 == 0) level->u[n / 2] += 1;
  cycle(level + 1);
  level->u[n / 2] += level[1].u[1];
  smooth(n, level->u, level->f);
  memcpy(&level->last, &level->f[n - 2], sizeof level->last);
  smooth(n, level->f, level->u);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// What a call through a pointer does is not known.
static double pick(const double *a, int i) { return a[i]; }
static double (*volatile picker)(const double *, int) = pick;

int main(void) {
  enum { levels = 6, n = 3000 };
  struct level *level = malloc(levels * sizeof *level);
  for (int l = 0; l < levels; l++) {
    int size = (2 << (levels - l)) / 2 + 1;
    level[l] = (struct level){size, 0, calloc(size, 8), calloc(size, 8), 0};
    for (int i = 0; i < size; i++) level[l].u[i] = (i * 7 + l) % 5;
  }
  for (int i = 0; i < 40; i++) cycle(level);
  for (int l = 0; l < levels; l++) {
    printf("%d %d %.15g", level[l].n, level[l].visits, level[l].last);
    for (int i = 0; i < level[l].n; i++) printf(" %.15g", level[l].u[i] - level[l].f[i]);
    puts("");
  }

  // Elements that another thread wrote last, one by one, in library functions, and through pointers.
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), sum = 0;
  double **ends = malloc(2 * sizeof *ends);
  ends[0] = a + n - 1, ends[1] = b + n / 2;
  for (int round = 0; round < 30; round++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = (i * 31 + round) % 1009;
    switch (round % 6) {
    case 0: sum += a[n - 1]; break;
    case 1: sum += *ends[0] + picker(a, n - 2); break;
    case 2: qsort(a, n, sizeof *a, by_value); sum += a[n / 2]; break;
    case 3: a[n - 1] = -1; sum += a[n - 2]; break;
    case 4: memmove(a, a + n - 9, 8 * sizeof *a); sum += a[3]; break;
    case 5: for (int i = a[n - 3] < 0; i < n; i += 7) sum += a[i]; break;
    }
#pragma omp parallel for
    for (int i = 0; i < n; i++) b[i] = a[n - 1 - i] + i;
    *ends[1] += *ends[0];
    sum = sum * 0.9 + b[round] + b[n - 1 - round] + b[n / 2];
  }
  printf("%.15g\n", sum);
  return 0;
}
