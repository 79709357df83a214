// cancel for ends a search early; what is found does not depend on the team.
// threads: any
// env: OMP_CANCELLATION=true
#include <omp.h>
#include <stdio.h>

int main(void) {
  int found = -1, after = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 1000; i++) {
#pragma omp cancellation point for
      if (i * i == 168100) {
#pragma omp atomic write
        found = i;
#pragma omp cancel for
      }
    }
#pragma omp single
    after = 1;
  }
  printf("%d %d %d\n", omp_get_cancellation(), found, after);
  return 0;
}
