// ranks: 1 2 3 4
// opt: -O2
// flags: -lm
// compare: exact
//
// Embarrassingly parallel Gaussian pairs: kernel EP of the NAS parallel
// benchmarks, class S (2^24 pairs), written from its published description.
// Batch sums are added in batch order, so the printed digits do not depend on
// the number of threads; the reductions are checked, not printed.
#include "lcg46.h"

#include <math.h>
#include <stdio.h>

enum { LOG2_PAIRS = 24, LOG2_BATCH = 16, ANNULI = 10 };
enum { BATCH = 1 << LOG2_BATCH, BATCHES = 1 << (LOG2_PAIRS - LOG2_BATCH) };

static const double published_x = -3.247834652034740e3;
static const double published_y = -6.958407078382297e3;

static double batch_x[BATCHES], batch_y[BATCHES];
static double uniform[2 * BATCH];
#pragma omp threadprivate(uniform)

static int agrees(double got, double expected) {
  return fabs((got - expected) / expected) <= 1e-8;
}

int main(void) {
  long annulus[ANNULI] = {0};
  double reduced_x = 0, reduced_y = 0;

#pragma omp parallel for schedule(static) reduction(+ : reduced_x, reduced_y, annulus[:ANNULI])
  for (int batch = 0; batch < BATCHES; batch++) {
    uint64_t seed = lcg_jump(271828183, 2 * (uint64_t)BATCH * batch);
    for (int i = 0; i < 2 * BATCH; i++)
      uniform[i] = 2 * lcg_next(&seed) - 1;

    double sum_x = 0, sum_y = 0;
    for (int i = 0; i < BATCH; i++) {
      double x = uniform[2 * i], y = uniform[2 * i + 1];
      double t = x * x + y * y;
      if (t > 1)
        continue;
      double scale = sqrt(-2 * log(t) / t);
      x *= scale;
      y *= scale;
      annulus[(int)fmax(fabs(x), fabs(y))]++;
      sum_x += x;
      sum_y += y;
    }
    batch_x[batch] = sum_x;
    batch_y[batch] = sum_y;
    reduced_x += sum_x;
    reduced_y += sum_y;
  }

  double sum_x = 0, sum_y = 0;
  for (int batch = 0; batch < BATCHES; batch++) {
    sum_x += batch_x[batch];
    sum_y += batch_y[batch];
  }
  long accepted = 0;
  for (int i = 0; i < ANNULI; i++) {
    printf("annulus %d: %ld\n", i, annulus[i]);
    accepted += annulus[i];
  }
  printf("EP class S: %ld pairs, sums %.15e %.15e\n", accepted, sum_x, sum_y);

  int right = accepted == 13176389 && agrees(sum_x, published_x) && agrees(sum_y, published_y) &&
              agrees(reduced_x, published_x) && agrees(reduced_y, published_y);
  printf("verification %s\n", right ? "successful" : "failed");
  return !right;
}
