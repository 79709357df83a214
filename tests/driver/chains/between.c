// Between loops of a chain variables get values that are computed from what no loop before writes: that stands in front of the
// chain then. What loops leave in their iterators is there behind them.
//
// RUN: split-file %s %t.d && cd %t.d && bash -eu run %okl-cc %okl-c++

//--- run
for source in moved.c moved.cpp; do
  case $source in
  *.cpp) driver=$2 clang=clang++-22 chains=5 ;;
  *) driver=$1 clang=clang-22 chains=4 ;;
  esac
  $clang -fopenmp -w $source -o clang.out
  ./clang.out >clang.txt
  for words in '-O0 -g' -O2; do
    $driver --okl-target=cpu -fopenmp -Wno-backend-plugin -Rpass=okl $words $source -o okl.out 2>remarks.txt
    [ $(grep -c 'remark: the loop chain runs as scheduled' remarks.txt) = $chains ]
    for threads in 1 3; do
      OMP_NUM_THREADS=$threads ./okl.out >okl.txt
      diff clang.txt okl.txt
    done
  done
done

//--- moved.cpp
#include "moved.c"

//--- moved.c
#include <stdio.h>
enum { N = 40 };
static double a[N + 2], b[N + 2];

static void show(const char *name) {
  double sum = 0;
  for (int i = 0; i < N + 2; i++)
    sum += a[i] * (i % 5) + b[i] * (i % 3);
  printf("%s: %a\n", name, sum);
}

static void moved(double weight, int n) {
  double w = 5;
#pragma omplc loopchain schedule(fuse())
  {
    w = weight * 2 + 1;
    double v = w - n;
#pragma omplc for domain(1 : N) with(i) read b{(i), (i + 1)}, write a{(i)}
    for (int i = 1; i <= N; i++)
      a[i] = b[i] * w + b[i + 1] * v;
    double u = w * v;
    int m = n + 1;
#pragma omplc for domain(1 : N) with(i) read a{(i)}, write b{(i)}
    for (int i = 1; i <= N; i++)
      b[i] = a[i] / u + m;
  }
  printf("%a\n", w);
  show("moved");
}

// Tiles of one iteration are smaller than what the loops need of each other, so they run as they are written, as directives have
// them: what stands between them must not be done twice.
static void small(int rows, int k) {
  int w = 1, v = 2;
#pragma omplc loopchain schedule(tile((rows), serial, serial), fuse())
  {
#pragma omplc for domain(1 : N - 3) with(i) read b{(i), (i + 3)}, write a{(i)}
#pragma omp parallel for
    for (int i = 1; i <= N - 3; i++)
      a[i] = b[i] + b[i + 3];
    w = k;
    k = 9;
    v = v + w;
#pragma omplc for domain(1 : N - 3) with(i) read a{(i)}, write b{(i)}
    for (int i = 1; i <= N - 3; i++)
      b[i] = a[i] / 2 + w;
  }
  printf("%d %d %d\n", w, k, v);
  show("small");
}

// The same, where doing it twice changes nothing.
static void settled(int rows, int k) {
  int w = 1, v = 2;
#pragma omplc loopchain schedule(tile((rows), serial, serial), fuse())
  {
#pragma omplc for domain(1 : N - 3) with(i) read b{(i), (i + 3)}, write a{(i)}
#pragma omp parallel for
    for (int i = 1; i <= N - 3; i++)
      a[i] = b[i] + b[i + 3];
    w = k;
    v = w + 3;
#pragma omplc for domain(1 : N - 3) with(i) read a{(i)}, write b{(i)}
    for (int i = 1; i <= N - 3; i++)
      b[i] = a[i] / 2 + w;
  }
  printf("%d %d %d\n", w, k, v);
  show("settled");
}

// A loop before reads what is given another value.
static void again(double w) {
#pragma omplc loopchain schedule(fuse())
  {
#pragma omplc for domain(1 : N) with(i) read b{(i), (i + 1)}, write a{(i)}
    for (int i = 1; i <= N; i++)
      a[i] = b[i] * w + b[i + 1];
    w = w * 2;
#pragma omplc for domain(1 : N) with(i) read a{(i)}, write b{(i)}
    for (int i = 1; i <= N; i++)
      b[i] = a[i] / w;
  }
  show("again");
}

// A copy for each thread is one of what nobody changes.
static void copied(int n) {
  int k = n, l[3] = {n, 2, 3};
#pragma omplc loopchain schedule(fuse())
  {
#pragma omplc for domain(1 : N) with(i) read b{(i), (i + 1)}, write a{(i)}
#pragma omp parallel for firstprivate(k)
    for (int i = 1; i <= N; i++)
      a[i] = k < 0 ? k : b[i] + k + b[i + 1];
#pragma omplc for domain(1 : N) with(i) read a{(i)}, write b{(i)}
#pragma omp parallel for firstprivate(l)
    for (int i = 1; i <= N; i++)
      b[i] = l[0] > 100 ? l[1] : a[i] + l[2];
  }
  show("copied");
}

static void left(int n) {
  int i, j = 77, k = 5;
  for (int t = 0; t < 2; t++) {
    k += j;
#pragma omplc loopchain schedule(fuse(), parallel)
    {
#pragma omplc for domain(1 : n) with(i) read b{(i)}, write a{(i)}
      for (i = 1; i <= n; i++)
        a[i] = b[i] * 3;
#pragma omplc for domain(1 : n) with(i) read a{(i)}, write b{(i)}
      for (j = 1; j < n + 1; j++)
        b[j] = a[j] - 1;
    }
    k += i;
  }
  printf("%d %d %d\n", i, j, k);
  show("left");
}

#ifdef __cplusplus
// Loops of member functions use members as such: where the object is, is computed once for all iterations.
class line {
  int n;
  double *from, *to;

public:
  line(int n, double *from, double *to) : n(n), from(from), to(to) {}
  void first() {
#pragma omplc for domain(1 : n) with(i) read from{(i), (i + 1)}, write to{(i)}
    for (int i = 1; i <= n; i++)
      to[i] = from[i] + from[i + 1];
  }
  void second() const {
#pragma omplc for domain(1 : n) with(i) read to{(i)}, write from{(i)}
    for (int i = 1; i <= n; i++)
      from[i] = to[i] / 4;
  }
  void both() {
#pragma omplc loopchain schedule(fuse())
    {
      first();
      second();
    }
  }
};
#endif

int main(int argc, char **argv) {
  for (int i = 0; i < N + 2; i++)
    b[i] = i % 7;
#ifdef __cplusplus
  line(N, b, a).both();
  show("both");
#endif
  moved(argc * 0.5, argc + 2);
  again(argc + 2);
  small(argc, argc + 2);
  settled(argc, argc + 2);
  copied(argc + 1);
  left(N - argc);
  left(-argc);
}
