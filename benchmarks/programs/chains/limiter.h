// A limiter for interpolation by parabolas on boxes of cells: what all ways to compute it share. A box has three components, each of
// which is a square of its own with four ghost cells at each side. Slopes are those of three cells, values at faces those of five
// cells and their slopes, limited to what lies between; along rows, in two more rows at each side, then along columns.
#ifndef LIMITER_H
#define LIMITER_H

#include "chains.h"

#include <math.h>

enum { COMPONENTS = 3, GHOSTS = 4, BESIDE = 2 };

// Cells of a box along each side, and how many boxes there are.
extern int size, boxes;
extern double *cells, *limited;

static inline long cells_of_row(int n) { return n + 2L * GHOSTS; }
static inline long cells_of_component(int n) { return cells_of_row(n) * cells_of_row(n); }
static inline long cells_of_box(int n) { return COMPONENTS * cells_of_component(n); }

#define CELL(c, j, i) (((c) * (n + 2L * GHOSTS) + (j) + GHOSTS) * (n + 2L * GHOSTS) + (i) + GHOSTS)

// Van Leer's slope from three values.
static inline double limited_slope(double before, double here, double behind) {
  double left = here - before, right = behind - here, middle = 0.5 * (behind - before);
  double most = 2 * fmin(fabs(left), fabs(right)), slope = fmin(most, fabs(middle));
  return left * right > 0 ? copysign(slope, middle) : 0;
}

// The value at the face between two of five cells, which are `step` apart, no further out than the cells around it are.
static inline double limited_face(const double *cell, const double *slope, long step) {
  double value = 0.5 * (cell[0] + cell[step]) - (slope[step] - slope[0]) / 6;
  double bend = (cell[2 * step] - 4 * cell[step] + 6 * cell[0] - 4 * cell[-step] + cell[-2 * step]) / 64;
  value -= bend + (slope[2 * step] - slope[-2 * step]) / 96;
  double least = fmin(fmin(cell[-step], cell[0]), cell[step]), most = fmax(fmax(cell[-step], cell[0]), cell[step]);
  return fmin(fmax(value, least), most);
}

#endif
