// All threads are in one process.
// threads: any
// flags: -D_GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void on_signal(int signal) {
  (void)signal;
  signals++;
}

int main(void) {
  pid_t process = getpid(), parent = getppid();
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    wrong += getpid() != process;
    wrong += getppid() != parent;
#pragma omp barrier
    wrong += getpid() != process;
  }
  signal(SIGUSR1, on_signal);
  kill(getpid(), SIGUSR1);
  char own[64], expected[64];
  ssize_t length = readlink("/proc/self", own, sizeof own - 1);
  own[length > 0 ? length : 0] = 0;
  snprintf(expected, sizeof expected, "%d", process);
  int same = 1;
  for (int i = 0; own[i] || expected[i]; i++) same &= own[i] == expected[i];
  printf("%d wrong, %d, %d\n", wrong, (int)signals, same);
  return 0;
}
