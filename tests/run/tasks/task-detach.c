// A detached task completes when its event is fulfilled.
// threads: any
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a = 0, b = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : a)
    {
      a = 1;
      omp_fulfill_event(event);
    }
#pragma omp task depend(in : a)
    b = a + 1;
#pragma omp taskwait
    b *= 10;
  }
  printf("%d %d\n", a, b);
  return 0;
}
