// Critical sections stand in regions whose loops declare what they access: what a thread did before it left one is seen by
// those that enter it later, in it and in loops behind it.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 5000, rounds = 9 };

static double a[n], b[n], largest;
static long where, taken, list[64];
static int count;

struct node {
  double value;
  struct node *next;
};
static struct node *first;

__attribute__((noinline)) static void note(double value) {
  struct node *one = malloc(sizeof *one);
  one->value = value;
  one->next = first;
  first = one;
}

__attribute__((noinline)) static double sum_of(const double *of, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += of[i];
  return sum;
}

int main(void) {
  double *parts = calloc(64, n * sizeof *parts);
  int *published = calloc(64, sizeof *published);
  double total = 0, seen = 0;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    for (int t = 0; t < rounds; t++) {
#pragma omp for
      for (int i = 0; i < n; i++) a[i] = (i * 37 + t * 11) % 1009;
      double mine = -1;
      long at = -1;
#pragma omp for nowait
      for (int i = 0; i < n; i++) {
        b[i] = a[i] + (i ? a[i - 1] : 0);
        if (b[i] > mine) mine = b[i], at = i;
      }
      // The largest one and the first place of it.
#pragma omp critical
      {
        if (mine > largest || (mine == largest && at < where)) {
          largest = mine;
          where = at;
          for (int i = 0; i < 8; i++) taken += i;
        } else if (at < 0) {
          taken = -1000;
        }
      }
#pragma omp critical(nodes)
      {
        note(mine);
#pragma omp critical(counts)
        list[count++ % 64] += 1;
      }
      // Each thread fills a part of its own, and says so; another one, which finds that out under the lock, reads it in a
      // loop without any barrier.
      double *own = parts + (long)me * n;
      for (int i = 0; i < n; i++) own[i] = me + t + i % 7;
#pragma omp critical(published)
      published[me] = t + 1;
      int next = (me + 1) % team, ready = 0;
      while (!ready) {
#pragma omp critical(published)
        ready = published[next] > t;
      }
      double *other = parts + (long)next * n;
      double sum = 0;
      for (int i = 0; i < n; i++) sum += other[i];
      double expected = (double)n * (next + t);
      for (int i = 0; i < n; i++) expected += i % 7;
      if (sum != expected) printf("%d got %g and not %g\n", t, sum, expected);
#pragma omp critical
      seen += sum == expected ? 0 : 1;
#pragma omp barrier
#pragma omp single
      total += sum_of(b, n);
    }
  }
  long length = 0;
  for (struct node *one = first; one; one = one->next) length += one->value >= 0;
  long listed = 0;
  for (int i = 0; i < 64; i++) listed += list[i];
  int team = omp_get_max_threads();
  printf("%.12g %ld %g %g %d %d\n", largest, where, total, seen, length == (long)rounds * team, listed == (long)rounds * team);
  return taken < 0;
}
