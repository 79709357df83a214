// Breadth-first search with a bitmap and buffers of the threads' own that go into one queue, between regions that ranks
// share. Wherever rank 0 runs the regions, teams are as large, and each sees what the others have left.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 16 };

static int n, m, *start, *to, *parent, *level, *queue, filled;
static unsigned long *seen;
static long *weight;

static void build(unsigned long seed) {
  int *from = malloc(m * sizeof *from), *end = malloc(m * sizeof *end), *next = malloc(n * sizeof *next);
#pragma omp parallel for
  for (int e = 0; e < m; e++) {
    unsigned long x = (seed + e) * 6364136223846793005ul;
    from[e] = (x >> 33) % n;
    end[e] = (x >> 17) % n;
  }
  memset(start, 0, (n + 1) * sizeof *start);
#pragma omp parallel for
  for (int e = 0; e < m; e++) __sync_fetch_and_add(&start[from[e] + 1], 1);
  for (int v = 0; v < n; v++) {
    start[v + 1] += start[v];
    next[v] = start[v];
  }
#pragma omp parallel for
  for (int e = 0; e < m; e++) to[__sync_fetch_and_add(&next[from[e]], 1)] = end[e];
  free(from);
  free(end);
  free(next);
}

static int step(int first, int last, int distance, int *team) {
  int found = 0;
#pragma omp parallel reduction(+ : found)
  {
    int mine[BUFFER], count = 0;
#pragma omp for schedule(dynamic, 8) nowait
    for (int f = first; f < last; f++) {
      int v = queue[f];
      for (int e = start[v]; e < start[v + 1]; e++) {
        int w = to[e];
        unsigned long bit = 1ul << w % 64;
        if (__atomic_load_n(&seen[w / 64], __ATOMIC_RELAXED) & bit) continue;
        if (__sync_fetch_and_or(&seen[w / 64], bit) & bit) continue;
        parent[w] = v;
        level[w] = distance;
        found++;
        mine[count++] = w;
        if (count == BUFFER) {
          int at = __sync_fetch_and_add(&filled, count);
          memcpy(queue + at, mine, count * sizeof *mine);
          count = 0;
        }
      }
    }
    int at = __sync_fetch_and_add(&filled, count);
    memcpy(queue + at, mine, count * sizeof *mine);
#pragma omp master
    *team = omp_get_num_threads();
#pragma omp critical
    weight[0] += count;
#pragma omp barrier
    weight[1 + omp_get_thread_num()] = filled;
  }
  return found;
}

int main(int argc, char **argv) {
  n = argc > 1 ? atoi(argv[1]) : 2000;
  m = 4 * n;
  start = malloc((n + 1) * sizeof *start);
  to = malloc(m * sizeof *to);
  parent = malloc(n * sizeof *parent);
  level = malloc(n * sizeof *level);
  queue = malloc(n * sizeof *queue);
  seen = malloc((n / 64 + 1) * sizeof *seen);
  weight = malloc((1 + omp_get_max_threads()) * sizeof *weight);
  long check = 0;
  int wrong = 0;
  for (int graph = 0; graph < 4; graph++) {
    build(graph * 1000003ul);
    int team = 0, others = 0, distance = 0, first = 0, found = 1;
#pragma omp parallel for
    for (int v = 0; v < n; v++) level[v] = parent[v] = -1;
    memset(seen, 0, (n / 64 + 1) * sizeof *seen);
    queue[0] = graph;
    filled = 1;
    level[graph] = 0;
    seen[graph / 64] = 1ul << graph % 64;
    while (found > 0) {
      int last = filled;
      found = step(first, last, ++distance, &team);
      wrong += filled != last + found || weight[team] != filled;
#pragma omp parallel
#pragma omp master
      others = omp_get_num_threads();
      wrong += team != others;
      first = last;
    }
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int v = 0; v < n; v++) {
      sum += (long)level[v] * (v + 1);
      if (level[v] > 0 && level[parent[v]] != level[v] - 1) sum += 1000000007;
    }
    check = check * 31 + sum + filled + distance;
  }
  printf("%ld, %d wrong\n", check, wrong);
  return 0;
}
