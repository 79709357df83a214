// schedules: 0 1 2 3 4 5
// refused: 90 91
//
// Loops of other depths in one chain: one, two and three of them, of which pragmas speak of one or of two (acceptance row F5).
// What is inside belongs to an iteration: a loop with a bound that depends on it, a call, a condition, a `continue`.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#define MIXED
#elif SCHEDULE == 1
#define ITEMS auto
#define MIXED auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#define MIXED fuse()
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((5), serial, serial)
#define MIXED
#elif SCHEDULE == 4
#define ITEMS parallel
#define MIXED parallel
#elif SCHEDULE == 5
#define ITEMS tile((4), parallel, serial)
#define MIXED tile((4), parallel, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0), (0), (0))
#define MIXED
#elif SCHEDULE == 91
#define ITEMS fuse(), parallel
#define MIXED
#endif

enum { N = 20, M = 12 };

static double weigh(double a, double b) { return 0.25 * a + 0.75 * b; }

// Whatever their depth, all count along the first dimension.
static void rows(double a[N + 2], double b[N + 2][M], double c[N + 2][M][M], int n) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(1 : n) with(i) read a{(i)}, write a{(i)}
    for (int i = 1; i <= n; i++)
      a[i] = a[i] * a[i] + 1;
#pragma omplc for domain(1 : n) with(i) read a{(i - 1), (i), (i + 1)}, write b{(i)}
    for (int i = 1; i <= n; i++) {
      double sum = a[i - 1] + a[i];
      for (int j = 0; j < M; j++) {
        if (j == i)
          continue;
        b[i][j] = weigh(sum, a[i + 1]) * j;
      }
    }
#pragma omplc for domain(1 : n) with(i) read b{(i - 1), (i)}, write c{(i)}
    for (int i = 1; i <= n; i++)
      for (int j = 0; j < M; j++)
        for (int k = 0; k <= j; k++)
          c[i][j][k] = b[i][j] - b[i - 1][k];
  }
}

// A line, then a plane that reads it across, then a line that reads the plane's diagonal.
static void mixed(double a[N + 2], double b[N + 2][M], double d[N + 2], int n) {
  PRAGMA(omplc loopchain schedule(MIXED))
  {
#pragma omplc for domain(0 : n) with(i) write a{(i)}, read a{(i)}
    for (int i = 0; i <= n; i++)
      a[i] = 0.5 * a[i];
#pragma omplc for domain(0 : n, 0 : M - 1) with(i, j) read a{(i)}, write b{(i, j)}, read b{(i, j)}
    for (int i = 0; i <= n; i++)
      for (int j = 0; j < M; j++)
        b[i][j] += a[i];
#pragma omplc for domain(0 : n) with(i) read b{(i, 3)}, write d{(i)}
    for (int i = 0; i <= n; i++)
      d[i] = b[i][3];
  }
}

int main(void) {
  static double a[N + 2], b[N + 2][M], c[N + 2][M][M], d[N + 2];
  for (int i = 0; i < N + 2; i++) {
    a[i] = noise(i);
    for (int j = 0; j < M; j++)
      b[i][j] = noise(100 + i * M + j);
  }
  rows(a, b, c, N);
  print_doubles("a", a, N + 2);
  print_doubles("b", &b[0][0], (N + 2) * M);
  print_doubles("c", &c[0][0][0], (N + 2) * M * M);
  mixed(a, b, d, N);
  print_doubles("a", a, N + 2);
  print_doubles("b", &b[0][0], (N + 2) * M);
  print_doubles("d", d, N + 2);
  rows(a, b, c, 0);
  mixed(a, b, d, -1);
  print_doubles("d", d, N + 2);
  return 0;
}
