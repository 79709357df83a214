// Fluxes through the faces of boxes of cells, and their differences: what all ways to compute them share. A box has five components
// (density, velocities in x, y and z, energy), each of which is a cube of its own with two ghost cells at each side. For each
// direction a value at each face is interpolated from four cells, multiplied with the velocity there, and what enters and leaves a
// cell is added to it.
#ifndef FLUX_H
#define FLUX_H

#include "chains.h"

enum { COMPONENTS = 5, GHOSTS = 2 };

// Cells of a box along each side, and how many boxes there are.
extern int size, boxes;
extern double *old_boxes, *new_boxes;

// Elements from one to the next, of boxes.
static inline long cells_of_row(int n) { return n + 2 * GHOSTS; }
static inline long cells_of_component(int n) { return cells_of_row(n) * cells_of_row(n) * cells_of_row(n); }
static inline long cells_of_box(int n) { return COMPONENTS * cells_of_component(n); }

#define CELL(c, k, j, i) ((((c) * (n + 4L) + (k) + GHOSTS) * (n + 4L) + (j) + GHOSTS) * (n + 4L) + (i) + GHOSTS)
#define FACE(c, k, j, i) ((((c) * (n + 1L) + (k)) * (n + 1L) + (j)) * (n + 1L) + (i))
#define FACE_VALUE(a, b, c, d) ((7.0 / 12.0) * ((b) + (c)) - (1.0 / 12.0) * ((a) + (d)))

#endif
