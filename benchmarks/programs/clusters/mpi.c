// Clusters points around their means: blocks of points, and one sum of all ranks in each iteration.
#include "../mpi_common.h"
#include "points.h"

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = number(argc, argv, 1, 20000, 1);
  int iterations = number(argc, argv, 2, 1000, 1);
  int rank = my_rank();
  struct share mine = share_of(n, rank, all_ranks());
  struct point *points = allocate(mine.count, sizeof *points), centres[CLUSTERS];
  int *member = allocate(mine.count, sizeof *member);
  for (int i = 0; i < mine.count; i++) {
    points[i] = new_point(mine.first + i);
    member[i] = -1;
  }
  first_centres(centres);

  double start = 0, moved_in_all = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    double own[3 * CLUSTERS + 1] = {0}, found[3 * CLUSTERS + 1];
    for (int i = 0; i < mine.count; i++) {
      int c = nearest(points[i], centres);
      own[3 * CLUSTERS] += c != member[i];
      member[i] = c;
      own[3 * c] += points[i].x;
      own[3 * c + 1] += points[i].y;
      own[3 * c + 2] += 1;
    }
    MPI_Allreduce(own, found, 3 * CLUSTERS + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    moved_in_all += found[3 * CLUSTERS];
    move_centres(found, centres);
  }
  double seconds = stop_clock(start);

  double part = 0, sum = 0;  // of whole numbers: exact in any order
  for (int i = 0; i < mine.count; i++)
    part += (double)member[i] * (1 + (mine.first + i) % 7);
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    print_result(seconds, iterations, moved_in_all + sum + centres[0].x + centres[CLUSTERS - 1].y);
  free(member);
  free(points);
  MPI_Finalize();
  return 0;
}
