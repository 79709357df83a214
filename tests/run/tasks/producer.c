// One thread produces tasks, with firstprivate, shared and private data.
// threads: any
#include <stdio.h>

int main(void) {
  int a[100], total = 0, scratch = 5;
#pragma omp parallel
#pragma omp single
  {
    int step = 3;
    for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(step) private(scratch) shared(a)
      {
        scratch = i * step;
        a[i] = scratch;
        step = -1;
      }
    }
#pragma omp taskwait
    for (int i = 0; i < 100; i++) {
#pragma omp task shared(total)
      {
#pragma omp atomic
        total += a[i];
      }
    }
  }
  printf("%d %d %d\n", total, a[99], scratch);
  return 0;
}
