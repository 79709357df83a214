// Solvers along two directions of a grid, whose loops all ask whether the grid has inner points: LLVM leads control around
// questions that earlier ones answer. Also of grids that have none, or few.
#include <stdio.h>

#define MOST 12
static int points[3];
static double rhs[MOST][MOST][MOST], speed[MOST][MOST][MOST];

static void along_rows(void) {
#pragma omp for
  for (int k = 1; k <= points[2] - 2; k++) {
    double lhs[MOST][MOST], more[MOST][MOST], c[MOST];
    for (int i = 0; i < MOST; i++)
      for (int j = 0; j < MOST; j++) lhs[j][i] = more[j][i] = 0.25;
    for (int i = 1; i <= points[0] - 2; i++) {
      for (int j = 0; j <= points[1] - 1; j++) c[j] = speed[k][j][i];
      for (int j = 1; j <= points[1] - 2; j++) lhs[j][i] = c[j - 1] - c[j + 1];
    }
    for (int j = 3; j <= points[1] - 4; j++)
      for (int i = 1; i <= points[0] - 2; i++) lhs[j][i] += 0.5;
    for (int i = 1; i <= points[0] - 2; i++)
      if (points[1] >= 3) lhs[points[1] - 3][i] += 0.125;
    for (int j = 1; j <= points[1] - 2; j++)
      for (int i = 1; i <= points[0] - 2; i++) more[j][i] = lhs[j][i] + speed[k][j - 1][i] - speed[k][j + 1][i];
    for (int j = 0; j <= points[1] - 3; j++)
      for (int i = 1; i <= points[0] - 2; i++) {
        rhs[k][j][i] *= lhs[j][i];
        rhs[k][j + 1][i] -= lhs[j + 1][i] * rhs[k][j][i];
        rhs[k][j + 2][i] -= lhs[j + 2][i] * rhs[k][j][i];
      }
    int last = points[1] - 2;
    for (int i = 1; i <= points[0] - 2; i++)
      if (last >= 0) rhs[k][last + 1][i] -= lhs[last][i] * rhs[k][last][i];
    for (int j = 0; j <= points[1] - 3; j++)
      for (int i = 1; i <= points[0] - 2; i++) rhs[k][j + 1][i] -= more[j + 1][i] * rhs[k][j][i];
    for (int j = points[1] - 3; j >= 0; j--)
      for (int i = 1; i <= points[0] - 2; i++) rhs[k][j][i] -= 0.5 * (lhs[j][i] * rhs[k][j + 1][i] + more[j][i] * rhs[k][j + 2][i]);
  }
}

static void across(void) {
#pragma omp for
  for (int j = 1; j <= points[1] - 2; j++) {
    for (int k = 0; k <= points[2] - 3; k++)
      for (int i = 1; i <= points[0] - 2; i++) rhs[k + 1][j][i] -= 0.25 * rhs[k][j][i];
    for (int k = points[2] - 3; k >= 0; k--)
      for (int i = 1; i <= points[0] - 2; i++) rhs[k][j][i] -= 0.125 * rhs[k + 2][j][i];
  }
}

int main(void) {
  static const int sizes[][3] = {{12, 12, 12}, {12, 7, 9}, {5, 6, 12}, {9, 3, 12}, {12, 2, 7}, {2, 9, 12}, {12, 1, 5}, {8, 4, 10}};
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    for (int i = 0; i < 3; i++) points[i] = sizes[s][i];
    for (int k = 0; k < MOST; k++)
      for (int j = 0; j < MOST; j++)
        for (int i = 0; i < MOST; i++) {
          rhs[k][j][i] = 1 + (7 * k + 5 * j + 3 * i) % 11;
          speed[k][j][i] = 0.0625 * ((3 * k + 2 * j + i) % 5);
        }
#pragma omp parallel
    for (int step = 0; step < 3; step++) {
      along_rows();
      across();
    }
    double sum = 0;
    for (int k = 0; k < MOST; k++)
      for (int j = 0; j < MOST; j++)
        for (int i = 0; i < MOST; i++) sum += (1 + (k + 2 * j + 3 * i) % 7) * rhs[k][j][i];
    printf("%d %d %d: %.12g\n", points[0], points[1], points[2], sum);
  }
}
