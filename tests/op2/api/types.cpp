// Data, constants, and global arguments of 1, 5 and 100 values, of every type and with every access; types of the
// program's own; temporaries within a time loop; strides; optional and vector arguments. The same without the plugin and
// with it, element by element, on vectors, threads and ranks. All numbers are whole, so that the order of additions makes
// no difference.
//
// RUN: clang++-22 -std=c++11 -O2 -Wall -Wextra -Werror -DOP_USER_DATATYPES -I%S -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: %t.plain > %t.expected && FileCheck %s < %t.expected
// RUN: for level in 0 2; do clang++-22 -std=c++17 -O$level -DOP_USER_DATATYPES -I%S -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t && %t > %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: clang++-22 -std=c++11 -O3 -march=native -DOP_USER_DATATYPES -I%S -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: OKL_BACKEND=seq %t > %t.found && cmp %t.expected %t.found
// RUN: for n in 1 3; do OP_AUTO_SOA=1 mpirun --allow-run-as-root --oversubscribe -n $n %t > %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: for threads in 1 2 3; do OMP_NUM_THREADS=$threads %t > %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: for n in 1 2 3 4; do mpirun --allow-run-as-root --oversubscribe -n $n %t > %t.found && cmp %t.expected %t.found || exit 1; done
#include "op_seq.h"

#include <vector>

enum { N = 3000, M = 1000 };

static op_set cells, nodes;
static op_map corners;

template <class T> struct constants {
  static T one, five[5];
};
template <class T> T constants<T>::one;
template <class T> T constants<T>::five[5];

template <class T> static void set(int const *n, T *x) {
  for (int k = 0; k < 5; k++)
    x[k] = (T)((*n * 7 + k * 13) % 50) + constants<T>::five[k];
}
template <class T> static void change(T *x) {
  for (int k = 0; k < 5; k++)
    x[k] += constants<T>::one;
}
template <class T> static void add(T const *x, T *first, T **all) {
  first[0] += x[0];
  for (int k = 0; k < 3; k++)
    all[k][0] += x[k + 1];
}
template <class T> static void pairs(T **x, T const *third, T *out) { *out = x[0][0] + x[1][0] - third[0]; }
template <class T> static void reduce(T const *x, T *sum, T *sums, T *least, T *most) {
  *sum += x[0];
  for (int k = 0; k < 5; k++) {
    sums[k] += x[k];
    least[k] = x[k] < least[k] ? x[k] : least[k];
    if (x[k] > most[k])
      most[k] = x[k];
  }
}
template <class T> static void wide(int const *n, T const *x, T *sums, T *least, T *most) {
  int const at = *n % 100;
  sums[at] += x[1];
  if (x[2] < least[at])
    least[at] = x[2];
  if (x[3] > most[at])
    most[at] = x[3];
}
template <class T> static void write(T const *x, T *out) {
  if (*x == 30)
    *out = 30;
}

template <class T> static double weighted(T const *values, int count) {
  double sum = 0;
  for (int k = 0; k < count; k++)
    sum += (double)values[k] * (k % 89 + 1);
  return sum;
}
template <class T> static double weighted(op_dat dat) {
  std::vector<T> all((size_t)dat->set->size * dat->dim);
  op_fetch_data(dat, all.data());
  return weighted(all.data(), all.size());
}

template <class T> static void kinds(char const *name) {
  constants<T>::one = 2;
  for (int k = 0; k < 5; k++)
    constants<T>::five[k] = 10 + k;
  op_decl_const(1, name, &constants<T>::one);
  op_decl_const(5, name, constants<T>::five);
  op_dat x = op_decl_dat(cells, 5, name, (T *)NULL, "x"), at = op_decl_dat(nodes, 2, name, (T *)NULL, "at");
  op_par_loop(set<T>, "set", cells, op_arg_idx(-1, OP_ID), op_arg_dat(x, -1, OP_ID, 5, name, OP_WRITE));
  op_par_loop(change<T>, "change", cells, op_arg_dat(x, -1, OP_ID, 5, name, OP_RW));
  op_par_loop(add<T>, "add", cells, op_arg_dat(x, -1, OP_ID, 5, name, OP_READ), op_arg_dat(at, 1, corners, 2, name, OP_INC),
              op_arg_dat(at, -3, corners, 2, name, OP_INC));
  op_printf("%s data %.0f %.0f", name, weighted<T>(x), weighted<T>(at));
  double through = 0;
  for (int round = 0; round < 3; round++) {
    op_dat passing = op_decl_dat_temp(cells, 1, name, (T *)NULL, "passing");
    op_par_loop(pairs<T>, "pairs", cells, op_arg_dat(at, -2, corners, 2, name, OP_READ),
                op_arg_dat(at, 2, corners, 2, name, OP_READ), op_arg_dat(passing, -1, OP_ID, 1, name, OP_WRITE));
    through += weighted<T>(passing);
    op_free_dat_temp(passing);
  }
  op_printf(" temporary %.0f", through);
  T sum = 3, sums[5] = {1, 2, 3, 4, 5}, least[5], most[5], wide_sums[100], wide_least[100], wide_most[100];
  for (int k = 0; k < 100; k++)
    wide_sums[k] = k, wide_least[k] = 100, wide_most[k] = 0, least[k % 5] = 100, most[k % 5] = 0;
  op_par_loop(reduce<T>, "reduce", cells, op_arg_dat(x, -1, OP_ID, 5, name, OP_READ), op_arg_gbl(&sum, 1, name, OP_INC),
              op_arg_gbl(sums, 5, name, OP_INC), op_arg_gbl(least, 5, name, OP_MIN), op_arg_gbl(most, 5, name, OP_MAX));
  op_par_loop(wide<T>, "wide", cells, op_arg_idx(-1, OP_ID), op_arg_dat(x, -1, OP_ID, 5, name, OP_READ),
              op_arg_gbl(wide_sums, 100, name, OP_INC), op_arg_gbl(wide_least, 100, name, OP_MIN),
              op_arg_gbl(wide_most, 100, name, OP_MAX));
  T written = 0;
  op_par_loop(write<T>, "write", cells, op_arg_dat(x, -1, OP_ID, 5, name, OP_READ), op_arg_gbl(&written, 1, name, OP_WRITE));
  op_printf(" global %.0f %.0f %.0f %.0f", (double)sum, weighted(sums, 5), weighted(least, 5), weighted(most, 5));
  op_printf(" wide %.0f %.0f %.0f written %.0f\n", weighted(wide_sums, 100), weighted(wide_least, 100),
            weighted(wide_most, 100), (double)written);
}

static void flags(int const *n, bool *is_even, bool *any) {
  *is_even = *n % 2 == 0;
  *any = *any || *n == 2000;
}
static void count_flags(bool const *is_even, int *count) { *count += *is_even; }

static void place(int const *n, vertex *v) {
  for (int k = 0; k < 3; k++)
    v->place[k] = *n + k;
  v->kind = *n % 5, v->colour = *n % 3;
}
static void gather(vertex **v, float *out) { *out = v[0]->place[2] + v[1]->place[1] * v[2]->kind; }
static void strided(double const *x, double *y) {
  for (int k = 0; k < 3; k++)
    y[OP2_STRIDE(y, k) == y[k] ? k : 0] = 2 * OP2_STRIDE(x, k);
}
static void optional(double *y, double const *own, double **columns, double const *factor) {
  *y += 1;
  if (own)
    *y += own[1];
  if (columns)
    *y += columns[0][0] + columns[1][2];
  if (factor)
    *y *= *factor;
}
static void extreme(double const *x, int const *n, int const *corner, double *most, int *where, int *what) {
  if (*x > *most) {
    *most = *x;
    *where = *n;
    *what = *corner;
  }
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  cells = op_decl_set(N, "cells"), nodes = op_decl_set(M, "nodes");
  std::vector<int> corner(3 * N);
  for (int n = 0; n < N; n++)
    corner[3 * n] = n / 3, corner[3 * n + 1] = (n / 3 + 1) % M, corner[3 * n + 2] = (n * 7) % M;
  corners = op_decl_map(cells, nodes, 3, corner.data(), "corners");
  // CHECK:      double data [[DATA:.* global .*]]
  // CHECK-NEXT: float data [[DATA]]
  // CHECK-NEXT: int data [[DATA]]
  // CHECK-NEXT: uint data [[DATA]]
  // CHECK-NEXT: ll data [[DATA]]
  // CHECK-NEXT: ull data [[DATA]]
  kinds<double>("double");
  kinds<float>("float");
  kinds<int>("int");
  kinds<uint>("uint");
  kinds<ll>("ll");
  kinds<ull>("ull");

  bool any = false;
  int count = 0;
  op_dat even = op_decl_dat(cells, 1, "bool", (bool *)NULL, "even");
  op_par_loop(flags, "flags", cells, op_arg_idx(-1, OP_ID), op_arg_dat(even, -1, OP_ID, 1, "bool", OP_WRITE),
              op_arg_gbl(&any, 1, "bool", OP_RW));
  op_par_loop(count_flags, "count_flags", cells, op_arg_dat(even, -1, OP_ID, 1, "bool", OP_READ),
              op_arg_gbl(&count, 1, "int", OP_INC));
  // CHECK: bool 1 1500
  op_printf("bool %d %d\n", any, count);

  op_dat vertices = op_decl_dat(nodes, 1, "vertex", (vertex *)NULL, "vertices");
  op_dat out = op_decl_dat(cells, 1, "float", (float *)NULL, "out");
  op_par_loop(place, "place", nodes, op_arg_idx(-1, OP_ID), op_arg_dat(vertices, -1, OP_ID, 1, "vertex", OP_WRITE));
  op_par_loop(gather, "gather", cells, op_arg_dat(vertices, -3, corners, 1, "vertex", OP_READ),
              op_arg_dat(out, -1, OP_ID, 1, "float", OP_WRITE));
  std::vector<vertex> all(M);
  op_fetch_data(vertices, all.data());
  // CHECK: vertex {{[0-9]+}} 999 4 0
  op_printf("vertex %.0f %g %d %d\n", weighted<float>(out), all[999].place[0], all[999].kind, all[999].colour);

  std::vector<double> start(3 * M);
  for (int n = 0; n < 3 * M; n++)
    start[n] = n % 37;
  op_dat x = op_decl_dat(nodes, 3, "double:soa", start.data(), "x"), y = op_decl_dat(nodes, 3, "double:soa", start.data(), "y");
  op_par_loop(strided, "strided", nodes, op_arg_dat(x, -1, OP_ID, 3, "double:soa", OP_READ),
              op_arg_dat(y, -1, OP_ID, 3, "double:soa", OP_RW));
  // CHECK: strided [[#%u,]]
  op_printf("strided %.0f %d\n", weighted<double>(y), weighted<double>(y) == 2 * weighted<double>(x));

  op_dat z = op_decl_dat(cells, 1, "double", (double *)NULL, "z");
  double factor = 3;
  for (int use = 0; use < 16; use++)
    op_par_loop(optional, "optional", cells, op_arg_dat(z, -1, OP_ID, 1, "double", OP_RW),
                op_opt_arg_dat(use & 1, x, 0, corners, 3, "double", OP_READ),
                op_opt_arg_dat(use & 2, use & 2 ? x : NULL, -2, corners, 3, "double", OP_READ),
                op_opt_arg_gbl(use % 8 == 4, &factor, 1, "double", OP_READ));
  // CHECK: optional {{[0-9]+}}
  op_printf("optional %.0f\n", weighted<double>(z));

  double most = -1;
  int where = -1, what = -1;
  op_par_loop(extreme, "extreme", cells, op_arg_dat(z, -1, OP_ID, 1, "double", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_idx(2, corners), op_arg_gbl(&most, 1, "double", OP_MAX), op_arg_info(&where, 1, "int", 3),
              op_arg_info(&what, 1, "int", 3));
  // CHECK: extreme {{[0-9]+ [0-9]+ [0-9]+}} 1
  op_printf("extreme %.0f %d %d %d\n", most, where, what, what == corner[3 * where + 2]);
  op_exit();
  return 0;
}
