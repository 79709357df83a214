// One region spans a time loop: its loops declare what they access, between them run functions of another file, of which
// nothing is known here. What passes between the two is right, in every direction, whatever these functions do.
// opt: -O0 -O2
#include "other.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 400, STEPS = 12 };

double *a, *b;
long histogram[BINS];
double weights[N * N];
int order[N * N];

static void rows(void) {
#pragma omp for
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      b[i * N + j] = 0.25 * (a[(i - 1) * N + j] + a[(i + 1) * N + j] + a[i * N + j - 1] + a[i * N + j + 1]);
}

static void columns(double factor) {
#pragma omp for
  for (int j = 1; j < N - 1; j++)
    for (int i = 1; i < N - 1; i++)
      a[i * N + j] = factor * (b[i * N + j] + weights[i * N + j]);
}

int main(void) {
  a = malloc(N * N * sizeof *a), b = malloc(N * N * sizeof *b);
  for (int i = 0; i < N * N; i++) {
    a[i] = i % 17;
    b[i] = i % 3;
    weights[i] = i % 5;
    order[i] = (int)(i * 7919L % (N * N));
  }
  double norms = 0;
  void (*called)(double *, int) = turn(0);
#pragma omp parallel
  for (int t = 0; t < STEPS; t++) {
    // For one thread, beside another's loop that declares what it accesses.
#pragma omp master
    timer_start(1);
#pragma omp for nowait
    for (int i = 0; i < N; i++)
      weights[i] = i + t;
#pragma omp master
    note_step(t);
#pragma omp for
    for (int i = N; i < 2 * N; i++)
      weights[i] = i - t;
    rows();
#pragma omp master
    timer_stop(1);
    columns(0.5);
    // It reads what loops wrote, and writes what they read next.
#pragma omp single
    {
      norms += norm_of(a, N * N);
      scale_corner(b, N, t);
    }
    // A loop that nothing is known of, over what others declare.
#pragma omp for
    for (int i = 0; i < N; i++)
      change_row(a + i * N, N, t);
#pragma omp for
    for (int i = 1; i < N - 1; i++)
      for (int j = 0; j < N; j++)
        b[i * N + j] += a[(N - 1 - i) * N + j];
    // Locks and atomic accesses, to what is declared elsewhere.
    count_some(a, N, t, histogram);
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < BINS; i++)
      histogram[i] += i;
    // It shares a loop, and synchronises.
    share_work(a, b, N);
#pragma omp single
    tasks_of(a, N);
    // Through a pointer.
#pragma omp single
    called(b, N);
#pragma omp for
    for (int i = 0; i < N * N; i++)
      b[order[i]] = b[order[i]] * 0.5 + 1;
    if (t == 5)
      complain(t);
  }
  double sum = 0;
  for (int i = 0; i < N * N; i++)
    sum = sum * 0.99999 + a[i] - b[i] * (i % 3) + weights[i];
  long counted = 0;
  for (int i = 0; i < BINS; i++)
    counted = counted * 3 + histogram[i];
  printf("%.12g %.12g %ld %d %d\n", sum, norms, counted, timers(), steps());
  free(a), free(b);
}
