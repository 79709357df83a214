// Embarrassingly parallel: draws pairs of normally distributed numbers by the polar method and
// counts them by the square ring they fall into. New pairs in every iteration. Each rank draws its
// share; the sums are combined after every iteration, all in one message.
#include <math.h>

#include "../mpi_common.h"
#include "../random.h"

enum { RINGS = 10, SUMS = RINGS + 2 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int pairs = number(argc, argv, 1, 2000000, 1);
  int iterations = number(argc, argv, 2, 10, 1);
  struct share mine = share_of(pairs, my_rank(), all_ranks());
  double start = 0, all[SUMS] = {0};
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    double sum_x = 0, sum_y = 0;
    long ring[RINGS] = {0};
    for (int i = mine.first; i < mine.first + mine.count; i++) {
      uint64_t index = 2 * ((uint64_t)iteration * pairs + i);
      double x = uniform(index), y = uniform(index + 1), square = x * x + y * y;
      if (square > 1 || square == 0)
        continue;
      double factor = sqrt(-2 * log(square) / square);
      x *= factor;
      y *= factor;
      sum_x += x;
      sum_y += y;
      int r = (int)fmax(fabs(x), fabs(y));
      if (r < RINGS)
        ring[r]++;
    }
    // Counts of rings are far below 2^53: exact as double.
    double part[SUMS], sums[SUMS];
    for (int r = 0; r < RINGS; r++)
      part[r] = (double)ring[r];
    part[RINGS] = sum_x;
    part[RINGS + 1] = sum_y;
    MPI_Allreduce(part, sums, SUMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int s = 0; s < SUMS; s++)
      all[s] += sums[s];
  }
  double seconds = stop_clock(start);

  double checksum = fabs(all[RINGS]) + fabs(all[RINGS + 1]);
  for (int r = 0; r < RINGS; r++)
    checksum += all[r] * (r + 1);
  if (my_rank() == 0)
    print_result(seconds, iterations, checksum);
  MPI_Finalize();
  return 0;
}
