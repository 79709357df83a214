// A function that begins a region and has two versions returns to code of another file, which cannot know that serial
// code has to be announced: the function does so itself.
// opt: -O2
#include <stdio.h>

extern long fills;
void fill(double *a, int n, int by);

double values[4000];

int main(void) {
  double sum = 0;
  for (int turn = 0; turn < 10; turn++) {
    fill(values, 4000, turn);
    for (int i = 0; i < 4000; i += 7) sum += values[i] * (i % 13);
    values[turn * 300] = -sum;
  }
#pragma omp parallel
#pragma omp single
  printf("%.1f after %ld\n", sum, fills);
  return 0;
}
