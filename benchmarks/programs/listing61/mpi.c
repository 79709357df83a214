// Listing 6.1 of the thesis on translating OpenMP to MPI in LLVM, as MPI: an in-place sweep over
// blocks of rows, whose neighbours' border rows are those of the sweep before.
#include "../mpi_common.h"

static int compute_index(int i, int j, int width) { return i * width + j; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int width = number(argc, argv, 1, 1002, 3);
  int iterations = number(argc, argv, 2, 100, 1);
  int rank = my_rank(), size = all_ranks();
  int rows = (width - 2) / size, first = rank * rows;
  int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  double *matrix = allocate((size_t)(rows + 2) * width, sizeof *matrix);
  for (int i = 0; i < rows + 2; i++)
    for (int j = 0; j < width; j++)
      matrix[compute_index(i, j, width)] = ((first + i) * 7 + j * 13) % 101 / 101.0;

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    MPI_Sendrecv(matrix + compute_index(1, 1, width), width - 2, MPI_DOUBLE, above, 0,
                 matrix + compute_index(rows + 1, 1, width), width - 2, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(matrix + compute_index(rows, 1, width), width - 2, MPI_DOUBLE, below, 1,
                 matrix + compute_index(0, 1, width), width - 2, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= rows; i++)
      for (int j = 1; j < width - 1; j++) {
        double star = 0.25 * (matrix[compute_index(i - 1, j, width)] +
                              matrix[compute_index(i + 1, j, width)] +
                              matrix[compute_index(i, j - 1, width)] +
                              matrix[compute_index(i, j + 1, width)]);
        matrix[compute_index(i, j, width)] = star;
      }
  }
  double seconds = stop_clock(start);

  double part = 0, sum = 0;
  for (int i = 1; i <= rows; i++)
    for (int j = 0; j < width; j++)
      part += matrix[compute_index(i, j, width)] * (1 + (first + i + j) % 7);
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(matrix);
  MPI_Finalize();
  return 0;
}
