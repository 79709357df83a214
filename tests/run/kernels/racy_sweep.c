// ranks: 1 2 3 4
// opt: -O0 -O2
// flags: -lm
// compare: tolerance 2e-3
//
// The benchmark of Blesel's thesis "Compiler assisted translation of OpenMP to
// MPI using LLVM" (its Listing 6.1): a five-point average, in place, on blocks
// of rows computed from the thread number. The rows next to a block's border
// are read while a neighbour writes them: a data race, so two OpenMP runs
// differ too. What is printed agrees within 2e-3 at any number of threads; the
// tolerance covers the race, not an error of arithmetic. The number of inner
// rows is a multiple of 1 to 6, or the blocks would leave rows out.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 122, SWEEPS = 400 };

static int at(int row, int column) { return row * WIDTH + column; }

int main(void) {
  double *matrix = malloc(WIDTH * WIDTH * sizeof *matrix);
  for (int row = 0; row < WIDTH; row++)
    for (int column = 0; column < WIDTH; column++)
      matrix[at(row, column)] = row == 0 ? 2 : column == 0 ? 1 + row / (WIDTH - 1.0) : 1;

  double star;
  for (int remaining = SWEEPS; remaining > 0; remaining--) {
#pragma omp parallel private(star) shared(matrix)
    {
      int rank = omp_get_thread_num();
      int size = omp_get_num_threads();
      int lower = rank * ((WIDTH - 2) / size) + 1;
      int upper = (rank + 1) * ((WIDTH - 2) / size) + 1;
      for (int i = lower; i < upper; i++)
        for (int j = 1; j < WIDTH - 1; j++) {
          star = 0.25 * (matrix[at(i - 1, j)] + matrix[at(i + 1, j)] + matrix[at(i, j - 1)] +
                         matrix[at(i, j + 1)]);
          matrix[at(i, j)] = star;
        }
    }
  }

  double sum = 0, low = matrix[0], high = matrix[0];
  for (int i = 0; i < WIDTH * WIDTH; i++) {
    sum += matrix[i];
    low = fmin(low, matrix[i]);
    high = fmax(high, matrix[i]);
  }
  printf("mean %.17g\n", sum / (WIDTH * WIDTH));
  for (int i = 20; i < WIDTH - 1; i += 20)
    printf("on the diagonal at %d: %.17g\n", i, matrix[at(i, i)]);

  // An average never leaves the range of the border values, however it races.
  int right = low >= 1 && high <= 2;
  printf("verification %s\n", right ? "successful" : "failed");
  free(matrix);
  return !right;
}
