// schedules: 0 1 2 3 4 5 6
// refused: 90 91
//
// Loops of other extents: three loops whose shifts must not be equal to what any two of them need (acceptance row U8), extents
// that do not overlap (S3), one iteration, none, lower bounds below 0, bounds that are expressions, planes and cubes of different
// sides (F1 to F4).
#include "chain.h"

#if SCHEDULE == 0
#define LINES
#define PLANES
#define CUBES
#define APART
#elif SCHEDULE == 1
#define LINES auto
#define PLANES auto
#define CUBES auto
#define APART auto
#elif SCHEDULE == 2
#define LINES fuse()
#define PLANES fuse()
#define CUBES fuse()
#define APART fuse()
#elif SCHEDULE == 3
#define LINES fuse((0), (1), (2))
#define PLANES fuse((0, 0), (0, 0))
#define CUBES fuse((0, 0, 0), (0, 0, 0))
#define APART fuse((0), (-9))
#elif SCHEDULE == 4
#define LINES fuse(), tile((4), serial, serial)
#define PLANES fuse(), tile((3, 4), parallel, serial)
#define CUBES fuse(), tile((2, 3, 4), serial, parallel)
#define APART fuse((0), (-9)), parallel
#elif SCHEDULE == 5
#define LINES tile((4), parallel, serial)
#define PLANES tile((3, 4), parallel, serial), fuse()
#define CUBES parallel
#define APART tile((3), parallel, serial)
#elif SCHEDULE == 6
#define LINES fuse((5), (6), (9))
#define PLANES fuse((3, -2), (4, 5))
#define CUBES fuse(), wavefront
#define APART fuse((-5), (5))
#elif SCHEDULE == 90
// The first two do, the third does not.
#define LINES fuse((0), (1), (1))
#define PLANES
#define CUBES
#define APART
#elif SCHEDULE == 91
#define LINES fuse((0), (1))
#define PLANES
#define CUBES
#define APART
#endif

// The third loop reads what the first one writes, at the same place, and what the second one writes, one further.
static void lines(const double *a, double *b, double *c, double *d, int n) {
  PRAGMA(omplc loopchain schedule(LINES))
  {
#pragma omplc for domain(1 : n) with(i) read a{(i)}, write b{(i)}
    for (int i = 1; i <= n; i++)
      b[i] = 2 * a[i];
#pragma omplc for domain(0 : n - 1) with(i) read b{(i + 1)}, write c{(i)}
    for (int i = 0; i < n; i++)
      c[i] = b[i + 1] + 1;
#pragma omplc for domain(-1 : n - 2) with(i) read c{(i + 1)}, read b{(i + 2)}, write d{(i + 1)}
    for (int i = -1; i <= n - 2; i++)
      d[i + 1] = c[i + 1] - 0.5 * b[i + 2];
  }
}

enum { WIDE = 24 };

static void planes(double a[WIDE][WIDE], double b[WIDE][WIDE], int n, int m) {
  PRAGMA(omplc loopchain schedule(PLANES))
  {
#pragma omplc for domain(1 : n, 1 : m) with(i, j) write a{(i, j)}, read a{(i, j)}
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= m; j++)
        a[i][j] = 1.5 * a[i][j];
#pragma omplc for domain(2 : (n + 3) - 1, 1 - 1 : m - 2 * 2) with(i, j) write b{(i, j)}, read a{(i, j)}, read b{(i, j)}
    for (int i = 2; i < n + 3; i++)
      for (int j = 0; j <= m - 4; j++)
        b[i][j] += a[i][j];
  }
}

enum { DEEP = 10 };

static void cubes(double a[DEEP][DEEP][DEEP], double b[DEEP][DEEP][DEEP], int n) {
  PRAGMA(omplc loopchain schedule(CUBES))
  {
#pragma omplc for domain(0 : n, 1 : n, 2 : n) with(i, j, k) write a{(i, j, k)}, read a{(i, j, k)}
    for (int i = 0; i <= n; i++)
      for (int j = 1; j <= n; j++)
        for (int k = 2; k <= n; k++)
          a[i][j][k] = 1.5 * a[i][j][k];
#pragma omplc for domain(2 : n, 1 : n, 0 : n) with(x, y, z) write b{(x, y, z)}, read a{(x, y, z)}
    for (int i = 2; i <= n; i++)
      for (int j = 1; j <= n; j++)
        for (int k = 0; k <= n; k++)
          b[i][j][k] = a[i][j][k] + k;
  }
}

static void apart(double *a, double *b) {
  PRAGMA(omplc loopchain schedule(APART))
  {
#pragma omplc for domain(1 : 10) with(i) write a{(i)}
    for (int i = 1; i <= 10; i++)
      a[i] = i * 0.1;
#pragma omplc for domain(10 : 19) with(i) write b{(i)}
    for (int i = 10; i <= 19; i++)
      b[i] = i * 0.2;
  }
}

static int all(int n, int m) {
  double *a = doubles(n + 2), *b = doubles(n + 2), *c = doubles(n + 2), *d = doubles(n + 2), *wanted = doubles(n + 2);
  int right = 1;
  for (int i = 0; i < n + 2; i++) {
    a[i] = noise(i);
    b[i] = c[i] = d[i] = wanted[i] = -i;
  }
  lines(a, b, c, d, n);
  for (int i = 0; i < n; i++) {
    double doubled = 2 * a[i + 1], more = doubled + 1;
    wanted[i] = more - 0.5 * doubled;
  }
  right &= same("d", d, wanted, n + 2);
  print_doubles("b", b, n + 2);
  print_doubles("c", c, n + 2);
  print_doubles("d", d, n + 2);
  free(a), free(b), free(c), free(d), free(wanted);

  static double p[WIDE][WIDE], q[WIDE][WIDE], wanted_q[WIDE][WIDE];
  for (int i = 0; i < WIDE; i++)
    for (int j = 0; j < WIDE; j++) {
      p[i][j] = noise(i * WIDE + j);
      q[i][j] = wanted_q[i][j] = noise(i * WIDE + j + 9999);
    }
  for (int i = 2; i < n + 3; i++)
    for (int j = 0; j <= m - 4; j++) {
      double scaled = i <= n && j >= 1 && j <= m ? 1.5 * p[i][j] : p[i][j];
      wanted_q[i][j] += scaled;
    }
  planes(p, q, n, m);
  right &= same("q", &q[0][0], &wanted_q[0][0], WIDE * WIDE);
  print_doubles("p", &p[0][0], WIDE * WIDE);
  print_doubles("q", &q[0][0], WIDE * WIDE);

  static double u[DEEP][DEEP][DEEP], v[DEEP][DEEP][DEEP];
  for (int at = 0; at < DEEP * DEEP * DEEP; at++) {
    (&u[0][0][0])[at] = noise(at);
    (&v[0][0][0])[at] = noise(at + 5555);
  }
  cubes(u, v, m % DEEP);
  print_doubles("u", &u[0][0][0], DEEP * DEEP * DEEP);
  print_doubles("v", &v[0][0][0], DEEP * DEEP * DEEP);
  return right;
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 17), right = 1;
  right &= all(n, 19);
  right &= all(3, 5);
  // A single iteration, and none.
  right &= all(1, 4);
  right &= all(0, 1);
  double a[20], b[20];
  for (int i = 0; i < 20; i++)
    a[i] = b[i] = 0;
  apart(a, b);
  print_doubles("a", a, 20);
  print_doubles("b", b, 20);
  puts(right ? "right" : "wrong");
  return !right;
}
