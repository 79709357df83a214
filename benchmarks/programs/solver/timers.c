// Timers of the phases of a program.
#include <time.h>

#include "solver.h"

static double started[TIMERS], elapsed[TIMERS];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void timer_start(enum timer timer) { started[timer] = now(); }

void timer_stop(enum timer timer) { elapsed[timer] += now() - started[timer]; }

double timer_read(enum timer timer) { return elapsed[timer]; }
