// taskgroup waits for descendants too; taskwait only for children.
// threads: any
#include <stdio.h>

int main(void) {
  int grandchildren = 0, children = 0, seen = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 10; i++) {
#pragma omp task
        {
#pragma omp atomic
          children++;
          for (int k = 0; k < 3; k++) {
#pragma omp task
            {
#pragma omp atomic
              grandchildren++;
            }
          }
        }
      }
    }
    seen = children * 100 + grandchildren;
#pragma omp taskyield
  }
  printf("%d\n", seen);
  return 0;
}
