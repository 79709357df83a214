// Reads between bounds that loops load: rows of sparse matrices with bounds and columns of several types, made
// in parallel, unsorted and empty rows, rows of blocks, falling loops, buckets, tables that change between regions, tables
// that others say the places of, and one that the nest itself writes, through a pointer of its own type.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 907, MOST = 9 };

#define MATRIX(name, type)                                                                          \
  static double name(int shuffled, int sweeps) {                                                    \
    type *start = malloc((ROWS + 1) * sizeof *start), *end = malloc(ROWS * sizeof *end);            \
    type *column = malloc(ROWS * MOST * sizeof *column);                                            \
    double *value = malloc(ROWS * MOST * sizeof *value);                                            \
    double *x = malloc(ROWS * sizeof *x), *y = malloc(ROWS * sizeof *y);                            \
    start[0] = 0;                                                                                   \
    for (int i = 0; i < ROWS; i++) start[i + 1] = start[i] + (i * 5 % 17 < 4 ? 0 : i * 7 % MOST);   \
    for (int i = 0; i < ROWS && shuffled; i++) {                                                    \
      int j = i * 31 % ROWS;                                                                        \
      end[i] = start[j + 1];                                                                        \
    }                                                                                               \
    _Pragma("omp parallel for") for (int i = 0; i < ROWS; i++) {                                    \
      for (int k = start[i]; k < (int)start[i + 1]; k++) {                                          \
        column[k] = (i + k * 3) % ROWS;                                                             \
        value[k] = (k % 11 - 5) * 0.125;                                                            \
      }                                                                                             \
      x[i] = 1 + i % 3;                                                                             \
    }                                                                                               \
    double sum = 0;                                                                                 \
    for (int sweep = 0; sweep < sweeps; sweep++) {                                                  \
      if (shuffled) {                                                                               \
        _Pragma("omp parallel for") for (int i = 0; i < ROWS; i++) {                                \
          double all = 0;                                                                           \
          for (type k = start[i * 31 % ROWS]; k < end[i]; k++) all += value[k] * x[column[k]];      \
          y[i] = all;                                                                               \
        }                                                                                           \
      } else {                                                                                      \
        _Pragma("omp parallel for") for (int i = 0; i < ROWS; i++) {                                \
          double all = 0;                                                                           \
          for (type k = start[i]; k < start[i + 1]; k++) all += value[k] * x[column[k]];            \
          y[i] = all;                                                                               \
        }                                                                                           \
      }                                                                                             \
      /* Values change where others read them; a row becomes a little longer, another shorter. */  \
      _Pragma("omp parallel for") for (int k = 0; k < ROWS * MOST / 3; k++) value[k] *= 0.5 + k % 4; \
      _Pragma("omp parallel for") for (int i = 0; i < ROWS; i++) x[i] = 0.75 * x[i] + 0.125 * y[i] + 1; \
      if (sweep % 3 == 1 && !shuffled) {                                                            \
        _Pragma("omp parallel for") for (int i = 1; i < ROWS; i++) if (i % 4 == 2) start[i] =       \
            (start[i - 1] + start[i + 1]) / 2;                                                      \
      }                                                                                             \
    }                                                                                               \
    for (int i = 0; i < ROWS; i++) sum = 0.5 * sum + x[i];                                          \
    free(start), free(end), free(column), free(value), free(x), free(y);                            \
    return sum;                                                                                     \
  }

MATRIX(with_int, int)
MATRIX(with_long, long)
MATRIX(with_unsigned, unsigned)
MATRIX(with_short, short)
MATRIX(with_unsigned_short, unsigned short)

// Blocks of b x b numbers.
static double blocks(int n, int b) {
  int *start = malloc((n + 1) * sizeof *start);
  start[0] = 0;
  for (int i = 0; i < n; i++) start[i + 1] = start[i] + i % 4;
  int all = start[n];
  double *value = malloc(all * b * b * sizeof *value), *y = malloc(n * b * sizeof *y), sum = 0;
#pragma omp parallel for
  for (int k = 0; k < all * b * b; k++) value[k] = k % 23;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int r = 0; r < b; r++) {
      double row = 0;
      for (int k = start[i]; k < start[i + 1]; k++)
        for (int c = 0; c < b; c++) row += value[(k * b + r) * b + c];
      y[i * b + r] = row;
    }
  for (int i = 0; i < n * b; i++) sum = 0.9 * sum + y[i];
  free(start), free(value), free(y);
  return sum;
}

// From the end of a row to its start, every second element, and with a length instead of an end.
static double falling(int n) {
  int *start = malloc((n + 1) * sizeof *start), *length = malloc(n * sizeof *length);
  start[0] = 0;
  for (int i = 0; i < n; i++) length[i] = i * 3 % 7, start[i + 1] = start[i] + length[i];
  double *value = malloc((start[n] + 1) * sizeof *value), *y = malloc(n * sizeof *y), sum = 0;
#pragma omp parallel for
  for (int k = 0; k <= start[n]; k++) value[k] = k % 29;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double row = 0;
    for (int k = start[i + 1] - 1; k >= start[i]; k -= 2) row = 0.5 * row + value[k];
    for (int k = 0; k < length[i]; k++) row = 0.5 * row + value[start[i] + k];
    y[i] = row;
  }
  for (int i = 0; i < n; i++) sum = 0.9 * sum + y[i];
  free(start), free(length), free(value), free(y);
  return sum;
}

// Elements of a bucket counted from where it begins: as many as there are until the next one begins.
static double buckets(int n) {
  int *start = malloc((n + 1) * sizeof *start);
  start[0] = 0;
  for (int i = 0; i < n; i++) start[i + 1] = start[i] + (i % 6 == 2 ? 0 : i * 5 % 9);
  double *value = malloc((start[n] + 1) * sizeof *value), *y = malloc(n * sizeof *y), sum = 0;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for
    for (int k = start[n]; k >= 0; k--) value[k] = k % 31 + sweep;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      const double *mine = value + start[i];
      int count = start[i + 1] - start[i];
      double row = 0;
      for (int k = 0; k < count; k++) row = 0.5 * row + mine[k];
      for (int k = 1; k < count; k += 3) row = 0.75 * row + mine[k];
      y[i] = row;
    }
    for (int i = 0; i < n; i++) sum = 0.9 * sum + y[i];
  }
  free(start), free(value), free(y);
  return sum;
}

// Each thread sets the bounds of a row just before it reads them, as ints behind another pointer.
__attribute__((noinline)) static void widen(int n, int *bounds, int *same, const int *value, int *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    same[2 * i + 1] += i % 5;
    int row = 0;
    for (int k = bounds[2 * i]; k < bounds[2 * i + 1]; k++) row = row * 3 + value[k];
    y[i] = row;
  }
}

static int written(int n) {
  int *bounds = malloc(2 * n * sizeof *bounds), *value = malloc(8 * n * sizeof *value), *y = malloc(n * sizeof *y);
  for (int i = 0; i < n; i++) bounds[2 * i] = 4 * i, bounds[2 * i + 1] = 4 * i + 1;
#pragma omp parallel for
  for (int k = 0; k < 8 * n; k++) value[k] = k % 13;
  unsigned sum = 0;
  for (int sweep = 0; sweep < 3; sweep++) {
    widen(n, bounds, bounds, value, y);
    for (int i = 0; i < n; i++) sum = sum * 7 + y[i];
#pragma omp parallel for
    for (int k = 0; k < 8 * n; k++) value[k] += k % 3;
  }
  free(bounds), free(value), free(y);
  return sum % 100000;
}

// What several cells have for each of their corners is added up at the nodes: where a node's corners are stands in a table
// whose rows a table says, of nodes in an order that a third one says. Who has which corner changes, in regions and in serial
// code; some nodes have none.
static double corners(int nodes, int sweeps) {
  int *order = malloc(nodes * sizeof *order), *start = malloc((nodes + 1) * sizeof *start);
  start[0] = 0;
  for (int i = 0; i < nodes; i++) {
    order[i] = i ^ (i + 1 < nodes && nodes % 2 == 0);
    start[i + 1] = start[i] + (i % 9 == 3 ? 0 : 4);
  }
  int all = start[nodes];
  unsigned short *near = malloc((all + 1) * sizeof *near);
  double *force = malloc((all + 1) * sizeof *force), *y = malloc(nodes * sizeof *y), sum = 0;
#pragma omp parallel for
  for (int k = 0; k < all; k++) near[k] = k;
  for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp parallel for
    for (int k = 0; k < all; k++) force[k] = 0.5 * (k % 17) + sweep;
#pragma omp parallel for
    for (int i = 0; i < nodes; i++) {
      double here = 0, last = 0;
      for (int k = start[order[i]]; k < start[order[i] + 1]; k++) here += force[near[k]];
      for (int k = start[i]; k < start[i + 1]; k++) last = 0.5 * last + force[near[k]];
      y[i] = here + last;
    }
    for (int i = 0; i < nodes; i++) sum = 0.9 * sum + y[i];
    if (sweep % 3 == 0)
      for (int k = sweep; k < all; k += 5) near[k] = (k * 7 + sweep) % all;
    else if (sweep % 3 == 1) {
#pragma omp parallel for
      for (int k = 0; k < all; k++) near[k] = k < 40 ? k : k - 40 + sweep % 2;
    }
  }
  free(order), free(start), free(near), free(force), free(y);
  return sum;
}

int main(void) {
  printf("%.9g %.9g %.9g\n", corners(3000, 8), corners(1001, 5), corners(3, 2));
  printf("%.9g %.9g\n", with_int(0, 7), with_int(1, 4));
  printf("%.9g %.9g\n", with_long(0, 7), with_long(1, 4));
  printf("%.9g %.9g\n", with_unsigned(0, 7), with_unsigned(1, 4));
  printf("%.9g %.9g\n", with_short(0, 7), with_short(1, 4));
  printf("%.9g %.9g\n", with_unsigned_short(0, 7), with_unsigned_short(1, 4));
  printf("%.9g %.9g %.9g %.9g\n", blocks(211, 1), blocks(211, 3), blocks(2, 5), blocks(1000, 2));
  printf("%.9g %.9g\n", falling(1000), falling(3));
  printf("%.9g %.9g\n", buckets(1000), buckets(3));
  printf("%d %d\n", written(700), written(2));
  return 0;
}
