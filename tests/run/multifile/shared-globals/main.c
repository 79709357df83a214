// Global arrays, pointers and counters defined in one file and used in regions of another, both ways.
// threads: any
#include "shared.h"
#include <stdio.h>

double table[500] = {1, 2, 3};
struct settings settings = {3, 0.5};

int main(void) {
  create(300);
  for (int round = 0; round < 4; round++) {
#pragma omp parallel for
    for (int i = 0; i < 500; i++) table[i] += settings.scale * i + heap[i % 300];
    update();
    settings.rounds++;
    counter += 2;
  }
  double sum = 0;
  for (int i = 0; i < 500; i++) sum += table[i] * (i % 9);
  printf("%.2f %d %d %s\n", sum, counter, settings.rounds, label);
  destroy();
  return 0;
}
