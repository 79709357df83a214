// The triad of the STREAM kind: a = b + s c, each rank its part of the vectors.
#include "../mpi_common.h"

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = number(argc, argv, 1, 8000000, 1);
  int iterations = number(argc, argv, 2, 40, 1);
  struct share mine = share_of(n, my_rank(), all_ranks());
  int count = mine.count;
  double *a = allocate(count, sizeof *a), *b = allocate(count, sizeof *b),
         *c = allocate(count, sizeof *c);
  for (int i = 0; i < count; i++) {
    a[i] = 0;
    b[i] = (mine.first + i) % 1000;
    c[i] = (mine.first + i) % 77;
  }

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    double s = iteration;
    for (int i = 0; i < count; i++)
      a[i] = b[i] + s * c[i];
  }
  double seconds = stop_clock(start);

  double part = 0, sum = 0;  // of whole numbers: exact in any order
  for (int i = 0; i < count; i++)
    part += a[i];
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (my_rank() == 0)
    print_result(seconds, iterations, sum);
  free(c);
  free(b);
  free(a);
  MPI_Finalize();
  return 0;
}
