// Red-black Gauss-Seidel: two colours of one array, updated in place.
// threads: any
#include <stdio.h>

enum { n = 120 };
static double u[n + 2][n + 2], f[n + 2][n + 2];

int main(void) {
  for (int i = 0; i < n + 2; i++)
    for (int j = 0; j < n + 2; j++) f[i][j] = (i * j) % 8 - 3.5;
#pragma omp parallel
  for (int sweep = 0; sweep < 25; sweep++)
    for (int colour = 0; colour < 2; colour++) {
#pragma omp for
      for (int i = 1; i <= n; i++)
        for (int j = 1 + (i + colour) % 2; j <= n; j += 2)
          u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
    }
  double sum = 0;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) sum += u[i][j] * ((i + j) % 3);
  printf("%.17g\n", sum);
  return 0;
}
