// Where data lie component by component, kernels see copies of elements. A kernel that can tell them from the elements has
// the data element by element: it compares addresses, keeps one, hands it to what is not known, or leaves the element
// by an exception, which the program may catch; or it adds to two components as one number. With OP_NO_REALLOC data stay as they are on any number of ranks, so that
// what is to be reproducible is.
//
// RUN: clang++-22 -std=c++11 -O1 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: %t.plain > %t.expected && FileCheck %s < %t.expected
// RUN: clang++-22 -std=c++11 -O3 -march=native -g -I%op2-include -fpass-plugin=%plugin -Rpass-missed=okl %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t 2>&1 | FileCheck --check-prefix=REMARK %s
// RUN: %t > %t.found && cmp %t.expected %t.found
// RUN: OP_AUTO_SOA=1 %t > %t.found 2> %t.told && cmp %t.expected %t.found && FileCheck --check-prefix=TOLD --implicit-check-not=warning: %s < %t.told
// RUN: clang++-22 -std=c++11 -O0 -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.slow
// RUN: OP_AUTO_SOA=1 %t.slow > %t.found && cmp %t.expected %t.found
// RUN: OP_AUTO_SOA=1 OKL_REPRODUCIBLE=1 %t sums OP_NO_REALLOC > %t.one
// RUN: for n in 1 2 3; do OP_AUTO_SOA=1 OKL_REPRODUCIBLE=1 mpirun --allow-run-as-root --oversubscribe -n $n %t sums OP_NO_REALLOC > %t.found && cmp %t.one %t.found || exit 1; done
//
// CHECK:      loops 4
// CHECK-NEXT: distance 18
// CHECK-NEXT: elsewhere 45
// CHECK-NEXT: caught 3: 4 10
// CHECK-NEXT: carried 10
//
// REMARK: copies.cpp:[[#@LINE+71]]:3: remark: op_par_loop needs its data element by element: what the kernel does to arg0 cannot be done to a copy
// TOLD: okl: warning: {{.*}}: ends is not stored component by component: op_par_loop loops was not compiled for that
// TOLD-NEXT: okl: warning: {{.*}}: result is not stored component by component: op_par_loop loops was not compiled for that
// TOLD-NEXT: okl: warning: {{.*}}: kept is not stored component by component: op_par_loop distance was not compiled for that
// TOLD-NEXT: okl: warning: {{.*}}: thrown is not stored component by component: op_par_loop caught was not compiled for that
// TOLD-NEXT: okl: warning: {{.*}}: weight is not stored component by component: op_par_loop carried was not compiled for that
// TOLD-NEXT: okl: warning: {{.*}}: pairs is not stored component by component: op_par_loop carried was not compiled for that
#include "op_seq.h"

#include <cstdio>
#include <cstring>

// An edge that leads back to where it starts.
static void loops(double const *a, double const *b, double *out) { out[0] += a == b, out[1] += 1; }
static double const *first;
static void distance(double const *x, double *out) {
  if (!first)
    first = x;
  out[0] = (double)(x - first);
}
static double (*volatile far)(double const *) = [](double const *x) { return x[0] + x[1]; };
static void elsewhere(double const *x, double *out) { out[1] = far(x); }
static void caught(double *x) {
  x[0] += 1;
  if (x[1] > 9)
    throw 3;
  x[1] += 1;
}
static void sums(double const *w, double *a, double *b) {
  a[0] += w[0], a[0] += w[1] / 3;
  b[1] -= w[0] / 7, b[1] += w[1];
}

static void carried(double const *x, int *pair) {
  long long number;
  memcpy(&number, pair, sizeof number);
  number += x[0] < 0 ? 0 : 0x80000000LL;
  memcpy(pair, &number, sizeof number);
}

static double result(op_dat dat, int component) {
  double all[20], sum = 0;
  op_fetch_data(dat, all);
  for (int n = 0; n < 10; n++)
    sum += all[2 * n + component];
  return sum;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 1);
  static double numbers[5][20], weights[400], found[20];
  static int ends[400];
  for (int n = 0; n < 20; n++)
    numbers[0][n] = n % 2 * n / 2, numbers[3][n] = n % 2 ? n / 2 + 7 : n / 2;
  for (int e = 0; e < 200; e++)
    ends[2 * e] = e * 7 % 10, ends[2 * e + 1] = e % 50 ? (e * 7 + 1 + e % 5) % 10 : e * 7 % 10, weights[2 * e] = 0.1 * e, weights[2 * e + 1] = 1.0 / (e + 1);
  op_set nodes = op_decl_set(10, "nodes"), edges = op_decl_set(200, "edges");
  op_map to = op_decl_map(edges, nodes, 2, ends, "to");
  op_dat at = op_decl_dat(nodes, 2, "double", numbers[0], "ends"), out = op_decl_dat(edges, 2, "double", (double *)NULL, "result"),
         kept = op_decl_dat(nodes, 2, "double", numbers[1], "kept"), thrown = op_decl_dat(nodes, 2, "double", numbers[3], "thrown"),
         weight = op_decl_dat(edges, 2, "double", weights, "weight"), sum = op_decl_dat(nodes, 2, "double", numbers[4], "sum");
  if (argc > 1) {
    for (int round = 0; round < 3; round++)
      op_par_loop(sums, "sums", edges, op_arg_dat(weight, -1, OP_ID, 2, "double", OP_READ),
                  op_arg_dat(sum, 0, to, 2, "double", OP_INC), op_arg_dat(sum, 1, to, 2, "double", OP_INC));
    op_fetch_data(sum, found);
    for (int n = 0; n < 20; n++)
      op_printf("%a\n", found[n]);
    op_exit();
    return 0;
  }
  op_par_loop(loops, "loops", edges, op_arg_dat(at, 0, to, 2, "double", OP_READ), op_arg_dat(at, 1, to, 2, "double", OP_READ),
              op_arg_dat(out, -1, OP_ID, 2, "double", OP_RW));
  static double of_edges[400];
  op_fetch_data(out, of_edges);
  double count = 0;
  for (int e = 0; e < 200; e++)
    count += of_edges[2 * e];
  op_printf("loops %g\n", count);
  op_par_loop(distance, "distance", nodes, op_arg_dat(at, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(kept, -1, OP_ID, 2, "double", OP_RW));
  op_fetch_data(kept, found);
  op_printf("distance %g\n", found[18]);
  op_par_loop(elsewhere, "elsewhere", nodes, op_arg_dat(at, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(kept, -1, OP_ID, 2, "double", OP_RW));
  op_printf("elsewhere %g\n", result(kept, 1));
  try {
    op_par_loop(caught, "caught", nodes, op_arg_dat(thrown, -1, OP_ID, 2, "double", OP_RW));
  } catch (int number) {
    op_fetch_data(thrown, found);
    op_printf("caught %d: %g %g\n", number, found[6], found[7]);
  }
  static int pairs[20];
  op_dat pair = op_decl_dat(nodes, 2, "int", pairs, "pairs");
  op_par_loop(carried, "carried", edges, op_arg_dat(weight, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(pair, 0, to, 2, "int", OP_INC));
  op_fetch_data(pair, pairs);
  op_printf("carried %d\n", pairs[1]);
  op_exit();
}
