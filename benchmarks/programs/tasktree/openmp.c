// A tree of tasks that nobody knows in advance: each node has work of its own and up to four children.
#include <omp.h>

#include "work.h"

// The sum of what a node and all below it find.
static double visit(uint64_t node, int depth, int rounds) {
  double parts[MOST_CHILDREN] = {0};
  int count = children(node, depth);
  for (int which = 0; which < count; which++) {
#pragma omp task shared(parts)
    parts[which] = visit(child(node, which), depth - 1, rounds);
  }
  double sum = work(node, rounds);
#pragma omp taskwait
  for (int which = 0; which < count; which++)
    sum += parts[which];
  return sum;
}

int main(int argc, char **argv) {
  int depth = number(argc, argv, 1, 5, 0);
  int rounds = number(argc, argv, 2, 150000, 1);
  int iterations = number(argc, argv, 3, 10, 1);
  double sum = 0, start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
    sum += visit(root(iteration), depth, rounds);
  }
  print_result(omp_get_wtime() - start, iterations, sum);
  return 0;
}
