// Embarrassingly parallel: draws pairs of normally distributed numbers by the polar method and
// counts them by the square ring they fall into. New pairs in every iteration.
#include <math.h>
#include <omp.h>

#include "../common.h"
#include "../random.h"

enum { RINGS = 10 };

int main(int argc, char **argv) {
  int pairs = number(argc, argv, 1, 2000000, 1);
  int iterations = number(argc, argv, 2, 10, 1);
  double start = 0, sum_x = 0, sum_y = 0;
  long ring[RINGS] = {0};
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
#pragma omp parallel for reduction(+ : sum_x, sum_y, ring)
    for (int i = 0; i < pairs; i++) {
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
  }
  double seconds = omp_get_wtime() - start;

  double checksum = fabs(sum_x) + fabs(sum_y);
  for (int r = 0; r < RINGS; r++)
    checksum += (double)ring[r] * (r + 1);
  print_result(seconds, iterations, checksum);
  return 0;
}
