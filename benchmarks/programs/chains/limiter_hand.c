// The limiter in the best ways known by hand.
#include "limiter.h"

static inline void slopes_of(const double *restrict cell, double *restrict slope, long step, int count) {
  for (int i = 0; i < count; i++)
    slope[i] = limited_slope(cell[i - step], cell[i], cell[i + step]);
}

static inline void faces_of(const double *restrict cell, const double *restrict slope, double *restrict face, long step, int count) {
  for (int i = 0; i < count; i++)
    face[i] = limited_face(cell + i, slope + i, step);
}

// The series of loops, each component by itself: one square of slopes, and one of what is limited along rows, are kept.
static void series_box(const double *in, double *out, double *memory, int n) {
  long line = cells_of_row(n), square = cells_of_component(n);
  for (int c = 0; c < COMPONENTS; c++) {
    double *slopes = memory - CELL(c, 0, 0) + CELL(0, 0, 0), *along_rows = slopes + square;
    for (int j = -BESIDE; j < n + BESIDE; j++)
      slopes_of(in + CELL(c, j, -BESIDE), slopes + CELL(c, j, -BESIDE), 1, n + 2 * BESIDE);
    for (int j = -BESIDE; j < n + BESIDE; j++)
      faces_of(in + CELL(c, j, 0), slopes + CELL(c, j, 0), along_rows + CELL(c, j, 0), 1, n);
    for (int j = -BESIDE; j < n + BESIDE; j++)
      slopes_of(in + CELL(c, j, 0), slopes + CELL(c, j, 0), line, n);
    for (int j = 0; j < n; j++)
      faces_of(along_rows + CELL(c, j, 0), slopes + CELL(c, j, 0), out + CELL(c, j, 0), line, n);
  }
}

// Loops fused in pairs, row by row: a row of slopes along rows is kept, and two squares of each component.
static void pairs_box(const double *in, double *out, double *memory, int n) {
  long line = cells_of_row(n), square = cells_of_component(n);
  double *row = memory + 2 * square + BESIDE;
  for (int c = 0; c < COMPONENTS; c++) {
    double *slopes = memory - CELL(c, 0, 0) + CELL(0, 0, 0), *along_rows = slopes + square;
    for (int j = -BESIDE; j < n + BESIDE; j++) {
      slopes_of(in + CELL(c, j, -BESIDE), row - BESIDE, 1, n + 2 * BESIDE);
      faces_of(in + CELL(c, j, 0), row, along_rows + CELL(c, j, 0), 1, n);
      slopes_of(in + CELL(c, j, 0), slopes + CELL(c, j, 0), line, n);
    }
    for (int j = 0; j < n; j++)
      faces_of(along_rows + CELL(c, j, 0), slopes + CELL(c, j, 0), out + CELL(c, j, 0), line, n);
  }
}

// A row of five that follow each other.
enum { KEPT = 2 * BESIDE + 1 };

// From rows that are not beside each other.
static inline void faces_between(double *const cell[KEPT], double *const slope[KEPT], double *restrict face, int count) {
  const double *c0 = cell[0], *c1 = cell[1], *c2 = cell[2], *c3 = cell[3], *c4 = cell[4];
  const double *s0 = slope[0], *s1 = slope[1], *s2 = slope[2], *s3 = slope[3], *s4 = slope[4];
  for (int i = 0; i < count; i++) {
    double cells[KEPT] = {c0[i], c1[i], c2[i], c3[i], c4[i]}, slopes[KEPT] = {s0[i], s1[i], s2[i], s3[i], s4[i]};
    face[i] = limited_face(cells + BESIDE, slopes + BESIDE, 1);
  }
}

// All loops fused, row by row: of slopes along rows a row is kept, of slopes along columns, and of what is limited along rows, five.
static void rows_box(const double *in, double *out, double *memory, int n) {
  long line = cells_of_row(n);
  double *row = memory + BESIDE;
  double *along[KEPT], *slopes[KEPT];
  for (int at = 0; at < KEPT; at++) {
    along[at] = memory + (1 + at) * line;
    slopes[at] = memory + (1 + KEPT + at) * line;
  }
  for (int c = 0; c < COMPONENTS; c++)
    for (int j = -BESIDE; j < n + BESIDE; j++) {
      slopes_of(in + CELL(c, j, -BESIDE), row - BESIDE, 1, n + 2 * BESIDE);
      double *first = along[0], *first_slopes = slopes[0];
      for (int at = 1; at < KEPT; at++) {
        along[at - 1] = along[at];
        slopes[at - 1] = slopes[at];
      }
      along[KEPT - 1] = first;
      slopes[KEPT - 1] = first_slopes;
      faces_of(in + CELL(c, j, 0), row, first, 1, n);
      slopes_of(in + CELL(c, j, 0), first_slopes, line, n);
      if (j >= BESIDE)
        faces_between(along, slopes, out + CELL(c, j - BESIDE, 0), n);
    }
}

#define HAND(NAME, BOX, ELEMENTS)                                                                \
  static void BOX##_all(void) {                                                                  \
    long all = cells_of_box(size), line = cells_of_row(size), square = cells_of_component(size); \
    (void)line, (void)square;                                                                    \
    size_t bytes = (size_t)(ELEMENTS) * sizeof(double);                                          \
    _Pragma("omp parallel for") for (int b = 0; b < boxes; b++)                                  \
        BOX(cells + b * all, limited + b * all, temporaries(bytes), size);                       \
  }                                                                                              \
  WAY(NAME, BOX##_all)

HAND("series-contracted", series_box, 2 * square)
HAND("pairs-fused", pairs_box, 2 * square + line)
HAND("rows-fused", rows_box, (1 + 2 * KEPT) * line)
