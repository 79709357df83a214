// omp_in_explicit_task, in tasks and in the regions around them.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int outside = omp_in_explicit_task(), in_task[8], in_region[8];
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 8; i++) {
    in_region[i] = omp_in_explicit_task();
#pragma omp task shared(in_task)
    in_task[i] = omp_in_explicit_task();
  }
  printf("%d\n", outside);
  for (int i = 0; i < 8; i++) printf("%d %d\n", in_task[i], in_region[i]);
  return 0;
}
