// The data of the pairs of sweeps: `jacobi SIZE PAIRS REPETITIONS [WAY]`.
#include "jacobi.h"

#include "../common.h"

#include <string.h>

int size, pairs;
double *plane_a, *plane_b, *plane_c;

void prepare(void) {
#pragma omp parallel for
  for (int i = 0; i < size + 2; i++) {
    unsigned long state = (unsigned long)i * 7919 + 17;
    for (long j = 0; j < size + 2; j++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      plane_a[i * (size + 2L) + j] = plane_b[i * (size + 2L) + j] = (double)(state >> 40) * 0x1p-24;
#ifdef THIRD
      plane_c[i * (size + 2L) + j] = plane_b[i * (size + 2L) + j];
#endif
    }
  }
}

size_t pieces(void) { return 1; }

const double *piece(size_t number, size_t *count) {
  (void)number;
  *count = (size + 2ul) * (size + 2ul);
  return plane_b;
}

int main(int argc, char **argv) {
  size = number(argc, argv, 1, 1000, 1);
  pairs = number(argc, argv, 2, 100, 1);
  int repetitions = number(argc, argv, 3, 15, 0);
  plane_a = allocate((size + 2ul) * (size + 2ul), sizeof *plane_a);
  plane_b = allocate((size + 2ul) * (size + 2ul), sizeof *plane_b);
#ifdef THIRD
  plane_c = allocate((size + 2ul) * (size + 2ul), sizeof *plane_c);
#endif
  for (long i = 1; i <= size; i++)
    are_temporary(plane_a + i * (size + 2) + 1, (size_t)size);
  return run_all(repetitions, argc > 4 ? argv[4] : NULL);
}
