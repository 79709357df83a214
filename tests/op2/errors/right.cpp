// Kernels that do what their loops say, in whichever way they are written: no warning, at any level of optimisation.
//
// RUN: for level in 0 1 2 3; do clang++-22 -std=c++17 -O$level -g -Wall -Wextra -I%op2-include -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | count 0 || exit 1; done
// What has been found of one of them at the start holds when LLVM has simplified it: none runs on one thread for what its
// access does not say.
// RUN: clang++-22 -std=c++17 -O3 -march=haswell -g -I%op2-include -fpass-plugin=%plugin -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not="does not say" --implicit-check-not="does more than add" %s
// CHECK: op_par_loop runs one element at a time
#include "op_seq.h"

#include <algorithm>
#include <complex>

double scale, table[4];
static double limit;

static void in_words(double const *a, double *r) {
  r[0] = r[0] + a[0];
  r[1] = a[1] + r[1];
}
static void in_a_loop(double const *a, double *r) {
  for (int k = 0; k < 2; k++)
    r[k] = r[k] - scale * a[k];
}
static void in_a_long_loop(int const *count, double const *a, double *r) {
  for (int k = 0; k < *count; k++)
    r[0] = r[0] + a[k & 1];
}
static void in_a_variable(double const *a, double *r) {
  double sum = r[0];
  sum += a[0];
  if (a[1] > limit)
    sum += a[1];
  r[0] = sum;
}
// Sums of doubles and of longer numbers.
static void of_another_type(double const *a, float *r) {
  r[0] -= a[0] / 3;
  if (a[1] > limit)
    r[0] += a[1] * scale;
}
static void of_few_bits(long long const *a, int *r) { *r += *a; }
static void sometimes(double const *a, double *r) {
  if (a[0] > 0)
    r[0] += a[0];
  else
    r[1] += a[0];
}
static void twice(double const *a, double *r) {
  r[0] += a[0];
  r[0] -= a[1];
  r[0]++;
}
static void by(double x, double *r) {
  r[0] += x;
  r[1] -= x;
}
static void by_a_function(double const *a, double *r) { by(a[0], r), by(a[1], r); }
// What LLVM makes one store of, to one of several places.
static void in_branches(double const **a, int *r) {
  switch ((int)a[1][1] & 3) {
  case 0:
    r[0] += ((int)a[2][1] & 3) - 2;
    [[fallthrough]];
  case 2:
    r[0] = r[0] + (((int)(a[1][0] + a[2][0]) & 3) - 3);
    break;
  default:
    switch ((int)a[2][0] & 3) {
    case 0:
      r[1] += ((int)a[2][0] & 3) - 3;
      break;
    case 2:
      r[0] += ((int)a[0][1] & 3) - 1;
      break;
    default:
      r[2] += ((int)a[1][1] & 3) - 2;
    }
  }
}
static void by_a_pointer(double const *a, double *r) {
  double *to = r;
  *to++ += a[0];
  *to += a[1];
}
static void of_columns(double const *a, double **r) {
  for (int k = 0; k < 2; k++)
    r[k][0] += a[k], r[k][1] = r[k][1] + a[k];
}
// More turns than LLVM writes out by itself.
static void of_more_columns(double const *a, double **r) {
  double element[8][8];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      element[i][j] = a[i % 2] / (a[j % 2] + j);
  for (int i = 0; i < 8; i++)
    for (int j = 0; j <= i; j++)
      r[i][0] += element[i][j] * a[j % 2];
}
static void at_a_place(double const *a, double *r) {
  int const place = a[0] > limit;
  r[place] = r[place] + a[1];
}
static void smaller(double const *a, double *least) { *least = *a < *least ? *a : *least; }
static void smallest(double const *a, double *least) { *least = fmin(*a, *least); }
static void std_smallest(double const *a, double *least) { *least = std::min(*a, *least); }
static void macro(double const *a, double *most) { *most = MAX(*a, *most); }
static void several(double const *a, double *most) {
  for (int k = 0; k < 2; k++)
    if (a[k] > most[k])
      most[k] = a[k];
}
static void all(double const *a, double *w) {
  for (int k = 0; k < 2; k++)
    w[k] = a[k];
}
static void zeros(double *w) { w[0] = w[1] = 0; }
static void copied(double const *a, double *w) { memcpy(w, a, 2 * sizeof(double)); }
static void filled(double *w) { std::fill(w, w + 2, scale); }
static void in_order(double const *a, double *w) {
  w[a[0] > 0] = a[0];
  w[!(a[0] > 0)] = a[1];
}
static void long_fill(int const *count, double *w) {
  for (int k = 0; k < *count; k++)
    w[k] = table[k];
}
static void one_number(std::complex<double> const *a, std::complex<double> *w) { *w = *a * *a; }
static void both_columns(double const *a, double **w) {
  for (int k = 0; k < 2; k++)
    w[k][0] = w[k][1] = a[k];
}
static void direct(double *r) { *r = *r * 2 + 1; }
template <int N> static void of_any_size(double const *a, double *w) {
  for (int k = 0; k < N; k++)
    w[k] = a[k] * (N > 1 ? table[k] : 1);
}

void program(op_set cells, op_set nodes, op_map map, op_dat a, op_dat r, op_dat one, op_dat flags) {
  double two[2] = {0}, value = 0;
  int count = 2;
  op_arg read = op_arg_dat(a, -1, OP_ID, 2, "double", OP_READ);
  op_arg add = op_arg_dat(r, 1, map, 2, "double", OP_INC), counted = op_arg_gbl(&count, 1, "int", OP_READ);
  op_arg write = op_arg_dat(r, -1, OP_ID, 2, "double", OP_WRITE);
  op_par_loop(in_words, "", cells, read, add);
  op_par_loop(in_a_loop, "", cells, read, add);
  op_par_loop(in_a_long_loop, "", cells, counted, read, add);
  op_par_loop(in_a_variable, "", cells, read, add);
  op_par_loop(sometimes, "", cells, read, add);
  op_par_loop(twice, "", cells, read, add);
  op_par_loop(of_another_type, "", cells, read, op_arg_dat(r, 1, map, 2, "float", OP_INC));
  op_par_loop(of_few_bits, "", cells, op_arg_dat(a, -1, OP_ID, 1, "long long", OP_READ),
              op_arg_dat(r, 1, map, 1, "int", OP_INC));
  op_par_loop(by_a_function, "", cells, read, add);
  op_par_loop(in_branches, "", cells, op_arg_dat(a, -3, map, 2, "double", OP_READ), op_arg_dat(flags, 0, map, 3, "int", OP_INC));
  op_par_loop(by_a_pointer, "", cells, read, add);
  op_par_loop(of_columns, "", cells, read, op_arg_dat(r, -2, map, 2, "double", OP_INC));
  op_par_loop(of_more_columns, "", cells, read, op_arg_dat(r, -8, map, 2, "double", OP_INC));
  op_par_loop(at_a_place, "", cells, read, op_arg_gbl(two, 2, "double", OP_INC));
  op_par_loop(smaller, "", cells, read, op_arg_gbl(&value, 1, "double", OP_MIN));
  op_par_loop(smallest, "", cells, read, op_arg_gbl(&value, 1, "double", OP_MIN));
  op_par_loop(std_smallest, "", cells, read, op_arg_gbl(&value, 1, "double", OP_MIN));
  op_par_loop(macro, "", cells, read, op_arg_gbl(&value, 1, "double", OP_MAX));
  op_par_loop(several, "", cells, read, op_arg_gbl(two, 2, "double", OP_MAX));
  op_par_loop(all, "", cells, read, write);
  op_par_loop(zeros, "", nodes, write);
  op_par_loop(copied, "", cells, read, write);
  op_par_loop(filled, "", nodes, write);
  op_par_loop(in_order, "", cells, read, write);
  op_par_loop(long_fill, "", cells, counted, write);
  op_par_loop(one_number, "", cells, op_arg_dat(a, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(r, -1, OP_ID, 2, "double", OP_WRITE));
  op_par_loop(both_columns, "", cells, read, op_arg_dat(r, -2, map, 2, "double", OP_WRITE));
  op_par_loop(direct, "", nodes, op_arg_dat(one, -1, OP_ID, 1, "double", OP_INC));
  // One kernel for data of several dimensions.
  op_par_loop(of_any_size<2>, "", cells, read, write);
  op_par_loop(of_any_size<1>, "", cells, read, op_arg_dat(one, -1, OP_ID, 1, "double", OP_WRITE));
}

double const unchanging = 1.4;
// Constants are set before they are declared, by whom ever, or declared anew.
static void set_constants() { scale = 2, limit = 3; }
void constants(bool is_new) {
  set_constants();
  for (int k = 0; k < 4; k++)
    table[k] = k;
  op_decl_const(1, "double", &unchanging);
  op_decl_const(1, "double", &scale);
  op_decl_const(1, "double", &limit);
  op_decl_const(2, "double", table + 2);
  if (is_new) {
    set_constants();
    op_decl_const(1, "double", &scale);
    op_decl_const(1, "double", &limit);
  }
}
void reads_constants_again() {
  for (int k = 0; k < 4; k++) {
    scale = k;
    op_decl_const(1, "double", &scale);
  }
}
