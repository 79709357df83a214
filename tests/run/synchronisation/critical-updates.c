// Critical sections that do nothing but update objects by operations that commute, and so take no lock: whole
// arrays, sums, minima and maxima in every form, narrow numbers, fields, orphans, and in nested regions.
// threads: any
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define BINS 3000
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static long table[BINS];
static double weights[BINS];
static int least = 1 << 30, most = -1;
static double low = 1e300, high = -1e300, first_is_nan, larger = -5, nearest = 1e300;
static float near_zero = 1000;
static unsigned bits, mask = ~0u, parity, wide = 3;
static short narrow = 100;
static unsigned char byte = 200;
static struct {
  double sum;
  double largest;
  int count;
} all = {0, -1, 0};

static void merge(int *bins, int count, const int *key, int n) {
#pragma omp parallel
  {
    int *local = calloc(count, sizeof *local);
#pragma omp for
    for (int i = 0; i < n; i++) local[key[i]]++;
#pragma omp critical
    for (int i = 0; i < count; i++) bins[i] += local[i];
    free(local);
  }
}

static void orphan(double x) {
#pragma omp critical(orphans)
  all.sum += x;
}

int main(void) {
  int n = 20000, *key = malloc(n * sizeof *key), *bins = calloc(BINS, sizeof *bins);
  long count = 0, twice = 0, crossed = 0;
  double captured = 0, best = -1;
  for (int i = 0; i < n; i++) key[i] = i * 7919L % BINS;
  first_is_nan = NAN;
  for (int round = 0; round < 3; round++) merge(bins, BINS, key, n);

#pragma omp parallel
  {
    long local[BINS];
    for (int b = 0; b < BINS; b++) local[b] = 0;
#pragma omp for schedule(static, 7)
    for (int i = 0; i < n; i++) local[key[i]] += i;
#pragma omp critical(table)
    for (int b = 0; b < BINS; b++) {
      table[b] = table[b] + local[b];
      if (local[b] > 0) weights[b] += local[b];
    }
#pragma omp barrier
    // What was collected is seen behind a barrier.
#pragma omp for reduction(+ : crossed)
    for (int b = 0; b < BINS; b++) crossed += table[b] * (b % 3);
  }

#pragma omp parallel for schedule(static, 3) reduction(+ : twice)
  for (int i = 0; i < 400; i++) {
    int value = (i * 73 + 11) % 401;
    double x = value * 0.25 - 50;
#pragma omp critical(extremes)
    {
      if (value < least) least = value;
      most = most < value ? value : most;
      if (x > high) high = x;
      if (low > x) low = x;
      larger = MAX(larger, x);
      nearest = fmin(nearest, fabs(x));
      if (x > first_is_nan) first_is_nan = x;
      near_zero = near_zero < (float)x ? near_zero : (float)x;
      best = MAX(x, best);
    }
#pragma omp critical(bits)
    {
      bits |= 1u << (value % 31);
      mask &= ~(1u << (i % 5));
      parity ^= value;
      wide = wide > 7u * value ? wide : 7u * value;
    }
#pragma omp critical(narrow)
    {
      narrow += 3;
      byte -= value;
      count++;
      captured -= x;
    }
#pragma omp critical(fields)
    {
      all.count++;
      if (all.largest < x) all.largest = x;
    }
    orphan(x);
    twice += value;
  }

  // A region within another takes the lock: of the sections of the other one it knows nothing.
  long outer = 0;
#pragma omp parallel for
  for (int i = 0; i < 12; i++) {
#pragma omp parallel num_threads(2)
    {
      int number = omp_get_thread_num() == 0 ? i * 3 : 0;
#pragma omp critical(nested)
      outer += number;
    }
  }

  long sum = 0;
  double weight = 0;
  for (int b = 0; b < BINS; b++) {
    sum += table[b] * (b + 1) + bins[b] * (b % 7);
    weight += weights[b] * (b % 11);
  }
  printf("%ld %.0f %ld %ld\n", sum, weight, crossed, twice);
  printf("%d %d %g %g %g %g %g %g %g\n", least, most, high, low, larger, nearest, first_is_nan,
         near_zero, best);
  printf("%x %x %x %u %d %d %ld %.2f\n", bits, mask, parity, wide, narrow, byte, count, captured);
  printf("%.2f %g %d %ld\n", all.sum, all.largest, all.count, outer);
  free(key);
  free(bins);
  return 0;
}
