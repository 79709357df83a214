// The same with a volatile variable, of which all accesses are known.
// threads: any
// warns: parallel region runs on rank 0 alone: it waits for a flag that another thread sets
#include <omp.h>
#include <stdio.h>

static volatile int stage;

int main(void) {
  int seen = 0;
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    while (stage < me) {
    }
    if (stage == me) stage = me + 1;
#pragma omp atomic
    seen++;
  }
  printf("%d\n", seen == stage);
  return 0;
}
