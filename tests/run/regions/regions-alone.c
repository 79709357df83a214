// Short regions, which rank 0 may run by itself: their threads have the numbers and shares that they have on ranks, and
// memory goes from ranks to rank 0 and back. (That sums are rounded alike: tests/launch/regions-alone.c.)
#include <omp.h>
#include <stdio.h>

enum { LENGTH = 700, REGIONS = 400, MOST_THREADS = 64 };

static double a[LENGTH], b[LENGTH];
static int last, begins[MOST_THREADS], sizes[MOST_THREADS];

typedef struct {
  double sum;
  long count;
} Pair;

static void add(Pair *to, const Pair *from) {
  to->sum += from->sum;
  to->count += from->count;
}

#pragma omp declare reduction(pairs : Pair : add(&omp_out, &omp_in)) initializer(omp_priv = (Pair){0, 0})

// What each thread computes is read by others in the next region.
static void smooth(int length) {
#pragma omp parallel for
  for (int i = 1; i < length - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 1; i < length - 1; i++) a[i] = b[length - 1 - i];
  }
}

static double rounded(int length) {
  double sum = 0.1, largest = -1;
#pragma omp parallel for reduction(+ : sum) reduction(max : largest)
  for (int i = 0; i < length; i++) {
    sum += a[i] / 3;
    largest = a[i] > largest ? a[i] : largest;
  }
  return sum + largest;
}

static Pair counted(int length) {
  Pair all = {0.1, 7};
#pragma omp parallel for reduction(pairs : all)
  for (int i = 0; i < length; i++) {
    Pair one = {a[i] / 7, i};
    add(&all, &one);
  }
  return all;
}

// A reduction of large items, and a team of fewer threads.
static double columns(int threads) {
  double sums[LENGTH] = {0};
#pragma omp parallel for reduction(+ : sums) num_threads(threads)
  for (int i = 0; i < LENGTH; i++)
    for (int j = 0; j < 8; j++) sums[(i * 37 + j) % LENGTH] += a[i] / (j + 3);
  double all = 0;
  for (int i = 0; i < LENGTH; i++) all = all * 0.9 + sums[i];
  return all;
}

static void who(int length) {
#pragma omp parallel for lastprivate(last)
  for (int i = 0; i < length; i++) {
    if (i == 0 || omp_get_num_threads() == 1) begins[omp_get_thread_num()] = omp_get_level();
    sizes[omp_get_thread_num()] = omp_get_num_threads();
    last = i;
  }
}

int main(void) {
  for (int i = 0; i < LENGTH; i++) a[i] = (i * 7919 % 1000) / 7.0;
  for (int region = 0; region < REGIONS; region++) {
    int length = 3 + region * (LENGTH - 3) / REGIONS;
    smooth(length);
    double sum = rounded(length);
    Pair pair = counted(length);
    who(length);
    if (region % 40 == 0) {
      printf("%d: %.9g %.9g %ld %.9g, last %d\n", region, sum, pair.sum, pair.count, columns(1 + region / 40 % 2), last);
      for (int i = 0; i < omp_get_max_threads() && i < MOST_THREADS; i++) printf(" %d/%d", begins[i], sizes[i]);
      printf("\n");
    }
    // Serial code reads and writes what regions do.
    a[region % LENGTH] += sum / 1000;
  }
  return 0;
}
