// Kernels that do not do what their loops say, in ways that only show once the kernel has been simplified: the same
// messages at every level of optimisation.
//
// RUN: for level in 0 2; do (clang++-22 -std=c++17 -O$level -g -I%op2-include -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s || exit 1; done
#include "op_seq.h"

static void leaves_one(double const *a, double *w) {
  for (int k = 0; k < 3; k++)
    w[k] = a[k];
}
static void leaves_first(double *w) { w[1] = w[2] = w[3] = 1; }
static void leaves_most(double *w) { w[3] = 1; }
static void leaves_column(double **w) {
  for (int k = 0; k < 2; k++)
    w[k][0] = 1;
}
static void goes_too_far(double *w) {
  for (int k = 0; k <= 4; k++)
    w[k] = 0;
}
static void reads_too_far(double const *a, double *w) {
  for (int k = 0; k < 4; k++)
    w[k] = a[k + 1];
}
static void looks_back(double const *a, double *sum) { *sum += a[0] - a[-1]; }
extern double limit;
static void column_too_far(double const *a, double **r) {
  for (int k = 0; k < 2; k++)
    r[k][0] += a[k], r[k][5] += a[k];
}
static void counts_too_far(double *n) { n[2] += 1; }
static void sometimes_too_far(double *w) {
  w[0] = w[1] = w[2] = w[3] = 1;
  if (limit > 3)
    w[6] = 2;
}
static void leaves_before(double *w) {
  if (w[0] > 0)
    return;
  w[4] = 0;
}
static void reads_table(double const *table, double *w) { w[0] = w[1] = w[2] = w[3] = table[2]; }
void may_throw(double);
static void throws_before(double *w) {
  may_throw(w[0]);
  w[0] = w[1] = w[2] = w[3] = w[4] = 1;
}
static void set(double *x) { *x = 3; }
static void assigns_elsewhere(double *r) { set(r + 1); }
static void multiplies(double const *a, double *r) {
  for (int k = 0; k < 4; k++)
    r[k] *= a[k];
}
static void rounds(double const *a, double *r) { r[0] = (float)(r[0] + a[0]); }
static void column_assigns(double **r) { r[1][0] = 2; }
static void columns_change(double **x) { x[0][2] = x[1][2]; }
static void last(double const *a, double *least) { *least = a[0]; }
static void casts(double const *a) { *(double *)a = 1; }
static void numbers(int *n) { *n += 1; }

void program(op_set cells, op_map map, op_dat a, op_dat w) {
  double value = 0, values[3] = {0};
  op_arg read = op_arg_dat(a, -1, OP_ID, 4, "double", OP_READ), write = op_arg_dat(w, -1, OP_ID, 4, "double", OP_WRITE);
  op_arg add = op_arg_dat(w, 1, map, 4, "double", OP_INC);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is OP_READ, but the kernel writes it
  op_par_loop(columns_change, "", cells, op_arg_dat(w, -2, map, 4, "double", OP_READ));
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is OP_READ, but the kernel writes it
  op_par_loop(casts, "", cells, read);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is OP_READ, but the kernel writes it
  op_par_loop(numbers, "", cells, op_arg_idx(0, map));
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is data on a set, which cannot be OP_MIN
  op_par_loop(set, "", cells, op_arg_dat(w, -1, OP_ID, 1, "double", OP_MIN));
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 has dimension 4, but the kernel uses component 4; they count from 0
  op_par_loop(goes_too_far, "", cells, write);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 has dimension 4, but the kernel uses component 4; they count from 0
  op_par_loop(reads_too_far, "", cells, read, write);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 has dimension 4, but the kernel uses component -1; they count from 0
  op_par_loop(looks_back, "", cells, read, op_arg_gbl(&value, 1, "double", OP_INC));
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg1 has dimension 4, but the kernel uses component 5; they count from 0
  op_par_loop(column_too_far, "", cells, read, op_arg_dat(w, -2, map, 4, "double", OP_INC));
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 has dimension 2, but the kernel uses component 2; they count from 0
  op_par_loop(counts_too_far, "", cells, op_arg_gbl(values, 2, "double", OP_INC));

  // What a kernel may use of data that it does not have, or only where it is used at all.
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 has dimension 4, but the kernel uses component 6; they count from 0
  op_par_loop(sometimes_too_far, "", cells, write);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 has dimension 4, but the kernel uses component 4; they count from 0
  op_par_loop(leaves_before, "", cells, op_arg_dat(w, -1, OP_ID, 4, "double", OP_RW));
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 has dimension 4, but the kernel uses component 4; they count from 0
  op_par_loop(goes_too_far, "", cells, op_opt_arg_dat(cells != NULL, w, -1, OP_ID, 4, "double", OP_WRITE));
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 has dimension 2, but the kernel uses component 2; they count from 0
  op_par_loop(reads_table, "", cells, op_arg_gbl(values, 2, "double", OP_READ), write);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 has dimension 4, but the kernel uses component 4; they count from 0
  op_par_loop(throws_before, "", cells, write);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg1 is OP_WRITE, but the kernel leaves component 3 as it was; components count from 0
  op_par_loop(leaves_one, "", cells, read, write);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 is OP_WRITE, but the kernel leaves component 0 as it was; components count from 0
  op_par_loop(leaves_first, "", cells, write);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 is OP_WRITE, but the kernel leaves component 0 and others as it was; components count from 0
  op_par_loop(leaves_most, "", cells, write);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 is OP_WRITE, but the kernel leaves component 1 as it was; components count from 0
  op_par_loop(leaves_column, "", cells, op_arg_dat(w, -2, map, 2, "double", OP_WRITE));
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 is OP_INC, but the kernel assigns to it: increments of other elements may be lost
  op_par_loop(assigns_elsewhere, "", cells, add);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg1 is OP_INC, but the kernel assigns to it: increments of other elements may be lost
  op_par_loop(multiplies, "", cells, read, add);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg1 is OP_INC, but the kernel assigns to it: increments of other elements may be lost
  op_par_loop(rounds, "", cells, read, add);
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 is OP_INC, but the kernel assigns to it: increments of other elements may be lost
  op_par_loop(column_assigns, "", cells, op_arg_dat(w, -2, map, 4, "double", OP_INC));
  // CHECK: kernels.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg1 is OP_MIN, but the kernel assigns to it without comparing
  op_par_loop(last, "", cells, read, op_arg_gbl(&value, 1, "double", OP_MIN));
}
