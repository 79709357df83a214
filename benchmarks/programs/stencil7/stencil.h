// The 7-point stencil.
enum { RADIUS = 1, SIDE = 202, ITERATIONS = 40 };

#define UPDATED(a, i, j, k)                                                                        \
  ((1 - 6 * 0.1) * a[i][j][k] +                                                                   \
   0.1 * (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] +    \
          a[i][j][k - 1] + a[i][j][k + 1]))
