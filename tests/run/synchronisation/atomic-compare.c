// atomic compare: minimum, maximum and conditional exchange, with capture.
// threads: any
// flags: -fopenmp-version=51
#include <stdio.h>

int main(void) {
  int smallest = 1 << 30, largest = -1, first = -1, winners = 0;
  unsigned long big = 0;
  float f = -1;
#pragma omp parallel for reduction(+ : winners) schedule(static, 4)
  for (int i = 0; i < 200; i++) {
    int value = (i * 37 + 5) % 199;
    unsigned long wide = (unsigned long)value << 40;
    float fraction = value * 0.5f;
    int seen;
#pragma omp atomic compare
    if (value < smallest) smallest = value;
#pragma omp atomic compare
    largest = largest < value ? value : largest;
#pragma omp atomic compare
    if (wide > big) big = wide;
#pragma omp atomic compare
    if (fraction > f) f = fraction;
#pragma omp atomic compare capture
    {
      seen = first;
      if (first == -1) first = 77;
    }
    winners += seen == -1;
  }
  printf("%d %d %lx %.1f %d %d\n", smallest, largest, big, f, first, winners);
  return 0;
}
