// Clusters points around their means: one short region in each iteration, with sums and a list of who belongs where.
#include <omp.h>

#include "points.h"

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 20000, 1);
  int iterations = number(argc, argv, 2, 1000, 1);
  struct point *points = allocate(n, sizeof *points), centres[CLUSTERS];
  int *member = allocate(n, sizeof *member);
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    points[i] = new_point(i);
    member[i] = -1;
  }
  first_centres(centres);

  double start = 0;
  long moved_in_all = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    sums found = {0};
    long moved = 0;
#pragma omp parallel for reduction(+ : found, moved)
    for (int i = 0; i < n; i++) {
      int c = nearest(points[i], centres);
      moved += c != member[i];
      member[i] = c;
      found[3 * c] += points[i].x;
      found[3 * c + 1] += points[i].y;
      found[3 * c + 2] += 1;
    }
    moved_in_all += moved;
    move_centres(found, centres);
  }
  double seconds = omp_get_wtime() - start;

  double sum = (double)moved_in_all;
  for (int i = 0; i < n; i++)
    sum += (double)member[i] * (1 + i % 7);
  print_result(seconds, iterations, sum + centres[0].x + centres[CLUSTERS - 1].y);
  free(member);
  free(points);
  return 0;
}
