// A timer interrupts output: nothing printed is lost, although mpirun's terminal lets an interrupted
// write fail, and the handler does not ask for calls to be restarted.
// env: OKL_BACKEND=mpi
// threads: any
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;
static int values[1000];

static void on_tick(int signal) {
  (void)signal;
  ticks++;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_tick;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval interval = {{0, 200}, {0, 200}}, none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &interval, NULL);
  int failed = 0;
  for (int line = 0; line < 20000; line++) {
    failed += printf("%d\n", line) < 0;
    if (line % 1000 == 0) {
#pragma omp parallel for
      for (int i = 0; i < 1000; i++) values[i] += i;
    }
  }
  setitimer(ITIMER_REAL, &none, NULL);
  printf("%d failed, %d\n", failed, values[999]);
  return 0;
}
