// Threads take the largest values under a lock, one by one, just before a barrier after which all read them: whose bytes they
// are may have arrived there before others wrote them.
// threads: any
#include <stdio.h>

enum { n = 3000, places = 30, stride = 100, rounds = 5 };
static double largest[n], values[n];
static int owner[n];

int main(void) {
  for (int i = 0; i < n; i++) values[i] = (i * 7919) % 3001;
  for (int t = 0; t < rounds; t++) {
#pragma omp parallel
    {
      double mine[places];
      for (int k = 0; k < places; k++) mine[k] = -1;
#pragma omp for nowait schedule(static, 17)
      for (int i = 0; i < n; i++)
        if (values[i] + t > mine[i % places]) mine[i % places] = values[i] + t;
      for (int k = 0; k < places; k++) {
#pragma omp critical
        if (mine[k] > largest[k * stride]) {
          largest[k * stride] = mine[k];
          owner[k] = k + t;
        }
      }
#pragma omp barrier
      double sum = 0;
      for (int i = 0; i < n; i++) sum += largest[i];
#pragma omp for
      for (int i = 0; i < n; i++) values[i] += sum * 1e-3 + owner[i % places];
    }
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += values[i] + largest[i] * i;
  printf("%.12g\n", sum);
}
