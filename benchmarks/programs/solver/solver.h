// Conjugate gradients for the implicit step of diffusion in the plane: what the files of the program share.
#ifndef SOLVER_H
#define SOLVER_H

enum timer { TOTAL, PRODUCT, SUMS, TIMERS };

// timers.c. Nothing but the thread that starts and stops them may read them meanwhile.
void timer_start(enum timer timer);
void timer_stop(enum timer timer);
double timer_read(enum timer timer);

// errors.c. Ends the program.
void bail_out(const char *where, int step, double value);

// The source of heat at a point, and how much it conducts there.
static inline double source_at(int n, int i, int j) {
  return (i * 3 + j * 5) % 17 / 17.0 - (i > n / 3 && j < n / 2 ? 0.25 : 0);
}

static inline double conductivity_at(int i, int j) { return 0.5 + (i * 7 + j * 11) % 13 / 26.0; }

#endif
