// An alternating-direction solver in methods that may throw: exceptions may pass to the end of the region between loops,
// which declare what they access.
// opt: -O0 -O2
#include <cstdio>
#include <stdexcept>
#define N 300
#define STEPS 12
static double v[N][N], p[N][N], q[N][N], u[N][N];
__attribute__((noinline)) static double check(double x) { if (x != x || x > 1e200) throw std::runtime_error("diverges"); return x; }
struct Adi {
  double a, b, c, d, e, f;
  void columns(); void rows(); void step(int t); void run();
};
__attribute__((noinline)) void Adi::columns() {
#pragma omp for
  for (int i = 1; i < N - 1; i++) {
    v[0][i] = 1.0; p[i][0] = 0.0; q[i][0] = v[0][i];
    for (int j = 1; j < N - 1; j++) {
      p[i][j] = -c / (a * p[i][j - 1] + b);
      q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) / (a * p[i][j - 1] + b);
    }
    v[N - 1][i] = check(1.0);
    for (int j = N - 2; j >= 1; j--) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
  }
}
__attribute__((noinline)) void Adi::rows() {
#pragma omp for
  for (int i = 1; i < N - 1; i++) {
    u[i][0] = 1.0; p[i][0] = 0.0; q[i][0] = u[i][0];
    for (int j = 1; j < N - 1; j++) {
      p[i][j] = -f / (d * p[i][j - 1] + e);
      q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) / (d * p[i][j - 1] + e);
    }
    u[i][N - 1] = check(1.0);
    for (int j = N - 2; j >= 1; j--) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
  }
}
__attribute__((noinline)) void Adi::step(int t) {
  columns();
  rows();
  if (t > 1000000) throw t;
}
void Adi::run() {
#pragma omp parallel
  for (int t = 0; t < STEPS; t++) {
    step(t);
  }
}
int main() {
  Adi s; double dx = 1.0 / N, dt = 1.0 / STEPS, m1 = 2.0 * dt / (dx * dx), m2 = dt / (dx * dx);
  s.a = -m1 / 2; s.b = 1 + m1; s.c = s.a; s.d = -m2 / 2; s.e = 1 + m2; s.f = s.d;
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) u[i][j] = (double)(i + N - j) / N;
  s.run();
  double sum = 0;
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) sum += u[i][j];
  printf("%.12g\n", sum);
}
