// Where a single construct with copyprivate ends there is a barrier: tasks made in it have run.
// threads: any
// env: OMP_NUM_THREADS=3
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { TASKS = 64, ROUNDS = 20 };

static int done[TASKS];

int main(void) {
  long wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  for (int round = 1; round <= ROUNDS; round++) {
    int copied;
#pragma omp single copyprivate(copied)
    {
      for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
        {
          if (i % 16 == 0) usleep(300);
          done[i] = round;
        }
      }
      copied = round * 7;
    }
    wrong += copied != round * 7;
    for (int i = 0; i < TASKS; i++) wrong += done[i] != round;
#pragma omp barrier
  }
  printf("%ld\n", wrong);
  return 0;
}
