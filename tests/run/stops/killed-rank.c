// A rank that is killed ends the job within seconds, with a message.
// reference: none
// ranks: 2 4
// opt: -O2
// limit: 15
// expect-exit: failure
// expect-stderr: signal 9
// flags: -D_GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

int main(void) {
  pid_t processes[64];
  int sum = 0;
#pragma omp parallel
  processes[omp_get_thread_num()] = gettid(); // getpid is rank 0's everywhere
  kill(processes[1], SIGKILL);
  for (int round = 0; round < 1000; round++) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += i;
  }
  printf("not reached %d\n", sum);
  return 0;
}
