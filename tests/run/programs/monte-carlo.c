// A Monte Carlo estimate with one generator for each block of samples.
// threads: any
#include <stdint.h>
#include <stdio.h>

static double next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0;
}

int main(void) {
  long inside = 0;
#pragma omp parallel for reduction(+ : inside) schedule(dynamic)
  for (int block = 0; block < 64; block++) {
    uint64_t state = (uint64_t)block * 977 + 1;
    for (int k = 0; k < 1000; k++) {
      double x = next(&state), y = next(&state);
      inside += x * x + y * y < 1;
    }
  }
  printf("%ld %.5f\n", inside, 4.0 * (double)inside / 64000);
  return 0;
}
