// variants: SHARED
// schedules: 0 1 2 3 4 5 6 7 8 9 10
// refused: 90 91 92
//
// Fluxes through the faces of boxes of cells, and their differences, in three dimensions: nine loops, five components (density,
// velocities in x, y and z, energy), the boxes in parallel outside (acceptance row U7). Values at faces are interpolated from
// four cells, and multiplied with the velocity there. With SHARED all directions use one array for their faces.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3 && defined SHARED
// One array has the values of one direction after those of another.
#define ITEMS parallel
#elif SCHEDULE == 3
#define ITEMS \
  fuse((1, 1, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1), (0, 1, 1), (1, 1, 1))
#elif SCHEDULE == 4
#define ITEMS fuse(), tile((4, 4, 4), serial, serial)
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((4, 4, 4), wavefront, serial)
#elif SCHEDULE == 6
#define ITEMS fuse(), tile((4, 4, 4), parallel, serial, overlap)
#elif SCHEDULE == 7
#define ITEMS parallel
#elif SCHEDULE == 8
#define ITEMS tile((2, 3, 5), serial, serial)
#elif SCHEDULE == 9
#define ITEMS fuse(), wavefront
#elif SCHEDULE == 10
#define ITEMS fuse(), tile((tile, tile + 1, 2 * tile), serial, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0))
#elif SCHEDULE == 91
#define ITEMS fuse(), parallel
#elif SCHEDULE == 92
#define ITEMS fuse(), tile((4, 4, 4), parallel, serial)
#endif

enum { COMPONENTS = 5, GHOSTS = 2 };

// Numbers of a cell and of a face.
#define CELL(c, k, j, i) ((((c) * (n + 4L) + (k) + GHOSTS) * (n + 4L) + (j) + GHOSTS) * (n + 4L) + (i) + GHOSTS)
#define FACE(c, k, j, i) ((((c) * (n + 1L) + (k)) * (n + 1L) + (j)) * (n + 1L) + (i))

#define FACE_VALUE(a, b, c, d) ((7.0 / 12.0) * ((b) + (c)) - (1.0 / 12.0) * ((a) + (d)))

#ifdef SHARED
#define Y x
#define Z x
#define STORAGE local x
#else
#define Y y
#define Z z
#define STORAGE local(x, y, z)
#endif

static void box(const double *old, double *now, double *x, double *y, double *z, int n, int tile) {
  (void)y, (void)z, (void)tile;
  PRAGMA(omplc loopchain schedule(ITEMS) STORAGE)
  {
    PRAGMA(omplc for domain(0 : n - 1, 0 : n - 1, 0 : n) with(k, j, i) read old{(k, j, i - 2), (k, j, i - 1), (k, j, i), (k, j, i + 1)}, write x{(k, j, i)})
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i <= n; i++)
          for (int c = 0; c < COMPONENTS; c++)
            x[FACE(c, k, j, i)] = FACE_VALUE(old[CELL(c, k, j, i - 2)], old[CELL(c, k, j, i - 1)], old[CELL(c, k, j, i)], old[CELL(c, k, j, i + 1)]);
    PRAGMA(omplc for domain(0 : n - 1, 0 : n - 1, 0 : n) with(k, j, i) read x{(k, j, i)}, write x{(k, j, i)})
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i <= n; i++) {
          double velocity = x[FACE(1, k, j, i)];
          for (int c = 0; c < COMPONENTS; c++)
            x[FACE(c, k, j, i)] *= velocity;
        }
    PRAGMA(omplc for domain(0 : n - 1, 0 : n - 1, 0 : n - 1) with(k, j, i) read x{(k, j, i), (k, j, i + 1)}, read now{(k, j, i)}, write now{(k, j, i)})
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
          for (int c = 0; c < COMPONENTS; c++)
            now[CELL(c, k, j, i)] += x[FACE(c, k, j, i)] - x[FACE(c, k, j, i + 1)];
    PRAGMA(omplc for domain(0 : n - 1, 0 : n, 0 : n - 1) with(k, j, i) read old{(k, j - 2, i), (k, j - 1, i), (k, j, i), (k, j + 1, i)}, write Y{(k, j, i)})
    for (int k = 0; k < n; k++)
      for (int j = 0; j <= n; j++)
        for (int i = 0; i < n; i++)
          for (int c = 0; c < COMPONENTS; c++)
            Y[FACE(c, k, j, i)] = FACE_VALUE(old[CELL(c, k, j - 2, i)], old[CELL(c, k, j - 1, i)], old[CELL(c, k, j, i)], old[CELL(c, k, j + 1, i)]);
    PRAGMA(omplc for domain(0 : n - 1, 0 : n, 0 : n - 1) with(k, j, i) read Y{(k, j, i)}, write Y{(k, j, i)})
    for (int k = 0; k < n; k++)
      for (int j = 0; j <= n; j++)
        for (int i = 0; i < n; i++) {
          double velocity = Y[FACE(2, k, j, i)];
          for (int c = 0; c < COMPONENTS; c++)
            Y[FACE(c, k, j, i)] *= velocity;
        }
    PRAGMA(omplc for domain(0 : n - 1, 0 : n - 1, 0 : n - 1) with(k, j, i) read Y{(k, j, i), (k, j + 1, i)}, read now{(k, j, i)}, write now{(k, j, i)})
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
          for (int c = 0; c < COMPONENTS; c++)
            now[CELL(c, k, j, i)] += Y[FACE(c, k, j, i)] - Y[FACE(c, k, j + 1, i)];
    PRAGMA(omplc for domain(0 : n, 0 : n - 1, 0 : n - 1) with(k, j, i) read old{(k - 2, j, i), (k - 1, j, i), (k, j, i), (k + 1, j, i)}, write Z{(k, j, i)})
    for (int k = 0; k <= n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
          for (int c = 0; c < COMPONENTS; c++)
            Z[FACE(c, k, j, i)] = FACE_VALUE(old[CELL(c, k - 2, j, i)], old[CELL(c, k - 1, j, i)], old[CELL(c, k, j, i)], old[CELL(c, k + 1, j, i)]);
    PRAGMA(omplc for domain(0 : n, 0 : n - 1, 0 : n - 1) with(k, j, i) read Z{(k, j, i)}, write Z{(k, j, i)})
    for (int k = 0; k <= n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
          double velocity = Z[FACE(3, k, j, i)];
          for (int c = 0; c < COMPONENTS; c++)
            Z[FACE(c, k, j, i)] *= velocity;
        }
    PRAGMA(omplc for domain(0 : n - 1, 0 : n - 1, 0 : n - 1) with(k, j, i) read Z{(k, j, i), (k + 1, j, i)}, read now{(k, j, i)}, write now{(k, j, i)})
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
          for (int c = 0; c < COMPONENTS; c++)
            now[CELL(c, k, j, i)] += Z[FACE(c, k, j, i)] - Z[FACE(c, k + 1, j, i)];
  }
}
// What the face in front of a cell has, from cells that are `step` apart.
static double value(const double *cell, long step) {
  return FACE_VALUE(cell[-2 * step], cell[-step], cell[0], cell[step]);
}

static void wanted(const double *old, double *now, int n) {
  long component = CELL(1, 0, 0, 0) - CELL(0, 0, 0, 0);
  for (int direction = 0; direction < 3; direction++) {
    long step = direction == 0 ? 1 : direction == 1 ? n + 4L : (n + 4L) * (n + 4L);
    for (int c = 0; c < COMPONENTS; c++)
      for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
          for (int i = 0; i < n; i++) {
            const double *cell = old + CELL(0, k, j, i);
            double here = value(cell + c * component, step);
            here *= value(cell + (1 + direction) * component, step);
            double there = value(cell + c * component + step, step);
            there *= value(cell + (1 + direction) * component + step, step);
            now[CELL(c, k, j, i)] += here - there;
          }
  }
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 6), boxes = argument(argc, argv, 2, 3), tile = argument(argc, argv, 3, 2);
  long cells = CELL(COMPONENTS, -GHOSTS, -GHOSTS, -GHOSTS), faces = FACE(COMPONENTS, 0, 0, 0);
  double *old = doubles(boxes * cells), *now = doubles(boxes * cells), *right = doubles(boxes * cells);
  for (long at = 0; at < boxes * cells; at++) {
    old[at] = noise(at) - 0.25;
    now[at] = right[at] = noise(at + 77777);
  }
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    double *x = doubles(faces), *y = doubles(faces), *z = doubles(faces);
    box(old + b * cells, now + b * cells, x, y, z, n, tile);
    free(x);
    free(y);
    free(z);
  }
  for (int b = 0; b < boxes; b++)
    wanted(old + b * cells, right + b * cells, n);
  int is_right = same("now", now, right, boxes * cells);
  print_doubles("now", now, boxes * cells);
  puts(is_right ? "right" : "wrong");
  free(old);
  free(now);
  free(right);
  return !is_right;
}
