// cancel parallel, cancel sections and cancel taskgroup, all by every thread at once.
// threads: any
// env: OMP_CANCELLATION=true
#include <stdio.h>

int main(void) {
  int before = 0, behind = 0, n = 0;
#pragma omp parallel
  {
#pragma omp atomic
    before++;
#pragma omp cancel parallel
    behind = 1;
  }
#pragma omp parallel sections
  {
#pragma omp section
    {
#pragma omp cancel sections if (before == 0)
      n = 1;
    }
  }
#pragma omp parallel
  {
#pragma omp single
    {
#pragma omp taskgroup
      {
#pragma omp task
        {
#pragma omp cancel taskgroup
          behind = 1;
        }
      }
      n += 10;
    }
  }
  printf("%d %d %d\n", before > 0, behind, n);
  return 0;
}
