#include "smooth.h"

static int threads[4], last;

// The region has an atomic access where only it knows: nothing is declared in it, nor in this file's copy of what it calls.
double other(double *to, const double *from, int n) {
#pragma omp parallel
  {
    smooth(to, from, n);
    int before;
#pragma omp atomic capture
    before = threads[n % 4]++;
    if (before > 100)
      last = before;
  }
  return to[n / 3] + last;
}
