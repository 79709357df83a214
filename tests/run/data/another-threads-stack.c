// Reading another thread's local variables and arrays through shared pointers.
#include <omp.h>
#include <stdio.h>

static const double *published[64];

int main(void) {
  double out[64] = {0};
  int size = 0;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    double local[300];
    for (int i = 0; i < 300; i++) local[i] = me * 1000 + i;
    published[me] = local;
#pragma omp barrier
    for (int i = 0; i < 300; i += 7) out[me] += published[(me + 1) % team][i];
#pragma omp barrier
#pragma omp master
    size = team;
  }
  for (int t = 0; t < size; t++) printf("%.0f ", out[t]);
  printf("\n");
  return 0;
}
