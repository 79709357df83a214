// Diffusion in the plane, implicit in time: blocks of rows. The border rows of the direction are on their way while the
// inner rows are computed; two sums of all ranks in each inner step.
#include "../mpi_common.h"
#include "solver.h"

enum { INNER = 10 };

static int n, line, rows, first;  // this rank's rows are 1 ... rows here, first + 1 ... of the plane
static int up, down;
static double *heat, *residual, *direction, *image, *conductivity;

static double sum_of_all(double mine) {
  double sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

static void start_exchange(double *a, MPI_Request *requests) {
  MPI_Irecv(a, line, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(a + (rows + 1) * line, line, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(a + line, line, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(a + rows * line, line, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[3]);
}

static inline double applied(const double *from, int at) {
  double k = conductivity[at];
  return from[at] + (k + conductivity[at - line]) * (from[at] - from[at - line]) +
         (k + conductivity[at + line]) * (from[at] - from[at + line]) +
         (k + conductivity[at - 1]) * (from[at] - from[at - 1]) +
         (k + conductivity[at + 1]) * (from[at] - from[at + 1]);
}

static double product_of_rows(int from, int to) {
  double sum = 0;
  for (int i = from; i <= to; i++)
    for (int j = 1; j <= n; j++) {
      int at = i * line + j;
      image[at] = applied(direction, at);
      sum += direction[at] * image[at];
    }
  return sum;
}

static double product(void) {
  MPI_Request requests[4];
  start_exchange(direction, requests);
  double sum = product_of_rows(2, rows - 1);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  sum += product_of_rows(1, 1);
  if (rows > 1)
    sum += product_of_rows(rows, rows);
  return sum_of_all(sum);
}

static double begin_step(void) {
  MPI_Request requests[4];
  start_exchange(heat, requests);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  double sum = 0;
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j <= n; j++) {
      int at = i * line + j;
      residual[at] = heat[at] + source_at(n, first + i, j) - applied(heat, at);
      direction[at] = residual[at];
      sum += residual[at] * residual[at];
    }
  return sum_of_all(sum);
}

static double descend(double alpha) {
  double sum = 0;
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j <= n; j++) {
      int at = i * line + j;
      heat[at] += alpha * direction[at];
      residual[at] -= alpha * image[at];
      sum += residual[at] * residual[at];
    }
  return sum_of_all(sum);
}

static void turn(double beta) {
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j <= n; j++) {
      int at = i * line + j;
      direction[at] = residual[at] + beta * direction[at];
    }
}

static void step(int iteration) {
  double rho = begin_step();
  for (int inner = 0; inner < INNER; inner++) {
    timer_start(PRODUCT);
    double along = product();
    timer_stop(PRODUCT);
    timer_start(SUMS);
    if (!(along > 0))
      bail_out("product", iteration, along);
    double next = descend(rho / along);
    if (next != next)
      bail_out("residual", iteration, next);
    turn(next / rho);
    rho = next;
    timer_stop(SUMS);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  n = number(argc, argv, 1, 1000, 3);
  int iterations = number(argc, argv, 2, 20, 1);
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n, rank, ranks);
  line = n + 2;
  rows = mine.count;
  first = mine.first;
  up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  size_t cells = (size_t)(rows + 2) * line;
  heat = allocate(cells, sizeof *heat);
  residual = allocate(cells, sizeof *residual);
  direction = allocate(cells, sizeof *direction);
  image = allocate(cells, sizeof *image);
  conductivity = allocate(cells, sizeof *conductivity);
  for (int i = 0; i < rows + 2; i++)
    for (int j = 0; j < line; j++) {
      int at = i * line + j;
      heat[at] = residual[at] = direction[at] = image[at] = 0;
      conductivity[at] = conductivity_at(first + i, j);
    }

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    step(iteration);
  }
  double seconds = stop_clock(start);
  double part = 0, sum = 0;
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j <= n; j++)
      part += heat[i * line + j] * (1 + (first + i + 3 * j) % 7);
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    fprintf(stderr, "products %.3f s, sums %.3f s\n", timer_read(PRODUCT), timer_read(SUMS));
    print_result(seconds, iterations, sum);
  }
  free(conductivity);
  free(image);
  free(direction);
  free(residual);
  free(heat);
  MPI_Finalize();
  return 0;
}
