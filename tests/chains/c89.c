// flags: -std=gnu89 -Wno-gcc-compat
// schedules: 0 1 2 3 4 5
// refused: 90
//
// Iteration variables that are declared in front of the chain, as C had to be written once; in one function they are read behind it
// and have the values that the loops leave. Counting by `i += 1`, `++i`, `i = i + 1`, to before `n + 1`, and until `i != n`.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((4, 4), serial, serial)
#elif SCHEDULE == 4
#define ITEMS fuse(), tile((4, 4), wavefront, serial)
#elif SCHEDULE == 5
#define ITEMS parallel
#elif SCHEDULE == 90
#define ITEMS fuse((0, 0), (0, 0), (0, 0))
#endif

#define N 14

static double a[N + 2][N + 2], b[N + 2][N + 2], c[N + 2][N + 2];

#define LOOPS                                                                                          \
  PRAGMA(omplc loopchain schedule(ITEMS))                                                              \
  {                                                                                                    \
    PRAGMA(omplc for domain(1 : n, 1 : n) with(i, j) read a{(i - 1, j), (i + 1, j)}, write b{(i, j)})  \
    for (i = 1; i < n + 1; i += 1)                                                                     \
      for (j = 1; j <= n; ++j)                                                                         \
        b[i][j] = a[i - 1][j] + a[i + 1][j];                                                           \
    PRAGMA(omplc for domain(1 : n, 1 : n) with(i, j) read b{(i, j - 1), (i, j + 1)}, write c{(i, j)})  \
    for (k = 1; k != n + 1; k = k + 1)                                                                 \
      for (m = 1; m < (unsigned)n + 1; m++) {                                                          \
        left = b[k][m - 1];                                                                            \
        c[k][m] = left - b[k][m + 1];                                                                  \
      }                                                                                                \
    PRAGMA(omplc for domain(1 : n, 1 : n) with(i, j) read c{(i, j)}, write a{(i, j)})                  \
    for (i = 1; i <= n; i++)                                                                           \
      for (j = 1; j <= n; j++)                                                                         \
        a[i][j] = 0.5 * c[i][j];                                                                       \
  }

static void sweep_and_tell(int n, int last[4]) {
  int i, j;
  long k;
  unsigned m;
  double left;
  LOOPS
  last[0] = i;
  last[1] = j;
  last[2] = (int)k;
  last[3] = (int)m;
}

static void sweep(int n) {
  int i, j;
  long k;
  unsigned m;
  double left;
  LOOPS
}

int main(void) {
  int i, j, last[4];
  for (i = 0; i < N + 2; i++)
    for (j = 0; j < N + 2; j++) {
      a[i][j] = noise(i * 50 + j);
      b[i][j] = noise(i * 50 + j + 5000);
    }
  sweep_and_tell(N, last);
  printf("%d %d %d %d\n", last[0], last[1], last[2], last[3]);
  sweep_and_tell(1, last);
  printf("%d %d %d %d\n", last[0], last[1], last[2], last[3]);
  sweep(N);
  sweep(3);
  print_doubles("a", &a[0][0], (N + 2) * (N + 2));
  print_doubles("b", &b[0][0], (N + 2) * (N + 2));
  print_doubles("c", &c[0][0], (N + 2) * (N + 2));
  return 0;
}
