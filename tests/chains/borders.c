// schedules: 0 1 2 3 4 5
//
// Temporary spaces round whose middle there is what was there before, from negative places on, and temporary spaces that are
// used for one thing after another, by loops that begin at different places. And loops that do something else at their borders,
// wherever these are.
#include "chain.h"

#if SCHEDULE == 0
#define LINES
#define PLANES
#elif SCHEDULE == 1
#define LINES auto
#define PLANES auto
#elif SCHEDULE == 2
#define LINES fuse(), tile((8), overlap)
#define PLANES fuse(), tile((1, 1), serial, serial)
#elif SCHEDULE == 3
#define LINES fuse()
#define PLANES fuse(), tile((2, 2), serial, serial)
#elif SCHEDULE == 4
#define LINES fuse(), tile((8), serial, serial)
#define PLANES fuse(), tile((4, 1), serial, serial)
#elif SCHEDULE == 5
#define LINES parallel
#define PLANES fuse(), tile((7, 2), serial, serial)
#endif

enum { W = 20, P = 6, N = 80 };
static double a[W][W], b[W][W], c[W][W];
static double d[N], e[N], f[N];

// The border of `b` is read, and not written.
__attribute__((noinline)) static void planes(int n, int m) {
  PRAGMA(omplc loopchain schedule(PLANES) local(b))
  {
#pragma omplc for domain(0 : n, 1 : m) with(i, j) write b{(i, j)}, read c{(i, j)}
    for (int i = 0; i <= n; i++)
      for (int j = 1; j <= m; j++)
        b[i + P][j + P] = c[i + P][j + P] * 3;
#pragma omplc for domain(-3 : n + 3, -3 : m + 3) with(i, j) write a{(i, j)}, read b{(i, j)}, a{(i, j)}
    for (int i = -3; i <= n + 3; i++)
      for (int j = -3; j <= m + 3; j++)
        a[i + P][j + P] += b[i + P][j + P] + 1;
  }
}

// `e` is used twice, and both loops that read it have to see what is theirs.
__attribute__((noinline)) static void twice(int n) {
  PRAGMA(omplc loopchain schedule(LINES) local(e))
  {
#pragma omplc for domain(1 : n + 2) with(i) write e{(i)}, read d{(i)}
    for (int i = 1; i <= n + 2; i++)
      e[i] = d[i] * 3;
#pragma omplc for domain(2 : n) with(i) write f{(i)}, read e{(i - 1), (i + 2)}
    for (int i = 2; i <= n; i++)
      f[i] = e[i - 1] + e[i + 2];
#pragma omplc for domain(1 : n + 2) with(i) write e{(i)}, read d{(i)}
    for (int i = 1; i <= n + 2; i++)
      e[i] = d[i] * 1000;
#pragma omplc for domain(2 : n) with(i) write d{(i)}, read e{(i), (i + 1)}, f{(i - 1)}
    for (int i = 2; i <= n; i++)
      d[i] = e[i] + e[i + 1] + f[i - 1];
  }
}

// A single iteration of the first loop and the last one comes before all others.
__attribute__((noinline)) static void single(void) {
  PRAGMA(omplc loopchain schedule(LINES) local(e))
  {
#pragma omplc for domain(3 : 20) with(i) write e{(i)}, read d{(i)}
    for (int i = 3; i <= 20; i++)
      e[i] = d[i] * 0.5;
#pragma omplc for domain(4 : 16) with(i) write d{(i + 3)}, read e{(i - 1), (i + 2)}
    for (int i = 4; i <= 16; i++)
      d[i + 3] = e[i - 1] + e[i + 2];
#pragma omplc for domain(3 : 20) with(i) write e{(i)}
    for (int i = 3; i <= 20; i++)
      e[i] = 77;
  }
}

// What conditions compute although the program does not is without a meaning there.
__attribute__((noinline)) static void edges(int n, unsigned m, long from, int has_border) {
  int least = -__INT_MAX__ - has_border;
  PRAGMA(omplc loopchain schedule(PLANES) local(b))
  {
#pragma omplc for domain(0 : n - 1, 1 : m - 1) with(i, j) write b{(i, j)}, read c{(i, j), (i - 1, j), (i, j + 1)}
    for (int i = 0; i < n; i++)
      for (unsigned j = 1; j < m; j++) {
#pragma omplc strip
        if (i == 0 || j < 2 || j >= m - 2 || has_border && from + 1 <= i)
          b[i][j] = c[i][j];
        else
          b[i][j] = c[i][j] - 0.5 * c[i - 1][j] + c[i][j + 1];
      }
#pragma omplc for domain(0 : n - 1, 1 : m - 1) with(i, j) write a{(i, j)}, read a{(i, j)}, b{(i, j), (i - 1, j), (i, j - 1)}
    for (int i = 0; i < n; i++)
      for (unsigned j = 1; j < m; j++) {
        a[i][j] += b[i][j];
#pragma omplc strip
        if (!(i != n - 1) && j > 1 && (has_border || i > least - 1))
          a[i][j] += 2 * b[i][j - 1];
        else {
#pragma omplc strip
          if (0 < i && 7 != j)
            a[i][j] -= b[i - 1][j];
        }
      }
  }
}

int main(void) {
  for (int i = 0; i < W; i++)
    for (int j = 0; j < W; j++)
      a[i][j] = 0, b[i][j] = noise(i * W + j), c[i][j] = noise(1000 + i * W + j);
  for (int i = 0; i < N; i++)
    d[i] = noise(2000 + i), e[i] = 1, f[i] = 0;
  planes(1, 2);
  planes(8, 9);
  single();
  print_doubles("d", d, N);
  twice(60);
  print_doubles("a", &a[0][0], W * W);
  print_doubles("d", d, N);
  print_doubles("f", f, N);
  for (int n = 0; n < 9; n++)
    edges(n % 5 * 4, n * 2 + 1, n % 3 * 4 - 4, n % 2);
  print_doubles("a", &a[0][0], W * W);
  puts("right");
  return 0;
}
