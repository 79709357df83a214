// The matrix of the conjugate gradient benchmark: sparse, symmetric, positive definite, and without
// locality. Row i has entries at i and at i +- a few far-apart distances, modulo n, each of a
// different weight; no numbering of the unknowns brings its neighbours close.
#ifndef MATRIX_H
#define MATRIX_H

#include "../common.h"
#include "../random.h"

enum { DISTANCES = 7, ROW = 2 * DISTANCES + 1 };

// Compressed rows; as many entries in each.
struct matrix {
  int rows;
  int *start, *column;
  double *value;
};

static struct matrix new_matrix(int rows) {
  struct matrix m = {rows, allocate(rows + 1, sizeof(int)),
                     allocate((size_t)rows * ROW, sizeof(int)),
                     allocate((size_t)rows * ROW, sizeof(double))};
  return m;
}

static void free_matrix(struct matrix *m) {
  free(m->value);
  free(m->column);
  free(m->start);
}

// Between 0.5 and 1.5, the same for (i, j) and (j, i).
static double weight(int i, int j) {
  uint64_t low = i < j ? i : j, high = i < j ? j : i;
  return 1 + uniform(low << 32 | high) / 2;
}

// Entries of row i of n, into the matrix's row `at`.
static void fill_row(struct matrix *m, int at, int i, int n) {
  double sum = 0;
  int entry = at * ROW;
  m->start[at] = entry;
  for (int d = 0; d < DISTANCES; d++) {
    int distance = (int)(scrambled(d) % (n - 1)) + 1;
    for (int side = 0; side < 2; side++) {
      int j = side ? (i + distance) % n : (i + n - distance) % n;
      double w = weight(i, j);
      m->column[entry] = j;
      m->value[entry++] = -w;
      sum += w;
    }
  }
  m->column[entry] = i;
  m->value[entry] = sum + 0.1;
}

#endif
