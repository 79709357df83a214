// A loop in a team of one waits for a thread of the team around it, which is one of rank 0's threads.
// ranks: 1 2
// threads: any
// env: OMP_NUM_THREADS=3
// warns: waits for a flag that another thread sets
// skip-with: OKL_VERIFY=1
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static volatile int flag;

int main(void) {
  int seen = 0;
#pragma omp parallel num_threads(3) shared(seen)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp parallel num_threads(1)
      {
        while (!flag) {
        }
        seen = flag;
      }
    } else if (omp_get_thread_num() == 1) {
      usleep(20000);
      flag = 5;
    }
  }
  printf("%d\n", seen);
  return 0;
}
