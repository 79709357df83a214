// variants: AT_CALLS IN_FUNCTIONS
// schedules: 0 1 2 3 4 5 6 7
// refused: 90 91
//
// A limiter for interpolation by parabolas on boxes of 32 x 32 cells: slopes from three cells, then values at faces from five
// cells and their slopes, limited to what lies between; along rows, then along columns. With IN_FUNCTIONS and AT_CALLS all four
// loops are in functions, which the chain calls: their pragmas stand there, where spaces have the names of parameters, or at the
// calls.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((8, 8), serial, serial)
#elif SCHEDULE == 4
#define ITEMS fuse(), tile((8, 8), wavefront, serial)
#elif SCHEDULE == 5
#define ITEMS parallel
#elif SCHEDULE == 6
#define ITEMS tile((16, 32), serial, serial)
#elif SCHEDULE == 7
#define ITEMS fuse(), tile((8, 32), parallel, serial, overlap)
#elif SCHEDULE == 90
#define ITEMS fuse((0, 0), (0, 0), (0, 0), (0, 0))
#elif SCHEDULE == 91
#define ITEMS fuse(), parallel
#endif

#ifndef SIZE
#define SIZE 32
#endif

enum { COMPONENTS = 3, GHOSTS = 4, WIDTH = SIZE + 2 * GHOSTS };
typedef double field[COMPONENTS][WIDTH][WIDTH];

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a < b ? b : a; }
static double magnitude(double a) { return a < 0 ? -a : a; }

// Van Leer's slope from three values.
static double limited_slope(double before, double here, double behind) {
  double left = here - before, right = behind - here, middle = 0.5 * (behind - before);
  if (left * right <= 0)
    return 0;
  double most = 2 * smaller(magnitude(left), magnitude(right));
  double slope = smaller(most, magnitude(middle));
  return middle < 0 ? -slope : slope;
}

// The value at the face between two of five cells, no further out than the five are.
static double face(const double cell[5], const double slope[5]) {
  double value = 0.5 * (cell[2] + cell[3]) - (slope[3] - slope[2]) / 6;
  double bend = (cell[4] - 4 * cell[3] + 6 * cell[2] - 4 * cell[1] + cell[0]) / 64;
  value -= bend + (slope[4] - slope[0]) / 96;
  double least = smaller(smaller(cell[1], cell[2]), cell[3]), most = larger(larger(cell[1], cell[2]), cell[3]);
  return smaller(larger(value, least), most);
}

#define SLOPE(OUT, IN, DJ, DI) OUT[c][j][i] = limited_slope(IN[c][(j) - (DJ)][(i) - (DI)], IN[c][j][i], IN[c][(j) + (DJ)][(i) + (DI)])
#define FIVE(IN, DJ, DI)                                                                                                  \
  {                                                                                                                       \
    IN[c][(j) - 2 * (DJ)][(i) - 2 * (DI)], IN[c][(j) - (DJ)][(i) - (DI)], IN[c][j][i], IN[c][(j) + (DJ)][(i) + (DI)],     \
        IN[c][(j) + 2 * (DJ)][(i) + 2 * (DI)]                                                                             \
  }

#define ROW_SLOPE_SPACES(IN, OUT) read IN{(j, i - 1), (j, i), (j, i + 1)}, write OUT{(j, i)}
#define COLUMN_SLOPE_SPACES(IN, OUT) read IN{(j - 1, i), (j, i), (j + 1, i)}, write OUT{(j, i)}
#define ROW_SPACES(IN, SLOPES, OUT)                                         \
  read IN{(j, i - 2), (j, i - 1), (j, i), (j, i + 1), (j, i + 2)},          \
      read SLOPES{(j, i - 2), (j, i - 1), (j, i), (j, i + 1), (j, i + 2)}, write OUT{(j, i)}
#define COLUMN_SPACES(IN, SLOPES, OUT)                                      \
  read IN{(j - 2, i), (j - 1, i), (j, i), (j + 1, i), (j + 2, i)},          \
      read SLOPES{(j - 2, i), (j - 1, i), (j, i), (j + 1, i), (j + 2, i)}, write OUT{(j, i)}

// Rows are limited in two more rows on each side, whose values the limiter of columns reads.
#define ROW_SLOPES_DOMAIN domain(GHOSTS - 2 : GHOSTS + SIZE + 1, GHOSTS - 2 : GHOSTS + SIZE + 1) with(j, i)
#define ROWS_DOMAIN domain(GHOSTS - 2 : GHOSTS + SIZE + 1, GHOSTS : GHOSTS + SIZE - 1) with(j, i)
#define COLUMN_SLOPES_DOMAIN domain(GHOSTS - 2 : GHOSTS + SIZE + 1, GHOSTS : GHOSTS + SIZE - 1) with(j, i)
#define COLUMNS_DOMAIN domain(GHOSTS : GHOSTS + SIZE - 1, GHOSTS : GHOSTS + SIZE - 1) with(j, i)

#ifdef IN_FUNCTIONS
#define IN_FUNCTION(...) PRAGMA(omplc for __VA_ARGS__)
#else
#define IN_FUNCTION(...)
#endif
#ifdef AT_CALLS
#define AT_CALL(...) PRAGMA(omplc for __VA_ARGS__)
#else
#define AT_CALL(...)
#endif

#define NEST(ROWS_BESIDE, COLUMNS_BESIDE, ...)                                        \
  for (int j = GHOSTS - (ROWS_BESIDE); j < GHOSTS + SIZE + (ROWS_BESIDE); j++)        \
    for (int i = GHOSTS - (COLUMNS_BESIDE); i < GHOSTS + SIZE + (COLUMNS_BESIDE); i++) \
      for (int c = 0; c < COMPONENTS; c++) {                                          \
        __VA_ARGS__;                                                                  \
      }
#define FACE_STATEMENT(OUT, IN, SLOPES, DJ, DI)                      \
  double cells[5] = FIVE(IN, DJ, DI), slopes[5] = FIVE(SLOPES, DJ, DI); \
  OUT[c][j][i] = face(cells, slopes)

#if defined IN_FUNCTIONS || defined AT_CALLS
static void row_slopes(const field in, field out) {
  IN_FUNCTION(ROW_SLOPES_DOMAIN ROW_SLOPE_SPACES(in, out))
  NEST(2, 2, SLOPE(out, in, 0, 1))
}
static void rows(const field in, const field slope, field out) {
  IN_FUNCTION(ROWS_DOMAIN ROW_SPACES(in, slope, out))
  NEST(2, 0, FACE_STATEMENT(out, in, slope, 0, 1))
}
static void column_slopes(const field in, field out) {
  IN_FUNCTION(COLUMN_SLOPES_DOMAIN COLUMN_SLOPE_SPACES(in, out))
  NEST(2, 0, SLOPE(out, in, 1, 0))
}
static void columns(const field in, const field slope, field out) {
  IN_FUNCTION(COLUMNS_DOMAIN COLUMN_SPACES(in, slope, out))
  NEST(0, 0, FACE_STATEMENT(out, in, slope, 1, 0))
}
#endif

static void limit(const field u, field along_rows, field out, field x_slope, field y_slope) {
  PRAGMA(omplc loopchain schedule(ITEMS) local(x_slope, y_slope))
  {
#if !defined IN_FUNCTIONS && !defined AT_CALLS
    PRAGMA(omplc for ROW_SLOPES_DOMAIN ROW_SLOPE_SPACES(u, x_slope))
    NEST(2, 2, SLOPE(x_slope, u, 0, 1))
    PRAGMA(omplc for ROWS_DOMAIN ROW_SPACES(u, x_slope, along_rows))
    NEST(2, 0, FACE_STATEMENT(along_rows, u, x_slope, 0, 1))
    PRAGMA(omplc for COLUMN_SLOPES_DOMAIN COLUMN_SLOPE_SPACES(u, y_slope))
    NEST(2, 0, SLOPE(y_slope, u, 1, 0))
    PRAGMA(omplc for COLUMNS_DOMAIN COLUMN_SPACES(along_rows, y_slope, out))
    NEST(0, 0, FACE_STATEMENT(out, along_rows, y_slope, 1, 0))
#else
    AT_CALL(ROW_SLOPES_DOMAIN ROW_SLOPE_SPACES(u, x_slope))
    row_slopes(u, x_slope);
    AT_CALL(ROWS_DOMAIN ROW_SPACES(u, x_slope, along_rows))
    rows(u, x_slope, along_rows);
    AT_CALL(COLUMN_SLOPES_DOMAIN COLUMN_SLOPE_SPACES(u, y_slope))
    column_slopes(u, y_slope);
    AT_CALL(COLUMNS_DOMAIN COLUMN_SPACES(along_rows, y_slope, out))
    columns(along_rows, y_slope, out);
#endif
  }
}

static double u[COMPONENTS][WIDTH][WIDTH];

// The slope at a cell, and the value that rows give there, without arrays.
static double slope_at(int c, int j, int i, int dj, int di) {
  return limited_slope(u[c][j - dj][i - di], u[c][j][i], u[c][j + dj][i + di]);
}
static double row_at(int c, int j, int i) {
  double cells[5], slopes[5];
  for (int k = -2; k <= 2; k++) {
    cells[k + 2] = u[c][j][i + k];
    slopes[k + 2] = slope_at(c, j, i + k, 0, 1);
  }
  return face(cells, slopes);
}
static double column_at(int c, int j, int i) {
  double cells[5], slopes[5];
  for (int k = -2; k <= 2; k++) {
    cells[k + 2] = row_at(c, j + k, i);
    slopes[k + 2] = slope_at(c, j + k, i, 1, 0);
  }
  return face(cells, slopes);
}

int main(int argc, char **argv) {
  int times = argument(argc, argv, 1, 2), right = 1;
  static field along_rows, out, x_slope, y_slope;
  for (int t = 0; t < times; t++) {
    for (int c = 0; c < COMPONENTS; c++)
      for (int j = 0; j < WIDTH; j++)
        for (int i = 0; i < WIDTH; i++)
          u[c][j][i] = t ? u[c][j][i] + 0.25 * out[c][j][i] : noise((c * WIDTH + j) * WIDTH + i);
    limit((const double(*)[WIDTH][WIDTH])u, along_rows, out, x_slope, y_slope);
    static field wanted;
    for (int c = 0; c < COMPONENTS; c++)
      for (int j = GHOSTS; j < GHOSTS + SIZE; j++)
        for (int i = GHOSTS; i < GHOSTS + SIZE; i++)
          wanted[c][j][i] = column_at(c, j, i);
    right &= same("out", &out[0][0][0], &wanted[0][0][0], (long)COMPONENTS * WIDTH * WIDTH);
  }
  print_doubles("out", &out[0][0][0], (long)COMPONENTS * WIDTH * WIDTH);
  puts(right ? "right" : "wrong");
  return !right;
}
