// Atomic updates in regions that declare all their other accesses: of arrays that other regions write,
// read, and are divided differently in each; of what this region writes or reads itself, too.
#include <stdio.h>
#include <stdlib.h>

#define N 1500
#define EDGES 3000

static double force[N], position[N];
static int from[EDGES], to[EDGES];

int main(void) {
  long *degree = calloc(N, sizeof *degree);
  float *weight = malloc(N * sizeof *weight);
  unsigned seed = 1;
  for (int e = 0; e < EDGES; e++) {
    seed = seed * 1103515245 + 12345;
    from[e] = seed / 65536 % N;
    to[e] = (from[e] + seed / 7 % 40) % N;
  }
  for (int i = 0; i < N; i++) position[i] = i % 50;
  double energy = 0;
  for (int step = 0; step < 8; step++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) force[i] = 0, degree[i] = i % 3, weight[i] = 1;
#pragma omp parallel for
    for (int e = 0; e < EDGES; e++) {
      double pull = (int)(position[to[e]] - position[from[e]]) / 4 * 0.25;
#pragma omp atomic
      force[from[e]] += pull;
#pragma omp atomic
      force[to[e]] -= pull;
#pragma omp atomic
      degree[to[e]]++;
    }
    if (step % 3 == 0) {
      // Columns: other ranks hold them from now on.
#pragma omp parallel for schedule(static, 5)
      for (int i = 0; i < N; i++) force[i] += degree[i] % 2, degree[i] *= 2;
    }
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
      // Its own writes, then updates of the same, by the one thread that has them.
      weight[i] = force[i] + 2;
#pragma omp atomic
      weight[i] += 1;
      weight[i] *= 2;
#pragma omp atomic
      degree[i] += 5;
      position[i] += (int)force[i] % 4 + weight[i] - weight[i] + degree[i] % 2;
    }
#pragma omp parallel for reduction(+ : energy)
    for (int i = 0; i < N; i++) energy += position[i] * (i % 9) + force[i] + degree[i] + weight[i];
    if (step == 5) {
      for (int i = 0; i < N; i += 100) force[i] = degree[i] = i;
      printf("%.2f\n", energy);
    }
    // Updates and reads of them in one region.
#pragma omp parallel
    {
      for (int turn = 0; turn < 3; turn++) {
#pragma omp for
        for (int e = 0; e < EDGES; e++) {
#pragma omp atomic
          degree[from[e]] += turn;
        }
#pragma omp for
        for (int i = 0; i < N; i++) weight[i] += degree[i] % 5 + degree[N - 1 - i] % 3;
      }
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++) sum += position[i] + force[i] * 3 + degree[i] + weight[i];
  printf("%.2f %.2f\n", energy, sum);
  free(degree);
  free(weight);
  return 0;
}
