// The 7-point stencil's variant of radius 2, 13 points.
enum { RADIUS = 2, SIDE = 204, ITERATIONS = 30 };

#define UPDATED(a, i, j, k)                                                                        \
  (0.4 * a[i][j][k] + 0.08 * (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] +   \
                              a[i][j][k - 1] + a[i][j][k + 1]) +                                   \
   0.02 * (a[i - 2][j][k] + a[i + 2][j][k] + a[i][j - 2][k] + a[i][j + 2][k] + a[i][j][k - 2] +    \
           a[i][j][k + 2]))
