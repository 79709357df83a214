// What a loop's own directive of OpenMP says of variables stays so where a schedule takes the directive's place: variables
// outside keep their values, or get those of the last iteration. Others of OpenMP's directives stay.
//
// RUN: split-file %s %t.d && cd %t.d && bash -eu run %okl-cc %okl-c++
// RUN: cd %t.d && bash -eu text %okl-cc
// RUN: cd %t.d && clang-22 -E -dD -fopenmp loops.c | %okl-cc --okl-normalize - | FileCheck --check-prefix=TEXT %s
// TEXT:      { extern void __okl_omplc_for({{.*}} __typeof__(t) __okl_copy_1; __builtin_memcpy((void *)&__okl_copy_1, (const void *)&t, sizeof __okl_copy_1); __typeof__(t) t; __builtin_memcpy((void *)&t, (const void *)&__okl_copy_1, sizeof __okl_copy_1); __typeof__(u) __okl_copy_2; {{.*}} __typeof__(i) i; __typeof__(k) k; __typeof__(v) v; {{$}}
// TEXT:      {{.*}}"\"loops.c\" @7:9 for domain(@7:26 0:9) @6:9 omp parallel for private(@6:34 k,@6:36 v) firstprivate(@6:52 t,@6:55 u) lastprivate(@6:70 w)");
// TEXT-NOT:  typeof
// TEXT:      {{.*}}"\"loops.c\" @12:9 for domain(@12:26 0:9, @12:30 0:$0) @13:9 omp parallel for simd reduction(+:@13:70 s,@13:73 a[0:n],@13:81 v[:2])", (long)(
// TEXT:      { extern void __okl_omplc_for({{.*}} __typeof__(i) i; __typeof__(j) j; {{$}}
// TEXT:      {{.*}}"\"loops.c\" @16:9 for domain(@16:26 0:9, @16:30 0:$0) @17:9 omp parallel for", (long)(
// TEXT-NOT:  typeof
// TEXT:      {{.*}}"\"loops.c\" @23:9 for domain(@23:26 0:9) @22:9 omp simd");
// TEXT-NOT:  typeof
// TEXT:      # 26 "loops.c"
// TEXT:      {{.*}}"\"loops.c\" @28:9 for domain(@28:26 0:9)");
// TEXT:      {{^}}#pragma omp for nowait{{$}}
// TEXT:      {{^}}#pragma clang loop vectorize(disable){{$}}

//--- run
# As okl compiles it: chains run as scheduled, or stay as they are where what a loop leaves in a variable is read behind it.
clang-22 -c main.c
for loops in orders.c stays.c orders.cpp; do
  case $loops in
  *.cpp) clang=clang++-22 driver=$2 ;;
  *) clang=clang-22 driver=$1 ;;
  esac
  $clang -fopenmp -w main.o $loops -o clang.out
  for words in -O0 -O2; do
    case $loops in
    stays.c) words="$words -Wno-backend-plugin" ;;
    *) words="$words -Rpass=okl" ;;
    esac
    $driver --okl-target=cpu -fopenmp -Wall -Werror $words main.o $loops -o okl.out 2>said.txt || { cat said.txt; exit 1; }
    case $loops in
    stays.c) ;;
    *) [ $(grep -c 'remark: the loop chain runs as scheduled' said.txt) = $(grep -c 'omplc loopchain' $loops) ] ;;
    esac
    for threads in 1 3; do
      export OMP_NUM_THREADS=$threads
      ./clang.out >clang.txt
      ./okl.out >okl.txt
      diff clang.txt okl.txt
    done
  done
done

//--- text
# What the loops are rewritten into has the values that it had, whatever a schedule makes of it, and no warnings.
echo '#define MARKER(name) void name() {}
MARKER(__okl_omplc_chain) MARKER(__okl_omplc_for) MARKER(__okl_omplc_next) MARKER(__okl_omplc_end) MARKER(__okl_omplc_call)
_Bool __okl_omplc_scheduled() { return 1; }' >markers.c
export OMP_NUM_THREADS=1
clang-22 -w -c main.c markers.c
for loops in loops.c loops.cpp; do
  case $loops in
  *.c) clang=clang-22 language=cpp-output more=-Wno-unused ;;
  *) clang=clang++-22 language=c++-cpp-output more= ;;
  esac
  $clang -fopenmp -w main.o $loops -o clang.out
  $clang -E -dD -fopenmp $loops | "$1" --okl-normalize - >rewritten.i
  $clang -fopenmp -Wall -Werror $more -x $language -c rewritten.i -o rewritten.o
  $clang -fopenmp main.o rewritten.o markers.o -o okl.out
  ./clang.out >clang.txt
  ./okl.out >okl.txt
  diff clang.txt okl.txt
done

//--- main.c
void f(int n, double *a);
__attribute__((weak)) void unseen(int n, double *a);
int main(void) {
  double a[10] = {0};
  f(3, a);
  if (unseen) unseen(10, a);
  return 0;
}

//--- loops.c
int printf(const char *, ...);
void f(int n, double *a) {
  int i = 90, j = 91, k = 92; double s = 1, v[2] = {1, 2}, t = 3, u = 4, w = 5;
#pragma omplc loopchain schedule(fuse(), parallel)
{
#pragma omp parallel for private(k,v) firstprivate(t, u) lastprivate(w) schedule(dynamic, 2) if(n > 3) num_threads(n)
#pragma omplc for domain(0:9)
  for (i = 0; i < 10; i++) {
    k = i; v[0] = k; t += 1; w = u + t; a[i] += v[0] + w; }

  printf("%d %d %d %g %g %g %g\n", i, j, k, v[0], t, u, w);
#pragma omplc for domain(0:9,0:n - 1)
#pragma omp parallel for simd default(shared) reduction(default, + : s, a[0:n], v[:2]) collapse(2) aligned(a : 8)
  for (i = 0; i < 10; i++) for (j = 0; j < n; j++) { s += i; v[0] += 1; a[0] += 1; }

#pragma omplc for domain(0:9,0:n - 1)
#pragma omp parallel for shared(a) collapse(2)
  for (i = 0; i < 10; i++) {
    for (j = 0; j < n; j++) a[i] += j;
  }

#pragma omp simd
#pragma omplc for domain(0:9)
  for (i = 0; i < 10; i++) a[i] += 1;

#pragma omp for nowait
#pragma clang loop vectorize(disable)
#pragma omplc for domain(0:9)
  for (int l = 0; l < 10; l++) a[l] += 1;
}
  printf("%d %d %d %g %g %g %g\n", i, j, k, v[0], t, u, w);
  for (i = 0; i < 10; i++) printf("%g ", a[i]);
}

void unseen(int n, double *a);
static void change(int *p) { p[0] = 9; }
void unseen(int n, double *a) {
  int i, x = 1, tmp[2] = {1, 2};
#pragma omplc loopchain schedule()
  {
#pragma omplc for domain(0 : n - 1)
#pragma omp parallel for firstprivate(x, tmp, n)
    for (i = 0; i < n; ++i) { int *q = tmp; (x) += 1; change(tmp); q[1] = 7; a[i] = x + tmp[0] + tmp[1]; }
  }
  printf("%d %d %d %g\n", x, tmp[0], tmp[1], a[n - 1]);
}

//--- loops.cpp
#include <cstdio>
#include <vector>
namespace n {
template <class T> void g(int n, T *a, int &i) {
  std::vector<T> v(3, T(1));
  int k = 5;
  auto l = [&] {
#pragma omplc loopchain schedule(fuse(), parallel)
    {
#pragma omplc for domain(0 : 9)
#pragma omp parallel for private(k, v) firstprivate(n)
      for (i = 0; i < 10; i++) {
        k = i;
        v.push_back(n);
        a[i] = v.size() > 0 ? k : 0;
      }
    }
  };
  l();
  std::printf("%d %d %zu %g\n", i, k, v.size(), double(a[3]));
}
} // namespace n
extern "C" void f(int n, double *a) {
  int i = 7;
  n::g(n, a, i);
}

static void change(int *p) { p[0] = 9; }
static void refer(int &r) { r = 8; }
struct S { int v; void add() { ++v; } };
extern "C" void unseen(int n, double *a) {
  int tmp[2] = {1, 2}, r = 3, l = 5; S s{6}; const int c = 2;
#pragma omplc loopchain schedule()
  {
#pragma omplc for domain(0 : n - 1)
#pragma omp parallel for firstprivate(tmp, r, s, l, c)
    for (int i = 0; i < n; ++i) {
      double own[c] = {0, 0};
      change(tmp); refer((r)); s.add(); [&] { l = 3; }();
      a[i] = tmp[0] + r + s.v + l + own[0];
    }
  }
  std::printf("%d %d %d %d %g\n", tmp[0], r, s.v, l, a[n - 1]);
}

//--- orders.c
int printf(const char *, ...);
void f(int n, double *a) {
  int i = 90, j = 91, k = 92, l; double s = 1, v[2] = {1, 2}, u = 2, w = 5, b[10];
#pragma omplc loopchain schedule(fuse())
{
#pragma omp parallel for private(k,v,w) schedule(dynamic, 2) if(n > 3) num_threads(n)
#pragma omplc for domain(0:9)
  for (i = 0; i < 10; i++) {
    k = i; v[0] = k; w = k + n; a[i] += v[0] + w; }

#pragma omplc for domain(0:9)
#pragma omp parallel for shared(a) firstprivate(u)
  for (i = 0; i < 10; i++) b[i] = u * a[i];
}
  printf("%d %d %d %g %g %g\n", i, j, k, v[0], v[1], w);
#pragma omplc loopchain schedule(fuse())
{
#pragma omplc for domain(0:9,0:n - 1)
#pragma omp parallel for simd default(shared) reduction(default, + : s, a[0:n], v[:2]) collapse(2) aligned(a : 8)
  for (int x = 0; x < 10; x++) for (int y = 0; y < n; y++) { s += x; v[0] += 1; a[0] += 1; }

#pragma omp simd
#pragma omplc for domain(0:9)
  for (l = 0; l < 10; l++) b[l] += 1;
}
  printf("%g %g %g\n", s, v[0], v[1]);
#pragma omplc loopchain schedule(parallel)
{
#pragma omplc for domain(0:9,0:n - 1)
#pragma omp parallel for shared(a) private(k) collapse(2)
  for (i = 0; i < 10; i++) {
    for (j = 0; j < n; j++) { k = j; a[i] += k; }
  }

#pragma clang loop vectorize(disable)
#pragma omplc for domain(0:9)
  for (int m = 0; m < 10; m++) b[m] += a[m];
}
  printf("%d %d %d %g %g %g\n", i, j, k, a[3], b[4], s);
  for (i = 0; i < 10; i++) printf("%g %g ", a[i], b[i]);
}

//--- orders.cpp
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
namespace n {
template <class T> void g(int n, T *a, int &i) {
  std::vector<T> v(3, T(1));
  int k = 5;
  auto l = [&] {
#pragma omplc loopchain schedule(fuse(), parallel)
    {
#pragma omplc for domain(0 : 9) with(i) write a{(i)}
#pragma omp parallel for private(k)
      for (i = 0; i < 10; i++) {
        k = i;
        a[i] = v.size() > 0 ? k : 0;
      }
    }
  };
  l();
  std::printf("%d %d %zu %g\n", i, k, v.size(), double(a[3]));
}
} // namespace n
// What functions choose, by references to what they are handed.
static double chosen(const double *a, int n) {
  double most = -1e9, least = 1e9, largest = 0;
  bool all = true, any = false;
#pragma omplc loopchain schedule(parallel)
  {
#pragma omplc for domain(0 : n - 1) with(i) read a{(i)}
#pragma omp parallel for reduction(max : most, largest) reduction(min : least) reduction(& : all) reduction(|| : any)
    for (int i = 0; i < n; i++) {
      most = std::max(most, a[i]);
      least = std::min(a[i], least);
      largest = std::fmax(largest, std::fabs(a[i]));
      all &= a[i] < 9;
      any = any || a[i] == 3;
    }
  }
  return most + 16 * least + 256 * largest + (all ? 0.5 : 0) + (any ? 0.25 : 0);
}
extern "C" void f(int n, double *a) {
  int i = 7;
  n::g(n, a, i);
  std::printf("%a\n", chosen(a, 10));
}

//--- stays.c
int printf(const char *, ...);
void f(int n, double *a) {
  int i = 90, j = 91, k = 92, l; double w = 5;
#pragma omplc loopchain schedule(fuse())
{
#pragma omp parallel for private(k) lastprivate(w) schedule(static)
#pragma omplc for domain(0:9)
  for (i = 0; i < 10; i++) { k = i; w = k + n; a[i] += w; }
}
  printf("%d %d %g\n", i, k, w);
#pragma omplc loopchain schedule(fuse())
{
#pragma omplc for domain(0:9,0:n - 1)
#pragma omp parallel for simd collapse(2)
  for (i = 0; i < 10; i++) for (j = 0; j < n; j++) if (j == 1) a[i] += 1;
#pragma omp simd
#pragma omplc for domain(0:9)
  for (l = 0; l < 10; l++) a[l] += 1;
}
  printf("%d %d %d\n", i, j, l);
  for (i = 0; i < 10; i++) printf("%g ", a[i]);
}
