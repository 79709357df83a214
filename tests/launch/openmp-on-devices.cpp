// Ordinary OpenMP loops give on a device what their threads give, and they run there: the number of launches says so. The
// device is emulated: the PTX of the object is executed, and checked.
//
// RUN: for level in -O0 -O3; do %okl-c++ $level -g -w -fopenmp --okl-target=cuda,cpu %s -o %t -lm && \
// RUN:   OMP_NUM_THREADS=2 OKL_BACKEND=cpu %t > %t.threads && OMP_NUM_THREADS=2 OKL_BACKEND=cuda-emulated OKL_STATS=1 %t > %t.device 2> %t.table && \
// RUN:   cmp %t.threads %t.device && grep -q "^okl: kernels on okl PTX machine" %t.table && \
// RUN:   awk '/ openmp-on-devices|openmp-on-devices.cpp:/ { all++ } END { exit all < 9 }' %t.table || exit 1; done
// RUN: for one in worksharing/for-collapse worksharing/for-collapse-triangular worksharing/for-control-flow \
// RUN:   worksharing/for-guided-auto worksharing/for-types programs/game-of-life programs/sieve programs/mandelbrot \
// RUN:   data/heap-arrays data/static-locals regions/default-none; do \
// RUN:   %okl-cc -O2 -g -w -fopenmp --okl-target=cuda,cpu %S/../run/$one.c -o %t -lm && OMP_NUM_THREADS=2 OKL_BACKEND=cpu %t > %t.threads && \
// RUN:   OMP_NUM_THREADS=2 OKL_BACKEND=cuda-emulated OKL_STATS=1 %t > %t.device 2> %t.table && cmp %t.threads %t.device && \
// RUN:   grep -q "^okl: kernels on okl PTX machine" %t.table || { echo "$one"; exit 1; }; done
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cmath>
#include <algorithm>
struct V { double x, y; V operator+(const V &o) const { return {x + o.x, y + o.y}; } };
#pragma omp declare reduction(vplus : V : omp_out = omp_out + omp_in) initializer(omp_priv = V{0, 0})
#pragma omp declare reduction(mymax : int : omp_out = omp_in > omp_out ? omp_in : omp_out) initializer(omp_priv = -1)
int *gp; double table[3000]; static long total; int N = 1000;
struct Field { double *p; int n; double sum;
  void scale(double f) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) p[i] *= f;
  }
  double add() { double s = 0;
#pragma omp parallel for reduction(+ : s) schedule(dynamic, 7)
    for (int i = 0; i < n; i++) s += p[i];
    sum = s; return s; } };
template <class F> void each(int n, F f) {
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < n; i++) f(i); }
int main() {
  int n = 1000; std::vector<double> v(n); std::vector<int> h(16);
#pragma omp parallel for
  for (size_t i = 0; i < v.size(); i++) v[i] = (double)i / 4;
  Field f{v.data(), n, 0}; f.scale(2); printf("%g\n", f.add());
  each(n, [&](int i) { v[i] += i % 3; });
  each(n, [=](int i) { f.p[i] += 1; });
  V s{1, 2};
#pragma omp parallel for reduction(vplus : s)
  for (int i = 0; i < n; i++) s = s + V{v[i], 1};
  printf("%g %g\n", s.x, s.y);
  int m = 7, mm = 3; bool any = false, all = true; unsigned bits = 0; long prod = 1; int x_or = 0, lo = 1 << 30;
#pragma omp parallel for reduction(max : m) reduction(mymax : mm) reduction(|| : any) reduction(&& : all) reduction(| : bits) reduction(^ : x_or) reduction(min : lo) reduction(* : prod)
  for (int i = 0; i < n; i++) { m = std::max(m, i * 7 % 501); mm = std::max(mm, i % 77); any = any || i == 500; all = all && i >= 0; bits |= 1u << (i % 9); x_or ^= i * 31; lo = std::min(lo, 3000 - i); prod *= (i % 100 == 1) ? 3 : 1; }
  printf("%d %d %d %d %u %d %d %ld\n", m, mm, any, all, bits, x_or, lo, prod);
  gp = (int *)calloc(n, sizeof(int));
#pragma omp parallel for
  for (int i = n - 1; i >= 0; i -= 3) gp[i] = i;
#pragma omp parallel for
  for (int i = 0; i < N; i++) { table[i] = i * 2; if (i % 3 != n % 3) gp[i] = -1; }
  long t = 0; for (int i = 0; i < n; i++) t += gp[i]; printf("%ld %g\n", t, table[999]);
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    h[i % 16] += i;
#pragma omp atomic
    total += i;
  }
  for (int k : h) printf("%d ", k); printf("%ld\n", total);
  int last = -1, first = 5; double ld = 0;
#pragma omp parallel for lastprivate(last, ld) firstprivate(first) schedule(static, 3)
  for (int i = 0; i < n; i++) { last = i + first; ld = v[i]; }
  printf("%d %g\n", last, ld);
  int ia[100]; int cnt = 100; int *pa = ia;
#pragma omp parallel for
  for (int i = 0; i < cnt; i++) pa[i] = cnt - i;
  int seen = 0;
#pragma omp parallel for if (n > 5000) reduction(+ : seen)
  for (int i = 0; i < cnt; i++) seen += ia[i];
#pragma omp parallel for num_threads(2) collapse(3)
  for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) for (int k = 0; k < 5; k++) ia[(i * 5 + j) * 5 + k] += k;
  for (int i = 0; i < 100; i++) seen += ia[i] * i; printf("%d\n", seen);
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 50; i++) for (int j = i; j < 50; j++) table[i * 50 + j] = i + j;
  double tt = 0; for (double d : table) tt += d; printf("%g\n", tt);
  for (long z = 0; z < 3; z++) { long c = 0; unsigned long u = z;
#pragma omp parallel for reduction(+ : c)
    for (unsigned long i = 0; i < u; i++) c += i + 1;
    printf("%ld ", c); }
  double w = 0;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; i++) mine += v[i];
#pragma omp atomic
    w += mine;
  }
  float fs = 0;
#pragma omp parallel for reduction(+ : fs) schedule(runtime)
  for (int i = 0; i < n; i++) fs += sinf(i) * 0 + 1;
  printf("%g %g\n", w, fs);
  int *alias = &n; 
#pragma omp parallel for
  for (int i = 0; i < 1; i++) { alias[i] = 900; }
  printf("%d\n", n);
  double **rows = new double *[10]; for (int i = 0; i < 10; i++) rows[i] = new double[10];
#pragma omp parallel for
  for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) rows[i][j] = i * j;
  printf("%g\n", rows[7][8]);
}
