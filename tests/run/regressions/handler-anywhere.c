// A signal comes at any moment of serial code that allocates and writes, and its handler touches shared
// memory whose pages have to be served: that allocates, too.
// env: OKL_BACKEND=mpi
// threads: any
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/time.h>
#define PAGES 256
#define PER_PAGE 512
static volatile long written[PAGES * PER_PAGE];
static volatile sig_atomic_t ticks;
static volatile sig_atomic_t steps, seen;
static char *blocks[1000];
static char text[100000];

static void on_tick(int signal) {
  (void)signal;
  // On a busy machine pages take longer than the timer: the program goes on between two handlers that need some.
  if (seen == steps) return;
  seen = steps;
  written[ticks % PAGES * PER_PAGE]++;
  ticks++;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval interval = {{0, 100}, {0, 100}}, none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &interval, NULL);
  long sum = 0;
  int null = open("/dev/null", O_WRONLY);
  for (int round = 0; round < 150; round++) {
    for (int i = 0; i < 1000; i++) {
      steps++;
      blocks[i] = realloc(blocks[i], (i * 37 + round * 113) % 9000 + 1);
      blocks[i][0] = 1;
      sum += write(null, text + i * 50, 1000);
    }
    for (int i = 0; i < 1000; i += 3) {
      free(blocks[i]);
      blocks[i] = NULL;
    }
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < PAGES; i++) {
      sum += written[i * PER_PAGE + 1];
      text[i * 300] = (char)round;
    }
  }
  setitimer(ITIMER_REAL, &none, NULL);
  long all = 0;
  for (int page = 0; page < PAGES; page++) all += written[page * PER_PAGE];
  printf("%ld %d %d\n", sum, all == ticks, ticks > 10);
  return 0;
}
