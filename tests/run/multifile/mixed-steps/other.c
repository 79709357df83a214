#include "other.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double elapsed[8];
static int counted[8];
static struct timespec started[8];
static int *noted, noted_steps;

void timer_start(int number) { clock_gettime(CLOCK_MONOTONIC, &started[number]); }

void timer_stop(int number) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  elapsed[number] += now.tv_sec - started[number].tv_sec + 1e-9 * (now.tv_nsec - started[number].tv_nsec);
  counted[number]++;
}

int timers(void) { return counted[1] + (elapsed[1] >= 0); }

void note_step(int step) {
  noted = realloc(noted, (noted_steps + 1) * sizeof *noted);
  noted[noted_steps++] = step;
}

int steps(void) {
  int sum = 0;
  for (int i = 0; i < noted_steps; i++)
    sum += noted[i];
  return sum;
}

double norm_of(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += x[i] * x[i];
  return sum;
}

void scale_corner(double *x, int n, int step) {
  for (int i = 0; i < n / 4; i++)
    for (int j = 0; j < 5; j++)
      x[i * n + j] = x[i * n + j] * 0.5 + step;
}

void change_row(double *row, int n, int step) {
  for (int i = step % 3; i < n; i += 3)
    row[i] = row[i] * 0.9 + i % 11;
}

// Several threads add to the same bins, and each takes a number for what it has found.
void count_some(const double *x, int n, int step, long *histogram) {
  int me = omp_get_thread_num();
  if (step % 2 == 0) {
#pragma omp critical(bins)
    for (int i = 0; i < 50; i++)
      histogram[(i * 37 + step) % BINS] += 1 + (x[i * n + i] > 1e30);
  } else {
    long old;
    for (int i = 0; i < 20; i++) {
#pragma omp atomic capture
      {
        old = histogram[(i + 5 * step) % BINS];
        histogram[(i + 5 * step) % BINS] += 3;
      }
      if (old < -1000000)
        printf("thread %d: %ld\n", me, old);
    }
  }
  // So that the result does not depend on the number of threads.
#pragma omp barrier
#pragma omp master
  {
    int others = omp_get_num_threads() - 1;
    if (step % 2 == 0)
      for (int i = 0; i < 50; i++)
        histogram[(i * 37 + step) % BINS] -= others;
    else
      for (int i = 0; i < 20; i++)
        histogram[(i + 5 * step) % BINS] -= 3 * others;
  }
}

void share_work(double *x, double *y, int n) {
#pragma omp for nowait
  for (int i = 0; i < n; i++)
    x[i * n] += y[i * n + 1];
#pragma omp barrier
#pragma omp for
  for (int i = 0; i < n; i++)
    y[i * n + 1] = x[(n - 1 - i) * n];
}

void tasks_of(double *x, int n) {
  for (int i = 0; i < 8; i++)
#pragma omp task firstprivate(i)
    x[i * n + 3] = i;
#pragma omp taskwait
  x[3] += x[n + 3];
}

static void add(double *x, int n) {
  for (int i = 0; i < n; i++)
    x[i * n + i] += 2;
}

void (*turn(int which))(double *, int) { return which == 0 ? add : NULL; }

void complain(int step) {
#pragma omp master
  printf("step %d\n", step);
}
