#include "functions.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

double log_of[N], weights[SMALL];
static double large[N], small[SMALL] = {1, 2, 3};
static const double constants[4] = {0.5, 0.25, 0.125, 1};
static double *remembered;
static unsigned state = 12345;
static int calls;
static double collected;
static double privately;
#pragma omp threadprivate(privately)

double curve(double x) { return sin(x) * exp(-fabs(x) * 0.001) + constants[(int)x & 3]; }

__attribute__((noinline)) double fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

double even(int n) { return n == 0 ? 1 : odd(n - 1); }

double table_at(int i) { return small[i % SMALL]; }

double large_at(int i) { return large[i]; }

void scale(double *value) { *value = *value * 0.75 + 0.125; }

void turn(double out[3], const double in[3]) {
  double first = in[0];
  out[0] = in[1] * 0.5, out[1] = in[2], out[2] = first;
}

void change_large(int i, double by) {
  large[i] += by;
  log_of[i] = large[i] * 0.5;
}

void change_weights(int i, double by) { weights[i] += by; }

double sum_list(struct node *list) {
  double sum = 0;
  for (; list; list = list->next)
    for (int i = 0; i < N; i++)
      sum += list->values[i];
  return sum;
}

void remember(double *values) { remembered = values; }

void through_remembered(int i) { remembered[i] = remembered[i] * 0.5 + i; }

double apply(double (*function)(double), double x) { return function(x); }

static double half(double x) { return x * 0.5; }

static double logged(double x) {
#pragma omp atomic
  collected += 0;
  return x * 0.25;
}

double (*choose(int which))(double) { return which ? half : logged; }

void poke(long address, double value) { *(double *)address = value; }

void store_all(int count, ...) {
  va_list rest;
  va_start(rest, count);
  for (int i = 0; i < count; i++)
    *va_arg(rest, double *) += 2;
  va_end(rest);
}

void put(struct view view, int i, double value) {
  if (i < view.count)
    view.values[i] += value;
}

double next_random(void) {
  calls++;
  state = state * 1103515245u + 12345u;
  return state % 1000;
}

int call_count(void) { return calls; }

// There is another one.
__attribute__((weak)) double shape(double x, int i) { return x * 0.5 + i * 0; }

void add_critical(int i) {
#pragma omp critical(adds)
  log_of[i % 7] += 1;
}

void add_atomic(int i) {
#pragma omp atomic
  log_of[i % 11] += 2;
}

void meet(void) {
#pragma omp barrier
}

double *made(int count) {
  static double *last;
  free(last);
  return last = calloc(count, sizeof *last);
}

double private_sum(double more) { return privately += more; }

__attribute__((noinline)) void deep(int depth, int i) {
  if (depth > 0)
    deep(depth - 1, i);
  else
    log_of[i] += 0.5;
}

void fill(double *values, int count, double with) {
#pragma omp for
  for (int i = 0; i < count; i++)
    values[i] = with + curve(i);
}
