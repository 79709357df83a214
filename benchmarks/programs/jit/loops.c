// Loops whose lengths a program knows when it runs only:
//
//   stencil   a stencil along rows, of a radius that is read from the command line
//   sparse    a sparse matrix times a vector, all of whose rows have as many elements
//   tensor    a derivative along three directions on spectral elements of an order
//   boxes     differences of fluxes in boxes of so many cells a side
//
//   loops [SCALE]
//
// SCALE divides what there is to do, and how long it runs.
#include "measure.h"

// What a loop works on.
struct data {
  int n, length;
  const double *in, *other;
  const int *columns;
  double *out;
  long count;
};

static void stencil(const void *data) {
  const struct data *d = (const struct data *)data;
  const int n = d->n, radius = d->length;
  const double *u = d->in, *c = d->other;
  double *v = d->out;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = radius; j < n - radius; j++) {
      double sum = 0;
      for (int k = -radius; k <= radius; k++) sum += c[k + radius] * u[(long)i * n + j + k];
      v[(long)i * n + j] = sum;
    }
}

static void sparse(const void *data) {
  const struct data *d = (const struct data *)data;
  const int rows = d->n, length = d->length;
  const double *values = d->other, *x = d->in;
  const int *columns = d->columns;
  double *y = d->out;
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    double sum = 0;
    for (int k = 0; k < length; k++) sum += values[(long)row * length + k] * x[columns[(long)row * length + k]];
    y[row] = sum;
  }
}

static void tensor(const void *data) {
  const struct data *d = (const struct data *)data;
  const int elements = d->n, order = d->length;
  const double *u = d->in, *derivative = d->other;
  double *w = d->out;
#pragma omp parallel for
  for (int e = 0; e < elements; e++) {
    const double *in = u + (long)e * order * order * order;
    double *out = w + (long)e * order * order * order;
    for (int k = 0; k < order; k++)
      for (int j = 0; j < order; j++)
        for (int i = 0; i < order; i++) {
          double sum = 0;
          for (int m = 0; m < order; m++)
            sum += derivative[i * order + m] * in[(k * order + j) * order + m] +
                   derivative[j * order + m] * in[(k * order + m) * order + i] +
                   derivative[k * order + m] * in[(m * order + j) * order + i];
          out[(k * order + j) * order + i] = sum;
        }
  }
}

#define CELL(k, j, i) (((long)(k) * (size + 2) + (j)) * (size + 2) + (i))
static void boxes(const void *data) {
  const struct data *d = (const struct data *)data;
  const int count = d->n, size = d->length;
  const long cells = (long)(size + 2) * (size + 2) * (size + 2);
  const double *u = d->in;
  double *v = d->out;
#pragma omp parallel for
  for (int box = 0; box < count; box++) {
    const double *in = u + box * cells;
    double *out = v + box * cells;
    for (int k = 1; k <= size; k++)
      for (int j = 1; j <= size; j++)
        for (int i = 1; i <= size; i++)
          out[CELL(k, j, i)] = in[CELL(k, j, i)] + 0.1 * (in[CELL(k, j, i + 1)] * in[CELL(k, j, i)] - in[CELL(k, j, i)] * in[CELL(k, j, i - 1)]) +
                               0.1 * (in[CELL(k, j + 1, i)] * in[CELL(k, j, i)] - in[CELL(k, j, i)] * in[CELL(k, j - 1, i)]) +
                               0.1 * (in[CELL(k + 1, j, i)] * in[CELL(k, j, i)] - in[CELL(k, j, i)] * in[CELL(k - 1, j, i)]);
  }
}

int main(int count, char **arguments) {
  const int scale = count > 1 ? atoi(arguments[1]) : 1;
  const int radius = count > 2 ? atoi(arguments[2]) : 4, order = count > 3 ? atoi(arguments[3]) : 8;
  const int size = count > 4 ? atoi(arguments[4]) : 16, length = count > 5 ? atoi(arguments[5]) : 9;
  {
    const int n = 512 / scale + 2 * radius;
    const long all = (long)n * n;
    const struct data d = {n, radius, numbers(all), numbers(2 * radius + 1), NULL, numbers(all), all};
    measure("stencil", stencil, &d, d.out, d.count, scale);
  }
  {
    const int rows = 40000 / scale;
    int *columns = malloc((long)rows * length * sizeof *columns);
    for (int row = 0; row < rows; row++)
      for (int k = 0; k < length; k++) columns[(long)row * length + k] = (row + k * k * 3) % rows;
    const struct data d = {rows, length, numbers(rows), numbers((long)rows * length), columns, numbers(rows), rows};
    measure("sparse", sparse, &d, d.out, d.count, scale);
  }
  {
    const int elements = 512 / scale;
    const long all = (long)elements * order * order * order;
    const struct data d = {elements, order, numbers(all), numbers(order * order), NULL, numbers(all), all};
    measure("tensor", tensor, &d, d.out, d.count, scale);
  }
  {
    const int many = 64 / scale;
    const long all = (long)many * (size + 2) * (size + 2) * (size + 2);
    const struct data d = {many, size, numbers(all), NULL, NULL, numbers(all), all};
    measure("boxes", boxes, &d, d.out, d.count, scale);
  }
  tell_memory();
}
