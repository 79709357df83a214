// Loops that read where they do not say, behind pointers that they load as bounds or at computed places, and declare what
// they write: values that other threads wrote before the last barrier, or serial code did, on pages of which they write a part.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1201 };

struct graph {
  int n, **index, *list;
};

static struct graph *build(int n, unsigned seed) {
  struct graph *g = malloc(sizeof *g);
  g->n = n;
  g->index = malloc((n + 1) * sizeof *g->index);
  g->list = malloc(8 * n * sizeof *g->list);
  int *at = g->list;
  for (int u = 0; u < n; u++) {
    g->index[u] = at;
    for (int d = (seed >> 8) % 8; d > 0; d--) {
      seed = seed * 1664525u + 1013904223u;
      *at++ = seed / 7 % n;
    }
    seed = seed * 22695477u + 1;
  }
  g->index[n] = at;
  return g;
}

// One function of several regions.
static double gather(const struct graph *g, const double *from, int u) {
  double sum = 0;
  for (const int *at = g->index[u]; at < g->index[u + 1]; at++) sum += from[*at];
  return sum;
}

static double ranks(struct graph *g, int steps) {
  int n = g->n;
  double *score = calloc(n, sizeof *score), *share = calloc(n, sizeof *share), sum = 0;
  for (int u = 0; u < n; u++) score[u] = u % 13;
  for (int step = 0; step < steps; step++) {
#pragma omp parallel
    {
#pragma omp for
      for (int u = 0; u < n; u++) share[u] = score[u] / (1 + g->index[u + 1] - g->index[u]);
#pragma omp for schedule(static, 7) nowait
      for (int u = 0; u < n; u++) score[u] = 0.2 * u + 0.7 * gather(g, share, u);
#pragma omp barrier
#pragma omp for schedule(dynamic, 16)
      for (int u = 0; u < n; u++) share[u] = gather(g, score, u) - 1;
#pragma omp single
      for (int u = 0; u < n; u += 5) score[u] *= 0.5;
    }
    // Edges that serial code changes.
    for (int *at = g->list; at < g->index[n]; at += 3) *at = (*at + step) % n;
#pragma omp parallel for reduction(+ : sum)
    for (int u = 0; u < n; u++) sum += gather(g, share, u) + score[u];
  }
  return sum;
}

// Rows at places that the loop computes, some of which it rewrites later.
static double rows(int n, int m, int steps) {
  double **row = malloc(n * sizeof *row), *result = calloc(n, sizeof *result), sum = 0;
  int *which = malloc(n * sizeof *which);
  for (int i = 0; i < n; i++) {
    row[i] = calloc(m, sizeof **row);
    which[i] = i * 7 % n;
  }
  for (int step = 0; step < steps; step++) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) row[i][j] = result[i] * 0.3 + j + step;
#pragma omp for
      for (int i = 0; i < n; i++) {
        double one = 0;
        for (int j = 0; j < m; j++) one += row[which[(i + j) % n]][j] * (j % 3);
        result[i] = one / m;
      }
    }
    which[step % n] = (step * 5 + 1) % n;
  }
  for (int i = 0; i < n; i++) sum = sum * 0.99 + result[i];
  return sum;
}

int main(void) {
  int sizes[] = {1, 7, 200, MOST};
  for (int s = 0; s < 4; s++) {
    printf("%d: %.9g\n", sizes[s], ranks(build(sizes[s], s + 5), 4));
    printf("%d: %.12g\n", sizes[s], rows(sizes[s], 1 + 700 / sizes[s], 4));
  }
  return 0;
}
