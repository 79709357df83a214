// Handlers of a timer run in serial code and in the initial thread's part of regions; what they write is
// shared memory, and the runtime may be serving a fault, sending messages, or unwound by longjmp.
// threads: any
// limit: 120
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static jmp_buf back;
static volatile sig_atomic_t ticks;
static int values[100000];
static volatile sig_atomic_t pages[64][1024];

static void on_tick(int signal) {
  pages[ticks % 64][0] = signal;
  ticks++;
}

static void on_user(int signal, siginfo_t *info, void *context) {
  (void)context;
  ticks += info->si_signo == signal ? 1000000 : 0;
}

static void deep(int depth) {
  char pad[20000];
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 20000; i++) {
    pad[i] = (char)(i + depth);
    sum += pad[i];
  }
  if (depth == 0) longjmp(back, (int)(sum & 0xff) + 1000);
  deep(depth - 1);
  if (pad[0] == 3) puts("never");
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_tick;
  sigfillset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
  struct itimerval interval = {{0, 500}, {0, 500}}, none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &interval, NULL);
  for (volatile int round = 0; round < 40; round++) {
    int code = setjmp(back);
    if (code == 0) deep(10);
    if (round == 39) printf("%d\n", code);
#pragma omp parallel for
    for (int i = 0; i < 100000; i++) values[i] += i;
    long sum = 0;
    for (int k = 0; k < 10; k++)
      for (int i = 0; i < 100000; i++) sum += values[i] ^ k;
    if (round == 39) printf("%ld\n", sum);
  }
  setitimer(ITIMER_REAL, &none, NULL);
  printf("%d\n", ticks > 3);

  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
#pragma omp parallel for
  for (int i = 0; i < 100000; i++) values[i] = 1;
  long ones = 0;
  for (int i = 0; i < 100000; i++) ones += values[i];
  raise(SIGUSR1);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_user;
  action.sa_flags = SA_SIGINFO;
  struct sigaction old;
  printf("%d\n", sigaction(SIGUSR1, &action, &old) == 0 && old.sa_handler == SIG_DFL);
  printf("%d\n", sigaction(SIGALRM, NULL, &old) == 0 && old.sa_handler == on_tick);
  sigprocmask(SIG_SETMASK, &before, NULL);
  printf("%ld %d\n", ones, ticks >= 1000000);
  printf("%d\n", signal(SIGUSR2, on_tick) == SIG_DFL && signal(SIGUSR2, SIG_IGN) == on_tick);
}
