// Tied tasks see the threadprivate variables of the thread that runs them.
// threads: any
#include <stdio.h>

static int mark;
#pragma omp threadprivate(mark)

int main(void) {
  int sum = 0, team = 0;
#pragma omp parallel reduction(+ : team)
  {
    team++;
    mark = 1;
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < 50; i++) {
#pragma omp task
      {
#pragma omp atomic
        sum += mark;
      }
    }
  }
  printf("%d %d\n", sum, team > 0);
  return 0;
}
