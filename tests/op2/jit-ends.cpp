// A program may end at any time while its loops are compiled once more: when LLVM is being opened, and when it is at work, also
// for the first time, when it makes what it needs. The program's end waits for that, and takes nothing apart before.
//
// RUN: %okl-c++ -std=c++11 -O3 --okl-jit %s -o %t
// RUN: for n in $(seq 0 3 90); do OMP_NUM_THREADS=1 %t $n || exit 1; done > %t.found
// RUN: FileCheck %s < %t.found
//
// CHECK-COUNT-31: 15.0
#include "op_seq.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

double scale;

template <int N> static void add(double const *x, double *y) {
  double sum = 0;
  for (int n = 0; n < N; n++)
    sum += sqrt(x[0] * scale + n) * x[1];
  y[0] = x[0] + x[1] + 0 * sum;
}

static void total(double const *y, double *sum) { *sum += *y; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  int const milliseconds = atoi(argv[1]);
  double x[6] = {0, 1, 2, 3, 4, 5}, y[3] = {0, 0, 0}, sum = 0;
  op_set set = op_decl_set(3, "set");
  op_dat in = op_decl_dat(set, 2, "double", x, "in"), out = op_decl_dat(set, 1, "double", y, "out");
  scale = 0.5;
  op_decl_const(1, "double", &scale);
  for (int n = 0; n < 3; n++) {
    op_par_loop(add<1>, "add1", set, op_arg_dat(in, -1, OP_ID, 2, "double", OP_READ), op_arg_dat(out, -1, OP_ID, 1, "double", OP_WRITE));
    op_par_loop(add<7>, "add7", set, op_arg_dat(in, -1, OP_ID, 2, "double", OP_READ), op_arg_dat(out, -1, OP_ID, 1, "double", OP_WRITE));
    op_par_loop(add<20>, "add20", set, op_arg_dat(in, -1, OP_ID, 2, "double", OP_READ), op_arg_dat(out, -1, OP_ID, 1, "double", OP_WRITE));
  }
  op_par_loop(total, "total", set, op_arg_dat(out, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
  printf("%.1f\n", sum);
  fflush(stdout);
  usleep(1000 * milliseconds);
  // Without `op_exit`, as programs end that find a mistake.
  exit(0);
}
