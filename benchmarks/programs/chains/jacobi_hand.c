// The pairs of sweeps in the best ways known by hand.
#include "jacobi.h"

#include <omp.h>
#include <string.h>

static inline void sweep_row(double *restrict to, const double *restrict above, const double *restrict here,
                             const double *restrict below, int n) {
  for (int j = 1; j <= n; j++)
    to[j] = (above[j] + here[j] + below[j] + here[j - 1] + here[j + 1]) * 0.2;
}

// Rows fused, the second sweep one row behind, on one thread.
static void fused_serial(void) {
  double *a = plane_a, *b = plane_b;
  int n = size;
  long width = n + 2;
  for (int pair = 0; pair < pairs; pair++)
    for (int i = 1; i <= n + 1; i++) {
      if (i <= n)
        sweep_row(&A(i, 0), &B(i - 1, 0), &B(i, 0), &B(i + 1, 0), n);
      if (i > 1)
        sweep_row(&B(i - 1, 0), &A(i - 2, 0), &A(i - 1, 0), &A(i, 0), n);
    }
}

// A row of `a`: one of three that follow each other, or one of its border.
static inline double *row_of_a(double *rows, int i) {
  long width = size + 2;
  return i == 0 || i == size + 1 ? plane_a + i * width : rows + (i % 3) * width;
}

// Rows of `b` from before another block overwrites them, or its own.
static inline const double *row_of_b(const double *halo, int i, int first, int last) {
  long width = size + 2;
  if (i < first)
    return i < 1 ? plane_b + i * width : halo + (i - (first - 2)) * width;
  if (i > last)
    return i > size ? plane_b + i * width : halo + (2 + i - (last + 1)) * width;
  return plane_b + i * width;
}

// Rows from `first` to `last` of `b`, with three rows of `a`; `halo` has the two rows of `b` before them and the two behind.
static void block(double *rows, const double *halo, int first, int last) {
  int n = size;
  long width = n + 2;
  double *b = plane_b;
  for (int i = first - 1; i <= last + 1; i++) {
    if (i >= 1 && i <= n) {
      double *a = row_of_a(rows, i);
      sweep_row(a, row_of_b(halo, i - 1, first, last), row_of_b(halo, i, first, last), row_of_b(halo, i + 1, first, last), n);
      a[0] = plane_a[i * width];
      a[n + 1] = plane_a[i * width + n + 1];
    }
    if (i > first)
      sweep_row(&B(i - 1, 0), row_of_a(rows, i - 2), row_of_a(rows, i - 1), row_of_a(rows, i), n);
  }
}

static void save(double *halo, int first, int last) {
  size_t width = size + 2ul;
  for (int row = 0; row < 4; row++) {
    long i = row < 2 ? first - 2 + row : last - 1 + row;
    if (i >= 0 && i <= size + 1)
      memcpy(halo + (size_t)row * width, plane_b + (size_t)i * width, width * sizeof *halo);
  }
}

// Blocks of rows in parallel, which compute the rows of `a` between them twice: each saves the rows of `b` beside it, and begins
// when all have.
static void blocks(int count) {
  size_t width = size + 2ul, own = 4 * width;
  size_t threads = (size_t)omp_get_max_threads();
  double *memory = temporaries((threads * 3 * width + (size_t)count * own) * sizeof *memory), *halos = memory + threads * 3 * width;
  for (int pair = 0; pair < pairs; pair++)
#pragma omp parallel
  {
    double *rows = memory + (size_t)omp_get_thread_num() * 3 * width;
#pragma omp for schedule(static)
    for (int at = 0; at < count; at++)
      save(halos + (size_t)at * own, (int)((long)size * at / count) + 1, (int)((long)size * (at + 1) / count));
#pragma omp for schedule(static)
    for (int at = 0; at < count; at++)
      block(rows, halos + (size_t)at * own, (int)((long)size * at / count) + 1, (int)((long)size * (at + 1) / count));
  }
}

static void one_each(void) { blocks(omp_get_max_threads() < size ? omp_get_max_threads() : size); }

// The same in blocks of 64 rows.
static void of_64(void) { blocks((size + 63) / 64); }

WAY("rows-fused-serial", fused_serial)
WAY("block-per-thread", one_each)
WAY("blocks-of-64", of_64)
