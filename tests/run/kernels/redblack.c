// ranks: 1 2 3 4
// opt: -O0 -O2
// flags: -lm
// compare: exact
//
// Red-black Gauss-Seidel for -laplace(u) = f on the unit square, in place, on a
// variable-length array. f is chosen so that sin(pi x) sin(pi y) solves the
// discrete equations; starting from zero, the error after k sweeps is exactly
// rho^(2k-1) of the solution on red points and rho^(2k) on black ones, with
// rho = cos(pi h). Points of one colour touch only the other: no data race.
#include <math.h>
#include <stdio.h>

enum { N = 160, SWEEPS = 200 };

static double solution(int i, int j) {
  const double pi = acos(-1.0);
  return sin(pi * i / N) * sin(pi * j / N);
}

// One colour's half of a sweep; returns the largest change.
static double relax(int side, double u[side][side], double source[side][side], int colour) {
  double change = 0;
#pragma omp parallel for reduction(max : change)
  for (int i = 1; i < side - 1; i++)
    for (int j = 1 + (i + 1 + colour) % 2; j < side - 1; j += 2) {
      double new = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + source[i][j]);
      change = fmax(change, fabs(new - u[i][j]));
      u[i][j] = new;
    }
  return change;
}

int main(void) {
  int side = N + 1;
  double u[side][side], source[side][side];
  double rho = cos(acos(-1.0) / N);

#pragma omp parallel for schedule(static, 7)
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++) {
      u[i][j] = 0;
      source[i][j] = 4 * (1 - rho) * solution(i, j);
    }

  for (int sweep = 1; sweep <= SWEEPS; sweep++) {
    double red = relax(side, u, source, 0);
    double black = relax(side, u, source, 1);
    if (sweep % 50 == 0)
      printf("sweep %d: changes %.17g %.17g\n", sweep, red, black);
  }

  double worst = 0;
#pragma omp parallel for reduction(max : worst)
  for (int i = 1; i < side - 1; i++)
    for (int j = 1; j < side - 1; j++) {
      int half_sweeps = (i + j) % 2 == 0 ? 2 * SWEEPS - 1 : 2 * SWEEPS;
      worst = fmax(worst, fabs(u[i][j] - (1 - pow(rho, half_sweeps)) * solution(i, j)));
    }
  printf("red-black: centre %.17g, quarter %.17g\n", u[N / 2][N / 2], u[N / 4][N / 4 + 1]);
  printf("largest deviation from the analytic value %.3e\n", worst);
  printf("verification %s\n", worst < 1e-13 ? "successful" : "failed");
  return worst >= 1e-13;
}
