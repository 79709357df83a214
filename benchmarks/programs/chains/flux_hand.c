// The fluxes in the best ways known by hand: what lies between loops is as small as their order lets it be.
//
// All compute a row of faces at once: its five components, each multiplied with the velocity.
#include "flux.h"

// Faces of a row, of a component, and of all.
#define ROW(n) ((n) + 1L)

// A row of `count` faces in front of cells that follow each other in memory, whose directions have neighbours `step` apart.
static inline void face_row(const double *restrict cell, long component, long step, int velocity, double *restrict face,
                            long row, int count) {
  for (int i = 0; i < count; i++) {
    double value[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++) {
      const double *at = cell + c * component + i;
      value[c] = FACE_VALUE(at[-2 * step], at[-step], at[0], at[step]);
    }
    double speed = value[velocity];
    for (int c = 0; c < COMPONENTS; c++)
      face[c * row + i] = value[c] * speed;
  }
}

// What enters and leaves the cells of a row.
static inline void add_row(double *restrict cell, long component, const double *restrict here, const double *restrict there,
                           long row, int count) {
  for (int i = 0; i < count; i++)
    for (int c = 0; c < COMPONENTS; c++)
      cell[c * component + i] += here[c * row + i] - there[c * row + i];
}

// The series of loops, each component by itself: its faces, and those of the velocity, are all that is kept.
static void series_box(const double *restrict old_cells, double *restrict new_cells, double *restrict memory, int n) {
  double *restrict speed = memory, *restrict face = memory + FACE(1, 0, 0, 0);
  for (int direction = 0; direction < 3; direction++) {
    int di = direction == 0, dj = direction == 1, dk = direction == 2;
    long step = CELL(0, dk, dj, di) - CELL(0, 0, 0, 0), beside = FACE(0, dk, dj, di);
    for (int k = 0; k < n + dk; k++)
      for (int j = 0; j < n + dj; j++)
        for (int i = 0; i < n + di; i++) {
          const double *at = old_cells + CELL(1 + direction, k, j, i);
          speed[FACE(0, k, j, i)] = FACE_VALUE(at[-2 * step], at[-step], at[0], at[step]);
        }
    for (int c = 0; c < COMPONENTS; c++) {
      for (int k = 0; k < n + dk; k++)
        for (int j = 0; j < n + dj; j++)
          for (int i = 0; i < n + di; i++) {
            const double *at = old_cells + CELL(c, k, j, i);
            double value = FACE_VALUE(at[-2 * step], at[-step], at[0], at[step]);
            value *= speed[FACE(0, k, j, i)];
            face[FACE(0, k, j, i)] = value;
          }
      for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
          for (int i = 0; i < n; i++)
            new_cells[CELL(c, k, j, i)] += face[FACE(0, k, j, i)] - face[FACE(0, k, j, i) + beside];
    }
  }
}

// The two loops that compute faces of a direction fused, so that each face is written once, and then what enters and leaves cells.
static inline void faces_of(const double *restrict old_cells, double *restrict new_cells, double *restrict memory, int n, int dk,
                            int dj, int di, int velocity) {
  long component = cells_of_component(n), row = FACE(1, 0, 0, 0);
  long step = CELL(0, dk, dj, di) - CELL(0, 0, 0, 0), beside = FACE(0, dk, dj, di);
  for (int k = 0; k < n + dk; k++)
    for (int j = 0; j < n + dj; j++)
      face_row(old_cells + CELL(0, k, j, 0), component, step, velocity, memory + FACE(0, k, j, 0), row, n + di);
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++)
      add_row(new_cells + CELL(0, k, j, 0), component, memory + FACE(0, k, j, 0), memory + FACE(0, k, j, 0) + beside, row, n);
}

// One array of faces for all directions.
static void faces_box(const double *restrict old_cells, double *restrict new_cells, double *restrict memory, int n) {
  faces_of(old_cells, new_cells, memory, n, 0, 0, 1, 1);
  faces_of(old_cells, new_cells, memory, n, 0, 1, 0, 2);
  faces_of(old_cells, new_cells, memory, n, 1, 0, 0, 3);
}

// Loops of a direction fused, directions one after the other: rows in x, two rows in y, two planes in z.
static void directions_box(const double *restrict old_cells, double *restrict new_cells, double *restrict memory, int n) {
  long component = cells_of_component(n), row = ROW(n), line = cells_of_row(n), rows = COMPONENTS * row;
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++) {
      face_row(old_cells + CELL(0, k, j, 0), component, 1, 1, memory, row, n + 1);
      add_row(new_cells + CELL(0, k, j, 0), component, memory, memory + 1, row, n);
    }
  for (int k = 0; k < n; k++)
    for (int j = 0; j <= n; j++) {
      double *here = memory + (j & 1) * rows, *last = memory + (~j & 1) * rows;
      face_row(old_cells + CELL(0, k, j, 0), component, line, 2, here, row, n);
      if (j)
        add_row(new_cells + CELL(0, k, j - 1, 0), component, last, here, row, n);
    }
  for (int k = 0; k <= n; k++)
    for (int j = 0; j < n; j++) {
      double *here = memory + ((k & 1) * n + j) * rows, *last = memory + ((~k & 1) * n + j) * rows;
      face_row(old_cells + CELL(0, k, j, 0), component, line * line, 3, here, row, n);
      if (k)
        add_row(new_cells + CELL(0, k - 1, j, 0), component, last, here, row, n);
    }
}

// The same; in z, rows follow each other, so that two of them are kept.
static void rows_box(const double *restrict old_cells, double *restrict new_cells, double *restrict memory, int n) {
  long component = cells_of_component(n), row = ROW(n), line = cells_of_row(n), rows = COMPONENTS * row;
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++) {
      face_row(old_cells + CELL(0, k, j, 0), component, 1, 1, memory, row, n + 1);
      add_row(new_cells + CELL(0, k, j, 0), component, memory, memory + 1, row, n);
    }
  for (int k = 0; k < n; k++)
    for (int j = 0; j <= n; j++) {
      double *here = memory + (j & 1) * rows, *last = memory + (~j & 1) * rows;
      face_row(old_cells + CELL(0, k, j, 0), component, line, 2, here, row, n);
      if (j)
        add_row(new_cells + CELL(0, k, j - 1, 0), component, last, here, row, n);
    }
  for (int j = 0; j < n; j++)
    for (int k = 0; k <= n; k++) {
      double *here = memory + (k & 1) * rows, *last = memory + (~k & 1) * rows;
      face_row(old_cells + CELL(0, k, j, 0), component, line * line, 3, here, row, n);
      if (k)
        add_row(new_cells + CELL(0, k - 1, j, 0), component, last, here, row, n);
    }
}

// All loops fused for rows from `first` to before `end` in y: a plane in z, a row in y, a row in x.
static void fused_part(const double *restrict old_cells, double *restrict new_cells, double *restrict memory, int n, int first,
                       int end) {
  long component = cells_of_component(n), row = ROW(n), line = cells_of_row(n), rows = COMPONENTS * row;
  double *x = memory, *y = x + rows, *z = y + 2 * rows;
  double *restrict below = z + rows;
  for (int j = first; j < end; j++)
    face_row(old_cells + CELL(0, 0, j, 0), component, line * line, 3, below + (j - first) * rows, row, n);
  for (int k = 0; k < n; k++) {
    face_row(old_cells + CELL(0, k, first, 0), component, line, 2, y + (first & 1) * rows, row, n);
    for (int j = first; j < end; j++) {
      double *here = y + (j & 1) * rows, *next = y + (~j & 1) * rows;
      double *restrict under = below + (j - first) * rows;
      face_row(old_cells + CELL(0, k, j, 0), component, 1, 1, x, row, n + 1);
      face_row(old_cells + CELL(0, k, j + 1, 0), component, line, 2, next, row, n);
      face_row(old_cells + CELL(0, k + 1, j, 0), component, line * line, 3, z, row, n);
      double *restrict cell = new_cells + CELL(0, k, j, 0);
      for (int c = 0; c < COMPONENTS; c++)
        for (int i = 0; i < n; i++) {
          double value = cell[c * component + i];
          value += x[c * row + i] - x[c * row + i + 1];
          value += here[c * row + i] - next[c * row + i];
          value += under[c * row + i] - z[c * row + i];
          cell[c * component + i] = value;
          under[c * row + i] = z[c * row + i];
        }
    }
  }
}

static void fused_box(const double *restrict old_cells, double *restrict new_cells, double *restrict memory, int n) {
  fused_part(old_cells, new_cells, memory, n, 0, n);
}

// The same in slabs of so many rows, so that their plane in z stays in a cache; the row between two of them is computed twice.
enum { SLAB = 16 };
static void slabs_box(const double *restrict old_cells, double *restrict new_cells, double *restrict memory, int n) {
  for (int first = 0; first < n; first += SLAB)
    fused_part(old_cells, new_cells, memory, n, first, first + SLAB < n ? first + SLAB : n);
}

// All loops one after the other in tiles, which compute the faces between them twice.
enum { TILE = 8 };
static void tiles_box(const double *restrict old_cells, double *restrict new_cells, double *restrict memory, int n) {
  long component = cells_of_component(n), line = cells_of_row(n), row = TILE + 1, rows = COMPONENTS * row;
  for (int k0 = 0; k0 < n; k0 += TILE)
    for (int j0 = 0; j0 < n; j0 += TILE)
      for (int i0 = 0; i0 < n; i0 += TILE) {
        int k1 = k0 + TILE < n ? k0 + TILE : n, j1 = j0 + TILE < n ? j0 + TILE : n;
        int count = (i0 + TILE < n ? i0 + TILE : n) - i0;
        for (int k = k0; k < k1; k++)
          for (int j = j0; j < j1; j++) {
            face_row(old_cells + CELL(0, k, j, i0), component, 1, 1, memory, row, count + 1);
            add_row(new_cells + CELL(0, k, j, i0), component, memory, memory + 1, row, count);
          }
        for (int k = k0; k < k1; k++)
          for (int j = j0; j <= j1; j++) {
            double *here = memory + (j & 1) * rows, *last = memory + (~j & 1) * rows;
            face_row(old_cells + CELL(0, k, j, i0), component, line, 2, here, row, count);
            if (j > j0)
              add_row(new_cells + CELL(0, k, j - 1, i0), component, last, here, row, count);
          }
        for (int k = k0; k <= k1; k++)
          for (int j = j0; j < j1; j++) {
            double *here = memory + ((k & 1) * TILE + j - j0) * rows, *last = memory + ((~k & 1) * TILE + j - j0) * rows;
            face_row(old_cells + CELL(0, k, j, i0), component, line * line, 3, here, row, count);
            if (k > k0)
              add_row(new_cells + CELL(0, k - 1, j, i0), component, last, here, row, count);
          }
      }
}

#define HAND(NAME, BOX, ELEMENTS)                                                                                       \
  static void BOX##_all(void) {                                                                                         \
    long n = size;                                                                                                      \
    (void)n;                                                                                                            \
    size_t bytes = (size_t)(ELEMENTS) * sizeof(double);                                                                 \
    _Pragma("omp parallel for") for (int b = 0; b < boxes; b++)                                                         \
        BOX(old_boxes + b * cells_of_box(size), new_boxes + b * cells_of_box(size), temporaries(bytes), size);          \
  }                                                                                                                     \
  WAY(NAME, BOX##_all)

HAND("series-contracted", series_box, 2 * FACE(1, 0, 0, 0))
HAND("faces-fused", faces_box, FACE(COMPONENTS, 0, 0, 0))
HAND("directions-planes", directions_box, 2 * n * COMPONENTS * ROW(n))
HAND("directions-rows", rows_box, 2 * COMPONENTS * ROW(n))
HAND("fused-rows", fused_box, (n + 4) * COMPONENTS * ROW(n))
HAND("fused-slabs", slabs_box, (SLAB + 4) * COMPONENTS * ROW(n))
HAND("fused-tiles-8", tiles_box, 2 * TILE * COMPONENTS * (TILE + 1))
