// Direct loops over the same set that follow each other run as one with --okl-fuse, on vectors, threads, ranks and devices, and
// give what they give apart, bit by bit. Where only the run time sees that they may not be one, they run apart, as all do where
// the data are one array of the program's; others are declined at their lines.
//
// RUN: clang++-22 -std=c++11 -O2 -Wall -Wextra -Werror -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain && %t.plain > %t.expected
// RUN: %okl-c++ --okl-fuse -std=c++11 -O3 -march=haswell -ffp-contract=off -g -I%op2-include -Rpass=okl -Rpass-missed=okl %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t 2>&1 | grep " as one" | FileCheck --check-prefix=TOLD --implicit-check-not=remark: %s
// RUN: for way in OMP_NUM_THREADS=1 OMP_NUM_THREADS=3 OKL_BACKEND=seq OKL_REPRODUCIBLE=1 OP_AUTO_SOA=1; do env $way %t | diff - %t.expected || exit 1; done
// RUN: for n in 2 4; do mpirun --allow-run-as-root --oversubscribe -n $n %t on-ranks > %t.found || exit 1; %t.plain on-ranks | diff %t.found - || exit 1; done
// RUN: %t.plain OP_NO_REALLOC > %t.own && %t OP_NO_REALLOC | diff - %t.own && not diff %t.own %t.expected > %t.found
// RUN: OMP_NUM_THREADS=1 %t times | FileCheck --check-prefix=TIMES %s
// RUN: not %t wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: %okl-c++ --okl-fuse --okl-target=cuda,cpu -std=c++11 -O1 -ffp-contract=off -I%op2-include %s -o %t.device
// RUN: %t.plain few > %t.few && OKL_BACKEND=cuda-emulated %t.device few | diff - %t.few
// RUN: %okl-c++ --okl-fuse -std=c++11 -O0 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.slow && %t.slow | diff - %t.expected && %t.slow times | FileCheck --check-prefix=SLOW %s
//
// TIMES-DAG: {{ 5 .* 1 +4 .*}}save+rate+update+limit
// TIMES-DAG: {{ 1 .*}}halve+grow
// TIMES-DAG: {{ 2 .*}}given+taken
// TIMES-DAG: {{ 1 .*}}below+above
// TIMES-DAG: {{ 1 .*}} below{{$}}
// TIMES-DAG: {{ 1 .*}} above{{$}}
// SLOW-DAG: {{ 5 .*}}save+rate+update+limit
//
// WRONG: as-one.cpp:{{[0-9]+}}: op_par_loop taken: arg1: r has 4 components, not 3
#include "op_seq.h"
#include <cmath>
#include <cstring>
#include <vector>

static double step = 0.25, gain[2] = {1.5, 0.5}, least = 1e9, level = 2;

static void save(const double *q, double *old) {
  for (int n = 0; n < 4; n++) old[n] = q[n];
}
static void rate(const double *q, const double *old, double *r) {
  for (int n = 0; n < 4; n++) r[n] = gain[n & 1] * (q[n] - 0.5 * old[n]) + step;
}
static void update(const double *r, double *q, const double *scale, double *sum, int *count) {
  for (int n = 0; n < 4; n++) q[n] += *scale * step * r[n];
  *sum += std::floor(q[0]);
  *count += 1;
}
static void limit(double *q, double *r) {
  for (int n = 0; n < 4; n++) {
    q[n] = q[n] < 100 ? q[n] : 100;
    r[n] = 0;
  }
}
// The first one writes a part of what the second one reads.
static void halve(double *q) {
  q[0] *= 0.5;
  q[2] *= 0.5;
}
static void grow(const double *q, double *r) {
  for (int n = 0; n < 4; n++) r[n] += q[n];
}
static void smallest(const double *q, double *least) { *least = *least < q[0] ? *least : q[0]; }
static void use_least(double *q) { q[0] -= least; }
static void scaled(double *q, const double *by) { q[0] *= *by; }
static void by_level(double *q) { q[1] += level; }
static void number(double *q, const int *at) { q[3] += *at; }
static void spread(const double *q, double *r) { r[0] += q[0]; }
static void somewhere(double *q, const int *at) { q[*at & 3] += 1; }
static void loud(double *q) { if (q[0] > 1e8) op_printf("large\n"); }
static void three(double *q, double *r) { q[2] += r[1]; }

// Whether the two are the same data is seen when the program runs.
static void both(op_set cells, op_dat one, op_dat other, op_dat with) {
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops given and taken run as one
  op_par_loop(halve, "given", cells, op_arg_dat(one, -1, OP_ID, 4, "double", OP_RW));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops given and taken run as one
  op_par_loop(number, "taken", cells, op_arg_dat(one, -1, OP_ID, 4, "double", OP_RW), op_arg_idx(-1, OP_ID));
  op_printf("next\n");
  // TOLD-DAG: as-one.cpp:[[#@LINE+2]]:3: remark: op_par_loop below is not run as one with that in front of it: op_printf is called between them
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops below and above run as one
  op_par_loop(grow, "below", cells, op_arg_dat(with, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(one, -1, OP_ID, 4, "double", OP_RW));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops below and above run as one
  op_par_loop(grow, "above", cells, op_arg_dat(with, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(other, -1, OP_ID, 4, "double", OP_RW));
}

static void print(const char *what, op_dat dat, int n) {
  std::vector<double> all(4 * n);
  op_fetch_data(dat, all.data());
  unsigned long long hash = 0;
  for (double one : all) {
    unsigned long long bits;
    std::memcpy(&bits, &one, 8);
    hash = hash * 31 + bits;
  }
  op_printf("%s %llx\n", what, hash);
}

static int wrong(op_set cells, op_dat q, op_dat r) {
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops given and taken run as one
  op_par_loop(halve, "given", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops given and taken run as one
  op_par_loop(three, "taken", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW),
              op_arg_dat(r, -1, OP_ID, 3, "double", OP_RW));
  return 1;
}

static void apart(op_set cells, op_set nodes, op_map map, op_dat q, op_dat r, op_dat x) {
  op_par_loop(grow, "start", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(r, -1, OP_ID, 4, "double", OP_INC));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop mapped is not run as one with that in front of it: arg1 goes through a map
  op_par_loop(spread, "mapped", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(x, 0, map, 4, "double", OP_INC));
  op_par_loop(halve, "first", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop other is not run as one with that in front of it: it is over another set
  op_par_loop(halve, "other", nodes, op_arg_dat(x, -1, OP_ID, 4, "double", OP_RW));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop smallest is not run as one with that in front of it: it is over another set
  op_par_loop(smallest, "smallest", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_gbl(&least, 1, "double", OP_MIN));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop use is not run as one with that in front of it: one writes least, which the other reads by its name
  op_par_loop(use_least, "use", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop again is not run as one with that in front of it: one writes least, which the other reads by its name
  op_par_loop(smallest, "again", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_gbl(&least, 1, "double", OP_MIN));
  // TOLD-DAG: as-one.cpp:[[#@LINE+2]]:3: remark: op_par_loop scaled is not run as one with that in front of it: arg1 is a variable that both use
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops scaled and by level run as one
  op_par_loop(scaled, "scaled", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW),
              op_arg_gbl(&least, 1, "double", OP_READ));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops scaled and by level run as one
  op_par_loop(by_level, "by level", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW));
  level = 3;
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop set is not run as one with that in front of it: what is between them uses what loops may write
  op_par_loop(by_level, "set", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW));
  op_printf("between %g\n", least);
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop before is not run as one with that in front of it: op_printf is called between them
  op_par_loop(halve, "before", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW));
  op_printf("called\n");
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop behind is not run as one with that in front of it: op_printf is called between them
  op_par_loop(halve, "behind", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop loud is not run as one with that in front of it: the kernel {{may throw an exception|calls op_printf}}
  op_par_loop(loud, "loud", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW));
  op_par_loop(halve, "next", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop somewhere is not run as one with that in front of it: what the kernels use of arg0 besides the element is not known
  op_par_loop(somewhere, "somewhere", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW), op_arg_idx(-1, OP_ID));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: op_par_loop alone is not run as one with that in front of it: they have no data in common
  op_par_loop(halve, "alone", cells, op_arg_dat(r, -1, OP_ID, 4, "double", OP_RW));
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  auto is = [&](const char *what) { return argc > 1 && !std::strcmp(argv[1], what); };
  const int N = is("few") ? 100 : 10007;
  std::vector<double> start(4 * N);
  std::vector<int> next(N);
  for (int i = 0; i < 4 * N; i++) start[i] = (i * 37 % 1009) * 0.125;
  for (int i = 0; i < N; i++) next[i] = (i + 1) % N;
  op_set cells = op_decl_set(N, "cells"), nodes = op_decl_set(N, "nodes");
  op_map map = op_decl_map(cells, nodes, 1, next.data(), "next");
  op_dat q = op_decl_dat(cells, 4, "double", start.data(), "q");
  op_dat old = op_decl_dat(cells, 4, "double", start.data(), "old");
  op_dat r = op_decl_dat(cells, 4, "double", start.data(), "r");
  op_dat x = op_decl_dat(nodes, 4, "double", start.data(), "x");
  if (is("wrong")) return wrong(cells, q, r);
  op_partition("", "", NULL, NULL, NULL);
  double sum = 0;
  int count = 0;
  for (int turn = 0; turn < 5; turn++) {
    // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:5: remark: the loops save, rate, update and limit run as one
    op_par_loop(save, "save", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(old, -1, OP_ID, 4, "double", OP_WRITE));
    // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:5: remark: the loops save, rate, update and limit run as one
    op_par_loop(rate, "rate", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(old, -1, OP_ID, 4, "double", OP_READ), op_arg_dat(r, -1, OP_ID, 4, "double", OP_WRITE));
    sum = 0;
    double scale = 0.5 + turn;
    // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:5: remark: the loops save, rate, update and limit run as one
    op_par_loop(update, "update", cells, op_arg_dat(r, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW), op_arg_gbl(&scale, 1, "double", OP_READ),
                op_arg_gbl(&sum, 1, "double", OP_INC), op_arg_gbl(&count, 1, "int", OP_INC));
    // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:5: remark: the loops save, rate, update and limit run as one
    op_par_loop(limit, "limit", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_RW),
                op_arg_dat(r, -1, OP_ID, 4, "double", OP_WRITE));
    op_printf("%d %g\n", count, sum);
  }
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops halve and grow run as one
  op_par_loop(halve, "halve", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_WRITE));
  // TOLD-DAG: as-one.cpp:[[#@LINE+1]]:3: remark: the loops halve and grow run as one
  op_par_loop(grow, "grow", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(r, -1, OP_ID, 4, "double", OP_INC));
  print("r", r, N);
  both(cells, q, r, old);
  both(cells, q, q, old);
  apart(cells, nodes, map, q, r, x);
  print("q", q, N);
  print("r", r, N);
  print("x", x, N);
  if (is("times")) op_timing_output();
  op_exit();
}
