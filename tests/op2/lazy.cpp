// Loops that wait, and run as one: results are those of loops that run at once, bit for bit, in whichever order they are called,
// with variables that the program changes between calls, and whatever it asks for in between. Both files have a static
// variable and a kernel of the same names.
//
// RUN: export CXX="%okl-c++ -std=c++11 -O3 -march=haswell -g --okl-jit"; $CXX -DOTHER -c %s -o %t.o && $CXX %s %t.o -o %t -Rpass-missed=okl 2>&1 | FileCheck --check-prefix=MISSED %s
// RUN: export OKL_JIT_CACHE=0; for n in "1 1" "2 3" "3 3"; do set -- $n; export OMP_NUM_THREADS=$2; OKL_LAZY=0 %t random $1 > %t.0 && OKL_LAZY=1 OKL_JIT=sync %t random $1 > %t.1 && cmp %t.0 %t.1 || exit 1; done
// RUN: export OKL_JIT_CACHE=0 OMP_NUM_THREADS=1 OKL_STATS=1; OKL_LAZY=0 %t again > %t.0 2> %t.told && OKL_LAZY=1 OKL_JIT=sync %t again > %t.1 2> %t.told && cmp %t.0 %t.1 && FileCheck %s < %t.told
// RUN: export OKL_JIT_CACHE=0 OMP_NUM_THREADS=1 OKL_STATS=1 OKL_LAZY=1; for n in 0 1; do OKL_JIT=$n %t again > %t.1 2> %t.told && cmp %t.0 %t.1 || exit 1; done
// RUN: OKL_LAZY=1 OKL_STATS=1 OKL_JIT=sync %t random 2 2>&1 | FileCheck --check-prefix=RANDOM %s
// Sums, in lanes and not, are what the program itself adds up; loops are one over another one in between, too:
// RUN: export OKL_LAZY=1 OKL_STATS=1 OKL_JIT=sync; for n in 1 3; do OMP_NUM_THREADS=$n %t sums 2>&1 | FileCheck --check-prefix=SUMS %s || exit 1; done
// RUN: OKL_LAZY=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t random 1 2>&1 | FileCheck --check-prefix=RANKS %s
// RUN: (OKL_LAZY=yes %t again 2>&1 || true) | FileCheck --check-prefix=WRONG %s
// Where a file of the program looks at data itself, it finds them:
// RUN: %okl-c++ -std=c++11 -O3 -march=haswell --okl-jit -DOTHER -DLOOKS -c %s -o %t.o && %okl-c++ -std=c++11 -O3 -march=haswell --okl-jit %s %t.o -o %t.looks
// RUN: export OMP_NUM_THREADS=1; OKL_LAZY=0 %t.looks again > %t.0 && OKL_LAZY=1 OKL_STATS=1 %t.looks again 2> %t.told > %t.1 && cmp %t.0 %t.1 && FileCheck --check-prefix=LOOKS %s < %t.told
//
// MISSED: lazy.cpp:[[# COUNT:]]:{{.*}}remark: loop runs at once with OKL_LAZY=1, too: what its kernel uses of arg0 besides the element is not known
// MISSED: lazy.cpp:[[# COUNT + 14]]:{{.*}}remark: loop runs at once with OKL_LAZY=1, too: its kernel reads large, which is large or has pointers
// CHECK:      okl: OKL_LAZY: 400 loops have waited, 300 of them ran as 100
// CHECK-NEXT: okl:   run for op_par_loop total: 100
// CHECK-NEXT: okl: versions of step+relax+pull: 100 calls
// CHECK-NEXT: made in {{.*}}, 100 calls
// RANDOM-DAG: okl:   run for a variable that has changed: {{[1-9]}}
// RANDOM-DAG: okl:   run for op_fetch_data: {{[1-9]}}
// RANDOM-DAG: okl:   run for op_par_loop total: {{[1-9]}}
// RANDOM-DAG: okl:   table ran at once, {{[0-9]+}} times: its kernel may notice when it runs
// SUMS-NOT: wrong
// SUMS: okl: OKL_LAZY: 160 loops have waited, 100 of them ran as 40
// SUMS: okl: versions of step+more: 20 calls
// SUMS: okl: versions of step+more+turns: 20 calls
// RANKS: warning: OKL_LAZY=1 does nothing on ranks
// WRONG: OKL_LAZY=yes: valid values are 0 and 1
// LOOKS:      okl: OKL_LAZY: 0 loops have waited
// LOOKS-NEXT: okl:   pull ran at once, 100 times: a file of the program may look at op_dat->data or op_map->map
#include "op_seq.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define READ(dat) op_arg_dat(dat, -1, OP_ID, 2, "double", OP_READ)

static double rate = 0.25;

#ifdef OTHER
static void step(double const *x, int const *n, double *y) { y[0] = x[1] - rate * n[0], y[1] = y[1] * 0.5 + x[0]; }

void other(op_set s, op_dat x, op_dat y, double value) {
  rate = value;
#ifdef LOOKS
  printf("%a\n", ((double *)x->data)[3]);
#endif
  op_par_loop(step, "other", s, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_dat(y, -1, OP_ID, 2, "double", OP_RW));
}
#else
void other(op_set s, op_dat x, op_dat y, double value);

int limit = 3;
double large[100];

static void step(double const *x, double *y) { y[0] = x[0] * rate + 1, y[1] = x[1] - x[0] * rate; }
static void relax(double const *y, double const *by, double *z) {
  z[0] = 0.5 * (z[0] + y[0]) * by[1], z[1] = sqrt(fabs(y[1])) + z[1] * by[0];
}
static void pull(double const *left, double const *right, double const *y, double *x) {
  x[0] = left[0] * 0.25 + right[1] * 0.5 + y[0] * 0.125, x[1] = y[1] / (1 + fabs(left[1]));
}
static void count(double const *y, int *c) {
  for (int n = 0; n < limit; n++)
    c[0] = c[0] * 5 + (int)(y[n & 1] * 8) % 1000;
}
static void both(int const *c, double *x, double *y) {
  double const was = x[0];
  x[0] = y[1] + c[0] % 7, y[1] = was;
}
static void add(double const *x, double *left, double *right) { left[0] += x[1] * 0.5, right[1] += x[0] * 0.25; }
static void more(double const *x, double *y) { y[0] += x[0] * 0.0625, y[0] += x[1] * 0.03125; }
static void table(double const *x, double *y) { y[1] = x[0] + large[(unsigned)(int)fabs(x[1]) % 100u]; }
static void total(double const *x, double *sum) { sum[0] += x[0] + x[1] * rate; }
static void tally(double const *x, int const *c, double *sum, int *n) {
  sum[0] += x[0] > 30 ? 3 : 1, n[0] += c[0] & 7;
}
static void turns(double const *x, int const *c, double *sum, int *n) {
  for (int turn = 0; turn < limit; turn++)
    sum[0] += x[0] > 30 - turn ? 3 : 1;
  n[0] += c[0] & 7;
}

static unsigned state;
static unsigned random(unsigned bound) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % bound;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  bool const is_random = !strcmp(argv[1], "random");
  state = argc > 2 ? atoi(argv[2]) : 0;
  int const size = 1501;
  std::vector<int> ends, counts(size, 1);
  std::vector<double> start;
  for (int n = 0; n < size; n++) {
    ends.push_back((n + 1) % size), ends.push_back((7 * n + 3) % size);
    start.push_back(1.0 / (n + 1)), start.push_back(0.01 * n - 7);
  }
  for (int n = 0; n < 100; n++)
    large[n] = n * 0.5;
  op_set s = op_decl_set(size, "s"), sides = op_decl_set(size, "sides");
  op_map of_s = op_decl_map(s, s, 2, ends.data(), "of_s"), of_sides = op_decl_map(sides, s, 2, ends.data(), "of_sides");
  op_dat d[4], e = op_decl_dat(sides, 2, "double", start.data(), "e");
  for (int n = 0; n < 4; n++) {
    start[n] = n;
    d[n] = op_decl_dat(s, 2, "double", start.data(), "d");
  }
  op_dat c = op_decl_dat(s, 1, "int", counts.data(), "c");
  auto show = [&] {
    for (op_dat one : d) {
      op_fetch_data(one, start.data());
      unsigned long hash = 0, bits;
      for (double value : start)
        memcpy(&bits, &value, sizeof bits), hash = hash * 31 + bits;
      printf("%lx %a\n", hash, start[5]);
    }
  };
  auto call = [&](unsigned which, op_dat x, op_dat y, op_dat z) {
    double by[2] = {0.5 + which / 16.0, 0.75}, sum = 0;
    switch (which) {
    case 0:
      op_par_loop(step, "step", s, READ(x), op_arg_dat(y, -1, OP_ID, 2, "double", OP_WRITE));
      break;
    case 1:
      op_par_loop(relax, "relax", s, READ(y), op_arg_gbl(by, 2, "double", OP_READ),
                  op_arg_dat(z, -1, OP_ID, 2, "double", OP_RW));
      by[0] = 100;
      break;
    case 2:
      op_par_loop(pull, "pull", s, op_arg_dat(z, 0, of_s, 2, "double", OP_READ),
                  op_arg_dat(z, 1, of_s, 2, "double", OP_READ), READ(y),
                  op_arg_dat(x, -1, OP_ID, 2, "double", OP_WRITE));
      break;
    case 3:
      op_par_loop(count, "count", s, READ(y), op_arg_dat(c, -1, OP_ID, 1, "int", OP_RW));
      break;
    case 4:
      op_par_loop(both, "both", s, op_arg_dat(c, -1, OP_ID, 1, "int", OP_READ),
                  op_arg_dat(x, -1, OP_ID, 2, "double", OP_RW), op_arg_dat(y, -1, OP_ID, 2, "double", OP_RW));
      break;
    case 5:
      op_par_loop(add, "add", sides, READ(e), op_arg_dat(x, 0, of_sides, 2, "double", OP_INC),
                  op_arg_dat(x, 1, of_sides, 2, "double", OP_INC));
      break;
    case 6:
      op_par_loop(more, "more", s, READ(x), op_arg_dat(y, -1, OP_ID, 2, "double", OP_INC));
      break;
    case 7:
      op_par_loop(table, "table", s, READ(x), op_arg_dat(y, -1, OP_ID, 2, "double", OP_RW));
      break;
    case 8:
      op_par_loop(total, "total", s, READ(x), op_arg_gbl(&sum, 1, "double", OP_INC));
      printf("%a\n", sum);
      break;
    case 9:
      other(s, x, y, 0.125 * random(3));
      break;
    case 10:
      rate = 0.25 + 0.125 * random(2), limit = random(4);
      break;
    case 11:
      show();
      break;
    case 13:
    case 14: {
      int number = 0, numbers = 0;
      op_arg const of_c = op_arg_dat(c, -1, OP_ID, 1, "int", OP_READ);
      if (which == 13)
        op_par_loop(tally, "tally", s, READ(x), of_c, op_arg_gbl(&sum, 1, "double", OP_INC),
                    op_arg_gbl(&number, 1, "int", OP_INC));
      else
        op_par_loop(turns, "turns", s, READ(x), of_c, op_arg_gbl(&sum, 1, "double", OP_INC),
                    op_arg_gbl(&number, 1, "int", OP_INC));
      op_fetch_data(x, start.data()), op_fetch_data(c, counts.data());
      double total = 0;
      for (int n = 0; n < size; n++)
        (which == 13 ? tally : turns)(&start[2 * n], &counts[n], &total, &numbers);
      if (sum != total || number != numbers)
        printf("wrong: %a %a %d %d\n", sum, total, number, numbers);
      break;
    }
    case 12:
      op_par_loop(pull, "back", sides, op_arg_dat(x, 0, of_sides, 2, "double", OP_READ),
                  op_arg_dat(y, 1, of_sides, 2, "double", OP_READ), READ(e),
                  op_arg_dat(e, -1, OP_ID, 2, "double", OP_RW));
      break;
    }
  };
  if (is_random)
    for (int n = 0; n < 120; n++) {
      unsigned const which = random(16);
      unsigned const x = random(4), y = (x + 1 + random(3)) % 4, z = random(4);
      call(which > 12 ? which % 3 : which, d[x], d[y], z == y || z == x ? d[6 - x - y > 3 ? 0 : 6 - x - y] : d[z]);
    }
  else if (!strcmp(argv[1], "sums"))
    for (int n = 0; n < 40; n++) {
      call(0, d[0], d[1], d[2]);
      call(12, d[2], d[3], d[2]);
      call(6, d[1], d[0], d[2]);
      call(13 + n % 2, d[0], d[1], d[2]);
    }
  else
    for (int n = 0; n < 100; n++) {
      for (unsigned which : {0, 1})
        call(which, d[0], d[1], d[2]);
      call(2, d[3], d[1], d[0]);
      call(8, d[3], d[1], d[2]);
    }
  show();
  op_exit();
}
#endif
