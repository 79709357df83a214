// A thread that has done an atomic access while another one ran its task reads what the task wrote, when it has waited for it.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 12, PAGE = 4096 / sizeof(int) };

static int values[ROUNDS * PAGE], tickets;

int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      for (int round = 0; round < ROUNDS; round++) {
        int ticket, in_frame = 0, *value = values + round * PAGE;
        wrong += *value != 0;
#pragma omp task firstprivate(value, round) shared(in_frame)
        *value = in_frame = round + 1;
#pragma omp atomic capture
        ticket = tickets++;
        usleep(2000);
#pragma omp taskwait
        wrong += *value != round + 1 || in_frame != round + 1 || ticket != round;
      }
    }
  }
  printf("%d wrong, %d tickets\n", wrong, tickets);
  return 0;
}
