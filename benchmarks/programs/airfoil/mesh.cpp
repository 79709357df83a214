// Writes the mesh around a NACA 0012 airfoil that OP2's programs read, `new_grid.dat`: 3I x J cells.
//
//   mesh I J FILE      I = 400, J = 600 is the usual one; I = 40, J = 60 a small one
//
// The square root of the plane unfolds the airfoil into a nearly straight wall; a grid of columns above
// it, squared, lies around the airfoil.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

using std::vector;

// The cubic spline through (x, y) whose third derivative is continuous at the second point and the last
// but one, at the increasing places `at`.
static vector<double> spline(const vector<double> &x, const vector<double> &y,
                             const vector<double> &at) {
  size_t n = x.size();
  // Slopes by elimination in a system of three diagonals; its first and last rows are the conditions at
  // the ends, combined with their neighbours.
  vector<double> h(n - 1), rise(n - 1), low(n), middle(n), high(n), slope(n);
  for (size_t i = 0; i + 1 < n; i++) {
    h[i] = x[i + 1] - x[i];
    rise[i] = (y[i + 1] - y[i]) / h[i];
  }
  double first = h[0] + h[1], last = h[n - 2] + h[n - 3];
  middle[0] = h[1];
  high[0] = first;
  slope[0] = ((h[0] + 2 * first) * h[1] * rise[0] + h[0] * h[0] * rise[1]) / first;
  for (size_t i = 1; i + 1 < n; i++) {
    low[i] = h[i];
    middle[i] = 2 * (h[i - 1] + h[i]);
    high[i] = h[i - 1];
    slope[i] = 3 * (h[i] * rise[i - 1] + h[i - 1] * rise[i]);
  }
  low[n - 1] = last;
  middle[n - 1] = h[n - 3];
  slope[n - 1] =
      (h[n - 2] * h[n - 2] * rise[n - 3] + (2 * last + h[n - 2]) * h[n - 3] * rise[n - 2]) / last;
  for (size_t i = 1; i < n; i++) {
    double factor = low[i] / middle[i - 1];
    middle[i] -= factor * high[i - 1];
    slope[i] -= factor * slope[i - 1];
  }
  slope[n - 1] /= middle[n - 1];
  for (size_t i = n - 1; i-- > 0;)
    slope[i] = (slope[i] - high[i] * slope[i + 1]) / middle[i];

  vector<double> values;
  size_t piece = 0;
  for (double place : at) {
    while (piece + 2 < n && place >= x[piece + 1])
      piece++;
    double t = place - x[piece], width = h[piece];
    double square = (3 * rise[piece] - 2 * slope[piece] - slope[piece + 1]) / width;
    double cube = (slope[piece] + slope[piece + 1] - 2 * rise[piece]) / (width * width);
    values.push_back(y[piece] + t * (slope[piece] + t * (square + t * cube)));
  }
  return values;
}

int main(int argc, char **argv) {
  int I = argc > 3 ? atoi(argv[1]) : 0, J = argc > 3 ? atoi(argv[2]) : 0;
  if (I < 3 || J < 3) {
    fprintf(stderr, "usage: mesh I J FILE, with I and J of 3 or more\n");
    return 2;
  }
  FILE *file = fopen(argv[3], "w");
  if (!file) {
    perror(argv[3]);
    return 1;
  }
  const int N = 3 * I;
  const double nose = 0.0077;  // inside the airfoil's rounding

  // Its upper side, unfolded, and the mirror image of that: one line from tail to tail.
  const int points = 100;
  vector<std::complex<double>> upper;
  for (int k = 0; k < points; k++) {
    double s = sin(k * (M_PI / 2) / (points - 1)), x = s * s;
    double y = 0.594689181 * (0.298222773 * sqrt(x) - 0.127125232 * x - 0.357907906 * x * x +
                              0.291984971 * x * x * x - 0.105174696 * x * x * x * x);
    upper.push_back(std::sqrt(std::complex<double>(x - nose, k == points - 1 ? 0.0 : y)));
  }
  vector<double> along, above;
  for (int k = points - 1; k > 0; k--) {
    along.push_back(-upper[k].real());
    above.push_back(upper[k].imag());
  }
  for (auto &point : upper) {
    along.push_back(point.real());
    above.push_back(point.imag());
  }

  // The wall under the columns: the airfoil in the middle third, straight beside it.
  vector<double> xb(N + 1), yb(N + 1, 0.0), inside;
  for (int i = 0; i <= N; i++)
    xb[i] = -3.0 + 6.0 * i / N;
  for (int i = I + 1; i < 2 * I; i++)
    inside.push_back(xb[i]);
  vector<double> heights = spline(along, above, inside);
  for (int i = I + 1; i < 2 * I; i++)
    yb[i] = heights[i - I - 1];

  auto node = [&](int i, int j) { return i + j * (N + 1); };
  auto cell = [&](int i, int j) { return i + j * N; };
  int edges = 0;
  auto each_edge = [&](auto edge) {
    for (int j = 0; j < J; j++)
      for (int i = 0; i < N; i++) {
        if (j == 0 && i < I)  // behind the tail the two halves of the wall are one line
          edge(node(i, 0), node(i + 1, 0), cell(N - 1 - i, 0), cell(i, 0));
        if (j < J - 1)
          edge(node(i, j + 1), node(i + 1, j + 1), cell(i, j), cell(i, j + 1));
        if (i < N - 1)
          edge(node(i + 1, j), node(i + 1, j + 1), cell(i + 1, j), cell(i, j));
      }
  };
  each_edge([&](int, int, int, int) { edges++; });

  fprintf(file, " %d %d %d %d \n", (N + 1) * (J + 1), N * J, edges, I + N + 2 * J);
  for (int j = 0; j <= J; j++)
    for (int i = 0; i <= N; i++) {
      std::complex<double> point(xb[i], yb[i] + (3.0 - yb[i]) * j / J);
      point *= point;
      fprintf(file, " %f %f \n", point.real(), point.imag());
    }
  for (int j = 0; j < J; j++)
    for (int i = 0; i < N; i++)
      fprintf(file, " %d %d %d %d \n", node(i, j), node(i + 1, j), node(i + 1, j + 1),
              node(i, j + 1));
  each_edge([&](int a, int b, int left, int right) {
    fprintf(file, " %d %d %d %d \n", a, b, left, right);
  });
  auto border = [&](int a, int b, int at, int flag) {
    fprintf(file, " %d %d %d %d \n", a, b, at, flag);
  };
  for (int i = I; i < 2 * I; i++)
    border(node(i + 1, 0), node(i, 0), cell(i, 0), 1);
  for (int j = 0; j < J; j++)
    border(node(N, j + 1), node(N, j), cell(N - 1, j), 2);
  for (int i = N - 1; i >= 0; i--)
    border(node(i, J), node(i + 1, J), cell(i, J - 1), 2);
  for (int j = J - 1; j >= 0; j--)
    border(node(0, j), node(0, j + 1), cell(0, j), 2);
  return fclose(file) ? 1 : 0;
}
