// schedules: 0 1 2 3
//
// Loops over the first and the last column, at constant places, beside loops over all of a plane: of arrays whose type says how
// long a row is, of rows as long as a variable says, and of places that are computed.
#include "chain.h"

#if SCHEDULE == 0
#define ALL
#elif SCHEDULE == 1
#define ALL auto
#elif SCHEDULE == 2
#define ALL fuse()
#elif SCHEDULE == 3
#define ALL fuse(), tile((4, 8), wavefront, serial)
#endif

enum { W = 24 };
static double a[W][W], b[W][W];

// The same chain, by how an element is written.
#define CHAIN(NAME, PARAMETERS, A, B)                                                                          \
  __attribute__((noinline)) static void NAME PARAMETERS {                                                      \
    PRAGMA(omplc loopchain schedule(ALL))                                                                      \
    {                                                                                                          \
      PRAGMA(omplc for domain(1:n - 2, 1:n - 2) with(i, j)                                                     \
             write b{(i, j)}, read a{(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)})                          \
      for (int i = 1; i <= n - 2; i++)                                                                         \
        for (int j = 1; j <= n - 2; j++)                                                                       \
          B(i, j) = 0.25 * (A(i - 1, j) + A(i + 1, j) + A(i, j - 1) + A(i, j + 1));                            \
      PRAGMA(omplc for domain(1:n - 2) with(i) write b{(i, 0)}, read b{(i, 1)})                                \
      for (int i = 1; i <= n - 2; i++)                                                                         \
        B(i, 0) = B(i, 1);                                                                                     \
      PRAGMA(omplc for domain(1:n - 2) with(i) write b{(i, 23)}, read b{(i, 22)})                              \
      for (int i = 1; i <= n - 2; i++)                                                                         \
        B(i, W - 1) = 2 * B(i, W - 2);                                                                         \
      PRAGMA(omplc for domain(1:n - 2, 1:n - 2) with(i, j)                                                     \
             write a{(i, j)}, read b{(i - 1, j), (i, j - 1), (i, j + 1)})                                      \
      for (int i = 1; i <= n - 2; i++)                                                                         \
        for (int j = 1; j <= n - 2; j++)                                                                       \
          A(i, j) = B(i - 1, j) + 0.5 * B(i, j - 1) - B(i, j + 1);                                             \
    }                                                                                                          \
  }

#define OF_TYPE_A(i, j) a[i][j]
#define OF_TYPE_B(i, j) b[i][j]
CHAIN(of_type, (int n), OF_TYPE_A, OF_TYPE_B)
#define COMPUTED_A(i, j) a[(i) * m + (j)]
#define COMPUTED_B(i, j) b[(i) * m + (j)]
CHAIN(of_variables, (int n, int m, double (*restrict a)[m], double (*restrict b)[m]), OF_TYPE_A, OF_TYPE_B)
CHAIN(computed, (int n, int m, double *restrict a, double *restrict b), COMPUTED_A, COMPUTED_B)

int main(void) {
  for (int i = 0; i < W; i++)
    for (int j = 0; j < W; j++)
      a[i][j] = noise(i * W + j), b[i][j] = noise(1000 + i * W + j);
  of_type(W);
  print_doubles("a", &a[0][0], W * W);
  of_variables(W, W, a, b);
  print_doubles("a", &a[0][0], W * W);
  computed(W, W, &a[0][0], &b[0][0]);
  print_doubles("a", &a[0][0], W * W);
  print_doubles("b", &b[0][0], W * W);
  puts("right");
  return 0;
}
