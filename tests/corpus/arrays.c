// Arrays whose length is only known at run time, flexible members, arrays as parameters.
// RUN: %S/compile %plugin %s
#include <stddef.h>
#include <stdlib.h>
struct flexible {
  int n;
  double rest[];
};
struct nested {
  struct flexible f;
} fixed;
struct counted {
  size_t n;
  int values[] __attribute__((counted_by(n)));
};
static struct flexible initialised = {3, {1, 2, 3}};

static double sum(int n, int m, double a[n][m], double row[static const 4]) {
  double s = row[3];
#pragma omp parallel for collapse(2) reduction(+ : s)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s += a[i][j];
  return s;
}

static size_t size_of_parameter(int n, int (*p)[n], int q[*]);
static size_t size_of_parameter(int n, int (*p)[n], int q[n]) { return sizeof *p + q[0]; }

int main(int argc, char **argv) {
  int n = argc + 9, m = n * 2;
  double a[n][m], (*p)[m] = a, *whole = &a[0][0];
  typedef int row[n];
  row r;
#pragma omp parallel for firstprivate(r) shared(a)
  for (int i = 0; i < n; i++) {
    char local[i + 1];
    local[i] = (char)i;
    r[i] = local[i];
    for (int j = 0; j < m; j++)
      p[i][j] = i * j;
  }
#pragma omp parallel for reduction(+ : r)
  for (int i = 0; i < n; i++)
    r[i] = i;
  double part[40] = {0};
#pragma omp parallel for reduction(+ : part[2 : 8])
  for (int i = 0; i < 40; i++)
    part[2 + i % 8] += initialised.rest[i % 3];
  struct flexible *f = malloc(sizeof *f + n * sizeof f->rest[0]);
  struct counted *c = malloc(sizeof *c + n * sizeof c->values[0]);
  f->n = c->n = n;
#pragma omp parallel for
  for (int i = 0; i < f->n; i++) {
    f->rest[i] = i;
    c->values[i] = i;
  }
  double s = sum(n, m, a, whole) + f->rest[3] + c->values[2] + size_of_parameter(n, &r, r) + part[4];
  return s + fixed.f.n > 0 ? 0 : 1;
}
