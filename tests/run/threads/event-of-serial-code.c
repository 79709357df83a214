// A region of several threads fulfils the event of a task that serial code has detached.
// threads: any
// env: OMP_NUM_THREADS=3
#include <omp.h>
#include <stdio.h>

int main(void) {
  for (int round = 0; round < 3; round++) {
    omp_event_handle_t event;
    int number = 0, inside = 0;
#pragma omp task detach(event) shared(number)
    number = round + 1;
#pragma omp parallel
    {
      omp_event_handle_t own;
#pragma omp task detach(own) shared(inside)
      {
#pragma omp atomic write
        inside = 1;
      }
      omp_fulfill_event(own);
#pragma omp taskwait
#pragma omp master
      omp_fulfill_event(event);
    }
#pragma omp taskwait
    printf("%d %d\n", number, inside);
  }
  return 0;
}
