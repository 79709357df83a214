// The loops as they are written, in functions that are called for each box. NAME distinguishes compilations.
#include "limiter.h"
// Without pragmas.
#define NEST(...)
#include "limiter_loops.h"

#ifndef NAME
#define NAME ""
#endif

static void row_slopes(const double *restrict in, double *restrict out, int n) { ROW_SLOPES(in, out) }
static void rows(const double *restrict in, const double *restrict slopes, double *restrict out, int n) { ROWS(in, slopes, out) }
static void column_slopes(const double *restrict in, double *restrict out, int n) { COLUMN_SLOPES(in, out) }
static void columns(const double *restrict in, const double *restrict slopes, double *restrict out, int n) {
  COLUMNS(in, slopes, out)
}

// One array for slopes along rows and along columns.
static void shared(void) {
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    int n = size;
    long all = cells_of_box(n);
    double *slopes = temporaries(2 * (size_t)all * sizeof *slopes), *along_rows = slopes + all;
    row_slopes(cells + b * all, slopes, n);
    rows(cells + b * all, slopes, along_rows, n);
    column_slopes(cells + b * all, slopes, n);
    columns(along_rows, slopes, limited + b * all, n);
  }
}

static void three(void) {
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    int n = size;
    long all = cells_of_box(n);
    double *x_slopes = temporaries(3 * (size_t)all * sizeof *x_slopes), *along_rows = x_slopes + all, *y_slopes = x_slopes + 2 * all;
    row_slopes(cells + b * all, x_slopes, n);
    rows(cells + b * all, x_slopes, along_rows, n);
    column_slopes(cells + b * all, y_slopes, n);
    columns(along_rows, y_slopes, limited + b * all, n);
  }
}

WAY("plain" NAME, shared)
WAY("plain-three" NAME, three)
