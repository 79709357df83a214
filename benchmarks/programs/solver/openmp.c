// Diffusion in the plane, implicit in time: one parallel region around all steps, whose loops are in another file, as
// timers and an error function are in theirs.
#include "../common.h"
#include "openmp_kernels.h"
#include "solver.h"

enum { INNER = 10 };

static void step(int iteration) {
  double rho = begin_step();
  for (int inner = 0; inner < INNER; inner++) {
#pragma omp master
    timer_start(PRODUCT);
    double along = product();
#pragma omp master
    {
      timer_stop(PRODUCT);
      timer_start(SUMS);
    }
    if (!(along > 0))
      bail_out("product", iteration, along);
    double next = descend(rho / along);
    if (next != next)
      bail_out("residual", iteration, next);
    turn(next / rho);
    rho = next;
#pragma omp master
    timer_stop(SUMS);
  }
}

int main(int argc, char **argv) {
  n = number(argc, argv, 1, 1000, 3);
  int iterations = number(argc, argv, 2, 20, 1);
  size_t cells = (size_t)(n + 2) * (n + 2);
  heat = allocate(cells, sizeof *heat);
  residual = allocate(cells, sizeof *residual);
  direction = allocate(cells, sizeof *direction);
  image = allocate(cells, sizeof *image);
  conductivity = allocate(cells, sizeof *conductivity);

  double sum = 0;
#pragma omp parallel
  {
    set_up();
    for (int iteration = 0; iteration <= iterations; iteration++) {
#pragma omp master
      if (iteration == 1)  // the first one warms up
        timer_start(TOTAL);
      step(iteration);
    }
#pragma omp master
    timer_stop(TOTAL);
#pragma omp for reduction(+ : sum)
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        sum += heat[i * (n + 2) + j] * (1 + (i + 3 * j) % 7);
  }
  fprintf(stderr, "products %.3f s, sums %.3f s\n", timer_read(PRODUCT), timer_read(SUMS));
  print_result(timer_read(TOTAL), iterations, sum);
  free(conductivity);
  free(image);
  free(direction);
  free(residual);
  free(heat);
  return 0;
}
