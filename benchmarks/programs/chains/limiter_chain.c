// The loops as a chain: NAME is what the way is called, ITEMS its schedule. With CALLS they are in functions that the chain calls.
#include "limiter.h"
#include "limiter_loops.h"

#define CHAIN(ITEMS) CHAIN_OF(ITEMS)
#define CHAIN_OF(...) AS_PRAGMA(omplc loopchain schedule(__VA_ARGS__) local(x_slopes, along_rows, y_slopes))

#ifdef CALLS
static void row_slopes(const double *restrict in, double *restrict out, int n) { ROW_SLOPES(in, out) }
static void rows(const double *restrict in, const double *restrict slopes, double *restrict out, int n) { ROWS(in, slopes, out) }
static void column_slopes(const double *restrict in, double *restrict out, int n) { COLUMN_SLOPES(in, out) }
static void columns(const double *restrict in, const double *restrict slopes, double *restrict out, int n) {
  COLUMNS(in, slopes, out)
}
#endif

static void chain_box(const double *restrict in, double *restrict out, double *restrict x_slopes, double *restrict along_rows,
                      double *restrict y_slopes, int n) {
  CHAIN(ITEMS) {
#ifdef CALLS
    row_slopes(in, x_slopes, n);
    rows(in, x_slopes, along_rows, n);
    column_slopes(in, y_slopes, n);
    columns(along_rows, y_slopes, out, n);
#else
    ROW_SLOPES(in, x_slopes)
    ROWS(in, x_slopes, along_rows)
    COLUMN_SLOPES(in, y_slopes)
    COLUMNS(along_rows, y_slopes, out)
#endif
  }
}

static void chain(void) {
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    long all = cells_of_box(size);
    double *x_slopes = temporaries(3 * (size_t)all * sizeof *x_slopes);
    chain_box(cells + b * all, limited + b * all, x_slopes, x_slopes + all, x_slopes + 2 * all, size);
  }
}

WAY(NAME, chain)
