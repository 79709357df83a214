// Listing 6.1 of the thesis on translating OpenMP to MPI in LLVM: an in-place sweep whose blocks of
// rows come from the thread number. Threads read their neighbours' border rows while these change:
// a data race that is part of the program, so results agree only roughly.
#include <omp.h>

#include "../common.h"

static int compute_index(int i, int j, int width) { return i * width + j; }

int main(int argc, char **argv) {
  int width = number(argc, argv, 1, 1002, 3);
  int iterations = number(argc, argv, 2, 100, 1);
  double *matrix = allocate((size_t)width * width, sizeof *matrix);
  for (int i = 0; i < width; i++)
    for (int j = 0; j < width; j++)
      matrix[compute_index(i, j, width)] = (i * 7 + j * 13) % 101 / 101.0;

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    double star;
#pragma omp parallel private(star) shared(matrix)
    {
      int rank = omp_get_thread_num();
      int size = omp_get_num_threads();
      int lower = rank * ((width - 2) / size) + 1;
      int upper = (rank + 1) * ((width - 2) / size) + 1;

      for (int i = lower; i < upper; i++) {
        for (int j = 1; j < width - 1; j++) {
          star = 0.25 * (matrix[compute_index(i - 1, j, width)] +
                         matrix[compute_index(i + 1, j, width)] +
                         matrix[compute_index(i, j - 1, width)] +
                         matrix[compute_index(i, j + 1, width)]);
          matrix[compute_index(i, j, width)] = star;
        }
      }
    }
  }
  double seconds = omp_get_wtime() - start;

  double sum = 0;
  for (int i = 1; i < width - 1; i++)
    for (int j = 0; j < width; j++)
      sum += matrix[compute_index(i, j, width)] * (1 + (i + j) % 7);
  print_result(seconds, iterations, sum);
  free(matrix);
  return 0;
}
