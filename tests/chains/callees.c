// variants: THREADS
// schedules: 1 3 4
// refused: 90
//
// Chains whose loops are in functions: of several loops each, which are called several times, by others, with arguments that are
// more than names; that compute numbers in front of their loops; and that are called without a chain as well. With THREADS
// their loops have directives of their own.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((8), serial, serial)
#elif SCHEDULE == 4
#define ITEMS parallel
#elif SCHEDULE == 90
#define ITEMS fuse((0), (0), (0), (0))
#endif

#ifdef THREADS
#define SHARED _Pragma("omp parallel for")
#else
#define SHARED
#endif

enum { N = 70 };

static void average(const double *from, double *to, int n, double weight) {
  double half = 0.5 * weight;
  int last = n;
#pragma omplc for domain(1 : last) with(x) read from{(x - 1), (x + 1)}, write to{(x)}
  SHARED
  for (int x = 1; x <= last; x++)
    to[x] = half * (from[x - 1] + from[x + 1]);
}

// Two loops, of which the first one is in another function.
void steps(double *restrict to, const double *restrict from, double *restrict between, int n) {
  average(from, between, n, 0.75);
  const double third = 1.0 / 3;
#pragma omplc for domain(1 : n) with(i) read between{(i)}, read from{(i)}, write to{(i)}
  SHARED
  for (int i = 1; i <= n; i++)
    to[i] = third * (between[i] + from[i]);
}

__attribute__((noinline)) static void twice(double *a, double *b, double *t, int n) {
  steps(b, a, t, n);
  steps(a, b, t, n);
}

// Four loops in two calls of a function, which calls two others.
static void chain(double *a, double *b, double *t, int n) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
    twice(a, b, t, n);
  }
}

struct grid {
  double *cells, *next;
  int size;
};

// What is handed on is part of something.
static void parts(struct grid grid, double *t) {
  double *cells = grid.cells;
#if SCHEDULE == 90
  PRAGMA(omplc loopchain schedule(fuse((0), (0))))
#else
  PRAGMA(omplc loopchain schedule(ITEMS))
#endif
  {
    average(cells, &t[0], grid.size, 1.25);
    average(t, grid.next, grid.size - 1, 1.25);
  }
}

// What lies between two loops of a function is a variable of its own, another one in each call.
static void own(const double *restrict from, double *restrict to, int n) {
  double between[N + 2];
#pragma omplc for domain(0 : n + 1) with(i) read from{(i)}, write between{(i)}
  for (int i = 0; i <= n + 1; i++)
    between[i] = 2 * from[i];
#pragma omplc for domain(1 : n) with(i) read between{(i - 1), (i + 1)}, write to{(i)}
  for (int i = 1; i <= n; i++)
    to[i] = 0.25 * (between[i - 1] + between[i + 1]);
}
static void owns(double *a, double *b, const int *n) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
    own(a, b, *n);
    own(b, a, N);
  }
}

// Boxes in rows of an array: a loop of two dimensions, whose pragma stands at the call.
static void sweep(double (*from)[N + 2], double (*to)[N + 2], int rows, int by) {
  int lower = 1 + by;
  for (int j = lower; j <= rows; j++)
    for (int i = 1; i <= rows; i++)
      to[j][i] = from[j - by][i] + from[j][i - 1];
}
static void boxes(double (*a)[N + 2], double (*b)[N + 2], int rows) {
#if SCHEDULE == 90
  PRAGMA(omplc loopchain schedule(fuse((0, 0), (-1, 0))))
#elif SCHEDULE == 3
  PRAGMA(omplc loopchain schedule(fuse(), tile((8, 4), serial, serial)))
#else
  PRAGMA(omplc loopchain schedule(ITEMS))
#endif
  {
#pragma omplc for domain(2 : rows, 1 : rows) with(j, i) read a{(j - 1, i), (j, i - 1)}, write b{(j, i)}
    sweep(a, b, rows, 1);
#pragma omplc for domain(3 : rows, 1 : rows) with(j, i) read b{(j - 2, i), (j, i - 1)}, write a{(j, i)}
    sweep(b, a, rows, 2);
  }
}

static double grids[2][N + 2][N + 2];

int main(void) {
  double a[N + 2], b[N + 2], t[N + 2];
  for (int i = 0; i < N + 2; i++) {
    a[i] = noise(i);
    b[i] = noise(i + 100);
    t[i] = noise(i + 200);
    for (int j = 0; j < N + 2; j++)
      grids[0][j][i] = noise(j * 100 + i);
  }
  chain(a, b, t, N);
  print_doubles("a", a, N + 2);
  print_doubles("b", b, N + 2);
  average(a, b, N, 0.5);
  print_doubles("b", b, N + 2);
  const int n = N;
  owns(a, b, &n);
  print_doubles("a", a, N + 2);
  parts((struct grid){.cells = a, .next = b, .size = N}, t);
  print_doubles("b", b, N + 2);
  boxes(grids[0], grids[1], N);
  print_doubles("grids", &grids[0][0][0], 2L * (N + 2) * (N + 2));
  return 0;
}
