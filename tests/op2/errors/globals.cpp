// Global variables that a kernel uses both as an argument that it writes and by their names. The loop then runs element
// by element as it is written, on one thread.
//
// RUN: for level in 0 2; do clang++-22 -std=c++17 -O$level -g -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s || exit 1; OMP_NUM_THREADS=3 %t | FileCheck --check-prefix=FOUND %s || exit 1; done
#include "op_seq.h"
#include <cstdio>

static double most, sum, least = 3, scale = 2, table[4];

static double current() { return sum; }
static void grows(double const *a, double *x, double *m) {
  if (a[0] > *m)
    *m = a[0];
  x[0] = most;
}
static void adds(double const *a, double *x, double *s) {
  *s += a[0];
  x[0] = current();
}
static void counts(double const *a, double *t) { t[1] += a[0] * table[3]; }
static void reads(double const *a, double *x, double const *s) { x[0] = a[0] * *s * scale; }
static void other(double const *a, double *s) { *s += a[0] * scale; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  const int n = 1000;
  op_set set = op_decl_set(n, "set");
  static double start[n], found[n];
  for (int k = 0; k < n; k++)
    start[k] = k % 37;
  op_dat a = op_decl_dat(set, 1, "double", start, "a"), x = op_decl_dat(set, 1, "double", found, "x");
  op_arg in = op_arg_dat(a, -1, OP_ID, 1, "double", OP_READ), out = op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE);
  double total = 0;
  // CHECK: globals.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg2 is OP_MAX of most, which the kernel also uses by its name: what it finds there depends on the order of the elements
  op_par_loop(grows, "grows", set, in, out, op_arg_gbl(&most, 1, "double", OP_MAX));
  op_fetch_data(x, found);
  for (int k = 0; k < n; k++)
    total += found[k] * k;
  // CHECK: globals.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg2 is OP_INC of sum, which
  op_par_loop(adds, "adds", set, in, out, op_arg_gbl(&sum, 1, "double", OP_INC));
  op_fetch_data(x, found);
  for (int k = 0; k < n; k++)
    total += found[k] * k;
  // CHECK: globals.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg1 is OP_INC of table, which
  op_par_loop(counts, "counts", set, in, op_arg_gbl(table, 4, "double", OP_INC));
  // What is only read is the same everywhere, and another variable is another matter.
  op_par_loop(reads, "reads", set, in, out, op_arg_gbl(&scale, 1, "double", OP_READ));
  op_par_loop(other, "other", set, in, op_arg_gbl(&least, 1, "double", OP_INC));
  // FOUND: 5961178077 36 17982 35967
  std::printf("%.12g %g %g %g\n", total, most, sum, least);
  op_exit();
}
