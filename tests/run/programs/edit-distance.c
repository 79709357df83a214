// Edit distance by anti-diagonals: short loops with a barrier each.
// threads: any
#include <stdio.h>
#include <string.h>

enum { n = 150 };
static char a[n + 1], b[n + 1];
static int d[n + 1][n + 1];

int main(void) {
  for (int i = 0; i < n; i++) {
    a[i] = (char)('a' + i * 7 % 5);
    b[i] = (char)('a' + i * 11 % 6);
  }
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i <= n; i++) {
      d[i][0] = i;
      d[0][i] = i;
    }
    for (int diagonal = 2; diagonal <= 2 * n; diagonal++) {
      int low = diagonal > n ? diagonal - n : 1, high = diagonal > n ? n : diagonal - 1;
#pragma omp for schedule(static)
      for (int i = low; i <= high; i++) {
        int j = diagonal - i;
        int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
        if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
        if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
        d[i][j] = best;
      }
    }
  }
  printf("%d %d\n", d[n][n], d[n / 2][n]);
  return 0;
}
