// schedules: 0 1 2 3 4
// refused: 90
//
// Chains and OpenMP: loops with their own `parallel for` and with clauses, which the schedule replaces; a chain in a parallel region, whose
// loops are shared by its threads, and in a function that is called in one and outside; boxes in parallel, each with a chain; a chain in a task.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS parallel
#elif SCHEDULE == 4
#define ITEMS fuse(), tile((8), serial, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0), (0))
#endif

enum { N = 60, BOXES = 5 };

static void with_clauses(const double *a, double *b, double *c, double offset) {
  double one, other = 0;
  int i;
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(1 : N) with(i) read a{(i - 1), (i)}, write b{(i)}
#pragma omp parallel for private(one) firstprivate(offset) schedule(static, 3)
    for (i = 1; i <= N; i++) {
      one = a[i - 1] + offset;
      b[i] = one * a[i];
    }
#pragma omplc for domain(1 : N) with(i) read b{(i), (i + 1)}, write c{(i)}
#pragma omp parallel for simd lastprivate(other)
    for (i = 1; i <= N; i++) {
      other = b[i] - b[i + 1];
      c[i] = other;
    }
  }
  printf("%a\n", other);
}

// What the last iteration of two loops leaves behind, also of a loop without a directive that says so; where there is none what was
// there before.
static void last_of_two(int n, int m) {
  static double a[9][12], b[9][12];
  double x = -1;
  float y = 3;
  short z = 4;
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 12; j++)
      a[i][j] = noise(i * 20 + j + m);
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(0 : n - 1, 1 : m) with(i, j) read a{(i, j), (i, j - 1)}, write b{(i, j)}
#pragma omp parallel for collapse(2) lastprivate(x) private(y)
    for (int i = 0; i < n; i++)
      for (int j = 1; j <= m; j++) {
        x = a[i][j] - a[i][j - 1];
        if (x > 0.5) x = i;
        y = x * 2;
        b[i][j] = y + x;
      }
#pragma omplc for domain(0 : n - 1, 1 : m) with(i, j) read b{(i, j)}, write a{(i, j)}
    for (int i = 0; i < n; i++)
      for (int j = 1; j <= m; j++) {
        y = b[i][j] + 1;
        a[i][j] = y;
        z = (short)(j * 3);
      }
  }
  printf("%a %a %d\n", x, y, z);
}

// A function of a region, or of none.
static void shared_out(const double *a, double *b, double *c, int n) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(1 : n) with(i) read c{(i)}, write c{(i)}
#pragma omp for schedule(static) nowait
    for (int i = 1; i <= n; i++)
      c[i] += 1;
#pragma omplc for domain(1 : n) with(i) read a{(i - 1), (i)}, read c{(i)}, write b{(i)}
#pragma omp for schedule(static) nowait
    for (int i = 1; i <= n; i++)
      b[i] = a[i - 1] * a[i] + c[i];
  }
}

static double in_a_region(const double *a, double *b, double *c) {
  double sum = 0;
#pragma omp parallel
  {
    for (int t = 0; t < 3; t++) {
      shared_out(a, b, c, N - t);
#pragma omp barrier
    }
    PRAGMA(omplc loopchain schedule(ITEMS))
    {
#pragma omplc for domain(1 : N) with(i) read a{(i - 1), (i)}, write b{(i)}
#pragma omp for
      for (int i = 1; i <= N; i++)
        b[i] = a[i - 1] * a[i];
#pragma omplc for domain(1 : N) with(i) read b{(i), (i + 1)}, write c{(i)}
#pragma omp for nowait
      for (int i = 1; i <= N; i++)
        c[i] = b[i] + b[i + 1];
    }
    PRAGMA(omplc loopchain schedule(ITEMS))
    {
#pragma omplc for domain(1 : N) with(i) read c{(i)}
#pragma omp for reduction(+ : sum)
      for (int i = 1; i <= N; i++)
        sum += (double)(long)(64 * c[i]);
    }
  }
  shared_out(a, b, c, N);
  return sum;
}

static void box(const double *a, double *b, double *c) {
  PRAGMA(omplc loopchain schedule(ITEMS) local b)
  {
#pragma omplc for domain(0 : N + 1) with(i) read a{(i)}, write b{(i)}
    for (int i = 0; i <= N + 1; i++)
      b[i] = a[i] * a[i];
#pragma omplc for domain(1 : N) with(i) read b{(i - 1), (i + 1)}, write c{(i)}
    for (int i = 1; i <= N; i++)
      c[i] = b[i - 1] - b[i + 1];
  }
}

int main(void) {
  static double a[BOXES][N + 2], b[BOXES][N + 2], c[BOXES][N + 2];
  for (int k = 0; k < BOXES; k++)
    for (int i = 0; i < N + 2; i++) {
      a[k][i] = noise(k * 1000 + i);
      b[k][i] = noise(k * 1000 + i + 500);
    }
  with_clauses(a[0], b[0], c[0], 0.125);
  print_doubles("b", b[0], N + 2);
  print_doubles("c", c[0], N + 2);
  last_of_two(9, 11), last_of_two(1, 1), last_of_two(0, 3), last_of_two(3, -2), last_of_two(5, 6);
  printf("%a\n", in_a_region(a[1], b[1], c[1]));
  print_doubles("b", b[1], N + 2);
  print_doubles("c", c[1], N + 2);
#pragma omp parallel for schedule(dynamic)
  for (int k = 0; k < BOXES; k++) {
    double own[N + 2];
    box(a[k], own, c[k]);
  }
  print_doubles("c", &c[0][0], BOXES * (N + 2));
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < BOXES; k++) {
#pragma omp task firstprivate(k)
    box(c[k], b[k], a[k]);
  }
  print_doubles("a", &a[0][0], BOXES * (N + 2));
  return 0;
}
