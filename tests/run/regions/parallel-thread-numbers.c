// Every thread of the team runs the region once, with its own number.
#include <omp.h>
#include <stdio.h>

static int seen[64];
static int size;

int main(void) {
#pragma omp parallel
  {
    seen[omp_get_thread_num()] += 1;
#pragma omp master
    size = omp_get_num_threads();
  }
  printf("%d threads\n", size);
  for (int t = 0; t < size; t++) printf("thread %d: %d\n", t, seen[t]);
  return 0;
}
