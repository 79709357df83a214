#include "solver.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static double started[TIMERS], elapsed[TIMERS];
static int calls[TIMERS];

static double wtime(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return now.tv_sec + 1e-6 * now.tv_usec;
}

void timer_start(int number) { started[number] = wtime(); }

void timer_stop(int number) {
  elapsed[number] += wtime() - started[number];
  calls[number]++;
}

int timers_ran(void) { return calls[1] * 100 + calls[2] + (elapsed[1] < 0); }

// As NPB has it.
double randlc(double *seed, double factor) {
  const double r23 = 0x1p-23, r46 = r23 * r23, t23 = 0x1p23, t46 = t23 * t23;
  double t1 = r23 * factor, a1 = (int)t1, a2 = factor - t23 * a1;
  t1 = r23 * *seed;
  double x1 = (int)t1, x2 = *seed - t23 * x1;
  t1 = a1 * x2 + a2 * x1;
  double t2 = (int)(r23 * t1), z = t1 - t23 * t2, t3 = t23 * z + a2 * x2, t4 = (int)(r46 * t3);
  *seed = t3 - t46 * t4;
  return r46 * *seed;
}

double limiter(double slope) { return slope / (1 + fabs(slope)) + 1e-3 * sin(slope); }

void cross(double out[3], const double a[3], const double b[3]) {
  double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x, out[1] = y, out[2] = z;
}

void note(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vfprintf(stderr, format, rest);
  va_end(rest);
}

void bail_out(const char *where, double value, int step) {
  note("%s: %g in step %d\n", where, value, step);
  exit(3);
}
