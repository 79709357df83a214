// variants: SHARED
// schedules: 0 1 2 3 4 5 6 7 8 9 10
// refused: 90 91
//
// Fluxes through the faces of boxes of cells, and their differences, in two dimensions: six loops, four components, the boxes
// in parallel outside (acceptance row U6). Values at faces are interpolated from four cells, and multiplied with the velocity
// there. With SHARED both directions use one array for their faces.
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
#define ITEMS fuse((1, 0), (1, 0), (1, 1), (0, 1), (0, 1), (1, 1))
#elif SCHEDULE == 4
#define ITEMS fuse(), tile((4, 4), serial, serial)
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((4, 4), wavefront, serial)
#elif SCHEDULE == 6
#define ITEMS fuse(), tile((4, 4), parallel, serial, overlap)
#elif SCHEDULE == 7
#define ITEMS parallel
#elif SCHEDULE == 8
#define ITEMS tile((3, 5), serial, serial)
#elif SCHEDULE == 9
#define ITEMS fuse(), wavefront
#elif SCHEDULE == 10
#define ITEMS fuse(), tile((tile, tile + 1), serial, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0))
#elif SCHEDULE == 91
#define ITEMS fuse(), parallel
#endif

enum { COMPONENTS = 4, GHOSTS = 2 };

// Numbers of a cell and of a face.
#define CELL(c, j, i) ((((c) * (n + 4L)) + (j) + GHOSTS) * (n + 4L) + (i) + GHOSTS)
#define FACE(c, j, i) (((c) * (n + 1L) + (j)) * (n + 1L) + (i))

#define FACE_VALUE(a, b, c, d) ((7.0 / 12.0) * ((b) + (c)) - (1.0 / 12.0) * ((a) + (d)))

#ifdef SHARED
#define Y x
#define STORAGE local x
#else
#define Y y
#define STORAGE local(x, y)
#endif

static void box(const double *old, double *now, double *x, double *y, int n, int tile) {
  (void)y, (void)tile;
  PRAGMA(omplc loopchain schedule(ITEMS) STORAGE)
  {
#pragma omplc for domain(0 : n - 1, 0 : n) with(j, i) read old{(j, i - 2), (j, i - 1), (j, i), (j, i + 1)}, write x{(j, i)}
    for (int j = 0; j < n; j++)
      for (int i = 0; i <= n; i++)
        for (int c = 0; c < COMPONENTS; c++)
          x[FACE(c, j, i)] = FACE_VALUE(old[CELL(c, j, i - 2)], old[CELL(c, j, i - 1)], old[CELL(c, j, i)], old[CELL(c, j, i + 1)]);
#pragma omplc for domain(0 : n - 1, 0 : n) with(j, i) read x{(j, i)}, write x{(j, i)}
    for (int j = 0; j < n; j++)
      for (int i = 0; i <= n; i++) {
        double velocity = x[FACE(1, j, i)];
        for (int c = 0; c < COMPONENTS; c++)
          x[FACE(c, j, i)] *= velocity;
      }
#pragma omplc for domain(0 : n - 1, 0 : n - 1) with(j, i) read x{(j, i), (j, i + 1)}, read now{(j, i)}, write now{(j, i)}
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        for (int c = 0; c < COMPONENTS; c++)
          now[CELL(c, j, i)] += x[FACE(c, j, i)] - x[FACE(c, j, i + 1)];
    PRAGMA(omplc for domain(0 : n, 0 : n - 1) with(j, i) read old{(j - 2, i), (j - 1, i), (j, i), (j + 1, i)}, write Y{(j, i)})
    for (int j = 0; j <= n; j++)
      for (int i = 0; i < n; i++)
        for (int c = 0; c < COMPONENTS; c++)
          Y[FACE(c, j, i)] = FACE_VALUE(old[CELL(c, j - 2, i)], old[CELL(c, j - 1, i)], old[CELL(c, j, i)], old[CELL(c, j + 1, i)]);
    PRAGMA(omplc for domain(0 : n, 0 : n - 1) with(j, i) read Y{(j, i)}, write Y{(j, i)})
    for (int j = 0; j <= n; j++)
      for (int i = 0; i < n; i++) {
        double velocity = Y[FACE(2, j, i)];
        for (int c = 0; c < COMPONENTS; c++)
          Y[FACE(c, j, i)] *= velocity;
      }
    PRAGMA(omplc for domain(0 : n - 1, 0 : n - 1) with(j, i) read Y{(j, i), (j + 1, i)}, read now{(j, i)}, write now{(j, i)})
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        for (int c = 0; c < COMPONENTS; c++)
          now[CELL(c, j, i)] += Y[FACE(c, j, i)] - Y[FACE(c, j + 1, i)];
  }
}

// What the face in front of a cell has, from cells that are `step` apart.
static double value(const double *cell, long step) {
  return FACE_VALUE(cell[-2 * step], cell[-step], cell[0], cell[step]);
}

static void wanted(const double *old, double *now, int n) {
  long component = CELL(1, 0, 0) - CELL(0, 0, 0);
  for (int direction = 0; direction < 2; direction++) {
    long step = direction ? n + 4 : 1;
    for (int c = 0; c < COMPONENTS; c++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
          const double *cell = old + CELL(0, j, i);
          double here = value(cell + c * component, step);
          here *= value(cell + (1 + direction) * component, step);
          double there = value(cell + c * component + step, step);
          there *= value(cell + (1 + direction) * component + step, step);
          now[CELL(c, j, i)] += here - there;
        }
  }
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 9), boxes = argument(argc, argv, 2, 3), tile = argument(argc, argv, 3, 3);
  long cells = COMPONENTS * (n + 4L) * (n + 4L), faces = COMPONENTS * (n + 1L) * (n + 1L);
  double *old = doubles(boxes * cells), *now = doubles(boxes * cells), *right = doubles(boxes * cells);
  for (long at = 0; at < boxes * cells; at++) {
    old[at] = noise(at) - 0.25;
    now[at] = right[at] = noise(at + 77777);
  }
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    double *x = doubles(faces), *y = doubles(faces);
    box(old + b * cells, now + b * cells, x, y, n, tile);
    free(x);
    free(y);
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
