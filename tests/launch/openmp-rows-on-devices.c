// Loops inside the iterations of a loop, whose turns work items share: they give what threads give, also where arrays overlap,
// where what a turn writes the next one reads, where rows are short, long or not there, and where the loops stand in other
// places of an iteration. Of those that may be shared the compiler says so, and of no others.
//
// RUN: %okl-cc -O2 -w -fopenmp --okl-target=cuda,cpu -Rpass=okl -c %s -o %t.o 2>&1 | grep -o ':[0-9]*:1: remark: the loop of this region.*' | sort -t: -k2n > %t.said; FileCheck --check-prefix=SAID --implicit-check-not='share the rows' %s < %t.said
// RUN: for level in -O0 -O3; do %okl-cc $level -g -w -fopenmp --okl-target=cuda,spirv,cpu %s -o %t -lm && \
// RUN:   OMP_NUM_THREADS=2 OKL_BACKEND=cpu %t > %t.threads && \
// RUN:   OMP_NUM_THREADS=2 OKL_BACKEND=cuda-emulated OKL_STATS=1 %t > %t.device 2> %t.table && cmp %t.threads %t.device && \
// RUN:   awk '/openmp-rows-on-devices.c:/ { all++ } END { exit all < 20 }' %t.table || exit 1; done
//
// A warp's request is for few sectors, and there are as many warps as many rows want: each of them reads its parameters.
// RUN: OKL_BACKEND=cuda-emulated OKL_PTX_MACHINE=counts %t counts 2>&1 | tr -d , | awk '{ few = 0; for (i = 1; i < NF; i++) { if ($i == "parameter" && $(i + 1) < 300) few = 1; if ($i == "requests" && $(i + 3) > 8 * $(i + 1)) few = 1 } all++; bad += few } END { exit all != 2 || bad }'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 15 };
static double one[MOST], two[MOST], three[MOST];
static float small[MOST];
static int fixed[2][40][60];

static void begin(void) {
  for (int i = 0; i < MOST; i++) one[i] = i % 101 - 50, two[i] = i % 37, three[i] = 0.5 * (i % 11), small[i] = i % 13;
}

static void tell(const char *what, int a, int b) {
  double sum = 0;
  for (int i = 0; i < MOST; i++) sum += (one[i] + 2 * two[i] + 3 * three[i] + 4 * small[i]) * (i % 97 + 1);
  printf("%s %d %d: %.17g\n", what, a, b, sum);
  begin();
}

static void sweep(int n, int m, const double *now, double *next) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < m - 1; x++) next[y * m + x] = 0.25 * (now[y * m + x - 1] + now[y * m + x + 1] + now[(y - 1) * m + x] + now[(y + 1) * m + x]);
}

// What a turn reads the one before it has written, if so many elements lie between them. (More than 0 elements are of no
// other iteration.)
static void shifted(int n, int m, const double *from, double *to) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m; x++) to[y * 2 * m + x] = from[y * 2 * m + x] + 1;
}

static void in_place(int n, int m, double *a) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 1; x < m; x++) a[y * m + x] = a[y * m + x - 1] * 0.5 + x;
}

static void far_behind(int n, int m, double *a) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m - 9; x++) a[y * m + x] = a[y * m + x + 9] + 1;
}

static void its_own(int n, int m, double *a, float *b) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for schedule(dynamic, 3)
  for (int y = n - 1; y >= 0; y--)
    for (long x = m - 1; x >= 0; x--) {
      a[y * m + x] = sqrt(fabs(a[y * m + x])) * y;
      if (b[y * m + x] > 6) b[y * m + x] -= x;
    }
}

// Each writes two numbers, and steps over two.
static void pairs(int n, int m, double *a) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for schedule(static, 1)
  for (int y = 0; y < n; y++)
    for (int x = 0; x < 2 * m; x += 2) {
      double re = a[2 * m * y + x], im = a[2 * m * y + x + 1];
      a[2 * m * y + x] = re * re - im, a[2 * m * y + x + 1] = re + im;
    }
}

static void overlapping_pairs(int n, int m, double *a) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m - 1; x++) {
      a[m * y + x] += 1;
      a[m * y + x + 1] *= 2;
    }
}

// In front of the inner loop an element is read that it writes, or another one.
static void pivot(int n, int m, int from, int column, double *a) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    double factor = a[y * m + column] / 8;
    for (int x = from; x < m; x++) a[y * m + x] -= factor * x;
  }
}

// A row is taken from all others, as Gauss does.
static void eliminate(int n, double *a) {
  for (int k = 0; k < n - 1; k++) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
    for (int i = k + 1; i < n; i++) {
      double factor = a[i * n + k] > 0 ? 0.015625 : -0.015625;
      for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
}

// Two loops, of which the second reads what the same turn of the first one has written, which is that of the same number,
// and not that of the same element.
static void twice(int n, int m, double *a, double *b) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    for (int x = 0; x < m; x++) a[y * m + x] = x * 0.25 + y;
    for (int x = 0; x < m; x++) b[y * m + x] += a[y * m + x];
  }
}

static void twice_shifted(int n, int m, double *a, double *b) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    for (int x = 0; x < m; x++) a[y * m + x] = x * 0.25 + y;
    for (int x = 1; x < m; x++) b[y * m + x] += a[y * m + x - 1];
  }
}

static void twice_ahead(int n, int m, double *a, double *b) {
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    for (int x = 0; x < m; x++) a[y * m + x] = x * 0.25 + y;
    for (int x = 0; x < m - 1; x++) b[y * m + x] += a[y * m + x + 1];
  }
}

// The outer loop goes along.
static void columns(int n, int m, double *a) {
#pragma omp parallel for
  for (int x = 0; x < m; x++)
    for (int y = 0; y < n; y++) a[y * m + x] += y + x;
}

static void sums(int n, int m, const double *a, double *b) {
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    double sum = 0;
    for (int x = 0; x < m; x++) sum += a[y * m + x];
    b[y] = sum;
  }
}

static void ends(int n, int m, double *a) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m; x++) {
      if (a[y * m + x] > 40) break;
      a[y * m + x] = x;
    }
}

// What the loop leaves is used behind it.
static void counter(int n, int m, double *a, double *b) {
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    int x;
    for (x = 0; x < m - y % 3; x++) a[y * m + x] = x;
    b[y] = x;
  }
}

// Local arrays of a turn, and of an iteration.
static void local(int n, int m, double *a) {
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    double factors[4];
    for (int i = 0; i < 4; i++) factors[i] = y + i;
    for (int x = 0; x < m; x++) a[y * m + x] *= factors[(int)fabs(a[y * m + x]) & 3];
  }
}

static void carried(int n, int m, double *a) {
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    double last[4] = {0};
    for (int x = 0; x < m; x++) {
      int at = (int)fabs(a[y * m + x]) & 3;
      a[y * m + x] += last[at];
      last[at] = x;
    }
  }
}

static void around(int n, int m, double *a, double *b) {
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    b[y] = y;
    for (int x = 0; x < m; x++) a[y * m + x] += b[y];
  }
}

static void states(int from) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 60; j++) fixed[1 - from][i][j] = fixed[from][i][j] * 3 + j;
}

// Numbers without a sign, which wrap around.
static void wraps(unsigned n, unsigned m, unsigned from, double *a) {
#pragma omp parallel for
  for (unsigned y = 0; y < n; y++)
    for (unsigned x = 0; x < m; x++) a[y * m + (x + from) % (n * m)] += x;
}

static void last(int n, int m, double *a, int *left) {
  int value = -1;
#pragma omp parallel for lastprivate(value)
  for (int y = 0; y < n; y++) {
    value = y * 3;
    for (int x = 0; x < m; x++) a[y * m + x] += value;
  }
  *left = value;
}

// Loops in loops: work items share the inner one, or that and another one around it, where turns of both are apart.
static void cube(int n, int m, int l, const double *from, double *to) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      for (int k = 1; k < l - 1; k++) {
        int at = (i * m + j) * l + k;
        to[at] = from[at] + 0.125 * (from[at - 1] + from[at + 1] + from[at - l] + from[at + l] + from[at - m * l] + from[at + m * l]);
      }
}

// Where rows of the plane overlap one another, if `pitch` is small.
static void plane(int n, int m, int l, int pitch, double *a) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++) a[(i * 2 * m + j) * pitch + k] = a[(i * 2 * m + j) * pitch + k] * 0.5 + k - j;
}

// The turn before is read, of the inner loop or of that around it.
static void recursive(int n, int m, int l, double *a) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 1; k < l; k++) a[(i * m + j) * l + k] += a[(i * m + j) * l + k - 1] * 0.5;
}

static void downwards(int n, int m, int l, double *a) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      for (int k = 0; k < l; k++) a[(i * m + j) * l + k] += a[(i * m + j - 1) * l + k] * 0.5;
}

static void crosswise(int n, int m, int l, double *a) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      for (int k = 0; k < l - 1; k++) a[(i * m + j) * l + k] += a[(i * m + j - 1) * l + k + 1] * 0.5;
}

// Several inner loops, of which one is around another one.
static void product(int n, int l, int m, const double *a, const double *x, double *y) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) y[i * m + j] = 0;
    for (int k = 0; k < l; k++)
      for (int j = 0; j < m; j++) y[i * m + j] += a[i * l + k] * x[k * m + j];
    for (int j = 0; j < m; j++) y[i * m + j] /= l;
  }
}

// Where rows of the plane are one and the same, if `pitch` is 0.
static void pitched(int n, int m, int pitch, double *a) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < m; k++) a[i * m * m + j * pitch + k] = a[i * m * m + j * pitch + k] * 0.5 + k * j;
}

// The loop around the second one is around the loop around the first one, too.
static void levels(int n, int m, const double *from, double *to, double *sums) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int l = 0; l < m; l++) {
      for (int j = 0; j < m; j++)
        for (int k = 0; k < m; k++) to[((i * m + l) * m + j) * m + k] = from[(i * m + j) * m + k] + l;
      for (int k = 0; k < m; k++) sums[(i * m + l) * m + k] = from[(i * m + l) * m + k] + k;
    }
}

static void product_of_sums(int n, int l, int m, const double *a, const double *x, double *y) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int k = 0; k < l; k++) sum += a[i * l + k] * x[k * m + j];
      y[i * m + j] = sum;
    }
}

// What the loop in the middle has summed up is one for all.
static void running(int n, int m, int l, double *a, double *b) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++) {
      for (int k = 0; k < l; k++) a[(i * m + j) * l + k] += sum;
      sum += b[i * m + j];
    }
  }
}

// The loop around it ends early, by a number that is no turn's.
static void until(int n, int m, int l, const double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      if (a[i * m + j] > 45) break;
      for (int k = 0; k < l; k++) b[(i * m + j) * l + k] += a[i * m + j];
    }
}

// Of other lengths in each turn.
static void triangle(int n, int m, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < j; k++) a[(i * m + j) * m + k] += k - j * 0.5;
}

static void lower(int n, int m, const double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      for (int j = 0; j < m; j++) b[i * m + j] += a[i * n + k] * a[k * n + i];
}

static void tiles(int n, const double *from, double *to) {
#pragma omp parallel for
  for (int ii = 0; ii < n; ii += 8)
    for (int jj = 0; jj < n; jj += 8)
      for (int i = ii; i < (ii + 8 < n ? ii + 8 : n); i++)
        for (int j = jj; j < (jj + 8 < n ? jj + 8 : n); j++) to[i * n + j] = from[j * n + i] + i;
}

// Work of the outer loop stands beside the inner one.
static void beside(int n, int m, int l, double *a, double *b) {
// SAID: :[[# @LINE + 1]]:{{.*}}share the rows
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      b[i * m + j] = j;
      for (int k = 0; k < l; k++) a[(i * m + j) * l + k] += k;
    }
}

static void nests(int n, int m, int l) {
  if (n * m * l > MOST / 2 || n * l > MOST || l * m > MOST || n * m > MOST || n * n > MOST) return;
  cube(n, m, l, one, two), cube(n, m, l, two, one), tell("cube", n, m);
  for (int pitch = l > 3 ? l - 3 : 1; pitch < l + 3; pitch++)
    if (n * 2 * m * pitch + l < MOST) plane(n, m, l, pitch, one), tell("plane", pitch, l);
  recursive(n, m, l, one), tell("recursive", n, m);
  downwards(n, m, l, one), tell("downwards", n, m);
  crosswise(n, m, l, one), tell("crosswise", n, m);
  product(n, l, m, one, two, three), tell("product", n, m);
  product_of_sums(n, l, m, one, two, three), tell("product of sums", n, m);
  running(n, m, l, one, two), tell("running", n, m);
  until(n, m, l, one, two), tell("until", n, m);
  if (n * m * m < MOST) triangle(n, m, one), tell("triangle", n, m);
  lower(n, m, one, two), tell("lower", n, m);
  tiles(n, one, two), tell("tiles", n, m);
  beside(n, m, l, one, two), tell("beside", n, m);
}

int main(int all, char **names) {
  begin();
  if (all > 1) {
    cube(20, 20, 20, one, two), product(40, 40, 40, one, two, three);
    return 0;
  }
  static const int sizes[][2] = {{3, 3}, {10, 9}, {10, 10}, {7, 11}, {40, 17}, {33, 33}, {5, 258}, {3, 1000}, {200, 40}, {100, 257}};
  for (int i = 0; i < 10; i++) {
    int n = sizes[i][0], m = sizes[i][1];
    sweep(n, m, one, two), sweep(n, m, two, one), tell("sweep", n, m);
    its_own(n, m, one, small), tell("its own", n, m);
    in_place(n, m, one), tell("in place", n, m);
    far_behind(n, m, one), tell("far behind", n, m);
    pairs(n, m / 2, one), tell("pairs", n, m);
    overlapping_pairs(n, m, one), tell("overlapping pairs", n, m);
    twice(n, m, one, two), tell("twice", n, m);
    twice_shifted(n, m, one, two), tell("twice, shifted", n, m);
    twice_ahead(n, m, one, two), tell("twice, ahead", n, m);
    columns(n, m, one), tell("columns", n, m);
    sums(n, m, one, two), tell("sums", n, m);
    ends(n, m, one), tell("ends", n, m);
    counter(n, m, one, two), tell("counter", n, m);
    local(n, m, one), tell("local", n, m);
    carried(n, m, one), tell("carried", n, m);
    around(n, m, one, two), tell("around", n, m);
    wraps(n, m, 3, one), tell("wraps", n, m);
    int left;
    last(n, m, one, &left), tell("last", n, left);
    if (n * m < MOST / 2) {
      // Nothing, or some of a row, lies between the two.
      static const int by[] = {0, 1, 2, 8, 30, 31, 32, 100};
      for (int k = 0; k < 8; k++)
        if (by[k] < m) {
          shifted(n, m, one, one + by[k]), tell("shifted", n, by[k]);
          shifted(n, m, one + by[k], one), tell("shifted back", n, by[k]);
        }
      shifted(n, m, one, one + m), tell("behind each other", n, m);
      shifted(n, m, one + m, one), tell("in front of each other", n, m);
    }
    for (int column = 0; column < m; column += m / 3) pivot(n, m, m / 3, column, one), tell("pivot", n, column);
  }
  static const int cubes[][3] = {{3, 3, 3}, {1, 9, 8}, {9, 8, 10}, {4, 33, 17}, {5, 2, 300}, {70, 40, 1}, {12, 65, 20}, {8, 8, 31}};
  for (int i = 0; i < 8; i++) nests(cubes[i][0], cubes[i][1], cubes[i][2]);
  for (int pitch = 0; pitch < 17; pitch += 8) pitched(7, 16, pitch, one), tell("pitched", 7, pitch);
  for (int m = 3; m < 14; m += 5) levels(5, m, one, two, three), tell("levels", 5, m);
  for (int n = 2; n < 60; n += 19) eliminate(n, one), tell("eliminate", n, n);
  for (int i = 0; i < 3; i++) states(i & 1);
  sweep(0, 40, one, two), sweep(40, 0, one, two), sweep(-3, -4, one, two), tell("nothing", 0, 0);
  shifted(1, MOST / 2, one, two), tell("one row", 1, MOST / 2);
  long sum = 0;
  for (int i = 0; i < 2 * 40 * 60; i++) sum = sum * 7 + fixed[0][0][i];
  printf("%ld\n", sum);
}
