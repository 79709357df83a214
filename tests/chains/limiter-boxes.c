// schedules: 0 1 2 3 4 5 6 7 8 9
// refused: 90 91 92
//
// A limiter for interpolation by parabolas, each component by itself, on boxes whose size is known when the program runs: a
// function has the chain, and threads call it for a box each. Slopes along rows, faces along rows in two more rows at each side,
// slopes along columns, and faces along columns of what rows gave; all of it but the last is temporary.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
// Faces of rows a row behind their slopes, faces of columns two rows behind those.
#define ITEMS fuse((0, 0, 0), (0, 1, 0), (0, 0, 0), (0, 3, 0))
#elif SCHEDULE == 4
#define ITEMS fuse(), tile((1, 4, 8), serial, serial)
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((1, rows, 2 * rows), serial, serial)
#elif SCHEDULE == 6
#define ITEMS parallel
#elif SCHEDULE == 7
#define ITEMS fuse(), tile((1, 5), parallel, serial, overlap)
#elif SCHEDULE == 8
// Components do not depend on each other.
#define ITEMS fuse(), parallel
#elif SCHEDULE == 9
#define ITEMS fuse(), tile((1, 4, 8), parallel, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0))
#elif SCHEDULE == 91
// A row of slopes is not there yet where its end is read.
#define ITEMS fuse((0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 3, 0))
#elif SCHEDULE == 92
// Nor is the row that is read two rows further on.
#define ITEMS fuse((0, 0, 0), (0, 1, 0), (0, 0, 0), (0, 2, 0))
#endif

enum { COMPONENTS = 3, GHOSTS = 4 };

#define CELL(c, j, i) (((c) * (n + 2L * GHOSTS) + (j) + GHOSTS) * (n + 2L * GHOSTS) + (i) + GHOSTS)

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a < b ? b : a; }
static double magnitude(double a) { return a < 0 ? -a : a; }

static double slope_of(double before, double here, double behind) {
  double left = here - before, right = behind - here, middle = 0.5 * (behind - before);
  double most = 2 * smaller(magnitude(left), magnitude(right)), slope = smaller(most, magnitude(middle));
  return left * right <= 0 ? 0 : middle < 0 ? -slope : slope;
}

// From five cells, and the slopes of four of them.
static double face_of(double c0, double c1, double c2, double c3, double c4, double s0, double s2, double s3, double s4) {
  double value = 0.5 * (c2 + c3) - (s3 - s2) / 6;
  double bend = (c4 - 4 * c3 + 6 * c2 - 4 * c1 + c0) / 64;
  value -= bend + (s4 - s0) / 96;
  return smaller(larger(value, smaller(smaller(c1, c2), c3)), larger(larger(c1, c2), c3));
}

#define FACE(IN, SLOPES, DJ, DI)                                                                                             \
  face_of(IN[CELL(c, j - 2 * (DJ), i - 2 * (DI))], IN[CELL(c, j - (DJ), i - (DI))], IN[CELL(c, j, i)],                       \
          IN[CELL(c, j + (DJ), i + (DI))], IN[CELL(c, j + 2 * (DJ), i + 2 * (DI))],                                          \
          SLOPES[CELL(c, j - 2 * (DJ), i - 2 * (DI))], SLOPES[CELL(c, j, i)], SLOPES[CELL(c, j + (DJ), i + (DI))],           \
          SLOPES[CELL(c, j + 2 * (DJ), i + 2 * (DI))])

static void limit(const double *restrict u, double *restrict out, double *restrict x_slopes, double *restrict along,
                  double *restrict y_slopes, int n, int rows) {
  (void)rows;
  PRAGMA(omplc loopchain schedule(ITEMS) local(x_slopes, along, y_slopes))
  {
    PRAGMA(omplc for domain(0 : COMPONENTS - 1, -2 : n + 1, -2 : n + 1) with(c, j, i) read u{(c, j, i - 1), (c, j, i), (c, j, i + 1)}, write x_slopes{(c, j, i)})
    for (int c = 0; c < COMPONENTS; c++)
      for (int j = -2; j < n + 2; j++)
        for (int i = -2; i < n + 2; i++)
          x_slopes[CELL(c, j, i)] = slope_of(u[CELL(c, j, i - 1)], u[CELL(c, j, i)], u[CELL(c, j, i + 1)]);
    PRAGMA(omplc for domain(0 : COMPONENTS - 1, -2 : n + 1, 0 : n - 1) with(c, j, i) read u{(c, j, i - 2), (c, j, i - 1), (c, j, i), (c, j, i + 1), (c, j, i + 2)}, read x_slopes{(c, j, i - 2), (c, j, i), (c, j, i + 1), (c, j, i + 2)}, write along{(c, j, i)})
    for (int c = 0; c < COMPONENTS; c++)
      for (int j = -2; j < n + 2; j++)
        for (int i = 0; i < n; i++)
          along[CELL(c, j, i)] = FACE(u, x_slopes, 0, 1);
    PRAGMA(omplc for domain(0 : COMPONENTS - 1, -2 : n + 1, 0 : n - 1) with(c, j, i) read u{(c, j - 1, i), (c, j, i), (c, j + 1, i)}, write y_slopes{(c, j, i)})
    for (int c = 0; c < COMPONENTS; c++)
      for (int j = -2; j < n + 2; j++)
        for (int i = 0; i < n; i++)
          y_slopes[CELL(c, j, i)] = slope_of(u[CELL(c, j - 1, i)], u[CELL(c, j, i)], u[CELL(c, j + 1, i)]);
    PRAGMA(omplc for domain(0 : COMPONENTS - 1, 0 : n - 1, 0 : n - 1) with(c, j, i) read along{(c, j - 2, i), (c, j - 1, i), (c, j, i), (c, j + 1, i), (c, j + 2, i)}, read y_slopes{(c, j - 2, i), (c, j, i), (c, j + 1, i), (c, j + 2, i)}, write out{(c, j, i)})
    for (int c = 0; c < COMPONENTS; c++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
          out[CELL(c, j, i)] = FACE(along, y_slopes, 1, 0);
  }
}

// What is limited along rows at a cell, and along columns, without arrays.
static double x_slope(const double *u, int n, int c, int j, int i) {
  return slope_of(u[CELL(c, j, i - 1)], u[CELL(c, j, i)], u[CELL(c, j, i + 1)]);
}
static double y_slope(const double *u, int n, int c, int j, int i) {
  return slope_of(u[CELL(c, j - 1, i)], u[CELL(c, j, i)], u[CELL(c, j + 1, i)]);
}
static double row_at(const double *u, int n, int c, int j, int i) {
  return face_of(u[CELL(c, j, i - 2)], u[CELL(c, j, i - 1)], u[CELL(c, j, i)], u[CELL(c, j, i + 1)], u[CELL(c, j, i + 2)],
                 x_slope(u, n, c, j, i - 2), x_slope(u, n, c, j, i), x_slope(u, n, c, j, i + 1), x_slope(u, n, c, j, i + 2));
}
static double column_at(const double *u, int n, int c, int j, int i) {
  return face_of(row_at(u, n, c, j - 2, i), row_at(u, n, c, j - 1, i), row_at(u, n, c, j, i), row_at(u, n, c, j + 1, i),
                 row_at(u, n, c, j + 2, i), y_slope(u, n, c, j - 2, i), y_slope(u, n, c, j, i), y_slope(u, n, c, j + 1, i),
                 y_slope(u, n, c, j + 2, i));
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 9), boxes = 5;
  long all = COMPONENTS * (n + 2L * GHOSTS) * (n + 2L * GHOSTS);
  double *u = doubles(boxes * all), *out = doubles(boxes * all), *wanted = doubles(boxes * all);
  for (long at = 0; at < boxes * all; at++) {
    u[at] = noise(at);
    out[at] = wanted[at] = 0;
  }
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    double *own = doubles(3 * all);
    limit(u + b * all, out + b * all, own, own + all, own + 2 * all, n, 3);
    free(own);
  }
  for (int b = 0; b < boxes; b++)
    for (int c = 0; c < COMPONENTS; c++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
          wanted[b * all + CELL(c, j, i)] = column_at(u + b * all, n, c, j, i);
  int right = same("out", out, wanted, boxes * all);
  print_doubles("out", out, boxes * all);
  puts(right ? "right" : "wrong");
  free(u);
  free(out);
  free(wanted);
  return !right;
}
