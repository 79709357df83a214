// Arguments that a function is handed are only known where this file has all its callers and it leaves them as they
// are; components of elements that may be the same keep the order in which they are written; a kernel that another
// file may replace is not looked into. The same program gives the same without the plugin.
//
// RUN: clang++-22 -std=c++11 -O3 -march=haswell -ffp-contract=off -I%op2-include %s -DOTHER -c -o %t.other.plain.o
// RUN: clang++-22 -std=c++11 -O3 -march=haswell -ffp-contract=off -I%op2-include %s %t.other.plain.o -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: clang++-22 -std=c++11 -O3 -march=haswell -ffp-contract=off -I%op2-include -fpass-plugin=%plugin %s -DOTHER -mllvm -okl-target=cpu -c -o %t.other.o
// RUN: clang++-22 -std=c++11 -O3 -march=haswell -ffp-contract=off -I%op2-include -fpass-plugin=%plugin %s %t.other.o -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.okl
// RUN: %t.plain > %t.text && %t.okl >> %t.text && FileCheck %s < %t.text
// RUN: clang++-22 -std=c++11 -O0 -I%op2-include -fpass-plugin=%plugin %s %t.other.o -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.okl
// RUN: %t.okl > %t.text && FileCheck --check-prefix=ONCE %s < %t.text
//
// CHECK:      total [[TOTAL:.*]]
// CHECK-NEXT: [[DIRECT:direct .*]]
// CHECK-NEXT: [[MAPPED:mapped .*]]
// CHECK-NEXT: [[ENDS:ends .*]]
// CHECK-NEXT: [[STRONG:strong .*]]
// CHECK-NEXT: total [[TOTAL]]
// CHECK-NEXT: [[DIRECT]]
// CHECK-NEXT: [[MAPPED]]
// CHECK-NEXT: [[ENDS]]
// CHECK-NEXT: [[STRONG]]
// ONCE:      total 10
// ONCE-NEXT: direct 1 19
// ONCE-NEXT: mapped 201 219
// ONCE-NEXT: ends 5 0 9.5 1.16667
// ONCE-NEXT: strong -1 -10
#include "op_seq.h"

#ifdef OTHER
void total(op_set elements, op_arg values, op_arg sum);
void call_total(op_set elements, op_dat three, double *sum) {
  total(elements, op_arg_dat(three, -1, OP_ID, 3, "double", OP_READ), op_arg_gbl(sum, 1, "double", OP_INC));
}
void replaced(double const *value, double *out) { out[0] = -value[0]; }
#else

void call_total(op_set elements, op_dat three, double *sum);
__attribute__((weak)) void replaced(double const *value, double *out) { out[0] = value[0] * value[0] / 3 + 5; }

static void add(double const *value, double *sum) { *sum += *value; }
static void twice(double const *value, double *out) { out[0] = value[0] * 2 + 1; }
static void ends(double const *value, double **out) {
  out[0][0] = value[0] * 2 + value[1] * 3;
  out[1][0] = value[0] * 5 - value[1];
  out[1][1] = value[1] * 7 + value[0];
  out[0][1] = value[1] / 3 + value[0] * value[1];
}

void total(op_set elements, op_arg values, op_arg sum) { op_par_loop(add, "add", elements, values, sum); }
// The only caller here, with other arguments than the other file's.
void call_with_one(op_set elements, op_dat one, double *sum) {
  total(elements, op_arg_dat(one, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(sum, 1, "double", OP_INC));
}

static void hand_on(op_set elements, op_arg value, op_arg out, op_dat direct) {
  if (direct)
    value = op_arg_dat(direct, -1, OP_ID, 1, "double", OP_READ);
  op_par_loop(twice, "twice", elements, value, out);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  enum { N = 10 };
  double threes[3 * N], ones[N], far[N], pairs[2 * N], fetched[2 * N], sum = 0;
  int backwards[N], both[2 * N];
  for (int i = 0; i < N; i++) {
    threes[3 * i] = 1, threes[3 * i + 1] = threes[3 * i + 2] = 100;
    ones[i] = i, far[i] = 100 + i, backwards[i] = i;
    both[2 * i] = both[2 * i + 1] = i;
    pairs[2 * i] = i + 1, pairs[2 * i + 1] = i * 0.5;
  }
  op_set elements = op_decl_set(N, "elements"), nodes = op_decl_set(N, "nodes");
  op_map to = op_decl_map(elements, nodes, 1, backwards, "to"), two = op_decl_map(elements, nodes, 2, both, "two");
  op_dat three = op_decl_dat(elements, 3, "double", threes, "three"), one = op_decl_dat(elements, 1, "double", ones, "one");
  op_dat distant = op_decl_dat(nodes, 1, "double", far, "distant"), pair = op_decl_dat(elements, 2, "double", pairs, "pair");
  op_dat out = op_decl_dat(elements, 1, "double", (double *)0, "out"), wide = op_decl_dat(nodes, 2, "double", (double *)0, "wide");

  call_total(elements, three, &sum);
  printf("total %g\n", sum);
  if (argc > 5)
    call_with_one(elements, one, &sum);
  for (int mapped = 0; mapped < 2; mapped++) {
    hand_on(elements, op_arg_dat(distant, 0, to, 1, "double", OP_READ), op_arg_dat(out, -1, OP_ID, 1, "double", OP_WRITE),
            mapped ? (op_dat)0 : one);
    op_fetch_data(out, fetched);
    printf("%s %g %g\n", mapped ? "mapped" : "direct", fetched[0], fetched[N - 1]);
  }
  op_par_loop(ends, "ends", elements, op_arg_dat(pair, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(wide, -2, two, 2, "double", OP_WRITE));
  op_fetch_data(wide, fetched);
  printf("ends %g %g %g %g\n", fetched[0], fetched[1], fetched[2], fetched[3]);
  op_par_loop(replaced, "replaced", elements, op_arg_dat(pair, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(out, -1, OP_ID, 1, "double", OP_WRITE));
  op_fetch_data(out, fetched);
  printf("strong %g %g\n", fetched[0], fetched[N - 1]);
  op_exit();
}
#endif
