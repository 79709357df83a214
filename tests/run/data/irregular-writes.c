// Scattered writes through an index array that is a permutation, and gathers through it.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 5000 };
  int *order = malloc(n * sizeof *order);
  static float out[n], back[n];
  for (int i = 0; i < n; i++) order[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int j = (int)(i * 2654435761u % (unsigned)(i + 1)), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  int wrong = 0;
  for (int round = 0; round < 3; round++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) out[order[i]] = (float)(i + round);
#pragma omp parallel for schedule(dynamic, 100)
    for (int i = 0; i < n; i++) back[i] = out[order[i]] - (float)round;
    for (int i = 0; i < n; i++) wrong += back[i] != (float)i;
  }
  printf("%d %.0f\n", wrong, out[1234]);
  free(order);
  return 0;
}
